//! Agents and a service: what is sent counts as the recordings do, views answer as commands do, and nobody comes in who does not belong.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::hosts::Running;
use common::pprof::cpu;
use common::service::{Agent, Service, ask};
use common::story::Random;
use common::{
    Endless, builds, copy_program, diytrace, fixture, is_root, profiles_in, run_to_end, tool, totals, wait_until,
};
use serde_json::Value;

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the store has is what the recordings in `out` have.
#[track_caller]
fn assert_nothing_is_lost(folder: &Path, what: &str) {
    totals::assert_nothing_is_lost(folder, &["--store", "s.db"], &["out"], what);
}

#[test]
fn what_agents_send_counts_as_the_recordings_do() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let mut service = Service::start(&folder, &[]);
    let agent = Agent::start(&folder, &service.url());
    wait_until("some slices are there", || {
        let series = service.get("/v1/series").json();
        series["series"][0]["calls"].as_u64().is_some_and(|calls| calls > 20_000)
    });
    program.stop();
    agent.end();
    assert_nothing_is_lost(&folder, "two programs");
    // Names are there without the program; a file of it put in beside counts once.
    let push = run_to_end(diytrace(&folder).args(["push", "--to", &service.url(), "out"]));
    assert!(said(&push.stderr).contains("1 there already"), "{}", said(&push.stderr));
    assert_nothing_is_lost(&folder, "and pushed");
    assert_eq!(service.end(), Some(0));
}

#[test]
fn an_agent_that_cannot_remember_sends_slices_all_the_same() {
    let (here, mut program) = (tempfile::tempdir().unwrap(), Endless::start());
    let folder = here.path();
    let service = Service::start(folder, &[]);
    let agent = Agent::start(folder, &service.url());
    // What it would remember in is no folder any more when the first recording comes.
    fs::remove_dir(folder.join("spool")).unwrap();
    fs::write(folder.join("spool"), "").unwrap();
    std::os::unix::fs::symlink(program.here.path().join("out"), folder.join("out")).unwrap();
    let slices = || {
        let query = ["sql", "--store", "s.db", "SELECT count(*) FROM slices"];
        let answer = said(&run_to_end(diytrace(folder).args(query)).stdout);
        answer.lines().nth(1).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0)
    };
    wait_until("there are several slices", || slices() > 3);
    program.stop();
    agent.end();
    assert_nothing_is_lost(folder, "without a spool");
}

/// Copies of a recording that goes on elsewhere were sent once, and what lay in their place later was not.
#[test]
fn what_is_put_in_a_recordings_place_is_sent_too() {
    let (here, mut program) = (tempfile::tempdir().unwrap(), Endless::start());
    let folder = here.path();
    let service = Service::start(folder, &[]);
    let agent = Agent::start(folder, &service.url());
    fs::create_dir(folder.join("out")).unwrap();
    let place = folder.join("out/copy.diyt");
    let put = |out: &Path| {
        let profile = profiles_in(out).pop().unwrap();
        fs::copy(profile, folder.join("new")).unwrap();
        fs::rename(folder.join("new"), &place).unwrap();
    };
    let calls = || totals::report(folder, &["out"]).reports[0].calls;
    let stored = |which: &str| -> Option<u64> {
        let series = service.get("/v1/series").json();
        let mut series = series["series"].as_array()?.iter();
        series.find(|one| one["labels"]["service"] == which)?["calls"].as_u64()
    };
    put(&program.here.path().join("out"));
    let first = calls();
    wait_until("the copy is sent", || stored("endless") == Some(first));
    wait_until("the program has called more", || program.calls() > first + 1000);
    program.stop();
    put(&program.here.path().join("out"));
    let second = calls();
    assert!(second > first);
    wait_until("all of it is", || stored("endless") == Some(second));
    assert_nothing_is_lost(folder, "a later copy");
    let other = fixture("plain.c", builds()[0]).record().run();
    put(&other.out());
    let third = calls();
    wait_until("another recording in its place is", || stored("plain") == Some(third));
    assert_eq!(stored("endless"), Some(second));
    agent.end();
}

