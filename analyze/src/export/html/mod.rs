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
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + data.len() + 64 * 1024);
    let mut rest = PAGE;
    // What is filled in may look like a place to fill, so the page is read once, from its beginning to its end.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        match name {
            "title" => page.push_str(&escaped(&profile.title)),
            "style" => page.push_str(STYLE),
            "data" => page.push_str(&data),
            "script" => SCRIPTS.iter().for_each(|script| page.push_str(script)),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    Ok(page.into_bytes())
}

fn escaped(text: &str) -> String {
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
