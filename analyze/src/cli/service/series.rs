//! The command `series`: what is in a profile store.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, TableStyle};
use diytrace_profile::error::Error;
use diytrace_profile::human::{bytes, count, moment};
use diytrace_store::{self as store, Address, Labels, Query, Range, SeriesFacts};
use serde::Serialize;

use crate::cli::pager::Output;
use crate::cli::shown::Shown;

const EXAMPLES: &str = "\
Examples:
  diytrace series --store runs.db
  diytrace series --store runs.db --select 'service=postgres' --format json";

/// List what is in a profile store: series with their labels, recordings, times and sizes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The store
    #[arg(long, value_name = "URL")]
    store: String,

    /// Labels of the series, with * and ?: service=pg,build=ab* [default: all]
    #[arg(long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    select: String,

    #[command(flatten)]
    shown: Shown,
}

/// What there is.
#[derive(Serialize)]
pub struct Document {
    schema: &'static str,
    series: Vec<Series>,
}

#[derive(Serialize)]
struct Series {
    labels: Labels,
    recordings: u64,
    calls: u64,
    first_unix_ns: i64,
    last_unix_ns: i64,
    bytes: u64,
}

impl From<SeriesFacts> for Series {
    fn from(facts: SeriesFacts) -> Self {
        Self {
            labels: facts.labels,
            recordings: facts.sessions,
            calls: facts.calls,
            first_unix_ns: facts.first,
            last_unix_ns: facts.last,
            bytes: facts.bytes,
        }
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let document = self.document()?;
        self.shown.show(out, (&document, &[]), |out| csv(&document, out), |out| table(&document, out))
    }

    /// What it tells.
    pub fn document(&self) -> Result<Document, Error> {
        let series = self.series().map_err(|error| Error::Elsewhere(error.into()))?;
        Ok(Document { schema: "diytrace-series/1", series })
    }

    /// The same; of a store that nothing was put into yet, no series.
    pub fn document_or_none(&self) -> Result<Document, Error> {
        let series = match self.series() {
            Err(store::Error::Empty { .. }) => Ok(Vec::new()),
            series => series,
        };
        let series = series.map_err(|error| Error::Elsewhere(error.into()))?;
        Ok(Document { schema: "diytrace-series/1", series })
    }

    fn series(&self) -> Result<Vec<Series>, store::Error> {
        let address = self.store.parse::<Address>()?;
        let store = store::open(&address, false)?;
        let all = store.series()?;
        let query = Query::parse(&self.select, Range::default())?;
        query.check(&all.iter().map(|facts| &facts.labels).collect::<Vec<_>>(), None, &address.to_string())?;
        Ok(all.into_iter().filter(|facts| query.selects(&facts.labels)).map(Series::from).collect())
    }
}

fn csv(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["labels", "recordings", "calls", "first_unix_ns", "last_unix_ns", "bytes"])?;
    for series in &document.series {
        let Series { recordings, calls, first_unix_ns, last_unix_ns, bytes, .. } = series;
        let numbers = [recordings.to_string(), calls.to_string(), first_unix_ns.to_string(), last_unix_ns.to_string()];
        csv.write_record([series.labels.named()].into_iter().chain(numbers).chain([bytes.to_string()]))?;
    }
    csv.flush()
}

fn table(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty();
    table.set_header(["recordings", "calls", "size", "last", "series"]);
    for series in &document.series {
        let last = u64::try_from(series.last_unix_ns).map_or_else(|_| String::new(), moment);
        let size = bytes(series.bytes);
        table.add_row([series.recordings.to_string(), count(series.calls), size, last, series.labels.named()]);
    }
    for column in table.column_iter_mut().take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}
