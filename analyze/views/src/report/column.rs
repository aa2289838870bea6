//! Columns of the list of functions.

/// A column of the list of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the command's help tells what each is")]
pub enum Column {
    Calls,
    Open,
    Unwound,
    Inlined,
    Total,
    TotalShare,
    Self_,
    SelfShare,
    Cpu,
    Wait,
    Preempted,
    SelfCpu,
    SelfWait,
    SelfPreempted,
    Error,
    TotalRaw,
    SelfRaw,
    Mean,
    Min,
    P50,
    P75,
    P90,
    P95,
    P99,
    P999,
    Max,
    Processes,
    Call,
    Address,
    Module,
    Source,
}

/// What a table without a choice shows; where it is worth telling, what of the self time was off the processor.
pub const USUAL: [Column; 10] = [
    Column::Calls,
    Column::Total,
    Column::Self_,
    Column::SelfWait,
    Column::SelfPreempted,
    Column::SelfShare,
    Column::Mean,
    Column::P50,
    Column::P99,
    Column::Max,
];

impl Column {
    /// Its title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Open => "open",
            Self::Unwound => "unwound",
            Self::Inlined => "inlined",
            Self::Total => "total",
            Self::TotalShare => "total %",
            Self::Self_ => "self",
            Self::SelfShare => "self %",
            Self::Cpu => "cpu",
            Self::Wait => "wait",
            Self::Preempted => "preempted",
            Self::SelfCpu => "self cpu",
            Self::SelfWait => "self wait",
            Self::SelfPreempted => "self preempted",
            Self::Error => "± total",
            Self::TotalRaw => "raw total",
            Self::SelfRaw => "raw self",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::P50 => "p50",
            Self::P75 => "p75",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
            Self::Processes => "processes",
            Self::Call => "call",
            Self::Address => "address",
            Self::Module => "module",
            Self::Source => "source",
        }
    }

    /// Its name for programs.
    pub fn field(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Open => "open",
            Self::Unwound => "unwound",
            Self::Inlined => "inlined_calls",
            Self::Total => "total_ns",
            Self::TotalShare => "total_share",
            Self::Self_ => "self_ns",
            Self::SelfShare => "self_share",
            Self::Cpu => "cpu_ns",
            Self::Wait => "wait_ns",
            Self::Preempted => "preempted_ns",
            Self::SelfCpu => "self_cpu_ns",
            Self::SelfWait => "self_wait_ns",
            Self::SelfPreempted => "self_preempted_ns",
            Self::Error => "total_error_ns",
            Self::TotalRaw => "total_raw_ns",
            Self::SelfRaw => "self_raw_ns",
            Self::Mean => "mean_ns",
            Self::Min => "min_ns",
            Self::P50 => "p50_ns",
            Self::P75 => "p75_ns",
            Self::P90 => "p90_ns",
            Self::P95 => "p95_ns",
            Self::P99 => "p99_ns",
            Self::P999 => "p999_ns",
            Self::Max => "max_ns",
            Self::Processes => "processes",
            Self::Call => "call",
            Self::Address => "address",
            Self::Module => "module",
            Self::Source => "source",
        }
    }

    /// Whether it has words.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Call | Self::Address | Self::Module | Self::Source)
    }

    /// Whether it is made of the distribution of calls, which is known as corrected only.
    pub fn is_of_distribution(self) -> bool {
        use Column::*;
        matches!(self, Min | P50 | P75 | P90 | P95 | P99 | P999 | Max)
    }
}
