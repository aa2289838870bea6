// A run of load is found on the page and looked at while it goes on, until its report is there.
//
//   node load.mjs TARGET WORKERS          (how many workers make it; 0 for none)

import assert from "node:assert/strict";
import { inBrowser } from "./common.mjs";

const [target, workers] = process.argv.slice(2);

/** The cells of each row of a table. */
const rows = async (page, table) => Promise.all((await page.locator(`[aria-label='${table}'] tbody tr`).all()).map((row) => row.locator("th, td").allTextContents()));

await inBrowser({}, async (page) => {
  await page.goto(process.env.SERVICE);
  await page.click("header nav a:text-is('Load')");
  const link = `[aria-label='runs of load'] a:text-is(${JSON.stringify(target)})`;
  await page.waitForSelector(link);
  await page.click(link);

  // How it goes, while nobody touches the page: more was sent, and how long it took over time.
  await page.waitForSelector("main [role=status]:has-text('running')");
  await page.waitForSelector("[aria-label='steps'] a:has-text('(goes on)')");
  await page.waitForSelector("figure:has(.legend .p99) .series canvas");
  const sent = () => [...document.querySelectorAll("[aria-label='steps'] tbody tr")].reduce((sum, row) => sum + Number(row.children[2].textContent.replaceAll(",", "")), 0);
  const before = await page.evaluate(sent);
  await page.waitForFunction(`(${sent})() > ${before}`);
  const crew = await rows(page, "workers");
  assert.equal(crew.length, Number(workers));
  assert.ok(crew.every((cells) => Number(cells[3].replaceAll(",", "")) >= 0), `${crew}`);

  // And what it has come to.
  await page.waitForSelector("main [role=status] strong:text-is('over')");
  await page.waitForSelector("[aria-label='steps'] tbody tr:nth-child(2)");
  const steps = await rows(page, "steps");
  console.log(JSON.stringify({ steps, said: await page.locator("main [role=status]").first().textContent(), workers: await rows(page, "workers") }));
  // Another step is a click away, and its address is its own.
  await page.locator("[aria-label='steps'] tbody a").first().click();
  await page.waitForSelector(`main h2:text-is(${JSON.stringify(`Latency over time at ${steps[0][0]}`)})`);
});
