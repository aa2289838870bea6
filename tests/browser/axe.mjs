// Every state of the page, in light and dark, in a window, on a phone and on a wall: axe finds nothing that keeps anybody out, and no page is
// wider than its window.
//
//   node axe.mjs ADDRESS…          (what is behind the `#`)

import assert from "node:assert/strict";
import { inBrowser, obstacles, open } from "./common.mjs";

const found = [];
await inBrowser({}, async (page) => {
  for (const address of process.argv.slice(2)) {
    for (const width of [1280, 390, 3840]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ["light", "dark"]) {
        if (width > 2000 && colorScheme === "dark") continue; // its colours were looked at
        await page.emulateMedia({ colorScheme });
        await open(page, address);
        // What is no matter of colours is the same in the dark.
        const seen = await obstacles(page, colorScheme === "dark" ? ["color-contrast"] : undefined);
        found.push(...seen.map((text) => `${address}, ${width} px, ${colorScheme}: ${text}`));
      }
    }
  }
});
assert.deepEqual(found, []);
