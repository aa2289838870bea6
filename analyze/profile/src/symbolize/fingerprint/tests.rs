//! Builds of one source, compiled here: what is the same code, and what is another.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::elf::Mapped;
use crate::merge::{Module, ModuleFile, Place};
use crate::symbolize::{Files, Symbols};

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NUMBER
#define NUMBER 7
#endif
#ifndef TEXT
#define TEXT "what it says"
#endif
#ifndef ENTRY
#define ENTRY 30
#endif
#ifndef CALLEE
#define CALLEE one
#endif
#ifndef SECOND
#define SECOND 20.5
#endif
FIRST
static __thread int of_thread[AHEAD + 1];
static __thread int mine;
#if AHEAD
__attribute__((noinline)) void ahead(int x) { for (; x < 100; x += 3) printf("%d ahead of %s\n", x, "all others"); of_thread[x & 1] = x; }
#endif
static const int table[4] = {10, 20, ENTRY, 40};
static const char *const names[] = {"nil", "boolean", NAME};
static int counter;
__attribute__((noinline)) int walked(int x) { for (const int *one = table; one != table + 4; one++) x += *one ^ x; return x; }
__attribute__((noinline)) int one(int x) { return x * 3 + 1; }
__attribute__((noinline)) int two(int x) { return x * 3 + 1; }
__attribute__((noinline)) int number(int x) { return x * 5 + NUMBER; }
__attribute__((noinline)) int text(int x) { return puts(TEXT) + x; }
__attribute__((noinline)) int indexed(int x) { return table[x & 3]; }
__attribute__((noinline)) const char *named(int x) { return names[x % 3]; }
__attribute__((noinline)) int caller(int x) { return CALLEE(x) + 1; }
__attribute__((noinline)) double half(double x) { return x * SECOND; }
__attribute__((noinline)) int counted(int x) { mine += x; return counter += x; }
__attribute__((noinline)) int loops(int x) { int sum = 0; for (int i = 0; i < x; i++) { sum += i * x; if (sum > 1000) sum ^= i; } return sum; }
static int small(int x) { return (x ^ NUMBER) * 11; }
int holds(int x) { return small(x) + 1; }
__attribute__((noinline)) int switched(int x)
{
    switch (x) {
    case 0: return puts("a"); case 1: return rand(); case 2: return abs(x) + 5; case 3: return one(x);
    case 4: return two(x) * 3; case 5: return puts("six"); case 6: return counter; case 7: return 99;
    }
    return -1;
}
__attribute__((noinline)) void fails(int x)
{
    if (__builtin_expect(x > 5, 0)) { fprintf(stderr, "too large by %d\n", x - NUMBER); abort(); }
    counter++;
}
int main(int n, char **v)
{
    fails(n);
    return number(n) + walked(n) + text(n) + indexed(n) + (int)strlen(named(n)) + caller(n) + (int)half(n) + counted(n) + loops(n) + holds(n) + switched(n);
}
"#;

const FUNCTIONS: [&str; 15] = [
    "one", "two", "number", "text", "indexed", "walked", "named", "caller", "half", "counted", "loops", "holds",
    "switched", "fails", "main",
];

/// The functions of [`SOURCE`], compiled so.
fn compiled(compiler: &str, options: &[&str]) -> Vec<(String, Option<Fingerprint>)> {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("source.c"), SOURCE).unwrap();
    let defined = |name: &str| options.iter().any(|option| option.starts_with(&format!("-D{name}=")));
    let mut command = Command::new(compiler);
    command.args(["-g", "-Wl,--build-id", "-o", "program", "source.c"]).args(options).current_dir(here.path());
    for usual in ["FIRST=", "AHEAD=0", "NAME=\"number\""] {
        if !defined(usual.split('=').next().unwrap()) {
            command.arg(format!("-D{usual}"));
        }
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    of_program(&here.path().join("program"))
}

fn of_program(program: &Path) -> Vec<(String, Option<Fingerprint>)> {
    use object::Object;
    let mapped = Mapped::open(program).unwrap();
    let build_id = mapped.parsed().unwrap().build_id().unwrap().map(<[u8]>::to_vec).unwrap_or_default();
    let file = ModuleFile { path: program.display().to_string(), size: 0, modified_unix_ns: 0 };
    let modules = [Module { build_id, files: BTreeSet::from([file]), is_instrumented: true, is_program: true }];
    let files = Files::with_cache(1, Default::default());
    let symbols = Symbols::new(&modules, &files);
    let print = |name: &&str| {
        let symbol = symbols.all(0).find(|symbol| symbol.name == *name).unwrap_or_else(|| panic!("no {name}"));
        (name.to_string(), symbols.fingerprint(Place { module: Some(0), address: symbol.address }))
    };
    FUNCTIONS.iter().map(print).collect()
}

/// The functions that are not the same; none of them may be unknown.
fn differing(left: &[(String, Option<Fingerprint>)], right: &[(String, Option<Fingerprint>)]) -> Vec<String> {
    for (name, print) in left.iter().chain(right) {
        assert!(print.is_some(), "{name} is unknown");
    }
    left.iter().zip(right).filter(|(left, right)| left != right).map(|(left, _)| left.0.clone()).collect()
}

