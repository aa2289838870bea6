//! Text for people: a block for each module that matters, what is to be known, and the answer last, where eyes are.

use std::io::{self, Write};

use crate::check::Checkup;
use crate::check::checkup::{Finding, Hooks, Instrumenting, Module, Severity, Symbols};
use diytrace_profile::human::{count, counted};
use diytrace_views::view::Screen;

/// Columns of what a fact is called, with the space around it.
const LABEL: usize = 13;

/// Libraries without hooks that are named.
const NAMED: usize = 6;

/// Folders that are named.
const FOLDERS: usize = 8;

/// Writes a checkup as text.
pub fn write(checkup: &Checkup, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let page = Page { screen };
    let mut lines = Vec::new();
    let is_shown = |module: &&Module| module.hooks != Hooks::None || module.path == checkup.program;
    for module in checkup.modules.iter().filter(is_shown) {
        lines.extend(page.module(module));
        lines.push(String::new());
    }
    let others: Vec<&Module> = checkup.modules.iter().filter(|module| !is_shown(module)).collect();
    if !others.is_empty() {
        lines.extend(page.others(&others));
        lines.push(String::new());
    }
    // The first fatal finding is the verdict.
    let verdict = checkup.findings.iter().find(|finding| finding.severity == Severity::Fatal);
    let findings: Vec<&Finding> = checkup
        .findings
        .iter()
        .filter(|finding| !verdict.is_some_and(|verdict| std::ptr::eq(verdict, *finding)))
        .collect();
    lines.extend(findings.iter().flat_map(|finding| page.finding(finding)));
    if !findings.is_empty() {
        lines.push(String::new());
    }
    lines.extend(page.verdict(checkup, verdict));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

struct Page<'a> {
    screen: &'a Screen,
}

