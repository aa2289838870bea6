//! `DIYTRACE_ROOT`, `DIYTRACE_DEPTH` and `DIYTRACE_EXCLUDE`: what is recorded, and by whom it was called.

mod common;

use common::{Program, Report, each_build, fixture};

fn report(program: &Program, variables: &[(&str, &str)]) -> Report {
    let recording = variables.iter().fold(program.record(), |recording, (name, value)| recording.set(name, *value));
    recording.run().report()
}

const OUTER: &str = "
    2 outer
    6 outer → middle
    2 outer → helper
    6 middle
    12 middle → inner
    12 inner
    12 inner → helper
    14 helper";

#[test]
fn no_root() {
    each_build("roots.c", |program| {
        report(program, &[]).assert_calls(
            "1 main
             1 main → setup
             1 setup
             1 setup → helper
             2 main → outer
             2 outer
             6 outer → middle
             2 outer → helper
             6 middle
             12 middle → inner
             12 inner
             12 inner → helper
             4 main → hidden_step
             4 hidden_step
             4 hidden_step → helper
             19 helper",
        );
    });
}

#[test]
fn one_root() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "outer")]).assert_calls(OUTER);
    });
}

#[test]
fn a_root_inside_another() {
    each_build("roots.c", |program| {
        for roots in ["outer,inner", "inner,outer", "outer, middle ,helper"] {
            let report = report(program, &[("ROOT", roots)]);
            if roots.contains("helper") {
                assert_eq!(report.function("helper").calls, 19, "also where it is called outside `outer`");
            } else {
                report.assert_calls(OUTER);
            }
        }
    });
}

#[test]
fn several_roots() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "setup,middle")]).assert_calls(
            "1 setup
             1 setup → helper
             6 middle
             12 middle → inner
             12 inner
             12 inner → helper
             13 helper",
        );
    });
}

#[test]
fn a_static_function() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "hidden_step")]).assert_calls(
            "4 hidden_step
             4 hidden_step → helper
             4 helper",
        );
    });
}

#[test]
fn globs() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "out*")]).assert_calls(OUTER);
        report(program, &[("ROOT", "?uter")]).assert_calls(OUTER);
        report(program, &[("ROOT", "*_step,se?up")]).assert_calls(
            "1 setup
             1 setup → helper
             4 hidden_step
             4 hidden_step → helper
             5 helper",
        );
    });
}

#[test]
fn main_as_root_is_everything() {
    each_build("roots.c", |program| {
        assert_eq!(report(program, &[("ROOT", "main")]).counts(), report(program, &[]).counts());
    });
}

#[test]
fn a_name_that_matches_nothing() {
    each_build("roots.c", |program| {
        let recorded = program.record().roots("outer,midle").run();
        let document = recorded.document(&[]);
        assert!(document.warns_of(&["midle", "`middle`"]), "{:?}", document.warnings);
        document.into_only_report().assert_calls(OUTER);

        let document = program.record().roots("nowhere").run().document(&[]);
        assert!(document.warns_of(&["nowhere"]), "{:?}", document.warnings);
        assert!(document.reports.iter().all(|report| report.calls == 0), "{document:#?}");
    });
}

#[test]
fn depth() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "outer"), ("DEPTH", "1")]).assert_calls(
            "2 outer
             6 outer → middle
             2 outer → helper
             6 middle
             2 helper",
        );
        report(program, &[("ROOT", "outer"), ("DEPTH", "2")]).assert_calls(
            "2 outer
             6 outer → middle
             2 outer → helper
             6 middle
             12 middle → inner
             12 inner
             2 helper",
        );
        report(program, &[("ROOT", "outer"), ("DEPTH", "3")]).assert_calls(OUTER);
    });
}

#[test]
fn depth_counts_from_the_nearest_root() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "outer,inner"), ("DEPTH", "1")]).assert_calls(OUTER);
        // `inner` is too deep below `outer`, and the root `helper` below it is not.
        report(program, &[("ROOT", "outer,helper"), ("DEPTH", "1")]).assert_calls(
            "2 outer
             6 outer → middle
             2 outer → helper
             6 middle
             12 middle → helper
             19 helper",
        );
    });
}

