// Draws what terminals showed (NAME.COLUMNS.ansi in $SHOTS), and opens exports, in Chromium without a network; PNG files to
// $PICTURES.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import sharp from "sharp";

const { SHOTS: shots, PICTURES: pictures, CHROMIUM: executablePath } = process.env;
const xterm = join(shots, "node_modules/@xterm/xterm");
const theme = {
  background: "#16181d", foreground: "#d8dbe2", cursor: "#16181d",
  black: "#16181d", red: "#f07178", green: "#9ece6a", yellow: "#e6c07b", blue: "#7aa2f7", magenta: "#bb9af7", cyan: "#6cc7d1", white: "#d8dbe2",
  brightBlack: "#6b7080", brightRed: "#ff8b92", brightGreen: "#b5e48c", brightYellow: "#ffd98a", brightBlue: "#9dbbff", brightMagenta: "#d2b6ff", brightCyan: "#8fe3ec", brightWhite: "#ffffff",
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--allow-file-access-from-files"] });
await terminals();
await flamegraph();
await page();
await browser.close();

/** As few colours as these pictures have, for their size. */
async function keep(name, png, colours = 64) {
  await sharp(png).png({ palette: true, colours, effort: 10, dither: 0 }).toFile(join(pictures, `${name}.png`));
}

async function terminals() {
  for (const file of readdirSync(shots).filter((name) => name.endsWith(".ansi"))) {
    const [name, columns] = file.split(".");
    // Without the empty lines at its end, and the prompt for the next command.
    const text = readFileSync(join(shots, file), "utf8").replace(/(\s|\x1b\[[0-9;]*m)*\$?(\s|\x1b\[[0-9;]*m)*$/, "").replaceAll("\n", "\r\n");
    const rows = text.split("\r\n").length;
    const page = await browser.newPage({ viewport: { width: 1600, height: 1800 }, deviceScaleFactor: 1.5 });
    await page.setContent(`<body style="margin:0;background:${theme.background}"><div id="frame" style="display:inline-block;padding:14px 16px"><div id="terminal"></div></div>`);
    await page.addStyleTag({ path: join(xterm, "css/xterm.css") });
    await page.addStyleTag({ content: `.xterm .scrollbar { display: none !important } .xterm, .xterm .xterm-viewport { background-color: ${theme.background} !important }` });
    await page.addScriptTag({ path: join(xterm, "lib/xterm.js") });
    await page.evaluate(({ text, cols, rows, theme }) => new Promise((drawn) => {
      const terminal = new Terminal({ cols, rows, theme, fontFamily: "'DejaVu Sans Mono', monospace", fontSize: 14, cursorBlink: false, cursorInactiveStyle: "none", scrollback: 0 });
      terminal.open(document.getElementById("terminal"));
      terminal.write("\x1b[?25l" + text, () => setTimeout(drawn, 300));
    }), { text, cols: Number(columns), rows, theme });
    await keep(name, await page.locator("#frame").screenshot());
    await page.close();
  }
}

async function flamegraph() {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, deviceScaleFactor: 1.25 });
  await page.goto(pathToFileURL(join(shots, "flamegraph.svg")).href);
  const height = await page.evaluate(() => document.documentElement.getBoundingClientRect().height);
  await keep("flamegraph", await page.screenshot({ clip: { x: 0, y: 0, width: 1200, height: Math.min(height, 800) } }), 256);
  await page.close();
}

async function page() {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 }, deviceScaleFactor: 1.25 });
  await page.goto(pathToFileURL(join(shots, "page.html")).href);
  await page.waitForTimeout(500);
  await keep("page", await page.screenshot());
  await page.click("#tab-timeline");
  await page.hover("#view-timeline .ran-row[data-row] svg");
  await keep("timeline", await page.screenshot({ clip: { x: 0, y: 0, width: 1200, height: 470 } }));
  await page.close();
}
