// A range of time that is drawn over a selection's timeline, by the mouse and by the keyboard.

import assert from "node:assert/strict";
import { calls, inBrowser, open, place, whole } from "./common.mjs";

const bars = "svg.chart";
const [from, to] = ["Beginning of the range", "End of the range"];

/** What the service counts in the range that the address has. */
async function answered({ since, until }) {
  const answer = await fetch(`${process.env.SERVICE}/v1/report?${new URLSearchParams({ since, until })}`);
  return (await answer.json()).reports[0].calls;
}

/** Waits until the page shows a range, or all time, and its own numbers: those of the address before stay until they come. */
async function shown(page, isRange) {
  await page.waitForURL((url) => url.hash.includes("since=") === isRange);
  await page.waitForFunction((isRange) => document.querySelector("main:not([aria-busy]) pre")?.textContent.includes("--since") === isRange, isRange);
  await whole(page);
  assert.equal(await page.getByRole("button", { name: "All time" }).count(), isRange ? 1 : 0);
}

await inBrowser({}, async (page) => {
  await open(page, "/explore");
  const all = await calls(page);
  await page.waitForSelector(bars);
  // A table keeps the order that somebody gave it.
  await page.locator("main table thead button", { hasText: "calls" }).first().click();
  const { order } = place(page).words;
  assert.ok(order, "the order is in the address");

  // The first half, drawn by the mouse.
  const { x, y, width, height } = await page.locator(bars).boundingBox();
  await page.mouse.move(x + 1, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 4, y + height / 2);
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.up();
  await shown(page, true);
  const half = place(page).words;
  assert.ok(half.since < half.until, "a range of moments");
  assert.equal(half.order, order);
  const inHalf = await calls(page);
  assert.ok(inHalf > 0 && inHalf < all, `${inHalf} of ${all}`);
  assert.equal(inHalf, await answered(half));
  assert.ok((await page.locator("pre").textContent()).includes(`--until '${half.until}'`), "the command line has the range");

  // The other views follow.
  await page.getByRole("button", { name: "Flame graph" }).click();
  await page.waitForSelector("canvas.flame");
  assert.deepEqual([place(page).words.since, place(page).words.until], [half.since, half.until]);

  // Back and back again, forward, and all of it by one click.
  await page.goBack();
  await page.goBack();
  await shown(page, false);
  assert.equal(await calls(page), all);
  await page.goForward();
  await shown(page, true);
  assert.equal(await calls(page), inHalf);
  await page.getByRole("button", { name: "All time" }).click();
  await shown(page, false);
  assert.equal(await calls(page), all);

  // Without the first and the last slice, by the keyboard.
  await page.waitForSelector(bars);
  const ends = async () => Promise.all([from, to].map(async (name) => Number(await page.getByRole("slider", { name }).getAttribute("aria-valuenow"))));
  const [first, last] = await ends();
  await page.getByRole("slider", { name: from }).press("ArrowRight");
  assert.deepEqual(await ends(), [first + 1, last]);
  await page.getByRole("slider", { name: from }).press("Escape");
  assert.deepEqual(await ends(), [first, last]);
  await page.getByRole("slider", { name: from }).press("ArrowRight");
  await page.getByRole("slider", { name: to }).press("ArrowLeft");
  assert.deepEqual(await ends(), [first + 1, last - 1]);
  await page.keyboard.press("Enter");
  await shown(page, true);
  const middle = await calls(page);
  assert.ok(middle > 0 && middle < all, `${middle} of ${all}`);
  assert.equal(middle, await answered(place(page).words));

  // A click is no range.
  await page.goBack();
  await shown(page, false);
  await page.waitForSelector(bars);
  await page.locator(bars).click();
  assert.deepEqual([place(page).words.since, await calls(page)], [undefined, all]);
});
