// A long list: the page shows the functions with the most self time and says how many there are beside them, lists all if it is asked to, and draws of
// them what is in sight; by the mouse's wheel and by the keyboard, everybody comes to the last.
//
//   node long.mjs SERVICE_LABEL

import assert from "node:assert/strict";
import { inBrowser, obstacles, open, whole } from "./common.mjs";

const select = `service=${process.argv[2]}`;
const asked = new URLSearchParams({ select, no_callees: "1", sort: "name" });
const { functions } = (await (await fetch(`${process.env.SERVICE}/v1/report?${asked}`)).json()).reports[0];

for (const width of [1280, 390]) {
  await inBrowser({ width }, async (page) => {
    const rows = page.locator("[aria-label='functions'] tbody tr");
    await open(page, `/explore?${new URLSearchParams({ select })}`);
    assert.match(await page.locator("main p.soft").first().textContent(), new RegExp(`${(functions.length - 1000).toLocaleString("en-US")} functions not shown`));
    await page.getByRole("button", { name: `List all ${functions.length.toLocaleString("en-US")}` }).click();
    await page.waitForSelector(`[aria-label='functions'] table[aria-rowcount='${functions.length + 1}']`);
    await whole(page);
    assert.ok((await rows.count()) < 200, "what is in sight, and some beside");
    assert.deepEqual(await obstacles(page), []);

    await page.locator("[aria-label='functions'] thead button:text-is('function')").click();
    assert.equal(await rows.locator("th").first().textContent(), functions[0].name);

    // To the end, and each row is drawn once there.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForSelector(`[aria-label='functions'] tr[aria-rowindex='${functions.length + 1}']`);
    const names = await rows.locator("th").allTextContents();
    assert.deepEqual(names, functions.slice(-names.length).map(({ name }) => name));
    const widths = () => page.locator("[aria-label='functions'] thead th").evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect().width));
    const before = await widths();
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
    await page.waitForFunction(() => Number(document.querySelector("[aria-label='functions'] tbody tr").getAttribute("aria-rowindex")) > 100);
    assert.deepEqual(await widths(), before, "columns stay as wide");

    // From row to row by the keyboard; what comes into sight is drawn, however fast the keys come.
    await page.evaluate(() => scrollTo(0, 0));
    await page.locator("[aria-label='functions'] tr[aria-rowindex='2'] button").focus();
    await Promise.all(Array.from({ length: 87 }, () => page.keyboard.press("Tab")));
    await page.waitForFunction(() => document.activeElement?.closest("tr")?.getAttribute("aria-rowindex") === "89");
  });
}
