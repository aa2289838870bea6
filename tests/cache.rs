//! What reports keep for the next one: it changes no report, whatever becomes of it or of the program.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{Build, Recorded, builds, copy_program, diytrace, fixture, run_to_end};
use tempfile::TempDir;

/// A recorded program, and a cache for its reports.
struct Story {
    recorded: Recorded,
    program: PathBuf,
    folder: TempDir,
}

impl Story {
    fn of(source: &str, build: Build) -> Self {
        // A copy: stories change it.
        let mut program = fixture(source, build);
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(program.path.file_name().unwrap());
        copy_program(&program.path, &copy);
        program.path = copy.clone();
        let recorded = program.record().run();
        // What is saved beside the profile would answer for the cache: it cannot be here.
        for entry in fs::read_dir(recorded.out()).unwrap() {
            let names = entry.unwrap().path().with_extension("names");
            if !names.exists() {
                fs::create_dir(names).unwrap();
            }
        }
        Self { recorded, program: copy, folder }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache().join("symbols")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn command(&self, cache: &Path) -> Command {
        let mut command = diytrace(self.recorded.folder());
        command.args(["report", "--format", "json"]).arg(self.recorded.out()).env("DIYTRACE_CACHE", cache);
        command
    }

    /// The report with this cache, which nobody complained about.
    fn report_with(&self, cache: &Path) -> String {
        told(&run_to_end(&mut self.command(cache)))
    }

    fn report(&self) -> String {
        self.report_with(&self.cache())
    }

    fn report_without(&self) -> String {
        self.report_with(Path::new("off"))
    }
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Vec<_> = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
    assert!(said.iter().all(|line| line.contains("stripped")), "nobody needs to hear of a cache: {said:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn tool(name: &str, arguments: &[&Path]) {
    let status = Command::new(name).args(arguments).status().unwrap();
    assert!(status.success(), "{name} {arguments:?}");
}

#[test]
fn a_report_is_the_same_with_and_without() {
    for source in ["names.cc", "nested-inline.c", "callback.c", "fork.c"] {
        for &build in builds() {
            let story = Story::of(source, build);
            let without = story.report_without();
            assert!(!story.cache().exists());
            assert_eq!(story.report(), without, "{source} by {build}, the first time");
            assert!(!story.files().is_empty());
            assert_eq!(story.report(), without, "{source} by {build}, the second time");
        }
    }
}

#[test]
fn it_belongs_to_its_owner_alone() {
    let story = Story::of("roots.c", Build::GCC_O2);
    story.report();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&story.cache().join("symbols")), 0o700);
    for file in story.files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    }
    assert_eq!(story.report(), story.report_without(), "what others can write is not believed");
}

#[test]
fn damage_is_a_miss() {
    let story = Story::of("names.cc", Build::GCC_O2);
    let right = story.report();
    let whole: Vec<(PathBuf, Vec<u8>)> =
        story.files().iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 6] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.fill(0),
        |bytes| bytes.push(0),
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        },
        |bytes| bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(167).wrapping_add(13)),
    ];
    for (number, damage) in damages.iter().enumerate() {
        for (path, bytes) in &whole {
            let mut bytes = bytes.clone();
            damage(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(story.report(), right, "damage {number}");
        for (path, bytes) in &whole {
            assert!(fs::read(path).unwrap() == *bytes, "damage {number} was not mended");
        }
    }
}

#[test]
fn where_it_cannot_be_kept_nobody_hears_of_it() {
    let story = Story::of("roots.c", Build::GCC_O0);
    let right = story.report_without();
    let file = story.folder.path().join("file");
    fs::write(&file, "").unwrap();
    for nowhere in [file.join("cache"), file, PathBuf::from("/proc/self/cache"), PathBuf::from("/dev/null")] {
        assert_eq!(story.report_with(&nowhere), right, "{}", nowhere.display());
    }
}

/// What writes archives complained by itself of one that it could not end.
#[test]
fn where_nothing_can_be_written_nobody_hears_of_it() {
    let story = Story::of("roots.c", Build::GCC_O0);
    let right = story.report_without();
    for entry in fs::read_dir(story.recorded.out()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir(path).unwrap(); // it may be saved beside the profile, too
        }
    }
    let report = story.command(&story.cache());
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]).arg(report.get_program());
    limited.args(report.get_args()).current_dir(report.get_current_dir().unwrap());
    limited.envs(report.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(told(&limited.stdin(Stdio::null()).output().unwrap()), right); // into pipes
}

