//! The command `push`: recordings into a profile store.

use std::io::{self, Write};
use std::path::PathBuf;

use diytrace_profile::error::Error as Whole;
use diytrace_profile::human::count;
use diytrace_store::{self as store, Address, Error, Labelled, Labels};

use super::shown::warn;
use super::source::Source;

const EXAMPLES: &str = "\
Examples:
  diytrace push --store runs.db               # diytrace.data here
  diytrace push --store runs.db --label commit=ab12 pg.data
  diytrace report --store runs.db --select service=postgres,commit=ab12
  diytrace report --store runs.db --since 2d --by build
  diytrace series --store runs.db             # what there is

A recording that is pushed twice counts once; one that has grown since then counts as it is now. The names and lines \
of its functions go with it, so a store needs no program, nor its debug information.";

/// Put recordings into a profile store, with labels
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// The store; a file that is made if there is none
    #[arg(long, value_name = "URL")]
    store: String,

    /// A label of the series (repeatable); service, host and build are the program's, this host's and its build ID's unless told
    #[arg(long = "label", value_name = "NAME=VALUE")]
    labels: Vec<String>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Whole> {
        let profiles = self.source.paths()?;
        self.put(&profiles).map_err(|error| Whole::Elsewhere(error.into()))
    }

    fn put(&self, profiles: &[PathBuf]) -> Result<(), Error> {
        let labels = self.labels.iter().map(|label| Labels::parse(label)).collect::<Result<_, _>>()?;
        let mut store = store::open(&self.store.parse::<Address>()?, true)?;
        let (pushed, warnings) = store::push(&mut *store, profiles, &Labelled { labels })?;
        warn(&warnings.iter().map(|warning| format!("left out: {warning}")).collect::<Vec<_>>());
        let store::Pushed { added, grown, known, paths } = pushed;
        let recordings = |count: u64| if count == 1 { "1 recording".to_owned() } else { format!("{count} recordings") };
        let mut said = vec![format!("{} put in", recordings(added))];
        if grown > 0 {
            said.push(format!("{grown} that had grown"));
        }
        if known > 0 {
            said.push(format!("{known} there already"));
        }
        let said = said.join(", ");
        let _ = writeln!(io::stderr(), "diytrace: {}: {said} ({} call paths)", self.store, count(paths));
        Ok(())
    }
}
