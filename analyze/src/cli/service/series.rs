//! The command `series`: what is in a profile store.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, TableStyle};
use diytrace_profile::error::Error;
use diytrace_profile::human::{bytes, count, moment};
use diytrace_sampled::Kind;
use diytrace_store::{self as store, Address, Labels, Query, Range, SampledFacts, SeriesFacts};
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

    /// Labels of the series, with * and ?, a|b for either and !a for others: service=pg,build=ab* [default: all]
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
    /// Those of sampled profiles.
    sampled: Vec<SampledSeries>,
}

#[derive(Serialize)]
struct SampledSeries {
    labels: Labels,
    last_unix_ns: i64,
    /// Those of its latest profile.
    types: Vec<Kind>,
}

impl From<SampledFacts> for SampledSeries {
    fn from(SampledFacts { labels, ended, types, .. }: SampledFacts) -> Self {
        let types = types.into_iter().map(|of| Kind { name: of.name, unit: of.unit }).collect();
        Self { labels, last_unix_ns: ended, types }
    }
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
        self.told(false).map_err(|error| Error::Elsewhere(error.into()))
    }

    /// The same; of a store that nothing was put into yet, no series.
    pub fn document_or_none(&self) -> Result<Document, Error> {
        self.told(true).map_err(|error| Error::Elsewhere(error.into()))
    }

    fn told(&self, may_be_empty: bool) -> Result<Document, store::Error> {
        let address = self.store.parse::<Address>()?;
        let store = store::open(&address, false)?;
        let query = Query::parse(&self.select, Range::default())?;
        // The last of each series: none has ended after all time.
        let mut sampled = store.all_sampled(Range { since: i64::MAX, until: i64::MAX })?;
        sampled.retain(|facts| query.selects(&facts.labels));
        sampled.sort_by(|a, b| a.labels.cmp(&b.labels));
        let mut series = store.series()?;
        match query.check(&series.iter().map(|facts| &facts.labels).collect::<Vec<_>>(), None, &address.to_string()) {
            Err(store::Error::Empty { .. }) if may_be_empty => {}
            Err(error) if !error.is_missing() || sampled.is_empty() => return Err(error),
            _ => {}
        }
        series.retain(|facts| query.selects(&facts.labels));
        Ok(Document {
            schema: "diytrace-series/1",
            series: series.into_iter().map(Series::from).collect(),
            sampled: sampled.into_iter().map(SampledSeries::from).collect(),
        })
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
    // Of a series whose frames have all gone there is none.
    let last = |ns: i64| u64::try_from(ns).ok().filter(|ns| *ns > 0).map_or_else(String::new, moment);
    if !document.series.is_empty() {
        let mut table = titled(["recordings", "calls", "size", "last", "series"]);
        for series in &document.series {
            let (size, last) = (bytes(series.bytes), last(series.last_unix_ns));
            table.add_row([series.recordings.to_string(), count(series.calls), size, last, series.labels.named()]);
        }
        for column in table.column_iter_mut().take(3) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    }
    if !document.sampled.is_empty() {
        if !document.series.is_empty() {
            writeln!(out)?;
        }
        let mut table = titled(["types of samples", "last", "series"]);
        for SampledSeries { labels, last_unix_ns, types } in &document.sampled {
            let types: Vec<&str> = types.iter().map(|of| &*of.name).collect();
            table.add_row([types.join(", "), last(*last_unix_ns), labels.named()]);
        }
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    }
    Ok(())
}

fn titled<const N: usize>(titles: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty();
    table.set_header(titles);
    table
}
