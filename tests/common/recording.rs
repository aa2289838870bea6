//! A run of a program under the recorder, beside one without.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::eventlog::{self, EventLog};
use super::{Document, Program, Report, fixture, invariants, tool};

/// No fixture takes this long, on any machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Parts of so many processes are added up in every test.
const FEW_PROCESSES: u64 = 100;

/// A run that is to come.
pub struct Recording<'a> {
    program: &'a Program,
    arguments: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    is_logged: bool,
    is_silent: bool,
    has_output_of_its_own: bool,
}

/// A run that has ended.
pub struct Recorded {
    /// What the program wrote, and how it ended.
    pub stdout: String,
    pub stderr: String,
    pub status: ExitStatus,
    here: TempDir,
    kept: Vec<TempDir>,
    is_logged: bool,
}

impl<'a> Recording<'a> {
    pub fn of(program: &'a Program) -> Self {
        let (arguments, variables) = (Vec::new(), Vec::new());
        Self { program, arguments, variables, is_logged: false, is_silent: true, has_output_of_its_own: false }
    }

    /// Adds an argument of the program.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments of the program.
    pub fn args(self, arguments: &[&str]) -> Self {
        arguments.iter().fold(self, |recording, argument| recording.arg(argument))
    }

    /// Sets `DIYTRACE_…`.
    pub fn set(mut self, variable: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((format!("DIYTRACE_{variable}"), value.into()));
        self
    }

    /// Records inside these functions only.
    pub fn roots(self, roots: &str) -> Self {
        self.set("ROOT", roots)
    }

    /// Has the independent event log written as well, and each process kept apart, so that they can be compared.
    pub fn logged(mut self) -> Self {
        self.is_logged = true;
        self.set("KEEP", "1000000")
    }

    /// The recorder has something to say on standard error.
    pub fn complaining(mut self) -> Self {
        self.is_silent = false;
        self
    }

    /// What the program writes differs from run to run.
    pub fn with_output_of_its_own(mut self) -> Self {
        self.has_output_of_its_own = true;
        self
    }

    /// Runs the program without the recorder and with it: its output and its end must be the same.
    pub fn run(self) -> Recorded {
        let plain_folder = tempfile::tempdir().unwrap();
        let plain = run_to_end(&mut self.command(plain_folder.path()));
        let here = tempfile::tempdir().unwrap();
        let mut command = self.command(here.path());
        command.env("DIYTRACE_OUT", "out");
        // `TEST_WINDOWS=50 cargo test` has most calls noted, and counted later.
        if let Some(windows) = std::env::var_os("TEST_WINDOWS") {
            command.env("DIYTRACE_WINDOWS", windows);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let mut preload = tool("libdiytrace.so").into_os_string();
        if self.is_logged {
            let logs = here.path().join("logs");
            fs::create_dir(&logs).unwrap();
            command.env("EVENTLOG_DIR", logs);
            let recorder = std::mem::take(&mut preload);
            preload.push(eventlog::library());
            preload.push(":");
            preload.push(recorder);
        }
        command.env("LD_PRELOAD", preload);
        let recorded = run_to_end(&mut command);
        assert_eq!(recorded.status, plain.status, "the exit status differs; stderr: {}", text(&recorded.stderr));
        if !self.has_output_of_its_own {
            assert_eq!(text(&recorded.stdout), text(&plain.stdout), "the standard output differs");
        }
        if self.is_silent {
            assert_eq!(text(&recorded.stderr), text(&plain.stderr), "the standard error differs");
        }
        let (stdout, stderr) = (text(&recorded.stdout), text(&recorded.stderr));
        Recorded { stdout, stderr, status: recorded.status, here, kept: Vec::new(), is_logged: self.is_logged }
    }

    fn command(&self, here: &Path) -> Command {
        let mut command = Command::new(&self.program.path);
        command.args(&self.arguments).current_dir(here).stdin(Stdio::null());
        without_our_variables(&mut command);
        command
    }
}

impl Recorded {
    /// Keeps a folder as long as this.
    pub fn keeping(mut self, folder: TempDir) -> Self {
        self.kept.push(folder);
        self
    }

    /// The folder that the program was started in.
    pub fn folder(&self) -> &Path {
        self.here.path()
    }

    /// The folder of profiles.
    pub fn out(&self) -> PathBuf {
        self.here.path().join("out")
    }

