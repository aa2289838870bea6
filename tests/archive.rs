//! Archives: profiles that explain themselves on a machine without the programs, and many profiles in one file.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Build, Recorded, builds, copy_program, diytrace, fixture, run_to_end};
use tempfile::TempDir;

/// A recorded program that stories may take away.
struct Story {
    recorded: Recorded,
    /// The program, and what was split off it.
    programs: TempDir,
}

impl Story {
    fn of(source: &str, build: Build, change: impl Fn(&Path)) -> Self {
        let mut program = fixture(source, build);
        let programs = tempfile::tempdir().unwrap();
        let copy = programs.path().join(program.path.file_name().unwrap());
        copy_program(&program.path, &copy);
        change(&copy);
        program.path = copy;
        Self { recorded: program.record().run(), programs }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = diytrace(self.recorded.folder());
        command.args(arguments).env("DIYTRACE_CACHE", "off");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run_to_end(&mut self.command(arguments))
    }

    fn done(&self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        output
    }

    /// All that commands tell of a profile: stdout, stderr and status of each.
    fn answers(&self, profile: &str) -> Vec<(String, Option<i32>, String, String)> {
        const COMMANDS: [&str; 16] = [
            "report --format json",
            "report --format json --by process --histogram",
            "report --format json --by thread --by-address",
            "report --columns calls,call,address,module,source",
            "report --root main --format json",
            "report --root mian",
            "tree --format json",
            "tree --callers --sites",
            "callers leaf --format json",
            "annotate main --format json",
            "annotate main --assembly --format json",
            "export callgrind",
            "export pprof",
            "export speedscope",
            "export folded",
            "export dot",
        ];
        let ask = |command: &&str| {
            let words: Vec<&str> = command.split(' ').collect();
            let output = self.run(&[&words[..], &[profile]].concat());
            // What pprof packs is no text.
            let stdout = format!("{:?}", OsStr::from_bytes(&output.stdout));
            ((*command).to_owned(), output.status.code(), stdout, text(&output.stderr))
        };
        COMMANDS.iter().map(ask).collect()
    }

