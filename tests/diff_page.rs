//! The page that `diff -o` writes, in a browser: its flame graphs open with the outermost function on top, are turned round, filtered
//! and searched, and what is seen of them is saved.

mod common;

use std::fs;
use std::path::Path;

use common::page::Told;
use common::{browser, diytrace, run_to_end};
use needs::needs;
use serde_json::Value;
use tempfile::TempDir;

/// The samples' two sides, compared.
fn compared() -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/samples");
    let mut diff = diytrace(folder.path());
    let output =
        run_to_end(diff.arg("diff").args([samples.join("before"), samples.join("after")]).args(["-o", "report"]));
    let page = fs::read(folder.path().join("report/report.html"));
    (folder, page.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

#[needs(chromium, npm)]
#[test]
fn flame_graphs_are_looked_at_from_all_sides() {
    let story = r##"
        const section = by("flames");
        document.documentElement.style.scrollBehavior = "auto";
        section.scrollIntoView();
        await frames();
        const [callers, canvas] = section.querySelectorAll("canvas");
        const button = (text) => [...section.querySelectorAll("button")].find((one) => one.textContent === text);
        const text = (kind) => section.querySelector(kind).textContent;
        const stacks = () => { button("Save what is seen").click(); return saved.pop().trim().split("\n").map((line) => line.replace(/ \d+$/, "")).join(" "); };
        const point = (row, part) => {
          mouse("mousemove", canvas, row, part);
          return text(".flame-text");
        };
        tell("all", stacks());
        tell("top", point(1, 0.5).replace(/[\d.]+ ms/g, "…"));
        const below = point(2, 0.1);
        tell("below", below.replace(/[\d.]+ ms/g, "…").split(" (")[0]);
        mouse("click", canvas, 2, 0.1);
        tell("zoomed", stacks());
        button("Without it").click();
        tell("without", stacks());
        tell("left over", /[\d.]+ ms of [\d.]+ ms/.test(section.textContent));
        button("Undo").click();
        tell("undone", stacks());
        button("Only paths with it").click();
        tell("only", stacks());
        button("Undo").click();
        button("From functions").click();
        tell("up", stacks());
        button("Around one").click();
        tell("around", `${!callers.parentElement.hidden} ${callers.height > 0} ${stacks()}`);
        button("From the top").click();
        search(section.querySelector("input"), "compare");
        tell("found", /^\d.*% of the time inside: \d/.test(section.querySelector("input").nextElementSibling.textContent));
        button("before").click();
        tell("before", stacks());
    "##;
    let (folder, page) = compared();
    let told = Told::of(&page, story, folder.path());
    let all = "handle handle;lookup handle;lookup;compare handle;parse handle;render";
    assert_eq!(told.text("all"), all);
    assert_eq!(told.text("top"), "handle … → … (100.0%)");
    assert_eq!(told.text("below"), "lookup … → …");
    assert_eq!(told.text("zoomed"), "lookup lookup;compare");
    assert_eq!(told.text("without"), "handle handle;parse handle;render");
    assert_eq!(told.text("left over"), "true");
    assert_eq!(told.text("undone"), all);
    assert_eq!(told.text("only"), "handle;lookup handle;lookup;compare");
    assert_eq!(told.text("up"), "compare;lookup;handle handle lookup;handle parse;handle render;handle");
    assert_eq!(told.text("around"), "true true lookup lookup;compare");
    assert_eq!(told.text("found"), "true");
    assert_eq!(told.text("before"), all);
}

#[needs(chromium, npm)]
#[test]
fn nothing_keeps_anybody_out() {
    let (folder, page) = compared();
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    browser::look("exported.mjs", &[&path]);
}

/// The same comparison with that many functions.
fn with_many(page: &[u8], many: usize) -> Vec<u8> {
    let page = std::str::from_utf8(page).unwrap();
    let (before, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    let mut data: Value = serde_json::from_str(data).unwrap();
    let functions = data["comparison"]["queries"][0]["functions"].as_array_mut().unwrap();
    let one = functions.iter().find(|function| function["name"] == "parse").unwrap().clone();
    let copies = (functions.len()..many).map(|number| {
        let mut copy = one.clone();
        copy["name"] = format!("f_{number}").into();
        copy["timeline"] = Value::Null;
        copy
    });
    let copies: Vec<Value> = copies.collect();
    functions.extend(copies);
    [before, "id=\"data\">", &data.to_string().replace('<', "\\u003c"), "</script>", after].concat().into_bytes()
}

#[needs(chromium, npm)]
#[test]
fn of_thousands_of_functions_those_in_sight_are_drawn() {
    let story = r##"
        const section = by("functions");
        document.documentElement.style.scrollBehavior = "auto";
        section.scrollIntoView();
        await frames();
        const rows = () => [...section.querySelectorAll("tbody tr")];
        const name = (row) => row.querySelector(".fn").textContent;
        tell("drawn", rows().length > 20 && rows().length < 200);
        tell("count", section.querySelector("table").getAttribute("aria-rowcount"));
        [...section.querySelectorAll("th button")].at(-1).click();
        await frames();
        tell("first", name(rows()[0]));
        [...section.querySelectorAll("th button")].at(-1).click();
        section.scrollIntoView({ block: "end" });
        await frames();
        tell("scrolled", rows().length < 200 && rows().some((row) => row.getBoundingClientRect().bottom > innerHeight / 2));
        tell("last", name(rows().at(-1)));
        section.scrollIntoView();
        search(section.querySelector("input"), "f_19");
        await frames();
        tell("found", `${section.querySelector("table").getAttribute("aria-rowcount")} ${name(rows()[0])}`);
    "##;
    let (folder, page) = compared();
    let told = Told::of(&with_many(&page, 2000), story, folder.path());
    assert_eq!(told.text("drawn"), "true", "some more than there is room for");
    assert_eq!(told.text("count"), "2001", "with the head");
    assert_eq!(told.text("first"), "compare");
    assert_eq!(told.text("scrolled"), "true");
    assert_eq!(told.text("last"), "compare", "the order is turned round");
    assert_eq!(told.text("found"), "112 f_19", "f_19, f_190 to f_199, f_1900 to f_1999");
}
