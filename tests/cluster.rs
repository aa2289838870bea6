//! The profile store over the shards of a ClickHouse cluster: it tells what a file tells, at whichever shard it is asked for, and
//! nothing of it is lost, or there twice, when one of them dies.

mod common;

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use common::clickhouse::Cluster;
use common::diytrace;
use common::story::{Random, Story};
use needs::needs;

/// Recordings of several series, which lie on both shards.
const SOURCES: [(&str, &str); 4] =
    [("of-forks", "forks.c"), ("of-names", "names.cc"), ("of-recursion", "recursion.c"), ("of-paths", "paths.c")];

fn with_recordings() -> Story<Cluster> {
    let story = Story::<Cluster>::new();
    for (name, source) in SOURCES {
        story.record(source, name);
    }
    story
}

fn push_all(story: &Story<Cluster>, store: &str) {
    for (name, _) in SOURCES {
        story.done(&format!("push --store {store} {name}"));
    }
}

/// Which shard a series lies on is a hash of its labels: puts in more recordings, here and into `s.db`, until none is empty.
fn push_until_both_have_a_part(story: &Story<Cluster>) {
    let stores = [story.store(), format!("{}?cluster=two", story.engine.shards[1].store("runs"))];
    let is_there = |store: &String| story.number_of(store, "SELECT count() FROM path_sum_shard") > 0;
    for nth in 0..64 {
        if stores.iter().all(is_there) {
            return;
        }
        let name = format!("more-{nth}");
        story.record("recursion.c", &name);
        for store in ["STORE", "s.db"] {
            story.done(&format!("push --store {store} --label nth={nth} {name}"));
        }
    }
    panic!("all series lie on one shard");
}

#[needs(clickhouse)]
#[test]
fn it_tells_what_a_file_tells_at_either_shard() {
    let story = with_recordings();
    push_all(&story, "STORE");
    push_all(&story, "s.db");
    push_until_both_have_a_part(&story);
    let other = format!("{}?cluster=two", story.engine.shards[1].store("runs"));
    for view in ["report --by service --format json", "tree --format json --select service=names", "export folded"] {
        let of_file = story.told(&format!("{view} --store s.db"));
        assert_eq!(story.told(&format!("{view} --store STORE")), of_file, "{view}");
        assert_eq!(story.told(&format!("{view} --store {other}")), of_file, "{view}, at the other shard");
    }
    // What is deleted is deleted at both.
    for service in ["forks", "names"] {
        story.done(&format!("delete --store STORE --select service={service}"));
    }
    assert!(story.refused("report --store STORE --select service=forks").contains("service is "));
    story.done(&format!("push --store {other} of-forks"));
    story.done(&format!("push --store {other} of-names"));
    let report = "report --by service --format json --store";
    assert_eq!(story.told(&format!("{report} STORE")), story.told(&format!("{report} s.db")));
    story.done("delete --store STORE --until now --down-to 1k");
    assert_eq!(story.number("SELECT count() FROM path_sum") + story.number("SELECT count() FROM frame"), 0);
}

/// What is put in again under other labels is of another series, which may lie on another shard: it counts once all the same, and goes as a whole.
#[needs(clickhouse)]
#[test]
fn what_is_put_in_again_under_other_labels_counts_once() {
    let story = with_recordings();
    for nth in 0..4 {
        for store in ["STORE", "s.db"] {
            story.done(&format!("push --store {store} --label nth={nth} of-forks"));
        }
        let report = "report --by service --format json --store";
        assert_eq!(story.told(&format!("{report} STORE")), story.told(&format!("{report} s.db")), "{nth}");
        // Rows of frames that others have replaced go when parts are merged, which ClickHouse does sooner or later.
        story.engine.shards.iter().for_each(|shard| shard.run("runs", "OPTIMIZE TABLE frame_shard FINAL"));
    }
    story.done("delete --store STORE --until now --down-to 1k");
    for table in ["frame", "frame_data", "path_sum", "replaced"] {
        assert_eq!(story.number(&format!("SELECT count() FROM {table}")), 0, "{table}");
    }
}

#[needs(clickhouse)]
#[test]
fn a_shard_that_dies_is_said_and_nothing_is_lost_or_there_twice() {
    let mut story = with_recordings();
    push_all(&story, "STORE");
    let report = "report --by service --format json --store STORE";
    let expected = story.told(report);
    story.engine.shards[1].kill();
    for line in [report, "push --store STORE of-forks", "delete --store STORE --until now"] {
        let said = story.refused(line);
        assert!(said.contains("a shard of the cluster does not answer"), "{line}: {said}");
    }
    story.engine.shards[1].start_again();
    assert_eq!(story.told(report), expected);
    // In the middle of what is put in: at either shard, whoever is asked.
    let mut random = Random(11);
    // When: later after it was too early, and earlier after it was too late, however fast the machine is now.
    let mut wait = 1_000_000;
    for round in 0..6 {
        story.done("delete --store STORE --until now");
        let writers = SOURCES.map(|(name, _)| {
            let mut command = diytrace(story.path());
            command.args(["push", "--store", &story.store(), name]).stderr(Stdio::null()).spawn().unwrap()
        });
        sleep(Duration::from_micros(random.next() % wait));
        let shard = round % 2;
        story.engine.shards[shard].kill();
        let done =
            writers.map(|mut writer| writer.wait().unwrap().success()).iter().filter(|is_done| **is_done).count();
        eprintln!("{done} of 4 had put theirs in");
        wait = [wait * 2, wait, wait, wait, wait / 2][done];
        story.engine.shards[shard].start_again();
        push_all(&story, "STORE");
        assert_eq!(story.told(report), expected, "round {round}");
    }
}

#[needs(clickhouse)]
#[test]
fn a_store_over_a_cluster_is_asked_for_as_such() {
    let story = Story::<Cluster>::new();
    story.record("forks.c", "of-forks");
    let of_one = story.engine.shards[0].store("runs");
    assert!(story.refused(&format!("push --store {of_one}?cluster=three of-forks")).contains("knows no such cluster"));
    assert!(story.refused("report --store STORE").contains("there is no store"));
    story.done("push --store STORE of-forks");
    for line in ["report --store", "push of-forks --store"] {
        let said = story.refused(&format!("{line} {of_one}"));
        assert!(said.contains("is over the cluster two; write ?cluster=two"), "{said}");
    }
    story.done(&format!("push --store {} of-forks", story.engine.shards[0].store("own")));
    let said = story.refused(&format!("report --store {}?cluster=two", story.engine.shards[0].store("own")));
    assert!(said.contains("is of one ClickHouse; leave out ?cluster="), "{said}");
}
