//! Answers that were given: as long as nobody writes into the store, the same is asked once, however many look at it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use diytrace_store::{self as store, Address, Stored};

/// Views that tell of the store alone, and of no other file.
const VIEWS: [&str; 7] = ["report", "tree", "callers", "timeline", "heatmap", "history", "series"];

/// What an answer is of.
type Key = (String, Vec<(String, String)>);

/// Answers of a store, the latest last.
pub struct Answered(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Who can tell whether others have written since.
    store: Option<Stored>,
    version: Option<u64>,
    answers: VecDeque<(Key, Vec<u8>)>,
    bytes: usize,
    most_bytes: usize,
}

impl Answered {
    /// None yet; at most so many bytes of them.
    pub fn bounded(most_bytes: usize) -> Self {
        Self(Mutex::new(Kept { most_bytes, ..Kept::default() }))
    }

    /// What this was answered before, or what `answer` says now.
    pub fn of<E>(
        &self,
        address: &str,
        (view, parameters): (&str, &[(String, String)]),
        answer: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        if !VIEWS.contains(&view) || !parameters.iter().all(|(name, value)| is_fixed(name, value)) {
            return answer();
        }
        // What is written while the answer is made may be in it or not: it is of the version before.
        let Some(version) = self.locked().current(address) else { return answer() };
        let key = (view.to_owned(), parameters.to_vec());
        if let Some((_, body)) = self.locked().answers.iter().find(|(known, _)| *known == key) {
            return Ok(body.clone());
        }
        let body = answer()?;
        self.locked().keep(version, key, &body);
        Ok(body)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The store's version; answers of an older one are forgotten. `None`: nobody can tell.
    fn current(&mut self, address: &str) -> Option<u64> {
        if self.store.is_none() {
            self.store = store::open(&address.parse::<Address>().ok()?, false).ok();
        }
        let version = self.store.as_ref()?.version().ok().flatten();
        if version != self.version {
            (self.version, self.bytes) = (version, 0);
            self.answers.clear();
        }
        version
    }

    fn keep(&mut self, version: u64, key: Key, body: &[u8]) {
        if self.version != Some(version) || body.len() > self.most_bytes / 4 {
            return;
        }
        self.bytes += body.len();
        self.answers.push_back((key, body.to_owned()));
        while self.bytes > self.most_bytes {
            self.bytes -= self.answers.pop_front().map_or(self.bytes, |(_, body)| body.len());
        }
    }
}

/// Whether a parameter means the same later: ages are counted from now on.
fn is_fixed(name: &str, value: &str) -> bool {
    !matches!(name, "since" | "until") || value.is_empty() || value.starts_with('@')
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use diytrace_store::{Compared, Range, Verdict, VerdictFacts, VerdictKind};

    use super::*;

    fn select(value: &str) -> Vec<(String, String)> {
        vec![("select".to_owned(), value.to_owned())]
    }

    fn verdict() -> Verdict {
        let compared = Compared {
            left: "a".to_owned(),
            right: "b".to_owned(),
            replicate: "run".to_owned(),
            ..Compared::default()
        };
        let facts = VerdictFacts {
            id: String::new(),
            kind: VerdictKind::Diff,
            saved: 1,
            compared,
            command: String::new(),
            sentence: String::new(),
            status: 0,
            bytes: 2,
        };
        Verdict { facts, document: b"{}".to_vec() }
    }

    #[test]
    fn the_same_is_asked_once_until_somebody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let address = folder.path().join("s.db").display().to_string();
        let mut writer = store::open(&address.parse().unwrap(), true).unwrap();
        let (answered, mut asked) = (Answered::bounded(64 << 20), 0);
        let mut ask = |view: &str, parameters: &[(String, String)]| {
            let before = asked;
            let body = answered.of(&address, (view, parameters), || {
                asked += 1;
                Ok::<_, Infallible>(vec![asked])
            });
            (body.unwrap()[0], asked > before)
        };
        assert_eq!(ask("report", &select("a=1")), (1, true));
        assert_eq!(ask("report", &select("a=1")), (1, false));
        assert_eq!(ask("report", &select("a=2")), (2, true));
        assert_eq!(ask("tree", &select("a=1")), (3, true));
        for moment in ["1h", "now", "2026-11-20"] {
            assert!(ask("report", &[("since".to_owned(), moment.to_owned())]).1);
            assert!(ask("report", &[("since".to_owned(), moment.to_owned())]).1, "{moment}");
        }
        assert!(ask("export/pprof", &[]).1 && ask("export/pprof", &[]).1);
        assert_eq!(ask("report", &select("a=1")), (1, false));
        writer.put_verdict(&verdict()).unwrap();
        assert!(ask("report", &select("a=1")).1);
        let _ = writer.verdicts(Range::default()).unwrap();
        assert!(!ask("report", &select("a=1")).1, "who reads changes nothing");
    }
}
