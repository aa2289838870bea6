//! The answer in a sentence, and the command to type next.

use super::checkup::{Finding, Functions, Module, Severity};
use super::memory::Memory;
use super::subject::Subject;
use diytrace_profile::human::{count, counted};

/// Whether anything can be recorded, the sentence that says so, and the next command.
pub fn of(subject: &Subject, findings: &[Finding], memory: &Memory) -> (bool, String, String) {
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
    let what = instrumented(subject);
    if subject.is_library() {
        let verdict = format!("{name} will be recorded in any program that can be recorded: {what}");
        return (true, verdict, "diytrace record PROGRAM".to_owned());
    }
    let asan = findings.iter().any(|finding| finding.code == "asan");
    let variable = if asan { "ASAN_OPTIONS=verify_asan_link_order=0 " } else { "" };
    let option = memory.wanted().map(|limit| format!("--memory {limit} ")).unwrap_or_default();
    (true, format!("{name} can be recorded: {what}"), format!("{variable}diytrace record {option}{}", subject.typed))
}

/// How much of what is recorded.
fn instrumented(subject: &Subject) -> String {
    let mut parts = Vec::new();
    let is_checked = |module: &Module| module.path == subject.modules[0].path;
    let (checked, libraries): (Vec<&Module>, Vec<&Module>) = subject.recorded().partition(|module| is_checked(module));
    if let [checked] = checked.as_slice() {
        let verb = if checked.functions.all == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} instrumented", part(checked.functions)));
    }
    parts.extend(match libraries.as_slice() {
        [] => None,
        [one] => Some(format!("{} of {}", part(one.functions), one.name())),
        many => Some(format!("{} of {} libraries", part(sum(many)), many.len())),
    });
    parts.join(", and ")
}

fn part(functions: Functions) -> String {
    let all = counted(functions.all as u64, "function", "functions");
    match functions.instrumented == functions.all {
        true if functions.all == 1 => "the only function".to_owned(),
        true => format!("all {all}"),
        false => format!("{} of {all}", count(functions.instrumented as u64)),
    }
}

fn sum(modules: &[&Module]) -> Functions {
    modules.iter().fold(Functions::default(), |sum, module| Functions {
        all: sum.all + module.functions.all,
        instrumented: sum.instrumented + module.functions.instrumented,
    })
}

/// The next command, once the advice is taken.
fn after(fatal: &Finding, subject: &Subject) -> String {
    let typed = &subject.typed;
    match fatal.code {
        "privileged" => format!("cp {typed} copy && diytrace record ./copy"),
        "not-instrumented" if subject.program.script.is_some() => "diytrace check PROGRAM".to_owned(),
        _ => format!("diytrace check {typed}"),
    }
}
