//! What came of it: where the profile is, or why there is none.

use std::env;
use std::path::Path;
use std::process::ExitStatus;

use super::folder::Folder;
use super::program::Program;
use super::typed;
use diytrace_profile::elf::{Elf, HOOK, Linkage};

/// The sentence for after the command.
pub fn sentence(path: &Path, program: &Program, library: &Path, folder: &Folder, status: ExitStatus) -> String {
    let new = folder.new_profiles();
    let files = match new.as_slice() {
        [] => {
            let why = why_none(path, program, library, folder, status);
            folder.remove_if_unused();
            return format!("no profile was recorded: {why}");
        }
        [one] => format!("1 file, {}", one.display()),
        [first, second] => format!("2 files, {} and {}", first.display(), second.display()),
        [first, ..] => format!("{} files, {} and others", new.len(), first.display()),
    };
    // A report on the folder would add up the runs of before.
    let shown = match new.as_slice() {
        [one] if folder.had_profiles => folder.given.join(one),
        _ => folder.given.clone(),
    };
    format!("profile in {}: {files}; see it with: diytrace report {}", folder.given.display(), typed(&shown))
}

/// Why a command left no profile, and what to do.
fn why_none(path: &Path, program: &Program, library: &Path, folder: &Folder, status: ExitStatus) -> String {
    let given = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    if !folder.path.is_dir() {
        return format!("its folder {} was removed while {given} ran", folder.given.display());
    }
    let Some(elf) = &program.elf else {
        return format!("{given} is no program that can be looked into");
    };
    let name = elf.name();
    let facts = &elf.facts;
    let reason = match &facts.linkage {
        _ if program.secure_execution => format!(
            "{name} runs with more rights than its user (setuid, setgid or file capabilities), and the loader \
             preloads nothing then; run diytrace inside it, or record a copy without these rights"
        ),
        _ if !facts.is_for_recorder() => {
            format!("{name} is a {} program, and the recorder is a 64-bit x86 library", facts.kind())
        }
        Linkage::Static => format!(
            "{name} is statically linked, and nothing can be preloaded into it; link it dynamically (without -static)"
        ),
        Linkage::Dynamic { loader } if loader.to_string_lossy().contains("musl") => {
            format!("{name} is linked with musl, and the recorder needs glibc")
        }
        _ if facts.defines_hooks => format!(
            "{name} has functions {HOOK} of its own, which are called in place of the recorder's; leave them out of \
             the program"
        ),
        _ if !program.libraries.missing.is_empty() => {
            format!("{name} could not start: its library {} was not found", program.libraries.missing[0])
        }
        _ if program.instrumented().is_empty() => not_instrumented(elf, program),
        _ => refused_by_sanitizer(program, status).unwrap_or_else(|| not_taken(program, library, folder)),
    };
    match &program.script {
        Some(_) => format!("{given} is a script, and {reason}"),
        None => reason,
    }
}

fn not_instrumented(elf: &Elf, program: &Program) -> String {
    let name = elf.name();
    let modules = match program.libraries.found.len() {
        0 => format!("{name} does not call {HOOK}"),
        1 => format!("neither {name} nor the library it needs calls {HOOK}"),
        count => format!("neither {name} nor one of the {count} libraries it needs calls {HOOK}"),
    };
    let advice = match program.script {
        Some(_) => "the programs that it starts make profiles of their own if they are",
        None => "what it loads later or starts is recorded if it is",
    };
    format!(
        "{name} is not instrumented ({modules}); compile with -finstrument-functions, at least the folder that you \
         want to see ({advice})"
    )
}

/// A shared AddressSanitizer wants to be loaded before all else, and says so only in its own words.
fn refused_by_sanitizer(program: &Program, status: ExitStatus) -> Option<String> {
    const OPTION: &str = "verify_asan_link_order=0";
    let options = env::var("ASAN_OPTIONS").unwrap_or_default();
    if status.success() || options.contains(OPTION) {
        return None;
    }
    let module = program.sanitized()?.name();
    let value = if options.is_empty() { OPTION.to_owned() } else { format!("{options}:{OPTION}") };
    Some(format!(
        "{module} has a shared AddressSanitizer, which ends programs that preload anything before it; run it again with \
         ASAN_OPTIONS={}",
        typed(Path::new(&value))
    ))
}

fn not_taken(program: &Program, library: &Path, folder: &Folder) -> String {
    let module = program.instrumented()[0].name().into_owned();
    format!(
        "{module} is instrumented, but the recorder left nothing in {}: the loader may have refused to preload {} (it \
         says so above), or the user that the program runs as cannot read that file or write to that folder, or the \
         environment was cleared on the way",
        folder.given.display(),
        library.display()
    )
}
