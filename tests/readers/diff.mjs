// The page of `diytrace diff`: read from a file and without a network.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folder, inBrowser, picture } from "./common.mjs";

const { queries: [query] } = JSON.parse(readFileSync(join(folder, "diff/report.json"), "utf8"));

await inBrowser(`file://${folder}/diff/report.html`, async (page) => {
  const changed = query.functions.filter(({ verdict }) => verdict === "changed");
  assert.equal(await page.locator("#changed .card").count(), changed.length);
  await page.click("#contents a[href='#timelines']");

  // Each function that has a timeline: both sides, slice by slice.
  const ran = query.functions.filter(({ timeline }) => timeline);
  const cards = page.locator("#timelines .card");
  assert.equal(await cards.count(), Math.min(ran.length, 8));
  const first = cards.first();
  const name = await first.locator(".fn").textContent();
  const { timeline } = ran.find((fn) => fn.name === name);
  assert.equal(await first.locator("rect.slice").count(), timeline.left.median_ns.length);
  assert.equal(await first.locator("path.left, path.right").count(), 4, "a line and a band of each side");
  assert.match(await first.locator("rect.slice title").first().textContent(), /^0 ns to .*\n.*: .* \(.* to .*\)\n/);
  await page.waitForFunction(() => {
    const bar = document.getElementById("contents").getBoundingClientRect();
    const heading = document.querySelector("#timelines h2").getBoundingClientRect();
    return heading.top >= bar.bottom && heading.top < bar.bottom + 40; // below the bar, not behind it
  });
  await picture(page, "diff-timelines");
  await page.click("#contents a[href='#flames']");
  assert.ok(await page.getByLabel("Flame graph", { exact: true }).isVisible());
  console.log(`${changed.length} changed; ${ran.length} with timelines`);
});

await inBrowser(`file://${folder}/diff/report.html`, async (page) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 800, height: 600 });
  await picture(page, "diff-narrow-dark");
});
