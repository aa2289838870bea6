//! `stepped.c`: a handler at every instruction of a hook.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Document, Program, diytrace, fixture, run_to_end, tool};

/// A way through the hooks.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub environment: Vec<(String, String)>,
    /// `recorder`: other preloads know nothing of it. `lossy`: room ends. `full`: paths give way to others, and there is no room for
    /// new threads and processes. `sealed`: it asks nothing of the kernel, so that
    /// new threads, processes and modules are lost or nameless. `reset`: only the last trial's calls are left.
    pub kind: String,
    pub has_way_out: bool,
}

/// What a handler does there.
#[derive(Clone, Debug)]
pub struct Action {
    /// Of several, one after the other: with commas between them.
    pub name: String,
    /// `returns`, `leaves` or `doubles`.
    pub kind: String,
}

/// A scenario and an action, in one build.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: Program,
    pub scenario: Scenario,
    pub action: Action,
}

/// What a run, or several, came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub steps: u64,
    pub trials: u64,
    /// Trials that were made again. Each may have been killed between a count and its call.
    pub tripped: u64,
    pub is_end: bool,
    /// Trials that were killed, hung, or complained.
    pub failed: Vec<String>,
    /// Counts, and what else the profile should not say.
    pub wrong: Vec<String>,
}

/// Everything that a build can be put through.
pub fn cases(program: &Program) -> Vec<Case> {
    let output = run_to_end(Command::new(&program.path).arg("list"));
    let (mut scenarios, mut actions) = (Vec::new(), Vec::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["scenario", name, environment, kind, way_out] => scenarios.push(Scenario {
                name: name.to_owned(),
                environment: environment.split_whitespace().map(variable).collect(),
                kind: kind.to_owned(),
                has_way_out: way_out.is_empty(),
            }),
            ["action", name, kind] => actions.push(Action { name: name.to_owned(), kind: kind.to_owned() }),
            _ => panic!("stepped says {line}"),
        }
    }
    let all = scenarios.iter().flat_map(|scenario| actions.iter().map(move |action| (scenario, action)));
    let possible = all.filter(|(scenario, action)| scenario.has_way_out || action.kind != "leaves");
    let case = |(scenario, action): (&Scenario, &Action)| Case {
        program: program.clone(),
        scenario: scenario.clone(),
        action: action.clone(),
    };
    possible.map(case).collect()
}

/// The same with all that handlers of one kind do on a way in one run, which measures it once: for samples, of which that takes
/// most of the time. Not where only the last trial's calls are left.
pub fn together(cases: &[Case]) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    for case in cases {
        let is_alike = |other: &&mut Case| {
            let of = |case: &Case| (case.program.path.clone(), case.scenario.name.clone(), case.action.kind.clone());
            case.scenario.kind != "reset" && of(case) == of(other) && case.is_lossy() == other.is_lossy()
        };
        match all.iter_mut().find(is_alike) {
            Some(other) => other.action.name += &format!(",{}", case.action.name),
            None => all.push(case.clone()),
        }
    }
    all
}

fn variable(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap();
    (name.to_owned(), value.to_owned())
}

impl Case {
    /// Runs it under the recorder with the rest of the program's arguments, and compares the profile with the truth.
    pub fn record(&self, arguments: &[&str]) -> Outcome {
        let here = tempfile::tempdir_in(memory()).unwrap();
        let mut command = self.command(arguments, here.path(), &tool("libdiytrace.so"));
        command.envs([("DIYTRACE_OUT", "out"), ("DIYTRACE_KEEP", "1000000"), ("DIYTRACE_MEMORY", "4G")]);
        command.envs(self.scenario.environment.iter().map(|(name, value)| (name, value)));
        let (mut outcome, truth) = run(&mut command);
        let report = run_to_end(diytrace(here.path()).args(["report", "--format", "json", "out"]));
        if !report.status.success() {
            outcome.wrong.push(format!("no report: {}", String::from_utf8_lossy(&report.stderr).trim()));
            return outcome;
        }
        let document = Document::parse(&report.stdout);
        let suspicious = ["damage", "sound clock", "stepped back", "torn"].iter().chain(Some(&"were reset"));
        for word in suspicious.filter(|word| self.scenario.kind != "reset" || **word != "were reset") {
            let said = document.warnings.iter().filter(|warning| warning.contains(word));
            outcome.wrong.extend(said.map(|warning| warning.rsplit('/').next().unwrap().to_owned()));
        }
        let report = document.into_only_report();
        let mut counts = BTreeMap::new();
        for function in &report.functions {
            *counts.entry(function.name.clone()).or_default() += function.calls;
        }
        if self.is_lossy() {
            let sum = |which: fn(&(u64, u64)) -> u64| truth.values().map(which).sum::<u64>();
            let all = report.calls + report.lost_calls;
            compare(&mut outcome, "all calls, and those lost", all, (sum(|least| least.0), sum(|most| most.1)));
        } else {
            compare(&mut outcome, "lost calls", report.lost_calls, (0, 0));
        }
        for name in counts.keys().chain(truth.keys().filter(|name| !counts.contains_key(*name))) {
            let (least, most) = truth.get(name).copied().unwrap_or_default();
            let least = if self.is_lossy() { 0 } else { least };
            let most = if self.is_lossy() && name.starts_with("0x") { u64::MAX } else { most };
            compare(&mut outcome, name, counts.get(name).copied().unwrap_or(0), (least, most));
        }
        outcome
    }

