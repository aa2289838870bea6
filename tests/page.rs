//! The service's page in a browser: what it shows is what the service answers, on every page, and it complains of nothing.
//!
//! Every state of the page is in its address, so each is opened by its own. What needs a hand is told by scripts of `tests/browser/`.
//! (`tests/readers.sh` clicks from one page to the next.)

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::browser;
use common::pprof::cpu;
use common::service::{Agent, Service};
use common::{Endless, Recording, builds, diytrace, fixture, fixture_with, run_to_end, tool, wait_until};
use needs::needs;
use serde_json::Value;
use tempfile::TempDir;

/// A service whose store has three recordings of each commit, of servers that fork so many children.
fn serving(commits: &[(&str, u32)], arguments: &[&str]) -> (TempDir, Service) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "read aaaaaaaaaaaaaaaaaaaa\n").unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let program = fixture("forks.c", builds()[0]);
    for (commit, children) in commits {
        for _ in 0..3 {
            let recorded = Recording::of(&program).args(&[&children.to_string(), "4"]).run();
            let mut push = diytrace(folder.path());
            push.args(["push", "--store", "s.db", "--label", &format!("commit={commit}")]).arg(recorded.out());
            assert!(run_to_end(&mut push).status.success());
            sleep(Duration::from_millis(260)); // the next is in another slice of time
        }
    }
    let service = Service::start(folder.path(), arguments);
    (folder, service)
}

/// What a page shows once it has asked for everything.
struct Shown {
    html: String,
}

impl Shown {
    /// At an address behind the `#`.
    fn of(service: &Service, folder: &Path, address: &str) -> Self {
        let mut browser = Command::new("chromium");
        browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
        // Time goes on only while nothing is under way: a slow machine shows the same.
        browser.arg("--virtual-time-budget=5000").arg(format!("--user-data-dir={}", folder.join("browser").display()));
        let output = run_to_end(browser.arg(format!("{}/#{address}", service.url())).env("HOME", folder));
        let said = String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<&str> = said.lines().filter(|line| line.contains(":CONSOLE")).collect();
        // That an answer was an error is told twice: by the page in words, and here.
        let complaints: Vec<&&str> =
            complaints.iter().filter(|line| !line.contains("Failed to load resource")).collect();
        assert!(complaints.is_empty(), "{address}: {complaints:?}");
        Self { html: String::from_utf8(output.stdout).unwrap() }
    }

    /// The cells of the rows of a table, by what it is called.
    fn table(&self, name: &str) -> Vec<Vec<String>> {
        let start = format!("aria-label=\"{name}\"");
        let table = self.html.split(&start).nth(1).unwrap_or_else(|| panic!("no table {name}: {}", self.html));
        let body = between(table, "<tbody>", "</tbody>");
        let cell = |cell: &str| text(cell.split_once('>').map_or("", |(_, inside)| inside));
        let cells = |row: &str| row.split("<td").flat_map(|part| part.split("<th")).skip(1).map(cell).collect();
        body.split("<tr").skip(1).map(cells).collect()
    }

    fn text(&self) -> String {
        text(between(&self.html, "<main", "</main>"))
    }

    /// What is said of the element of a class.
    fn label(&self, class: &str) -> &str {
        let element = self.html.split(&format!("class=\"{class}\"")).nth(1).unwrap_or_else(|| panic!("no {class}"));
        between(element, "aria-label=\"", "\"")
    }

    fn has_error(&self) -> bool {
        self.html.contains("role=\"alert\"")
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}: {text}"));
    rest.split(end).next().unwrap_or_default()
}

