//! One page with everything: table, flame graph, tree, percentiles. It opens from a file and asks nothing of a network.
//!
//! The page's parts lie in `page/` and are put together here; the data is JSON inside it.

mod data;

use std::io;

use super::profile::Profile;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The page's program, in the order in which its parts need each other.
const SCRIPTS: [&str; 9] = [
    include_str!("page/text.js"),
    include_str!("page/model.js"),
    include_str!("page/state.js"),
    include_str!("page/table.js"),
    include_str!("page/flame.js"),
    include_str!("page/tree.js"),
    include_str!("page/spread.js"),
    include_str!("page/details.js"),
    include_str!("page/main.js"),
];

/// The page.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    // Nothing in the data may end the element that it lies in.
    let data = serde_json::to_string(&data::Page::of(profile))?.replace('<', "\\u003c");
    let fillings =
        [("title", escaped(&profile.title)), ("style", STYLE.to_owned()), ("data", data), ("script", SCRIPTS.concat())];
    let fillings = fillings.each_ref().map(|(name, text)| (*name, text.as_str()));
    Ok(fill(PAGE, &fillings).into_bytes())
}

/// Fills the places of a page: `{{name}}`.
pub(crate) fn fill(page: &str, fillings: &[(&str, &str)]) -> String {
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
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    fn page(profile: &Profile) -> String {
        String::from_utf8(write(profile).unwrap()).unwrap()
    }

    #[test]
    fn the_data_of_the_page() {
        let json = serde_json::to_string_pretty(&data::Page::of(&by_process())).unwrap();
        golden("processes.page.json", json.as_bytes());
    }

    #[test]
    fn everything_is_filled_in_and_nothing_comes_from_elsewhere() {
        let page = page(&server()).replace("http://www.w3.org/2000/svg", "a name, not a place");
        assert!(!page.contains("{{"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn names_end_no_element() {
        let mut profile = server();
        profile.title = "</title><script>alert(1)</script>".to_owned();
        profile.functions[0].name = "</script><script>alert(2)</script>{{script}}".to_owned();
        let page = page(&profile);
        assert!(!page.contains("<script>alert"));
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
