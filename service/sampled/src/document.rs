//! What sampled profiles say, in the shape of its JSON.

use diytrace_pprof::{Function, Rows, Value, functions, tags};
use diytrace_store::TypeTotal;
use serde::Serialize;

use crate::Chosen;

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// What functions take by themselves.
    #[default]
    Flat,
    /// With all that they call.
    Cum,
    /// Names.
    Name,
}

/// What sampled profiles say. Fields may be added, none changed.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-samples/1`.
    pub schema: &'static str,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// How many profiles were added up.
    pub profiles: usize,
    /// When the first began, in nanoseconds since 1970.
    pub started_unix_ns: i64,
    /// When the last ended.
    pub ended_unix_ns: i64,
    /// How long all took together.
    pub duration_ns: i64,
    /// Samples that differ in stack or labels.
    pub samples: usize,
    /// All types of samples.
    pub types: Vec<TypeTotal>,
    /// The type that values below are of.
    pub shown: TypeTotal,
    /// Functions, or lines.
    pub functions: Vec<Row>,
    /// Rows that are left out.
    pub left_out: usize,
    /// Labels and numeric labels of samples.
    pub tags: Vec<Tag>,
}

/// A function, or a line of it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name; of code that nobody has named, its module and address.
    pub name: String,
    /// Its file; null if it is not known.
    pub file: Option<String>,
    /// The line; null unless rows are lines.
    pub line: Option<i64>,
    /// Of samples in it.
    pub flat: i64,
    /// Of samples in it, or in what it has called.
    pub cum: i64,
}

/// A label's value, and the samples that have it.
#[derive(Clone, Debug, Serialize)]
pub struct Tag {
    /// Its name.
    pub key: String,
    /// A text, or a number.
    pub value: TagValue,
    /// The number's unit.
    pub unit: Option<String>,
    /// What the samples add up to.
    pub total: i64,
}

/// A text, or a number.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum TagValue {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// What a chosen type says.
pub fn document(chosen: &Chosen, rows: Rows, order: Order, limit: Option<usize>) -> Document {
    let Chosen { sum, of, profiles, warnings } = chosen;
    let mut found = functions(sum, *of, rows);
    match order {
        Order::Flat => {}
        Order::Cum => found.sort_by(|a, b| (b.cum, b.flat).cmp(&(a.cum, a.flat)).then_with(|| a.name.cmp(&b.name))),
        Order::Name => found.sort_by(|a, b| (&a.name, a.line).cmp(&(&b.name, b.line))),
    }
    let left_out = found.len().saturating_sub(limit.unwrap_or(usize::MAX));
    found.truncate(limit.unwrap_or(usize::MAX));
    let types: Vec<TypeTotal> = sum
        .types()
        .iter()
        .enumerate()
        .map(|(at, of)| TypeTotal { name: of.name.clone(), unit: of.unit.clone(), total: sum.total(at) })
        .collect();
    let row = |Function { name, file, line, flat, cum }| Row {
        name,
        file: (!file.is_empty()).then_some(file),
        line,
        flat,
        cum,
    };
    let tag = |tag: diytrace_pprof::Tag| {
        let (value, unit) = match tag.value {
            Value::Number(number, unit) => (TagValue::Number(number), (!unit.is_empty()).then_some(unit)),
            Value::Text(text) => (TagValue::Text(text), None),
        };
        Tag { key: tag.key, value, unit, total: tag.total }
    };
    Document {
        schema: "diytrace-samples/1",
        warnings: warnings.clone(),
        profiles: profiles.len(),
        started_unix_ns: profiles.iter().map(|facts| facts.started).min().unwrap_or(0),
        ended_unix_ns: profiles.iter().map(|facts| facts.ended).max().unwrap_or(0),
        duration_ns: sum.time().1,
        samples: sum.samples(),
        shown: types[*of].clone(),
        types,
        functions: found.into_iter().map(row).collect(),
        left_out,
        tags: tags(sum, *of).into_iter().map(tag).collect(),
    }
}