#[test]
fn a_recording_that_is_deleted_while_it_is_followed_is_told() {
    let program = Endless::start();
    let folder = program.here.path();
    let service = Service::start(folder, &[]);
    let mut agent = diytrace(folder);
    agent.args(["agent", "--to", &service.url(), "--dir", "out", "--spool", "spool", "--every", "50ms"]);
    let mut agent = Running(agent.stderr(Stdio::piped()).spawn().unwrap());
    wait_until("some of it is sent", || service.get("/v1/series").json()["series"][0]["calls"].as_u64() > Some(0));
    let profile = profiles_in(&folder.join("out")).pop().unwrap();
    fs::remove_file(&profile).unwrap();
    let name = profile.file_name().unwrap().to_str().unwrap();
    let mut lines = BufReader::new(agent.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.contains("WARN")).unwrap();
    assert!(line.contains(&format!("{name} was deleted while it was followed")), "{line}");
}

/// It had counted last before it was read last, so its last frame ended before it began, and the agent ended with it, and would again.
#[test]
fn an_agent_outlives_programs_that_are_killed_while_they_wait() {
    let mut other = Endless::start();
    let folder = other.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    let agent = Agent::start(&folder, &service.url());
    let calls = |service: &Service| -> Vec<u64> {
        let series = service.get("/v1/series").json();
        series["series"].as_array().unwrap().iter().map(|one| one["calls"].as_u64().unwrap()).collect()
    };
    let mut waiting = Command::new(&fixture("waiting.c", builds()[0]).path);
    waiting.current_dir(&folder).env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so"));
    let mut waiting = Running(waiting.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
    waiting.0.stdin.as_mut().unwrap().write_all(b"d").unwrap();
    wait_until("both are followed", || calls(&service).len() == 2);
    waiting.0.kill().unwrap();
    waiting.0.wait().unwrap();
    // A round may have begun before that; not two.
    for _ in 0..2 {
        let before: u64 = calls(&service).iter().sum();
        wait_until("the other's calls come", || calls(&service).iter().sum::<u64>() > before);
    }
    other.stop();
    agent.end();
    let counts = |source: &[&str]| totals::counts(&totals::report(&folder, source));
    assert_eq!(counts(&["--store", "s.db"]), counts(&["out"]));
    let open = |source: &[&str]| -> Vec<(String, u64)> {
        let functions = totals::report(&folder, source).reports.into_iter().flat_map(|report| report.functions);
        let mut all: Vec<_> = functions.map(|function| (function.name, function.open)).collect();
        all.sort();
        all
    };
    assert_eq!(open(&["--store", "s.db"]), open(&["out"]));
}

/// It was said to be well, while nothing that came was kept.
#[test]
fn a_service_whose_disk_is_full_is_not_well() {
    let mut program = Endless::start();
    let service = Service::start(program.here.path(), &[]);
    let health = || service.get("/healthz");
    let agent = Agent::start(program.here.path(), &service.url());
    wait_until("frames have come", || !service.get("/v1/series").json()["series"].as_array().unwrap().is_empty());
    assert_eq!(health().status, 200);
    service.set_room(false);
    wait_until("frames are refused", || health().status == 503);
    assert!(health().error().starts_with("frames cannot be put into the store: "), "{}", health().error());
    service.set_room(true);
    wait_until("frames are put in again", || health().status == 200);
    program.stop();
    agent.end();
}

/// Frames were taken into a file that nobody could open any more, and agents told that they were in.
#[test]
fn a_service_whose_store_has_gone_takes_nothing_until_it_is_back() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    let agent = Agent::start(&folder, &service.url());
    wait_until("frames have come", || !service.get("/v1/series").json()["series"].as_array().unwrap().is_empty());
    let (store, away) = (folder.join("s.db"), folder.join("away.db"));
    fs::rename(&store, &away).unwrap();
    wait_until("frames are refused", || service.get("/healthz").status == 503);
    assert!(service.get("/healthz").error().contains("s.db: the store was removed, or replaced by another"));
    let sampled = ask(service.address, "POST", "/v1/profiles", &[], &cpu(0, 10, [200, 300, 400]));
    assert_eq!(sampled.status, 503, "{}", said(&sampled.body));
    program.stop();
    fs::rename(&away, &store).unwrap();
    wait_until("frames are put in again", || service.get("/healthz").status == 200);
    agent.end();
    let counts = |source: &[&str]| totals::counts(&totals::report(&folder, source));
    assert_eq!(counts(&["--store", "s.db"]), counts(&["out"]));
}