/// Without tags.
fn text(html: &str) -> String {
    let parts = html.split('<').enumerate();
    let outside =
        parts.map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
    outside.collect::<Vec<_>>().join("").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

fn grouped(number: &Value) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

#[needs(chromium)]
#[test]
fn every_page_shows_what_the_service_answers() {
    let (folder, service) = serving(&[("a1", 4), ("b2", 12)], &[]);
    let report = service.get("/v1/report").json();
    let functions = report["reports"][0]["functions"].as_array().unwrap();
    let shown = |address: &str| {
        let shown = Shown::of(&service, folder.path(), address);
        assert!(!shown.has_error(), "{address}: {}", shown.text());
        shown
    };

    let services = shown("/").table("services");
    assert_eq!(services.len(), 1);
    assert_eq!((&*services[0][0], &services[0][3]), ("forks", &grouped(&report["reports"][0]["calls"])));
    // How long calls took is told of a function whose calls return: `serve` and `handle` may be left by children.
    let lately = service.get("/v1/report?since=1h&sort=total").json();
    let lately = lately["reports"][0]["functions"].as_array().unwrap();
    let returns = lately.iter().find(|function| !function["p99_ns"].is_null()).unwrap();
    assert!(services[0][6].ends_with(returns["name"].as_str().unwrap()), "{:?}", services[0]);

    let listed = shown("/explore?select=service%3Dforks").table("functions");
    assert_eq!(listed.len(), functions.len());
    for (row, function) in listed.iter().zip(functions) {
        assert_eq!(
            (Value::from(row[0].as_str()), row[1].clone()),
            (function["name"].clone(), grouped(&function["calls"]))
        );
    }
    let found = shown("/explore?find=lea").table("functions");
    assert_eq!(found.iter().map(|row| &*row[0]).collect::<Vec<_>>(), ["leaf"]);

    let leaf = functions.iter().find(|function| function["name"] == "leaf").unwrap();
    let one = shown("/explore?function=leaf");
    // Recordings are told where they ended: in few slices, if one was held up for long.
    let slices = service.get("/v1/heatmap?function=leaf").json()["functions"][0]["points"].as_array().unwrap().len();
    assert_eq!(one.html.contains("class=\"heatmap\""), slices >= 3, "{}", one.text());
    if slices >= 3 {
        assert!(one.label("heatmap").starts_with(&format!("Times of {} calls in {slices} ", grouped(&leaf["calls"]))));
    }
    // It is called from two lines.
    let callers = one.table("callers of leaf");
    let half = grouped(&(leaf["calls"].as_u64().unwrap() / 2).into());
    assert!(callers.iter().all(|row| row[0].starts_with("handle forks.c:") && row[1] == half), "{callers:?}");
    assert!(callers.len() == 2 && callers[0][0] != callers[1][0], "{callers:?}");
    assert!(shown("/explore?view=flame&find=leaf").label("flame").starts_with("Flame graph of "));
    assert!(shown("/explore?view=flame&root=handle").text().contains("Only what happens inside handle."));

    let compared = shown("/compare?left=commit%3Da1&right=commit%3Db2");
    let row = compared.table("compared functions").into_iter().find(|row| row[0] == "leaf").unwrap();
    assert_eq!((&*row[5], &*row[6]), ("8", "24"), "calls before and after");
    assert!(compared.label("flame").starts_with("Flame graph of "));

    let over = shown("/history?function=leaf&over=commit").table("history of leaf");
    let commits: Vec<_> = over.iter().map(|row| (&*row[0], &*row[1], &*row[2])).collect();
    assert_eq!(commits, [("a1", "3", "24"), ("b2", "3", "72")]);
    assert!(shown("/history?over=commit").text().contains("What rose, and stayed so"));
}

#[needs(chromium)]
#[test]
fn sampled_profiles_are_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let run = |words: &[&str]| {
        let output = run_to_end(diytrace(folder.path()).args(words));
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["export", "pprof", "-o", "server.pb.gz", recorded.out().to_str().unwrap()]);
    let service = Service::start(folder.path(), &[]);
    let shown = |address: &str| Shown::of(&service, folder.path(), address);
    assert!(shown("/samples").text().contains("has no sampled profiles"));
    run(&["push", "--to", &service.url(), "server.pb.gz"]);
    let document = service.get("/v1/samples").json();
    let rows = shown("/samples").table("sampled functions");
    let functions: Vec<&str> =
        document["functions"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(rows.iter().map(|row| &*row[0]).collect::<Vec<_>>(), functions);
    let calls = shown("/samples?type=calls").table("sampled functions");
    let leaf = service.get("/v1/samples?type=calls").json()["functions"].as_array().unwrap().clone();
    let leaf = leaf.iter().find(|row| row["name"] == "leaf").unwrap()["flat"].clone();
    assert!(calls.iter().any(|row| row[0] == "leaf" && row[2] == grouped(&leaf)), "{calls:?}");
    let listed = shown("/samples").table("sampled profiles");
    assert!(listed.len() == 1 && listed[0][1].starts_with("build=") && listed[0][2] == "time", "{listed:?}");
    let id = service.get("/v1/profiles").json()["profiles"][0]["id"].as_str().unwrap().to_owned();
    let one = shown(&format!("/samples?id={id}&view=flame"));
    assert!(!one.has_error() && one.label("flame").starts_with("Flame graph of "), "{}", one.text());
    assert!(!shown("/samples?view=lines").table("sampled functions").is_empty());
}

/// Puts five profiles of each of two commits in, from the second of which on `parse` takes twice the time; and a long one of each alone.
fn with_sampled_commits(folder: &Path) {
    let push = |label: &str, profile: &[u8]| {
        fs::write(folder.join("now.pb"), profile).unwrap();
        let words = ["push", "--store", "s.db", "--label", label, "--label", "service=api", "now.pb"];
        assert!(run_to_end(diytrace(folder).args(words)).status.success());
    };
    for (at, (commit, parse)) in [("a1", 200), ("b2", 400)].into_iter().enumerate() {
        for number in 0..5 {
            push(&format!("commit={commit}"), &cpu(10 * at as u64 + number, 10, [parse, 300, 400]));
        }
        push(&format!("one={commit}"), &cpu(100 + at as u64, 10, [parse, 300, 400]));
    }
}

#[needs(chromium)]
#[test]
fn sampled_profiles_are_compared_and_told_over_commits() {
    let folder = tempfile::tempdir().unwrap();
    with_sampled_commits(folder.path());
    let service = Service::start(folder.path(), &[]);
    let shown = |address: &str| Shown::of(&service, folder.path(), address);

    let compared = shown("/compare?left=commit%3Da1&right=commit%3Db2&type=cpu");
    assert!(!compared.has_error(), "{}", compared.text());
    let said = compared.text();
    assert!(
        said.contains(
            "1 function changed: parse +100%. 5 profiles before, 5 profiles after, each a run: enough to tell."
        ),
        "{said}"
    );
    let document = service.get("/v1/compare?left=commit=a1&right=commit=b2&type=cpu").json();
    let rows = compared.table("compared functions");
    assert_eq!(rows.len(), document["functions"].as_array().unwrap().len());
    let parse = rows.iter().find(|row| row[0] == "parse").unwrap();
    assert_eq!(parse[1..4], ["changed", "200 ms/s", "400 ms/s"]);
    assert!(parse[4].starts_with("+200 ms/s, +100%"), "{parse:?}");
    assert!(compared.label("flame").starts_with("Flame graph of "));

    // One of each: what sampling is off by, and no more than that.
    let one = shown("/compare?left=one%3Da1&right=one%3Db2&type=samples").text();
    assert!(
        one.contains("1 function differs by more than the sampling error") && one.contains("too few to tell"),
        "{one}"
    );
    assert!(one.contains("one profile a side, and none to tell what one differs from another by"), "{one}");

    // Without a type, as there are no recordings; of two that do not go together, all types are told.
    assert_eq!(shown("/compare?left=commit%3Da1&right=commit%3Db2").table("compared functions"), rows);
    let other = shown("/compare?left=commit%3Da1&right=commit%3Db2&type=heap");
    assert!(other.has_error() && other.text().contains("its profiles have cpu, samples"), "{}", other.text());

    let rose = shown("/history?over=commit&type=cpu&select=commit%3D*").table("regressions");
    assert!(rose.len() == 1 && rose[0][0] == "parse" && rose[0][1] == "b2", "{rose:?}");
    let over = shown("/history?function=parse&over=commit&type=cpu&select=commit%3D*");
    let points: Vec<_> = over.table("history of parse").iter().map(|row| row[..3].to_vec()).collect();
    assert_eq!(points, [["a1", "5", "200 ms/s"], ["b2", "5", "400 ms/s"]]);
    let said = over.text();
    assert!(said.contains("flat: 200 ms/s → 400 ms/s since b2, first sampled") && said.contains("(+100.0%"), "{said}");
    assert!(over.html.contains("samples: cpu"), "types are offered");
}

#[needs(chromium)]
#[test]
fn what_functions_waited_is_shown_where_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = Recording::of(&fixture("off-cpu.c", builds()[0])).args(&["all"]).with_output_of_its_own().run();
    let mut push = diytrace(folder.path());
    assert!(run_to_end(push.args(["push", "--store", "s.db"]).arg(recorded.out())).status.success());
    let service = Service::start(folder.path(), &[]);
    let report = service.get("/v1/report").json();
    let functions = report["reports"][0]["functions"].as_array().unwrap();
    let longest = functions.iter().max_by_key(|row| row["self_wait_ns"].as_f64().map(|ns| ns as u64)).unwrap();
    let is_known = !longest["self_wait_ns"].is_null();

    let shown = Shown::of(&service, folder.path(), "/explore?view=flame&time=wait");
    assert_eq!((shown.html.contains("aria-label=\"Which time\""), shown.has_error()), (is_known, !is_known));
    let shown = Shown::of(&service, folder.path(), "/explore");
    assert_eq!(shown.html.contains(">self wait</button>"), is_known);
    if is_known {
        let name = longest["name"].as_str().unwrap();
        let rows = shown.table("functions");
        let row = rows.iter().find(|row| row[0] == name).unwrap();
        // name, calls, total, ±, self, self %, wait, self wait
        assert!(row[7].ends_with(" ms") || row[7].ends_with(" s"), "{name}: {row:?}");
        let one = Shown::of(&service, folder.path(), &format!("/explore?function={name}"));
        assert!(one.text().contains("waiting "), "{}", one.text());
    }
}

