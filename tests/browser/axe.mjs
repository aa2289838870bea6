// Every state of the page, in light and dark, in a wide window and on a phone: axe finds nothing that keeps anybody out, and no page is
// wider than its window.
//
//   node axe.mjs ADDRESS…          (what is behind the `#`)

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { inBrowser, open } from "./common.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe says of a page: rule, and the first element that breaks it. */
async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0].html.slice(0, 200)} (${nodes[0].failureSummary})`);
}

const found = [];
for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    await inBrowser({ width, colorScheme }, async (page) => {
      for (const address of process.argv.slice(2)) {
        await open(page, address);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        const here = [...(over > 0 ? [`wider than the window by ${over} px`] : []), ...(await violations(page))];
        found.push(...here.map((text) => `${address}, ${width} px, ${colorScheme}: ${text}`));
      }
    });
  }
}
assert.deepEqual(found, []);