/// Each compiler that is here, and ways to compile.
fn each(story: impl Fn(&str, &[&str])) {
    for compiler in ["gcc", "clang"] {
        let is_here = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
        assert!(is_here || compiler != "gcc", "gcc is not installed");
        let ways: [&[&str]; 6] = [
            &["-O0"],
            &["-O2"],
            &["-O2", "-finstrument-functions"],
            &["-O2", "-no-pie", "-fno-pie"],
            &["-O2", "-fno-plt", "-fcf-protection=none"],
            &["-O3", "-static"],
        ];
        for way in ways.into_iter().filter(|_| is_here) {
            eprintln!("── {compiler} {}", way.join(" "));
            story(compiler, way);
        }
    }
}

#[test]
fn code_at_another_address_is_the_same() {
    each(|compiler, way| {
        let base = compiled(compiler, way);
        let none: [&str; 0] = [];
        assert_eq!(differing(&base, &compiled(compiler, way)), none, "built again");
        for moved in [
            &["-DAHEAD=1"][..],
            &[
                "-DFIRST=int first(int x){return x*77;}const char*second(void){return \"another text\";}double third(double x){return x*8.25;}",
            ],
            &["-DFIRST=const double d[99]={1,2};int i[1000];int e=5;"],
            &["-Wl,-Ttext-segment=0x800000"],
        ] {
            let is_linked_here = way.contains(&"-no-pie") || way.contains(&"-static") || !moved[0].starts_with("-Wl");
            if is_linked_here {
                assert_eq!(differing(&base, &compiled(compiler, &[way, moved].concat())), none, "{moved:?}");
            }
        }
    });
}

#[test]
fn what_changed_is_another_and_nothing_else() {
    each(|compiler, way| {
        let base = compiled(compiler, way);
        let is_optimized = !way.contains(&"-O0");
        // `main` may have them inlined, or know what they give back.
        let changed = |option: &str| {
            let mut changed = differing(&base, &compiled(compiler, &[way, &[option]].concat()));
            changed.retain(|name| name != "main");
            changed
        };
        let of_number: &[&str] = if is_optimized { &["number", "holds", "fails"] } else { &["number", "fails"] };
        assert_eq!(changed("-DNUMBER=8"), of_number);
        assert_eq!(changed("-DTEXT=\"what it said\""), ["text"]);
        assert_eq!(changed("-DENTRY=31"), ["indexed", "walked"]);
        assert_eq!(changed("-DNAME=\"string\""), ["named"]);
        assert_eq!(changed("-DCALLEE=two"), ["caller"]);
        assert_eq!(changed("-DSECOND=20.25"), ["half"]);
    });
}

#[test]
fn the_order_of_cases_is_code() {
    let program = |cases: &str| {
        let here = tempfile::tempdir().unwrap();
        let source = SOURCE.replace("case 0: return puts(\"a\"); case 1: return rand();", cases);
        fs::write(here.path().join("source.c"), source).unwrap();
        let line = ["-O2", "-DFIRST=", "-DAHEAD=0", "-DNAME=\"n\"", "-Wl,--build-id", "-o", "program", "source.c"];
        assert!(Command::new("gcc").args(line).current_dir(here.path()).status().unwrap().success());
        of_program(&here.path().join("program"))
    };
    let base = program("case 0: return puts(\"a\"); case 1: return rand();");
    let swapped = program("case 1: return puts(\"a\"); case 0: return rand();");
    assert_eq!(differing(&base, &swapped), ["switched"]);
}

#[test]
fn damaged_files_are_unknown_or_another_and_nothing_worse() {
    let here = tempfile::tempdir().unwrap();
    let (source, program) = (here.path().join("source.c"), here.path().join("program"));
    fs::write(&source, SOURCE).unwrap();
    let line = ["-O2", "-DFIRST=", "-DAHEAD=0", "-DNAME=\"n\"", "-Wl,--build-id", "-o"];
    assert!(Command::new("gcc").args(line).arg(&program).arg(&source).status().unwrap().success());
    let whole = fs::read(&program).unwrap();
    for at in (64..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        bytes[at / 2] = bytes[at / 2].wrapping_add(0x81);
        let damaged = here.path().join("damaged");
        fs::write(&damaged, &bytes).unwrap();
        let Ok(mapped) = Mapped::open(&damaged) else { continue };
        let build_id =
            mapped.parsed().and_then(|elf| object::Object::build_id(&elf).ok().flatten().map(<[u8]>::to_vec));
        let file = ModuleFile { path: damaged.display().to_string(), size: 0, modified_unix_ns: 0 };
        let build_id = build_id.unwrap_or_default();
        let modules = [Module { build_id, files: BTreeSet::from([file]), is_instrumented: true, is_program: true }];
        let files = Files::with_cache(1, Default::default());
        let symbols = Symbols::new(&modules, &files);
        for symbol in symbols.all(0).collect::<Vec<_>>() {
            let _ = symbols.fingerprint(Place { module: Some(0), address: symbol.address });
        }
    }
}
