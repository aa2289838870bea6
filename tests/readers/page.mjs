// The page: table, details, flame graph, tree, percentiles and timelines, clicked and searched, from a file and without a network.

import assert from "node:assert/strict";
import { allSelf, folder, functions, hottest, inBrowser, nanoseconds, near, picture, plain, timelines } from "./common.mjs";

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
  await page.mouse.click(canvas.x + 20, canvas.y + 12); // "all", on top
  await page.waitForSelector("#reset-zoom", { state: "detached" });
  const whole = await (await page.$("#flame")).boundingBox();
  await page.mouse.move(whole.x + 30, whole.y + 32); // what hangs below it
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
  await page.keyboard.press("Escape"); // closes the details

  // Timelines: those of the report, most time first, read slice by slice.
  await page.focus("#tab-spread");
  await page.keyboard.press("ArrowRight");
  const ran = "#view-timeline .ran-row[data-row]";
  const ranNames = await page.$$eval(`${ran} > .fn`, (spans) => spans.map((span) => span.textContent));
  assert.deepEqual(ranNames.map(plain), timelines.map(({ name }) => name));
  const { slices, slice_ns } = timelines[0];
  const peak = Math.max(...slices.map(({ total_ns }) => total_ns)) / (slice_ns / 1e9);
  near(nanoseconds(await page.textContent(`${ran} .number`)), peak, peak / 150, "the peak");
  assert.match(await page.textContent(`${ran} .number.slices`), new RegExp(`^${slices.length} of `));
  const chart = await page.locator(`${ran} svg`).first().boundingBox();
  const begin = await page.$eval(`${ran} svg path`, (path) => path.getBBox().x / 1000);
  await page.mouse.move(chart.x + begin * chart.width + 1, chart.y + 10);
  assert.match(await page.textContent("#view-timeline .reading"), / spent \(.*\/s\) · .*calls? ended · slice \d+ of \d+$/);
  await picture(page, "page-timeline");
  // By the keyboard, from the first slice with anything in it to the last: all calls are there.
  await page.focus(ran);
  const filled = slices.length - slices.findIndex(({ calls, total_ns }) => calls > 0 || total_ns > 0);
  let calls = 0;
  for (let slice = 0; slice < filled; slice++) {
    await page.keyboard.press(slice ? "ArrowRight" : "Home");
    calls += Number(/([\d,.]+) calls? ended/.exec(await page.textContent("#view-timeline .reading"))[1].replaceAll(",", ""));
  }
  near(calls, slices.reduce((sum, slice) => sum + slice.calls, 0), slices.length / 10, "calls in slices");
  await page.click("#shows-calls");
  assert.match(await page.textContent(`${ran} .number`), /^(about )?[\d,.]+\/s$/);
  await page.focus(ran);
  await page.keyboard.press("Enter");
  assert.equal(await page.textContent("#details h2"), ranNames[0]);
  assert.ok(await page.$("#details svg.ran"));
  assert.equal(await page.evaluate(() => document.activeElement.dataset.row !== undefined), true, "the row keeps the focus");
  console.log(`${functions.size} names; hottest: ${name}`);
});

await inBrowser(`file://${folder}/page.html`, async (page) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 700, height: 900 });
  await picture(page, "page-narrow-dark");
});
