//! What all commands that look at profiles ask: which of them, what of them, and by whose names.

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_profile::merge;
use diytrace_profile::opened::Opened;
use diytrace_views::names::Names;
use diytrace_views::report;

use super::choice::choice;
use super::source::Source;

/// Which profiles, and what of them.
#[derive(Clone, Debug, clap::Args)]
pub struct Selected {
    #[command(flatten)]
    source: Source,

    /// Only this process, as it saw its own number
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,

    /// What one answer is about: all together, or each process or thread [default: all; of export pprof: thread]
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,

    /// Times as measured: do not subtract the profiler's overhead
    #[arg(long)]
    pub raw: bool,

    /// How C++ functions are named [default: short for people, full for programs]
    #[arg(long, value_enum, value_name = "HOW")]
    names: Option<Spelled>,
}

choice!(pub By for merge::By { All, Process, Thread });
choice!(Spelled for Names {
    /// Demangled, with parameters and template arguments
    Full,
    /// Without them, as far as that tells functions apart
    Short,
    /// As the linker knows them
    Mangled
});

impl Selected {
    /// Reads the profiles and merges what is wanted of them, all together unless somebody says otherwise.
    pub fn open(&self) -> Result<Opened, Error> {
        self.open_by(merge::By::All)
    }

    /// The same for who would rather have it apart.
    pub fn open_by(&self, default: merge::By) -> Result<Opened, Error> {
        self.source.open(self.by.map_or(default, Into::into), self.pid)
    }

    /// How functions are to be named, if somebody has said so.
    pub fn chosen_names(&self) -> Option<Names> {
        self.names.map(Into::into)
    }

    /// How functions are to be named in a format.
    pub fn names(&self, format: report::Format) -> Names {
        self.chosen_names().unwrap_or(match format {
            report::Format::Table => Names::Short,
            report::Format::Json | report::Format::Csv => Names::Full,
        })
    }
}

/// Patterns as they were written: lists of them are split at their commas.
pub fn patterns(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| diytrace_format::pattern::split(list)).map(str::to_owned).collect()
}