#[needs(chromium)]
#[test]
fn what_rises_from_nothing_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let program = fixture("recursion.c", builds()[0]);
    for (commit, way) in [("a1", "down"), ("b2", "fib")] {
        for _ in 0..6 {
            let recorded = Recording::of(&program).args(&[way, "9"]).run();
            let mut push = diytrace(folder.path());
            push.args(["push", "--store", "s.db", "--label", &format!("commit={commit}")]).arg(recorded.out());
            assert!(run_to_end(&mut push).status.success());
        }
    }
    let service = Service::start(folder.path(), &[]);
    let shown = Shown::of(&service, folder.path(), "/history?over=commit");
    let rows = shown.table("regressions");
    let row = rows.iter().find(|row| row[0] == "fib").unwrap_or_else(|| panic!("{}", shown.text()));
    assert_eq!([&row[1], &row[2], &row[4], &row[5], &row[6]], ["calls a run", "b2", "0", "109", "from none"]);
    let one = Shown::of(&service, folder.path(), "/history?over=commit&function=fib");
    assert!(
        one.text().contains("calls a run: 0 → 109 since b2, first recorded") && one.text().contains("(from none;"),
        "{}",
        one.text()
    );
}

#[needs(chromium)]
#[test]
fn functions_with_short_names_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    for source in ["names.cc", "local-names.cc"] {
        let recorded = Recording::of(&fixture(source, builds()[0])).run();
        let mut push = diytrace(folder.path());
        assert!(run_to_end(push.args(["push", "--store", "s.db"]).arg(recorded.out())).status.success());
    }
    let service = Service::start(folder.path(), &[]);
    for (name, address) in [
        ("turn::{lambda#1}::operator()", "turn%3A%3A%7Blambda%231%7D%3A%3Aoperator()"),
        (
            "Table‹…›::each‹…›(turn::{lambda#1})",
            "Table%E2%80%B9%E2%80%A6%E2%80%BA%3A%3Aeach%E2%80%B9%E2%80%A6%E2%80%BA(turn%3A%3A%7Blambda%231%7D)",
        ),
        ("Table‹…›::operator,", "Table%E2%80%B9%E2%80%A6%E2%80%BA%3A%3Aoperator%2C"),
        ("geometry::twice‹…›(int)", "geometry%3A%3Atwice%E2%80%B9%E2%80%A6%E2%80%BA(int)"),
        ("main::{lambda#1}::operator()", "main%3A%3A%7Blambda%231%7D%3A%3Aoperator()"),
        ("(anonymous)::hidden", "(anonymous)%3A%3Ahidden"),
    ] {
        let shown = Shown::of(&service, folder.path(), &format!("/explore?function={address}"));
        assert!(!shown.has_error() && shown.html.contains(&format!("<h2>{name}</h2>")), "{name}: {}", shown.text());
    }
}