    /// Whether some calls may be lost, and are counted as such.
    fn is_lossy(&self) -> bool {
        let makes_something_new =
            || self.action.name.split(',').any(|name| ["fork-call", "fork-on", "thread", "load"].contains(&name));
        self.scenario.kind == "lossy" || ["sealed", "full"].contains(&&*self.scenario.kind) && makes_something_new()
    }

    /// Runs it under hooks that only count, sound ones or with a fault. The program compares for itself.
    pub fn count(&self, fault: &str, arguments: &[&str]) -> Outcome {
        let here = tempfile::tempdir().unwrap();
        let mut command = self.command(arguments, here.path(), counting_hooks());
        run(command.env("COUNTING", fault).envs((fault == "stuck").then_some(("STEPPED_PATIENCE", "2")))).0
    }

    /// Runs it without any hooks.
    pub fn run_plain(&self, arguments: &[&str]) -> Outcome {
        let here = tempfile::tempdir().unwrap();
        run(&mut self.command(arguments, here.path(), Path::new(""))).0
    }

    fn command(&self, arguments: &[&str], here: &Path, preload: &Path) -> Command {
        let mut command = Command::new(&self.program.path);
        command.args([&self.scenario.name, &self.action.name]).args(arguments).current_dir(here);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("DIYTRACE_")) {
            command.env_remove(name);
        }
        command.env("LD_PRELOAD", preload);
        command
    }
}

impl Outcome {
    pub fn is_good(&self) -> bool {
        self.failed.is_empty() && self.wrong.is_empty()
    }

    /// Puts another run's beside it.
    pub fn add(&mut self, other: Self) {
        self.steps = self.steps.max(other.steps);
        self.trials += other.trials;
        self.tripped += other.tripped;
        self.is_end |= other.is_end;
        self.failed.extend(other.failed);
        self.wrong.extend(other.wrong);
    }

    /// How many were killed and hung.
    pub fn killed_and_hung(&self) -> (usize, usize) {
        let hung = self.failed.iter().filter(|how| how.ends_with("hung")).count();
        (self.failed.len() - hung, hung)
    }

    /// In a few words.
    pub fn summary(&self) -> String {
        let (killed, hung) = self.killed_and_hung();
        let mut said =
            format!("{} trials, {killed} killed, {hung} hung, {} counts wrong", self.trials, self.wrong.len());
        for example in self.failed.iter().take(2).chain(self.wrong.iter().take(3)) {
            said += &format!("; {example}");
        }
        said
    }
}

/// A process that was killed in an enter hook may have counted the call.
fn compare(outcome: &mut Outcome, who: &str, found: u64, (least, most): (u64, u64)) {
    let most = most.saturating_add(outcome.failed.len() as u64 + outcome.tripped);
    if !(least..=most).contains(&found) {
        let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
        outcome.wrong.push(format!("{who}: {found} instead of {expected}"));
    }
}

/// Runs a command to its end: what it says of the trials, and of the calls of each function.
fn run(command: &mut Command) -> (Outcome, BTreeMap<String, (u64, u64)>) {
    let output = run_to_end(command);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (mut outcome, mut truth) = (Outcome::default(), BTreeMap::new());
    for line in stdout.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["steps", steps] => outcome.steps = steps.parse().unwrap(),
            ["tripped", tripped] => outcome.tripped = tripped.parse().unwrap(),
            ["trials", trials, ref end @ ..] => {
                (outcome.trials, outcome.is_end) = (trials.parse().unwrap(), !end.is_empty());
            }
            ["failed", ..] => outcome.failed.push(line.to_owned()),
            ["wrong", ..] => outcome.wrong.push(line.to_owned()),
            ["truth", name, least, most] => {
                let least = least.parse::<i64>().unwrap().max(0) as u64;
                truth.insert(name.to_owned(), (least, most.parse().unwrap()));
            }
            _ => outcome.failed.push(format!("it says {line}")),
        }
    }
    let is_as_it_says = output.status.code() == Some(i32::from(!outcome.is_good()));
    if !is_as_it_says || outcome.trials == 0 {
        outcome.failed.push(format!(
            "the first process: {} {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    (outcome, truth)
}

/// Where profiles are quick to make.
fn memory() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() }
}

/// Hooks that only count.
fn counting_hooks() -> &'static Path {
    static HOOKS: OnceLock<PathBuf> = OnceLock::new();
    HOOKS.get_or_init(|| {
        let library = fixture::scratch().join("libcounting-hooks.so");
        let mut compiler = Command::new("gcc");
        compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library);
        compiler.arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/c-fixtures/counting-hooks.c")));
        assert!(compiler.status().unwrap().success(), "{compiler:?}");
        assert!(fs::exists(&library).unwrap());
        library
    })
}
