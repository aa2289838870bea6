//! Keeps a bench in a profile store: its runs, labelled with what they are of, and what they were compared to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use diytrace_compare::diff::Comparison;
use diytrace_compare::diff::report::sentence;
use diytrace_compare::runs::Runs;
use diytrace_profile::error::Error;
use diytrace_profile::human::counted;
use diytrace_profile::load::interval::Interval;
use diytrace_profile::run::{Facts, Run};
use diytrace_store::{self as store, Address, Labelled, Labels, Pushed, Stored};
use diytrace_views::view;

use super::git::Checkout;
use super::save::put;
use crate::bench::{Benched, Keep};
use crate::cli::shown::warn;
use crate::cli::wanted::{Concluded, Kept, Kind, Replicate, Selection};

/// The label that tells sides apart, and that of a scenario's query.
const SIDE: &str = "side";
const QUERY: &str = "query";

/// An open store, and what somebody wants its recordings labelled with.
struct Keeper {
    url: String,
    address: Address,
    stored: Stored,
    labels: [BTreeMap<String, String>; 2],
}

/// Opens the store; it is made if there is none.
pub fn keeper(kept: &Kept) -> Result<Option<Box<dyn Keep>>, Error> {
    let Some(url) = &kept.store else { return Ok(None) };
    let mut labels = kept.labels.iter().chain(&kept.left_labels).chain(&kept.right_labels);
    let is_own = |label: &&String| [SIDE, QUERY].iter().any(|own| label.split('=').next() == Some(own));
    if let Some(label) = labels.find(is_own) {
        let why = "side and query are labels that bench sets itself, choose another name";
        return Err(Error::Usage(format!("--label {label}: {why}")));
    }
    let open = || {
        let address: Address = url.parse()?;
        let parsed = |side: &[String]| kept.labels.iter().chain(side).map(|label| Labels::parse(label)).collect();
        let labels: [Result<_, store::Error>; 2] = [parsed(&kept.left_labels), parsed(&kept.right_labels)];
        let [left, right] = labels;
        let labels = [left?, right?];
        let stored = store::open(&address, true)?;
        Ok(Box::new(Keeper { url: url.clone(), address, stored, labels }) as Box<dyn Keep>)
    };
    open().map(Some).map_err(|error: store::Error| Error::Elsewhere(error.into()))
}

impl Keep for Keeper {
    fn keep(&mut self, benched: &Benched) -> Result<(), Error> {
        let checkouts = checkouts(benched.sides);
        let mut selections = Vec::new();
        for (number, side) in benched.sides.iter().enumerate() {
            let labels = labels_of(side, &self.labels[number.min(1)], checkouts[number].as_ref());
            let recordings = self.push(side, &labels)?;
            let (recordings, selection) = (counted(recordings, "recording", "recordings"), selection(&labels));
            say(&format!("{}: {recordings} of the {} side put in: {selection}", self.address, side.name));
            selections.push(selection);
        }
        match (benched.comparison, &selections[..]) {
            (Some(comparison), [left, right]) => self.conclude(benched, comparison, [left, right]),
            _ => Ok(()),
        }
    }
}

impl Keeper {
    /// Puts a side's runs in, those of each query by themselves. How many recordings these were.
    fn push(&mut self, side: &Runs, labels: &BTreeMap<String, String>) -> Result<u64, Error> {
        let mut recordings = 0;
        for query in side.queries() {
            let mut labelled = Labelled { labels: labels.clone().into_iter().collect() };
            labelled.labels.extend(query.map(|query| (QUERY.to_owned(), fitting(query))));
            let profiles: Vec<PathBuf> = side.of(query).flat_map(|run| run.profiles.iter().cloned()).collect();
            let pushed = store::push(&mut *self.stored, &profiles, &labelled).map_err(elsewhere)?;
            let (Pushed { added, grown, known, .. }, left_out) = pushed;
            recordings += added + grown + known;
            warn(&left_out.iter().map(|profile| format!("left out: {profile}")).collect::<Vec<_>>());
        }
        Ok(recordings)
    }

