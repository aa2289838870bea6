// The flame graph: its frames say what the report says, a click zooms in, a search finds.

import assert from "node:assert/strict";
import { allSelf, folder, functions, hottest, inBrowser, near, picture, plain } from "./common.mjs";

await inBrowser(`file://${folder}/flame.svg`, async (page) => {
  await page.waitForSelector("#frames g");
  const titles = await page.$$eval("#frames g > title", (titles) => titles.map((title) => title.textContent));
  const frame = (title) => {
    const [, label, ns] = /^(.*) \(([\d,]+) ns, [\d.]+%\)$/.exec(title);
    return { label, ns: Number(ns.replaceAll(",", "")) };
  };
  const frames = titles.map(frame);
  near(frames.find(({ label }) => label === "all").ns, allSelf, 1, "all");
  for (const { label } of frames) assert.ok(label === "all" || functions.has(plain(label)), label);
  await picture(page, "flamegraph");

  const name = hottest[0];
  const isOf = (text) => plain(frame(text).label) === name;
  const index = titles.findIndex(isOf);
  await page.evaluate((at) => document.querySelectorAll("#frames g")[at].dispatchEvent(new MouseEvent("click", { bubbles: true })), index);
  await page.waitForTimeout(200);
  assert.ok(!(await page.$eval("#unzoom", (text) => text.classList.contains("hide"))), "a click zooms in");
  await page.click("#unzoom");

  page.once("dialog", (dialog) => dialog.accept(name.replace(/[^\w]/g, ".")));
  await page.click("#search");
  await page.waitForTimeout(200);
  const matched = await page.$eval("#matched", (text) => text.textContent);
  assert.match(matched, /Matched: [\d.]+%/);
  assert.ok(Number(/[\d.]+/.exec(matched)[0]) > 0, matched);
  await picture(page, "flamegraph-search");
  console.log(`${frames.length} frames; ${name}: ${matched}`);
});
