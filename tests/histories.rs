//! Whatever ends, is cut off or forgets between programs and a store: nothing is lost, and nothing counts twice.
//!
//! `tests/histories.sh` runs thousands of random ones, and cuts a network for minutes.

mod common;

use std::env;
use std::fs::{self, File};
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::panic;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::hosts::{FIRST, Host, Running};
use common::service::{Agent, Between, Service, Way};
use common::story::Random;
use common::totals::assert_nothing_is_lost;
use common::{Endless, diytrace, profiles_in, run_to_end, wait_until};
use diytrace_format::Header;
use needs::needs;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

/// An agent that sends often, and remembers as much as chance will have it.
fn agent(random: &mut Random, program: &Endless, to: &str) -> Agent {
    let most = ["256M", "64K", "0"][random.below(3) as usize];
    Agent::start_with(&["--every", "50ms", "--spool-bytes", most], program.here.path(), to)
}

/// Makes the clock of the host that a program runs on one that is so many seconds off: what is recorded tells when it began.
fn set_clock(program: &Endless, seconds: i64) {
    let place = offset_of!(Header, started_unix_ns) as u64;
    for profile in profiles_in(&program.here.path().join("out")) {
        let file = File::options().read(true).write(true).open(profile).unwrap();
        let mut word = [0; 8];
        file.read_exact_at(&mut word, place).unwrap();
        let began = u64::from_le_bytes(word).saturating_add_signed(seconds * 1_000_000_000);
        file.write_all_at(&began.to_le_bytes(), place).unwrap();
    }
}

/// Ends all services, and some time later has them go on with the store that they had.
fn put_back(folder: &Path, services: &mut [Service], ms: u64) {
    let files = || ["s.db", "s.db-wal"].map(|name| (folder.join(name), folder.join(format!("{name}.then"))));
    services.iter_mut().for_each(Service::kill);
    files().iter().for_each(|(file, then)| drop(fs::copy(file, then)));
    services.iter_mut().for_each(Service::start_again);
    sleep(Duration::from_millis(ms));
    services.iter_mut().for_each(Service::kill);
    for (file, then) in files() {
        let _ = fs::remove_file(&file);
        let _ = fs::rename(then, file);
    }
    let _ = fs::remove_file(folder.join("s.db-shm"));
    services.iter_mut().for_each(Service::start_again);
}

fn history(seed: u64) {
    let mut random = Random(seed);
    let what = format!("DIYTRACE_SEED={seed}");
    eprintln!("── {what}"); // shown if the story ends badly, and to who counts them
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let hours = [-1, 0, 1][random.below(3) as usize];
    set_clock(&program, hours * 3600);
    // Some have two services, which share a store and an address.
    let mut services: Vec<Service> = (0..1 + random.below(2)).map(|_| Service::start(&folder, &[])).collect();
    let addresses: Vec<_> = services.iter().map(|service| service.address).collect();
    let between = Between::of(&addresses);
    let to = format!("http://{}", between.address);
    let mut sends = agent(&mut random, &program, &to);
    let mut story = vec![services.len() as u64, hours.unsigned_abs()];
    for _ in 0..6 {
        sleep(Duration::from_millis(20 + random.below(200)));
        let event = random.below(10);
        story.push(event);
        match event {
            0 => {
                sends.kill();
                sends = agent(&mut random, &program, &to);
            }
            1 => {
                let which = random.below(services.len() as u64) as usize;
                services[which].kill();
                sleep(Duration::from_millis(random.below(150)));
                services[which].start_again();
            }
            2 => between.set(Way::NoAnswer),
            3 => between.set(Way::Cut),
            4 => between.set(Way::Open),
            // The agent has forgotten all.
            5 => {
                sends.kill();
                let _ = fs::remove_dir_all(folder.join("spool"));
                sends = agent(&mut random, &program, &to);
            }
            // The machine of the store had a moment that is lost: it is what it was some time ago.
            8 => put_back(&folder, &mut services, random.below(300)),
            6 => services[random.below(services.len() as u64) as usize].set_room(false),
            7 => sends.set_room(false),
            // Somebody puts the whole recording in meanwhile.
            _ => drop(run_to_end(diytrace(&folder).args(["push", "--store", "s.db", "out"]))),
        }
    }
    between.set(Way::Open);
    services.iter().for_each(|service| service.set_room(true));
    match random.below(2) {
        0 => program.stop(),
        _ => program.kill(),
    }
    sends.kill();
    Agent::start(&folder, &to).end();
    assert_nothing_is_lost(&folder, &["--store", "s.db"], &["out"], &format!("{what} {story:?}"));
}