#[needs(chromium)]
#[test]
fn what_is_not_there_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let empty = Shown::of(&service, folder.path(), "/");
    assert!(empty.text().contains(&format!("diytrace agent --to {}", service.url())), "{}", empty.text());
    drop(service);
    let (folder, service) = serving(&[("a1", 4)], &[]);
    for (address, expected) in [
        ("/explore?select=service%3Dnope", "service is forks"),
        ("/explore?since=tomorrow", "`tomorrow` is no time"),
        ("/compare?left=commit%3Da1&right=commit%3Dzz", "commit is a1"),
        ("/history?function=laef", "did you mean `leaf`?"),
    ] {
        let shown = Shown::of(&service, folder.path(), address);
        assert!(shown.has_error() && shown.text().contains(expected), "{address}: {}", shown.text());
    }
}

#[needs(chromium)]
#[test]
fn who_has_no_token_is_asked_for_one() {
    let (folder, service) = serving(&[("a1", 4)], &["--token-file", "tokens"]);
    let shown = Shown::of(&service, folder.path(), "/explore");
    assert!(shown.html.contains("type=\"password\"") && !shown.text().contains("leaf"), "{}", shown.text());
}

#[needs(chromium, npm)]
#[test]
fn a_range_of_time_is_drawn_over_the_timeline() {
    let (_folder, service) = serving(&[("a1", 4), ("b2", 12)], &[]);
    browser::tell("brush.mjs", &service, &[]);
}

