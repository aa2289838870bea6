//! Sampled profiles of others: files, a store, endpoints and clients tell the same of them, each counts once, and they never meet
//! what recordings counted.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;

use common::pprof::{DAY, SECOND, Written, folded_as_pprof};
use common::service::{Service, ask};
use common::{builds, diytrace, fixture, run_to_end, wait_until};
use needs::needs;
use serde_json::{Value, json};

fn run(folder: &Path, line: &str) -> Output {
    run_to_end(diytrace(folder).args(line.split(' ')))
}

fn done(folder: &Path, line: &str) -> Vec<u8> {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn said(folder: &Path, line: &str) -> (String, Option<i32>) {
    let output = run(folder, line);
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

fn samples(folder: &Path, line: &str) -> Value {
    serde_json::from_slice(&done(folder, &format!("samples --format json {line}"))).unwrap()
}

/// A folder with a pprof file, `server.pb.gz`: that of a recording, `out`.
fn with_a_file() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let output =
        run_to_end(diytrace(folder.path()).args(["export", "pprof", "-o", "server.pb.gz"]).arg(recorded.out()));
    assert!(output.status.success());
    let folded =
        run_to_end(diytrace(folder.path()).args(["export", "folded", "-o", "server.folded"]).arg(recorded.out()));
    assert!(folded.status.success());
    folder
}

#[test]
fn a_file_tells_what_its_maker_has_put_in() {
    let folder = with_a_file();
    let here = folder.path();
    let stacks = |text: &str| -> BTreeMap<String, i64> {
        let split = |line: &str| {
            line.rsplit_once(' ').map(|(stack, value)| (stack.to_owned(), value.parse().unwrap())).unwrap()
        };
        text.lines().map(split).collect()
    };
    let ours = String::from_utf8(done(here, "samples server.pb.gz --as folded")).unwrap();
    let makers = fs::read_to_string(here.join("server.folded")).unwrap();
    let (ours, makers) = (stacks(&ours), stacks(&makers));
    assert!(ours.keys().eq(makers.keys()), "{ours:?}, not {makers:?}");
    // A file of processes apart has each rounded.
    let near = |(ours, makers): (&i64, &i64)| (ours - makers).abs() <= 50 + makers / 10_000;
    assert!(ours.values().zip(makers.values()).all(near), "{ours:?}, not {makers:?}");
    let document = samples(here, "server.pb.gz");
    let sum: i64 = ours.values().sum();
    assert_eq!((&document["shown"]["type"], document["shown"]["total"].as_i64()), (&json!("time"), Some(sum)));
    let flat: i64 = document["functions"].as_array().unwrap().iter().map(|row| row["flat"].as_i64().unwrap()).sum();
    assert_eq!(flat, sum);
    let svg = String::from_utf8(done(here, "samples server.pb.gz --as flamegraph")).unwrap();
    assert!(svg.contains("<svg") && svg.contains("leaf"), "{svg}");
    // A copy of it counts once, as in a store.
    fs::copy(here.join("server.pb.gz"), here.join("copy.pb.gz")).unwrap();
    let twice = samples(here, "server.pb.gz copy.pb.gz");
    assert_eq!(twice["functions"], document["functions"]);
    assert_eq!(twice["warnings"], json!(["copy.pb.gz is server.pb.gz once more, and counts once"]));
    // Written again, it says the same.
    done(here, "samples server.pb.gz --as pprof -o again.pb.gz");
    assert_eq!(samples(here, "again.pb.gz")["functions"], document["functions"]);
}

#[needs(go)]
#[test]
fn the_sum_is_what_gos_pprof_adds_up() {
    let folder = with_a_file();
    let here = folder.path();
    let other = fixture("forks.c", builds()[0]).record().args(&["3", "4"]).run();
    let output = run_to_end(diytrace(here).args(["export", "pprof", "-o", "other.pb.gz"]).arg(other.out()));
    assert!(output.status.success());
    done(here, "samples server.pb.gz other.pb.gz --as pprof -o two.pb.gz");
    let top = |files: &[&str]| {
        let mut command = std::process::Command::new("go");
        command.args(["tool", "pprof", "-top", "-unit=ns"]).args(files).current_dir(here);
        let output = run_to_end(command.env("HOME", here));
        let text = String::from_utf8(output.stdout).unwrap();
        let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("flat")).map(str::to_owned);
        rows.collect::<Vec<_>>()
    };
    let (ours, gos) = (top(&["two.pb.gz"]), top(&["server.pb.gz", "other.pb.gz"]));
    assert!(gos.len() > 2, "{gos:?}");
    assert_eq!(ours, gos);
}