#[test]
fn depth_without_roots_counts_from_the_outermost_call() {
    each_build("roots.c", |program| {
        report(program, &[("DEPTH", "1")]).assert_calls(
            "1 main
             1 main → setup
             1 setup
             2 main → outer
             2 outer
             4 main → hidden_step
             4 hidden_step",
        );
    });
}

#[test]
fn excluded_functions_leave_their_callees_to_their_callers() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "outer"), ("EXCLUDE", "middle")]).assert_calls(
            "2 outer
             12 outer → inner
             2 outer → helper
             12 inner
             12 inner → helper
             14 helper",
        );
        report(program, &[("EXCLUDE", "m?ddle,inner,hidden_*")]).assert_calls(
            "1 main
             1 main → setup
             1 setup
             1 setup → helper
             2 main → outer
             2 outer
             14 outer → helper
             4 main → helper
             19 helper",
        );
        report(program, &[("EXCLUDE", "helper"), ("ROOT", "middle")]).assert_calls(
            "6 middle
             12 middle → inner
             12 inner",
        );
    });
}

#[test]
fn excluded_functions_take_no_depth() {
    each_build("roots.c", |program| {
        report(program, &[("ROOT", "outer"), ("EXCLUDE", "middle"), ("DEPTH", "1")]).assert_calls(
            "2 outer
             12 outer → inner
             2 outer → helper
             12 inner
             2 helper",
        );
    });
}

#[test]
fn cxx_names() {
    const AREA: &str = "
        1 geometry::Square::area() const
        1 geometry::Square::area() const → (anonymous namespace)::hidden()
        1 (anonymous namespace)::hidden()";
    const SCALE: &str = "
        2 geometry::scale(int)
        2 geometry::scale(int) → (anonymous namespace)::hidden()";
    const OTHER_SCALE: &str = "
        1 geometry::scale(int, long)
        1 geometry::scale(int, long) → (anonymous namespace)::hidden()";
    each_build("names.cc", |program| {
        for root in [
            "geometry::Square::area",
            "geometry::Square::area() const",
            "_ZNK8geometry6Square4areaEv",
            "*::area",
            "geometry::*a() const",
        ] {
            report(program, &[("ROOT", root)]).assert_calls(AREA);
        }
        let both = format!("{SCALE}{OTHER_SCALE}\n 3 (anonymous namespace)::hidden()");
        report(program, &[("ROOT", "geometry::scale")]).assert_calls(&both);
        let one = format!("{SCALE}\n 2 (anonymous namespace)::hidden()");
        report(program, &[("ROOT", "geometry::scale(int)")]).assert_calls(&one);
        let other = format!("{OTHER_SCALE}\n 1 (anonymous namespace)::hidden()");
        report(program, &[("ROOT", "geometry::scale(int, long)")]).assert_calls(&other);
        report(program, &[("ROOT", "(anonymous namespace)::hidden")])
            .assert_calls("12 (anonymous namespace)::hidden()");
    });
}

/// The recorder's demangler left out a constructor's first parameter, so a root meant another function than the report's name said. Names are as
/// other tools have them.
#[test]
fn names_of_templates() {
    each_build("template-names.cc", |program| {
        for (root, calls) in [
            ("Shape::Shape<char>(char, int)", 1),
            ("Shape::Shape<char>(int, char)", 2),
            ("void all<int, int>(int&&, int&&)", 3),
            ("all<>()", 4),
            ("Fixed<3ul>::put", 5),
            ("operator\"\" _km", 6),
        ] {
            let report = report(program, &[("ROOT", root)]);
            let called: Vec<(&str, u64)> = report.functions.iter().map(|one| (&*one.name, one.calls)).collect();
            assert!(
                matches!(called[..], [(name, found)] if name.contains(root) && found == calls),
                "{root}: {called:?}"
            );
        }
    });
}

