//! One document: its links, headings, code and prose.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::repository;

#[derive(Default)]
pub struct Page {
    /// From the repository's folder.
    pub path: PathBuf,
    pub text: String,
    /// Where links and pictures lead.
    pub links: Vec<String>,
    /// What `#…` may follow a link to this page, as GitHub makes it of headings.
    pub anchors: Vec<String>,
    /// Fenced code.
    pub blocks: Vec<Block>,
    /// Code within sentences.
    pub spans: Vec<String>,
    /// Where that stands.
    pub code: Vec<Range<usize>>,
    /// Everything else that is read.
    pub prose: Vec<Range<usize>>,
}

pub struct Block {
    pub language: String,
    pub text: String,
    /// Where the text stands in the page.
    pub range: Range<usize>,
}

impl Page {
    pub fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(repository().join(&path)).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut page = Self { path, ..Self::default() };
        let (mut heading, mut is_in_block) = (None::<String>, false);
        for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into())
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = page.new_anchor(&heading.take().unwrap_or_default());
                    page.anchors.push(anchor);
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language =
                        if let CodeBlockKind::Fenced(name) = kind { name.to_string() } else { String::new() };
                    let start = range.start + text[range].find('\n').map_or(0, |end| end + 1);
                    page.blocks.push(Block { language, text: String::new(), range: start..start });
                    is_in_block = true;
                }
                Event::End(TagEnd::CodeBlock) => is_in_block = false,
                Event::Text(piece) if is_in_block => {
                    let block = page.blocks.last_mut().unwrap();
                    block.text.push_str(&piece);
                    block.range.end = range.end;
                }
                Event::Text(piece) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&piece));
                    page.prose.push(range);
                }
                Event::Code(code) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&code));
                    page.spans.push(code.into());
                    page.code.push(range);
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let is_comment = html.trim_start().starts_with("<!--");
                    assert!(is_comment, "{:?}: links in HTML are not looked at: {html}", page.path);
                }
                _ => {}
            }
        }
        page.text = text;
        page
    }

    /// As GitHub does: lower case, no punctuation, a hyphen for each space, and a number where it would be the second of its name.
    fn new_anchor(&self, heading: &str) -> String {
        let is_kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
        let kept: String = heading.to_lowercase().chars().filter(is_kept).collect();
        let anchor = kept.replace(' ', "-");
        let before = self.anchors.iter().filter(|other| **other == anchor).count();
        if before == 0 { anchor } else { format!("{anchor}-{before}") }
    }

    /// Writes the page with these parts of it replaced.
    pub fn rewrite(&self, parts: &[(Range<usize>, String)]) {
        let mut text = self.text.clone();
        let mut parts: Vec<_> = parts.iter().collect();
        parts.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, new) in parts {
            text.replace_range(range.clone(), new);
        }
        fs::write(repository().join(&self.path), text).unwrap();
    }
}

/// For stories that rewrite pages: one at a time.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All documents in a folder, and below it.
pub fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}
