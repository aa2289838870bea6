//! Where there is not enough of something: the program runs on, the profile is good as far as it goes, and the report says
//! how much it misses.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{Build, Document, Program, Recorded, copy_program, each_build, fixture, is_root, run_to_end, tool};
use needs::needs;

/// All calls that the tree of many-paths.h makes.
const TREE: u64 = 8191;

fn levels(document: &Document) -> u64 {
    let functions = document.reports.iter().flat_map(|report| &report.functions);
    functions.filter(|function| function.name.starts_with("level_")).map(|function| function.calls).sum()
}

fn lost(document: &Document) -> u64 {
    document.reports.iter().map(|report| report.lost_calls).sum()
}

#[test]
fn a_million_calls_inside_each_other() {
    each_build("bottomless.c", |program| {
        let report = program.record().arg("1000000").run().report();
        report.assert_calls(
            "1 main
             1_000_000 down
             999_999 down → down
             1 down → leaf
             1 leaf",
        );
        assert_eq!((report.lost_calls, report.folded_calls, report.unwound, report.open()), (0, 0, 0, [].into()));
    });
}

#[test]
fn more_than_a_hundred_thousand_paths() {
    each_build("wide.c", |program| {
        let report = program.record().run().report();
        for level in 0..=11 {
            assert_eq!(report.function(&format!("level_{level}")).calls, 3_u64.pow(level), "level {level}");
        }
        for level in 0..11 {
            let callee = format!("level_{}", level + 1);
            let calls = report.function(&format!("level_{level}")).callee(&callee).calls;
            assert_eq!(calls, 3_u64.pow(level + 1), "level {level}");
        }
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    });
}

#[test]
fn more_paths_than_there_is_memory_for() {
    each_build("wide.c", |program| {
        let recorded = program.record().set("MEMORY", "4M").run();
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        assert!(profile.metadata().unwrap().len() <= 4 << 20);
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["DIYTRACE_MEMORY"]), "{:?}", document.warnings);
        let report = document.into_only_report();
        for level in 0..=11 {
            assert_eq!(report.function(&format!("level_{level}")).calls, 3_u64.pow(level), "level {level}");
        }
        for level in 0..11 {
            let callee = format!("level_{}", level + 1);
            let calls = report.function(&format!("level_{level}")).callee(&callee).calls;
            assert_eq!(calls, 3_u64.pow(level + 1), "level {level}");
        }
        assert_eq!((report.lost_calls, report.folded_calls), (0, 0));
    });
}

/// The recorder cannot make its index larger, and needs none where a function is called from few places of a path.
#[test]
fn no_more_address_space() {
    each_build("outsider.c", |program| {
        for roots in ["", "level_0"] {
            let document = program.record().roots(roots).arg("memory").run().document(&[]);
            assert_eq!((levels(&document), lost(&document)), (TREE, 0));
            assert_eq!(document.into_only_report().folded_calls, 0);
        }
    });
}

/// Where it needs one, paths are folded, and no call is lost.
#[test]
fn no_more_address_space_for_an_index() {
    const WIDE: [(&str, u64); 4] = [("wide_0", 1), ("wide_1", 32), ("wide_2", 1024), ("wide_3", 32768)];
    each_build("outsider.c", |program| {
        for roots in ["", "level_0,wide_0"] {
            let document = program.record().roots(roots).arg("memory-wide").run().document(&[]);
            assert!(document.warns_of(&["no memory to spare", "address space"]), "{:?}", document.warnings);
            assert!(document.warns_of(&["counted by function only"]), "{:?}", document.warnings);
            assert_eq!((levels(&document), lost(&document)), (TREE, 0));
            let report = document.into_only_report();
            WIDE.iter().for_each(|&(name, calls)| assert_eq!(report.function(name).calls, calls, "{name}"));
            assert!(report.folded_calls > 32768 / 2 && report.folded_calls < 33825, "{}", report.folded_calls);
        }
    });
}

#[test]
fn a_limited_address_space_is_the_programs() {
    each_build("address-space.c", |program| {
        for roots in ["", "level_0"] {
            let limited = program.wrapped("ulimit -v 300000 && exec \"$PROGRAM\" 240");
            let recorded = limited.record().roots(roots).run();
            assert_eq!(recorded.status.code(), Some(0), "{}", recorded.stdout);
            let document = recorded.document(&[]);
            assert_eq!((levels(&document), lost(&document)), (TREE, 0));
        }
    });
}

