//! Call paths of both sides in one tree, for flame graphs: mean time of a run.

use std::io;

use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};
use rustc_hash::FxHashMap;

use crate::observed::Observed;
use crate::observed::identity::Key;
use diytrace_profile::human::time;

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

/// Which flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Before.
    Left,
    /// After.
    Right,
    /// After, with what grew in red and what shrank in blue.
    Difference,
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

/// A flame graph of folded stacks of both sides; `None` if there is no time to draw.
pub fn draw(folded: &[String], picture: Picture, title: &str) -> io::Result<Option<Vec<u8>>> {
    let mut sums = [0u64; 2];
    let mut lines = Vec::with_capacity(folded.len());
    for line in folded {
        let mut parts = line.rsplitn(3, ' ');
        let (Some(right), Some(left), Some(stack)) = (parts.next(), parts.next(), parts.next()) else { continue };
        sums[0] += left.parse::<u64>().unwrap_or(0);
        sums[1] += right.parse::<u64>().unwrap_or(0);
        lines.push(match picture {
            Picture::Left => format!("{stack} {left}"),
            Picture::Right => format!("{stack} {right}"),
            Picture::Difference => line.clone(),
        });
    }
    let ns = sums[usize::from(picture != Picture::Left)];
    if ns == 0 || picture == Picture::Difference && sums[0] == 0 {
        return Ok(None);
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    let of = match picture {
        Picture::Difference => " · red: longer than before, blue: shorter",
        Picture::Left | Picture::Right => "",
    };
    options.subtitle = Some(format!("self time of the mean run: {}{of}", time(ns as f64)));
    options.count_name = "ns".to_owned();
    options.name_type = "Function:".to_owned();
    // In a page one begins to read at the top, however deep a recursion goes.
    options.direction = Direction::Inverted;
    options.hash = true;
    options.deterministic = true;
    options.text_truncate_direction = TextTruncateDirection::Right;
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)?;
    Ok(Some(only_where_there_is_room(String::from_utf8_lossy(&svg).into_owned()).into_bytes()))
}

/// Before a frame of the page is laid out, a picture in it has no width, and its frames would have less than that. Its
/// program comes back when the width changes.
fn only_where_there_is_room(svg: String) -> String {
    const FITTING: &str = "var update_for_width_change = function() {";
    svg.replace(FITTING, &format!("{FITTING}\n            if (svg.width.baseVal.value <= xpad * 2) return;"))
}

/// A name without what separates frames and lines.
fn frame_name(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_picture_gets_a_negative_width() {
        let svg = draw(&["main;work 10 20".to_owned()], Picture::Difference, "before → after").unwrap().unwrap();
        let svg = String::from_utf8(svg).unwrap();
        let (_, fitting) =
            svg.split_once("var update_for_width_change = function() {").expect("a picture fits its frame");
        assert!(fitting.trim_start().starts_with("if (svg.width.baseVal.value <= xpad * 2) return;"), "{fitting}");
    }
}
