//! What people expect of a command at their terminal.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{builds, diytrace, fixture, run_to_end};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(here: &Path, arguments: &[&str]) -> Output {
    run_to_end(diytrace(here).args(arguments))
}

/// A command line at a terminal of this many rows, as `script` makes one; without the carriage returns, and what was wiped out
/// again: where the machine is busy, how far the command has got is shown.
fn at_terminal(here: &Path, rows: u32, line: &str, variables: &[(&str, &str)]) -> String {
    let diytrace = diytrace(here);
    let mut command = Command::new("script");
    let line = format!("stty rows {rows} cols 100; '{}' {line}", diytrace.get_program().display());
    command.args(["-qec", &line, "/dev/null"]).current_dir(here).env_remove("PAGER").env_remove("NO_COLOR");
    command.env("DIYTRACE_CACHE", "off").envs(variables.iter().copied());
    let shown = text(&run_to_end(&mut command).stdout).replace('\r', "");
    shown.split_inclusive('\n').map(|line| line.rsplit("\u{1b}[2K").next().unwrap_or(line)).collect()
}

#[test]
fn tables_longer_than_the_screen_go_through_the_pager() {
    let recorded = fixture("names.cc", builds()[0]).record().run();
    let here = recorded.folder();
    let pager = ("PAGER", "sed 's/^/paged: /'");
    let long = at_terminal(here, 5, "report out", &[pager]);
    assert!(long.starts_with("paged: "), "{long}");
    for (rows, line) in [(500, "report out"), (5, "--no-pager report out"), (5, "report out --no-pager")] {
        let shown = at_terminal(here, rows, line, &[pager]);
        assert!(shown.contains("calls") && !shown.contains("paged"), "{line}: {shown}");
    }
    for none in ["", "cat", "no-such-pager-at-all"] {
        assert!(at_terminal(here, 5, "report out", &[("PAGER", none)]).contains("calls"), "{none}");
    }
    let piped = run_to_end(diytrace(here).args(["report", "out"]).env("PAGER", "sed 's/^/paged: /'"));
    assert!(!text(&piped.stdout).contains("paged"));
}

#[test]
fn there_are_colours_at_a_terminal_unless_somebody_minds() {
    let recorded = fixture("small.c", builds()[0]).record().run();
    let is_coloured =
        |variables: &[(&str, &str)], line: &str| at_terminal(recorded.folder(), 500, line, variables).contains("\x1b[");
    for command in ["report out", "tree out", "callers main out", "annotate main out"] {
        assert!(is_coloured(&[], command), "{command}");
        assert!(!is_coloured(&[("NO_COLOR", "1")], command), "{command}");
    }
    assert!(!is_coloured(&[("NO_COLOR", "1")], "--help"));
}

/// A pipe whose reader has left.
fn left_pipe() -> io::PipeWriter {
    io::pipe().unwrap().1
}

