//! The stacks of both sides over each other: what flame graphs of differences are drawn from.

use std::collections::BTreeMap;

use diytrace_views::export::{Drawing, draw};

use super::document::Comparison;
use crate::Error;

/// Each stack, and its value before and after: before as if it were of as much as after.
#[derive(Clone, Debug, Default)]
pub struct Stacks(BTreeMap<String, [i64; 2]>);

impl Stacks {
    pub(super) fn of(sides: [BTreeMap<String, i64>; 2], scales: [f64; 2]) -> Self {
        let mut stacks: BTreeMap<String, [i64; 2]> = BTreeMap::new();
        for (side, values) in sides.into_iter().enumerate() {
            for (stack, value) in values {
                stacks.entry(stack).or_default()[side] = (value as f64 * scales[side]).round() as i64;
            }
        }
        Self(stacks)
    }

    /// `outer;inner BEFORE AFTER`, one a line, sorted.
    pub fn folded(&self) -> Vec<String> {
        self.0.iter().map(|(stack, [left, right])| format!("{stack} {left} {right}")).collect()
    }

    /// A flame graph as wide as after, red where there is more than before, blue where there is less.
    pub fn drawing(&self, comparison: &Comparison) -> Result<Vec<u8>, Error> {
        let lines = self.folded();
        if self.0.values().all(|[_, right]| *right == 0) {
            return Err(Error::Nothing);
        }
        let Comparison { left, right, kind, .. } = comparison;
        let drawing = Drawing {
            title: format!("{}: {} → {}", kind.name, left.name, right.name),
            subtitle: "as wide as after; red: more than before, blue: less".to_owned(),
            unit: kind.unit.clone(),
            notes: String::new(),
        };
        Ok(draw(&lines, drawing)?)
    }
}
