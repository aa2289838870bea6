//! What `diytrace top` shows of a program that runs, through a pipe and at a terminal.

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::ptr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Endless, builds, diytrace, fixture, profiles_in, wait_until};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn frames_are_what_was_counted_between_readings() {
    let endless = Endless::start();
    // A reader that is kept waiting counts more of what it reads then: some frames may be askew, but not all.
    wait_until("frames show what the program does", || are_even(&frames_of(&endless)));
}

/// Three frames, which are held against what they must show whenever they are read.
fn frames_of(endless: &Endless) -> Vec<Value> {
    let before = endless.calls();
    let output = endless.run(&["top", "out", "--json", "--frames", "3", "--interval", "100"]);
    let after = endless.calls();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let frames: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(frames.len(), 3);
    let mut counted = 0.0;
    for frame in &frames {
        let seconds = frame["interval_ns"].as_f64().unwrap() / 1e9;
        assert!(seconds >= 0.1 && frame["running"].as_u64() >= Some(1), "{frame}");
        let functions = frame["functions"].as_array().unwrap();
        let all: f64 = functions.iter().map(|row| row["calls"].as_f64().unwrap()).sum();
        assert!((all / seconds - frame["calls_per_s"].as_f64().unwrap()).abs() < 1.0, "{frame}");
        counted += all;
        let main = functions.iter().find(|row| row["name"] == "main").expect("it is open all the time");
        assert_eq!((main["calls"].as_u64(), main["open"].as_u64()), (Some(0), Some(1)));
        assert!(main.get("timeline").is_none(), "too much for a stream");
    }
    assert!(counted <= (after - before) as f64, "{counted} of {}", after - before);
    frames
}

fn are_even(frames: &[Value]) -> bool {
    frames.iter().all(|frame| {
        let functions = frame["functions"].as_array().unwrap();
        let row = |name: &str| functions.iter().find(|row| row["name"] == name);
        let calls = |name: &str| row(name).map_or(0, |row| row["calls"].as_u64().unwrap());
        // A leaf is called by each branch; calls may lie between the readings of the two.
        let (leaf, branch) = (calls("leaf"), calls("branch"));
        // About a thread's time: its own, and that of the child which is in it, too.
        let share = row("main").unwrap()["total_ns_per_s"].as_f64().unwrap() / 1e9;
        leaf > 0 && leaf.abs_diff(branch) <= leaf / 10 && (0.5..=3.0).contains(&share)
    })
}

#[test]
fn functions_that_were_not_asked_for_are_summed_up() {
    let mut endless = Endless::start();
    let line = ["top", "out", "--once", "--function", "leaf", "--run", "latest"];
    wait_until("the leaf is called", || {
        let frame = endless.run(&[&line[..], &["--json"]].concat()).stdout;
        let frame: Value = serde_json::from_slice(&frame).unwrap();
        let functions = frame["functions"].as_array().unwrap();
        let calls = |number: &Value| number["calls_per_s"].as_f64().unwrap();
        assert!(functions.iter().all(|row| row["name"] == "leaf"), "{frame}");
        let sum = functions.iter().map(calls).sum::<f64>() + calls(&frame["unlisted"]);
        assert!((sum - calls(&frame)).abs() < 1.0, "{frame}");
        !functions.is_empty() && frame["unlisted"]["functions"].as_u64() >= Some(2)
    });
    let frame = text(&endless.run(&line).stdout);
    assert!(frame.contains("functions are left out: ") && frame.contains(" calls/s, self "), "{frame}");
    let frame = text(&endless.run(&["top", "out", "--once", "--min-percent", "100"]).stdout);
    assert!(frame.contains(" left out: ") && !frame.contains("  leaf"), "{frame}");
    endless.stop();
}

#[test]
fn a_root_is_shown_with_what_it_calls() {
    let mut endless = Endless::start();
    let line = ["top", "out", "--once", "--root", "branch"];
    wait_until("the branch is called", || {
        let frame = endless.run(&[&line[..], &["--json"]].concat()).stdout;
        let frame: Value = serde_json::from_slice(&frame).unwrap();
        let functions = frame["functions"].as_array().unwrap();
        assert!(functions.iter().all(|row| row["name"] == "branch"), "{frame}");
        let callees = functions.first().map(|branch| branch["callees"].as_array().unwrap());
        // It calls itself, too.
        callees.is_some_and(|callees| callees.iter().any(|row| row["name"] == "leaf") && callees.len() == 2)
    });
    wait_until("it is there as text", || {
        let frame = text(&endless.run(&line).stdout);
        assert!(!frame.contains("main") && !frame.contains("left out"), "{frame}");
        frame.contains("  branch\n") && frame.contains("├ ") && frame.contains("└ ") && frame.contains(" leaf\n")
    });
    endless.stop();
}

#[test]
fn of_two_hundred_processes_each_is_there_with_its_calls() {
    let mut crowd = Endless::of(&fixture("crowd.c", builds()[0]));
    wait_until("they run", || {
        crowd.ctl(&["status", "out"]).status.code() == Some(0) && crowd.status()[0]["running"].as_u64() >= Some(201)
    });
    let callers = RefCell::new(BTreeSet::new());
    wait_until("each has called", || {
        callers.borrow_mut().append(&mut callers_among(&crowd));
        callers.borrow().len() == 200
    });
    crowd.stop();
}

