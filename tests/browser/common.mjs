// What the stories told in a browser share: the service's page in Chromium, of which nothing may complain.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Longer than anything takes, however busy the machine is. */
const timeout = 600_000;

/** Opens pages of the service, one story after the other, in a window of this width and these colours. */
export async function inBrowser({ width = 1280, colorScheme = "light" }, story) {
  // As root, which gates often are, it has no sandbox.
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"], timeout });
  try {
    // The axe that is put into the page is no script of the service's, which alone may run there.
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
    context.setDefaultTimeout(timeout);
    const page = await context.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && !message.text().includes("Failed to load resource") && complaints.push(message.text()));
    await story(page);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
}

/** Opens what is behind the `#`, as somebody does who has only the address. */
export async function open(page, address) {
  await page.goto("about:blank");
  await page.goto(`${process.env.SERVICE}/#${address}`);
  await page.waitForSelector("main h1, main form");
  await whole(page);
}

/** Waits until all parts of what is shown have come. */
export async function whole(page) {
  await page.waitForFunction(() => !document.querySelector("main[aria-busy=true], main [aria-busy=true]"));
}

/** The page that is open, and what it has chosen. */
export function place(page) {
  const [path, words] = new URL(page.url()).hash.slice(1).split("?");
  return { path, words: Object.fromEntries(new URLSearchParams(words)) };
}

/** Calls of all that is shown. */
export async function calls(page) {
  return Number(/^([\d,]+) calls?/.exec(await page.locator("main p.soft").first().textContent())[1].replaceAll(",", ""));
}

/** What keeps people out of what is shown: what axe says by these of its rules, or all, with the first element that breaks one; and what is wider than the window. */
export async function obstacles(page, rules) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const wider = over > 0 ? [`wider than the window by ${over} px`] : [];
  if (rules?.length === 0) return wider;
  await page.evaluate(axe);
  const runOnly = rules && { type: "rule", values: rules };
  const { violations } = await page.evaluate((options) => axe.run(document, options), { resultTypes: ["violations"], ...(runOnly && { runOnly }) });
  const said = violations.map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0].html.slice(0, 200)} (${nodes[0].failureSummary})`);
  return [...wider, ...said];
}