impl Page<'_> {
    fn module(&self, module: &Module) -> Vec<String> {
        let functions = &module.functions;
        let part = match (functions.instrumented, functions.all) {
            (0, _) => "not instrumented".to_owned(),
            (some, all) if some == all => format!("all {} instrumented", counted(all as u64, "function", "functions")),
            (some, all) => {
                format!("{} of {} instrumented", count(some as u64), counted(all as u64, "function", "functions"))
            }
        };
        let title = format!("{} · {part}", self.paint(module.name(), "1"));
        let mut lines = vec![title];
        let facts = [
            ("file", module.path.clone()),
            ("hooks", hooks(module)),
            ("option", option(module).to_owned()),
            ("compiler", compilers(module).join("; ")),
            ("left out", exclusions(module)),
            ("folders", folders(module)),
            ("names", names(module).to_owned()),
            ("lines", if module.lines { "yes" } else { "no" }.to_owned()),
            ("debug file", module.debug_file.as_ref().map(|debug| debug.path.clone()).unwrap_or_default()),
            ("build ID", module.build_id.clone().unwrap_or_else(|| "none".to_owned())),
        ];
        for (label, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
            let label = format!("  {label:<width$}", width = LABEL - 2);
            lines.extend(self.hanging(&self.paint(&label, "2"), LABEL, fact));
        }
        lines
    }

    fn others(&self, modules: &[&Module]) -> Vec<String> {
        let mut names: Vec<&str> = modules.iter().take(NAMED).map(|module| module.name()).collect();
        let more = format!("{} more", modules.len().saturating_sub(NAMED));
        if modules.len() > NAMED {
            names.push(&more);
        }
        self.hanging(&self.paint("not instrumented: ", "2"), 18, &names.join(", "))
    }

    fn finding(&self, finding: &Finding) -> Vec<String> {
        let (label, color) = match finding.severity {
            Severity::Fatal => ("also", "31"),
            Severity::Warning => ("warning", "33"),
            Severity::Note => ("note", "36"),
        };
        let mut lines = self.hanging(&format!("{}: ", self.paint(label, color)), label.len() + 2, &finding.text);
        if let Some(advice) = &finding.advice {
            let indent = label.len() + 2;
            lines.extend(self.hanging(&format!("{:indent$}→ ", ""), indent + 2, advice));
        }
        lines
    }

    fn verdict(&self, checkup: &Checkup, fatal: Option<&Finding>) -> Vec<String> {
        let (mark, color) = if checkup.works { ("✓ ", "1;32") } else { ("✗ ", "1;31") };
        let mut lines = self.hanging(&self.paint(mark, color), 2, &format!("{}.", checkup.verdict));
        if let Some(advice) = fatal.and_then(|fatal| fatal.advice.as_ref()) {
            lines.extend(self.hanging("  → ", 4, advice));
        }
        lines.push(format!("  {} {}", self.paint("next:", "2"), self.paint(&checkup.next, "1")));
        lines
    }

    /// A label, and a text beside it over as many lines as it takes.
    fn hanging(&self, label: &str, indent: usize, text: &str) -> Vec<String> {
        let width = self.screen.width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
                Some(line) => line.push_str(&format!(" {word}")),
                None => lines.push(word.to_owned()),
            }
        }
        let hang = " ".repeat(indent);
        let margin = |index| if index == 0 { label } else { &*hang };
        lines.iter().enumerate().map(|(index, line)| format!("{}{line}", margin(index))).collect()
    }

    fn paint(&self, text: &str, style: &str) -> String {
        if self.screen.color { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn hooks(module: &Module) -> String {
    let whose = match module.hooks {
        _ if module.enters.sites == 0 => return String::new(),
        Hooks::None => return String::new(),
        Hooks::Recorder => "they will be the recorder's",
        Hooks::Program => "they are the program's, not the recorder's",
        Hooks::Own => "they are its own, not the recorder's",
    };
    let of =
        |part: usize, what: &str| if part == 0 { String::new() } else { format!(" ({} {what})", count(part as u64)) };
    format!(
        "called at {}{} and {}{}; {whose}",
        counted(module.enters.sites as u64, "enter", "enters"),
        of(module.enters.inlined, "inlined"),
        counted(module.exits.sites as u64, "exit", "exits"),
        of(module.exits.tail_jumps, "by tail jump"),
    )
}

fn option(module: &Module) -> &'static str {
    match module.option {
        Instrumenting::None => "",
        Instrumenting::Functions => "-finstrument-functions",
        Instrumenting::AfterInlining => "-finstrument-functions-after-inlining",
        Instrumenting::Either => {
            "-finstrument-functions or -finstrument-functions-after-inlining (its code does not tell)"
        }
        Instrumenting::Unknown => "unknown",
    }
}

fn compilers(module: &Module) -> Vec<String> {
    let told = module.compilers.iter().map(|compiler| match (compiler.files, compiler.instrumented_files) {
        (Some(files), Some(instrumented)) => {
            let files = counted(files as u64, "file", "files");
            format!("{}, {} of {files} instrumented", compiler.name, count(instrumented as u64))
        }
        _ => compiler.name.clone(),
    });
    told.collect()
}

fn exclusions(module: &Module) -> String {
    let exclusions: Vec<&str> =
        module.compilers.iter().flat_map(|compiler| &compiler.exclusions).map(String::as_str).collect();
    exclusions.join(" ")
}

/// Folders with instrumented files, if others have none.
fn folders(module: &Module) -> String {
    let instrumented: Vec<_> = module.folders.iter().filter(|folder| folder.instrumented_files > 0).collect();
    if instrumented.is_empty() || instrumented.len() == module.folders.len() {
        return String::new();
    }
    let mut texts: Vec<String> = instrumented.iter().take(FOLDERS).map(|folder| folder.path.clone()).collect();
    if instrumented.len() > FOLDERS {
        texts.push(format!("{} more", instrumented.len() - FOLDERS));
    }
    format!(
        "{}; none in {}",
        texts.join(", "),
        counted((module.folders.len() - instrumented.len()) as u64, "other", "others")
    )
}

fn names(module: &Module) -> &'static str {
    match module.symbols {
        Symbols::All => "of all functions",
        Symbols::DebugFile => "of all functions, by the debug file",
        Symbols::Exported => "of exported functions only: it is stripped",
        Symbols::None => "none: it is stripped",
    }
}