/// It ended, and what was counted since was lost to the service for good.
#[test]
fn an_agent_goes_on_when_it_is_let_in_again() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let tokens = |name: &str, token: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("read rrrrrrrrrrrrrrrrrrrr\nwrite {token}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    let all = |token: &str| ["tokens", "ours"].iter().for_each(|name| tokens(name, token));
    all("aaaaaaaaaaaaaaaaaaaa");
    let mut service = Service::start(&folder, &["--token-file", "tokens"]);
    let agent = Agent::start_with(&["--every", "50ms", "--token-file", "ours"], &folder, &service.url());
    let calls = |service: &Service| -> u64 {
        let read = [("authorization", "Bearer rrrrrrrrrrrrrrrrrrrr")];
        let series = ask(service.address, "GET", "/v1/series", &read, &[]).json();
        series["series"].as_array().unwrap().iter().map(|one| one["calls"].as_u64().unwrap()).sum()
    };
    wait_until("frames have come", || calls(&service) > 0);
    let before = calls(&service);
    wait_until("the agent knows of the first, and goes on", || calls(&service) > before);
    service.kill();
    {
        let other = TcpListener::bind(service.address).unwrap();
        for status in ["404 Not Found", "403 Forbidden", "401 Unauthorized"] {
            let (mut stream, _) = other.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let said = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(said.as_bytes()).unwrap();
        }
    }
    all("bbbbbbbbbbbbbbbbbbbb");
    service.start_again();
    let before = calls(&service);
    wait_until("more have come", || calls(&service) > before);
    program.stop();
    agent.end();
    let counts = |source: &[&str]| totals::counts(&totals::report(&folder, source));
    assert_eq!(counts(&["--store", "s.db"]), counts(&["out"]));
}

/// The latest was in a file beside it, which a copy of the store's own file did not have.
#[test]
fn a_service_that_has_ended_leaves_all_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = Service::start(folder.path(), &[]);
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let push = ["push".to_owned(), "--to".to_owned(), service.url()];
    assert!(run_to_end(diytrace(folder.path()).args(push).arg(recorded.out())).status.success());
    assert_eq!(service.get("/v1/report").status, 200);
    assert_eq!(service.end(), Some(0));
    fs::copy(folder.path().join("s.db"), folder.path().join("copy.db")).unwrap();
    let counts = |source: &[&str]| totals::counts(&totals::report(folder.path(), source));
    assert_eq!(counts(&["--store", "copy.db"]), counts(&[recorded.out().to_str().unwrap()]));
}

/// As a proxy does that has a smaller limit.
#[test]
fn an_agent_whose_frames_are_too_large_goes_on() {
    let mut program = Endless::start();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let agent = Agent::start(program.here.path(), &format!("http://{}", proxy.local_addr().unwrap()));
    for stream in proxy.incoming().take(3) {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        // What it would send yet is not waited for.
        stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    }
    drop(proxy);
    program.stop();
    agent.end();
}

