//! What is checked: a program, or a library by itself, and what was found out about it.

use std::path::Path;

use super::checkup::{Hooks, Module, Role};
use super::module;
use crate::record::program::Program;
use crate::record::{library, typed};
use diytrace_profile::elf::{Elf, Linkage};
use rayon::prelude::*;

/// What is checked.
pub struct Subject {
    /// As one types it.
    pub typed: String,
    /// The file, and the libraries that it needs.
    pub program: Program,
    /// All of these, looked into; the one that is checked first. None if they are for another processor.
    pub modules: Vec<Module>,
    /// Why there is no recorder.
    pub no_recorder: Option<String>,
}

impl Subject {
    /// Looks into a program and its libraries.
    pub fn look_into(path: &Path) -> Self {
        let program = Program::look_into(path);
        let role = |index| if index == 0 { Role::Program } else { Role::Library };
        let files = program.elf.iter().chain(&program.libraries.found);
        let files: Vec<&Elf> = files.filter(|file| file.facts.is_for_recorder()).collect();
        let mut modules: Vec<Module> =
            files.par_iter().enumerate().map(|(index, file)| module::look_into(file, role(index))).collect();
        // Hooks of its own may be inlined wherever they are called.
        let has_own = program.elf.as_ref().is_some_and(|elf| elf.facts.defines_hooks && !is_library(elf));
        for module in modules.iter_mut().take(1).filter(|module| has_own && module.hooks == Hooks::None) {
            module.hooks = Hooks::Own;
        }
        // What a program has and exports comes before anything that is preloaded.
        if program.elf.as_ref().is_some_and(|elf| elf.facts.exports_hooks && !is_library(elf)) {
            for module in modules.iter_mut().filter(|module| module.hooks == Hooks::Recorder) {
                module.hooks = Hooks::Program;
            }
        }
        if let Some(first) = modules.first_mut().filter(|_| program.elf.as_ref().is_some_and(is_library)) {
            first.role = Role::Library;
        }
        let no_recorder = library::locate().err().map(|error| error.to_string());
        Self { typed: typed(path), program, modules, no_recorder }
    }

    /// Whether it is a library, which a program loads.
    pub fn is_library(&self) -> bool {
        self.program.elf.as_ref().is_some_and(is_library)
    }

    /// Its name for people: that of the program, where a script was given.
    pub fn name(&self) -> String {
        self.program.elf.as_ref().map_or_else(|| self.typed.clone(), |elf| elf.name().into_owned())
    }

    /// The path of the file that is looked into.
    pub fn path(&self) -> String {
        self.program.elf.as_ref().map_or_else(|| self.typed.clone(), |elf| elf.path().display().to_string())
    }

    /// Modules that will be recorded.
    pub fn recorded(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter().filter(|module| module.is_recorded())
    }
}

fn is_library(elf: &Elf) -> bool {
    elf.facts.linkage == Linkage::Library
}
