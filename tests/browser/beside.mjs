// Two selections beside each other: flame graphs that are zoomed together, lines of both over time, and the heat maps of a function on the same axes; and a
// function of both, build by build, with how often it is called over time.
//
//   node beside.mjs LEFT RIGHT FUNCTION

import assert from "node:assert/strict";
import { inBrowser, obstacles, open, place, whole } from "./common.mjs";

const [left, right, name] = process.argv.slice(2);
/** As the page has it: fewer slices of time show no course. */
const FEWEST = 3;

/** How many slices of time the service tells of a side. */
async function slices(select) {
  const asked = new URLSearchParams({ select, function: name });
  const { functions } = await (await fetch(`${process.env.SERVICE}/v1/heatmap?${asked}`)).json();
  return new Set(functions.flatMap(({ points }) => points.map((point) => point.started_unix_ns))).size;
}

/** What a service says of the function, build by build. */
async function builds() {
  const { reports } = await (await fetch(`${process.env.SERVICE}/v1/report?${new URLSearchParams({ function: name, by: "build" })}`)).json();
  return reports.map(({ label, functions }) => `${label.replace("build=", "").slice(0, 12)} ${functions[0].calls.toLocaleString("en-US")}`);
}

await inBrowser({}, async (page) => {
  // Both together are one selection, of two builds.
  await open(page, `/explore?${new URLSearchParams({ function: name })}`);
  await page.waitForSelector("[aria-label='by build']");
  const rows = await page.locator("[aria-label='by build'] tbody tr").evaluateAll((rows) => rows.map((row) => `${row.children[0].textContent.split(" ")[0]} ${row.children[1].textContent}`));
  assert.deepEqual(rows.sort(), (await builds()).sort());
  assert.equal(rows.length, 2);

  await open(page, `/compare?${new URLSearchParams({ left, right })}`);
  await page.getByRole("button", { name: "Side by side" }).click();
  await page.waitForSelector(".around canvas.flame");
  await whole(page);
  const flames = page.locator("canvas.flame");
  assert.equal(await flames.count(), 2);
  const { width } = await flames.first().boundingBox();
  await flames.first().click({ position: { x: width / 2, y: 34 } });
  await page.waitForFunction(() => [...document.querySelectorAll(".around .trail")].every((trail) => trail.textContent.includes("← all")));
  assert.ok(place(page).words.zoom && place(page).words.flames === "beside");

  await page.selectOption("select[aria-label=Function]", name);
  await page.waitForURL((url) => url.hash.includes(`function=${name}`));
  await whole(page);
  assert.deepEqual(await obstacles(page), []);
  const told = await Promise.all([left, right].map(slices));
  if (told.some((count) => count < FEWEST)) {
    // A machine held the recordings up: they are in few slices.
    assert.equal(await page.locator("canvas.heatmap").count(), 0);
    return page.waitForSelector("main p:has-text('No heat maps')");
  }
  assert.equal(await page.locator("canvas.heatmap").count(), 2);
  const chart = page.locator(".series:has(canvas)");
  await chart.waitFor();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  const said = page.locator("figure:has(.series) .said");
  assert.match(await said.textContent(), /^0: (before .*after|after .*before|before|after)/);
  await page.keyboard.press("ArrowRight");
  assert.doesNotMatch(await said.textContent(), /^0: /, "the next moment");

  // How often it was called over time, as often as the service says.
  await open(page, `/explore?${new URLSearchParams({ select: left, function: name })}`);
  const rate = page.locator("figure:has([aria-label^='Calls a second'])");
  await rate.locator("canvas").waitFor();
  await rate.locator(".series").focus();
  await page.keyboard.press("ArrowRight");
  const { slice_ns, functions: [{ points: [first] }] } = await (await fetch(`${process.env.SERVICE}/v1/heatmap?${new URLSearchParams({ select: left, function: name })}`)).json();
  assert.ok((await rate.locator(".said").textContent()).endsWith(`calls a second ${Math.round((first.calls_per_run * 1e9) / slice_ns).toLocaleString("en-US")}`));
});
