// A program starts while somebody looks: the first page shows it, and what it has done goes on moving, without a click.
//
//   node moves.mjs LIBRARY PROGRAM FOLDER [MOVES]
//
// LIBRARY is the recorder, and FOLDER where an agent looks into `out`; PROGRAM runs there until there is a file `stop`. How long that took is told on
// stdout, as service_speed.mjs tells times: from the program's start until the page shows it, and from one move to the next.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { inBrowser, open } from "./common.mjs";

const [library, program, folder, moves = "3"] = process.argv.slice(2);
const PATIENCE = { timeout: 600_000 };

function told(what, values) {
  const sorted = [...values].sort((a, b) => a - b);
  console.log([what, "ms", values.length, sorted[sorted.length >> 1].toFixed(1), sorted.at(-1).toFixed(1)].join("\t"));
}

await inBrowser({}, async (page) => {
  await open(page, "/");
  await page.waitForSelector("#live:text-is('live')", PATIENCE);
  await page.evaluate(() => {
    const name = "[aria-label='services'] tbody th a";
    const seen = () => [...document.querySelectorAll(name)].some((one) => one.textContent === "endless");
    if (seen()) throw new Error("it is there before it has started");
    new MutationObserver((_, watcher) => {
      if (!seen()) return;
      watcher.disconnect();
      window.shown = Date.now();
    }).observe(document.getElementById("main"), { childList: true, subtree: true });
  });
  const started = Date.now();
  const running = spawn(program, { cwd: folder, env: { ...process.env, LD_PRELOAD: library, DIYTRACE_OUT: "out" }, stdio: "ignore" });
  const ended = new Promise((resolve) => running.on("exit", resolve));
  try {
    await page.waitForFunction(() => window.shown, null, PATIENCE);
    told("a program that starts is shown", [(await page.evaluate(() => window.shown)) - started]);

    await page.locator("[aria-label='services'] tbody th a:text-is('endless')").click();
    await page.waitForSelector("[aria-label='functions'] tbody tr");
    await page.evaluate(() => {
      const calls = () => Number(/^([\d,]+) calls?/.exec(document.querySelector("main p.soft")?.textContent ?? "")?.[1].replaceAll(",", "") ?? NaN);
      window.moved = [];
      let last = calls();
      new MutationObserver(() => {
        const now = calls();
        if (!(now > last)) return;
        last = now;
        window.moved.push(performance.now());
      }).observe(document.getElementById("main"), { childList: true, subtree: true });
    });
    await page.waitForFunction((moves) => window.moved.length > moves, Number(moves), PATIENCE);
    const moved = await page.evaluate(() => window.moved);
    told("from one move to the next", moved.slice(1).map((moment, at) => moment - moved[at]));
    assert.equal(await page.evaluate(() => performance.getEntriesByType("navigation").length), 1, "nobody loaded it again");
  } finally {
    writeFileSync(`${folder}/stop`, "");
    await ended;
  }
});