/// What the recorder has mapped was taken off a limit that the program sets while it runs: vsftpd could not map anything any
/// more, and ended each session with `500 OOPS: mmap`.
#[test]
fn a_limit_that_the_program_sets_is_its_own() {
    each_build("limits-itself.c", |program| {
        for how in ["setrlimit", "both", "low"] {
            let document = program.record().arg(how).run().document(&["--run", "1"]);
            let report = document.into_only_report();
            assert_eq!((report.function("step").calls, report.function("steps").calls), (3000, 3), "{how}");
        }
    });
}

#[test]
fn little_address_space_from_the_start() {
    let program = fixture("paths.c", Build::GCC_O2);
    let limited = program.wrapped("ulimit -v 100000 && exec \"$PROGRAM\"");
    let document = limited.record().run().document(&[]);
    assert_eq!(levels(&document) + lost(&document), TREE);
    assert_eq!(lost(&document), 0, "a smaller file is enough for these");
}

/// What is in the profile's place is not the profile any more, and must not be written to.
#[test]
fn links_in_the_place_of_profiles() {
    each_build("outsider.c", |program| {
        let here = tempfile::tempdir().unwrap();
        let precious = here.path().join("precious");
        fs::write(&precious, "This is precious.").unwrap();
        let script = format!("ln -s '{}' precious && exec \"$PROGRAM\" replaced", precious.display());
        program.wrapped(&script).record().run();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "This is precious.");
    });
}

#[test]
fn profiles_are_their_owners() {
    let program = fixture("plain.c", Build::GCC_O2);
    let recorded = program.wrapped("umask 0 && exec \"$PROGRAM\"").record().run();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&recorded.out()), mode(&recorded.profiles()[0])), (0o700, 0o600));
}

#[needs(another_user)]
#[test]
fn a_folder_that_may_not_be_written_to() {
    let program = fixture("plain.c", Build::GCC_O2);
    let script = "mkdir -p out && chmod 555 out && exec AS_NOBODY\"$PROGRAM\"";
    let as_nobody = if is_root() { "setpriv --reuid=65534 --regid=65534 --clear-groups " } else { "" };
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    let copy = place.path().join("plain");
    copy_program(&program.path, &copy);
    let program = Program { path: copy, ..program };
    let recorded = program.wrapped(&script.replace("AS_NOBODY", as_nobody)).record().complaining().run();
    let said: Vec<_> = recorded.stderr.lines().filter(|line| *line != "done").collect();
    let [said] = said[..] else { panic!("one line, not {said:?}") };
    assert!(said.contains("nothing is recorded, as out cannot be written to"), "{said}");
}

/// A disk of this size, which the profile then is copied from.
fn on_a_disk_of(size: &str, program: &Program) -> (Recorded, Document) {
    let script = format!(
        "mkdir disk out && exec unshare -m sh -c '
             mount -t tmpfs -o size={size} none disk || exit 99
             DIYTRACE_OUT=disk \"$PROGRAM\"; status=$?
             test -z \"$DIYTRACE_OUT\" || cp disk/* out/ 2> /dev/null
             exit $status'"
    );
    let recorded = program.wrapped(&script).record().run();
    let document = recorded.document(&[]);
    (recorded, document)
}

#[needs(mounts)]
#[test]
fn a_disk_that_becomes_full() {
    each_build("paths.c", |program| {
        let (recorded, document) = on_a_disk_of("400k", program);
        assert_eq!(recorded.status.code(), Some(0));
        assert!(document.warns_of(&["gave way to others"]) || document.warns_of(&["counted by function only"]));
        assert_eq!((levels(&document), lost(&document)), (TREE, 0));
    });
}

/// What is set aside for counts by function once took all that some disks had left, and names had no room.
#[needs(mounts)]
#[test]
fn small_disks_have_names_too() {
    let program = fixture("plain.c", Build::GCC_O0);
    for size in ["64k", "80k", "100k", "200k", "300k", "400k"] {
        let (_, document) = on_a_disk_of(size, &program);
        let calls = |name: &str| document.reports.iter().map(|report| report.function(name).calls).sum::<u64>();
        assert_eq!((calls("leaf"), calls("thrice"), lost(&document)), (7, 3, 0), "{size}");
    }
    // Where there is no room for any count, calls are lost, and were made all the same.
    let (_, document) = on_a_disk_of("36k", &program);
    assert_eq!(lost(&document), 12);
    assert!(!document.warns_of(&["nothing was recorded"]), "{:?}", document.warnings);
}

