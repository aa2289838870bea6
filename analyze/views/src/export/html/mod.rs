//! One page with everything: table, flame graph, tree, percentiles, timelines.
//!
//! Its parts lie in `page/` and are put together by [`crate::page`]; the data is JSON inside it.

mod data;

use std::io;

use super::profile::Profile;
use crate::page::Page;

/// The page's program, in the order in which its parts need each other.
const SCRIPTS: [&str; 11] = [
    include_str!("page/model.js"),
    include_str!("page/state.js"),
    include_str!("page/seen.js"),
    include_str!("page/table.js"),
    include_str!("page/flame.js"),
    include_str!("page/tree.js"),
    include_str!("page/spread.js"),
    include_str!("page/clock.js"),
    include_str!("page/timeline.js"),
    include_str!("page/details.js"),
    include_str!("page/main.js"),
];

/// The page.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let page = Page {
        title: &profile.title,
        kind: "diytrace",
        body: include_str!("page/page.html"),
        elsewhere: "come from <code>diytrace report</code>",
        allowed: None,
        style: include_str!("page/page.css"),
        scripts: &SCRIPTS,
    };
    page.write(&data::Page::of(profile))
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
