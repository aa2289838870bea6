//! Names for functions that people call the same: each with as little more as tells it from the others.

use std::collections::{BTreeMap, BTreeSet};

use super::written::{GLANCE, Kept, Written};

/// What stands for parameters that tell nothing.
const OTHERS: &str = "…";

/// One way to write names: how much of template arguments, and of parameters, if any.
#[derive(Clone, Copy, Debug)]
struct Way {
    kept: Kept,
    /// Of the parameters in which functions differ, so many.
    parameters: Option<usize>,
}

/// From what is read fastest to what tells most.
fn ways() -> impl Iterator<Item = Way> {
    let plain = [1, 2, usize::MAX].map(|most| Way { kept: Kept::LEAST, parameters: Some(most) });
    let deeper = [(1, 1), (1, 2), (1, usize::MAX), (2, 1), (2, 2), (2, usize::MAX), (3, usize::MAX)];
    let deeper = deeper.into_iter().flat_map(|(levels, most)| {
        [None, Some(most)].map(|parameters| Way { kept: Kept::levels(levels, most), parameters })
    });
    plain.into_iter().chain(deeper).chain([Way { kept: Kept::ALL, parameters: Some(usize::MAX) }])
}

/// A name for each of several functions, whose names differ and are the same in short.
pub fn tell_apart<'a>(whole: &[&'a str]) -> Vec<(&'a str, String)> {
    let mut told = Vec::new();
    let mut taken = BTreeSet::new();
    let mut left = whole.to_vec();
    for way in ways() {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, written) in left.iter().zip(written(&left, way)) {
            alike.entry(written).or_default().push(name);
        }
        left.clear();
        for (written, alike) in alike {
            match alike[..] {
                [name] if taken.insert(written.clone()) => told.push((name, written)),
                _ => left.extend(alike),
            }
        }
    }
    told.extend(left.into_iter().map(|name| (name, name.to_owned())));
    told
}

/// Names in one way of writing.
fn written(names: &[&str], way: Way) -> Vec<String> {
    let all: Vec<Option<Written>> = names.iter().map(|name| Written::of(name, way.kept)).collect();
    let Some(most) = way.parameters else {
        let written = all.into_iter().map(|written| written.map(Written::without_parameters));
        return written.zip(names).map(|(written, name)| written.unwrap_or_else(|| (*name).to_owned())).collect();
    };
    let parameters: Vec<Vec<String>> = all
        .iter()
        .map(|written| written.as_ref().map(|written| written.parameters(way.kept)).unwrap_or_default())
        .collect();
    let longest = parameters.iter().map(Vec::len).max().unwrap_or_default();
    let differ: Vec<bool> =
        (0..longest).map(|at| parameters.windows(2).any(|two| two[0].get(at) != two[1].get(at))).collect();
    let mut qualifiers = all.iter().flatten().map(|written| written.qualifiers);
    let first = qualifiers.next();
    let are_qualified = qualifiers.any(|qualifiers| Some(qualifiers) != first);
    let write = |(written, parameters): (&Option<Written>, &Vec<String>)| {
        let written = written.as_ref()?;
        let qualifiers = if are_qualified { written.qualifiers } else { "" };
        Some(written.with(&list(parameters, &differ, most), qualifiers))
    };
    let written = all.iter().zip(&parameters).map(write);
    written.zip(names).map(|(written, name)| written.unwrap_or_else(|| (*name).to_owned())).collect()
}

/// A function's parameters; of a list that is longer than people read, so many of those in which functions differ.
fn list(parameters: &[String], differ: &[bool], most: usize) -> String {
    let all = parameters.join(", ");
    if all.chars().count() <= GLANCE {
        return all;
    }
    let (mut shown, mut told) = (Vec::new(), 0);
    for (parameter, differs) in parameters.iter().zip(differ) {
        if *differs && told < most {
            told += 1;
            shown.push(parameter.as_str());
        } else if shown.last() != Some(&OTHERS) {
            shown.push(OTHERS);
        }
    }
    shown.join(", ")
}
