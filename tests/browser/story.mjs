// A story about a page in a file: the script of the story runs in the page, and what it tells goes to stdout, a line for each thing.
//
//   node story.mjs PAGE STORY

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inBrowser } from "./common.mjs";

/** What every story is told with: `tell` says what is seen, `frames` waits until it is drawn. */
const WORDS = `
  const told = [];
  const tell = (what, text) => told.push(what + ": " + text);
  const by = (id) => document.getElementById(id);
  const all = (rows) => [...document.querySelectorAll(rows)];
  const named = (rows, name) => all(rows).find((row) => row.querySelector(".fn").textContent === name);
  const frames = async () => { for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame); };
  const search = (input, text) => { input.value = text; input.dispatchEvent(new Event("input")); };
  const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const mouse = (type, canvas, row, part) => {
    const { left, top, width } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: left + width * part, clientY: top + 4 + row * 20 + 10 }));
  };
  const saved = [];
  // Nobody takes a download here.
  HTMLAnchorElement.prototype.click = () => {};
  window.Blob = class { constructor(parts) { saved.push(...parts); } };
  URL.createObjectURL = () => "";
`;

const [path, story] = process.argv.slice(2);
await inBrowser({}, async (page) => {
  await page.goto(pathToFileURL(path).href);
  console.log(await page.evaluate(`(async () => {${WORDS}${readFileSync(story, "utf8")}return told.join("\\n");})()`));
});