/// Each frame had the page begin anew, before it had shown anything.
#[needs(chromium, npm)]
#[test]
fn what_takes_long_is_shown_while_a_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = Endless::start();
    let service = Service::start(folder.path(), &[]);
    let _agent = Agent::start_every("250ms", program.here.path(), &service.url());
    wait_until("it is there", || !service.get("/v1/series").json()["series"].as_array().unwrap().is_empty());
    browser::tell("slow.mjs", &service, &[]);
}

/// Those that are beyond the first thousand counted as shown, and nothing led to them.
#[needs(chromium, npm)]
#[test]
fn a_long_list_is_told_whole_and_drawn_where_one_looks() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = Recording::of(&fixture("many-functions.c", builds()[0])).run();
    let mut push = diytrace(folder.path());
    assert!(run_to_end(push.args(["push", "--store", "s.db"]).arg(recorded.out())).status.success());
    browser::tell("long.mjs", &Service::start(folder.path(), &[]), &["many-functions"]);
}

#[needs(chromium, npm)]
#[test]
fn a_program_that_starts_is_shown_and_moves_without_a_click() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    let _agent = Agent::start_every("250ms", folder.path(), &service.url());
    let program = fixture("endless.c", builds()[0]);
    let [library, program, here] = [tool("libdiytrace.so"), program.path.clone(), folder.path().to_owned()];
    browser::tell("moves.mjs", &service, &[&library, &program, &here].map(|path| path.to_str().unwrap()));
}

