// Every view of an exported page, as it opens and with a function selected and filtered, in light and dark, in a wide window and on a
// phone: axe finds nothing that keeps anybody out, and no view is wider than its window. A page without views is looked at as it opens.
//
//   node exported.mjs PAGE…

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { inBrowser, obstacles } from "./common.mjs";

const found = [];
for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    await inBrowser({ width, colorScheme }, async (page) => {
      for (const path of process.argv.slice(2)) {
        await page.goto(pathToFileURL(path).href);
        const look = async (what) => found.push(...(await obstacles(page)).map((text) => `${what}, ${width} px, ${colorScheme}: ${text}`));
        await look("as it opens");
        const tabs = await page.getByRole("tab").all();
        for (const tab of tabs) {
          await tab.click();
          await look(await tab.textContent());
        }
        if (!tabs.length) continue;
        await tabs[0].click();
        await page.locator("#view-table tbody tr").first().click();
        await page.locator("#only").click();
        for (const tab of tabs) {
          await tab.click();
          await look(`filtered: ${await tab.textContent()}`);
        }
        await page.locator("#around").click();
        await look("around one");
      }
    });
  }
}
assert.deepEqual(found, []);
