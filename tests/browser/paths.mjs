// Call paths of a service's page: the call tree, callers and a sandwich have the numbers of the service; paths are filtered in and out and taken back, by a
// click and by the browser's button; names are searched for by regular expressions; what is zoomed to stands in the address; what is seen is saved.
//
//   node paths.mjs FUNCTION CALLER

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { inBrowser, obstacles, open, place } from "./common.mjs";

const [name, caller] = process.argv.slice(2);

async function answered(view, words = {}) {
  return (await fetch(`${process.env.SERVICE}/v1/${view}?${new URLSearchParams(words)}`)).json();
}

/** Rows as `DEPTH NAME CALLS`, with all branches open. */
async function branches(page) {
  await page.waitForSelector("[role=tree] [role=treeitem]");
  for (let closed = page.locator("[role=treeitem][aria-expanded=false] .twist"); await closed.count(); ) await closed.first().click();
  return page.locator("[role=treeitem]").evaluateAll((rows) => rows.map((row) => `${row.getAttribute("aria-level")} ${row.querySelector(".fn").textContent} ${row.children[1].textContent}`).sort());
}

/** The same of the service's nodes; those that calls from several lines make are one there, too. */
const expected = (nodes) => nodes.map(({ depth, name, calls }) => `${depth + 1} ${name} ${calls.toLocaleString("en-US")}`).sort();

const [{ nodes }] = (await answered("tree")).trees;
const { functions } = (await answered("report")).reports[0];
/** Nodes that are, or are not, on the way to or from one of a name. */
const isInside = (node) => (node.name === name ? true : node.parent === null ? false : isInside(nodes[node.parent]));
const without = nodes.filter((node) => !isInside(node));

async function filters(page) {
  await open(page, "/explore?view=tree");
  const all = expected(nodes);
  assert.deepEqual(await branches(page), all);
  assert.deepEqual(await obstacles(page), []);

  await page.locator("[role=treeitem] .fn", { hasText: new RegExp(`^${name}$`) }).first().click();
  assert.equal(place(page).words.zoom.split("\n").at(-1), name, "what is picked stands in the address");
  await page.getByRole("button", { name: "Without it" }).click();
  await page.waitForSelector(`.filters .chip:text-is('without ${name}')`);
  assert.deepEqual(await branches(page), expected(without));
  assert.deepEqual(await obstacles(page), []);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector("main:not(:has(.filters)) [role=tree]");
  assert.deepEqual(await branches(page), all);
  await page.goBack();
  await page.waitForSelector(".filters .chip");
  assert.deepEqual(await branches(page), expected(without));

  // Functions over the paths that are left.
  await page.getByRole("button", { name: "Functions" }).click();
  await page.waitForSelector(".filters ~ [aria-label=functions]");
  const cells = await page.locator("[aria-label=functions] tbody tr").evaluateAll((rows) => rows.map((row) => [row.children[0].textContent, row.children[1].textContent]));
  const sums = new Map();
  for (const node of without) sums.set(node.name, (sums.get(node.name) ?? 0) + node.calls);
  assert.deepEqual(Object.fromEntries(cells), Object.fromEntries([...sums].map(([name, calls]) => [name, calls.toLocaleString("en-US")])));
}

async function search(page) {
  await open(page, "/explore");
  await page.fill("input[name=find]", `/^(${name}|${caller})$/`);
  await page.keyboard.press("Enter");
  await page.waitForSelector("main p[role=status]:has-text('2 functions, self time')");
  const found = await page.locator("[aria-label=functions] tbody th").allTextContents();
  assert.deepEqual([...found].sort(), [name, caller].sort());
  const shares = await page.locator("[aria-label=functions] tbody tr td:nth-child(6)").allTextContents();
  const self = (one) => functions.find((row) => row.name === one).self_ns;
  const all = functions.reduce((sum, row) => sum + row.self_ns, 0);
  for (const [at, one] of found.entries()) assert.ok(Math.abs(parseFloat(shares[at].replace("<", "")) - (100 * self(one)) / all) < 0.11, `${one}: ${shares[at]} of all, whatever is searched for`);
  // How it is sorted stands in the address.
  const first = () => page.locator("[aria-label=functions] tbody th").first().textContent();
  await page.locator("[aria-label=functions] thead button:text-is('function')").click();
  assert.equal(await first(), [name, caller].sort()[0]);
  await page.locator("[aria-label=functions] thead button:text-is('function')").click();
  const address = page.url().split("#")[1];
  await page.reload();
  await open(page, address);
  assert.equal(await first(), [name, caller].sort()[1], address);
  await page.fill("input[name=find]", "/(/");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=alert]:has-text('is no regular expression')");
}

async function turned(page) {
  await open(page, `/explore?view=callers&find=${encodeURIComponent(`/^${name}$/`)}`);
  const rows = await branches(page);
  const calls = functions.find((row) => row.name === name).calls;
  assert.ok(rows.includes(`1 ${name} ${calls.toLocaleString("en-US")}`) && rows.some((row) => row.startsWith(`2 ${caller} `)), `${rows}`);

  await open(page, `/explore?view=sandwich&function=${name}`);
  assert.equal(await page.locator("input[name=function]").inputValue(), name);
  assert.deepEqual(await obstacles(page), []);
  // Its callers stand on it: the frame above it leads to the sandwich around that one.
  const above = page.locator(`canvas[aria-label='Callers of ${name}']`);
  const { width, height } = await above.boundingBox();
  await above.click({ position: { x: width / 2, y: height - 34 } });
  await page.waitForURL((url) => new URLSearchParams(url.hash.split("?")[1]).get("function") === caller);
  await page.goBack();
  await page.waitForSelector(`canvas[aria-label='Callers of ${name}']`);
}

async function zoomed(page) {
  await open(page, "/explore?view=flame");
  const flame = page.locator("canvas.flame");
  const { width } = await flame.boundingBox();
  await flame.click({ position: { x: width / 3, y: 34 } });
  const { zoom } = place(page).words;
  assert.ok(zoom && nodes.some((node) => node.depth === 0 && node.name === zoom), `the first row below all: ${zoom}`);
  const back = page.getByRole("button", { name: "← all" });
  await back.waitFor();
  await open(page, `/explore?${new URLSearchParams({ view: "flame", zoom })}`);
  await back.waitFor();
  await page.getByRole("button", { name: "Flames: from the bottom" }).click();
  await page.waitForSelector("button[aria-pressed=true]:text-is('Flames: from the bottom')");

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save what is seen" }).click();
  const stacks = readFileSync(await (await saved).path(), "utf8").trim().split("\n").map((line) => line.slice(0, line.lastIndexOf(" ")));
  const known = new Set(nodes.map((node) => node.name));
  assert.ok(stacks.length && stacks.every((stack) => stack.split(";").every((one) => known.has(one))), `${stacks}`);
}

/** Where the service has gone, the page says so, and not what a browser calls that. */
async function away(page) {
  await open(page, "/explore?view=tree");
  await page.route("**/v1/**", (route) => route.abort());
  await page.getByRole("button", { name: "Functions" }).click();
  await page.getByText("The service does not answer: does it still run").first().waitFor();
  await page.unroute("**/v1/**");
}

await inBrowser({}, async (page) => {
  await away(page);
  await filters(page);
  await search(page);
  await turned(page);
  await zoomed(page);
  await open(page, `/explore?${new URLSearchParams({ paths: `only ${name}\nwithout ${caller}`, view: "tree" })}`);
  assert.match(await page.locator(".filters").textContent(), new RegExp(`only ${name} without ${caller}`));
});