/// A build whose `handle` calls `lookup` more than twice as often has come to one host of two.
#[needs(chromium, npm)]
#[test]
fn who_has_only_the_url_finds_what_got_slower_by_clicks() {
    let folder = tempfile::tempdir().unwrap();
    let build = builds()[0];
    let [old, new] = [&[][..], &["-DLOOKUPS=9"]].map(|options| fixture_with("changes.c", build, options).unwrap());
    for (commit, program, hosts) in
        [("a1", &old, ["db1", "db2"]), ("b2", &old, ["db1", "db2"]), ("c3", &new, ["db2", "db2"])]
    {
        for number in 0..6 {
            let recorded = Recording::of(program).args(&["10"]).run();
            let mut push = diytrace(folder.path());
            push.args(["push", "--store", "s.db", "--label", &format!("commit={commit}")]);
            push.args(["--label", &format!("host={}", hosts[number % 2])]).arg(recorded.out());
            assert!(run_to_end(&mut push).status.success());
        }
    }
    let service = Service::start(folder.path(), &[]);
    browser::tell("found.mjs", &service, &["commit", "b2", "c3", "lookup", "handle", "db2", "calls"]);
}

/// Saves what two commits are compared to, by `diff` and by `similar`, and gives the verdicts, the latest first.
fn concluded(folder: &Path, service: &Service) -> Vec<Value> {
    for words in [&["diff", "--fail-on", "changed"][..], &["similar", "--metrics", "*:count"]] {
        let mut compare = diytrace(folder);
        let output = run_to_end(compare.args(words).args(["--store", "s.db", "commit=a1", "commit=b2", "--save"]));
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    service.get("/v1/verdicts").json()["verdicts"].as_array().unwrap().clone()
}

#[needs(chromium, npm)]
#[test]
fn verdicts_are_listed_and_opened_and_lead_to_their_runs() {
    let (folder, service) = serving(&[("a1", 4), ("b2", 12)], &[]);
    let shown = |address: &str| {
        let shown = Shown::of(&service, folder.path(), address);
        assert!(!shown.has_error(), "{address}: {}", shown.text());
        shown
    };
    let empty = shown("/verdicts").text();
    assert!(
        empty.contains("No verdict is kept here yet") && empty.contains("diytrace bench --a ./old --b ./new --store …")
    );
    let verdicts = concluded(folder.path(), &service);
    let [similar, diff] = &verdicts[..] else { panic!("{verdicts:?}") };

    let listed = shown("/verdicts").table("verdicts");
    let told: Vec<_> = listed.iter().map(|row| (&*row[0], &*row[1], &*row[2], &*row[3])).collect();
    let expected = |verdict: &'static str, one: &Value| {
        (
            one["sentence"].as_str().unwrap().to_owned(),
            "fail".to_owned(),
            verdict.to_owned(),
            "commit=a1 → commit=b2".to_owned(),
        )
    };
    let told: Vec<_> =
        told.iter().map(|row| (row.0.to_owned(), row.1.to_owned(), row.2.to_owned(), row.3.to_owned())).collect();
    assert_eq!(told, [expected("similar", similar), expected("diff", diff)]);
    assert_eq!(shown("/verdicts?kind=diff").table("verdicts").len(), 1);
    assert!(shown("/verdicts?kind=bench").text().contains("None of these"));

    // What is shown of one is its document.
    let id = |one: &Value| one["id"].as_str().unwrap().to_owned();
    let one = shown(&format!("/verdicts?id={}", id(diff)));
    assert!(one.text().contains(diff["sentence"].as_str().unwrap()), "{}", one.text());
    let document = service.get(&format!("/v1/verdict?id={}", id(diff))).json()["document"].clone();
    let functions = document["queries"][0]["functions"].as_array().unwrap();
    let rows = one.table("compared functions");
    assert_eq!(rows.len(), functions.len());
    let leaf = rows.iter().find(|row| row[0] == "leaf").unwrap();
    assert_eq!((&*leaf[5], &*leaf[6]), ("8", "24"), "calls before and after");
    assert!(leaf[8].starts_with('+') && leaf[9].ends_with('s'), "what calls and what cost make: {leaf:?}");
    let one = shown(&format!("/verdicts?id={}", id(similar)));
    let metrics = one.table("compared metrics");
    assert!(
        metrics.iter().any(|row| row[0] == "leaf:count" && row[1] == "mismatched" && row[4] == "8" && row[5] == "24"),
        "{metrics:?}"
    );
    // The beginning of an identifier is enough.
    let is_none = |other: &&str| !verdicts.iter().any(|verdict| id(verdict).starts_with(*other));
    let none = ["12", "34", "56"].into_iter().find(is_none).unwrap();
    let missing = Shown::of(&service, folder.path(), &format!("/verdicts?id={none}"));
    assert!(missing.has_error() && missing.text().contains(&format!("has no verdict {none}")), "{}", missing.text());

    browser::tell("verdicts.mjs", &service, &[&id(diff)]);

    // Where the runs are gone, so is the way to them; the verdict stays.
    let mut delete = diytrace(folder.path());
    assert!(run_to_end(delete.args(["delete", "--store", "s.db", "--select", "commit=a1"])).status.success());
    let one = shown(&format!("/verdicts?id={}", id(diff)));
    assert!(one.text().contains("not in the store any more") && !one.html.contains("#/compare?left"), "{}", one.text());
    assert_eq!(one.table("compared functions").len(), functions.len());
}

