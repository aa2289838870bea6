//! Callgrind's format, for `callgrind_annotate` and KCachegrind.
//!
//! A function's own time stands at the line it begins at, and that of a call, with all below, at the line that calls.
//! As Callgrind does, calls of a function inside itself are those of another function, `name'2`: the times of `name` are
//! then of its outermost calls. What was called from code without hooks is called by `(not recorded)`, or, where several
//! processes or threads are kept apart, by one such caller for each of them: readers want one set of costs in a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::profile::{Line, Part, Profile};
use diytrace_profile::human::counted;

/// The profile.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut names = Names::default();
    let mut text = String::from("# callgrind format\nversion: 1\n");
    let _ = writeln!(text, "creator: diytrace {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "cmd: {}", one_line(&profile.title));
    for warning in &profile.warnings {
        let _ = writeln!(text, "desc: Warning: {}", one_line(warning));
    }
    let _ = writeln!(text, "desc: Times: {}", profile.kind_of_time());
    let _ = writeln!(text, "desc: Calls: {}", counted(profile.calls(), "call", "calls"));
    text.push_str("positions: line\nevents: ns\n");
    let _ = writeln!(text, "summary: {}", profile.total_ns());
    functions(profile, &mut names, &mut text);
    let _ = writeln!(text, "\ntotals: {}", profile.total_ns());
    text.into_bytes()
}

/// Who has costs and calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// Code of a part that is not recorded, and calls what nobody else does.
    Outside(usize),
    /// A function.
    Function(usize),
    /// A function, as far as it is called inside itself.
    Nested(usize),
}

/// What a function did, by line.
#[derive(Default)]
struct Costs {
    own: u64,
    calls: BTreeMap<(Option<Line>, Who), (u64, u64)>,
}

fn functions(profile: &Profile, names: &mut Names, text: &mut String) {
    for (who, costs) in costs(profile) {
        let (object, file, line) = place(profile, who);
        let _ = write!(text, "\nob={}\nfl={}\n", names.object(object), names.file(file));
        let _ = writeln!(text, "fn={}", names.function(&function_name(profile, who)));
        if !matches!(who, Who::Outside(_)) {
            let _ = writeln!(text, "{line} {}", costs.own);
        }
        let mut current = file;
        for ((call_line, callee), (calls, ns)) in &costs.calls {
            let (call_file, number) = match call_line {
                Some(line) => (line.file.as_str(), line.number),
                None => (file, line),
            };
            if call_file != current {
                let change = if call_file == file { "fe" } else { "fi" };
                // callgrind_annotate stumbles over a file that has calls but no line with a cost.
                let _ = write!(text, "{change}={}\n{number} 0\n", names.file(call_file));
                current = call_file;
            }
            let (callee_object, callee_file, callee_line) = place(profile, *callee);
            let _ = write!(text, "cob={}\ncfi={}\n", names.object(callee_object), names.file(callee_file));
            let _ = writeln!(text, "cfn={}", names.function(&function_name(profile, *callee)));
            let _ = write!(text, "calls={calls} {callee_line}\n{number} {ns}\n");
        }
    }
}

/// What everyone did, in the order of names.
fn costs(profile: &Profile) -> Vec<(Who, Costs)> {
    let mut costs = BTreeMap::new();
    for (number, part) in profile.parts.iter().enumerate() {
        add(profile, Who::Outside(number), part, &mut costs);
    }
    let mut costs: Vec<_> = costs.into_iter().collect();
    costs.sort_by_cached_key(|(who, _)| (function_name(profile, *who), *who));
    costs
}

fn add(profile: &Profile, outside: Who, part: &Part, costs: &mut BTreeMap<Who, Costs>) {
    let mut open = vec![0u32; profile.functions.len()];
    let mut open_edges: BTreeMap<(Who, Who), u32> = BTreeMap::new();
    let mut above: Vec<(usize, usize, Who, Who)> = Vec::new(); // (end, function, who, its caller)
    for (id, frame) in part.frames.iter().enumerate() {
        while let Some((_, function, who, caller)) = above.pop_if(|(end, ..)| *end <= id) {
            open[function] -= 1;
            *open_edges.entry((caller, who)).or_default() -= 1;
        }
        let is_nested = open[frame.function] > 0;
        let who = if is_nested { Who::Nested(frame.function) } else { Who::Function(frame.function) };
        let caller = above.last().map_or(outside, |(_, _, caller, _)| *caller);
        open[frame.function] += 1;
        let edge = open_edges.entry((caller, who)).or_default();
        *edge += 1;
        let is_outermost = *edge == 1;
        above.push((frame.end, frame.function, who, caller));

        costs.entry(who).or_default().own += frame.self_ns;
        let line = if caller == outside { None } else { profile.sites[frame.site].line.clone() };
        let (calls, ns) = costs.entry(caller).or_default().calls.entry((line, who)).or_default();
        *calls = calls.saturating_add(frame.calls);
        *ns += if is_outermost { frame.total_ns } else { 0 };
    }
}

/// Object, file and line of a function.
fn place(profile: &Profile, who: Who) -> (&str, &str, u32) {
    const UNKNOWN: &str = "???";
    let (Who::Function(function) | Who::Nested(function)) = who else { return (UNKNOWN, UNKNOWN, 0) };
    let function = &profile.functions[function];
    let object = function.module.map_or(UNKNOWN, |module| &profile.modules[module].path);
    function.line.as_ref().map_or((object, UNKNOWN, 0), |line| (object, &line.file, line.number))
}

fn function_name(profile: &Profile, who: Who) -> String {
    match who {
        Who::Outside(_) if profile.parts.len() == 1 => "(not recorded)".to_owned(),
        Who::Outside(part) => format!("({})", one_line(&profile.parts[part].name)),
        Who::Function(function) => one_line(&profile.functions[function].name),
        Who::Nested(function) => format!("{}'2", one_line(&profile.functions[function].name)),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Names are written once, and a number stands for them from then on.
#[derive(Default)]
struct Names {
    objects: BTreeMap<String, usize>,
    files: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
}

impl Names {
    fn object(&mut self, name: &str) -> String {
        compressed(&mut self.objects, name)
    }

    fn file(&mut self, name: &str) -> String {
        compressed(&mut self.files, name)
    }

    fn function(&mut self, name: &str) -> String {
        compressed(&mut self.functions, name)
    }
}

fn compressed(known: &mut BTreeMap<String, usize>, name: &str) -> String {
    let next = known.len() + 1;
    match known.get(name) {
        Some(number) => format!("({number})"),
        None => {
            known.insert(name.to_owned(), next);
            format!("({next}) {}", one_line(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    #[test]
    fn calls_stand_at_their_lines() {
        golden("server.callgrind", &write(&server()));
    }

    #[test]
    fn several_processes_are_callers_of_what_they_called() {
        golden("processes.callgrind", &write(&by_process()));
    }

    #[test]
    fn own_times_add_up_and_calls_are_all_there() {
        let profile = by_process();
        let costs = costs(&profile);
        assert_eq!(costs.iter().map(|(_, costs)| costs.own).sum::<u64>(), profile.total_ns());
        let calls = costs.iter().flat_map(|(_, costs)| costs.calls.values()).map(|(calls, _)| calls);
        assert_eq!(calls.sum::<u64>(), profile.calls());
    }
}
