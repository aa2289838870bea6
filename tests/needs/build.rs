//! Looks for everything that some tests need and not every machine has.
//!
//! Cargo asks again when a tool that was found is gone, when a program is installed where one was missing, and with another
//! `PATH`, `CI` or user. What a container is permitted can change without any of these: `touch tests/needs/build.rs`.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};

/// Where packages put programs.
const PROGRAMS: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

const NOBODY: u32 = 65534;
const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Whether something is here.
enum Found {
    Here,
    /// This Debian package brings it.
    NotInstalled(String),
    /// No package does: who runs the tests may not do it, or not here.
    NotPermitted,
}

/// Something that tests need.
struct Thing {
    /// As tests name it.
    name: &'static str,
    /// As people do.
    what: String,
    found: Found,
}

fn main() {
    ["PATH", "CI", "USER"].iter().for_each(|variable| println!("cargo::rerun-if-env-changed={variable}"));
    println!("cargo::rerun-if-changed=build.rs");
    let things = things();
    let is_missing = |thing: &&Thing| matches!(thing.found, Found::NotInstalled(_));
    if things.iter().any(|thing| is_missing(&thing)) {
        PROGRAMS.iter().for_each(|folder| watch(Path::new(folder)));
    }
    let must_have_all = env::var_os("CI").is_some_and(|value| !value.is_empty());
    if must_have_all && things.iter().any(|thing| is_missing(&thing)) {
        let missing: Vec<_> = things.iter().filter(is_missing).map(what).collect();
        eprintln!("CI is set, so no test may be ignored, but some need {}", missing.join(", "));
        exit(1);
    }
    let line = |thing: &Thing| match thing.found {
        Found::Here => format!("{}\t\n", thing.name),
        _ => format!("{}\tneeds {}\n", thing.name, what(thing)),
    };
    fs::write(out().join("things"), things.iter().map(line).collect::<String>()).unwrap();
}

/// What is missing, and where it comes from.
fn what(thing: &Thing) -> String {
    match &thing.found {
        Found::NotInstalled(package) => format!("{} (Debian: {package})", thing.what),
        Found::Here | Found::NotPermitted => thing.what.clone(),
    }
}