/// The processes that called `request` in a second.
fn callers_among(crowd: &Endless) -> BTreeSet<String> {
    let before = crowd.calls();
    let output = crowd.run(&["top", "out", "--json", "--frames", "4", "--by", "process"]);
    let after = crowd.calls();
    let frames: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(frames.len(), 4, "{}", text(&output.stderr));
    let mut callers = BTreeSet::new();
    let mut counted = 0;
    for frame in &frames {
        assert_eq!(frame["running"], 201);
        let calls = |name: &str| -> u64 {
            let rows = frame["functions"].as_array().unwrap().iter().filter(|row| row["name"] == name);
            rows.map(|row| row["calls"].as_u64().unwrap()).sum()
        };
        let (requests, look_ups) = (calls("request"), calls("look_up"));
        assert!(look_ups.abs_diff(3 * requests) <= 3 * 200, "{requests} and {look_ups}"); // one of each may be under way
        counted += requests + look_ups;
        let rows = frame["functions"].as_array().unwrap().iter();
        callers
            .extend(rows.filter(|row| row["name"] == "request" && row["calls"] != 0).map(|row| row["pid"].to_string()));
    }
    assert!(counted <= after - before, "{counted} of {}", after - before);
    callers
}

#[test]
fn one_frame_as_text_and_by_process() {
    let endless = Endless::start();
    let profile = profiles_in(&endless.here.path().join("out")).remove(0);
    let bytes_before = fs::metadata(&profile).unwrap().len();
    for options in [&["--once"][..], &["--once", "--by", "process", "--sort", "calls"]] {
        let output = endless.run(&[&["top", "out"], options].concat());
        let text = text(&output.stdout);
        assert!(output.status.success() && text.contains("running · ") && text.contains("leaf"), "{text}");
        assert_eq!(text.contains("pid"), options.len() > 1, "{text}");
    }
    let frame: Value = serde_json::from_str(&text(&endless.run(&["top", "out", "--once", "--json"]).stdout)).unwrap();
    let main = frame["functions"].as_array().unwrap().iter().find(|row| row["name"] == "main").unwrap();
    assert!(!main["timeline"]["slices"].as_array().unwrap().is_empty(), "when it ran, in a single frame");
    assert!(fs::metadata(&profile).unwrap().len() >= bytes_before);
}

#[test]
fn it_ends_with_its_program_or_its_reader() {
    let endless = Endless::start();
    let top = |endless: &Endless| {
        let mut command = diytrace(endless.here.path());
        command.args(["top", "out", "--json", "--interval", "20"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut unread = top(&endless);
    let mut line = String::new();
    BufReader::new(unread.stdout.take().unwrap()).read_line(&mut line).unwrap(); // and closes the pipe
    let output = unread.wait_with_output().unwrap();
    assert!(line.ends_with("}\n") && output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));

    let mut watching = top(&endless);
    let mut lines = BufReader::new(watching.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap(); // it is there: now the program may end
    fs::write(endless.here.path().join("stop"), "").unwrap();
    std::io::copy(&mut lines, &mut std::io::sink()).unwrap();
    let output = watching.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let late = endless.run(&["top", "out", "--once"]);
    assert_eq!(late.status.code(), Some(2));
    assert!(text(&late.stderr).contains("nothing of out"), "{}", text(&late.stderr));
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    let mut endless = Endless::start();
    // SAFETY: a new pair of descriptors, which are owned from here on.
    let (ours, theirs) = unsafe {
        let (mut ours, mut theirs) = (0, 0);
        let made = libc::openpty(&raw mut ours, &raw mut theirs, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        assert_eq!(made, 0);
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    };
    // SAFETY: as above. Ours must not live on in the command.
    unsafe { libc::fcntl(ours.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    let mut top = diytrace(endless.here.path());
    top.args(["top", "out"]).env("TERM", "xterm");
    let end = || Stdio::from(theirs.try_clone().unwrap());
    // In a session of its own, that is no signal's: nobody tells it.
    let mut top = top.stdin(end()).stdout(end()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    drop(theirs);
    let mut terminal = File::from(ours);
    let mut first = [0; 100];
    assert!(terminal.read(&mut first).unwrap() > 0, "it shows frames");
    drop(terminal);
    let start = Instant::now();
    while top.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            top.kill().unwrap();
            panic!("it goes on without a terminal");
        }
        sleep(Duration::from_millis(20));
    }
    endless.stop();
}

#[test]
fn formats() {
    let mut endless = Endless::start();
    let said =
        |format: &str| text(&endless.run(&["top", "out", "--frames", "2", "--format", format, "-n", "1"]).stdout);
    let csv = said("csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("at_unix_ns,pid,name,module,calls,calls_per_s,self_ns_per_s"), "{csv}");
    assert_eq!((lines.len(), lines[1].split(',').count()), (3, lines[0].split(',').count()), "{csv}");
    let json: Vec<Value> = said("json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((json.len(), json[0]["functions"].as_array().unwrap().len()), (2, 1));
    assert!(said("table").contains("calls/s"));
    endless.stop();
}
