//! C++ names as people write them.

mod common;

use common::each_build;

#[test]
fn are_demangled() {
    each_build("names.cc", |program| {
        let recorded = program.record().logged().run();
        let report = recorded.report();
        for (name, calls) in [
            ("main", 1),
            ("geometry::scale(int)", 2),
            ("geometry::scale(int, long)", 1),
            ("int geometry::twice<int>(int)", 1),
            ("double geometry::twice<double>(double)", 2),
            ("geometry::Square::Square(int)", 1),
            ("geometry::Square::~Square()", 1),
            ("geometry::Square::area() const", 1),
            ("geometry::Square::operator()(int)", 1),
            ("geometry::Square::sides()", 1),
            ("(anonymous namespace)::hidden()", 12),
        ] {
            assert_eq!(report.function(name).calls, calls, "{name}");
        }
        recorded.assert_agrees_with_the_event_log();
    });
}

#[test]
fn overloads_stay_apart() {
    each_build("names.cc", |program| {
        let report = program.record().run().report();
        let main = report.function("main");
        assert_eq!(main.callee("geometry::scale(int)").calls, 2);
        assert_eq!(main.callee("geometry::scale(int, long)").calls, 1);
    });
}

#[test]
fn lambdas_have_a_name() {
    each_build("names.cc", |program| {
        let report = program.record().run().report();
        let lambda =
            report.functions.iter().find(|function| function.name.contains("lambda") || function.name.contains("$_"));
        assert_eq!(lambda.map(|lambda| lambda.calls), Some(1), "{:#?}", report.counts());
    });
}
