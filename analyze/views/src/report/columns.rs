//! What columns have for functions.

pub use super::column::{Column, USUAL};
use super::document::Function;

/// What a column has for a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number of something.
    Count(u64),
    /// A time in nanoseconds, if there is one.
    Time(Option<f64>),
    /// A part of a sum over all functions, both in nanoseconds.
    Share(f64),
    /// Words.
    Text(&'a str),
    /// Where something is: in which file, on which line.
    Line(Option<(&'a str, u32)>),
}

impl Column {
    /// What it has for a function.
    pub fn value(self, function: &Function) -> Value<'_> {
        match self {
            Self::Calls => Value::Count(function.calls),
            Self::Open => Value::Count(function.open),
            Self::Unwound => Value::Count(function.unwound),
            Self::Inlined => Value::Count(function.inlined_calls),
            Self::Total => Value::Time(Some(function.total_ns)),
            Self::TotalShare => Value::Share(function.total_ns),
            Self::Self_ => Value::Time(Some(function.self_ns)),
            Self::SelfShare => Value::Share(function.self_ns),
            Self::Cpu => Value::Time(function.spent.cpu_ns),
            Self::Wait => Value::Time(function.spent.wait_ns),
            Self::Preempted => Value::Time(function.spent.preempted_ns),
            Self::SelfCpu => Value::Time(function.spent.self_cpu_ns),
            Self::SelfWait => Value::Time(function.spent.self_wait_ns),
            Self::SelfPreempted => Value::Time(function.spent.self_preempted_ns),
            Self::Error => Value::Time(Some(function.total_error_ns)),
            Self::TotalRaw => Value::Time(Some(function.total_raw_ns)),
            Self::SelfRaw => Value::Time(Some(function.self_raw_ns)),
            Self::Mean => Value::Time(function.mean_ns),
            Self::Min => Value::Time(function.min_ns),
            Self::P50 => Value::Time(function.p50_ns),
            Self::P75 => Value::Time(function.p75_ns),
            Self::P90 => Value::Time(function.p90_ns),
            Self::P95 => Value::Time(function.p95_ns),
            Self::P99 => Value::Time(function.p99_ns),
            Self::P999 => Value::Time(function.p999_ns),
            Self::Max => Value::Time(function.max_ns),
            Self::Processes => Value::Count(function.processes),
            Self::Call => Value::Text(function.kinds.most().map_or("", |kind| kind.name())),
            Self::Address => Value::Text(""),
            Self::Module => Value::Text(&function.module),
            Self::Source => Value::Line(function.file.as_deref().zip(function.line)),
        }
    }
}
