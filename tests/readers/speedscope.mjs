// speedscope imports the file and shows the report's times.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, functions, hottest, inBrowser, nanoseconds, near, picture, plain } from "./common.mjs";

// As its own command does it: the profile in a script that the page loads.
const profile = readFileSync(join(folder, "speedscope.json")).toString("base64");
const script = join(folder, "speedscope-profile.js");
writeFileSync(script, `speedscope.loadFileFromBase64("profile.json", ${JSON.stringify(profile)})`);
const index = join(folder, "node_modules/speedscope/dist/release/index.html");

await inBrowser(`file://${index}#localProfilePath=${script}`, async (page) => {
  await page.waitForSelector("text=Sandwich");
  await page.waitForTimeout(1000);
  assert.match(await page.textContent("body"), / · time/);
  await page.keyboard.press("2"); // left heavy
  await page.waitForTimeout(500);
  await picture(page, "speedscope");
  await page.keyboard.press("3"); // the table
  await page.waitForSelector("td:has-text('%)')");
  const rows = await page.$$eval("tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  const shown = rows.filter(([total]) => total?.endsWith("%)")); // others are those of menus
  assert.ok(shown.length >= Math.min(functions.size, 5), `${shown.length} rows`);
  for (const [total, self, label] of shown) {
    const name = plain(label.trim());
    const known = functions.get(name);
    assert.ok(known, name);
    if (known.copies > 1) continue;
    near(nanoseconds(self), known.self, known.self / 50 + 11, `self time of ${name}`);
    near(nanoseconds(total), known.total, known.total / 50 + 11, `total time of ${name}`);
  }
  assert.ok(shown.some(([, , label]) => plain(label.trim()) === hottest[0]));
  console.log(`${shown.length} functions as in the report`);
});
