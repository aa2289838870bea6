//! Pages: one file with style, program and data, that opens from a disk and asks nothing of a network.
//!
//! What pages have in common lies here: the frame that they are filled into, colours, how numbers are said, the flame graph, trees of
//! call paths and long lists. These scripts are ES modules; a service hands some of them out as they are ([`TEXT`], [`SIGHT`], [`ROWS`],
//! [`FLAMEGRAPH`], [`PATHS`], [`CALLTREE`]).

use std::io;

use serde::Serialize;

const FRAME: &str = include_str!("frame.html");

/// Colours, for light and for dark.
pub const PALETTE: &str = include_str!("palette.css");

/// How numbers are said, and elements made: `text.js`.
pub const TEXT: &str = include_str!("text.js");

/// What draws only what is in sight: `sight.js`.
pub const SIGHT: &str = include_str!("sight.js");

/// The flame graph: `flamegraph.js`, which imports these.
pub const FLAMEGRAPH: &str = include_str!("flamegraph.js");

/// Trees of call paths, filtered and turned round: `paths.js`.
pub const PATHS: &str = include_str!("paths.js");

/// Long lists of rows: `rows.js`.
pub const ROWS: &str = include_str!("rows.js");

/// Call trees that are opened branch by branch: `calltree.js`, which imports these.
pub const CALLTREE: &str = include_str!("calltree.js");

/// How they look.
pub const CALLTREE_STYLE: &str = include_str!("calltree.css");

/// What every page has, in the order in which its parts need each other.
const COMMON: [&str; 6] = [TEXT, SIGHT, FLAMEGRAPH, PATHS, ROWS, CALLTREE];

/// What makes a page.
pub struct Page<'a> {
    /// Of what it is; any text.
    pub title: &'a str,
    /// What a browser's tab says behind the title.
    pub kind: &'a str,
    /// The body, in which `{{title}}` is filled.
    pub body: &'a str,
    /// Where the numbers are for those who run no scripts, as the end of a sentence.
    pub elsewhere: &'a str,
    /// What its content may do beyond showing itself: a directive of the Content-Security-Policy.
    pub allowed: Option<&'a str>,
    /// Its style, beyond the common one.
    pub style: &'a str,
    /// Its program, in the order in which its parts need each other.
    pub scripts: &'a [&'a str],
}

impl Page<'_> {
    /// The page with its data, which its program finds as JSON in the element `data`.
    pub fn write(&self, data: &impl Serialize) -> io::Result<Vec<u8>> {
        // Nothing in the data may end the element that it lies in.
        let data = serde_json::to_string(data)?.replace('<', "\\u003c");
        let title = escaped(self.title);
        let body = fill(self.body, &[("title", &title)]);
        let allowed = self.allowed.map(|directive| format!("; {directive}")).unwrap_or_default();
        let fillings = [
            ("title", title.as_str()),
            ("kind", self.kind),
            ("allowed", &allowed),
            ("style", &[PALETTE, CALLTREE_STYLE, self.style].concat()),
            ("body", body.trim_end()),
            ("elsewhere", self.elsewhere),
            ("data", &data),
            ("script", &[&COMMON.map(as_script).concat(), &*self.scripts.concat()].concat()),
        ];
        Ok(fill(FRAME, &fillings).into_bytes())
    }
}

/// A module as a part of one script that has all it needs: without what it imports and exports.
fn as_script(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("import "));
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Fills the places of a page: `{{name}}`.
fn fill(page: &str, fillings: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(page.len() + fillings.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = page;
    // What is filled in may look like a place to fill, so the page is read once, from its beginning to its end.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        filled.push_str(before);
        let filling = fillings.iter().find(|(known, _)| *known == name);
        filled.push_str(filling.map_or("", |(_, text)| text));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
