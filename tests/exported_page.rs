//! The page that `export html` writes, in a browser: paths are filtered in and out and back, looked at from functions to their
//! callers, and around one function; what is seen is saved; and of what is long, what is in sight is drawn.

mod common;

use common::page::Told;
use common::{Build, Recorded, browser, fixture};
use needs::needs;
use serde_json::Value;

/// Trees are read row by row; a table's functions with their calls.
const WORDS: &str = r##"
const tree = () => all("#view-tree .tree-row")
  .map((row) => `${row.querySelector(".fn").textContent} ${row.children[1].textContent}`).sort().join(", ");
const opened = (...names) => {
  by("tab-tree").click();
  for (const name of names) {
    const twist = named("#view-tree .tree-row", name).querySelector(".twist");
    if (twist.textContent === "▸") twist.click();
  }
  return tree();
};
const table = () => {
  by("tab-table").click();
  return all("#view-table tbody tr").map((row) => `${row.querySelector(".fn").textContent} ${row.querySelector(".calls").textContent}`).sort().join(", ");
};
const select = (name) => { by("tab-table").click(); named("#view-table tbody tr", name).click(); };
"##;

fn page(recorded: &Recorded, options: &[&str]) -> Vec<u8> {
    let written = recorded.diytrace(&[&["export", "html"], options].concat());
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    written.stdout
}

fn told(recorded: &Recorded, options: &[&str], story: &str) -> Told {
    Told::of(&page(recorded, options), &[WORDS, story].concat(), recorded.folder())
}

