//! The command `push`: recordings into a profile store.

use std::io::{self, Write};
use std::path::PathBuf;

use diytrace_agent::Client;
use diytrace_profile::error::Error as Whole;
use diytrace_profile::human::count;
use diytrace_serve::Tokens;
use diytrace_store::{self as store, Address, Labelled, Labels};

use crate::cli::shown::warn;
use crate::cli::source::Source;

const EXAMPLES: &str = "\
Examples:
  diytrace push --store runs.db               # diytrace.data here
  diytrace push --store runs.db --label commit=ab12 pg.data
  diytrace report --store runs.db --select service=postgres,commit=ab12
  diytrace report --store runs.db --since 2d --by build
  diytrace series --store runs.db             # what there is
  diytrace push --to http://127.0.0.1:7070    # into a service's store

A recording that is pushed twice counts once; one that has grown since then counts as it is now. The names and lines \
of its functions go with it, so a store needs no program, nor its debug information.";

/// Put recordings into a profile store or send them to a service, with labels
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// The store, a file or a database, which is made if there is none
    #[arg(long, value_name = "URL", required_unless_present = "to")]
    store: Option<String>,

    /// The service to send them to: http://HOST:PORT
    #[arg(long, value_name = "URL", conflicts_with = "store")]
    to: Option<String>,

    /// A file with a line `write TOKEN`, if the service wants one
    #[arg(long, value_name = "FILE", requires = "to")]
    token_file: Option<PathBuf>,

    /// A label of the series (repeatable); service, host and build are the program's, this host's and its build ID's unless told
    #[arg(long = "label", value_name = "NAME=VALUE")]
    labels: Vec<String>,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Whole> {
        let profiles = self.source.paths()?;
        self.put(&profiles).map_err(Whole::Elsewhere)
    }

    fn put(&self, profiles: &[PathBuf]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let labels = self.labels.iter().map(|label| Labels::parse(label)).collect::<Result<_, _>>()?;
        let labelled = Labelled { labels };
        let (where_to, (pushed, left_out)) = match (&self.store, &self.to) {
            (Some(store), _) => {
                let address = store.parse::<Address>()?;
                let mut engine = store::open(&address, true)?;
                (address.to_string(), store::push(&mut *engine, profiles, &labelled)?)
            }
            (None, to) => {
                let to = to.as_ref().ok_or("name a store or a service")?;
                let token = self.token_file.as_deref().map(Tokens::to_write).transpose()?;
                (to.clone(), store::push(&mut Client::new(to, token)?, profiles, &labelled)?)
            }
        };
        warn(&left_out.iter().map(|profile| format!("left out: {profile}")).collect::<Vec<_>>());
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
        let _ = writeln!(io::stderr(), "diytrace: {where_to}: {said} ({} call paths)", count(paths));
        Ok(())
    }
}