/// Several at a time: each waits most of its time.
#[test]
fn whatever_is_killed_or_cut_nothing_is_lost_and_nothing_counts_twice() {
    if let Some(seed) = number("DIYTRACE_SEED") {
        return history(seed);
    }
    let first = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let (most, begun) = (number("DIYTRACE_HISTORIES").unwrap_or(8), AtomicU64::new(0));
    let (at_once, failed) = (thread::available_parallelism().map_or(2, usize::from), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(round) = Some(begun.fetch_add(1, Ordering::Relaxed)).filter(|round| *round < most) {
                    let seed = first.wrapping_add(round.wrapping_mul(7919));
                    if let Err(panic) = panic::catch_unwind(|| history(seed)) {
                        let said = panic.downcast::<String>().map_or_else(|_| "see above".to_owned(), |said| *said);
                        failed.lock().unwrap().push(format!("DIYTRACE_SEED={seed}: {said}"));
                    }
                }
            });
        }
    });
    // All of them, and last: what others printed meanwhile may be more than anybody keeps.
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {most}:\n{}", failed.len(), failed.join("\n"));
}

/// Seconds that a network is cut for; `tests/histories.sh` makes it minutes.
const CUT: u64 = 2;

/// Three hosts with networks of their own: a service, and two with a program and an agent, the wire to one of which is cut.
#[needs(networks)]
#[test]
fn a_network_that_is_cut_loses_nothing_of_any_host() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("tokens"), "write 0123456789abcdef\n").unwrap();
    fs::set_permissions(here.join("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    let (first, others) = Host::wired(2);
    let _service = first.serve(here);
    let mut programs = [Endless::start(), Endless::start()];
    let names = ["host=one", "host=two"];
    let agents = [0, 1].map(|which| {
        let mut command = diytrace(programs[which].here.path());
        command.args(["agent", "--to", &format!("http://{FIRST}:7070"), "--every", "100ms", "--dir", "out"]);
        command.args(["--spool", "spool", "--label", names[which], "--token-file"]).arg(here.join("tokens"));
        Running(others[which].running(&command).spawn().unwrap())
    });
    let stored = |which: usize| {
        let select = ["report", "--format", "json", "--store", "s.db", "--select", names[which]];
        let output = run_to_end(diytrace(here).args(select));
        serde_json::from_slice::<serde_json::Value>(&output.stdout)
            .map_or(0, |report| report["reports"][0]["calls"].as_u64().unwrap_or(0))
    };
    wait_until("both hosts are heard of", || stored(0) > 0 && stored(1) > 0);
    first.cut(1);
    sleep(Duration::from_secs(number("DIYTRACE_CUT_S").unwrap_or(CUT)));
    // What had come before is in the store a moment later, however busy the machine is.
    wait_until("only the other host goes on", || {
        let before = [stored(0), stored(1)];
        wait_until("the other host goes on", || stored(1) > before[1] + 10_000);
        stored(0) == before[0]
    });
    let before = stored(0);
    first.mend(1);
    wait_until("what was counted meanwhile has come", || stored(0) > before);
    programs.iter_mut().for_each(Endless::stop);
    assert!(agents.into_iter().all(Running::end));
    for (program, name) in programs.iter().zip(names) {
        let recorded = program.here.path().join("out").display().to_string();
        assert_nothing_is_lost(here, &["--store", "s.db", "--select", name], &[&recorded], name);
    }
}