#[test]
fn warnings_that_nobody_reads_are_no_error() {
    let recorded = fixture("small.c", builds()[0]).record().set("DEPTH", "x").complaining().run();
    let warned = run(recorded.folder(), &["report", "out"]);
    assert!(text(&warned.stderr).contains("warning: "), "{}", text(&warned.stderr));
    for command in [
        "report out",
        "tree out",
        "callers main out",
        "annotate main out",
        "export folded out",
        "diff out out",
        "similar out out",
    ] {
        let output = run_to_end(diytrace(recorded.folder()).args(command.split(' ')).stderr(left_pipe()));
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(!output.stdout.is_empty(), "{command}");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let recorded = fixture("small.c", builds()[0]).record().run();
    let views = ["report out", "tree out", "callers main out", "annotate main out", "diff out out", "similar out out"];
    let in_formats = |view: &&str| ["table", "json", "csv"].map(|format| format!("{view} --format {format}"));
    let others = ["export folded out", "export pprof out", "completions bash"].map(str::to_owned);
    for line in views.iter().flat_map(in_formats).chain(others) {
        let output = run_to_end(diytrace(recorded.folder()).args(line.split(' ')).stdout(left_pipe()));
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{line}");
    }
}

#[test]
fn profiles_may_have_any_name() {
    let recorded = fixture("fork.c", builds()[0]).record().arg("return").run();
    let folder = recorded.folder().join(OsStr::from_bytes(b"a folder \xff of 'mine'"));
    fs::create_dir(&folder).unwrap();
    let profile = folder.join(OsStr::from_bytes(b"-b \xfe\n.diyt"));
    fs::copy(&recorded.profiles()[0], &profile).unwrap();
    let archive = folder.join(OsStr::from_bytes(b"c \xfd.diya"));
    let done = |arguments: &[&str], paths: &[&Path]| {
        let output = run_to_end(diytrace(&folder).args(arguments).args(paths));
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        output.stdout
    };
    let ask = |path: &Path| {
        let commands: [&[&str]; 5] = [
            &["report", "--format", "json"],
            &["tree", "--format", "json"],
            &["callers", "main", "--format", "json"],
            &["annotate", "main", "--format", "json"],
            &["export", "callgrind"],
        ];
        commands.map(|command| done(command, &[path]))
    };
    let all = ask(&profile);
    assert_eq!(ask(&folder), all);
    for command in ["merge", "symbolize"] {
        done(&[command, "-o"], &[&archive, &profile]);
        assert_eq!(ask(&archive), all, "{command}");
        fs::remove_file(&archive).unwrap();
    }
}

#[test]
fn a_command_that_is_nearly_right_is_told_the_right_one() {
    let here = tempfile::tempdir().unwrap();
    for (wrong, right) in [("reprot", "report"), ("symbolise", "symbolize"), ("exprt", "export")] {
        let output = run(here.path(), &[wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(&format!("'{right}'")), "{}", text(&output.stderr));
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let here = tempfile::tempdir().unwrap();
    let help = text(&run(here.path(), &["--help"]).stdout);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let commands: Vec<&str> = commands.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(commands.contains(&"merge"), "{help}");
    for shell in ["bash", "zsh", "fish"] {
        let script = run(here.path(), &["completions", shell]);
        assert!(commands.iter().all(|command| text(&script.stdout).contains(command)), "{shell}");
        let file = here.path().join(shell);
        fs::write(&file, script.stdout).unwrap();
        // Where the shell is installed, it reads its script.
        if let Ok(status) = Command::new(shell).arg("-n").arg(&file).status() {
            assert!(status.success(), "{shell}");
        }
    }
    assert!(run(here.path(), &["man", "pages/man1"]).status.success());
    for command in commands {
        let page = fs::read_to_string(here.path().join(format!("pages/man1/diytrace-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains("Examples:"), "{command}");
        let help = run(here.path(), &[command, "--help"]);
        assert!(help.status.success() && text(&help.stdout).contains("Examples:"), "{command}");
    }
}

#[test]
fn an_answer_may_go_to_a_file() {
    let recorded = fixture("small.c", builds()[0]).record().run();
    let here = recorded.folder();
    for line in ["report out", "tree out", "callers main out", "annotate main out", "list out", "export folded out"] {
        let written = run(here, &line.split(' ').chain(["-o", "answer"]).collect::<Vec<_>>());
        assert!(written.status.success() && written.stdout.is_empty(), "{line}: {}", text(&written.stderr));
        let plain = run(here, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(text(&fs::read(here.join("answer")).unwrap()), text(&plain.stdout), "{line}");
    }
    let refused = run(here, &["report", "out", "-o", "no/such/folder"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot write no/such/folder"), "{}", text(&refused.stderr));
}

#[test]
fn n_is_the_limit_everywhere() {
    let recorded = fixture("roots.c", builds()[0]).record().run();
    for line in ["report out --format csv", "tree out --format csv", "callers helper out --format csv", "list out"] {
        let with = |option: &str| run(recorded.folder(), &line.split(' ').chain([option, "1"]).collect::<Vec<_>>());
        assert_eq!(text(&with("-n").stdout), text(&with("--limit").stdout), "{line}");
        assert!(with("-n").status.success(), "{line}");
    }
}

#[test]
fn runs_in_folders_of_a_folder_are_found() {
    let recorded = fixture("small.c", builds()[0]).record().run();
    let here = recorded.folder();
    for run in ["left/q/001", "left/q/002"] {
        fs::create_dir_all(here.join(run)).unwrap();
    }
    fs::copy(&recorded.profiles()[0], here.join("left/q/001/a.diyt")).unwrap();
    let report = |path: &str| text(&run(here, &["report", path]).stdout);
    assert_eq!(report("left"), report("out"));
    let empty = run(here, &["report", "left/q/002"]);
    assert!(text(&empty.stderr).contains("no profile in left/q/002"), "{}", text(&empty.stderr));
}