#[test]
fn what_lies_in_its_place_is_left_alone() {
    let story = Story::of("roots.c", Build::GCC_O0);
    let right = story.report();
    let files = story.files();
    let treasure = story.folder.path().join("treasure");
    for file in &files {
        fs::rename(file, &treasure).unwrap();
        std::os::unix::fs::symlink(&treasure, file).unwrap();
    }
    let before = fs::read(&treasure).unwrap();
    assert_eq!(story.report(), right);
    assert!(fs::read(&treasure).unwrap() == before);
    for file in &files {
        assert!(!fs::symlink_metadata(file).unwrap().is_symlink(), "replaced, not followed");
        fs::remove_file(file).unwrap();
        tool("mkfifo", &[file]);
    }
    assert_eq!(story.report(), right, "and a pipe keeps nobody waiting");
}

#[test]
fn stripping_and_debug_files_are_noticed() {
    let story = Story::of("roots.c", Build::GCC_O2);
    let whole = story.report();
    let debug = story.program.with_file_name("roots.debug");
    tool("objcopy", &[Path::new("--only-keep-debug"), &story.program, &debug]);
    tool("strip", &[&story.program]);
    let stripped = story.report();
    assert!(whole.contains("hidden_step") && !stripped.contains("hidden_step"), "{stripped}");
    assert_eq!(stripped, story.report_without());

    let link = format!("--add-gnu-debuglink={}", debug.display());
    tool("objcopy", &[Path::new(&link), &story.program]);
    assert_eq!(story.report(), whole, "its debug file was installed later");
    assert_eq!(story.report(), whole);
    fs::remove_file(&debug).unwrap();
    assert_eq!(story.report(), stripped, "and removed again");
}

#[test]
fn a_program_without_a_build_id_is_told_by_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str| {
        let text = "static void NAME(void) { } int main(void) { NAME(); return 0; }".replace("NAME", name);
        fs::write(folder.path().join("main.c"), text).unwrap();
        let mut compiler = Command::new("gcc");
        let options = ["-g", "-finstrument-functions", "-Wl,--build-id=none", "-o", "main", "main.c"];
        assert!(compiler.args(options).current_dir(folder.path()).status().unwrap().success());
    };
    let mut program = fixture("roots.c", Build::GCC_O0);
    program.path = folder.path().join("main");
    for name in ["one", "two", "six"] {
        build(name);
        let recorded = program.record().run();
        for _ in 0..2 {
            let mut command = diytrace(recorded.folder());
            command
                .args(["report", "--format", "json"])
                .arg(recorded.out())
                .env("DIYTRACE_CACHE", folder.path().join("cache"));
            let said = told(&run_to_end(&mut command));
            assert!(said.contains(&format!("\"{name}\"")), "{name} is missing in {said}");
        }
    }
}

#[test]
fn many_reports_share_it() {
    let story = Story::of("names.cc", Build::GCC_O2);
    let right = story.report_without();
    for _ in 0..3 {
        let start = |_| story.command(&story.cache()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let children: Vec<_> = (0..12).map(start).collect();
        for child in children {
            assert_eq!(told(&child.wait_with_output().unwrap()), right);
        }
        let _ = fs::remove_dir_all(story.cache());
    }
    story.report();
    let names = story.files().into_iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    let abandoned: Vec<_> = names.filter(|name| name.starts_with('.')).collect();
    assert_eq!(abandoned, [""; 0]);
}
