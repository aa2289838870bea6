//! Load from several hosts: what each worker tells that it has sent is what the server's access log has from its address.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::hosts::{FIRST, Host, Running};
use common::nginx::Nginx;
use common::{diytrace, run_to_end, wait_until};
use needs::needs;
use serde_json::Value;

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} in {value:#}"))
}

#[needs(nginx, networks)]
#[test]
fn an_access_log_has_what_each_worker_sent() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("tokens"), "write 0123456789abcdef\n").unwrap();
    fs::set_permissions(here.join("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    let (first, others) = Host::wired(2);
    let server = "server { listen 0.0.0.0:8080; location / { return 200 fine; } }
                  server { listen 0.0.0.0:8081 http2; location / { return 200 fine; } }";
    let nginx = Nginx::start_on(here, server, |command| first.running(command));
    let _service = first.serve(here);
    let (to, allowed) = (format!("http://{FIRST}:7070"), format!("{FIRST}:*"));
    let workers: Vec<Running> = others
        .iter()
        .map(|host| {
            let mut command = diytrace(here);
            command.args(["agent", "--load-worker", "--to", &to, "--token-file", "tokens", "--load-target", &allowed]);
            Running(host.running(&command).spawn().unwrap())
        })
        .collect();
    let load = |url: &str, more: &[&str]| {
        let mut command = diytrace(here);
        command.args(["load", url, "--workers", &to, "--token-file", "tokens", "--format", "json"]);
        command.args(["--duration", "1s", "--warm-up", "300ms"]).args(more);
        let output = run_to_end(&mut first.running(&command));
        let json = serde_json::from_slice::<Value>(&output.stdout);
        json.map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let both = |json: &Value| json["workers"].as_array().is_some_and(|workers| workers.len() == 2);
    wait_until("both workers are there", || {
        load(&format!("http://{FIRST}:8080/"), &["--rate", "10"]).is_ok_and(|json| both(&json))
    });
    let mut before = nginx.logged().len();
    for (port, more) in [(8080, &["--rate", "300,601"][..]), (8081, &["--rate", "400", "--http2", "--poisson"])] {
        let json = load(&format!("http://{FIRST}:{port}/"), more).unwrap();
        let logged = nginx.logged().split_off(before);
        before += logged.len();
        let steps = json["steps"].as_array().unwrap();
        // On a busy machine one may not be heard of for a while: then the report says by how much it may be off.
        let shares = || steps.iter().flat_map(|step| step["workers"].as_array().unwrap());
        let unsure: u64 = shares().map(|share| number(share, "cut_off")).sum();
        let unknown: u64 =
            shares().filter(|share| !share["lost"].is_null()).map(|share| number(&share["lost"], "most_unknown")).sum();
        let mut all = 0;
        for (worker, process) in workers.iter().enumerate() {
            let id = format!("/{}", process.0.id());
            let told =
                json["workers"].as_array().unwrap().iter().find(|one| one["name"].as_str().unwrap().ends_with(&id));
            let sent = told.map_or(0, |told| number(told, "sent"));
            let address = format!(" 10.77.{}.2", worker + 1);
            let had = logged.iter().filter(|line| line.ends_with(&address)).count() as u64;
            assert!((sent - unsure.min(sent)..=sent + unknown).contains(&had), "{had} of {sent}: {json:#}");
            all += had;
        }
        assert_eq!(all, logged.len() as u64, "nobody else asks");
        assert!(all > 0 && both(&json), "{json:#}");
    }
}
