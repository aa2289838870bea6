//! The answer in a sentence, and the command to type next.

use super::checkup::{Finding, Module, Severity};
use super::subject::Subject;
use crate::view::human::{count, counted};

/// Whether anything can be recorded, the sentence that says so, and the next command.
pub fn of(subject: &Subject, findings: &[Finding]) -> (bool, String, String) {
    let name = subject.name();
    let fatal = findings.iter().find(|finding| finding.severity == Severity::Fatal);
    if let Some(fatal) = fatal {
        let given = match &subject.program.script {
            Some(script) => script.file_name().unwrap_or(script.as_os_str()).to_string_lossy().into_owned(),
            None => name,
        };
        let verdict = format!("{given} cannot be recorded: {}", fatal.text);
        return (false, verdict, after(fatal, subject));
    }
    let modules: Vec<&Module> = subject.recorded().collect();
    let functions = |modules: &[&Module]| {
        let (all, instrumented) = modules.iter().fold((0, 0), |(all, instrumented), module| {
            (all + module.functions.all, instrumented + module.functions.instrumented)
        });
        match instrumented == all {
            true => format!("all {}", counted(all as u64, "function", "functions")),
            false => format!("{} of {}", count(instrumented as u64), counted(all as u64, "function", "functions")),
        }
    };
    let what = match modules.split_first() {
        Some((first, libraries)) if first.path == subject.modules[0].path => match libraries {
            [] => format!("{} of it", functions(&[first])),
            [one] => format!("{} of it and {} of {}", functions(&[first]), functions(&[one]), one.name()),
            many => format!("{} of it and {} of {} libraries", functions(&[first]), functions(many), many.len()),
        },
        Some((one, [])) => format!("{} of its library {}", functions(&[one]), one.name()),
        _ => format!("{} of {} libraries", functions(&modules), modules.len()),
    };
    if subject.is_library() {
        let verdict = format!("{name} will be recorded in every program that can be: {what}");
        return (true, verdict, "diytrace record PROGRAM".to_owned());
    }
    let asan = findings.iter().any(|finding| finding.code == "asan");
    let variable = if asan { "ASAN_OPTIONS=verify_asan_link_order=0 " } else { "" };
    (true, format!("{name} can be recorded: {what}"), format!("{variable}diytrace record {}", subject.typed))
}

/// The next command, once the advice is taken.
fn after(fatal: &Finding, subject: &Subject) -> String {
    let typed = &subject.typed;
    match fatal.code {
        "privileged" => format!("cp {typed} copy && diytrace record ./copy"),
        "not-instrumented" if subject.program.script.is_some() => format!("diytrace record {typed}"),
        _ => format!("diytrace check {typed}"),
    }
}
