// From the list of verdicts to one of them, and from there to the runs that were compared: by the keyboard alone.
//
//   node verdicts.mjs ID          (of a verdict of `diff`)

import assert from "node:assert/strict";
import { inBrowser, open, place } from "./common.mjs";

/** Goes on by the Tab key to what is called so. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const held = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (held === name) return;
  }
  assert.fail(`nobody comes to ${name} by the keyboard`);
}

const { verdict } = await (await fetch(`${process.env.SERVICE}/v1/verdict?id=${process.argv[2]}`)).json();

await inBrowser({}, async (page) => {
  await open(page, "/");
  await tabTo(page, "Verdicts");
  await page.keyboard.press("Enter");
  await page.waitForSelector("main h1:text-is('Verdicts')");
  await tabTo(page, verdict.sentence);
  await page.keyboard.press("Enter");
  await page.waitForSelector("[aria-label='compared functions']");
  assert.equal(place(page).words.id, verdict.id);
  await tabTo(page, "Compare these runs");
  await page.keyboard.press("Enter");
  await page.waitForSelector("main h1:text-is('Compare')");
  await page.waitForSelector("canvas.flame");
  const { path, words } = place(page);
  assert.equal(path, "/compare");
  assert.deepEqual([words.left, words.right], [verdict.left_select, verdict.right_select]);
  assert.deepEqual([words.since, words.until, words.replicate], [verdict.since, verdict.until, "run"]);
  // The same runs, compared anew, and back again.
  assert.equal(await page.locator("main p[role=status]").first().textContent().then((text) => text.includes("3 runs before, 3 after")), true);
  await page.goBack();
  await page.waitForSelector("main h1:text-is('commit=a1 → commit=b2')");
});