#[test]
fn a_profile_that_is_pushed_twice_counts_once() {
    let folder = with_a_file();
    let here = folder.path();
    done(here, "push --store s.db --label run=a server.pb.gz");
    assert!(said(here, "push --store s.db --label run=a server.pb.gz").0.contains("1 there already"));
    done(here, "push --store s.db --label run=b server.pb.gz");
    let (alone, one) = (samples(here, "server.pb.gz"), samples(here, "--store s.db --select run=a"));
    for part in ["functions", "types", "shown", "samples", "tags"] {
        assert_eq!(one[part], alone[part], "{part}");
    }
    let both = samples(here, "--store s.db");
    let doubled = |row: &Value, part: &str| row[part].as_i64().unwrap() * 2;
    for (both, one) in both["functions"].as_array().unwrap().iter().zip(one["functions"].as_array().unwrap()) {
        assert_eq!(
            (both["flat"].as_i64(), both["cum"].as_i64()),
            (Some(doubled(one, "flat")), Some(doubled(one, "cum")))
        );
    }
    let list = samples(here, "--store s.db --list");
    let profiles = list["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 2);
    assert_eq!(
        (&profiles[0]["labels"]["service"], &profiles[0]["types"][0]["type"]),
        (&json!("forks"), &json!("time"))
    );
    let id = profiles[0]["id"].as_str().unwrap();
    assert_eq!(samples(here, &format!("--store s.db --id {id}"))["functions"], one["functions"]);
    // Deleted, it is gone.
    assert!(said(here, "delete --store s.db --sampled --select run=a").0.contains("1 sampled profile deleted"));
    assert_eq!(samples(here, "--store s.db --list")["profiles"].as_array().unwrap().len(), 1);
}

#[test]
fn what_recordings_counted_and_what_others_sampled_stay_apart() {
    let folder = with_a_file();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    assert!(run_to_end(diytrace(here).args(["push", "--store", "s.db"]).arg(recorded.out())).status.success());
    let before = done(here, "report --store s.db --format json");
    assert!(said(here, "samples --store s.db").0.contains("s.db has no sampled profiles"));
    done(here, "push --store s.db server.pb.gz");
    assert_eq!(done(here, "report --store s.db --format json"), before);
    assert_eq!(samples(here, "--store s.db")["profiles"], 1);
}

#[test]
fn what_is_no_profile_is_refused_in_a_sentence() {
    let folder = with_a_file();
    let here = folder.path();
    fs::write(here.join("none.pb.gz"), b"hello").unwrap();
    let cut = fs::read(here.join("server.pb.gz")).unwrap();
    fs::write(here.join("cut.pb.gz"), &cut[..cut.len() / 2]).unwrap();
    done(here, "push --store s.db server.pb.gz");
    for (line, part) in [
        ("samples none.pb.gz", "none.pb.gz: this is no pprof profile"),
        ("samples cut.pb.gz", "cut.pb.gz: this is no pprof profile"),
        ("push --store s.db none.pb.gz", "none.pb.gz: this is no pprof profile"),
        ("samples away.pb.gz", "cannot read away.pb.gz"),
        ("samples --store s.db --type heap", "no profile has samples of type `heap`; there are calls, time"),
        ("samples --store s.db --id 12", "there is no sampled profile 12"),
        ("samples --store s.db --select service=nope", "service is forks"),
        ("samples --store s.db --until 2d", "nothing is selected"),
        ("scrape ftp://x --store s.db", "`ftp://x` is no address to scrape"),
        ("scrape 127.0.0.1:1 --store s.db", "does not answer"),
    ] {
        let (stderr, status) = said(here, line);
        assert!(stderr.contains(part) && stderr.trim_end().lines().count() == 1, "{line}: {stderr}");
        assert_eq!(status, Some(2), "{line}");
    }
}

#[test]
fn a_profile_of_nothing_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("idle.pb"), folded_as_pprof("main;wait 0")).unwrap();
    let shown = String::from_utf8(done(folder.path(), "samples idle.pb")).unwrap();
    assert!(shown.contains("nothing was sampled"), "{shown}");
    assert_eq!(samples(folder.path(), "idle.pb")["functions"], json!([]));
}

