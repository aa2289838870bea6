//! Call paths of both sides in one tree, for flame graphs: mean time of a run.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::observed::Observed;
use crate::observed::identity::Key;

/// Paths; each comes after the one above it.
#[derive(Clone, Debug, Default)]
pub struct Flames {
    paths: Vec<Path>,
    numbers: FxHashMap<(Option<usize>, usize), usize>,
}

#[derive(Clone, Debug)]
struct Path {
    parent: Option<usize>,
    function: usize,
    /// Own time of the mean run of each side, in nanoseconds.
    own: [f64; 2],
}

impl Flames {
    /// Adds a run, one of that many.
    pub(super) fn add(&mut self, side: usize, run: &Observed, places: &[usize], runs: usize) {
        let mut numbers: Vec<usize> = Vec::with_capacity(run.paths.len());
        for &(parent, function, own) in &run.paths {
            let key = (parent.map(|parent| numbers[parent]), places[function]);
            let next = self.paths.len();
            let number = *self.numbers.entry(key).or_insert(next);
            if number == next {
                self.paths.push(Path { parent: key.0, function: key.1, own: [0.0; 2] });
            }
            self.paths[number].own[side] += own / runs as f64;
            numbers.push(number);
        }
    }

    /// Folded stacks of both sides: `outermost;…;function left right`, in whole nanoseconds.
    pub(super) fn folded(&self, names: &[&Key]) -> Vec<String> {
        let mut lines = Vec::new();
        for path in &self.paths {
            let [left, right] = path.own.map(|ns| ns.round() as u64);
            if left == 0 && right == 0 {
                continue;
            }
            let above = std::iter::successors(Some(path), |path| self.paths.get(path.parent?));
            let mut stack: Vec<String> = above.map(|path| frame_name(&names[path.function].name)).collect();
            stack.reverse();
            lines.push(format!("{} {left} {right}", stack.join(";")));
        }
        lines.sort_unstable();
        lines
    }
}

/// Folded stacks of both sides as a page needs them: a tree in columns, in which a path comes after the one above it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Columns {
    names: Vec<String>,
    /// The path above; -1: none.
    parent: Vec<i64>,
    /// Its function's name.
    name: Vec<usize>,
    /// Own time of the mean run before, in nanoseconds.
    left: Vec<u64>,
    /// And after.
    right: Vec<u64>,
}

impl Columns {
    /// Of folded stacks.
    pub fn of(folded: &[String]) -> Self {
        let mut columns = Self::default();
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        let mut paths: FxHashMap<(i64, usize), usize> = FxHashMap::default();
        for line in folded {
            let mut parts = line.rsplitn(3, ' ');
            let (Some(right), Some(left), Some(stack)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let mut above = -1;
            for frame in stack.split(';') {
                let name = *names.entry(frame).or_insert_with(|| {
                    columns.names.push(frame.to_owned());
                    columns.names.len() - 1
                });
                let path = *paths.entry((above, name)).or_insert_with(|| {
                    columns.parent.push(above);
                    columns.name.push(name);
                    columns.left.push(0);
                    columns.right.push(0);
                    columns.parent.len() - 1
                });
                above = path as i64;
            }
            if let Ok(path) = usize::try_from(above) {
                columns.left[path] += left.parse::<u64>().unwrap_or(0);
                columns.right[path] += right.parse::<u64>().unwrap_or(0);
            }
        }
        columns
    }
}

/// A name without what separates frames and lines.
fn frame_name(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_each_path_once() {
        let columns =
            Columns::of(&["main 1 2".to_owned(), "main;work;main 3 4".to_owned(), "main;work 5 0".to_owned()]);
        let expected = Columns {
            names: vec!["main".to_owned(), "work".to_owned()],
            parent: vec![-1, 0, 1],
            name: vec![0, 1, 0],
            left: vec![1, 5, 3],
            right: vec![2, 0, 4],
        };
        assert_eq!(columns, expected);
    }
}
