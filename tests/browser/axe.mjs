// Every state of the page, in light and dark, in a window, on a phone and on a wall: axe finds nothing that keeps anybody out, and no page is
// wider than its window.
//
//   node axe.mjs ADDRESS…          (what is behind the `#`)

import assert from "node:assert/strict";
import { inBrowser, obstacles, open } from "./common.mjs";

// What each is looked at for: all rules, or these. Colours are the same in every window, and what a wall shows is what a window does.
const windows = [
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark", rules: ["color-contrast"] },
  { width: 390, colorScheme: "light" },
  { width: 3840, colorScheme: "light", rules: [] },
];
const found = [];
await inBrowser({}, async (page) => {
  for (const address of process.argv.slice(2)) {
    for (const { width, colorScheme, rules } of windows) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await open(page, address);
      found.push(...(await obstacles(page, rules)).map((text) => `${address}, ${width} px, ${colorScheme}: ${text}`));
    }
  }
});
assert.deepEqual(found, []);
