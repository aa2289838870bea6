//! The profile store on ClickHouse: it tells what a file and the recordings themselves tell, whoever is killed in between.

mod common;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::clickhouse::ClickHouse;
use common::service::{Agent, Service};
use common::story::{Random, Story, text};
use common::{Endless, diytrace, pprof, run_to_end, wait_until};
use needs::needs;

const VIEWS: [&str; 9] = [
    "report --format json",
    "report --format csv --timeline",
    "report --columns calls,open,unwound,total,error,self,mean,min,p50,p99,max,processes,call,source --histogram",
    "tree --format json",
    "callers leaf --format json",
    "annotate main --format json",
    "export callgrind",
    "export speedscope",
    "export folded",
];

#[needs(clickhouse)]
#[test]
fn every_view_tells_what_it_tells_of_a_file_and_of_the_recordings() {
    let story = Story::<ClickHouse>::new();
    for source in ["forks.c", "names.cc", "recursion.c", "left-inline.cc"] {
        let name = source.split('.').next().unwrap();
        story.record(source, &format!("{name}-1"));
        story.record(source, &format!("{name}-2"));
        for store in ["STORE", "s.db"] {
            story.done(&format!("push --store {store} {name}-1 {name}-2"));
        }
    }
    let answer = |line: &str| {
        let output = story.run(line);
        (output.status.code(), output.stdout, text(&output.stderr))
    };
    for name in ["forks", "names", "recursion", "left-inline"] {
        let select = format!("--select service={name}");
        for view in VIEWS {
            let of_store = answer(&format!("{view} --store STORE {select}"));
            assert!(of_store == answer(&format!("{view} {name}-1 {name}-2")), "{name}: {view}, not as of files");
            assert!(of_store == answer(&format!("{view} --store s.db {select}")), "{name}: {view}, not as of SQLite");
        }
    }
    for line in [
        "report --by service --format json",
        "report --format json --select service=forks|names",
        "report --format json --select service=!forks|names",
        "report --format json --select service=\"forks\"",
        "series --format csv",
        "diff service=forks service=names --format json",
    ] {
        let of = |store: &str| {
            let told = text(&answer(&format!("{line} --store {store}")).1).replace(&story.store(), "s.db");
            // What it takes is another matter.
            let rows =
                told.lines().map(|row| if line.starts_with("series") { row.rsplit_once(',').unwrap().0 } else { row });
            rows.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(of("STORE"), of("s.db"), "{line}");
    }
}

#[needs(clickhouse)]
#[test]
fn a_recording_counts_once_and_grows() {
    let story = Story::<ClickHouse>::new();
    let mut program = Endless::start();
    let out = program.here.path().join("out");
    let push = format!("push --store STORE {}", out.display());
    let counted = |story: &Story<ClickHouse>| story.number("SELECT sum(calls) FROM slices");
    assert!(text(&story.done(&push).stderr).contains("1 recording put in"));
    let before = counted(&story);
    let has_grown = || {
        sleep(Duration::from_millis(50));
        text(&story.done(&push).stderr).contains("1 that had grown")
    };
    assert!((0..200).any(|_| has_grown()), "the program calls all the time");
    program.stop();
    story.done(&push);
    assert!(counted(&story) > before);
    assert!(text(&story.done(&push).stderr).contains("1 there already"));
    let said = text(&story.done(&format!("{push} --label commit=two")).stderr);
    assert!(said.contains("1 there already with other labels"), "{said}");
    story.done(&push);
    let expected = story.told(&format!("report --format json {}", out.display()));
    assert_eq!(story.told("report --format json --store STORE"), expected);
    assert_eq!(story.number("SELECT count() FROM slices"), 1);
}

#[needs(clickhouse)]
#[test]
fn what_is_deleted_gives_its_room_back_and_the_rest_stays() {
    let story = Story::<ClickHouse>::new();
    for (name, source) in [("one", "forks.c"), ("two", "paths.c"), ("three", "names.cc")] {
        story.record(source, name);
        story.done(&format!("push --store STORE {name}"));
    }
    let rows = || story.number("SELECT count() FROM path_sum");
    let report = |select: &str| story.told(&format!("report --store STORE --format json --select {select}"));
    let (before, forks, names) = (rows(), report("service=forks"), report("service=names"));
    assert!(story.refused("delete --store STORE --select service=other").contains("service is"));
    let said = text(&story.done("delete --store STORE --select service=paths").stderr);
    assert!(said.contains("1 recording deleted") && !said.contains(" 0 B freed"), "{said}");
    assert!(rows() < before, "{} of {before}", rows());
    assert_eq!((report("service=forks"), report("service=names")), (forks.clone(), names));
    assert!(story.refused("report --store STORE --select service=paths").contains("service is forks or names"));
    story.done("push --store STORE two");
    assert_eq!(report("service=forks"), forks);
    assert!(story.refused("delete --store STORE --until 1h").contains("in that time"));
    story.done("delete --store STORE --until now --down-to 10G");
    assert_eq!(report("service=forks"), forks);
    story.done("delete --store STORE --until now --down-to 1k");
    assert!(story.refused("report --store STORE").contains("is empty"));
    assert_eq!(rows(), 0);
}

/// All of them went, and the store was hardly smaller.
#[needs(clickhouse)]
#[test]
fn recordings_are_not_deleted_for_the_room_that_samples_take() {
    let story = Story::<ClickHouse>::new();
    story.record("forks.c", "one");
    story.done("push --store STORE one");
    std::fs::write(story.path().join("cpu.pb"), pprof::cpu(0, 10, [300, 200, 100])).unwrap();
    story.done("push --store STORE cpu.pb");
    let before = story.told("report --store STORE --format json");
    let said = story.refused("delete --store STORE --until now --down-to 100");
    assert!(said.contains("sampled profiles alone take") && said.contains("no recording was deleted"), "{said}");
    assert_eq!(story.told("report --store STORE --format json"), before);
    story.done("delete --store STORE --sampled --until now");
    story.done("delete --store STORE --until now --down-to 1k");
    assert!(story.refused("report --store STORE").contains("is empty"));
}

/// ClickHouse drops rows that others have taken the place of whenever it likes: then nothing told that what they referred to was in
/// nobody's way, and it stayed.
#[needs(clickhouse)]
#[test]
fn what_was_replaced_goes_with_the_rest_whatever_clickhouse_has_dropped() {
    let story = Story::<ClickHouse>::new();
    story.record("forks.c", "one");
    for label in ["a", "b", "c"] {
        story.done(&format!("push --store STORE --label nth={label} one"));
        story.engine.run("runs", "OPTIMIZE TABLE frame FINAL");
    }
    let report = story.told("report --store STORE --format json");
    assert_eq!(story.number("SELECT count() FROM frame_data"), 3);
    assert!(story.refused("delete --store STORE --select nth=a").contains("nth is c"));
    story.record("names.cc", "two");
    story.done("push --store STORE two");
    story.done("delete --store STORE --select service=names");
    assert_eq!(story.number("SELECT count() FROM frame_data"), 1);
    assert_eq!(story.told("report --store STORE --format json"), report);
    story.done("delete --store STORE --until now");
    for table in ["frame", "frame_data", "path_sum", "replaced"] {
        assert_eq!(story.number(&format!("SELECT count() FROM {table}")), 0, "{table}");
    }
}

#[needs(clickhouse)]
#[test]
fn a_writer_that_is_killed_leaves_nothing_that_counts() {
    let story = Story::<ClickHouse>::new();
    let all = ["one", "two", "three"];
    for (name, source) in all.iter().zip(["forks.c", "forks.c", "paths.c"]) {
        story.record(source, name);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let expected = story.told("report --format json one two three");
    let expected_of = all.map(|name| story.told(&format!("report --format json {name}")));
    let mut there = 0;
    // When it is killed: later after it was too early, and earlier after it was too late, however fast the machine is now. The
    // first one makes the tables, too.
    let mut wait = [100_000, 100_000];
    for round in 0..5 {
        let store = story.engine.store(&format!("round_{round}"));
        for turn in 0..9 {
            let name = all[turn % 3];
            let mut command = diytrace(story.path());
            command.args(["push", "--store", &store, "--label", &format!("run={name}"), name]);
            let mut writer = command.stderr(Stdio::null()).spawn().unwrap();
            let wait = &mut wait[usize::from(turn > 0)];
            sleep(Duration::from_micros(random.next() % *wait));
            writer.kill().unwrap();
            let was_too_late = writer.wait().unwrap().success();
            *wait = if was_too_late { *wait * 3 / 4 } else { *wait * 5 / 4 }.max(1000);
            // What there is of a recording is all of it: it may lack its names, which come last.
            for (name, expected) in all.iter().zip(&expected_of) {
                let output = story.run(&format!("report --format json --store {store} --select run={name}"));
                assert!(matches!(output.status.code(), Some(0 | 2)), "{}", text(&output.stderr));
                if output.status.success() {
                    there += 1;
                    assert_eq!(calls(&text(&output.stdout)), calls(expected), "round {round}, turn {turn}: {name}");
                }
            }
        }
        for name in all {
            story.done(&format!("push --store {store} --label run={name} {name}"));
        }
        assert_eq!(story.told(&format!("report --format json --store {store}")), expected, "round {round}");
    }
    eprintln!("{there} of 135 times a recording was there");
    assert!((10..130).contains(&there), "{there} of 135 times a recording was there: kills come too early or too late");
}

/// The calls that a report tells.
fn calls(report: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(report).unwrap()["reports"][0]["calls"].as_u64().unwrap()
}

#[needs(clickhouse)]
#[test]
fn an_engine_that_is_killed_has_what_it_had() {
    let mut story = Story::<ClickHouse>::new();
    for (name, source) in [("one", "forks.c"), ("two", "names.cc")] {
        story.record(source, name);
    }
    story.done("push --store STORE one");
    let expected = story.told("report --format json --store STORE");
    story.engine.kill();
    let said = story.refused("report --format json --store STORE");
    assert!(said.contains("does not answer"), "{said}");
    assert!(story.refused("push --store STORE two").contains("does not answer"));
    story.engine.start_again();
    assert_eq!(story.told("report --format json --store STORE"), expected);
    story.done("push --store STORE one two");
    let expected = story.told("report --format json one two");
    assert_eq!(story.told("report --format json --store STORE"), expected);
    // In the middle of what others put in.
    let mut random = Random(7);
    for round in 0..6 {
        story.done("delete --store STORE --until now");
        let mut command = diytrace(story.path());
        let mut writer =
            command.args(["push", "--store", &story.store(), "one", "two"]).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_micros(random.next() % 150_000));
        story.engine.kill();
        writer.wait().unwrap();
        story.engine.start_again();
        story.done("push --store STORE one two");
        assert_eq!(story.told("report --format json --store STORE"), expected, "round {round}");
    }
}

#[needs(clickhouse)]
#[test]
fn agents_send_to_it_by_a_service() {
    let story = Story::<ClickHouse>::new();
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let mut service = Service::start(&folder, &["--store", &story.store()]);
    let agent = Agent::start(&folder, &service.url());
    wait_until("some slices are there", || {
        let series = service.get("/v1/series").json();
        series["series"][0]["calls"].as_u64().is_some_and(|calls| calls > 20_000)
    });
    program.stop();
    agent.end();
    let calls_of = |source: &[&str]| {
        calls(&text(&run_to_end(diytrace(&folder).args(["report", "--format", "json"]).args(source)).stdout))
    };
    assert_eq!(calls_of(&["--store", &story.store()]), calls_of(&["out"]));
    assert!(story.number("SELECT count() FROM slices") > 1);
    assert_eq!(service.get("/v1/report").json()["reports"][0]["calls"].as_u64(), Some(calls_of(&["out"])));
    let over = story.told("history main --over time --store STORE --format json");
    assert!(over.contains("diytrace-history/1"), "{over}");
    assert_eq!(service.end(), Some(0));
}

#[needs(clickhouse)]
#[test]
fn it_is_asked_in_sql_and_nothing_changes() {
    let story = Story::<ClickHouse>::new();
    story.record("forks.c", "one");
    story.done("push --store STORE one");
    let ask = |query: &str| run_to_end(diytrace(story.path()).args(["sql", "--store", &story.store(), query]));
    let documented = include_str!("../docs/store.md").lines().filter_map(|line| {
        let query = line.strip_prefix("diytrace sql --store clickhouse://127.0.0.1:8123/runs ")?;
        Some(query.trim_matches(|quote| quote == '\'' || quote == '"'))
    });
    let queries: Vec<&str> = documented.collect();
    assert!(queries.len() >= 10, "{queries:?}");
    for query in queries {
        let output = ask(query);
        assert!(output.status.success(), "{query}: {}", text(&output.stderr));
        assert!(text(&output.stdout).lines().count() >= 2, "{query}: {}", text(&output.stdout));
    }
    let calls = calls(&story.told("report --store STORE --format json"));
    assert_eq!(text(&ask("SELECT sum(calls) AS calls FROM slices").stdout), format!("calls\n{calls}\n"));
    for query in [
        "TRUNCATE TABLE frame",
        "ALTER TABLE frame DELETE WHERE 1 SETTINGS readonly = 0",
        "SELECT",
        "SELECT x FROM slices",
        "DROP TABLE frame",
        "SELECT 1 FORMAT TSV",
    ] {
        let output = ask(query);
        assert_eq!(output.status.code(), Some(2), "{query}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{query}: {}", text(&output.stderr));
    }
    assert_eq!(text(&ask("SELECT sum(calls) AS calls FROM slices").stdout), format!("calls\n{calls}\n"));
    assert!(story.refused("sql --store STORE").contains("clickhouse-client"));
}

#[needs(clickhouse)]
#[test]
fn bad_use_is_one_sentence_without_secrets() {
    let story = Story::<ClickHouse>::new();
    story.record("forks.c", "one");
    assert!(story.refused("report --store STORE").contains("diytrace push --store clickhouse://127.0.0.1"));
    let host = format!("127.0.0.1:{}", story.engine.port);
    story.done(&format!("push --store clickhouse://writer:s3cr%3At%40@{host}/runs one"));
    let expected = story.told("report --format json one");
    // Who may only read reads, and asks.
    let reader = format!("clickhouse://reader@{host}/runs");
    assert_eq!(story.told(&format!("report --format json --store {reader}")), expected);
    assert!(story.told(&format!("sql --store {reader} SHOW\u{a0}TABLES").replace('\u{a0}', "\t")).contains("path_sum"));
    assert!(story.refused(&format!("push --store clickhouse://reader@{host}/other one")).contains("readonly"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = silent.local_addr().unwrap();
    let mut others = Service::start(story.path(), &[]);
    drop(silent); // after the service has got a port, or it could be this one
    for (store, says) in [
        (format!("clickhouse://writer:wr0ng@{host}/runs"), "does not take the password of user writer"),
        (format!("clickhouse://nobody:wr0ng@{host}/runs"), "does not take the password of user nobody"),
        (format!("clickhouse://x:wr0ng@{nobody}/runs"), "does not answer"),
        (format!("clickhouse://x:wr0ng@{}/runs", others.address), "is no ClickHouse"),
        (format!("clickhouse://x:wr0ng@{host}"), "is no store"),
        (format!("clickhouse://{host}/runs?cluster=two"), "leave out ?cluster="),
        (format!("clickhouse://{host}/other?cluster=two"), "there is no store"),
        (format!("clickhouses://x:wr0ng@{host}/runs"), "does not answer"),
        (format!("clickhouses://x:wr0ng@{host}/runs?ca=away.pem"), "away.pem: No such file"),
        (format!("clickhouse://{host}/default_of_others"), "there is no store"),
        (format!("clickhouse://{host}/system"), "is no store of diytrace"),
    ] {
        for command in ["report --store", "series --store"] {
            let said = story.refused(&format!("{command} {store}"));
            assert!(said.contains(says) && !said.contains("wr0ng"), "{store}: {said}");
        }
    }
    others.end();
    // What is selected is said as it is of a file.
    story.done("push --store s.db one");
    for (line, says) in [
        ("report --select servic=forks", "no series has a label `servic`; there are build, host, service"),
        ("report --select service=fork", "nothing in the store has service=fork; service is forks"),
        ("report --since yesterday", "`yesterday` is no time"),
        ("report --until 2d", "nothing is selected"),
        ("report --by hots", "no series has a label `hots`"),
        ("diff service=a service=b", "service is forks"),
        ("history main --over buil", "no series has a label `buil`"),
    ] {
        let said = story.refused(&format!("{line} --store STORE"));
        assert!(said.contains(says), "{line}: {said}");
        assert_eq!(said, story.refused(&format!("{line} --store s.db")), "{line}");
    }
    // Another version.
    story.engine.run("runs", "INSERT INTO store VALUES (99)");
    for line in ["report --store STORE", "push --store STORE one"] {
        let said = story.refused(line);
        assert!(said.contains("version 99") && said.contains("version 4"), "{said}");
    }
}

#[needs(clickhouse)]
#[test]
fn sampled_profiles_of_others_are_what_they_are_in_a_file() {
    let story = Story::<ClickHouse>::new();
    story.record("forks.c", "forks-1");
    story.done("export pprof forks-1 -o one.pb.gz");
    story.record("recursion.c", "recursion-1");
    story.done("export pprof recursion-1 -o two.pb.gz");
    for store in ["STORE", "s.db"] {
        story.done(&format!("push --store {store} --label run=a one.pb.gz"));
        story.done(&format!("push --store {store} --label run=b one.pb.gz two.pb.gz"));
        let again = text(&story.done(&format!("push --store {store} --label run=b two.pb.gz")).stderr);
        assert!(again.contains("0 sampled profiles put in, 1 there already"), "{again}");
    }
    let alike = |line: &str| {
        let (of_store, of_file) =
            (story.run(&format!("{line} --store STORE")), story.run(&format!("{line} --store s.db")));
        let said = |output: &Output| text(&output.stderr).replace(&story.store(), "s.db");
        assert_eq!((of_store.status, said(&of_store)), (of_file.status, said(&of_file)), "{line}");
        assert!(of_store.stdout == of_file.stdout, "{line}: {}", text(&of_store.stdout));
        text(&of_store.stdout)
    };
    let listed = || {
        let list = alike("samples --list --format csv");
        list.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect::<BTreeSet<String>>()
    };
    let ids = listed();
    assert_eq!(ids.len(), 3, "{ids:?}");
    let id = ids.first().unwrap();
    for line in [
        "samples --format json",
        "samples --select run=b --type calls --format csv",
        "samples --as folded",
        "samples --since 1h --list",
        "samples --until 1000d",
        "samples --select run=c",
        &format!("samples --id {id} --format json"),
    ] {
        alike(line);
    }
    for store in ["STORE", "s.db"] {
        let deleted = text(&story.done(&format!("delete --sampled --select run=b --store {store}")).stderr);
        assert!(deleted.contains("2 sampled profiles deleted"), "{deleted}");
    }
    assert_eq!(listed().len(), 1);
    assert!(story.refused("report --store STORE").contains("is empty"));
    assert_eq!(story.number("SELECT toUInt64(count()) FROM sampled"), 1);
}
