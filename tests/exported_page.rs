//! The page that `export html` writes, in a browser: paths are filtered in and out and back, looked at from functions to their
//! callers, and around one function; what is seen is saved.

mod common;

use std::fs;
use std::process::Command;

use common::{Build, Recorded, fixture, run_to_end};
use needs::needs;

/// What somebody does with the mouse, and tells of each step what they see.
const STORY: &str = r##"<script>
const said = [];
const by = (id) => document.getElementById(id);
const named = (rows, name) => [...document.querySelectorAll(rows)].find((row) => row.querySelector(".fn").textContent === name);
const tree = () => [...document.querySelectorAll("#view-tree .tree-row")]
  .map((row) => `${row.querySelector(".fn").textContent} ${row.children[1].textContent}`).sort().join(", ");
const tell = (what, text) => said.push(`${what}: ${text}`);
const select = (name) => { by("tab-table").click(); named("#view-table tbody tr", name).click(); };
const opened = (...names) => {
  by("tab-tree").click();
  for (const name of names) {
    const twist = named("#view-tree .tree-row", name).querySelector(".twist");
    if (twist.textContent === "▸") twist.click();
  }
  return tree();
};
select("middle");
by("only").click();
tell("only", opened("main", "outer", "middle", "inner"));
tell("bar", by("seen").textContent);
by("undo").click();
select("helper");
by("without").click();
tell("without", opened("main", "outer", "middle"));
by("undo").click();
tell("undone", document.getElementById("undo") === null);
by("way-up").click();
tell("up", opened("helper").split(", ").filter((row) => row.startsWith("helper")).join(", "));
select("middle");
by("around").click();
tell("around", `${!by("callers-box").hidden} ${by("callers").height > 0}`);
tell("below", opened("middle", "inner"));
const search = by("search");
search.value = "inner";
search.dispatchEvent(new Event("input"));
tell("found", /^1 function · .*% of the time inside: \d/.test(by("found").textContent));
const saved = [];
// A browser without a window waits for ever for somebody to take a download.
HTMLAnchorElement.prototype.click = () => {};
window.Blob = class { constructor(parts) { saved.push(...parts); } };
URL.createObjectURL = () => "";
by("save").click();
tell("saved", saved[0].trim().split("\n").map((line) => line.replace(/ \d+$/, "")).join(" "));
document.body.append(Object.assign(document.createElement("pre"), { id: "said", textContent: said.join("\n") }));
</script>
"##;

fn told(recorded: &Recorded) -> Vec<String> {
    let here = recorded.folder();
    let page = here.join("page.html");
    let written = recorded.diytrace(&["export", "html", "--raw"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    fs::write(&page, String::from_utf8(written.stdout).unwrap() + STORY).unwrap();
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    browser.arg("--virtual-time-budget=5000").arg(format!("--user-data-dir={}", here.join("browser").display()));
    let output = run_to_end(browser.arg(format!("file://{}", page.display())).env("HOME", here));
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!complaints.contains(":CONSOLE"), "{complaints}");
    let shown = String::from_utf8(output.stdout).unwrap();
    let (_, said) = shown.split_once("<pre id=\"said\">").unwrap_or_else(|| panic!("the story did not end: {shown}"));
    said.split("</pre>").next().unwrap().lines().map(str::to_owned).collect()
}

#[needs(chromium)]
#[test]
fn what_is_seen_is_chosen_and_taken_back() {
    let told = told(&fixture("roots.c", Build::GCC_O0).record().run());
    let of = |what: &str| {
        let line = told.iter().find_map(|line| line.strip_prefix(&format!("{what}: ")));
        line.unwrap_or_else(|| panic!("nothing of {what}: {told:?}"))
    };
    assert_eq!(of("only"), "helper 12, inner 12, main 1, middle 6, outer 2");
    assert!(of("bar").contains("only middle") && of("bar").contains(" of "), "{told:?}");
    assert_eq!(of("without"), "hidden_step 4, inner 12, main 1, middle 6, outer 2, setup 1");
    assert_eq!(of("undone"), "true");
    assert!(of("up").starts_with("helper "), "functions are at the top: {told:?}");
    assert_eq!(of("around"), "true true", "callers are drawn");
    assert_eq!(of("below"), "helper 12, inner 12, middle 6");
    assert_eq!(of("found"), "true", "how much was found: {told:?}");
    let saved = of("saved").split(' ').all(|stack| stack.starts_with("middle"));
    assert!(saved, "what is seen, and no more: {told:?}");
}
