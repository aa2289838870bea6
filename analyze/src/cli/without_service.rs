//! In place of the commands of the service, where they were not built: how to get them.

use std::ffi::OsString;
use std::io::Write;

use clap::Subcommand;
use diytrace_compare::runs::Runs;
use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;

use super::pager::Output;
use super::wanted::{Concluded, Kept, Replicate, SampledSides, Selection};
use crate::bench::Keep;
use crate::top::Feed;

/// A command that was not built.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(hide = true, disable_help_flag = true)]
    Push(Words),
    #[command(hide = true, disable_help_flag = true)]
    Delete(Words),
    #[command(hide = true, disable_help_flag = true)]
    Series(Words),
    #[command(hide = true, disable_help_flag = true)]
    Samples(Words),
    #[command(hide = true, disable_help_flag = true)]
    Scrape(Words),
    #[command(hide = true, disable_help_flag = true)]
    History(Words),
    #[command(hide = true, disable_help_flag = true)]
    Verdicts(Words),
    #[command(hide = true, disable_help_flag = true)]
    Serve(Words),
    #[command(hide = true, disable_help_flag = true)]
    Agent(Words),
    #[command(hide = true, disable_help_flag = true)]
    Load(Words),
    #[command(hide = true, disable_help_flag = true)]
    Sql(Words),
}

/// Whatever it was asked.
#[derive(Debug, clap::Args)]
pub struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Command {
    /// Says how to get it.
    pub fn run(self, _: &mut Output) -> Result<u8, Error> {
        Err(not_built(match self {
            Self::Push(_) => "push",
            Self::Delete(_) => "delete",
            Self::Series(_) => "series",
            Self::Samples(_) => "samples",
            Self::Scrape(_) => "scrape",
            Self::History(_) => "history",
            Self::Verdicts(_) => "verdicts",
            Self::Serve(_) => "serve",
            Self::Agent(_) => "agent",
            Self::Load(_) => "load",
            Self::Sql(_) => "sql",
        }))
    }
}

/// A store cannot be read.
pub fn opened(_: &Selection, _: Option<&str>) -> Result<Opened, Error> {
    Err(not_built("--store"))
}

/// The same of one to compare.
pub fn runs(_: [&Selection; 2], _: Replicate) -> Result<[Runs; 2], Error> {
    Err(not_built("--store"))
}

/// The same of sampled profiles.
pub fn sampled(_: &SampledSides, _: &mut dyn Write) -> Result<Option<u8>, Error> {
    Err(not_built("--store"))
}

/// Nor can anything be kept in one.
pub fn save(_: &Concluded) -> Result<(), Error> {
    Err(not_built("--store"))
}

/// Nor can it be watched.
pub fn newest(_: &Selection) -> Result<Box<dyn Feed>, Error> {
    Err(not_built("--store"))
}

/// The same of a bench.
pub fn keeper(kept: &Kept) -> Result<Option<Box<dyn Keep>>, Error> {
    if kept.store.is_some() { Err(not_built("--store")) } else { Ok(None) }
}

fn not_built(what: &str) -> Error {
    Error::Usage(format!(
        "{what} was left out of this build (its feature `service` is off): `cargo build --release` in diytrace's source \
         builds all commands"
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;

    fn said(line: &str) -> String {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
        cli.run().unwrap_err().to_string()
    }

    #[test]
    fn whoever_asks_for_the_service_is_told_how_to_get_it() {
        for (line, what) in [
            ("diytrace serve", "serve"),
            ("diytrace load --help", "load"),
            ("diytrace history parse --store runs.db --over commit", "history"),
            ("diytrace report --store runs.db --select service=pg --since 1h", "--store"),
            ("diytrace diff --store runs.db build=a build=b", "--store"),
            ("diytrace similar --store runs.db build=a build=b --save", "--store"),
            ("diytrace bench --a true --store runs.db", "--store"),
            ("diytrace verdicts --store runs.db", "verdicts"),
        ] {
            let sentence = said(line);
            assert!(sentence.starts_with(&format!("{what} was left out of this build")), "{sentence}");
            assert!(sentence.contains("`cargo build --release`"), "{sentence}");
        }
    }
}
