// How quick the service's page is: what its scripts weigh, when each view is there, how long a step of its flame graph takes, how many frames
// a second it draws while its table of functions is scrolled, and what the browser takes while the page is live. benches/service-page.sh
// makes what it shows.
//
//   SERVICE=… CHROMIUM=… node service_speed.mjs LIVE_SECONDS VIEW=ADDRESS…          (ADDRESS: what is behind the `#`)
//
// A row for each measurement goes to stdout: what, unit, steps, median, largest. `first paint` is the browser's own; `there` is when the
// view's first answer is drawn, and `whole` when all are, from the navigation on;
// `first` is the first time of all, and the median is of five, each in a new tab. Of a step, `script` is the time in which the page's program runs, `frame` until
// the frame with the result is done, waiting for the screen's next turn included. `scroll` is of VIEW=functions, `zoom` of VIEW=flame, and
// `live` of VIEW=live, in which a program runs whose agent sends four times a second: processor time of all of the browser's processes.

import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { TIMING } from "./timing.mjs";

const { SERVICE, CHROMIUM } = process.env;
const [liveSeconds, ...named] = process.argv.slice(2);
const views = Object.fromEntries(named.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
const TIMES = 5;
/** Clock ticks a second, as the kernel tells processor times. */
const TICKS = 100;

function told(what, unit, values) {
  const sorted = [...values].sort((a, b) => a - b);
  console.log([what, unit, values.length, sorted[sorted.length >> 1].toFixed(1), sorted.at(-1).toFixed(1)].join("\t"));
}

/** What the page loads: each file, compressed by itself, as it would travel. */
async function weight() {
  const index = await (await fetch(SERVICE)).text();
  const met = new Set(), next = [...index.matchAll(/\/page\/([\w.]+)/g)].map(([, name]) => name);
  const bytes = { js: 0, all: gzipSync(index).length };
  for (let name = next.pop(); name; name = next.pop()) {
    if (met.has(name)) continue;
    met.add(name);
    const text = await (await fetch(`${SERVICE}/page/${name}`)).text();
    const size = gzipSync(text).length;
    bytes.all += size;
    if (name.endsWith(".js")) bytes.js += size;
    next.push(...[...text.matchAll(/from "\.\/([\w.]+\.js)"/g)].map(([, name]) => name));
  }
  told("scripts, compressed", "bytes", [bytes.js]);
  told("page, compressed", "bytes", [bytes.all]);
}

/** Opens a view in a new page, and tells when it was painted and when its answers were there. */
async function open(context, address) {
  const page = await context.newPage();
  await page.addInitScript(`addEventListener("DOMContentLoaded", () => {
    const main = document.getElementById("main");
    const seen = (what) => requestAnimationFrame(() => { window[what] ??= performance.now(); });
    new MutationObserver((_, watcher) => {
      if (!main.querySelector("h1")) return;
      seen("there");
      if (main.querySelector("[aria-busy=true]")) return;
      watcher.disconnect();
      seen("whole");
    }).observe(main, { childList: true, subtree: true, attributes: true });
  });`);
  await page.goto(`${SERVICE}/#${address}`);
  await page.waitForFunction(() => window.whole && performance.getEntriesByName("first-contentful-paint").length > 0, null, { timeout: 120_000 });
  const times = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, window.there, window.whole]);
  return { page, times };
}

async function zoomed(page) {
  const steps = await page.evaluate(`(async () => {${TIMING}
    const canvas = document.querySelector("canvas.flame");
    const click = (row, part) => {
      const { left, top, width } = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: left + width * part, clientY: top + 4 + row * 20 + 10 }));
    };
    const steps = [];
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      for (const row of [1, 2, 3, 4]) steps.push(await step(() => click(row, part)));
      document.querySelector(".trail button")?.click();
    }
    return steps;
  })()`);
  told("zoom", "ms script", steps.map(({ script }) => script));
  told("zoom", "ms frame", steps.map(({ frame }) => frame));
}

/** Down the page, 400 pixels a frame, as far as its rows go on growing; and up again where they end. */
async function scrolled(page) {
  const frames = await page.evaluate(`(async () => {
    const frames = [];
    let last = await new Promise(requestAnimationFrame), way = 1;
    for (let frame = 0; frame < 300; frame++) {
      scrollBy(0, way * 400);
      if (scrollY + innerHeight >= document.documentElement.scrollHeight - 1) way = -1;
      if (scrollY === 0) way = 1;
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - last);
      last = now;
    }
    return frames;
  })()`);
  told("scroll", "ms between frames", frames);
  told("scroll", "frames a second", [(frames.length * 1e3) / frames.reduce((sum, length) => sum + length, 0)]);
}

/** Processor time of a process and all below it, in seconds. */
function processorTime(root) {
  const below = new Map();
  const times = new Map();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
      below.set(fields[1], [...(below.get(fields[1]) ?? []), entry]);
      times.set(entry, (Number(fields[11]) + Number(fields[12])) / TICKS);
    } catch {
      // It has ended since.
    }
  }
  const all = (one) => (times.get(one) ?? 0) + (below.get(one) ?? []).reduce((sum, child) => sum + all(child), 0);
  return all(String(root));
}

console.log(["what", "unit", "steps", "median", "largest"].join("\t"));
await weight();
const server = await chromium.launchServer({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const browser = await chromium.connect(server.wsEndpoint());
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  for (const [name, address] of Object.entries(views)) {
    const times = [];
    for (let time = 0; time < TIMES; time++) {
      const { page, times: of } = await open(context, address);
      times.push(of);
      if (time === TIMES - 1 && name === "flame") await zoomed(page);
      if (time === TIMES - 1 && name === "functions") await scrolled(page);
      await page.close();
    }
    told(`${name}: first paint`, "ms", times.map(([paint]) => paint));
    told(`${name}: there`, "ms", times.map(([, there]) => there));
    told(`${name}: there, first`, "ms", [times[0][1]]);
    told(`${name}: whole`, "ms", times.map(([, , whole]) => whole));
  }
  if (views.live) {
    const { page } = await open(context, views.live);
    await page.waitForTimeout(3000);
    const [before, start] = [processorTime(server.process().pid), performance.now()];
    await page.waitForTimeout(Number(liveSeconds) * 1e3);
    told("live", "% of a processor", [(100 * (processorTime(server.process().pid) - before)) / ((performance.now() - start) / 1e3)]);
  }
} finally {
  await server.close();
}
