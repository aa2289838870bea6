//! Programs in a PID namespace of their own, as containers are, looked at from outside and from a sibling.

mod common;

use std::fs;
use std::process::{Command, Output};

use common::hosts::Running;
use common::service::Service;
use common::{Program, Waiting, builds, diytrace, fixture, run_to_end, tool, wait_until};
use needs::needs;
use serde_json::Value;

/// A namespace in which the number of the program's process is another one than outside, and in which nothing of us is.
const CONTAINER: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// A container with the program, which runs below a shell.
fn contained(program: &Program) -> Waiting {
    let here = tempfile::tempdir().unwrap();
    let mut command = Command::new(CONTAINER[0]);
    command.args(&CONTAINER[1..]).args(["sh", "-c", "\"$0\"; exit $?"]).arg(&program.path);
    command.current_dir(&here).env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so"));
    Waiting::start(here, command)
}

/// The command in a container of its own.
fn from_a_sibling(waiting: &Waiting, arguments: &[&str]) -> Output {
    let plain = diytrace(waiting.here.path());
    let mut command = Command::new(CONTAINER[0]);
    command.args(&CONTAINER[1..]).arg(plain.get_program()).args(arguments).current_dir(waiting.here.path());
    for (name, value) in plain.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    run_to_end(&mut command)
}

/// States of the processes, as the report tells them from outside and from a sibling.
fn states(waiting: &Waiting) -> [Vec<String>; 2] {
    let arguments = ["report", "--format", "json", "--by", "process", "out"];
    [waiting.run(&arguments), from_a_sibling(waiting, &arguments)].map(|output| {
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let states = said["reports"].as_array().unwrap().iter().map(|report| report["process"]["state"].clone());
        states.map(|state| state.as_str().unwrap().to_owned()).collect()
    })
}

/// The number outside of the program's process.
fn outside_number(waiting: &Waiting, program: &Program) -> i32 {
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_ours = |pid: &i32| {
        let link = |what: &str| fs::read_link(format!("/proc/{pid}/{what}")).ok();
        link("exe").as_deref() == Some(&program.path) && link("cwd").as_deref() == Some(waiting.here.path())
    };
    processes.into_iter().find(is_ours).unwrap()
}

#[needs(containers)]
#[test]
fn what_runs_in_a_container_is_running_from_wherever_one_looks() {
    let program = fixture("waiting.c", builds()[0]);
    let mut waiting = contained(&program);
    waiting.tell("dw");
    assert_eq!(states(&waiting), [["running"], ["running"]]);
    let outside = waiting.run(&["top", "out", "--once", "--json"]);
    let frames = [outside, from_a_sibling(&waiting, &["top", "out", "--once", "--json"])];
    for frame in frames.map(|output| serde_json::from_slice::<Value>(&output.stdout).unwrap()) {
        assert_eq!(frame["running"], 1, "{frame}");
        assert!(frame["functions"].as_array().unwrap().iter().any(|row| row["name"] == "main"), "{frame}");
    }
    let status: Value = serde_json::from_str(&waiting.said(&["ctl", "status", "out", "--format", "json"])).unwrap();
    assert_eq!(
        (&status[0]["running"], &status[0]["processes"][0]["state"]),
        (&1.into(), &"running".into()),
        "{status}"
    );
    waiting.quit();
    assert_eq!(states(&waiting), [["exited"], ["exited"]]);
}

#[needs(containers)]
#[test]
fn what_was_killed_in_a_container_is_killed_from_wherever_one_looks() {
    let program = fixture("waiting.c", builds()[0]);
    let mut waiting = contained(&program);
    waiting.tell("dw");
    // SAFETY: the process descends from this test.
    assert_eq!(unsafe { libc::kill(outside_number(&waiting, &program), libc::SIGKILL) }, 0);
    assert_eq!(waiting.process.wait().unwrap().code(), Some(128 + 9));
    assert_eq!(states(&waiting), [["killed"], ["killed"]]);
}

#[needs(containers)]
#[test]
fn of_a_family_in_a_container_each_process_has_its_state() {
    let program = fixture("waiting.c", builds()[0]);
    let mut waiting = contained(&program);
    waiting.tell("dfw"); // a child goes on, and its parent waits for it
    let [outside, sibling] = states(&waiting);
    assert_eq!((outside, sibling), (vec!["running".to_owned(); 2], vec!["running".to_owned(); 2]));
    waiting.quit();
    assert_eq!(states(&waiting), [["exited", "exited"], ["exited", "exited"]]);
}

/// The child of a process that has number 1 in a namespace of its own took that for its grandparent's, which has number 1, too: its thread was
/// held for dead, and another counted in its place at the same time.
#[needs(containers)]
#[test]
fn of_two_namespaces_that_lie_in_each_other() {
    let program = fixture("nested-namespaces.c", builds()[0]);
    let recorded = program.record().set("DIYTRACE_KEEP", "0").with_output_of_its_own().run();
    let report = recorded.report();
    let calls: u64 = recorded.stdout.trim().parse().unwrap();
    assert_eq!((report.function("leaf").calls, report.lost_calls), (calls, 0));
}

/// All of its processes that are known have ended, and who has the next is not seen in `/proc`: the recording was taken for over, for good.
#[needs(containers)]
#[test]
fn what_an_agent_in_a_sibling_sends_is_not_over_between_two_workers() {
    let program = fixture("parent-without-hooks.c", builds()[0]);
    let mut waiting = contained(&program);
    let folder = waiting.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    waiting.tell("x");
    let plain = diytrace(&folder);
    let mut agent = Command::new(CONTAINER[0]);
    agent.args(&CONTAINER[1..]).arg(plain.get_program()).args(["agent", "--to", &service.url(), "--dir", "out"]);
    let mut agent = Running(agent.args(["--every", "50ms", "--spool", "spool"]).current_dir(&folder).spawn().unwrap());
    let stored = |calls: u64| {
        let output = run_to_end(diytrace(&folder).args(["report", "--store", "s.db", "--format", "json"]));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        report["reports"][0]["calls"] == calls
    };
    for worker in 1..=3 {
        wait_until("it has come", || stored(100 * worker));
        std::thread::sleep(std::time::Duration::from_millis(200)); // some rounds in which there is nothing
        waiting.tell("x");
    }
    wait_until("the last has come", || stored(400));
    waiting.quit();
    let _ = agent.0.kill();
}
