// Every state of the page, in light and dark, in a window, on a phone and on a wall: axe finds nothing that keeps anybody out, and no page is
// wider than its window.
//
//   node axe.mjs ADDRESS…          (what is behind the `#`)

import assert from "node:assert/strict";
import { inBrowser, obstacles, open } from "./common.mjs";

const found = [];
for (const width of [1280, 390, 3840]) {
  for (const colorScheme of ["light", "dark"]) {
    if (width > 2000 && colorScheme === "dark") continue; // its colours were looked at
    await inBrowser({ width, colorScheme }, async (page) => {
      for (const address of process.argv.slice(2)) {
        await open(page, address);
        found.push(...(await obstacles(page)).map((text) => `${address}, ${width} px, ${colorScheme}: ${text}`));
      }
    });
  }
}
assert.deepEqual(found, []);
