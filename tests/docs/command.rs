//! Commands and options that the documents name.

use std::collections::BTreeMap;
use std::path::Path;

use super::common::{diytrace, run_to_end};
use super::{assert_none, guides, pages};

/// What `--help` says of each command, and of what it has below it.
fn help() -> BTreeMap<String, String> {
    let whole = help_of(&[]);
    let mut commands: BTreeMap<_, _> =
        listed(&whole).into_iter().map(|command| (command.clone(), help_of_all(&command))).collect();
    assert!(commands.contains_key("report"), "{whole}");
    commands.insert(String::new(), whole);
    commands
}

fn help_of_all(command: &str) -> String {
    let own = help_of(&[command]);
    let below: Vec<_> = listed(&own).iter().map(|name| help_of(&[command, name])).collect();
    [vec![own], below].concat().concat()
}

fn help_of(command: &[&str]) -> String {
    let output = run_to_end(diytrace(Path::new(".")).args(command).arg("--help"));
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Uses of the command in a line of shell: what follows its name, up to where another command begins.
pub fn uses(line: &str) -> Vec<Vec<&str>> {
    let mut uses = Vec::new();
    for part in line.split(" #").next().unwrap_or_default().split(['|', ';', '&', '(']) {
        let mut words = part.split_whitespace().skip_while(|word| *word != "diytrace");
        if words.next().is_some() {
            uses.push(words.collect());
        }
    }
    uses
}

fn has_option(help: &str, option: &str) -> bool {
    let name = option.split(['=', ',', '[']).next().unwrap_or_default();
    help.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == name)
}

#[test]
fn commands_and_options_exist() {
    let help = help();
    let mut wrong = Vec::new();
    for page in pages() {
        let lines = page.blocks.iter().filter(|block| block.language != "text").flat_map(|block| block.text.lines());
        for line in lines.chain(page.spans.iter().map(String::as_str)) {
            for words in uses(line) {
                let named = words.first().is_some_and(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '|'));
                let names: Vec<_> = if named { words[0].split('|').collect() } else { vec![""] };
                for name in names {
                    let Some(help) = help.get(name) else {
                        wrong.push(format!("{}: there is no command {name}: {line}", page.path.display()));
                        continue;
                    };
                    // What follows `--` is the command that is recorded.
                    let options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
                    let missing = options.filter(|option| !has_option(help, option));
                    wrong.extend(missing.map(|option| format!("{}: {name} has no {option}", page.path.display())));
                }
            }
        }
    }
    for page in guides() {
        let options = page.spans.iter().filter(|span| span.starts_with("--"));
        let missing = options.filter(|span| {
            let option = span.split(' ').next().unwrap();
            !help.values().any(|help| has_option(help, option))
        });
        wrong.extend(missing.map(|span| format!("{}: no command has {span}", page.path.display())));
    }
    assert_none(wrong);
}

#[test]
fn every_command_has_its_place() {
    let guides: Vec<_> = guides().filter(|page| page.path.starts_with("docs")).collect();
    let is_told = |name: &str| {
        guides.iter().any(|page| {
            let code =
                page.blocks.iter().flat_map(|block| block.text.lines()).chain(page.spans.iter().map(String::as_str));
            code.flat_map(uses).any(|words| words.first().is_some_and(|word| word.split('|').any(|word| word == name)))
        })
    };
    let missing = help().into_keys().filter(|name| !name.is_empty() && !is_told(name));
    assert_none(missing.map(|name| format!("no page in docs/ tells of `diytrace {name}`")).collect());
}
