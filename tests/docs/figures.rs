//! Measured figures in the documents, which `benches/figures.sh` takes from the raw results that are kept.
//!
//! ```text
//! <!--figures truth-->                 the block of code below it
//! it takes <!--figure load recorded-->1.82 ms<!--/-->     the words between both
//! ```
//!
//! The second form does not begin a line, where Markdown takes it for a block. A time without such a mark is refused: nobody could tell where it comes from. Samples, and times that are part of a
//! rule (`250ms`), are code.

use std::env;
use std::ops::Range;
use std::process::Command;

use super::page::{Page, turn};
use super::{assert_none, pages, repository};

const END: &str = "<!--/-->";

/// A figure: what `benches/figures.sh` is asked, and where its answer stands.
struct Figure {
    question: String,
    answer: Range<usize>,
    is_block: bool,
}

fn figures(page: &Page) -> Vec<Figure> {
    let text = &page.text;
    let mut figures = Vec::new();
    let is_code = |at: &usize| page.code.iter().any(|code| code.contains(at));
    for (at, mark) in text.match_indices("<!--figure").filter(|(at, _)| !is_code(at)) {
        let question = at + mark.len();
        let close = question + text[question..].find("-->").expect("a mark ends");
        let after = close + "-->".len();
        let is_block = text[question..].starts_with('s');
        let question = text[question + usize::from(is_block)..close].trim().to_owned();
        let answer = if is_block {
            let block = page.blocks.iter().find(|block| block.range.start > after).expect("a block is below its mark");
            let between = text[after..block.range.start].trim();
            assert!(between.starts_with("```") && !between.contains('\n'), "{:?}: {question}: no block", page.path);
            block.range.clone()
        } else {
            let before = text[..at].rsplit('\n').next().unwrap().trim();
            assert!(!before.is_empty(), "{:?}: {question}: at a line's start it would end the paragraph", page.path);
            after..after + text[after..].find(END).expect("a figure ends")
        };
        figures.push(Figure { question, answer, is_block });
    }
    figures
}

/// What the raw results say.
fn answer(figure: &Figure) -> String {
    let mut script = Command::new("bash");
    script.arg(repository().join("benches/figures.sh")).args(figure.question.split_whitespace());
    let output = script.output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    let is_known = output.status.success() && !answer.trim().is_empty() && answer.trim() != "-";
    assert!(is_known, "benches/figures.sh {} gives nothing: {answer}", figure.question);
    if figure.is_block { answer } else { answer.trim_end().to_owned() }
}

#[test]
fn figures_are_those_of_the_raw_results() {
    let (_turn, mut wrong) = (turn(), Vec::new());
    for page in pages() {
        let mut parts = Vec::new();
        for figure in figures(&page) {
            let answer = answer(&figure);
            let shown = &page.text[figure.answer.clone()];
            if shown != answer {
                wrong.push(format!("{}: {}: {shown} should be {answer}", page.path.display(), figure.question));
                parts.push((figure.answer, answer));
            }
        }
        if env::var_os("DIYTRACE_REGENERATE").is_some() {
            page.rewrite(&parts);
            wrong.clear();
        }
    }
    assert_none(wrong);
}

#[test]
fn times_in_sentences_come_from_raw_results() {
    let mut wrong = Vec::new();
    for page in pages() {
        let figures = figures(&page);
        for range in &page.prose {
            for at in times(&page.text[range.clone()]) {
                let at = range.start + at;
                if !figures.iter().any(|figure| figure.answer.contains(&at)) {
                    let line = page.text[..at].lines().count();
                    wrong.push(format!("{}:{line}: where does this time come from?", page.path.display()));
                }
            }
        }
    }
    assert_none(wrong);
}

/// Where a number stands with a unit of time that is too short to be a story's.
fn times(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for unit in ["ns", "µs", "us", "ms"] {
        for (at, _) in text.match_indices(unit) {
            let before = text[..at].trim_end_matches(' ');
            let is_word = text[at + unit.len()..].starts_with(|c: char| c.is_alphanumeric());
            if !is_word && before.ends_with(|c: char| c.is_ascii_digit()) {
                found.push(before.len() - 1);
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn times_are_recognised() {
    assert_eq!(times("it takes 2 ms and 47 µs, 8ns"), [9, 19, 26]);
    assert_eq!(times("3 columns, answers, 2 usual ones"), [0; 0]);
}