#[test]
fn in_a_shared_library() {
    each_build("library.c", |program| {
        report(program, &[("ROOT", "shape_each")]).assert_calls(
            "1 shape_each
             4 shape_each → visit
             4 visit",
        );
        report(program, &[("ROOT", "square")]).assert_calls("3 square");
    });
}

#[test]
fn in_a_library_that_is_loaded_later() {
    each_build("plugins.c", |program| {
        let run = |roots: &str| {
            let plugin = program.folder.join("red.so");
            program.record().roots(roots).arg("5").arg(&plugin).arg(&plugin).run().report()
        };
        run("red_step").assert_calls("10 red_step");
        run("plugin_run").assert_calls(
            "2 plugin_run
             10 plugin_run → red_step
             10 red_step",
        );
        run("use,red_step").assert_calls(
            "2 use
             2 use → plugin_run
             2 plugin_run
             10 plugin_run → red_step
             10 red_step",
        );
    });
}

#[test]
fn recursion_as_a_root() {
    each_build("recursion.c", |program| {
        let run = |variables: &[(&str, &str)], shape: &str| {
            let recording = program.record().arg(shape).arg("10");
            variables.iter().fold(recording, |recording, (name, value)| recording.set(name, *value)).run().report()
        };
        run(&[("ROOT", "down")], "down").assert_calls("11 down\n 10 down → down");
        // Each nested call of a root is a root.
        run(&[("ROOT", "down"), ("DEPTH", "1")], "down").assert_calls("11 down\n 10 down → down");
        run(&[("ROOT", "is_odd"), ("DEPTH", "1")], "parity").assert_calls(
            "5 is_odd
             5 is_odd → is_even
             5 is_even
             4 is_even → is_odd",
        );
        run(&[("EXCLUDE", "is_even")], "parity").assert_calls(
            "1 main
             1 main → is_odd
             4 is_odd → is_odd
             5 is_odd",
        );
    });
}

#[test]
fn forked_children_inside_a_root() {
    each_build("fork.c", |program| {
        let recorded = program.record().arg("return").roots("split").run();
        recorded.report().assert_calls(
            "1 split
             1 split → before
             1 before
             1 split → after
             1 after
             1 split → in_child
             1 in_child
             2 in_child → leaf
             2 leaf",
        );
        let recorded = program.record().arg("_exit").roots("in_child").run();
        recorded.report().assert_calls(
            "1 in_child
             2 in_child → leaf
             2 leaf",
        );
    });
}

/// Of each it was said that nothing is called so, and asked whether it was meant.
#[test]
fn programs_of_one_folder_that_have_one_root_each() {
    each_build("roots.c", |program| {
        let other = fixture("tiny.c", program.build);
        let both = program.wrapped(&format!("\"$PROGRAM\"; '{}'", other.path.display()));
        let recorded = both.record().roots("outer,next_line,nowhere").run();
        let document = recorded.document(&[]);
        let warned = |root: &str| document.warns_of(&[&format!("nothing is called `{root}`")]);
        assert_eq!(["outer", "next_line", "nowhere"].map(warned), [false, false, true], "{:?}", document.warnings);
        let calls = |name: &str| -> u64 {
            let functions = document.reports.iter().flat_map(|report| &report.functions);
            functions.filter(|function| function.name == name).map(|function| function.calls).sum()
        };
        assert_eq!(["outer", "next_line"].map(calls), [2, 20]);
    });
}

#[test]
fn longjmp_out_of_a_root() {
    each_build("longjmp.c", |program| {
        let recorded = program.record().roots("level_1").run();
        recorded.report().assert_calls(
            "1_000 level_1
             1_000 level_1 → level_2
             1_000 level_2
             1_000 level_2 → level_3
             1_000 level_3",
        );
    });
}

#[test]
fn roots_asked_for_in_the_report() {
    each_build("roots.c", |program| {
        let recorded = program.record().run();
        let report = recorded.document(&["--root", "outer"]).into_only_report();
        let outer = report.function("outer");
        assert_eq!((outer.calls, outer.callee("middle").calls, outer.callee("helper").calls), (2, 6, 2));
    });
}
