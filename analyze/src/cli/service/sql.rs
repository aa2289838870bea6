//! The command `sql`: a store's own language, for who wants more than views tell.

use std::os::unix::process::CommandExt;
use std::process;

use diytrace_profile::error::Error;
use diytrace_store::{self as store, Address, Cell};

use crate::cli::pager::Output;

const EXAMPLES: &str = "\
Examples:
  diytrace sql --store runs.db 'SELECT host, sum(calls) FROM slices GROUP BY 1'
  diytrace sql --store runs.db    # the shell of SQLite, where that is installed
  diytrace sql --store clickhouse://db1:8123/runs 'SELECT count() FROM slices'

The answer is CSV. `slices` has a row for each span of time of each recording: service, host, build, labels (JSON), \
recording, started and ended (UTC), calls, raw_ns (self times as measured), paths and bytes. docs/store.md has the tables below \
that, and more examples. Nothing can be changed.";

/// Ask a profile store in SQL
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The query [default: the store's own shell]
    #[arg(value_name = "QUERY")]
    query: Option<String>,

    /// The store
    #[arg(long, value_name = "URL")]
    store: String,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let elsewhere = |error: store::Error| Error::Elsewhere(error.into());
        let address = self.store.parse::<Address>().map_err(elsewhere)?;
        let Some(query) = &self.query else { return Err(shell(&address)) };
        let mut csv = csv::Writer::from_writer(out);
        let failed = |error: csv::Error| Error::Write(error.into());
        let store = store::open(&address, false).map_err(elsewhere)?;
        let mut written = Ok(());
        store
            .sql(query, &mut |row: &[Cell]| {
                written = csv.write_record(row.iter().map(Cell::text)).map_err(failed);
                written.is_ok()
            })
            .map_err(elsewhere)?;
        written?;
        Ok(csv.flush()?)
    }
}

/// Becomes the store's own shell; why it cannot.
fn shell(address: &Address) -> Error {
    let Address::Sqlite(path) = address else {
        return Error::Usage(
            "the shell of ClickHouse is its own program: write a query here, or start clickhouse-client".to_owned(),
        );
    };
    let failed = process::Command::new("sqlite3").arg("-readonly").arg(path).exec();
    Error::Usage(format!("cannot run sqlite3, the shell of SQLite: {failed}; install it, or write a query"))
}
