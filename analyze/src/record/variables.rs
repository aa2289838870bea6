//! The environment in which the command is recorded.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Options;
use super::folder::Folder;

/// The folder for profiles: the option, else the variable, else `diytrace.data` here.
pub fn out(options: &Options) -> PathBuf {
    let variable = || env::var_os("DIYTRACE_OUT").filter(|value| !value.is_empty()).map(PathBuf::from);
    options.out.clone().or_else(variable).unwrap_or_else(|| PathBuf::from("diytrace.data"))
}

/// The patterns that hold: the option's, else the variable's.
pub fn patterns(option: &[String], variable: &str) -> Vec<String> {
    let list = if option.is_empty() { env::var(variable).unwrap_or_default() } else { option.join(",") };
    diytrace_format::pattern::split(&list).map(str::to_owned).collect()
}

/// All variables to set for the command.
pub fn all(options: &Options, library: &Path, folder: &Folder) -> Vec<(&'static str, OsString)> {
    let list = |patterns: &[String]| (!patterns.is_empty()).then(|| OsString::from(patterns.join(",")));
    let number = |value: Option<u64>| value.map(|value| OsString::from(value.to_string()));
    let settings = [
        ("LD_PRELOAD", Some(preload(library, env::var_os("LD_PRELOAD")))),
        ("DIYTRACE_OUT", Some(folder.path.clone().into_os_string())),
        ("DIYTRACE_RUN", Some(OsString::from(folder.run.to_string()))),
        ("DIYTRACE_ROOT", list(&options.roots)),
        ("DIYTRACE_EXCLUDE", list(&options.excludes)),
        ("DIYTRACE_DEPTH", number(options.depth.map(u64::from))),
        ("DIYTRACE_MEMORY", number(options.memory)),
        ("DIYTRACE_KEEP", number(options.keep.map(u64::from))),
        ("DIYTRACE_TIMING", options.timing.map(|timing| OsString::from(timing.variable()))),
        ("DIYTRACE_PAUSED", options.paused.then(|| OsString::from("1"))),
    ];
    settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The recorder comes first: the first definition of a hook is the one that is called.
fn preload(library: &Path, others: Option<OsString>) -> OsString {
    let mut value = library.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_preloaded_before_stays() {
        let library = Path::new("/x/libdiytrace.so");
        assert_eq!(preload(library, None), "/x/libdiytrace.so");
        assert_eq!(preload(library, Some("".into())), "/x/libdiytrace.so");
        assert_eq!(preload(library, Some("a.so:b.so".into())), "/x/libdiytrace.so:a.so:b.so");
    }
}