/// Slow: each state is looked at four times.
#[needs(chromium, npm)]
#[test]
fn nothing_keeps_anybody_out() {
    let (folder, service) = serving(&[("a1", 4), ("b2", 12)], &[]);
    let verdicts = concluded(folder.path(), &service);
    let [similar, diff] = [0, 1].map(|number| verdicts[number]["id"].as_str().unwrap());
    let addresses = [
        "/",
        "/explore?select=service%3Dforks",
        "/explore?function=leaf",
        "/explore?view=flame&find=leaf",
        "/explore?view=flame&root=handle",
        "/explore?view=tree&find=%2Fle.f%2F&zoom=main",
        "/explore?view=callers",
        "/explore?view=sandwich&function=handle",
        "/explore?paths=only%20handle%0Awithout%20leaf",
        "/explore?select=service%3Dnope",
        "/compare",
        "/compare?left=commit%3Da1&right=commit%3Db2",
        "/history?function=leaf&over=commit",
        "/history?over=commit",
        "/verdicts",
        &format!("/verdicts?id={similar}"),
        &format!("/verdicts?id={diff}"),
        "/samples",
        "/samples?type=calls&view=lines",
        "/samples?view=flame&type=time",
        "/compare?left=commit%3Da1&right=commit%3Db2&type=cpu",
        "/compare?left=one%3Da1&right=one%3Db2&type=samples&shares=1",
        "/history?over=commit&type=cpu&select=commit%3D*",
        "/history?function=parse&over=commit&type=cpu&select=commit%3D*",
    ];
    with_sampled_commits(folder.path());
    for words in [&["export", "pprof", "--store", "s.db", "-o", "s.pb.gz"][..], &["push", "--store", "s.db", "s.pb.gz"]]
    {
        assert!(run_to_end(diytrace(folder.path()).args(words)).status.success(), "{words:?}");
    }
    for some in addresses.chunks(6) {
        browser::tell("axe.mjs", &service, some); // all of them would take a busy machine too long
    }
    drop(service);
    browser::tell("axe.mjs", &Service::start(folder.path(), &["--token-file", "tokens"]), &["/explore"]);
    let folder = tempfile::tempdir().unwrap();
    browser::tell("axe.mjs", &Service::start(folder.path(), &[]), &["/", "/explore", "/verdicts"]);
}
