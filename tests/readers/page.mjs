// The page: table, details, flame graph, tree and percentiles, clicked and searched, from a file and without a network.

import assert from "node:assert/strict";
import { allSelf, folder, functions, hottest, inBrowser, nanoseconds, near, picture, plain } from "./common.mjs";

await inBrowser(`file://${folder}/page.html`, async (page) => {
  const cells = (row, key) => row.$eval(`td.${key}`, (cell) => cell.textContent);
  const name = hottest[0];
  near(nanoseconds(await page.textContent("#facts")), allSelf, allSelf / 150, "the sum in the title");

  // The table: the hottest function first, with its calls.
  const first = await page.$("#view-table tbody tr");
  assert.equal(plain(await first.$eval(".fn", (span) => span.textContent)), name);
  if (functions.get(name).copies === 1) assert.equal((await cells(first, "calls")).replaceAll(",", ""), String(functions.get(name).calls));
  await page.click("th.calls button");
  const most = Math.max(...[...functions.values()].map(({ calls, copies }) => (copies === 1 ? calls : 0)));
  const shown = Number((await cells(await page.$("#view-table tbody tr"), "calls")).replaceAll(",", ""));
  assert.ok(shown >= most, `sorted by calls: ${shown} first, but there is ${most}`);
  await page.click("th.self button");

  // Search narrows the table, and tells how much was found.
  await page.keyboard.press("/");
  await page.keyboard.type(name);
  const rows = await page.$$eval("#view-table tbody .fn", (spans) => spans.map((span) => span.textContent));
  assert.ok(rows.length >= 1 && rows.every((row) => row.includes(name)), rows.join(", "));
  assert.match(await page.textContent("#found"), /\d+ functions? · .*% of the time inside/);

  // A click shows details, which lead to the flame graph and the tree.
  await page.click("#view-table tbody tr");
  assert.equal(plain(await page.textContent("#details h2")), name);
  await picture(page, "page-table");
  await page.click("#details .plain:has-text('flame')");
  await page.waitForSelector("#reset-zoom");
  await picture(page, "page-flame");
  const canvas = await (await page.$("#flame")).boundingBox();
  await page.mouse.click(canvas.x + 20, canvas.y + canvas.height - 12); // "all", at the bottom
  await page.waitForSelector("#reset-zoom", { state: "detached" });
  const whole = await (await page.$("#flame")).boundingBox();
  await page.mouse.move(whole.x + 30, whole.y + whole.height - 32); // what stands on it
  assert.match(await page.textContent("#pointed"), /calls?$/);

  await page.fill("#search", "");
  await page.click("#tab-table");
  await page.click("#view-table tbody tr");
  await page.click("#details .plain:has-text('tree')");
  assert.equal(plain(await page.$eval("#view-tree .selected .fn", (span) => span.textContent)), name);
  await picture(page, "page-tree");

  await page.click("#tab-spread");
  assert.ok((await page.$$("#view-spread svg")).length > 1);
  await picture(page, "page-percentiles");
  console.log(`${functions.size} names; hottest: ${name}`);
});

await inBrowser(`file://${folder}/page.html`, async (page) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 700, height: 900 });
  await picture(page, "page-narrow-dark");
});
