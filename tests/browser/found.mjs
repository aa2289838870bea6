// Somebody who has only the URL finds what got slower, when, on which host, and why: by clicks alone, from the first page.
//
//   node found.mjs LABEL BEFORE AFTER FUNCTION CALLER HOST CAUSE [PICTURES]
//
// LABEL to HOST are what the story is to find; CAUSE is `calls` if there are more of them, `cost` if each takes longer. Each page is told of on
// stdout, and leaves a picture, PICTURES-1.png and so on, if that is said.

import assert from "node:assert/strict";
import { inBrowser, place } from "./common.mjs";

const [label, before, after, name, caller, host, cause, pictures] = process.argv.slice(2);

/** The cells of the row of a table that begins with a name. */
async function row(page, table, first) {
  const rows = await page.locator(`[aria-label=${JSON.stringify(table)}] tbody tr`).all();
  for (const one of rows) {
    const cells = await one.locator("th, td").allTextContents();
    if (cells[0].split(" ")[0] === first) return cells;
  }
  assert.fail(`${table} has no ${first}`);
}

let pages = 0;

/** Says what was found on a page. */
async function tell(page, text) {
  pages += 1;
  console.log(`${pages}. ${text}`);
  if (pictures) await page.screenshot({ path: `${pictures}-${pages}.png`, fullPage: true });
}

await inBrowser({}, async (page) => {
  await page.goto(process.env.SERVICE);
  await page.waitForSelector("[aria-label='services'] tbody tr");

  // Which, and when: what rose, and stayed so.
  await page.click("header nav a:text-is('History')");
  const rises = "[aria-label='regressions']";
  await page.waitForSelector(rises);
  const rise = await row(page, "regressions", name);
  assert.ok(rise.includes(after) && rise.some((cell) => /^\d+.\d+.\d+ \d\d:\d\d:\d\d$/.test(cell)), `since which ${label}, and when: ${rise}`);
  await tell(page, `What rose: ${rise.join(" | ")}`);
  await page.locator(`${rises} tbody tr a:text-is(${JSON.stringify(name)})`).first().click();
  await page.waitForSelector(`main h1:text-is(${JSON.stringify(name)})`);
  const said = await page.locator("main li").allTextContents();
  assert.ok(said.some((text) => text.includes(`since ${after}, first recorded`)), `${said}`);

  await tell(page, `${name}: ${said.join("; ")}`);

  // Why: a click on the value since which it is so compares it with the one before.
  await page.locator(`svg.lines [role=button][aria-label^=${JSON.stringify(`${after}:`)}]`).first().click();
  await page.waitForSelector("[aria-label='compared functions']");
  assert.deepEqual([place(page).words.left, place(page).words.right], [`${label}=${before}`, `${label}=${after}`]);
  const compared = await row(page, "compared functions", name);
  const heads = await page.locator("[aria-label='compared functions'] thead th").allTextContents();
  const cell = (title) => compared[heads.findIndex((head) => head.startsWith(title))];
  assert.ok(["calls", "changed"].includes(cell("verdict")), `${compared}`);
  const why = { calls: "by calls", cost: "by cost" }[cause];
  assert.ok(cell(why).startsWith("+"), `it is ${cause}: ${compared}`);
  await tell(page, `Compared: ${heads.map((head, at) => `${head} ${compared[at]}`).join(" | ")}`);

  // Who calls it, and on which host.
  await page.locator("[aria-label='compared functions'] tbody a").filter({ hasText: new RegExp(`^${name}$`) }).first().click(); // with places to break it
  await page.waitForSelector("[aria-label='by host']");
  assert.equal((await row(page, `callers of ${name}`, caller))[0].split(" ")[0], caller);
  const hosts = await page.locator("[aria-label='by host'] tbody tr").all();
  assert.deepEqual(await Promise.all(hosts.map((one) => one.locator("th").textContent())), [host]);
  await tell(page, `${name} in ${after}: called by ${caller}, on ${host} alone`);

  // All the way back.
  for (const title of ["Compare", name, "What rose, and stayed so"]) {
    await page.goBack();
    await page.waitForSelector(`main h1:text-is(${JSON.stringify(title)})`);
  }
});
