//! `diytrace record`: the command runs as it would without, and what came of it is said in one sentence.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{copy_program, tool, write_script};
use needs::needs;
use tempfile::TempDir;

const PROGRAM: &str = "void work(void) {} int main(void) { work(); return 0; }";
const INSTRUMENTED: &[&str] = &["-finstrument-functions"];

// The command is a guest: its streams, arguments, exit status and signals are its own.

#[test]
fn exit_status_is_the_commands() {
    let here = folder();
    for (script, status) in
        [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
    {
        let output = record(&here, &["sh", "-c", script]);
        assert_eq!(output.status.code(), Some(status), "{script}: {}", stderr(&output));
    }
}

#[test]
fn streams_are_untouched() {
    let here = folder();
    let bytes: Vec<u8> = (0..100_000u32).map(|n| (n * 7 % 256) as u8).collect();
    let mut child = diytrace(&here)
        .args(["record", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut stdin, sent) = (child.stdin.take().unwrap(), bytes.clone());
    let writer = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    assert!(child.wait_with_output().unwrap().stdout == bytes);
    writer.join().unwrap();
}

#[test]
fn arguments_of_the_command_are_not_ours() {
    let here = folder();
    let print = ["sh", "-c", "echo \"$0\" \"$@\""];
    for before in [vec![], vec!["--"], vec!["--root", "f", "--"], vec!["--root=f"]] {
        let arguments = [&before[..], &print, &["name", "--root", "x", "--", "-h", "a  b"]].concat();
        assert_eq!(stdout(&record(&here, &arguments)), "name --root x -- -h a  b\n", "{before:?}");
    }
    let mistyped = record(&here, &["--rot", "f", "true"]);
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(stderr(&mistyped).contains("'--root'"), "{}", stderr(&mistyped));
}

#[test]
fn a_program_is_found_as_a_shell_finds_it() {
    let here = folder();
    let bin = here.path().join("some programs");
    fs::create_dir(&bin).unwrap();
    compile(&bin.join("my program"), "#include <stdio.h>\nint main(int c, char **v) { puts(v[0]); }", &[]);
    let by_path = record(&here, &["./some programs/my program"]);
    assert_eq!(stdout(&by_path), "./some programs/my program\n");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let by_name = diytrace(&here).args(["record", "my program"]).env("PATH", path).output().unwrap();
    assert_eq!(stdout(&by_name), "my program\n");
}

#[test]
fn signals_sent_to_record_reach_the_command() {
    let here = folder();
    for (signal, number) in
        [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("USR2", 12), ("WINCH", 28)]
    {
        let script =
            format!("trap 'echo got {signal}; exit {number}' {signal}; echo ready; while :; do sleep 0.02; done");
        let mut child = start(&here, &["sh", "-c", &script]);
        read_until(&mut child, "ready\n");
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!((stdout(&output).as_str(), output.status.code()), (&*format!("got {signal}\n"), Some(number)));
    }
}

#[test]
fn a_command_killed_through_record() {
    let here = folder();
    let mut child = start(&here, &["sh", "-c", "echo ready; exec sleep 100"]);
    read_until(&mut child, "ready\n");
    send("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_signal_from_the_command_itself_does_not_come_back() {
    let here = folder();
    // `kill 0` signals the whole process group: the script, and us.
    let script = "trap 'echo once' USR1; kill -USR1 0; sleep 0.3; exit 5";
    let output = diytrace(&here).args(["record", "sh", "-c", script]).process_group(0).output().unwrap();
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("once\n", Some(5)));
}

#[test]
fn stopping_and_continuing() {
    let here = folder();
    let mut child = start(&here, &["sh", "-c", "echo $$; until test -e go; do sleep 0.02; done"]);
    let command: u32 = read_until(&mut child, "\n").trim().parse().unwrap();
    send("TSTP", child.id());
    wait_for_state(command, 'T');
    wait_for_state(child.id(), 'T');
    send("CONT", child.id());
    fs::write(here.path().join("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_signal_mask_and_ignored_signals_are_inherited() {
    let here = folder();
    let print = "trap '' HUP; {} grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
    let with = print.replace("{}", &format!("'{}' record", tool("diytrace").display()));
    let plain = Command::new("sh").args(["-c", &print.replace("{}", "")]).output().unwrap();
    let recorded = Command::new("sh").args(["-c", &with]).current_dir(&here).output().unwrap();
    assert_eq!(stdout(&recorded), stdout(&plain));
}

// The environment.

#[test]
fn variables_are_set() {
    let here = folder();
    let options = ["--root", "f", "--root", "g(int, int)", "--depth", "3", "--exclude", "h,i", "--out", "my data"];
    let more = ["--memory", "64M", "--keep", "5", "--paused", "env"];
    let environment = stdout(&record(&here, &[&options[..], &more].concat()));
    let out = here.path().join("my data");
    for expected in [
        "DIYTRACE_ROOT=f,g(int, int)",
        "DIYTRACE_DEPTH=3",
        "DIYTRACE_EXCLUDE=h,i",
        &format!("DIYTRACE_OUT={}", out.display()),
        "DIYTRACE_MEMORY=67108864",
        "DIYTRACE_KEEP=5",
        "DIYTRACE_PAUSED=1",
        &format!("LD_PRELOAD={}", tool("libdiytrace.so").display()),
    ] {
        assert!(environment.lines().any(|line| line == expected), "{expected} in {environment}");
    }
    assert!(!out.exists(), "a folder that stays empty goes away");
}

#[test]
fn what_is_not_said_is_as_the_environment_has_it() {
    let here = folder();
    let other = here.path().join("other.so");
    compile(&other, "int other;", &["-shared", "-fPIC"]);
    let mut command = diytrace(&here);
    command.env("LD_PRELOAD", &other).env("DIYTRACE_ROOT", "f").env("DIYTRACE_OUT", "there");
    let environment = stdout(&command.args(["record", "env"]).output().unwrap());
    let preload = format!("LD_PRELOAD={}:{}", tool("libdiytrace.so").display(), other.display());
    for expected in [&preload, "DIYTRACE_ROOT=f", &format!("DIYTRACE_OUT={}/there", here.path().display())] {
        assert!(environment.lines().any(|line| line == expected), "{expected} in {environment}");
    }
    assert!(!environment.contains("DIYTRACE_DEPTH"), "{environment}");
}

#[test]
fn bad_values_are_refused_before_anything_runs() {
    let here = folder();
    for (option, value, expected) in [
        ("--memory", "lots", "1M to 128G"),
        ("--memory", "3", "1M to 128G"),
        ("--depth", "0", "0 is not in 1.."),
        ("--keep", "-1", "'-1'"),
        ("--root", " , ", "names no function"),
    ] {
        let output = record(&here, &[option, value, "echo", "ran"]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{option} {value}");
        assert!(stderr(&output).contains(expected), "{option} {value}: {}", stderr(&output));
    }
}

#[test]
fn the_recorder_is_found_or_the_sentence_says_where_it_was_looked_for() {
    let here = folder();
    let bin = here.path().join("bin");
    fs::create_dir(&bin).unwrap();
    copy_program(tool("diytrace"), bin.join("diytrace"));
    let run = || {
        let environment =
            Command::new(bin.join("diytrace")).args(["record", "env"]).current_dir(&here).output().unwrap();
        let preload = stdout(&environment).lines().find_map(|line| line.strip_prefix("LD_PRELOAD=").map(PathBuf::from));
        preload.ok_or_else(|| (environment.status.code(), stderr(&environment)))
    };
    let (status, sentence) = run().unwrap_err();
    assert_eq!(status, Some(2));
    assert!(sentence.contains("bin/libdiytrace.so and ") && sentence.contains("/lib/libdiytrace.so"), "{sentence}");
    // As after `cargo install`, which installs programs only.
    assert!(sentence.contains("cargo build --release") && sentence.contains("DIYTRACE_LIB"), "{sentence}");

    let library = here.path().join("lib/libdiytrace.so");
    fs::create_dir(library.parent().unwrap()).unwrap();
    fs::copy(tool("libdiytrace.so"), &library).unwrap();
    assert_eq!(run().unwrap(), library);
}

#[test]
fn the_recorder_may_lie_in_a_folder_with_spaces() {
    let here = folder();
    let lib = here.path().join("a folder");
    fs::create_dir(&lib).unwrap();
    fs::copy(tool("libdiytrace.so"), lib.join("libdiytrace.so")).unwrap();
    let output = diytrace(&here).args(["record", "env"]).env("DIYTRACE_LIB", &lib).env("TMPDIR", here.path()).output();
    let output = output.unwrap();
    let environment = stdout(&output);
    let preload = environment.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).unwrap();
    assert_eq!(fs::read_link(preload).unwrap(), lib.join("libdiytrace.so"));
    assert!(!stderr(&output).contains("cannot be preloaded"), "{}", stderr(&output));
}

// Where the profile is.

#[test]
fn a_profile_is_announced() {
    let here = folder();
    compile(&here.path().join("program"), PROGRAM, INSTRUMENTED);
    let first = record(&here, &["./program"]);
    let said = stderr(&first);
    assert_eq!(first.status.code(), Some(0), "{said}");
    assert!(said.starts_with("diytrace: profile in diytrace.data: 1 file, program-"), "{said}");
    assert!(said.ends_with(".diyt; see it with: diytrace report diytrace.data\n"), "{said}");

    let second = stderr(&record(&here, &["./program"]));
    assert!(second.contains(": 1 file, program-"), "{second}");
    assert!(second.contains("see it with: diytrace report diytrace.data/program-"), "{second}");

    // A program's name may be no text.
    let name = OsStr::from_bytes(b"no text \xff");
    fs::copy(here.path().join("program"), here.path().join(name)).unwrap();
    let output =
        diytrace(&here).args(["record", "--out", "of it", "--"]).arg(Path::new(".").join(name)).output().unwrap();
    let said = stderr(&output);
    assert!(said.starts_with("diytrace: profile in of it: 1 file, no text"), "{said}");

    let many = stderr(&record(&here, &["--out", "two of them", "sh", "-c", "./program; ./program"]));
    assert!(many.starts_with("diytrace: profile in two of them: 2 files, program-"), "{many}");
    assert!(many.ends_with("see it with: diytrace report 'two of them'\n"), "{many}");
}

/// Whoever records into the same folder at the same time was taken for this run: so its profiles had another's label.
#[test]
fn what_others_record_in_the_folder_is_not_of_the_run() {
    let here = folder();
    for name in ["program", "other"] {
        compile(&here.path().join(name), PROGRAM, INSTRUMENTED);
    }
    let recorder = tool("diytrace").display().to_string();
    let inner = format!("mkfifo out/pipe-1-1.diyt; ./program; '{recorder}' record --out out --label second ./other");
    let said = stderr(&record(&here, &["--out", "out", "--label", "first", "sh", "-c", &inner]));
    assert!(said.contains(": 1 file, other-") && said.contains(": 1 file, program-"), "{said}");
    fs::remove_file(here.path().join("out/pipe-1-1.diyt")).unwrap();
    for (label, program) in [("first", "program"), ("second", "other")] {
        let report = diytrace(&here).args(["report", "--run", label, "--format", "json", "out"]).output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        let exe = document["reports"][0]["process"]["exe"].as_str().unwrap();
        assert!(exe.ends_with(program), "{label}: {exe}");
    }
}

// Why there is none.

#[test]
fn missing_and_unusable_programs() {
    let here = folder();
    fs::write(here.path().join("notes"), "").unwrap();
    write_script(&here.path().join("orphan"), "#!/no/such/interpreter\n");
    for (program, status, expected) in [
        ("no-such-program", 127, "cannot run no-such-program: it is in no folder of PATH"),
        ("./no-such-program", 127, "cannot run ./no-such-program: there is no such file"),
        ("./notes", 126, "cannot run ./notes: it is not executable (chmod +x)"),
        ("notes", 127, "cannot run notes: it is in no folder of PATH; the one here is ./notes"),
        ("./", 126, "cannot run ./: it is a folder"),
        ("./orphan", 127, "the interpreter or loader that it asks for is not on this machine"),
    ] {
        let output = record(&here, &[program]);
        assert_eq!(output.status.code(), Some(status), "{program}");
        assert!(stderr(&output).contains(expected), "{program}: {}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn not_instrumented() {
    let here = folder();
    compile(&here.path().join("program"), PROGRAM, &[]);
    let said = stderr(&record(&here, &["./program"]));
    assert!(said.contains("no profile was recorded: program is not instrumented"), "{said}");
    assert!(
        said.contains("neither program nor one of the 2 libraries it needs calls __cyg_profile_func_enter"),
        "{said}"
    ); // libc and the loader
    assert!(said.contains("-finstrument-functions"), "{said}");
}

#[test]
fn statically_linked() {
    let here = folder();
    compile(&here.path().join("program"), PROGRAM, &["-finstrument-functions", "-static"]);
    let output = record(&here, &["./program"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("program is statically linked"), "{}", stderr(&output));
}

#[test]
fn its_own_hooks() {
    let here = folder();
    let hooks = "void __cyg_profile_func_enter(void *f, void *c) {} void __cyg_profile_func_exit(void *f, void *c) {}";
    compile(&here.path().join("program"), &format!("{PROGRAM}\n{hooks}"), &[]);
    let said = stderr(&record(&here, &["./program"]));
    assert!(said.contains("program has functions __cyg_profile_func_enter of its own"), "{said}");
}

#[test]
fn a_script() {
    let here = folder();
    write_script(&here.path().join("script"), "#!/usr/bin/env sh\nexit 3\n");
    write_script(&here.path().join("bare"), "exit 4\n");
    for (script, status) in [("./script", 3), ("./bare", 4)] {
        let output = record(&here, &[script]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(" is a script, and ") && said.contains("the programs that it starts"), "{said}");
    }
}

#[test]
fn another_machines_program() {
    let here = folder();
    let program = here.path().join("program");
    compile(&program, PROGRAM, INSTRUMENTED);
    let mut bytes = fs::read(&program).unwrap();
    bytes[18] = 183; // e_machine: AArch64
    fs::write(&program, bytes).unwrap();
    let output = record(&here, &["./program"]);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("it is a 64-bit ARM program"), "{}", stderr(&output));
}

#[needs(root)]
#[test]
fn more_rights_than_its_user() {
    let here = folder();
    let program = here.path().join("program");
    compile(&program, PROGRAM, INSTRUMENTED);
    std::os::unix::fs::chown(&program, Some(65534), None).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let said = stderr(&record(&here, &["./program"]));
    assert!(said.contains("program runs with more rights than its user"), "{said}");
}

#[test]
fn instrumented_but_nothing_recorded() {
    let here = folder();
    compile(&here.path().join("program"), PROGRAM, INSTRUMENTED);
    compile(&here.path().join("libdiytrace.so"), "int no_recorder;", &["-shared", "-fPIC"]);
    let output = diytrace(&here).args(["record", "./program"]).env("DIYTRACE_LIB", ".").output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("program is instrumented, but the recorder left nothing in diytrace.data"), "{said}");
}

#[test]
fn a_folder_that_is_removed_meanwhile() {
    let here = folder();
    compile(&here.path().join("server"), PROGRAM, INSTRUMENTED);
    write_script(&here.path().join("run"), "#!/bin/sh\n./server; rm -r diytrace.data\n");
    let said = stderr(&record(&here, &["./run"]));
    assert!(said.contains("its folder diytrace.data was removed while run ran"), "{said}");
    assert!(!said.contains("cannot read") && !said.contains("not instrumented"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_made() {
    let here = folder();
    fs::write(here.path().join("file"), "").unwrap();
    let output = record(&here, &["--out", "file/data", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot make the folder file/data"), "{}", stderr(&output));
}

// Names that match nothing.

#[test]
fn unknown_roots_come_with_the_nearest_names() {
    let here = folder();
    let source = "void advance(void) {} static void eval_windowaggregates(void) { advance(); }
        int main(void) { eval_windowaggregates(); return 9; }";
    compile(&here.path().join("program"), source, INSTRUMENTED);
    let output = record(&here, &["--root", "evil_windowaggregates", "--exclude", "advence,main", "./program"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(9), "the command is started all the same: {said}");
    let warnings: Vec<_> = said.lines().filter(|line| line.contains("warning")).collect();
    assert_eq!(
        warnings,
        [
            "diytrace: warning: no function `evil_windowaggregates` in program; did you mean `eval_windowaggregates`? \
             (libraries loaded later are searched when they appear)",
            "diytrace: warning: no function `advence` in program; did you mean `advance`? \
             (libraries loaded later are searched when they appear)",
        ]
    );
    for root in ["eval_windowaggregates", "eval_*", "m?in"] {
        let said = stderr(&record(&here, &["--root", root, "./program"]));
        assert!(!said.contains("no function"), "{root}: {said}");
    }
}

#[test]
fn roots_in_needed_libraries_and_cxx_names() {
    let here = folder();
    let lib = here.path().join("lib");
    fs::create_dir(&lib).unwrap();
    let source = "namespace ns { struct Widget { int draw(int); }; int Widget::draw(int n) { return n; } }
        extern \"C\" int draw_it() { return ns::Widget().draw(0); }";
    let needed = lib.join("libwidget.so.1");
    run(
        Command::new("c++").args(["-xc++", "-shared", "-fPIC", "-finstrument-functions", "-Wl,-soname,libwidget.so.1"]),
        &needed,
        source,
    );
    symlink(&needed, lib.join("libwidget.so")).unwrap();
    let origin = ["-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib", "-L", lib.to_str().unwrap(), "-lwidget"];
    compile(&here.path().join("program"), "int draw_it(void); int main(void) { return draw_it(); }", &origin);

    for root in ["ns::Widget::draw", "ns::Widget::draw(int)", "*::draw", "_ZN2ns6Widget4drawEi", "draw_it"] {
        let said = stderr(&record(&here, &["--root", root, "./program"]));
        assert!(!said.contains("no function"), "{root}: {said}");
    }
    let said = stderr(&record(&here, &["--root", "ns::Wigdet::draw", "./program"]));
    assert!(said.contains("in libwidget.so.1; did you mean `ns::Widget::draw`?"), "{said}");
}

// Helpers.

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn diytrace(here: &TempDir) -> Command {
    common::diytrace(here.path())
}

fn record(here: &TempDir, arguments: &[&str]) -> Output {
    diytrace(here).arg("record").args(arguments).output().unwrap()
}

/// A command to be signalled: in a process group of its own, as from a shell.
/// Starts `record` with no signal ignored, as a shell could not trap one that is: `nohup` leaves SIGHUP so.
fn start(here: &TempDir, arguments: &[&str]) -> Child {
    let plain = diytrace(here);
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(plain.get_program()).current_dir(plain.get_current_dir().unwrap());
    plain.get_envs().filter(|(_, value)| value.is_none()).for_each(|(name, _)| {
        command.env_remove(name);
    });
    command.arg("record").args(arguments).process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn read_until(child: &mut Child, end: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        let mut byte = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        read.push(byte[0]);
    }
    String::from_utf8(read).unwrap()
}

fn send(signal: &str, process: u32) {
    // The shell's own: not every container has another.
    assert!(Command::new("sh").args(["-c", &format!("kill -s {signal} {process}")]).status().unwrap().success());
}

fn wait_for_state(process: u32, expected: char) {
    let start = Instant::now();
    loop {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let state = stat.rsplit_once(") ").unwrap().1.chars().next().unwrap();
        if state == expected {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(600), "process {process} is in state {state}");
        sleep(Duration::from_millis(5));
    }
}

fn compile(output: &Path, source: &str, options: &[&str]) {
    // The options come last: libraries stand behind what needs them.
    let mut compiler = Command::new("cc");
    compiler.args(["-xc", "-", "-xnone"]).args(options);
    run(&mut compiler, output, source);
}

fn run(compiler: &mut Command, output: &Path, source: &str) {
    if !compiler.get_args().any(|argument| argument == "-") {
        compiler.arg("-");
    }
    let mut child = compiler.arg("-o").arg(output).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{compiler:?}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    assert_eq!(output.status.signal(), None);
    String::from_utf8(output.stderr.clone()).unwrap()
}