/// It waited in silence.
#[test]
fn an_agent_that_may_not_read_a_recording_says_so() {
    let recorded = fixture("plain.c", builds()[0]).record().run();
    let (folder, profile) = (recorded.folder(), &recorded.profiles()[0]);
    let program = folder.join("diytrace");
    copy_program(tool("diytrace"), &program);
    fs::create_dir(folder.join("spool")).unwrap();
    for (path, mode) in [(folder, 0o755), (&recorded.out(), 0o755), (&folder.join("spool"), 0o777), (profile, 0o000)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    // Root may read all.
    let before: &[&str] = match is_root() {
        true => &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"],
        false => &["env"],
    };
    let mut agent = Command::new(before[0]);
    agent.args(&before[1..]).arg(&program).args([
        "agent",
        "--to",
        "http://127.0.0.1:1",
        "--dir",
        "out",
        "--every",
        "50ms",
    ]);
    let mut agent =
        Running(agent.args(["--spool", "spool"]).current_dir(folder).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(agent.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.contains("WARN")).unwrap();
    let name = profile.file_name().unwrap().to_str().unwrap();
    assert!(line.contains(&format!("/out/{name}: Permission denied")) && line.contains("as root"), "{line}");
}

#[test]
fn views_answer_as_commands_do() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let push = |store: &str| run_to_end(diytrace(folder.path()).args(["push", "--store", store]).arg(recorded.out()));
    assert!(push("s.db").status.success());
    let compare = ["similar", "--store", "s.db", "service=forks", "host=*", "--save"];
    let saved = run_to_end(diytrace(folder.path()).args(compare));
    assert!(saved.status.success(), "{}", said(&saved.stderr));
    let service = Service::start(folder.path(), &[]);
    let verdict = service.get("/v1/verdicts").json()["verdicts"][0]["id"].as_str().unwrap().to_owned();
    for (path, command) in [
        (&*format!("verdict?id={verdict}"), &*format!("verdicts {verdict} --format json")),
        ("similar?left=service=forks&right=host=*", "similar service=forks host=* --format json"),
        ("report", "report --format json"),
        ("report?root=main&limit=2", "report --format json --root main --limit 2"),
        ("report?select=service=for*&raw=1&by=host", "report --format json --select service=for* --raw --by host"),
        ("timeline?function=main", "report --format json --timeline --function main"),
        ("tree?min_percent=1", "tree --format json --min-percent 1"),
        ("tree?callers=1", "tree --format json --callers"),
        ("callers?function=leaf", "callers leaf --format json"),
        ("annotate?function=main", "annotate main --assembly --format json"),
        ("series", "series --format json"),
        ("history?function=leaf&over=host", "history leaf --over host --format json"),
        ("heatmap?function=leaf", "history leaf --over time --histogram --format json"),
        ("verdicts", "verdicts --format json"),
        ("verdicts?kind=similar&since=1h", "verdicts --kind similar --since 1h --format json"),
        ("export/folded", "export folded"),
        ("export/html", "export html"),
        ("export/pprof", "export pprof"),
    ] {
        let mut words: Vec<&str> = command.split(' ').collect();
        words.extend(["--store", "s.db"]);
        let output = run_to_end(diytrace(folder.path()).args(words));
        let answer = service.get(&format!("/v1/{path}"));
        assert_eq!((answer.status, output.status.code()), (200, Some(0)), "{path}: {}", said(&answer.body));
        assert!(answer.body == output.stdout, "{path}: {}", said(&answer.body));
    }
}

#[test]
fn what_cannot_be_answered_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    assert!(service.get("/v1/report").error().contains("is empty"));
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let push = ["push".to_owned(), "--to".to_owned(), service.url()];
    assert!(run_to_end(diytrace(folder.path()).args(push).arg(recorded.out())).status.success());
    for (path, status, part) in [
        ("/v1/report?select=service=nope", 404, "service is forks"),
        ("/v1/report?select=srvice=forks", 404, "no series has a label `srvice`"),
        ("/v1/report?root=mian", 404, "nothing in the profile is called `mian`; did you mean `main`?"),
        ("/v1/report?limit=few", 400, "invalid value 'few'"),
        ("/v1/report?sort=size", 400, "invalid value 'size' for '--sort <COLUMN>': it can be calls, total, self, "),
        ("/v1/report?output=/etc/passwd", 400, "no parameter `output`"),
        ("/v1/report?store=/etc/passwd", 400, "no parameter `store`"),
        ("/v1/annotate?function=main&source=/etc", 400, "no parameter `source`"),
        ("/v1/report?since=tomorrow", 400, "`tomorrow` is no time"),
        ("/v1/report?since=1h&until=2h", 400, "--since is not before --until"),
        ("/v1/callers", 400, "callers wants a function: /v1/callers?function=NAME"),
        ("/v1/heatmap", 400, "heatmap wants a function: /v1/heatmap?function=NAME"),
        ("/v1/similar?left=service=forks", 400, "two sides: /v1/similar?left=SELECTOR&right=SELECTOR"),
        ("/v1/compare/folded?right=service=forks", 400, "two sides: /v1/compare/folded?left=SELECTOR"),
        ("/v1/history?regressions=1&over=nope", 404, "nope"),
        ("/v1/history?function=laef", 404, "did you mean `leaf`?"),
        ("/v1/heatmap?function=leaf&over=host", 400, "no parameter `over`"),
        ("/v1/verdict", 400, "verdict wants its number: /v1/verdict?id=ID"),
        ("/v1/verdict?id=12", 404, "has no verdict 12"),
        ("/v1/verdicts?kind=report", 400, "invalid value 'report'"),
        ("/v1/verdicts?id=12", 400, "verdicts has no parameter `id`"),
        ("/v1/similar?left=service=forks&right=service=nope", 404, "service is forks"),
        ("/v1/similar?left=service=forks&right=service=forks&run=latest", 400, "similar has no parameter `run`"),
        ("/v1/record", 404, "no view `record`"),
        ("/v1/export/exe", 400, "invalid value"),
        ("/debug/pprof/diytrace?seconds=0", 400, "from 1 to 600"),
        ("/page/../Cargo.toml", 404, "nothing of this name"),
        ("/none", 404, "nothing of this name"),
    ] {
        let answer = service.get(path);
        assert_eq!(answer.status, status, "{path}: {}", said(&answer.body));
        assert!(answer.error().contains(part), "{path}: {}", answer.error());
        assert_eq!(answer.error().lines().count(), 1, "{path}");
    }
    // What is no frame is refused, and does no harm.
    let mut bytes = vec![0u8; 5000];
    let mut random = Random(7);
    for _ in 0..200 {
        bytes.iter_mut().for_each(|byte| *byte = random.below(256) as u8);
        for start in [&b""[..], b"diytfrm1", b"diytfrm9", b"diytnam1"] {
            let body = [start, &bytes[..random.below(5000) as usize]].concat();
            for path in ["/v1/frames", "/v1/names"] {
                assert_eq!(ask(service.address, "POST", path, &[], &body).status, 400);
            }
        }
    }
    for (method, path, status) in [("POST", "/v1/report", 405), ("PUT", "/metrics", 405), ("POST", "/v1/load/go", 400)]
    {
        let answer = ask(service.address, method, path, &[], &[]);
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.error().is_empty(), "{path}");
    }
    let huge = vec![0u8; (64 << 20) + 1];
    let answer = ask(service.address, "POST", "/v1/frames", &[], &huge);
    assert!(answer.status == 413 && answer.error().contains("64 MiB"), "{answer:?}");
    assert_eq!(service.get("/healthz").status, 200);
}

