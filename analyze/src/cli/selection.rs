//! What all commands that look at profiles ask: which of them, what of them, and by whose names.

use std::convert::Infallible;
use std::str::FromStr;

use clap::ValueEnum;
use diytrace_profile::error::Error;
use diytrace_profile::merge;
use diytrace_profile::opened::Opened;
use diytrace_views::names::Names;
use diytrace_views::report;

use super::choice::choice;
use super::source::Source;
use super::stored::Stored;

/// Which profiles, and what of them.
#[derive(Clone, Debug, clap::Args)]
pub struct Selected {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    stored: Stored,

    /// Only this process, as it saw its own number
    #[arg(long, value_name = "PID", conflicts_with = "store")]
    pid: Option<u32>,

    /// What one answer is about: all together, each process or thread; of a store, each value of a label [default: all; of export
    /// pprof: thread] [possible values: all, process, thread, or a label]
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,

    /// Times as measured: do not subtract the profiler's overhead
    #[arg(long)]
    pub raw: bool,

    /// How C++ functions are named [default: short for people, full for programs]
    #[arg(long, value_enum, value_name = "HOW")]
    names: Option<Spelled>,
}

/// What one answer is about.
#[derive(Clone, Debug)]
pub enum By {
    /// Everything together, or each process or thread.
    Files(merge::By),
    /// Each value of a label.
    Label(String),
}

impl By {
    fn of_files(&self) -> Option<merge::By> {
        match self {
            Self::Files(by) => Some(*by),
            Self::Label(_) => None,
        }
    }
}

impl FromStr for By {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "all" => Self::Files(merge::By::All),
            "process" => Self::Files(merge::By::Process),
            "thread" => Self::Files(merge::By::Thread),
            label => Self::Label(label.to_owned()),
        })
    }
}

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
        let label = match &self.by {
            Some(By::Label(label)) => Some(label.as_str()),
            _ => None,
        };
        if let Some(by @ (merge::By::Process | merge::By::Thread)) = self.by.as_ref().and_then(By::of_files)
            && self.stored.is_asked()
        {
            return Err(Error::Usage(format!(
                "--by {}: a store has the processes of a series together; tell them apart by a label, such as --by host",
                if by == merge::By::Process { "process" } else { "thread" }
            )));
        }
        if let Some(opened) = self.stored.open(label) {
            return opened;
        }
        let by = match &self.by {
            None => default,
            Some(by) => by.of_files().ok_or_else(|| {
                Error::Usage(format!(
                    "--by {}: of files that can be all, process or thread; labels are those of a store (--store)",
                    label.unwrap_or_default()
                ))
            })?,
        };
        self.source.open(by, self.pid)
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

/// What names functions: one pattern at least.
pub fn function(text: &str) -> Result<String, &'static str> {
    if text.split(',').all(|pattern| pattern.trim().is_empty()) {
        return Err("it names no function");
    }
    Ok(text.to_owned())
}

/// Patterns as they were written: lists of them are split at their commas.
pub fn patterns(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| diytrace_format::pattern::split(list)).map(str::to_owned).collect()
}
