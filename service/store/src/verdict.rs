//! What comparisons concluded, kept as their JSON documents, with what is asked of all of them beside.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::sampled::shown;
use crate::{Error, Range};

/// Which command compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    /// `bench`: two commands or servers in turn.
    Bench,
    /// `diff`: two selections.
    Diff,
    /// `similar`: whether two environments perform alike.
    Similar,
}

impl VerdictKind {
    /// Its name, as the command's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bench => "bench",
            Self::Diff => "diff",
            Self::Similar => "similar",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Bench, Self::Diff, Self::Similar].into_iter().find(|kind| kind.name() == name)
    }
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// What it is called, for people.
    pub left: String,
    /// The other.
    pub right: String,
    /// Labels that select its runs in the store, as `--select` takes them.
    pub left_select: String,
    /// The other's.
    pub right_select: String,
    /// The time that both selections are of, as `--since` takes it. `None`: all there was.
    pub since: Option<String>,
    /// The same, as `--until` takes it.
    pub until: Option<String>,
    /// What was one run: `run`, `host` or `slice`.
    pub replicate: String,
}

/// What is told of a verdict without reading its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictFacts {
    /// Made of what it is: the same verdict has the same.
    pub id: String,
    /// Which command compared.
    pub kind: VerdictKind,
    /// When it was put in first, in nanoseconds since 1970.
    #[serde(rename = "saved_unix_ns")]
    pub saved: i64,
    /// What was compared.
    #[serde(flatten)]
    pub compared: Compared,
    /// The command line, as it was given.
    pub command: String,
    /// What came out, in its first sentence.
    pub sentence: String,
    /// The command's exit status: 1 if the answer was "no".
    pub status: u8,
    /// Bytes of its document.
    pub bytes: u64,
}

/// A verdict to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is told of it; its number and its bytes are made here.
    pub facts: VerdictFacts,
    /// The command's JSON.
    pub document: Vec<u8>,
}

impl Verdict {
    /// Its number: of what was compared and what came out. When that was, and how the command was written, does not matter.
    pub(crate) fn number(&self) -> u64 {
        let id = Id::of("verdict").bytes(self.facts.kind.name().as_bytes());
        id.bytes(&to_json(&self.facts.compared)).bytes(&self.document).finish()
    }

    /// What the store calls it.
    pub fn id(&self) -> String {
        shown(self.number())
    }
}

/// The columns of a verdict, as both engines have them.
pub(crate) struct Row {
    pub id: u64,
    pub kind: String,
    pub saved: i64,
    /// A JSON object.
    pub compared: String,
    pub command: String,
    pub sentence: String,
    pub status: u32,
    pub bytes: u64,
}

impl Row {
    /// Of a verdict that is to be put in.
    pub fn of(verdict: &Verdict) -> Self {
        let facts = &verdict.facts;
        Self {
            id: verdict.number(),
            kind: facts.kind.name().to_owned(),
            saved: facts.saved,
            compared: String::from_utf8(to_json(&facts.compared)).unwrap_or_default(), // JSON is UTF-8
            command: facts.command.clone(),
            sentence: facts.sentence.clone(),
            status: facts.status.into(),
            bytes: verdict.document.len() as u64,
        }
    }

    /// What it tells; `None`: it is damaged.
    pub fn facts(self) -> Option<VerdictFacts> {
        Some(VerdictFacts {
            id: shown(self.id),
            kind: VerdictKind::named(&self.kind)?,
            saved: self.saved,
            compared: serde_json::from_str(&self.compared).ok()?,
            command: self.command,
            sentence: self.sentence,
            status: u8::try_from(self.status).ok()?,
            bytes: self.bytes,
        })
    }
}

/// A moment as `--since` and `--until` take it, to the nanosecond; before 1970 there is none.
pub fn written_moment(ns: i64) -> String {
    let ns = ns.max(0);
    format!("@{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// The beginning and end of a range as options; `None` where it has none.
pub fn written_range(range: Range) -> (Option<String>, Option<String>) {
    let since = (range.since != i64::MIN).then(|| written_moment(range.since));
    (since, (range.until != i64::MAX).then(|| written_moment(range.until)))
}

/// Of all there are, the one whose number begins so.
pub fn find_verdict(all: &[VerdictFacts], id: &str, store: &str) -> Result<VerdictFacts, Error> {
    let missing = || Error::NoVerdict { store: store.to_owned(), id: id.to_owned() };
    let mut found = all.iter().filter(|facts| !id.is_empty() && facts.id.starts_with(id));
    let one = found.next().ok_or_else(missing)?;
    match found.count() {
        0 => Ok(one.clone()),
        more => Err(Error::ManyVerdicts { id: id.to_owned(), count: more + 1 }),
    }
}

fn to_json(compared: &Compared) -> Vec<u8> {
    serde_json::to_vec(compared).unwrap_or_default() // of text alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_they_are_read() {
        let now = jiff::Zoned::now();
        for ns in [0, 1, 999_999_999, 1_795_341_945_123_456_789] {
            let range = Range::parse(None, Some(&written_moment(ns)), &now).unwrap();
            assert_eq!(range.until, ns);
        }
        assert_eq!(written_range(Range::default()), (None, None));
    }
}
