// How quick an exported page is: when it is first seen, how long a step of zooming, sorting, searching and filtering takes, and how many
// frames a second it draws while it is scrolled. benches/page.sh makes the pages.
//
//   CHROMIUM=… node speed.mjs PAGE…
//
// A row for each measurement goes to stdout: page, functions, paths, what, unit, steps, median, largest. A step's `script` is the time in
// which the page's program runs, its `frame` the time until the frame with the result is done, waiting for the screen's next turn
// included: on a screen of 60 Hz up to 17 ms of it are that.

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { inBrowser } from "./common.mjs";
import { TIMING } from "./timing.mjs";

/** In the page: what all measurements need. */
const TOOLS = `
${TIMING}  const by = (id) => document.getElementById(id);
  const at = (canvas, type, row, part) => {
    const { left, top, width } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: left + width * part, clientY: top + 4 + row * 20 + 10 }));
  };
  const scrolled = async (box) => {
    const frames = [];
    let last = await new Promise(requestAnimationFrame), way = 1;
    for (let frame = 0; frame < 120; frame++) {
      box.scrollTop += way * 400;
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) way = -1;
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - last);
      last = now;
    }
    return frames;
  };
`;

/** What somebody does, as a program in the page that gives steps. */
const STORIES = {
  "zoom in": `
    const steps = [];
    by("tab-flame").click();
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      for (const row of [1, 2, 3, 4]) steps.push(await step(() => at(by("flame"), "click", row, part)));
      by("reset-zoom")?.click();
    }
    return steps;`,
  "zoom out": `
    const steps = [];
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      at(by("flame"), "click", 2, part);
      await drawn();
      if (by("reset-zoom")) steps.push(await step(() => by("reset-zoom").click()));
    }
    return steps;`,
  "point at a frame": `
    const steps = [];
    for (let part = 0.05; part < 1; part += 0.05) steps.push(await step(() => at(by("flame"), "mousemove", 3, part)));
    return steps;`,
  "search": `
    const steps = [];
    by("tab-table").click();
    for (const word of ["f", "f1", "1", "12", "", "wor", "nothing", ""]) {
      steps.push(await step(() => { by("search").value = word; by("search").dispatchEvent(new Event("input")); }));
    }
    return steps;`,
  "sort the table": `
    const steps = [];
    for (const column of [0, 1, 2, 3, 0, 5, 6]) steps.push(await step(() => document.querySelectorAll("#view-table thead button")[column]?.click()));
    return steps;`,
  "select a function": `
    const steps = [];
    for (let row = 2; row < 20; row += 2) steps.push(await step(() => document.querySelectorAll("#view-table tbody tr")[row]?.click()));
    return steps;`,
  "filter": `
    const steps = [];
    for (let row = 0; row < 5; row++) {
      by("tab-table").click();
      document.querySelectorAll("#view-table tbody tr")[row].click();
      by("tab-flame").click();
      await drawn();
      steps.push(await step(() => by("only").click()));
      await drawn();
      by("undo").click();
    }
    return steps;`,
};

/** Scrolled for two seconds, 400 pixels a frame: the frames' lengths. */
const SCROLLS = {
  "scroll the table": `by("tab-table").click(); await drawn(); return scrolled(by("view-table"));`,
  "scroll the tree": `
    by("tab-tree").click();
    by("search").value = "f";
    by("search").dispatchEvent(new Event("input"));
    await drawn();
    return scrolled(by("view-tree"));`,
};

function told(page, what, unit, values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [median, largest] = [sorted[sorted.length >> 1], sorted.at(-1)];
  console.log([...page, what, unit, values.length, median.toFixed(1), largest.toFixed(1)].join("\t"));
}

console.log(["page", "functions", "paths", "what", "unit", "steps", "median", "largest"].join("\t"));
for (const path of process.argv.slice(2)) {
  await inBrowser({}, async (page) => {
    const paints = [];
    for (let time = 0; time < 5; time++) {
      await page.goto("about:blank");
      await page.goto(pathToFileURL(path).href);
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    }
    const [functions, paths] = await page.evaluate(() => {
      const { functions, parts } = JSON.parse(document.getElementById("data").textContent);
      return [functions.length, parts.reduce((sum, part) => sum + part.paths.parent.length, 0)];
    });
    const of = [basename(path, ".html"), functions, paths];
    told(of, "first paint", "ms", paints);
    for (const [what, story] of Object.entries(STORIES)) {
      const steps = await page.evaluate(`(async () => {${TOOLS}${story}})()`);
      if (!steps.length) continue;
      told(of, what, "ms script", steps.map(({ script }) => script));
      told(of, what, "ms frame", steps.map(({ frame }) => frame));
    }
    for (const [what, story] of Object.entries(SCROLLS)) {
      const frames = await page.evaluate(`(async () => {${TOOLS}${story}})()`);
      told(of, what, "ms between frames", frames);
      const rate = (frames.length * 1e3) / frames.reduce((sum, length) => sum + length, 0);
      told(of, what, "frames a second", [rate]);
    }
  });
}
