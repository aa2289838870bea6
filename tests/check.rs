//! What `diytrace check` tells of programs before they are run, and that it is true.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Build, diytrace, each_build, fixture, run_to_end, tool};
use needs::needs;
use serde_json::Value;
use tempfile::TempDir;

/// A checkup, and the exit status that came with it.
struct Checked {
    json: Value,
    status: Option<i32>,
}

impl Checked {
    fn module(&self, name: &str) -> &Value {
        let modules = self.json["modules"].as_array().unwrap();
        let is_named = |module: &&Value| module["path"].as_str().unwrap().ends_with(&format!("/{name}"));
        modules.iter().find(is_named).unwrap_or_else(|| panic!("{name} is not in {:#}", self.json))
    }

    fn program(&self) -> &Value {
        &self.json["modules"][0]
    }

    fn codes(&self) -> Vec<&str> {
        let findings = self.json["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
    }

    fn verdict(&self) -> &str {
        self.json["verdict"].as_str().unwrap()
    }

    /// Nothing of it can be recorded, for this reason.
    #[track_caller]
    fn assert_cannot(&self, code: &str, words: &[&str]) {
        assert_eq!((self.status, &self.json["works"]), (Some(1), &Value::Bool(false)), "{:#}", self.json);
        assert_eq!(self.codes().first(), Some(&code), "{:#}", self.json);
        assert!(self.verdict().contains(" cannot be recorded: "), "{}", self.verdict());
        for word in words {
            assert!(self.verdict().contains(word), "{word:?} in {}", self.verdict());
        }
    }

    /// It can be recorded, with these findings.
    #[track_caller]
    fn assert_can(&self, codes: &[&str]) {
        assert_eq!((self.status, &self.json["works"]), (Some(0), &Value::Bool(true)), "{:#}", self.json);
        assert_eq!(self.codes(), codes, "{:#}", self.json);
    }
}

fn check(program: &Path) -> Checked {
    let output = ask(program, &["--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(json["schema"], "diytrace-check/1");
    assert!(!json["next"].as_str().unwrap().is_empty());
    Checked { json, status: output.status.code() }
}

fn ask(program: &Path, options: &[&str]) -> Output {
    run_to_end(diytrace(Path::new("/")).arg("check").arg(program).args(options))
}

/// A program compiled with options of its own.
struct Compiled {
    path: PathBuf,
    folder: TempDir,
}

impl Compiled {
    fn by(compiler: &str, options: &[&str], source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-fixtures").join(source);
        run(Command::new(compiler).args(["-g", "-o"]).arg(&path).arg(source).args(options));
        Self { path, folder }
    }

    fn check(&self) -> Checked {
        check(&self.path)
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_call_of_a_hook_is_counted() {
    each_build("inlined.c", |program| {
        let checked = check(&program.path);
        checked.assert_can(&[]);
        let module = checked.program();
        assert_eq!(module["functions"], serde_json::json!({ "all": 4, "instrumented": 4 }));
        // Inlined: `check` in `add` itself, both in main, and both twice in `sum_up`.
        assert_eq!(module["enters"], serde_json::json!({ "sites": 11, "inlined": 7 }));
        let tail_jumps = if program.build.is_optimized() { 3 } else { 0 };
        assert_eq!(module["exits"], serde_json::json!({ "sites": 11, "tail_jumps": tail_jumps }));
        assert_eq!(module["option"], "-finstrument-functions");
        assert_eq!(
            (&module["symbols"], &module["lines"], &module["hooks"]),
            (&"all".into(), &true.into(), &"recorder".into())
        );
        let compiler = &module["compilers"][0];
        assert!(compiler["name"].as_str().unwrap().starts_with(program.build.compiler), "{compiler}");
        assert_eq!((&compiler["files"], &compiler["instrumented_files"]), (&1.into(), &1.into()));
    });
}

#[test]
fn every_way_to_a_hook_is_known() {
    for options in [
        &["-fno-plt"][..],
        &["-no-pie", "-fno-pie"],
        &["-fcf-protection=full", "-Wl,-z,ibtplt"],
        &["-Wl,-z,now"],
        &["-fPIC", "-shared"],
        &["-O0", "-fPIC", "-shared", "-fno-plt"],
    ] {
        let options = [&["-O2", "-finstrument-functions"], options].concat();
        let checked = Compiled::by("gcc", &options, "inlined.c").check();
        let module = checked.program();
        assert_eq!(module["functions"], serde_json::json!({ "all": 4, "instrumented": 4 }), "{options:?}");
        assert_eq!(module["enters"], serde_json::json!({ "sites": 11, "inlined": 7 }), "{options:?}");
        assert_eq!(module["exits"]["sites"], 11, "{options:?}");
    }
}

#[test]
fn libraries_are_looked_into() {
    each_build("library.c", |program| {
        let checked = check(&program.path);
        checked.assert_can(&[]);
        assert_eq!(checked.module("library")["functions"]["instrumented"], 2);
        let library = checked.module("libshape.so");
        assert_eq!((&library["role"], &library["hooks"]), (&"library".into(), &"recorder".into()));
        assert_eq!(library["functions"], serde_json::json!({ "all": 3, "instrumented": 3 }));
        assert!(checked.verdict().ends_with("all 3 functions of libshape.so"), "{}", checked.verdict());

        let alone = check(&program.folder.join("libshape.so"));
        alone.assert_can(&[]);
        assert!(alone.verdict().contains("in any program"), "{}", alone.verdict());
    });
}

#[test]
fn options_that_leave_functions_out() {
    let exclusion = "-finstrument-functions-exclude-function-list=add,check";
    let checked = Compiled::by("gcc", &["-O2", "-finstrument-functions", exclusion], "inlined.c").check();
    checked.assert_can(&[]);
    assert_eq!(checked.program()["compilers"][0]["exclusions"], serde_json::json!([exclusion]));
}

#[needs(clang)]
#[test]
fn clangs_two_options_are_told_apart() {
    for option in ["-finstrument-functions-after-inlining", "-finstrument-functions"] {
        let checked = Compiled::by("clang", &["-O2", option], "inlined.c").check();
        assert_eq!(checked.program()["option"], option);
    }
    let either = Compiled::by("clang", &["-O0", "-finstrument-functions"], "plain.c").check();
    assert!(either.program()["option"].as_str().unwrap().contains(" or "), "{:#}", either.json);
}

#[test]
fn the_next_command_records() {
    let asan = ["-finstrument-functions", "-fsanitize=address"];
    for (options, findings) in [(&asan[..1], &[][..]), (&asan, &["asan"])] {
        let program = Compiled::by("gcc", options, "plain.c");
        let checked = program.check();
        checked.assert_can(findings);
        let mut shell = Command::new("sh");
        let tools = format!("{}:/usr/bin:/bin", tool("diytrace").parent().unwrap().display());
        shell.args(["-c", checked.json["next"].as_str().unwrap()]).current_dir(program.folder.path());
        let output = run_to_end(shell.env("PATH", tools).env_remove("LD_PRELOAD").env_remove("DIYTRACE_OUT"));
        assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
        let made =
            fs::read_dir(program.folder.path().join("diytrace.data")).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(made.filter(|path| path.extension().is_some_and(|extension| extension == "diyt")).count(), 1);
    }
}

#[test]
fn hooks_of_its_own() {
    each_build("own-hooks.c", |program| {
        let checked = check(&program.path);
        checked.assert_cannot("own-hooks", &["__cyg_profile_func_enter of its own"]);
        assert_eq!(checked.module("own-hooks")["hooks"], "own");
        assert_eq!(checked.module("libshape.so")["hooks"], "program");

        // Hooks that it keeps to itself are not in the library's way.
        let mut hidden = program.clone();
        hidden.path = program.folder.join("hidden");
        let checked = check(&hidden.path);
        checked.assert_can(&["module-own-hooks"]);
        assert_eq!(checked.module("libshape.so")["hooks"], "recorder");
        hidden.record().run().report().assert_calls(
            "3 shape_area
             3 shape_area → square
             3 square",
        );
    });
}

#[needs(static_libc)]
#[test]
fn nothing_can_be_preloaded_where_nothing_is_loaded() {
    let linked_statically = Compiled::by("gcc", &["-finstrument-functions", "-static"], "plain.c").check();
    linked_statically.assert_cannot("static", &["statically linked"]);
    assert_eq!(linked_statically.program()["functions"]["instrumented"], 4);
}

#[test]
fn nothing_can_be_preloaded() {
    let options = ["-finstrument-functions"];
    let musl = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1";
    Compiled::by("gcc", &[options[0], musl], "plain.c").check().assert_cannot("musl", &["musl", "glibc"]);

    let foreign = Compiled::by("gcc", &options, "plain.c");
    let mut bytes = fs::read(&foreign.path).unwrap();
    bytes[18] = 183; // e_machine
    fs::write(&foreign.path, bytes).unwrap();
    foreign.check().assert_cannot("foreign", &["64-bit ARM"]);
}

#[needs(root)]
#[test]
fn a_program_with_more_rights() {
    let program = Compiled::by("gcc", &["-finstrument-functions"], "plain.c");
    std::os::unix::fs::chown(&program.path, Some(65534), None).unwrap();
    fs::set_permissions(&program.path, fs::Permissions::from_mode(0o4755)).unwrap();
    let checked = program.check();
    checked.assert_cannot("privileged", &["setuid"]);
    assert!(checked.json["next"].as_str().unwrap().starts_with("cp "), "{:#}", checked.json);
}

#[test]
fn a_library_that_is_not_there() {
    let library = fixture("library.c", Build::GCC_O0);
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("library");
    fs::copy(&library.path, &alone).unwrap();
    let checked = check(&alone);
    checked.assert_cannot("missing-library", &["libshape.so"]);
    assert_eq!(checked.json["missing_libraries"], serde_json::json!(["libshape.so"]));
}

#[test]
fn nothing_is_instrumented() {
    check(Path::new("true")).assert_cannot("not-instrumented", &["it is not instrumented, nor is"]);
    Compiled::by("gcc", &["-pg"], "plain.c").check().assert_cannot("not-instrumented", &["-pg"]);
    let both = Compiled::by("gcc", &["-pg", "-mfentry", "-finstrument-functions"], "plain.c").check();
    both.assert_can(&["other-tool"]);
}

/// Of which a program has so many that nobody would want to compile it here.
#[test]
fn more_hooks_than_there_is_room_for() {
    let source = |hooks: u32| {
        let call = "call __cyg_profile_func_enter@PLT";
        format!("int main(void) {{ __asm__ volatile(\".rept {hooks}\\n{call}\\n.endr\"); return 0; }}\n")
    };
    for (hooks, limit) in [(1_000, None), (60_000, None), (100_000, Some("512M")), (300_000, Some("2G"))] {
        let folder = tempfile::tempdir().unwrap();
        let [file, program] = ["many.c", "many"].map(|name| folder.path().join(name));
        fs::write(&file, source(hooks)).unwrap();
        run(Command::new("gcc").args(["-g", "-finstrument-functions", "-o"]).args([&program, &file]));
        let checked = check(&program);
        let memory = &checked.json["memory"];
        assert_eq!(memory["hooks"], hooks + 1, "and one of the compiler's");
        assert_eq!(checked.codes().contains(&"memory"), limit.is_some(), "{hooks}");
        let next = checked.json["next"].as_str().unwrap();
        match limit {
            Some(limit) => assert!(next.contains(&format!("diytrace record --memory {limit} ")), "{next}"),
            None => assert!(!next.contains("--memory") && memory["limit_bytes"] == 256 << 20, "{next} {memory}"),
        }
    }
}

#[test]
fn functions_to_leave_out_are_named_as_gcc_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let [file, program] = ["inlined.cc", "inlined"].map(|name| folder.path().join(name));
    let source = "volatile int sum;
template <typename A, typename B> struct Pair { static inline __attribute__((always_inline)) void put(A, B) { sum++; } };
#define TEN(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
int main() { TEN(TEN(Pair<int, long>::put(1, 2);)) TEN(TEN(Pair<int, long>::put(1, 2);)) }
";
    fs::write(&file, source).unwrap();
    run(Command::new("g++").args(["-g", "-O2", "-finstrument-functions", "-o"]).args([&program, &file]));
    let checked = check(&program);
    let finding = checked.json["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "inlined");
    let advice = finding.unwrap()["advice"].as_str().unwrap();
    // A comma would begin another name, and gcc prints template arguments otherwise.
    assert!(advice.ends_with("-finstrument-functions-exclude-function-list=put"), "{advice}");
}

/// The command itself is written in Rust.
#[test]
fn rust_is_told_what_rustc_can_do() {
    let checked = check(&tool("diytrace"));
    checked.assert_cannot("not-instrumented", &["it is written in Rust"]);
    let advice = checked.json["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("rustc has no option for these hooks") && !advice.starts_with("compile"), "{advice}");
}

#[needs(go)]
#[test]
fn go_is_told_what_its_compiler_can_do() {
    let folder = tempfile::tempdir().unwrap();
    let [file, program] = ["main.go", "main"].map(|name| folder.path().join(name));
    fs::write(&file, "package main\nfunc main() { println(1) }\n").unwrap();
    let mut go = Command::new("go");
    go.args(["build", "-o"]).args([&program, &file]).current_dir(folder.path());
    run(go.env("GOCACHE", folder.path().join("cache")).env("GO111MODULE", "off").env("HOME", folder.path()));
    let checked = check(&program);
    let advice = checked.json["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("Go's compiler has no option for these hooks"), "{advice}");
}

#[needs(xray)]
#[test]
fn instrumented_for_xray() {
    let xray = Compiled::by("clang", &["-fxray-instrument", "-fxray-instruction-threshold=1"], "plain.c").check();
    xray.assert_cannot("not-instrumented", &["-fxray-instrument"]);
}

#[test]
fn a_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("start");
    fs::write(&script, "#!/bin/sh\nexec server\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let checked = check(&script);
    checked.assert_cannot("not-instrumented", &["start cannot", "it is a script"]);
    assert_eq!(checked.json["script"], script.to_str().unwrap());
}

#[test]
fn what_strip_takes() {
    let program = Compiled::by("gcc", &["-O2", "-finstrument-functions"], "inlined.c");
    let whole = program.check();
    let debug = program.folder.path().join("program.debug");
    run(Command::new("objcopy").arg("--only-keep-debug").args([&program.path, &debug]));
    run(Command::new("strip").arg(&program.path));
    let stripped = program.check();
    stripped.assert_can(&["stripped", "no-lines"]);
    for key in ["functions", "enters", "exits", "build_id"] {
        assert_eq!(stripped.program()[key], whole.program()[key], "{key}");
    }
    run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&program.path));
    let linked = program.check();
    linked.assert_can(&[]);
    let module = linked.program();
    assert_eq!((&module["symbols"], &module["lines"]), (&"debug-file".into(), &true.into()));
    assert_eq!(module["debug_file"], serde_json::json!({ "path": debug, "found_by": "debuglink" }));
    assert_eq!(module["compilers"], whole.program()["compilers"]);
}

#[test]
fn libraries_that_are_loaded_later() {
    let program = fixture("plugins.c", Build::GCC_O2);
    let checked = check(&program.path);
    checked.assert_can(&["dlopen"]);
    assert!(checked.json["findings"][0]["text"].as_str().unwrap().contains("RTLD_DEEPBIND"));
    check(&program.folder.join("red.so")).assert_can(&[]);
}

#[test]
fn no_recorder() {
    let program = fixture("plain.c", Build::GCC_O0);
    let output = run_to_end(diytrace(Path::new("/")).arg("check").arg(&program.path).env("DIYTRACE_LIB", "/nowhere"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot find the recorder"), "{said}");
}

#[test]
fn no_program() {
    for (name, words) in
        [("/nowhere/server", "there is no such file"), ("no-such-server", "no folder of PATH"), ("/", "a folder")]
    {
        let output = ask(Path::new(name), &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{said}");
        assert!(said.starts_with("diytrace: cannot check ") && said.contains(words), "{said}");
    }
}

#[test]
fn text_for_people() {
    let program = fixture("inlined.c", Build::GCC_O2);
    let mut command = diytrace(&program.folder);
    let output = run_to_end(command.args(["check", "./inlined", "--color", "never"]).env("COLUMNS", "80"));
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "inlined · all 4 functions instrumented",
        "  hooks      called at 11 enters (7 inlined) and 11 exits (3 by tail jump); they",
        "             will be the recorder's",
        "  option     -finstrument-functions",
        "  names      of all functions",
        "not instrumented: libc.so.6, ld-linux-x86-64.so.2",
        "✓ inlined can be recorded: all 4 functions are instrumented.",
        "  next: diytrace record ./inlined",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} in\n{text}");
    }
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
