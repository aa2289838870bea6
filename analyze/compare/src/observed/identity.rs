//! Which function of one build is which of the other: by name and module, whatever its path and address.

use std::collections::{BTreeMap, BTreeSet};

/// What a function is called in a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Its name as people write it, without what compilers add to copies.
    pub name: String,
    /// Its module.
    pub home: Home,
    /// Name of its source file, where that is known.
    pub file: Option<String>,
}

/// A program or library.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// File name without a library's version.
    pub file: String,
    /// Whether it is a program.
    pub is_program: bool,
}

/// A function of both builds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// Its source file, where several functions of that name are told apart.
    pub file: Option<String>,
}

/// Tells which functions are the same.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// What a module is called on the left, or in the first part, where names differ.
    programs: BTreeMap<String, String>,
    /// Names in a module that several source files have.
    are_several: BTreeSet<(String, String)>,
}

impl Matching {
    /// For all functions of all runs of both sides.
    pub fn of(left: &[&Identity], right: &[&Identity]) -> Self {
        let programs = |all: &[&Identity]| -> BTreeSet<String> {
            all.iter().filter(|one| one.home.is_program).map(|one| one.home.file.clone()).collect()
        };
        let (before, after) = (programs(left), programs(right));
        let mut names = BTreeMap::new();
        // Two builds of a program are often called differently. If one is left over on each side, it is that.
        let (mut old, mut new) = (before.difference(&after), after.difference(&before));
        if let (Some(old), None, Some(new), None) = (old.next(), old.next(), new.next(), new.next()) {
            names.insert(new.clone(), old.clone());
        }
        Self::with(names, left, right)
    }

    /// For what the parts of a history have called. Where each ran one program, and those have most functions in common, it is one.
    pub fn of_parts(parts: &[Vec<&Identity>]) -> Self {
        let program = |part: &Vec<&Identity>| -> Option<String> {
            let mut names = part.iter().filter(|one| one.home.is_program).map(|one| &one.home.file);
            let first = names.next()?.clone();
            names.all(|name| *name == first).then_some(first)
        };
        let functions = |part: &Vec<&Identity>| -> BTreeSet<String> {
            part.iter().filter(|one| one.home.is_program).map(|one| one.name.clone()).collect()
        };
        let programs: Option<Vec<String>> = parts.iter().map(program).collect();
        let mut names = BTreeMap::new();
        let mut all = programs.unwrap_or_default().into_iter().zip(parts);
        if let Some((first, part)) = all.next() {
            let mut known = functions(part);
            for (name, part) in all.filter(|(name, _)| *name != first) {
                let these = functions(part);
                let common = these.intersection(&known).count();
                if 2 * common >= these.len().min(known.len()) {
                    names.insert(name, first.clone());
                    known.extend(these);
                }
            }
        }
        let all: Vec<&Identity> = parts.iter().flatten().copied().collect();
        Self::with(names, &all, &all)
    }

    fn with(programs: BTreeMap<String, String>, left: &[&Identity], right: &[&Identity]) -> Self {
        let mut matching = Self { programs, ..Self::default() };
        // Source files tell functions of one name apart, if every one of them has one, and one side at least has several.
        let [before, after] = [left, right].map(|all| matching.files(all));
        for (name, files) in before.iter().chain(&after) {
            if files.len() > 1 {
                matching.are_several.insert(name.clone());
            }
        }
        for (name, _) in before.iter().chain(&after).filter(|(_, files)| files.contains(&None)) {
            matching.are_several.remove(name);
        }
        matching
    }

    /// The source files that have a function of a name, by module and name.
    fn files<'a>(&self, all: &[&'a Identity]) -> BTreeMap<(String, String), BTreeSet<Option<&'a str>>> {
        let mut files = BTreeMap::<_, BTreeSet<_>>::new();
        for one in all {
            files.entry((self.module(one).to_owned(), one.name.clone())).or_default().insert(one.file.as_deref());
        }
        files
    }

    fn module<'b>(&'b self, identity: &'b Identity) -> &'b str {
        self.programs.get(&identity.home.file).map_or(&identity.home.file, String::as_str)
    }

    /// What a function is called on both sides.
    pub fn key(&self, identity: &Identity) -> Key {
        let name = (self.module(identity).to_owned(), identity.name.clone());
        let file = identity.file.clone().filter(|_| self.are_several.contains(&name));
        Key { name: name.1, module: name.0, file }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(name: &str, module: &str, is_program: bool, file: Option<&str>) -> Identity {
        let home = Home { file: module.to_owned(), is_program };
        Identity { name: name.to_owned(), home, file: file.map(str::to_owned) }
    }

    fn are_one(left: &[Identity], right: &[Identity]) -> bool {
        let matching = Matching::of(&left.iter().collect::<Vec<_>>(), &right.iter().collect::<Vec<_>>());
        matching.key(&left[0]) == matching.key(&right[0])
    }

    #[test]
    fn builds_of_a_program_may_be_called_differently() {
        let program = |module| identity("f", module, true, None);
        assert!(are_one(&[program("old")], &[program("new")]));
        assert!(!are_one(&[program("old")], &[program("new"), program("other")]), "which of the two?");
        let library = |module| identity("f", module, false, None);
        assert!(are_one(&[library("libf.so")], &[library("libf.so")]));
        assert!(!are_one(&[library("libf.so")], &[library("libg.so")]));
    }

    #[test]
    fn parts_of_a_history_may_have_builds_that_are_called_differently() {
        let functions = |module, names: &[&str]| -> Vec<Identity> {
            names.iter().map(|name| identity(name, module, true, None)).collect()
        };
        let is_one = |parts: &[Vec<Identity>]| {
            let matching = Matching::of_parts(&parts.iter().map(|part| part.iter().collect()).collect::<Vec<_>>());
            matching.key(&parts[0][0]) == matching.key(&parts[parts.len() - 1][0])
        };
        let [old, new] = ["old", "new"].map(|module| functions(module, &["main", "f", "g"]));
        assert!(is_one(&[old.clone(), new.clone()]));
        assert!(is_one(&[old.clone(), functions("newer", &["main", "f", "h"]), new.clone()]));
        assert!(!is_one(&[old.clone(), functions("other", &["main", "serve", "answer"])]), "it is another program");
        let both = [new, functions("client", &["main"])].concat();
        assert!(!is_one(&[old, both]), "which of the two?");
    }

    #[test]
    fn files_tell_functions_of_one_name_apart_where_all_are_known() {
        let function = |file| identity("f", "p", true, file);
        let (a, b, unknown) = (function(Some("a.c")), function(Some("b.c")), function(None));
        assert!(are_one(std::slice::from_ref(&a), std::slice::from_ref(&b)), "it was moved");
        assert!(!are_one(&[a.clone(), b.clone()], &[b.clone(), a.clone()]), "there are two");
        assert!(are_one(&[a.clone(), b.clone()], &[a.clone(), b.clone()]));
        assert!(are_one(&[a, b], &[unknown]), "a build without lines");
    }
}
