//! What the documents show of a command: blocks of ```` ```console ````, run on the recordings in `docs/samples`.

use std::env;
use std::path::Path;

use super::common::{diytrace, run_to_end};
use super::page::turn;
use super::{assert_none, pages, repository};

#[test]
fn samples_are_what_the_commands_say() {
    let (_turn, mut wrong) = (turn(), Vec::new());
    for page in pages() {
        let mut parts = Vec::new();
        for block in page.blocks.iter().filter(|block| block.language == "console") {
            let shown = replayed(&block.text);
            if shown != block.text {
                parts.push((block.range.clone(), shown));
            }
        }
        if env::var_os("DIYTRACE_REGENERATE").is_some() {
            page.rewrite(&parts);
        } else {
            wrong.extend(parts.iter().map(|(range, shown)| {
                format!("{} shows\n{}but it is\n{shown}", page.path.display(), &page.text[range.clone()])
            }));
        }
    }
    assert_none(wrong);
}

/// The commands of a block, each with what it says today.
fn replayed(block: &str) -> String {
    let folder = repository().join("docs/samples");
    let commands: Vec<_> = block.lines().filter(|line| line.starts_with("$ ")).collect();
    assert!(!commands.is_empty() && block.starts_with("$ "), "a sample begins with its command:\n{block}");
    commands.iter().map(|line| format!("{line}\n{}", answer(&folder, &line[2..]))).collect::<Vec<_>>().join("\n")
}

fn answer(folder: &Path, line: &str) -> String {
    let words = words(line);
    assert_eq!(words[0], "diytrace", "{line}");
    let output = run_to_end(diytrace(folder).args(&words[1..]));
    let errors = String::from_utf8(output.stderr).unwrap();
    // A source that was checked out today is younger than the program that was recorded, and the same.
    let errors: Vec<&str> =
        errors.lines().filter(|line| !line.contains(" was changed after server was made: ")).collect();
    assert!(output.status.code().is_some_and(|code| code < 2) && errors.is_empty(), "{line}: {errors:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// As a shell takes them, without its expansions.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}