#[test]
fn what_is_shown_to_a_service_is_no_use_for_a_store() {
    let folder = with_a_file();
    for shown in ["--token-file tokens", "--tls-ca ca.pem", "--tls-cert a.pem --tls-key a.key"] {
        for command in ["push server.pb.gz", "scrape 127.0.0.1:1"] {
            let (stderr, status) = said(folder.path(), &format!("{command} --store s.db {shown}"));
            assert!(stderr.contains("--store") || stderr.contains("--to"), "{command} {shown}: {stderr}");
            assert_eq!(status, Some(2), "{command} {shown}");
        }
    }
    assert!(!folder.path().join("s.db").exists());
}

/// An endpoint that answers with what it has at the time, or with status 404.
struct Endpoint {
    address: SocketAddr,
    answer: Arc<Mutex<Vec<u8>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    fn start(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, asked) = (Arc::new(Mutex::new(answer)), Arc::new(Mutex::new(Vec::new())));
        let (here, seen) = (answer.clone(), asked.clone());
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                seen.lock().unwrap().push(lines.next().unwrap_or_default());
                lines.find(String::is_empty);
                let body = here.lock().unwrap().clone();
                let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
                let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { address, answer, asked }
    }
}

#[test]
fn an_endpoint_is_scraped_once_or_again_and_again() {
    let folder = with_a_file();
    let here = folder.path();
    let endpoint = Endpoint::start(fs::read(here.join("server.pb.gz")).unwrap());
    let address = endpoint.address;
    done(here, &format!("scrape {address} --store s.db --seconds 3 --label service=api"));
    assert_eq!(endpoint.asked.lock().unwrap()[0], "GET /debug/pprof/profile?seconds=3 HTTP/1.1");
    let list = samples(here, "--store s.db --list --select profile=profile");
    let labels = &list["profiles"][0]["labels"];
    assert_eq!((&labels["service"], &labels["host"]), (&json!("api"), &json!(address.to_string())));
    assert_eq!(samples(here, "--store s.db")["functions"], samples(here, "server.pb.gz")["functions"]);
    // What has no profile says so, and nothing is put in.
    endpoint.answer.lock().unwrap().clear();
    let (stderr, status) = said(here, &format!("scrape http://{address}/heap --store s.db"));
    assert!(stderr.contains("answers with status 404") && status == Some(2), "{stderr}");
    // Again and again, an endpoint that is away for a while does no harm.
    let mut command = diytrace(here);
    command.args(["scrape", &format!("{address}/load"), "--store", "s.db", "--every", "50ms"]);
    let mut scraper = command.spawn().unwrap();
    wait_until("it was asked", || endpoint.asked.lock().unwrap().len() > 4);
    let names = ["a", "b", "c"];
    for name in names {
        let line = format!("main;{name} 7\n");
        fs::write(here.join("now.folded"), &line).unwrap();
        *endpoint.answer.lock().unwrap() = folded_as_pprof(&line);
        wait_until("it is there", || {
            let output = run(here, "samples --store s.db --select profile=load --format json");
            let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            document["functions"].as_array().is_some_and(|rows| rows.iter().any(|row| row["name"] == name))
        });
    }
    // SAFETY: a signal to a child of ours, which nobody has waited for yet.
    assert_eq!(unsafe { libc::kill(scraper.id() as i32, libc::SIGTERM) }, 0);
    assert!(scraper.wait().unwrap().success());
}

