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
await draw("function", `/explore?${now}&since=30s&function=lookup`, 1400, 5000);
await draw("flame", `/explore?${now}&since=30s&view=flame&root=handle_request`, 860);
await draw("compare", `/compare?${both}`, 700, 8000);
await browser.close();

/** A page, some milliseconds after it was opened: what is live needs some. */
async function draw(name, address, height, ms = 2500) {
  const page = await browser.newPage({ viewport: { width: 1200, height }, deviceScaleFactor: 1.25 });
  await page.goto(`${service}/#${address}`);
  await page.waitForTimeout(ms);
  const png = await page.screenshot();
  await sharp(png).png({ palette: true, colours: 128, effort: 10, dither: 0 }).toFile(join(pictures, `service-${name}.png`));
  await page.close();
}
