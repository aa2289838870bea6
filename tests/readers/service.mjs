// The service's page: what it shows is the report's, what a program counts is there within seconds, and it says when the service
// is away.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { folder, functions, picture } from "./common.mjs";

const { DIYTRACE: diytrace, PROFILE: profile } = process.env;
const [store, live] = [join(folder, "service.db"), join(folder, "live.data")];
for (const path of [store, `${store}-wal`, `${store}-shm`, live, join(folder, "spool")]) rmSync(path, { recursive: true, force: true });

let service;
async function serve(listen) {
  service = spawn(diytrace, ["serve", "--store", store, "--listen", listen], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface(service.stderr)) {
    if (line.includes("listening on ")) return line.split("listening on ")[1].trim();
  }
  throw new Error("the service has ended");
}

const run = async (...words) => assert.equal((await once(spawn(diytrace, words, { stdio: "ignore" }), "exit"))[0], 0, words.join(" "));

const address = await serve("127.0.0.1:0");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
let agent;
try {
  for (const [name, viewport, colorScheme] of [["wide", { width: 1280, height: 800 }, "light"], ["narrow", { width: 390, height: 800 }, "dark"]]) {
    const page = await (await browser.newContext({ viewport, colorScheme })).newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => request.url().startsWith(address) || request.url().startsWith("data:") || complaints.push(`asks for ${request.url()}`));

    // Nothing there: what to do next.
    if (name === "wide") {
      await page.goto(`${address}/`);
      await page.waitForSelector("pre:has-text('diytrace agent --to')");
      await run("push", "--to", address, profile);
    }
    await page.goto(`${address}/`);
    await page.waitForSelector("tbody tr");
    const services = await page.locator("tbody th a").allTextContents();
    assert.ok(services.length > 0);
    await picture(page, `service-${name}`);

    // A function's numbers are the report's.
    await page.goto(`${address}/#/explore`);
    await page.waitForSelector("h2:has-text('Functions')");
    const rows = await page.locator("table").last().locator("tbody tr").all();
    let compared = 0;
    for (const row of rows.slice(0, 20)) {
      const shown = await row.locator("th").textContent();
      const calls = Number((await row.locator("td").first().textContent()).replaceAll(",", ""));
      const known = functions.get(shown);
      if (!known || known.copies > 1) continue; // a short name, or one of several
      assert.equal(calls, known.calls, shown);
      compared += 1;
    }
    assert.ok(compared > 0, "no function was compared");

    // By clicks to a function, and back.
    const first = page.locator("tbody th button").first();
    const clicked = await first.textContent();
    await first.click();
    await page.waitForSelector(`section.part h2:text-is(${JSON.stringify(clicked)})`);
    await picture(page, `service-${name}-function`);
    await page.goBack();
    await page.waitForSelector("section.part", { state: "detached" });

    // The flame graph: a frame that is clicked has the width, its function is a click away, and back is all.
    await page.click(".tabs button:has-text('Flame graph')");
    await page.waitForSelector("canvas.flame");
    const inSecondRow = () => page.locator("canvas.flame").click({ position: { x: 20, y: 34 } });
    await inSecondRow();
    const more = page.locator(".trail button:has-text('More of')");
    const wanted = (await more.textContent()).replace("More of ", "");
    await page.click(".trail button:has-text('← all')");
    await page.waitForSelector(".trail button", { state: "detached" });
    await page.keyboard.press("Tab");
    await inSecondRow();
    await more.click();
    await page.waitForSelector(`section.part h2:text-is(${JSON.stringify(wanted)})`);
    await picture(page, `service-${name}-flame`);

    // A selection of nothing says so.
    await page.goto(`${address}/#/explore?select=service%3Dnone`);
    await page.waitForSelector("p.error:has-text('service is')");
    const errors = complaints.filter((text) => !text.includes("404"));
    assert.deepEqual(errors, []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: wider than the screen`);

    // What a program counts moves the page, without anybody touching it.
    if (name === "wide") {
      await page.goto(`${address}/`);
      await page.waitForSelector("#live:text-is('live')");
      agent = spawn(diytrace, ["agent", "--to", address, "--dir", live, "--spool", join(folder, "spool")], { stdio: "ignore" });
      await run("record", "--out", live, join(folder, "changes"), "3000");
      await page.waitForSelector("tbody th a:text-is('changes')", { timeout: 20_000 });
      // The service goes away, and comes back.
      service.kill("SIGKILL");
      await page.waitForSelector("#live.lost");
      await serve(new URL(address).host);
      await page.waitForSelector("#live:text-is('live')", { timeout: 20_000 });
    }
  }
} finally {
  agent?.kill();
  service.kill();
  await browser.close();
}
console.log("the service's page agrees with the report");