/// What has been allocated since the start of a program, read at a moment.
fn allocated(second: u64, stacks: &str) -> Vec<u8> {
    let time = (DAY + second * SECOND, 0);
    Written { types: &[("alloc_space", "bytes"), ("inuse_space", "bytes")], period: None, time, stacks }.bytes()
}

#[test]
fn what_counts_since_the_start_of_a_program_is_not_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let endpoint = Endpoint::start(allocated(0, "main;a 100 7\n"));
    let scrape = format!("scrape {}/heap --store s.db --label service=api", endpoint.address);
    done(here, &scrape);
    *endpoint.answer.lock().unwrap() = allocated(9, "main;a 130 5\nmain;b 4 4\n");
    done(here, &scrape);
    for (of, total) in [("alloc_space", 134), ("inuse_space", 9)] {
        let document = samples(here, &format!("--store s.db --type {of}"));
        assert_eq!(document["shown"]["total"], total, "{document}");
        assert!(document["warnings"][0].as_str().unwrap().contains("left out"), "{document}");
    }
    // Nor are files of it.
    for second in [0, 9] {
        let name = format!("{second}.pb");
        fs::write(here.join(&name), allocated(second, &format!("main {} 1\n", 10 + second))).unwrap();
        done(here, &format!("push --store s.db --label service=files {name}"));
    }
    assert_eq!(samples(here, "--store s.db --type alloc_space --select service=files")["shown"]["total"], 19);
}

#[test]
fn what_a_client_of_pyroscope_pushes_counts_from_its_reading_before() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let push = |name: &str, from: u64, fields: &[(&str, &[u8])]| {
        let mut body = Vec::new();
        for (name, bytes) in fields {
            body.extend(
                format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\r\n").bytes(),
            );
            body.extend_from_slice(bytes);
            body.extend(b"\r\n");
        }
        body.extend(b"--x--\r\n");
        let path = format!("/ingest?name={name}&from={from}&until={}", from + 10);
        ask(service.address, "POST", &path, &[("content-type", "multipart/form-data; boundary=x")], &body)
    };
    let [first, second, third] = [(0, "main 100 7\n"), (10, "main 130 5\n"), (20, "main 130 5\nmain;b 4 4\n")]
        .map(|(at, stacks)| allocated(at, stacks));
    for (from, before, now) in [(1_700_000_000, &first, &second), (1_700_000_010, &second, &third)] {
        let answer = push("api", from, &[("prev_profile", before), ("profile", now)]);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let total = |words: &str| {
        let document = service.get(&format!("/v1/samples?{words}")).json();
        (document["shown"]["total"].as_i64(), document["duration_ns"].as_i64())
    };
    assert_eq!(total("select=service=api&type=alloc_space"), (Some(34), Some(20_000_000_000)));
    assert_eq!(total("select=service=api&type=inuse_space").0, Some(9));
    // What the client says of a type is right, whatever it is called.
    let kinds = |name: &str| format!("{{\"{name}\": {{\"units\": \"bytes\", \"cumulative\": true}}}}");
    let fields = [("sample_type_config", kinds("inuse_space")), ("prev_profile", String::new())];
    let [config, none] = fields.each_ref().map(|(name, value)| (*name, value.as_bytes()));
    push("said", 1_700_000_000, &[config, ("prev_profile", &second), ("profile", &third)]);
    assert_eq!(total("select=service=said&type=inuse_space"), (Some(4), Some(10_000_000_000)));
    // Without a reading before, it has not come in these ten seconds.
    push("once", 1_700_000_000, &[config, none, ("profile", &third)]);
    assert_eq!(total("select=service=once&type=alloc_space"), (Some(134), Some(0)));
    let answer = push("wrong", 1, &[("sample_type_config", b"[1]"), ("profile", &third)]);
    assert!(answer.status == 400 && answer.error().contains("sample_type_config"), "{answer:?}");
    let answer = push("wrong", 1, &[("prev_profile", &third)]);
    assert!(answer.status == 400 && answer.error().contains("no field `profile`"), "{answer:?}");
}