    /// Takes the program and the profiles away.
    fn move_away(&self) {
        fs::rename(self.recorded.out(), self.recorded.folder().join("away")).unwrap();
        for entry in fs::read_dir(self.programs.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tool(name: &str, arguments: &[&str], last: &Path) {
    assert!(Command::new(name).args(arguments).arg(last).status().unwrap().success(), "{name} {arguments:?}");
}

fn strip(program: &Path) {
    let debug = program.with_extension("debug");
    tool("objcopy", &["--only-keep-debug", program.to_str().unwrap()], &debug);
    tool("objcopy", &["--strip-all", &format!("--add-gnu-debuglink={}", debug.display())], program);
}

fn strip_bare(program: &Path) {
    tool("strip", &[], program);
}

/// Every command tells the same, to the byte, with neither the program nor its profiles there.
fn stays_the_same(source: &str, build: Build, change: impl Fn(&Path)) {
    let story = Story::of(source, build, change);
    let before = story.answers("out");
    assert!(before.iter().any(|(_, status, ..)| *status == Some(0)));
    story.done(&["symbolize", "out", "-o", "portable.diya"]);
    story.move_away();
    for (before, after) in before.iter().zip(story.answers("portable.diya")) {
        assert_eq!(*before, after, "{source} by {build}");
    }
    // An archive of an archive knows as much.
    story.done(&["symbolize", "portable.diya", "-o", "again.diya"]);
    story.done(&["merge", "portable.diya", "-o", "merged.diya"]);
    for archive in ["again.diya", "merged.diya"] {
        assert_eq!(before, story.answers(archive), "{source} by {build}, {archive}");
    }
}

#[test]
fn reports_are_the_same_on_a_machine_without_the_program() {
    for source in ["names.cc", "nested-inline.c", "callback.c", "fork.c", "recursion.c"] {
        for &build in builds() {
            stays_the_same(source, build, |_| {});
        }
    }
}

#[test]
fn a_stripped_program_stays_what_its_debug_file_told() {
    stays_the_same("nested-inline.c", builds()[0], strip);
    stays_the_same("nested-inline.c", builds()[0], strip_bare);
}

#[test]
fn many_profiles_in_one_file_report_as_they_do_together() {
    let story = Story::of("fork.c", builds()[0], |_| {});
    for number in 0..20 {
        let more = fixture("names.cc", builds()[0]).record().run();
        for profile in more.profiles() {
            fs::copy(&profile, story.recorded.out().join(format!("more-{number}.diyt"))).unwrap();
        }
    }
    let parts = story.answers("out");
    story.done(&["merge", "out", "-o", "all.diya"]);
    let folder = story.recorded.folder();
    let size = |path: PathBuf| fs::metadata(path).unwrap().len();
    let before: u64 = fs::read_dir(folder.join("out")).unwrap().map(|entry| size(entry.unwrap().path())).sum();
    assert!(size(folder.join("all.diya")) < before / 4, "it is to be mailed");
    fs::rename(folder.join("out"), folder.join("away")).unwrap();
    assert_eq!(parts, story.answers("all.diya"));

    // In two files, and in a folder of them.
    fs::create_dir(folder.join("inbox")).unwrap();
    story.done(&["merge", "all.diya", "-o", "inbox/one.diya"]);
    assert_eq!(parts, story.answers("inbox"));
}

#[test]
fn an_archive_is_whole_and_its_owners() {
    let story = Story::of("small.c", builds()[0], |_| {});
    let archive = story.recorded.folder().join("a.diya");
    story.done(&["symbolize", "out", "-o", "a.diya"]);
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o777, 0o600);
    let whole = fs::read(&archive).unwrap();
    for arguments in [&["symbolize", "nowhere", "-o", "a.diya"], &["merge", "nowhere", "-o", "a.diya"]] {
        assert_eq!(story.run(arguments).status.code(), Some(2));
    }
    assert_eq!(fs::read(&archive).unwrap(), whole, "what failed leaves it as it was");
    assert_eq!(fs::read_dir(story.recorded.folder()).unwrap().count(), 2, "and nothing beside it");
    // The archive itself may be what is read.
    story.done(&["merge", "a.diya", "-o", "a.diya"]);
    story.done(&["report", "a.diya"]);
}

#[test]
fn what_cannot_be_read_or_written_is_told_in_a_sentence() {
    let story = Story::of("small.c", builds()[0], |_| {});
    let folder = story.recorded.folder();
    story.done(&["symbolize", "out", "-o", "a.diya"]);
    let whole = fs::read(folder.join("a.diya")).unwrap();
    fs::write(folder.join("cut.diya"), &whole[..whole.len() / 2]).unwrap();
    let mut harmed = whole.clone();
    harmed[400] ^= 0x55; // in the profile, the first thing in it
    fs::write(folder.join("harmed.diya"), &harmed).unwrap();
    fs::write(folder.join("text.diya"), "text that is no profile").unwrap();
    for (arguments, expected) in [
        (&["report", "cut.diya"][..], "is a damaged archive"),
        (&["report", "text.diya"], "is not a diytrace profile"),
        (&["merge", "out", "-o", "/dev/null"], "it is no file"),
        (&["merge", "out", "-o", "no/such/folder.diya"], "cannot write no/such/folder.diya"),
        (&["symbolize", "out"], "--output <ARCHIVE>"),
    ] {
        let output = story.run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let output = story.run(&["report", "harmed.diya"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is a damaged archive"), "{}", text(&output.stderr));
}

#[test]
fn archives_beside_profiles_do_not_count_twice() {
    let story = Story::of("small.c", builds()[0], |_| {});
    let before = story.answers("out");
    story.done(&["symbolize", "out", "-o", "out/all.diya"]);
    assert_eq!(before, story.answers("out"));
}
