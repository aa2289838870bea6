//! The command `samples`: sampled profiles of others, from files or a store.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use diytrace_pprof::{Rows, folded, pack};
use diytrace_profile::error::Error;
use diytrace_sampled::{
    self as sampled, Chosen, Document, List, MOST_BYTES, Order, Origin, Selection, arrived, document, drawing,
};
use diytrace_store::{self as store, Address, Query, Range, Stored};
use jiff::Zoned;

use crate::cli::pager::Output;
use crate::cli::shown::{Shown, warn, write_file};

const EXAMPLES: &str = "\
Examples:
  diytrace samples heap.pb.gz                        # a file of pprof's format
  diytrace samples --store runs.db --list            # which there are
  diytrace samples --store runs.db --select profile=heap --type alloc_space
  diytrace samples --store runs.db --since 1h --as flamegraph -o api.svg
  diytrace samples --store runs.db --id 6a0f3c…      # one of them

Sampled profiles of others (Go's, those of perf or of eBPF agents) estimate where time or memory goes; recordings count \
calls. The two are never added up. flat is what was sampled in a function itself, cum in it and all that it called.";

/// How all of it is written for another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum As {
    /// A flame graph (SVG)
    Flamegraph,
    /// Stacks, one a line
    Folded,
    /// One pprof file of all
    Pprof,
}

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// What functions take by themselves
    #[default]
    Flat,
    /// With all that they call
    Cum,
    /// Names
    Name,
}

/// Show sampled profiles of others (pprof): functions or lines, labels, flame graphs
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files of pprof's format
    #[arg(value_name = "FILE", required_unless_present = "store")]
    files: Vec<PathBuf>,

    /// The store
    #[arg(long, value_name = "URL", conflicts_with = "files")]
    store: Option<String>,

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=api,profile=heap [default: all]
    #[arg(long, value_name = "LABELS", default_value = "", hide_default_value = true, requires = "store")]
    select: String,

    /// What was taken since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME", requires = "store")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME", requires = "store")]
    until: Option<String>,

    /// Only this profile, as --list names it
    #[arg(long, value_name = "ID", requires = "store", conflicts_with_all = ["since", "until", "list"])]
    id: Option<String>,

    /// List the profiles
    #[arg(long, requires = "store", conflicts_with_all = ["lines", "written"])]
    list: bool,

    /// The type of samples, such as cpu or alloc_space [default: what the profiles show first]
    #[arg(long = "type", value_name = "TYPE")]
    of: Option<String>,

    /// Lines, not functions
    #[arg(long)]
    lines: bool,

    /// What rows are ordered by
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    sort: Sort,

    /// Most rows
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Write all of it for another tool
    #[arg(long = "as", value_enum, value_name = "FORMAT", conflicts_with_all = ["lines", "sort", "limit", "format"])]
    written: Option<As>,

    #[command(flatten)]
    shown: Shown,
}

fn elsewhere(error: impl Into<sampled::Error>) -> Error {
    match error.into() {
        sampled::Error::Store(error) => Error::Elsewhere(error.into()),
        error => Error::Elsewhere(error.into()),
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let screen = self.shown.screen();
        if self.list {
            let list = self.listed()?;
            return self.shown.show(
                out,
                (&list, &[]),
                |out| sampled::write_list_csv(&list, out),
                |out| sampled::write_list(&list, &screen, out),
            );
        }
        if let Some(written) = self.written {
            return self.write(written, out);
        }
        let document = self.document()?;
        self.shown.show(
            out,
            (&document, &document.warnings),
            |out| sampled::write_csv(&document, out),
            |out| sampled::write_table(&document, &screen, out),
        )
    }

    fn write(&self, written: As, out: &mut Output) -> Result<(), Error> {
        if written == As::Pprof && self.shown.output().is_none() && io::stdout().is_terminal() {
            return Err(Error::BinaryToTerminal);
        }
        let chosen = self.chosen()?;
        let bytes = bytes(written, &chosen).map_err(elsewhere)?;
        match self.shown.output() {
            Some(path) => write_file(path, |file| file.write_all(&bytes))?,
            None => {
                out.write_all(&bytes)?;
                out.flush()?;
            }
        }
        warn(&chosen.warnings);
        Ok(())
    }

    /// What was asked for with `--as`, as bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        bytes(self.written.unwrap_or(As::Pprof), &self.chosen()?).map_err(elsewhere)
    }

    /// What it lists.
    pub fn listed(&self) -> Result<List, Error> {
        let (store, name) = self.open()?;
        let all = store.sampled(&self.query()?, &name).map_err(elsewhere)?;
        let of = self.of.as_deref();
        let has = |facts: &store::SampledFacts| of.is_none_or(|of| facts.types.iter().any(|each| each.name == of));
        Ok(List::of(all.into_iter().filter(has).collect(), self.limit))
    }

    /// Whether it lists.
    pub fn lists(&self) -> bool {
        self.list
    }

    /// Whether it is to be written for another tool.
    pub fn is_export(&self) -> bool {
        self.written.is_some()
    }

    /// What it tells.
    pub fn document(&self) -> Result<Document, Error> {
        let rows = if self.lines { Rows::Lines } else { Rows::Functions };
        let order = match self.sort {
            Sort::Flat => Order::Flat,
            Sort::Cum => Order::Cum,
            Sort::Name => Order::Name,
        };
        Ok(document(&self.chosen()?, rows, order, self.limit))
    }

    fn chosen(&self) -> Result<Chosen, Error> {
        self.selection()?.choose(self.of.as_deref()).map_err(elsewhere)
    }

    fn selection(&self) -> Result<Selection, Error> {
        if self.store.is_none() {
            let mut selection = Selection::default();
            for path in &self.files {
                let bytes = read(path)?;
                let origin = Origin { from: path.display().to_string(), ..Origin::default() };
                let sampled = arrived(&bytes, &origin).map_err(elsewhere)?;
                selection.add_file(sampled, &origin.from).map_err(elsewhere)?;
            }
            return Ok(selection);
        }
        let (store, name) = self.open()?;
        match &self.id {
            Some(id) => Selection::one(&*store, id),
            None => Selection::of(&*store, &name, &self.query()?, self.of.as_deref()),
        }
        .map_err(elsewhere)
    }

    fn open(&self) -> Result<(Stored, String), Error> {
        let address = self.store.as_deref().unwrap_or_default().parse::<Address>().map_err(elsewhere)?;
        let store = store::open(&address, false).map_err(elsewhere)?;
        Ok((store, address.to_string()))
    }

    fn query(&self) -> Result<Query, Error> {
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now()).map_err(elsewhere)?;
        Query::parse(&self.select, range).map_err(elsewhere)
    }
}

fn bytes(written: As, chosen: &Chosen) -> Result<Vec<u8>, sampled::Error> {
    match written {
        As::Flamegraph => drawing(chosen),
        As::Folded => {
            Ok(folded(&chosen.sum, chosen.of).iter().flat_map(|line| format!("{line}\n").into_bytes()).collect())
        }
        As::Pprof => Ok(pack(&chosen.sum.message())?),
    }
}

/// A file that may be a sampled profile.
pub fn read(path: &PathBuf) -> Result<Vec<u8>, Error> {
    let unreadable = |source| Error::Elsewhere(format!("cannot read {}: {source}", path.display()).into());
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MOST_BYTES {
        let sentence =
            format!("{} has more than {MOST_BYTES} bytes, the most that is taken of a sampled profile", path.display());
        return Err(Error::Elsewhere(sentence.into()));
    }
    std::fs::read(path).map_err(unreadable)
}