fn things() -> Vec<Thing> {
    let mut things = vec![
        Thing { name: "clang", what: "clang and clang++".to_owned(), found: tools(&["clang", "clang++"], "clang") },
        Thing { name: "lld", what: "LLVM's linker".to_owned(), found: tools(&["ld.lld"], "lld") },
        Thing { name: "valgrind", what: "valgrind".to_owned(), found: tools(&["valgrind"], "valgrind") },
        Thing {
            name: "callgrind_annotate",
            what: "callgrind_annotate".to_owned(),
            found: tools(&["callgrind_annotate"], "valgrind"),
        },
        Thing { name: "dot", what: "dot".to_owned(), found: tools(&["dot"], "graphviz") },
        Thing { name: "chromium", what: "chromium".to_owned(), found: tools(&["chromium"], "chromium") },
        Thing { name: "npm", what: "node and npm".to_owned(), found: tools(&["node", "npm"], "npm") },
        Thing { name: "clickhouse", what: CLICKHOUSE.to_owned(), found: clickhouse() },
        Thing { name: "nginx", what: "nginx".to_owned(), found: tools(&["nginx"], "nginx-light") },
        Thing { name: "go", what: "go".to_owned(), found: tools(&["go"], "golang-go") },
        Thing {
            name: "prometheus_client",
            what: "Prometheus' parser for Python".to_owned(),
            found: python("prometheus_client", "python3-prometheus-client"),
        },
        Thing {
            name: "static_libc",
            what: "a static libc".to_owned(),
            found: compiled("gcc", &["-static"], "libc6-dev", false),
        },
        Thing {
            name: "xray",
            what: "clang's XRay runtime".to_owned(),
            found: compiled("clang", &["-fxray-instrument"], &clang_runtime(), false),
        },
    ];
    for (name, compiler, sanitizer) in [
        ("gcc_address", "gcc", "address"),
        ("gcc_undefined", "gcc", "undefined"),
        ("gcc_thread", "gcc", "thread"),
        ("clang_address", "clang", "address"),
        ("clang_undefined", "clang", "undefined"),
        ("clang_thread", "clang", "thread"),
    ] {
        let package = if compiler == "gcc" { "gcc".to_owned() } else { clang_runtime() };
        let found = compiled(compiler, &[&format!("-fsanitize={sanitizer}")], &package, true);
        things.push(Thing { name, what: format!("{compiler}'s -fsanitize={sanitizer} to run"), found });
    }
    for (name, what, is_permitted) in [
        ("root", "root, who can give files away", can_give_away()),
        (
            "another_user",
            "to be or to become a user who is not root",
            !is_root() || can(&[&AS_NOBODY[..], &["true"]].concat()),
        ),
        (
            "mounts",
            "the right to mount file systems",
            can(&["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/tmp"]),
        ),
        (
            "networks",
            "the right to make networks (namespaces, iproute2)",
            can(&["unshare", "--net", "ip", "link", "add", "diytrace0", "type", "veth", "peer", "name", "diytrace1"]),
        ),
        (
            "process_numbers",
            "the right to make process numbers of its own (containers)",
            can(&["unshare", "--pid", "--fork", "true"]),
        ),
        (
            "containers",
            "the right to make process numbers of its own, and to mount their /proc (containers)",
            can(&["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "true"]),
        ),
        ("perf_events", "the kernel to allow perf_event_open, and no filter of system calls", has_perf_events()),
        ("setuid", "programs with their owner's rights to have them", is_setuid_honoured()),
    ] {
        let found = if is_permitted { Found::Here } else { Found::NotPermitted };
        things.push(Thing { name, what: what.to_owned(), found });
    }
    things
}

/// What npm has of it is of one architecture.
const CLICKHOUSE: &str = "x86-64, node and npm (ClickHouse)";

fn clickhouse() -> Found {
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => tools(&["node", "npm", "cc"], "npm"),
        _ => Found::NotPermitted,
    }
}

/// Programs that a package brings.
fn tools(programs: &[&str], package: &str) -> Found {
    let folders = env::var_os("PATH").unwrap_or_default();
    for program in programs {
        let paths: Vec<PathBuf> = env::split_paths(&folders).map(|folder| folder.join(program)).collect();
        let Some(path) = paths.iter().find(|path| path.is_file()) else {
            return Found::NotInstalled(package.to_owned());
        };
        watch(path);
    }
    Found::Here
}

/// A package of Debian's Python.
fn python(package: &str, brought_by: &str) -> Found {
    let import = format!("import {package}");
    match succeeds(Command::new("/usr/bin/python3").args(["-c", &import])) {
        true => Found::Here,
        false => Found::NotInstalled(brought_by.to_owned()),
    }
}

/// A program that a compiler makes with an option, and that may have to run.
fn compiled(compiler: &str, options: &[&str], package: &str, runs: bool) -> Found {
    let (source, program) = (out().join("probe.c"), out().join("probe"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut command = Command::new(compiler);
    if !succeeds(command.args(options).arg("-o").arg(&program).arg(&source)) {
        return Found::NotInstalled(package.to_owned());
    }
    if runs && !succeeds(&mut Command::new(&program)) {
        return Found::NotPermitted;
    }
    Found::Here
}

/// The package with the runtime libraries of the clang that there is.
fn clang_runtime() -> String {
    let said = |argument: &str| {
        let output = Command::new("clang").arg(argument).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (Some(folder), Some(version)) = (said("-print-resource-dir"), said("-dumpversion")) else {
        return "clang".to_owned();
    };
    watch(Path::new(&folder));
    format!("libclang-rt-{}-dev", version.split('.').next().unwrap_or_default())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn can_give_away() -> bool {
    let path = out().join("given");
    is_root() && fs::write(&path, "").is_ok() && chown(&path, Some(NOBODY), None).is_ok()
}

/// Whether programs run with their owner's rights where tests put them.
fn is_setuid_honoured() -> bool {
    let folder = env::temp_dir().join(format!("diytrace-needs-{}", std::process::id()));
    let id = folder.join("id");
    let is_made = fs::create_dir(&folder).is_ok()
        && fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).is_ok()
        && fs::copy("/usr/bin/id", &id).is_ok()
        && fs::set_permissions(&id, fs::Permissions::from_mode(0o4755)).is_ok();
    let mut as_nobody = Command::new(AS_NOBODY[0]);
    let said = as_nobody.args(&AS_NOBODY[1..]).arg(&id).arg("-u").output();
    let _ = fs::remove_dir_all(&folder);
    is_made && is_root() && said.is_ok_and(|said| said.stdout == b"0\n")
}

/// Whether a thread may have an event of its own, as the recorder asks for it.
fn has_perf_events() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let (source, program) = (out().join("events.c"), out().join("events"));
    let text = "
        #include <linux/perf_event.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void)
        {
            struct perf_event_attr event = {
                .type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1};
            return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) < 0;
        }";
    fs::write(&source, text).unwrap();
    let is_filtered = status.lines().any(|line| line.starts_with("Seccomp:") && !line.ends_with("\t0"));
    !is_filtered
        && succeeds(Command::new("gcc").arg("-o").arg(&program).arg(&source))
        && succeeds(&mut Command::new(&program))
}

fn can(words: &[&str]) -> bool {
    succeeds(Command::new(words[0]).args(&words[1..]))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn out() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").unwrap())
}
