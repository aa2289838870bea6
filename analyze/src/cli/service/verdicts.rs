//! The command `verdicts`: what comparisons concluded that a profile store keeps.

use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{Table, TableStyle};
use diytrace_profile::error::Error;
use diytrace_profile::human::moment;
use diytrace_store::{self as store, Address, Range, Verdict, VerdictFacts, VerdictKind};
use jiff::Zoned;
use serde::Serialize;
use serde_json::value::RawValue;

use super::told;
use crate::cli::from_store::SHOWN_DIGITS;
use crate::cli::pager::Output;
use crate::cli::shown::Shown;

const EXAMPLES: &str = "\
Examples:
  diytrace bench --a ./old --b ./new --store runs.db  # one comes to be
  diytrace diff --store runs.db commit=ab12 commit=cd34 --save
  diytrace similar --store runs.db host=a host=b --save
  diytrace verdicts --store runs.db                   # all of them
  diytrace verdicts --store runs.db --kind bench --since 7d
  diytrace verdicts 3f9a01c2 --store runs.db          # one of them, whole
  diytrace verdicts 3f9a01c2 --store runs.db --format json | jq .document

A verdict is the answer of its command, with what was compared and when. It stays when the runs go; `diytrace delete \
--until TIME` deletes old ones.";

/// List what `bench`, `diff --save` and `similar --save` concluded, or show one of these verdicts
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The verdict to show: its number, or the beginning of that
    #[arg(value_name = "ID", conflicts_with_all = ["kind", "since", "until"])]
    id: Option<String>,

    /// The store
    #[arg(long, value_name = "URL")]
    store: String,

    /// Only those of this command
    #[arg(long, value_enum, value_name = "COMMAND")]
    kind: Option<Kind>,

    /// What was saved since then: an age such as 90s, 1h or 2d, or a moment such as 2026-11-20T14:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// And until then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Bench,
    Diff,
    Similar,
}

impl From<Kind> for VerdictKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Bench => Self::Bench,
            Kind::Diff => Self::Diff,
            Kind::Similar => Self::Similar,
        }
    }
}

/// All of them, or one.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Document {
    /// The latest first.
    All { schema: &'static str, verdicts: Vec<Facts> },
    /// With the answer of its command.
    One { schema: &'static str, verdict: Box<Facts>, document: Box<RawValue> },
}

/// What is told of a verdict beside its document.
#[derive(Serialize)]
pub struct Facts {
    #[serde(flatten)]
    facts: VerdictFacts,
    /// `pass`, or `fail` where the answer was "no".
    outcome: &'static str,
}

impl From<VerdictFacts> for Facts {
    fn from(facts: VerdictFacts) -> Self {
        Self { outcome: if facts.status == 0 { "pass" } else { "fail" }, facts }
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self, out: &mut Output) -> Result<(), Error> {
        let (document, screen) = (self.document()?, self.shown.screen());
        if matches!(&document, Document::All { verdicts, .. } if verdicts.is_empty()) {
            let _ = writeln!(
                io::stderr(),
                "diytrace: {} has none of these verdicts: `bench --store`, and `diff` and `similar` with --save, put them in",
                self.store.parse::<Address>().map(|address| address.to_string()).unwrap_or_default()
            );
        }
        let csv = |out: &mut dyn Write| match &document {
            Document::All { verdicts, .. } => list_csv(verdicts, out),
            Document::One { document, .. } => told::csv(document, out),
        };
        let table = |out: &mut dyn Write| match &document {
            Document::All { verdicts, .. } => list(verdicts, out),
            Document::One { verdict, document, .. } => {
                head(verdict, out)?;
                told::table(document, &screen, out)
            }
        };
        self.shown.show(out, (&document, &[]), csv, table)
    }

    /// What it tells.
    pub fn document(&self) -> Result<Document, Error> {
        self.read().map_err(|error| Error::Elsewhere(error.into()))
    }

    fn read(&self) -> Result<Document, store::Error> {
        let address: Address = self.store.parse()?;
        let range = Range::parse(self.since.as_deref(), self.until.as_deref(), &Zoned::now())?;
        let store = store::open(&address, false)?;
        let mut all = store.verdicts(range)?;
        let Some(id) = &self.id else {
            all.retain(|facts| self.kind.is_none_or(|kind| facts.kind == kind.into()));
            let verdicts = all.into_iter().map(Facts::from).collect();
            return Ok(Document::All { schema: "diytrace-verdicts/1", verdicts });
        };
        let name = address.to_string();
        let found = store::find_verdict(&all, id, &name)?;
        let missing = || store::Error::NoVerdict { store: name.clone(), id: id.clone() };
        let Verdict { facts, document } = store.one_verdict(&found.id)?.ok_or_else(missing)?;
        let damaged = || store::Error::Damaged { store: name.clone(), what: "a verdict".to_owned() };
        let document = String::from_utf8(document).map_err(|_| damaged())?;
        let document = RawValue::from_string(document).map_err(|_| damaged())?;
        Ok(Document::One { schema: "diytrace-verdict/1", verdict: Box::new(facts.into()), document })
    }
}

fn list(verdicts: &[Facts], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).force_no_tty();
    table.set_header(["id", "saved", "command", "", "compared", "what came out"]);
    for Facts { facts, outcome } in verdicts {
        let compared = format!("{} → {}", facts.compared.left, facts.compared.right);
        let (id, saved) = (facts.id[..SHOWN_DIGITS.min(facts.id.len())].to_owned(), saved(facts));
        let kind = facts.kind.name().to_owned();
        table.add_row([id, saved, kind, (*outcome).to_owned(), compared, facts.sentence.clone()]);
    }
    match verdicts {
        [] => Ok(()),
        _ => table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end())),
    }
}

fn list_csv(verdicts: &[Facts], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "id",
        "saved_unix_ns",
        "kind",
        "outcome",
        "left",
        "right",
        "left_select",
        "right_select",
        "since",
        "until",
        "replicate",
        "sentence",
    ])?;
    for Facts { facts, outcome } in verdicts {
        let compared = &facts.compared;
        csv.write_record([
            &*facts.id,
            &facts.saved.to_string(),
            facts.kind.name(),
            outcome,
            &compared.left,
            &compared.right,
            &compared.left_select,
            &compared.right_select,
            compared.since.as_deref().unwrap_or_default(),
            compared.until.as_deref().unwrap_or_default(),
            &compared.replicate,
            &facts.sentence,
        ])?;
    }
    csv.flush()
}

/// What is told of one above its table.
fn head(Facts { facts, outcome }: &Facts, out: &mut dyn Write) -> io::Result<()> {
    let VerdictFacts { id, compared, command, sentence, .. } = facts;
    writeln!(out, "{sentence}")?;
    writeln!(out, "{} → {} · {outcome}", compared.left, compared.right)?;
    writeln!(out, "{id} · saved {} · {command}", saved(facts))?;
    writeln!(out, "in the store: {} → {}", or_all(&compared.left_select), or_all(&compared.right_select))
}

fn or_all(select: &str) -> &str {
    if select.is_empty() { "all" } else { select }
}

fn saved(facts: &VerdictFacts) -> String {
    moment(u64::try_from(facts.saved).unwrap_or(0))
}
