//! The first sentence: what changed, by how much, and why.

use super::words::{because, exactly, percent, plus_minus, signed_time};
use crate::diff::{Function, On, Query, Verdict};
use diytrace_profile::human;

/// Of a query; `name` tells functions of one name apart.
pub fn headline(query: &Query, name: impl Fn(&Function) -> String) -> String {
    let of = |verdict: Verdict| query.functions.iter().filter(move |function| function.verdict == verdict);
    let more = |verdict: Verdict, what: &str| match of(verdict).count() {
        0 | 1 => String::new(),
        2 => format!("; and 1 more {what}"),
        many => format!("; and {} more {what}", human::count(many as u64 - 1)),
    };
    let sentence = |function: &Function, verdict: Verdict, what: &str| {
        let because = because(query, function);
        format!("{} {}: {because}{}.", name(function), takes(function), more(verdict, what))
    };
    let mut changed = (0..query.functions.len())
        .filter(|&place| query.functions[place].verdict == Verdict::Changed && !query.is_together(place));
    let mut together = query.together.iter().filter(|group| group.verdict == Verdict::Changed);
    if let Some(group) = together.next() {
        let more = match changed.count() + together.count() {
            0 => String::new(),
            more => format!("; and {} more changed", human::count(more as u64)),
        };
        let names = names_of(query, &group.functions);
        return format!("{names} together take {}: cost moved between them{more}.", longer(&group.sum_ns));
    }
    if let Some(place) = changed.next() {
        return sentence(&query.functions[place], Verdict::Changed, "changed");
    }
    if let Some(group) = query.together.first() {
        let (names, takes) = (names_of(query, &group.functions), longer(&group.sum_ns));
        return format!("No change is confirmed: {names} together took {takes}, and fresh runs do not show that.");
    }
    if let Some(function) = of(Verdict::Calls).next() {
        let calls = exactly(function.calls.difference);
        let because = because(query, function);
        return format!("{} is called {calls}: {because}{}.", name(function), more(Verdict::Calls, "are, too"));
    }
    if let Some(function) = of(Verdict::OneSided).next() {
        let what =
            if function.on == On::Left { "gone: only before is it called" } else { "new: only after is it called" };
        return format!("{} is {what}{}.", name(function), more(Verdict::OneSided, "are on one side only"));
    }
    let none = "No function changed";
    if let Some(function) = of(Verdict::SameCode).next() {
        let what = "cost more or less with the same code";
        return format!("{none}; {}", sentence(function, Verdict::SameCode, what));
    }
    if let Some(moved) = query.moved.first() {
        let of_those = moved.functions.iter().map(|&place| &query.functions[place]);
        let told: Vec<&Function> = of_those.filter(|function| function.verdict == Verdict::Moved).collect();
        let most =
            told.iter().min_by(|one, other| one.self_ns.difference_ns().total_cmp(&other.self_ns.difference_ns()));
        if let Some(most) = most {
            let sum = percent(moved.sum_ns.difference);
            let because = because(query, most);
            let doubt = match moved.verdict {
                Verdict::Unresolved => {
                    format!(" {}, which is no chance, but may be the correction", plus_minus(&moved.sum_ns))
                }
                _ => String::new(),
            };
            return format!("{none}; of {}, {because}: together {sum}{doubt}.", name(most));
        }
    }
    match query.total.verdict {
        Verdict::Changed => format!("{none}, and yet all together takes {}.", longer(&query.total.self_ns)),
        _ => format!("{none}."),
    }
}

/// A function's name, with what tells it from others of that name.
pub fn name_in(query: &Query, function: &Function) -> String {
    let is_clear = query.functions.iter().filter(|other| other.name == function.name).count() == 1;
    match &function.file {
        _ if is_clear => function.name.clone(),
        Some(file) => format!("{} ({file})", function.name),
        None => format!("{} [{}]", function.name, function.module),
    }
}

/// The first few of some functions' names.
pub fn names_of(query: &Query, functions: &[usize]) -> String {
    const MOST: usize = 5;
    let names: Vec<&str> = functions.iter().take(MOST).map(|&place| query.functions[place].name.as_str()).collect();
    match functions.len().saturating_sub(MOST) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn takes(function: &Function) -> String {
    format!("takes {}", longer(&function.self_ns))
}

fn longer(test: &crate::diff::Test) -> String {
    let ns = test.difference_ns();
    let what = if ns < 0.0 { "less" } else { "longer" };
    match test.difference {
        Some(part) => {
            let size = percent(Some(part));
            format!("{} {what} ({} a run)", size.trim_start_matches(['+', '−']), signed_time(ns))
        }
        None => format!("{} a run, from nothing that could be told", human::time(ns)),
    }
}
