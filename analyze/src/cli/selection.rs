//! What all commands that look at profiles ask: which of them, and how the answer is written.

use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_profile::opened::Selection;
use diytrace_views::report;

use super::choice::choice;

/// Which profiles, and what of them.
#[derive(Clone, Debug, clap::Args)]
pub struct Selected {
    /// A .diyt or .diya file, a folder of them, or A..B of two snapshots [default: diytrace.data]
    #[arg(value_name = "PROFILE")]
    pub profiles: Vec<PathBuf>,

    /// Only this process, as it saw its own number
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,

    /// What one answer is about: all together, or each process or thread
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub by: By,
}

choice!(pub By for report::By { All, Process, Thread });
choice!(pub Format for report::Format { Table, Json, Csv });

impl From<Selected> for Selection {
    fn from(Selected { profiles, pid, by }: Selected) -> Self {
        Self { profiles, pid, by: by.into() }
    }
}

/// Patterns as they were written: lists of them are split at their commas.
pub fn patterns(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| diytrace_format::pattern::split(list)).map(str::to_owned).collect()
}