#[test]
fn a_service_takes_them_and_answers_as_the_command_does() {
    let folder = with_a_file();
    let here = folder.path();
    let service = Service::start(here, &[]);
    done(here, &format!("push --to {} --label run=a server.pb.gz", service.url()));
    assert!(said(here, &format!("push --to {} --label run=a server.pb.gz", service.url())).0.contains("there already"));
    for (path, line) in [
        ("samples?select=run=a", "samples --store s.db --select run=a --format json"),
        (
            "samples?type=calls&lines=1&limit=2&sort=cum",
            "samples --store s.db --type calls --lines -n 2 --sort cum --format json",
        ),
        ("profiles", "samples --store s.db --list --format json"),
        ("samples/folded", "samples --store s.db --as folded"),
        ("samples/flamegraph", "samples --store s.db --as flamegraph"),
        ("samples/pprof", "samples --store s.db --as pprof"),
    ] {
        let answer = service.get(&format!("/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.body == done(here, line), "{path}");
    }
    // As clients of Pyroscope push.
    let post = |path: &str, headers: &[(&str, &str)], body: &[u8]| ask(service.address, "POST", path, headers, body);
    let path = "/ingest?name=web%7Benv%3Dprod%7D&from=1700000000&until=1700000010&format=folded";
    let answer = post(path, &[], b"main;handle 3\nmain 1\n");
    assert_eq!((answer.status, &answer.json()["labels"]["env"]), (200, &json!("prod")), "{answer:?}");
    let document = service.get("/v1/samples?select=service=web").json();
    assert_eq!(document["shown"], json!({ "type": "samples", "unit": "count", "total": 4 }));
    assert_eq!(document["ended_unix_ns"], 1_700_000_010_000_000_000_i64);
    assert_eq!(document["duration_ns"], 10_000_000_000_i64);
    let form = [
        b"--x\r\ncontent-disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n\r\n",
        &folded_as_pprof("main;form 9")[..],
        b"\r\n--x--\r\n",
    ]
    .concat();
    let answer = post("/ingest?name=form", &[("content-type", "multipart/form-data; boundary=x")], &form);
    assert_eq!((answer.status, &answer.json()["types"][0]["total"]), (200, &json!(9)), "{answer:?}");
    // An endpoint that somebody names.
    let endpoint = Endpoint::start(folded_as_pprof("main;scraped 5"));
    let asked = json!({ "url": format!("{}/debug/pprof/heap", endpoint.address), "labels": { "service": "api" } });
    let as_json = [("content-type", "application/json")];
    let answer = post("/v1/scrape", &as_json, asked.to_string().as_bytes());
    let id = answer.json()["id"].as_str().unwrap_or_default().to_owned();
    assert_eq!(service.get(&format!("/v1/samples?id={id}")).json()["shown"]["total"], 5, "{answer:?}");
    for (path, body, status, part) in [
        ("/v1/profiles", "hello", 400, "this is no pprof profile"),
        ("/v1/profiles?label=a", "", 400, "is no label"),
        ("/v1/profiles?file=/etc/passwd", "", 400, "no parameter `file`"),
        ("/ingest?name=a%7B", "a 1", 400, "name has no }"),
        ("/ingest?name=a", "a", 400, "line 1 is no folded stack"),
        ("/v1/scrape", "{\"url\": \"file:///etc/passwd\"}", 400, "is no address to scrape"),
        ("/v1/scrape", "{\"url\": \"127.0.0.1:1\"}", 502, "does not answer"),
    ] {
        let answer = post(path, &as_json, body.as_bytes());
        assert!(answer.status == status && answer.error().contains(part), "{path}: {answer:?}");
    }
    assert_eq!(service.get("/v1/samples?select=service=nope").status, 404);
    assert_eq!(service.get("/v1/samples?store=/etc/passwd").status, 400);
}