#[test]
fn nobody_comes_in_who_does_not_belong() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "# ours\nread aaaaaaaaaaaaaaaaaaaa\nwrite bbbbbbbbbbbbbbbbbbbb\n").unwrap();
    let serve = |listen: &str, more: &[&str]| {
        run_to_end(diytrace(folder.path()).args(["serve", "--store", "s.db", "--listen", listen]).args(more))
    };
    for (listen, more, part) in [
        ("0.0.0.0:0", &[][..], "name a file of tokens by --token-file"),
        ("0.0.0.0:0", &["--token-file", "none"], "none: No such file"),
        ("0.0.0.0:0", &["--token-file", "tokens"], "others may read it: chmod 600"),
    ] {
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o644)).unwrap();
        let output = serve(listen, more);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output.stderr).contains(part) && said(&output.stderr).lines().count() == 1, "{output:?}");
    }
    let small = serve("127.0.0.1:0", &["--memory", "64M"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(said(&small.stderr).contains("it must be a size of 256M at least"), "{small:?}");
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let service = Service::start(folder.path(), &["--token-file", "tokens", "--memory", "256M"]);
    let taken = serve(&service.address.to_string(), &[]);
    assert_eq!(taken.status.code(), Some(2));
    assert!(said(&taken.stderr).contains("cannot listen on"), "{taken:?}");
    let status = |method: &str, path: &str, token: &str| {
        let shown = format!("Bearer {token}");
        ask(service.address, method, path, &[("authorization", &shown)], &[]).status
    };
    let (read, write) = ("a".repeat(20), "b".repeat(20));
    assert_eq!(service.get("/v1/series").status, 401);
    assert_eq!((status("GET", "/v1/series", &read), status("GET", "/v1/series", &write)), (200, 403));
    assert_eq!((status("POST", "/v1/frames", &read), status("POST", "/v1/frames", &write)), (403, 400));
    assert_eq!(status("GET", "/v1/series", &"c".repeat(20)), 401);
    assert_eq!((service.get("/").status, service.get("/healthz").status), (200, 200));
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let push = |more: &[&str]| {
        run_to_end(diytrace(folder.path()).args(["push", "--to", &service.url()]).args(more).arg(recorded.out()))
    };
    assert!(said(&push(&[]).stderr).contains("show a token that may write"));
    assert!(push(&["--token-file", "tokens"]).status.success());
    // Pages of others, and names that lead here.
    let open = Service::start(folder.path(), &[]);
    let get = |headers: &[(&str, &str)]| ask(open.address, "GET", "/v1/series", headers, &[]).status;
    assert_eq!(get(&[]), 200);
    assert_eq!(get(&[("host", "evil.example")]), 403);
    assert_eq!(get(&[("origin", "http://evil.example")]), 403);
    assert_eq!(get(&[("origin", &open.url())]), 200);
}

#[test]
fn a_thousand_who_say_nothing_keep_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    // Some of them have begun to ask.
    let idle: Vec<TcpStream> = (0..1000)
        .map_while(|number| {
            let mut stream = TcpStream::connect(service.address).ok()?;
            if number % 2 == 0 {
                stream.write_all(b"POST /v1/frames HTTP/1.1\r\ncontent-length: 9\r\nx").ok()?;
            }
            Some(stream)
        })
        .collect();
    assert!(idle.len() > 400, "this machine has no more than {} connections", idle.len());
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let push = ["push".to_owned(), "--to".to_owned(), service.url()];
    assert!(run_to_end(diytrace(folder.path()).args(push).arg(recorded.out())).status.success());
    assert_eq!(service.get("/v1/report").status, 200);
    drop(idle);
    assert_eq!(service.get("/healthz").status, 200);
}