    /// The profiles' files.
    pub fn profiles(&self) -> Vec<PathBuf> {
        profiles_in(&self.out())
    }

    /// Runs a command of `diytrace` on the profile.
    pub fn diytrace(&self, arguments: &[&str]) -> Output {
        run_to_end(diytrace(self.folder()).args(arguments).arg(self.out()))
    }

    /// The report on everything.
    pub fn report(&self) -> Report {
        self.document(&[]).into_only_report()
    }

    /// A report for every process, in the order of their numbers.
    pub fn reports_by_process(&self) -> Vec<Report> {
        let mut reports = self.document(&["--by", "process"]).reports;
        reports.sort_by_key(|report| report.process.as_ref().map(|process| process.pid));
        reports
    }

    /// A report for every thread.
    pub fn reports_by_thread(&self) -> Vec<Report> {
        self.document(&["--by", "thread"]).reports
    }

    /// All that `diytrace report --format json` says. That of everything is held against its parts.
    pub fn document(&self, options: &[&str]) -> Document {
        let document = self.document_alone(options);
        if options.is_empty() && document.reports.len() == 1 && document.reports[0].processes <= FEW_PROCESSES {
            self.check_parts();
        }
        document
    }

    fn check_parts(&self) {
        let by_process = self.document_alone(&["--by", "process"]);
        let mut processes = by_process.reports.iter().filter_map(|report| report.process.as_ref());
        if processes.any(|process| process.state == "running") {
            return; // it goes on counting
        }
        let whole = self.document_alone(&[]).into_only_report();
        invariants::check_parts(&whole, &by_process);
        invariants::check_parts(&whole, &self.document_alone(&["--by", "thread"]));
    }

    fn document_alone(&self, options: &[&str]) -> Document {
        let output = self.diytrace(&[&["report", "--format", "json"], options].concat());
        assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
        let document = Document::parse(&output.stdout);
        invariants::check(&document, !options.contains(&"--root"));
        document
    }

    /// Compares counts with the event log's: of every function and every caller of it, in every process.
    pub fn assert_agrees_with_the_event_log(&self) {
        self.event_log().assert_agrees(&self.reports_by_process(), |_, _| true);
    }

    /// The same where a signal handler may come between the two recorders: who is open then is told differently, so the
    /// callers of these functions are left out.
    pub fn assert_agrees_with_the_event_log_but_for_callers_of(&self, functions: &[&str]) {
        self.event_log().assert_agrees(&self.reports_by_process(), |_, callee| !functions.contains(&callee));
    }

    /// The same without the callers.
    pub fn assert_functions_agree_with_the_event_log(&self) {
        self.event_log().assert_agrees(&self.reports_by_process(), |_, _| false);
    }

    fn event_log(&self) -> EventLog {
        assert!(self.is_logged, "the event log was not asked for");
        EventLog::read(&self.here.path().join("logs"))
    }
}

/// The command `diytrace`, with none of its variables set but a cache of these tests' own.
pub fn diytrace(here: &Path) -> Command {
    let mut command = Command::new(tool("diytrace"));
    command.current_dir(here);
    without_our_variables(&mut command);
    command.env("DIYTRACE_CACHE", fixture::scratch().join("cache"));
    command
}

fn without_our_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name == "LD_PRELOAD" || name.to_string_lossy().starts_with("DIYTRACE_") {
            command.env_remove(name);
        }
    }
}

/// Starts a command. A program that a test has just written is busy while a child that another test is starting still
/// holds the descriptor it was written through.
fn start(command: &mut Command) -> Child {
    for _ in 0..1000 {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => sleep(Duration::from_millis(2)),
            started => return started.unwrap_or_else(|error| panic!("{command:?}: {error}")),
        }
    }
    panic!("{command:?} stays busy");
}

/// Runs a command to its end. Its output goes through files: a daemon that it leaves behind may hold them.
pub fn run_to_end(command: &mut Command) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
    let mut child = start(command);
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("{command:?} does not end; stderr: {}", text(&fs::read(&stderr).unwrap()));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    Output { status, stdout: fs::read(stdout).unwrap(), stderr: fs::read(stderr).unwrap() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The profiles in a folder, without what is saved beside them.
pub fn profiles_in(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut profiles: Vec<_> =
        all.filter(|path| path.extension().is_some_and(|extension| extension == "diyt")).collect();
    profiles.sort();
    profiles
}
