//! What `diytrace report --format json` says.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole of it.
#[derive(Debug, Deserialize)]
pub struct Document {
    pub schema: String,
    pub clock: Clock,
    pub warnings: Vec<String>,
    pub reports: Vec<Report>,
}

#[derive(Debug, Deserialize)]
pub struct Clock {
    pub source: String,
    pub hz: f64,
}

/// What belongs to all, to a process or to a thread.
#[derive(Debug, Deserialize)]
pub struct Report {
    pub process: Option<Process>,
    pub thread: Option<Thread>,
    pub processes: u64,
    pub calls: u64,
    pub lost_calls: u64,
    pub untimed_calls: u64,
    pub folded_calls: u64,
    pub unwound: u64,
    pub timing: String,
    pub overhead: Overhead,
    pub all_self_ns: f64,
    pub all_self_preempted_ns: Option<f64>,
    pub functions: Vec<Function>,
}

#[derive(Debug, Deserialize)]
pub struct Process {
    pub pid: u32,
    pub ppid: u32,
    pub exe: String,
    pub cmdline: Vec<String>,
    pub started_unix_ns: u64,
    pub state: String,
}

#[derive(Debug, Deserialize)]
pub struct Thread {
    pub tid: u32,
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub struct Overhead {
    pub inner_ns: f64,
    pub outer_ns: f64,
    pub error_ns: f64,
}

#[derive(Debug, Deserialize)]
pub struct Function {
    pub name: String,
    pub module: String,
    pub address: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub calls: u64,
    pub open: u64,
    pub open_bound: Option<String>,
    pub unwound: u64,
    pub inlined_calls: u64,
    #[serde(deserialize_with = "known")]
    pub total_ns: f64,
    #[serde(deserialize_with = "known")]
    pub self_ns: f64,
    #[serde(deserialize_with = "known")]
    pub total_error_ns: f64,
    #[serde(flatten)]
    pub spent: Spent,
    #[serde(deserialize_with = "known")]
    pub total_raw_ns: f64,
    #[serde(deserialize_with = "known")]
    pub self_raw_ns: f64,
    pub mean_ns: Option<f64>,
    pub min_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p90_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub p999_ns: Option<f64>,
    pub max_ns: Option<f64>,
    pub callees: Vec<Callee>,
}

/// Where total and self time were spent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Spent {
    pub cpu_ns: Option<f64>,
    pub wait_ns: Option<f64>,
    pub preempted_ns: Option<f64>,
    pub self_cpu_ns: Option<f64>,
    pub self_wait_ns: Option<f64>,
    pub self_preempted_ns: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub struct Callee {
    pub name: String,
    pub module: String,
    pub address: String,
    pub call: String,
    pub via: Option<String>,
    pub sites: Vec<Site>,
    pub calls: u64,
    #[serde(deserialize_with = "known")]
    pub total_ns: f64,
    #[serde(deserialize_with = "known")]
    pub self_ns: f64,
    #[serde(flatten)]
    pub spent: Spent,
    #[serde(deserialize_with = "known")]
    pub total_raw_ns: f64,
}

#[derive(Debug, Deserialize)]
pub struct Site {
    pub address: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub calls: u64,
}

/// A time; not a number where nothing was timed.
fn known<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Document {
    pub fn parse(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(json)))
    }

    /// The report, if there is one and no more.
    pub fn into_only_report(mut self) -> Report {
        assert_eq!(self.reports.len(), 1, "one report is expected: {self:#?}");
        self.reports.remove(0)
    }

    /// Whether a warning has all these words.
    pub fn warns_of(&self, words: &[&str]) -> bool {
        self.warnings.iter().any(|warning| words.iter().all(|word| warning.contains(word)))
    }
}

impl Report {
    /// Compares all counts, of functions and of callers and callees, with lines such as these:
    ///
    /// ```text
    /// 1 main
    /// 3 main → leaf
    /// 3 leaf
    /// ```
    ///
    /// Nothing else may have been called.
    #[track_caller]
    pub fn assert_calls(&self, expected: &str) {
        assert_same_counts(&self.counts(), &parse_counts(expected));
    }

    /// Calls by function, and by caller and callee; functions of one name together.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for function in &self.functions {
            *counts.entry(function.name.clone()).or_default() += function.calls;
            for callee in &function.callees {
                *counts.entry(format!("{} → {}", function.name, callee.name)).or_default() += callee.calls;
            }
        }
        counts.retain(|_, calls| *calls > 0);
        counts
    }

    /// The only function of that name.
    #[track_caller]
    pub fn function(&self, name: &str) -> &Function {
        let mut found = self.functions.iter().filter(|function| function.name == name);
        let first = found.next().unwrap_or_else(|| panic!("there is no {name} in {:#?}", self.counts()));
        assert!(found.next().is_none(), "there are several {name}");
        first
    }

    /// Whether anything of that name is in the report.
    pub fn has(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// Names of functions with open calls, and how many.
    pub fn open(&self) -> BTreeMap<&str, u64> {
        let open = self.functions.iter().filter(|function| function.open > 0);
        open.map(|function| (&*function.name, function.open)).collect()
    }
}

impl Function {
    /// The callee of that name.
    #[track_caller]
    pub fn callee(&self, name: &str) -> &Callee {
        let found = self.callees.iter().find(|callee| callee.name == name);
        found.unwrap_or_else(|| panic!("{} does not call {name}: {:#?}", self.name, self.callees))
    }
}

/// Lines such as those that [`Report::assert_calls`] takes.
pub fn parse_counts(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let counts = lines.map(|line| {
        let (calls, who) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` is no count"));
        (who.trim().to_owned(), calls.replace('_', "").parse::<u64>().unwrap())
    });
    counts.collect()
}

/// Says what differs, and only that.
#[track_caller]
pub fn assert_same_counts(found: &BTreeMap<String, u64>, expected: &BTreeMap<String, u64>) {
    let who = found.keys().chain(expected.keys().filter(|who| !found.contains_key(*who)));
    let calls = |counts: &BTreeMap<String, u64>, who| counts.get(who).copied().unwrap_or(0);
    let differences: Vec<_> = who
        .map(|who| (who, calls(found, who), calls(expected, who)))
        .filter(|(_, found, expected)| found != expected)
        .map(|(who, found, expected)| format!("  {who}: {found} calls, expected {expected}"))
        .collect();
    assert!(differences.is_empty(), "the counts differ:\n{}", differences.join("\n"));
}
