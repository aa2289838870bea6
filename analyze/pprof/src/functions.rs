//! What functions, or lines, take: by themselves (*flat*), and with all that they call (*cum*), as pprof names it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Profile;
use crate::profile::Place;

/// What rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Functions.
    Functions,
    /// Their lines.
    Lines,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name; of code that nobody has named, its module and address.
    pub name: String,
    /// Its file, empty if that is not known.
    pub file: String,
    /// The line, if rows are lines, and it is known.
    pub line: Option<i64>,
    /// Of samples in it.
    pub flat: i64,
    /// Of samples in it, or in what it has called.
    pub cum: i64,
}

/// Rows of a profile, the largest flat value first.
pub fn functions(profile: &Profile, of: usize, rows: Rows) -> Vec<Function> {
    let Frames { names, of_place } = frames(profile, rows);
    let mut sums: Vec<(i64, i64)> = vec![(0, 0); names.len()];
    let mut met: FxHashSet<u32> = FxHashSet::default();
    for (stack, value) in profile.stacks.all.iter().zip(&profile.values[of]) {
        let frames = || stack.places.iter().flat_map(|place| &of_place[*place as usize]).copied();
        if let Some(first) = frames().next() {
            sums[first as usize].0 = sums[first as usize].0.saturating_add(*value);
        }
        met.clear();
        for frame in frames().filter(|frame| met.insert(*frame)) {
            sums[frame as usize].1 = sums[frame as usize].1.saturating_add(*value);
        }
    }
    let rows =
        names.into_iter().zip(sums).map(|((name, file, line), (flat, cum))| Function { name, file, line, flat, cum });
    let mut rows: Vec<Function> = rows.filter(|row| row.flat != 0 || row.cum != 0).collect();
    rows.sort_by(|a, b| {
        (b.flat, b.cum).cmp(&(a.flat, a.cum)).then_with(|| a.name.cmp(&b.name)).then(a.line.cmp(&b.line))
    });
    rows
}

/// Frames that are the same to who reads: by name and file, and line if that is asked for.
pub(crate) struct Frames {
    pub names: Vec<(String, String, Option<i64>)>,
    /// Of each place, the innermost first.
    pub of_place: Vec<Vec<u32>>,
}

pub(crate) fn frames(profile: &Profile, rows: Rows) -> Frames {
    let mut numbers: FxHashMap<(String, String, Option<i64>), u32> = FxHashMap::default();
    let mut names = Vec::new();
    let mut number = |name: (String, String, Option<i64>)| {
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    };
    let of_place = profile.places.all.iter().map(|place| match place.lines.is_empty() {
        true => vec![number((unnamed(profile, place), String::new(), None))],
        false => {
            let named = place.lines.iter().map(|(function, line)| {
                let function = &profile.functions.all[*function as usize];
                let text = |string: u32| profile.strings.text(string).to_owned();
                let name =
                    if text(function.name).is_empty() { text(function.system_name) } else { text(function.name) };
                let line = (rows == Rows::Lines && *line > 0).then_some(*line);
                number((if name.is_empty() { unnamed(profile, place) } else { name }, text(function.file), line))
            });
            named.collect()
        }
    });
    let of_place = of_place.collect();
    Frames { names, of_place }
}

fn unnamed(profile: &Profile, place: &Place) -> String {
    match place.mapping.map(|mapping| &profile.mappings[mapping as usize]) {
        Some(mapping) if !profile.strings.text(mapping.file).is_empty() => {
            let file = profile.strings.text(mapping.file);
            let file = file.rsplit('/').next().unwrap_or(file);
            format!("{file}+{:#x}", place.address.wrapping_sub(mapping.start).wrapping_add(mapping.offset))
        }
        _ => format!("{:#x}", place.address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::server;

    fn of_server(rows: Rows) -> Vec<(String, Option<i64>, i64, i64)> {
        let mut profile = Profile::default();
        profile.add(&server()).unwrap();
        functions(&profile, 1, rows).into_iter().map(|row| (row.name, row.line, row.flat, row.cum)).collect()
    }

    #[test]
    fn flat_is_the_innermost_frames_and_cum_counts_a_recursion_once() {
        let rows = of_server(Rows::Functions);
        assert_eq!(
            rows,
            [
                ("parse".to_owned(), None, 90, 90),
                ("handle".to_owned(), None, 20, 110),
                ("libz.so+0x1040".to_owned(), None, 5, 5),
                ("main".to_owned(), None, 0, 115),
            ]
        );
    }

    #[test]
    fn lines_of_a_function_are_rows_of_their_own() {
        let rows = of_server(Rows::Lines);
        assert!(rows.contains(&("parse".to_owned(), Some(11), 50, 50)), "{rows:?}");
        assert!(rows.contains(&("parse".to_owned(), Some(12), 40, 40)), "{rows:?}");
    }
}
