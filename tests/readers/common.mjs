// What the readers' checks share: the folder, the report to compare with, and a browser without a network.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const folder = process.env.FOLDER;
const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")).reports[0];

/** Calls, self and total time in nanoseconds, by the name that exports give a function; hottest first. */
export const functions = new Map();
for (const { name, calls, self_ns, total_ns } of report.functions) {
  const known = functions.get(name) ?? { calls: 0, self: 0, total: 0, copies: 0 };
  functions.set(name, { calls: known.calls + calls, self: known.self + self_ns, total: known.total + total_ns, copies: known.copies + 1 });
}

/** Functions that have a timeline, most time in it first. */
const inSlices = ({ timeline: { slices } }, what) => slices.reduce((sum, slice) => sum + slice[what], 0);
export const timelines = report.functions.filter(({ timeline }) => timeline)
  .sort((a, b) => inSlices(b, "total_ns") - inSlices(a, "total_ns") || inSlices(b, "calls") - inSlices(a, "calls"))
  .map(({ name, timeline }) => ({ name, ...timeline }));
export const hottest = [...functions].sort(([, a], [, b]) => b.self - a.self).map(([name]) => name);
export const allSelf = [...functions.values()].reduce((sum, { self }) => sum + self, 0);

/** A name without the module that exports add where it is needed. */
export const plain = (label) => label.replace(/ \[[^\]]*\]$/, "");

export function near(found, expected, within, what) {
  assert.ok(Math.abs(found - expected) <= within, `${what}: ${found}, expected ${expected}`);
}

/** Opens a file in Chromium and tells a story about it. No request but for files, and no error, may happen. */
export async function inBrowser(url, story) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--allow-file-access-from-files"] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => !/^(file|data|blob):/.test(request.url()) && complaints.push(`asks for ${request.url()}`));
  try {
    await page.goto(url);
    await story(page);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
}

export const picture = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });

/** "1.23 ms" or "45.60µs" in nanoseconds. */
export function nanoseconds(text) {
  const [, number, unit] = /([\d.,]+)\s*(ns|µs|μs|us|ms|s)/.exec(text);
  return Number(number.replaceAll(",", "")) * { ns: 1, "µs": 1e3, "μs": 1e3, us: 1e3, ms: 1e6, s: 1e9 }[unit];
}
