// Draws the pages of the service at $SERVICE in Chromium, PNG files to $PICTURES.

import { join } from "node:path";
import { chromium } from "playwright-core";
import sharp from "sharp";

const { SERVICE: service, PICTURES: pictures, CHROMIUM: executablePath } = process.env;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const now = "select=service%3Dserver%2Cversion%3D1.1";
const both = "left=service%3Dserver%2Cversion%3D1.0&right=service%3Dserver%2Cversion%3D1.1&replicate=slice";
await draw("services", "/", 240, 20000);
await draw("explore", `/explore?${now}&since=30s`, 900);
await draw("function", `/explore?${now}&since=30s&function=lookup`, 1500, 5000);
await draw("flame", `/explore?${now}&since=30s&view=flame&root=handle_request`, 860);
await draw("tree", `/explore?${now}&since=30s&view=tree&root=handle_request`, 900);
await draw("callers", `/explore?${now}&since=30s&view=callers&find=lookup`, 900);
await draw("sandwich", `/explore?${now}&since=30s&view=sandwich&function=handle_request`, 1080);
await draw("compare", `/compare?${both}`, 1500, 8000);
await draw("beside", `/compare?${both}&flames=beside&function=lookup`, 1500, 8000, ".around");
await draw("history", "/history?select=service%3Dserver&over=version&function=lookup", 1250);
await draw("verdict", `/verdicts?id=${(await answered("verdicts")).verdicts[0].id}`, 900);
await draw("samples", "/samples", 900);
await draw("load", `/load?run=${encodeURIComponent((await answered("load/shown")).runs[0].run)}`, 900);
await browser.close();

async function answered(what) {
  return (await fetch(`${service}/v1/${what}`)).json();
}

/** A page, some milliseconds after it was opened, as what is live needs some: from its top, or from some element. */
async function draw(name, address, height, ms = 2500, element = "body") {
  const page = await browser.newPage({ viewport: { width: 1200, height }, deviceScaleFactor: 1.25 });
  await page.goto(`${service}/#${address}`);
  await page.waitForTimeout(ms);
  await page.locator(element).first().evaluate((first) => first.scrollIntoView());
  const png = await page.screenshot();
  await sharp(png).png({ palette: true, colours: 128, effort: 10, dither: 0 }).toFile(join(pictures, `service-${name}.png`));
  await page.close();
}