/// The same where it matters how wide frames are: each path has taken a microsecond of its own, whatever disturbed the run.
fn told_of_even_times(recorded: &Recorded, story: &str) -> Told {
    let page = String::from_utf8(page(recorded, &["--raw"])).unwrap();
    let (before, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    let mut data: Value = serde_json::from_str(data).unwrap();
    for own in data["parts"][0]["paths"]["own"].as_array_mut().unwrap() {
        *own = 1000.into();
    }
    let data = data.to_string().replace('<', "\\u003c");
    let page = [before, "id=\"data\">", &data, "</script>", after].concat();
    Told::of(page.as_bytes(), &[WORDS, story].concat(), recorded.folder())
}

#[needs(chromium, npm)]
#[test]
fn what_is_seen_is_chosen_and_taken_back() {
    let story = r##"
        select("middle");
        by("only").click();
        tell("only", opened("main", "outer", "middle", "inner"));
        tell("bar", by("seen").textContent);
        by("undo").click();
        select("helper");
        by("without").click();
        tell("without", opened("main", "outer", "middle"));
        by("undo").click();
        tell("undone", by("undo") === null);
        by("way-up").click();
        tell("up", opened("helper").split(", ").filter((row) => row.startsWith("helper")).join(", "));
        select("middle");
        by("around").click();
        tell("around", `${!by("callers-box").hidden} ${by("callers").height > 0}`);
        tell("below", opened("middle", "inner"));
        search(by("search"), "inner");
        tell("found", /^1 function · .*% of the time inside: \d/.test(by("found").textContent));
        by("save").click();
        tell("saved", saved[0].trim().split("\n").map((line) => line.replace(/ \d+$/, "")).join(" "));
    "##;
    let told = told(&fixture("roots.c", Build::GCC_O0).record().run(), &["--raw"], story);
    assert_eq!(told.text("only"), "helper 12, inner 12, main 1, middle 6, outer 2");
    assert!(told.text("bar").contains("only middle") && told.text("bar").contains(" of "), "{}", told.text("bar"));
    assert_eq!(told.text("without"), "hidden_step 4, inner 12, main 1, middle 6, outer 2, setup 1");
    assert_eq!(told.text("undone"), "true");
    assert!(told.text("up").starts_with("helper "), "functions are at the top: {}", told.text("up"));
    assert_eq!(told.text("around"), "true true", "callers are drawn");
    assert_eq!(told.text("below"), "helper 12, inner 12, middle 6");
    assert_eq!(told.text("found"), "true", "how much was found");
    let saved = told.text("saved");
    assert!(saved.split(' ').all(|stack| stack.starts_with("middle")), "what is seen, and no more: {saved}");
}

#[needs(chromium, npm)]
#[test]
fn functions_are_counted_over_the_paths_that_remain() {
    let story = r##"
        tell("all", table());
        select("middle");
        by("only").click();
        tell("only", table());
        tell("details", all("#details dd").map((fact) => fact.textContent)[0]);
        search(by("search"), "l");
        tell("found", by("found").textContent.split(" ·")[0]);
        search(by("search"), "");
        by("save").click();
        by("tab-tree").click();
        by("save").click();
        const own = saved[0].trim().split("\n").slice(1).map((line) => line.split(",")).reduce((sum, cells) => sum + Number(cells[3]), 0);
        const stacks = saved[1].trim().split("\n").map((line) => Number(/\d+$/.exec(line)[0])).reduce((sum, ns) => sum + ns, 0);
        tell("saved", saved[0].split("\n")[0]);
        tell("times", own > 0 && own === stacks);
        by("tab-table").click();
        named("#view-table tbody tr", "inner").click();
        by("without").click();
        tell("both", table());
        by("undo").click();
        tell("one undone", table());
        by("undo").click();
        tell("undone", table());
    "##;
    let told = told(&fixture("roots.c", Build::GCC_O0).record().run(), &["--raw"], story);
    let all = "helper 19, hidden_step 4, inner 12, main 1, middle 6, outer 2, setup 1";
    let only = "helper 12, inner 12, main 1, middle 6, outer 2";
    assert_eq!(told.text("all"), all);
    assert_eq!(told.text("only"), only, "functions that are on no path with it are gone, others have fewer calls");
    assert_eq!(told.text("details"), "6");
    assert_eq!(told.text("found"), "2 functions", "helper and middle: what is filtered out is not found");
    assert_eq!(told.text("saved"), "function,calls,total_ns,self_ns");
    assert_eq!(told.text("times"), "true", "the table's own times are those of the paths that remain");
    assert_eq!(told.text("both"), "main 1, middle 6, outer 2");
    assert_eq!(told.text("one undone"), only);
    assert_eq!(told.text("undone"), all);
}

#[needs(chromium, npm)]
#[test]
fn what_cannot_be_filtered_says_so() {
    let story = r##"
        const notes = () => all("section:not([hidden]) .unfiltered").map((note) => note.textContent).join(" ");
        const views = ["table", "flame", "tree", "spread", "timeline"];
        const seen = (view) => { by(`tab-${view}`).click(); return notes(); };
        tell("nothing is filtered", views.map(seen).join(""));
        by("tab-spread").click();
        named("#view-spread .spread-row[data-row]", "middle").click();
        by("only").click();
        for (const view of views) tell(view, seen(view));
        by("tab-spread").click();
        tell("percentiles", all("#view-spread .spread-row[data-row] .fn").map((name) => name.textContent).sort().join(" "));
        by("tab-timeline").click();
        tell("bar", by("seen").textContent);
        by("tab-table").click();
        const mean = (name) => named("#view-table tbody tr", name).querySelector(".mean").textContent;
        tell("means", `${mean("helper")}|${mean("main")}|${mean("inner") !== ""}`);
        by("undo").click();
        tell("undone", mean("helper") !== "" && views.map(seen).join("") === "");
    "##;
    let told = told(&fixture("roots.c", Build::GCC_O0).record().run(), &[], story);
    assert_eq!(told.text("nothing is filtered"), "");
    for (view, expected) in [
        ("table", "Means and percentiles are kept by function, not by path"),
        ("spread", "Percentiles are kept by function, not by path"),
        ("timeline", "When functions ran is kept by function, not by path"),
    ] {
        assert!(told.text(view).starts_with(expected), "{view}: {}", told.text(view));
    }
    assert_eq!((told.text("flame"), told.text("tree")), ("", ""), "these are filtered");
    assert_eq!(told.text("percentiles"), "helper inner main middle outer");
    assert!(told.text("bar").contains("only middle") && told.text("bar").contains("Undo"), "{}", told.text("bar"));
    assert_eq!(told.text("means"), "||true", "where a part of a function is filtered out, its mean is not known");
    assert_eq!(told.text("undone"), "true");
}

#[needs(chromium, npm)]
#[test]
fn of_ten_thousand_functions_those_in_sight_are_drawn() {
    let story = r##"
        const rows = () => all("#view-table tbody tr");
        const view = by("view-table");
        by("tab-table").click();
        document.querySelector("#view-table th.name button").click();
        await frames();
        tell("drawn", rows().length > 20 && rows().length < 200);
        tell("count", document.querySelector("#view-table table").getAttribute("aria-rowcount"));
        const name = (row) => row.querySelector(".fn").textContent;
        tell("first", name(rows()[0]));
        const inSight = () => rows().filter((row) => { const { top, bottom } = row.getBoundingClientRect(); return bottom > view.getBoundingClientRect().top && top < innerHeight; });
        const steps = [];
        for (const part of [0.25, 0.5, 0.75, 1]) {
          view.scrollTop = part * view.scrollHeight;
          await frames();
          steps.push(rows().length < 200 && inSight().length > 15);
        }
        tell("scrolled", steps.join(" "));
        tell("last", name(rows().at(-1)));
        rows().at(-1).click();
        tell("selected", `${name(document.querySelector("#view-table .selected"))} ${inSight().includes(document.querySelector("#view-table .selected"))}`);
        document.querySelector("#view-table th.name button").click();
        view.scrollTop = 0;
        await frames();
        tell("turned round", name(rows()[0]));
        rows()[0].focus();
        for (let row = 0; row < 100; row++) {
          press(document.activeElement, "ArrowDown");
          if (row % 10 === 0) await frames();
        }
        tell("by keys", name(document.activeElement));
        search(by("search"), "f_12");
        await frames();
        tell("found", `${by("found").textContent.split(" ·")[0]}, ${name(rows()[0])}`);
        by("tab-tree").click();
        await frames();
        tell("tree", all("#view-tree .tree-row").length < 200 && by("view-tree").scrollHeight > 10000 * 20);
        by("view-tree").scrollTop = by("view-tree").scrollHeight;
        await frames();
        tell("tree's end", Math.round(all("#view-tree .tree-row").at(-1).getBoundingClientRect().bottom) <= innerHeight);
    "##;
    let told = told(&fixture("many-functions.c", Build::GCC_O0).record().run(), &[], story);
    assert_eq!(told.text("drawn"), "true", "some more than there is room for");
    assert_eq!(told.text("count"), "10002", "10,000 functions, main, and the head");
    assert_eq!(told.text("first"), "f_0000");
    assert_eq!(told.text("scrolled"), "true true true true", "wherever one scrolls to, there are rows");
    assert_eq!(told.text("last"), "main");
    assert_eq!(told.text("selected"), "main true", "it stays where it is");
    assert_eq!(told.text("turned round"), "main");
    assert_eq!(told.text("by keys"), "f_9900");
    assert_eq!(told.text("found"), "100 functions, f_1299");
    assert_eq!(told.text("tree"), "true", "10,000 branches are there, and few of them drawn");
    assert_eq!(told.text("tree's end"), "true");
}

#[needs(chromium, npm)]
#[test]
fn what_a_function_is_called_is_in_sight() {
    // As narrow as a column of names gets beside the numbers, and as it is on a phone.
    let story = r##"
        const seen = async (width) => {
          by("tab-table").click();
          by("view-table").style.width = `${width}px`;
          await frames();
          const names = all("#view-table tbody .fn.long");
          return names.filter((fn) => {
            const own = fn.querySelector(".own");
            return own && own.getBoundingClientRect().width > 20 && own.getBoundingClientRect().left < fn.getBoundingClientRect().right;
          }).length === names.length && names.length > 5;
        };
        tell("wide", await seen(1200));
        tell("narrow", await seen(700));
        tell("phone", await seen(390));
        tell("parameters", named("#view-table tbody tr", "TokenList::multiCompare(Token const*, …)") !== undefined);
    "##;
    let told = told(&fixture("long-names.cc", Build::GCC_O0).record().run(), &[], story);
    for width in ["wide", "narrow", "phone"] {
        assert_eq!(told.text(width), "true", "{width}");
    }
    assert_eq!(told.text("parameters"), "true", "the whole name is there");
}

#[needs(chromium, npm)]
#[test]
fn a_deep_flame_graph_is_drawn_where_one_looks() {
    let story = r##"
        by("tab-flame").click();
        await frames();
        const [view, canvas] = [by("view-flame"), by("flame")];
        const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const isDrawn = (y) => { // of the window, at its left: there it goes down, what is right of that is functions' own time
          const { top, width } = canvas.getBoundingClientRect();
          const ratio = canvas.width / width;
          pixel.clearRect(0, 0, 1, 1);
          pixel.drawImage(canvas, 2, Math.round((y - top) * ratio), 1, 1, 0, 0, 1, 1);
          return pixel.getImageData(0, 0, 1, 1).data[3] > 0;
        };
        const top = canvas.getBoundingClientRect().top;
        tell("at the top", isDrawn(top + 10) && isDrawn(top + 32) && top < innerHeight / 3);
        tell("as high", view.scrollHeight > 250 * 20);
        tell("small", canvas.height <= 3 * innerHeight * devicePixelRatio);
        const steps = [];
        for (const part of [0.3, 0.6, 0.9]) {
          view.scrollTop = part * view.scrollHeight;
          await frames();
          steps.push([0.3, 0.6, 0.95].map((y) => isDrawn(view.getBoundingClientRect().top + view.clientHeight * y)).some((is) => is));
        }
        tell("scrolled", steps.join(" "));
        view.scrollTop = 0.5 * view.scrollHeight;
        await frames();
        const { left } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: left + 2, clientY: view.getBoundingClientRect().top + 200 }));
        tell("pointed", by("pointed").textContent !== "");
        canvas.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: left + 2, clientY: view.getBoundingClientRect().top + 200 }));
        await frames();
        tell("kept", view.scrollTop > 1000);
        by("around").click();
        await frames();
        const line = by("callers").getBoundingClientRect().bottom; // callers above it, what is called below
        tell("around", line > view.getBoundingClientRect().top && line < innerHeight);
        by("way-down").click();
        await frames();
        tell("back", canvas.getBoundingClientRect().top === top);
    "##;
    let recorded = fixture("recursion.c", Build::GCC_O0).record().args(&["parity", "300"]).run();
    let told = told_of_even_times(&recorded, story);
    for what in ["at the top", "as high", "small", "pointed", "kept", "around", "back"] {
        assert_eq!(told.text(what), "true", "{what}");
    }
    assert_eq!(told.text("scrolled"), "true true true");
}

#[needs(chromium, npm)]
#[test]
fn a_zoom_keeps_the_frames_that_lead_there() {
    let story = r##"
        by("tab-flame").click();
        await frames();
        mouse("click", by("flame"), 2, 0.01);
        await frames();
        tell("zoomed", by("trail").textContent.startsWith("← all · "));
        by("save").click();
        tell("saved", saved[0].trim().split("\n").every((line) => !line.startsWith("main")));
        by("reset-zoom").click();
        tell("out", by("reset-zoom") === null);
        press(by("flame"), "ArrowDown");
        press(by("flame"), "Enter");
        tell("by keys", by("trail").textContent.startsWith("← all · main"));
    "##;
    let told = told_of_even_times(&fixture("roots.c", Build::GCC_O0).record().run(), story);
    for what in ["zoomed", "saved", "out", "by keys"] {
        assert_eq!(told.text(what), "true", "{what}");
    }
}

#[needs(chromium, npm)]
#[test]
fn nothing_keeps_anybody_out() {
    let recorded = fixture("roots.c", Build::GCC_O0).record().run();
    let path = recorded.folder().join("page.html");
    std::fs::write(&path, page(&recorded, &[])).unwrap();
    browser::look("exported.mjs", &[&path]);
}
