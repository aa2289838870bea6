// A page whose answers take longer than it is until the next is drawn, while a program runs: it is there all the same, and moves.
//
//   node slow.mjs

import assert from "node:assert/strict";
import { calls, inBrowser, open } from "./common.mjs";

/** Longer than the page waits until it draws what has come in. */
const LATE = 1500;

await inBrowser({}, async (page) => {
  let asked = 0;
  await page.route("**/v1/report?**", async (route) => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, LATE));
    await route.continue();
  });
  await open(page, "/explore");
  await page.waitForSelector("[aria-label='functions'] tbody tr");
  assert.equal(asked, 1, "what is being drawn is shown before anything else is asked for");
  const before = await calls(page);
  await page.waitForFunction((before) => {
    const [, text] = /^([\d,]+) calls?/.exec(document.querySelector("main p.soft")?.textContent ?? "") ?? [];
    return Number(text?.replaceAll(",", "")) > before;
  }, before, { timeout: 600_000 });
});
