//! The independent event log (`c-fixtures/eventlog.c`) and what its replay counts.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::report::assert_same_counts;
use super::{Report, fixture, run_to_end};

/// What the log of a run says.
#[derive(Default)]
pub struct EventLog {
    /// Where modules lie: by process, then by base.
    modules: BTreeMap<u32, BTreeMap<u64, PathBuf>>,
    /// Process, caller if there is one, function, calls.
    edges: Vec<(u32, Option<u64>, u64, u64)>,
    functions: Vec<(u32, u64, u64)>,
}

/// The library to preload.
pub fn library() -> PathBuf {
    tools().join("libeventlog.so")
}

/// Log and replay, compiled once.
fn tools() -> &'static Path {
    static TOOLS: OnceLock<PathBuf> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/c-fixtures"));
        let folder = fixture::scratch().join("eventlog");
        fs::create_dir_all(&folder).unwrap();
        for (source, options, output) in
            [("eventlog.c", &["-shared", "-fPIC"][..], "libeventlog.so"), ("eventlog-replay.c", &[], "eventlog-replay")]
        {
            let mut compiler = Command::new("gcc");
            compiler.arg("-O2").args(options).arg("-o").arg(folder.join(output)).arg(sources.join(source));
            assert!(compiler.status().unwrap().success(), "{compiler:?}");
        }
        folder
    })
}

impl EventLog {
    /// Replays the logs in a folder.
    pub fn read(folder: &Path) -> Self {
        let output = run_to_end(Command::new(tools().join("eventlog-replay")).arg(folder));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "eventlog-replay: {} {stderr}", output.status);
        let mut log = Self::default();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            log.read_line(&line.split('\t').collect::<Vec<_>>());
        }
        log
    }

    fn read_line(&mut self, fields: &[&str]) {
        let address = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let pid = fields[1].parse().unwrap();
        match fields[0] {
            "module" => {
                self.modules.entry(pid).or_default().insert(address(fields[2]), PathBuf::from(fields[3]));
            }
            "func" => self.functions.push((pid, address(fields[2]), fields[3].parse().unwrap())),
            "edge" => {
                let caller = Some(address(fields[2])).filter(|&caller| caller != 0);
                self.edges.push((pid, caller, address(fields[3]), fields[4].parse().unwrap()));
            }
            other => panic!("eventlog-replay says {other}"),
        }
    }

    /// Compares functions, and those edges that are wanted by the names of caller and callee, with reports by process.
    #[track_caller]
    pub fn assert_agrees(&self, reports: &[Report], is_wanted: impl Fn(&str, &str) -> bool) {
        let names = names(reports);
        let name = |module: &str, address: u64| {
            let known = names.get(&(module.to_owned(), address));
            known.cloned().unwrap_or_else(|| format!("{module}+{address:#x}"))
        };
        let mut cache = HashMap::new();
        let mut logged = BTreeMap::new();
        let mut named = |pid: u32, address: u64| {
            let (module, address) = self.place(&mut cache, pid, address);
            (name(&module, address), address)
        };
        for &(pid, function, calls) in &self.functions {
            let (name, address) = named(pid, function);
            *logged.entry(format!("{pid}: {name} ({address:#x})")).or_default() += calls;
        }
        for &(pid, caller, function, calls) in &self.edges {
            let Some(caller) = caller else { continue };
            let ((caller, from), (callee, to)) = (named(pid, caller), named(pid, function));
            if is_wanted(&caller, &callee) {
                *logged.entry(format!("{pid}: {caller} ({from:#x}) → {callee} ({to:#x})")).or_default() += calls;
            }
        }

        let mut recorded = BTreeMap::new();
        for report in reports {
            let pid = report.process.as_ref().expect("a report by process").pid;
            for function in &report.functions {
                let (caller, from) = (&function.name, &function.address);
                *recorded.entry(format!("{pid}: {caller} ({from})")).or_default() += function.calls;
                for callee in function.callees.iter().filter(|callee| is_wanted(caller, &callee.name)) {
                    let edge = format!("{pid}: {caller} ({from}) → {} ({})", callee.name, callee.address);
                    *recorded.entry(edge).or_default() += callee.calls;
                }
            }
        }
        recorded.retain(|_, calls| *calls > 0);
        assert_same_counts(&recorded, &logged);
    }

    /// The module that an address lies in, and the address as the module's file has it. A forked child has its parent's
    /// modules.
    fn place(&self, known: &mut HashMap<PathBuf, bool>, pid: u32, address: u64) -> (String, u64) {
        let own = self.modules.get(&pid).and_then(|modules| modules.range(..=address).next_back());
        let all = || self.modules.values().filter_map(|modules| modules.range(..=address).next_back());
        let Some((base, path)) = own.or_else(|| all().max_by_key(|(base, _)| **base)) else {
            return (String::new(), address);
        };
        let is_fixed = *known.entry(path.clone()).or_insert_with(|| {
            const EXECUTABLE: [u8; 2] = [2, 0]; // e_type: linked for one address
            fs::read(path).is_ok_and(|bytes| bytes.get(16..18) == Some(&EXECUTABLE))
        });
        (path.display().to_string(), if is_fixed { address } else { address - base })
    }
}

fn names(reports: &[Report]) -> HashMap<(String, u64), String> {
    let address = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let functions = reports.iter().flat_map(|report| &report.functions);
    let all = functions.flat_map(|function| {
        let callees = function.callees.iter().map(|callee| (&callee.module, &callee.address, &callee.name));
        callees.chain([(&function.module, &function.address, &function.name)])
    });
    all.map(|(module, at, name)| ((module.clone(), address(at)), name.clone())).collect()
}