    fn conclude(&mut self, benched: &Benched, comparison: &Comparison, labels: [&str; 2]) -> Result<(), Error> {
        let mut document = Vec::new();
        view::json::write(comparison, &mut document)?;
        // Other benches have runs of the same labels, at other times.
        let runs = benched.sides.iter().flat_map(|side| &side.runs);
        let first = runs.filter_map(|run| run.started_unix_ns).min().and_then(|ns| i64::try_from(ns).ok());
        let since = first.map(store::written_moment);
        let since = since.as_deref();
        let sides = labels.map(|labels| Selection { store: &self.url, labels, since, until: None });
        let titles = [0, 1].map(|side: usize| &*benched.sides[side].command);
        let concluded = Concluded {
            kind: Kind::Bench,
            sides,
            names: titles.iter().all(|title| !title.is_empty()).then_some(titles),
            replicate: Replicate::Run,
            are_samples: false,
            sentence: sentence(comparison),
            status: benched.status,
            document,
        };
        put(&mut self.stored, &self.address, &concluded).map_err(elsewhere)
    }
}

/// What a side's recordings are labelled with: what was asked for goes before what git knows.
fn labels_of(side: &Runs, asked: &BTreeMap<String, String>, checkout: Option<&Checkout>) -> BTreeMap<String, String> {
    let mut labels =
        BTreeMap::from([(SIDE.to_owned(), side.name.clone()), ("host".to_owned(), fitting(&store::host_name()))]);
    if let Some(Checkout { commit, branch, .. }) = checkout {
        labels.insert("commit".to_owned(), commit.clone());
        labels.extend(branch.as_ref().map(|branch| ("branch".to_owned(), fitting(branch))));
    }
    labels.extend(asked.clone());
    labels
}

/// A text as a label's value.
fn fitting(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).take(Labels::MOST_BYTES / 4).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

/// What selects recordings with these labels: a value in which what means something in a selection stands is left out.
fn selection(labels: &BTreeMap<String, String>) -> String {
    let is_plain = |value: &str| !value.contains([',', '*', '?', '[']) && value.trim() == value;
    let plain = labels.iter().filter(|(_, value)| is_plain(value));
    plain.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

/// Of each side the work tree that its programs lie in. Two programs in one work tree cannot both be of what is checked out there.
fn checkouts(sides: &[Runs]) -> Vec<Option<Checkout>> {
    let programs: Vec<Vec<PathBuf>> = sides.iter().map(programs).collect();
    let of_side = |programs: &Vec<PathBuf>| {
        let mut found = programs.iter().filter_map(|program| Checkout::of(program));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    };
    let found: Vec<Option<Checkout>> = programs.iter().map(of_side).collect();
    match &found[..] {
        [Some(left), Some(right)] if left == right && programs[0] != programs[1] => {
            say(&format!(
                "both sides' programs lie in {}, and git cannot tell of which commit each is: --left-label commit=… and \
                 --right-label commit=… can",
                left.folder.display()
            ));
            vec![None, None]
        }
        _ => found,
    }
}

/// The files of a side's programs, by its first run.
fn programs(side: &Runs) -> Vec<PathBuf> {
    let Some(first) = side.runs.first() else { return Vec::new() };
    let file = |profile: &PathBuf| Interval::names(profile).map_or_else(|| profile.clone(), |(_, to)| to);
    let files = first.profiles.iter().map(file).collect();
    let facts = Facts::of_all(&[Run { files, ..Run::default() }]);
    facts.into_iter().flat_map(|facts| facts.programs).map(PathBuf::from).collect()
}

fn elsewhere(error: store::Error) -> Error {
    Error::Elsewhere(error.into())
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "diytrace: {text}"); // if nobody listens, it is put in all the same
}
