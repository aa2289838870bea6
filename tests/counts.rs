//! Every call is counted, with its caller; and the program does not notice.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{each_build, line_of, run_to_end};

#[test]
fn plain_calls() {
    each_build("plain.c", |program| {
        let recorded = program.record().logged().run();
        assert_eq!(recorded.status.code(), Some(7));
        recorded.report().assert_calls(
            "1 main
             1 main → once
             3 main → thrice
             1 once
             1 once → leaf
             3 thrice
             6 thrice → leaf
             7 leaf",
        );
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn where_functions_and_calls_are() {
    each_build("plain.c", |program| {
        let report = program.record().run().report();
        let thrice = report.function("thrice");
        assert!(thrice.module.ends_with("/plain"), "{thrice:?}");
        assert!(thrice.file.as_ref().is_some_and(|file| file.ends_with("plain.c")), "{thrice:?}");
        let line = line_of("plain.c", "static void thrice");
        assert!([line, line + 1].map(Some).contains(&thrice.line), "{thrice:?}"); // its name, or its bracket
        let mut lines = BTreeMap::new(); // a compiler may have made copies of the calls
        for site in &thrice.callee("leaf").sites {
            *lines.entry(site.line).or_default() += site.calls;
        }
        assert_eq!(lines, [(Some(line + 2), 3), (Some(line + 3), 3)].into(), "{thrice:?}");
    });
}

#[test]
fn the_program_and_its_process_are_described() {
    each_build("plain.c", |program| {
        let recorded = program.record().arg("an argument").run();
        let [report] = &recorded.reports_by_process()[..] else { panic!("one process") };
        let process = report.process.as_ref().unwrap();
        assert_eq!(process.exe, program.path.display().to_string());
        assert_eq!(process.cmdline, [&process.exe, "an argument"]);
        assert_eq!(process.state, "exited");
        assert_eq!(report.open(), [].into());
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        let name = profile.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("plain-{}-", process.pid)) && name.ends_with(".diyt"), "{name}");
        assert_eq!(profile.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    });
}

#[test]
fn callbacks_through_libc() {
    each_build("callback.c", |program| {
        let recorded = program.record().logged().run();
        let (compared, matched) = recorded.stdout.trim().split_once(' ').unwrap();
        let report = recorded.report();
        report.assert_calls(&format!(
            "1 main
             1 main → sort
             1 main → look_up
             1 sort
             {compared} sort → compare
             {compared} compare
             1 look_up
             {matched} look_up → matches
             {matched} matches"
        ));
        // Without libc's debug symbols it is the nearest name that libc exports.
        let via = report.function("sort").callee("compare").via.as_deref();
        assert!(via.is_some_and(|via| via.starts_with("qsort") || via.starts_with("msort_with_tmp")), "{via:?}");
        assert_eq!(report.function("look_up").callee("matches").via.as_deref(), Some("lfind"));
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn exits_that_are_tail_calls() {
    each_build("tail.c", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        report.assert_calls(
            "1 main
             10 main → round_of_all
             10 round_of_all
             10 round_of_all → chain_1
             10 round_of_all → wide
             10 round_of_all → countdown
             10 chain_1
             10 chain_1 → chain_2
             10 chain_2
             10 chain_2 → chain_3
             10 chain_3
             10 chain_3 → leaf
             10 wide
             10 wide → leaf
             20 leaf
             30 countdown → countdown
             40 countdown",
        );
        assert_eq!((report.unwound, report.open()), (0, [].into()));
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn addresses_are_those_of_the_symbol_table() {
    for source in ["plain.c", "fixed.c"] {
        each_build(source, |program| {
            let recorded = program.record().logged().run();
            let nm = run_to_end(Command::new("nm").arg(&program.path));
            let symbols = String::from_utf8(nm.stdout).unwrap();
            let report = recorded.report();
            assert!(report.has("main") && report.has("leaf"));
            for function in &report.functions {
                let address = function.address.strip_prefix("0x").unwrap();
                let is_it =
                    |line: &str| line.starts_with(&format!("{address:0>16} ")) && line.ends_with(&function.name);
                assert!(symbols.lines().any(is_it), "{} at {address} in {symbols}", function.name);
            }
            recorded.assert_agrees_with_the_event_log();
        });
    }
}