#[needs(mounts)]
#[test]
fn a_disk_that_is_full_at_the_start() {
    let program = fixture("plain.c", Build::GCC_O2);
    let script = "mkdir disk out && exec unshare -m sh -c '
        mount -t tmpfs -o size=64k none disk || exit 99
        head -c 65536 /dev/zero > disk/all 2> /dev/null
        DIYTRACE_OUT=disk exec \"$PROGRAM\"'";
    let recorded = program.wrapped(script).record().complaining().run();
    let said: Vec<_> = recorded.stderr.lines().filter(|line| *line != "done").collect();
    let [said] = said[..] else { panic!("one line, not {said:?}") };
    assert!(said.contains("nothing is recorded, as disk has no space left"), "{said}");
}

/// The kernel would raise SIGXFSZ, which ends a program that does not expect it.
#[test]
fn files_that_may_not_grow_from_the_start() {
    each_build("paths.c", |program| {
        let limited = program.wrapped("ulimit -f 400 && exec \"$PROGRAM\"");
        let document = limited.record().run().document(&[]);
        assert!(document.warns_of(&["gave way to others"]) || document.warns_of(&["counted by function only"]));
        assert_eq!((levels(&document), lost(&document)), (TREE, 0));

        let recorded = program.wrapped("ulimit -f 1 && exec \"$PROGRAM\" 2>&1").record().with_output_of_its_own().run();
        assert!(
            recorded.stdout.contains("nothing is recorded, as out may hold no file of this size: raise"),
            "{}",
            recorded.stdout
        );
    });
}

/// Records a program below a tracer, which says how many system calls of each kind it has made.
fn count_system_calls(program: &Program, before: &str) -> (Recorded, BTreeMap<String, u64>) {
    let tracer = fixture("system-calls.c", Build::GCC_O2).path;
    let script = format!("{before} exec '{}' \"$PROGRAM\"", tracer.display());
    // Each stop is a switch of the thread, whose account takes system calls of its own.
    let recorded = program.wrapped(&script).record().set("WAITS", "0").with_output_of_its_own().run();
    assert_eq!(recorded.status.code(), Some(0), "{}", recorded.stderr);
    let count = |line: &str| Some((line.split_once(' ')?.0.to_owned(), line.split_once(' ')?.1.parse().ok()?));
    let counts: BTreeMap<_, _> = recorded.stdout.lines().filter_map(count).collect();
    assert!(counts["openat"] > 2 && counts["mmap"] > 2, "nothing was counted: {}", recorded.stdout);
    (recorded, counts)
}

/// 8,191 new paths, for which there is no room, or no descriptor: the kernel is asked now and then, not for each of them.
fn assert_asks_rarely(program: &Program, before: &str) {
    let (recorded, counts) = count_system_calls(program, before);
    // Ten a second: a thousand take a minute and a half.
    for kind in ["openat", "prlimit64", "fallocate", "mmap"] {
        assert!(counts[kind] < 1000, "{kind} was called {} times", counts[kind]);
    }
    assert_eq!(lost(&recorded.document(&[])), 0);
}

#[test]
fn room_that_cannot_be_had_is_asked_for_rarely() {
    // One build of each: what is counted is the recorder's, and a parent that traces takes its time.
    assert_asks_rarely(&fixture("paths.c", Build::GCC_O2), "ulimit -f 200 &&");
    assert_asks_rarely(&fixture("no-descriptors.c", Build::GCC_O0), "");
}

/// 65,536 calls from 4,096 places, with no room for those, nor for where the times of `leaf` would be: each once had signals blocked, twice.
#[test]
fn calls_that_there_is_no_room_for_ask_nothing_of_the_kernel() {
    let program = fixture("call-sites.c", Build::GCC_O2);
    let (recorded, counts) = count_system_calls(&program, "ulimit -f 400 &&");
    let document = recorded.document(&[]);
    assert!(document.warns_of(&["counted by function only"]), "{:?}", document.warnings);
    let report = document.into_only_report();
    assert_eq!((report.function("leaf").calls, report.lost_calls), (65_536, 0));
    // Twice for each path that there is room for, of 8,191, and at times for more.
    let blocked = counts["rt_sigprocmask"];
    assert!(blocked < 30_000, "signals were blocked or let in {blocked} times");
}

#[test]
fn a_library_that_could_not_be_looked_up_for_a_moment_has_its_names_later() {
    each_build("unreadable.c", |program| {
        let recorded = program.record().arg(program.folder.join("red.so")).run();
        let report = recorded.report();
        assert_eq!((report.function("plugin_run").calls, report.function("red_step").calls), (1001, 1005));
    });
}