#[test]
fn who_supervises_them_is_told_when_they_are_ready() {
    let folder = tempfile::tempdir().unwrap();
    let socket = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
    let nowhere = "http://127.0.0.1:9";
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0", "--store", "s.db"][..],
        &["agent", "--to", nowhere, "--spool", "spool"],
        &["agent", "--to", nowhere, "--load-worker"],
    ] {
        let mut command = diytrace(folder.path());
        command.args(arguments).env("NOTIFY_SOCKET", folder.path().join("notify")).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut told = [0; 64];
        let len = socket.recv(&mut told).unwrap();
        assert_eq!(said(&told[..len]).trim_end(), "READY=1", "{arguments:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn who_watches_sees_frames_as_they_come_and_a_profile_of_the_next_seconds() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    let mut stream = TcpStream::connect(service.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
    write!(stream, "GET /v1/live HTTP/1.1\r\nhost: {}\r\n\r\n", service.address).unwrap();
    // Nobody tells it how often: the service does, as somebody watches.
    let agent = Agent::start_with(&["--label", "team=a"], &folder, &service.url());
    let mut heard = String::new();
    let mut bytes = [0; 4096];
    while heard.matches("event: frame").count() < 3 || !heard.ends_with('\n') {
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(&said(&bytes[..read]));
    }
    let data = heard.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|event| serde_json::from_str(event).unwrap()).collect();
    for (label, value) in [("service", "endless"), ("team", "a")] {
        assert_eq!(events[0]["labels"][label], value);
    }
    let ns = |event: &Value, name: &str| event[name].as_i64().unwrap();
    let spans = events[1..].iter().map(|event| ns(event, "ended_unix_ns") - ns(event, "started_unix_ns"));
    let shortest = spans.min().unwrap(); // the first has all since the program began
    assert!(shortest < 9_000_000_000, "ten seconds are for when nobody watches: {shortest}");
    // On a busy machine a second may pass without a frame.
    wait_until("a second has a profile", || {
        let pprof = service.get("/debug/pprof/diytrace?seconds=1");
        // Not yet, after a frame that was long.
        assert!([200, 404, 503].contains(&pprof.status), "{}", said(&pprof.body));
        pprof.body.starts_with(&[0x1f, 0x8b])
    });
    assert!(said(&service.get("/metrics").body).ends_with("# EOF\n"));
    program.stop();
    agent.end();
}
