//! Which of several builds of a program a module is.

use diytrace_profile::merge::Module;

/// The beginning of each module's build ID, if others have its file's name: several builds of a program are not told apart by that.
pub fn builds(modules: &[Module]) -> Vec<Option<String>> {
    let is_like = |a: &Module, b: &Module| a.short_name() == b.short_name() && a.build_id != b.build_id;
    let of_module = |module: &Module| {
        let has_namesakes = modules.iter().any(|other| is_like(module, other));
        let digits = module.build_id.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Some(digits).filter(|digits: &String| has_namesakes && !digits.is_empty())
    };
    modules.iter().map(of_module).collect()
}