#[test]
fn a_root_that_could_not_be_looked_up_for_a_moment_is_one_later() {
    each_build("unreadable.c", |program| {
        let recorded = program.record().roots("plugin_run").arg(program.folder.join("red.so")).run();
        let report = recorded.report();
        assert_eq!((report.function("plugin_run").calls, report.function("red_step").calls), (1000, 1000));
    });
}

#[needs(mounts)]
#[test]
fn a_disk_that_may_not_be_written_to() {
    each_build("plain.c", |program| {
        let script = "mkdir disk out && exec unshare -m sh -c '
            mount -t tmpfs -o ro none disk || exit 99
            DIYTRACE_OUT=disk exec \"$PROGRAM\"'";
        let recorded = program.wrapped(script).record().complaining().run();
        let said: Vec<_> = recorded.stderr.lines().filter(|line| *line != "done").collect();
        let [said] = said[..] else { panic!("one line, not {said:?}") };
        assert!(said.contains("nothing is recorded, as disk cannot be written to"), "{said}");
    });
}

/// Threads and forked children that all want to grow it at once.
#[needs(mounts)]
#[test]
fn a_disk_that_becomes_full_under_many() {
    each_build("endless.c", |program| {
        let script = "(sleep 2; touch stop) & exec \"$PROGRAM\"";
        let (recorded, document) = on_a_disk_of("600k", &program.wrapped(script));
        assert_eq!(recorded.status.code(), Some(0));
        assert!(document.warns_of(&["gave way to others"]) || document.warns_of(&["counted by function only"]));
    });
}

/// Two that are preloaded at once, and many that start at once: each has a file of its own.
#[test]
fn two_recorders_never_write_one_file() {
    let program = fixture("plain.c", Build::GCC_O2);
    let here = tempfile::tempdir().unwrap();
    let copy = here.path().join("libcopy.so");
    fs::copy(tool("libdiytrace.so"), &copy).unwrap();
    let start = |preload: &str| {
        let mut command = std::process::Command::new(&program.path);
        command.current_dir(&here).env("LD_PRELOAD", preload).env("DIYTRACE_OUT", "out");
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let recorder = tool("libdiytrace.so").display().to_string();
    let both = format!("{recorder}:{}", copy.display());
    let mut running: Vec<_> = (0..50).map(|n| start(if n % 2 == 0 { &recorder } else { &both })).collect();
    assert!(running.iter_mut().all(|program| program.wait().unwrap().code() == Some(7)));
    let output = run_to_end(common::diytrace(here.path()).args(["report", "--format", "json", "out"]));
    let report = Document::parse(&output.stdout).into_only_report();
    assert_eq!((report.function("leaf").calls, report.function("main").calls), (350, 50));
}

/// As in containers that share a folder: all are process 1.
#[needs(process_numbers)]
#[test]
fn programs_with_one_number_have_a_file_each() {
    let program = fixture("plain.c", Build::GCC_O2);
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do unshare --pid --fork \"$PROGRAM\" & done; wait; exit 7";
    let recorded = program.wrapped(script).record().run();
    let reports = recorded.reports_by_process();
    assert_eq!((recorded.profiles().len(), reports.len()), (10, 10));
    for report in reports {
        assert_eq!((report.process.as_ref().unwrap().pid, report.function("leaf").calls), (1, 7));
    }
}

/// A program that has more rights than its caller is left alone.
#[needs(setuid)]
#[test]
fn set_user_id_programs() {
    const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    let with_owners_rights = |from: &Path, name: &str| {
        let path = place.path().join(name);
        copy_program(from, &path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        path
    };
    let as_nobody = |path: &Path| {
        let mut command = std::process::Command::new("setpriv");
        command.args(NOBODY).arg(path).current_dir(&place);
        command
    };
    let id = with_owners_rights(Path::new("/usr/bin/id"), "id");
    assert_eq!(run_to_end(as_nobody(&id).arg("-u")).stdout, b"0\n", "nothing has its owner's rights here");
    let program = with_owners_rights(&fixture("plain.c", Build::GCC_O2).path, "plain");
    let library = place.path().join("libdiytrace.so");
    fs::copy(tool("libdiytrace.so"), &library).unwrap();
    let output = run_to_end(as_nobody(&program).env("LD_PRELOAD", &library).env("DIYTRACE_OUT", "out"));
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(!place.path().join("out").exists(), "a program with its owner's rights was recorded");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    run_to_end(as_nobody(&program).env("LD_PRELOAD", &library).env("DIYTRACE_OUT", "out"));
    assert!(place.path().join("out").exists(), "the same program with its user's rights was not recorded");
}
