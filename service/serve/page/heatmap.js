// A heat map: how long a function's calls took, slice by slice of time; with the percentiles as lines.

import { clock } from "./place.js";
import { count, element, time } from "./text.js";

const HEIGHT = 220;
const LEFT = 70;
const BOTTOM = 22;
/** How high one is. */
const LETTER = 11;
/** Rows to an octave: as many as can be told apart. */
const ROWS = 4;
/** Fewest rows: less is drawn as large blocks. */
const FEWEST = 16;

/**
 * Of a function's points with distributions (`history --over time --histogram`). `onRange` is told the first and last moment, in
 * nanoseconds since 1970, of what is picked: a slice by a click or Enter, several by drawing the mouse over them.
 * @param {import("./types.d.ts").Point[]} points @param {number} sliceNs @param {(from: number, to: number) => void} onRange
 * @param {Bounds} [bounds] what the axes have room for
 */
export function heatmap(points, sliceNs, onRange, bounds = boundsOf([{ points, sliceNs }])) {
  const canvas = element("canvas", { class: "heatmap", tabindex: 0, role: "img", "aria-label": summary(points) });
  const said = element("p", { class: "said", role: "status" }, "Point at a slice of time; click or draw over some to look at what ran then.");
  const map = grid(points, sliceNs, bounds);
  /** The slices that are pointed at.
   * @type {Range | null} */
  let now = null;
  const draw = () => paint(canvas, map, now);
  const columnAt = (/** @type {MouseEvent} */ event) => {
    const area = canvas.getBoundingClientRect();
    const at = Math.floor(((event.clientX - area.left - LEFT) / (area.width - LEFT)) * map.columns);
    return Math.min(Math.max(at, 0), map.columns - 1);
  };
  const tell = (/** @type {number} */ column, /** @type {number | null} */ row = null) => said.replaceChildren(told(map, column, row));
  let began = /** @type {number | null} */ (null);
  canvas.addEventListener("mousemove", (event) => {
    const column = columnAt(event);
    const area = canvas.getBoundingClientRect();
    const row = Math.floor((1 - (event.clientY - area.top) / (HEIGHT - BOTTOM)) * map.rows);
    now = { from: Math.min(began ?? column, column), to: Math.max(began ?? column, column) };
    tell(column, began === null && row >= 0 && row < map.rows ? row : null);
    draw();
  });
  canvas.addEventListener("mousedown", (event) => { began = columnAt(event); });
  canvas.addEventListener("mouseleave", () => { began = null; now = null; draw(); });
  const pick = () => now && onRange(map.start + now.from * sliceNs, map.start + (now.to + 1) * sliceNs);
  canvas.addEventListener("mouseup", () => { pick(); began = null; });
  canvas.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step) {
      const at = Math.min(Math.max((now?.to ?? (step > 0 ? -1 : map.columns)) + step, 0), map.columns - 1);
      now = { from: at, to: at };
      tell(at);
      draw();
    } else if (event.key === "Enter") pick();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(canvas);
  const legend = element("p", { class: "legend" }, ...["p50", "p90", "p99"].map((name) => element("span", { class: name }, name)), element("span", { class: "cells" }, "calls: the more, the stronger"));
  return element("figure", {}, legend, canvas, said);
}

/** @param {import("./types.d.ts").Point[]} points */
function summary(points) {
  const calls = points.reduce((sum, point) => sum + point.calls, 0);
  const slowest = Math.max(...points.map((point) => point.p99_ns ?? 0));
  return `Times of ${count(calls)} calls in ${count(points.length)} slices of time; the highest 99th percentile is ${time(slowest)}`;
}

/**
 * Several on the same axes: each begins where its own time does, and is as long as the longest.
 * @param {{ points: import("./types.d.ts").Point[], sliceNs: number, title: Node, onRange: (from: number, to: number) => void }[]} sides
 */
export function heatmaps(sides) {
  const bounds = boundsOf(sides);
  return sides.flatMap(({ points, sliceNs, title, onRange }) => [element("p", {}, title), heatmap(points, sliceNs, onRange, bounds)]);
}

/**
 * What axes have room for: rows of times, and nanoseconds of time that passed.
 * @typedef {{ lowest: number, rows: number, lengthNs: number }} Bounds
 *
 * @param {{ points: import("./types.d.ts").Point[], sliceNs: number }[]} sides
 * @returns {Bounds}
 */
function boundsOf(sides) {
  const rows = sides.flatMap(({ points }) => points.flatMap((point) => (point.histogram ?? []).map(rowOf)));
  const lowest = rows.reduce((least, row) => Math.min(least, row), rows[0] ?? 0);
  const highest = rows.reduce((most, row) => Math.max(most, row), lowest);
  const lengths = sides.map(({ points, sliceNs }) => points[points.length - 1].started_unix_ns - points[0].started_unix_ns + sliceNs);
  return { lowest, rows: Math.max(highest - lowest + 1, FEWEST), lengthNs: Math.max(...lengths) };
}

/**
 * The row of a bar, counted from one nanosecond.
 * @param {{ from_ns: number, to_ns: number }} bar
 */
const rowOf = ({ from_ns, to_ns }) => Math.floor(Math.log2(Math.max((from_ns + to_ns) / 2, 1)) * ROWS);

/**
 * Calls by slice and by time, both in steps of the same size.
 * @typedef {ReturnType<typeof grid>} Grid
 * @typedef {{ from: number, to: number }} Range
 *
 * @param {import("./types.d.ts").Point[]} points @param {number} sliceNs @param {Bounds} bounds
 */
function grid(points, sliceNs, { lowest, rows, lengthNs }) {
  const start = points[0].started_unix_ns;
  const columns = Math.max(Math.round(lengthNs / sliceNs), 1);
  const cells = /** @type {Map<number, number>} */ (new Map());
  let most = 1;
  for (const point of points) {
    const column = Math.round((point.started_unix_ns - start) / sliceNs);
    for (const bar of point.histogram ?? []) {
      const key = column * rows + rowOf(bar) - lowest;
      const calls = (cells.get(key) ?? 0) + bar.calls;
      cells.set(key, calls);
      most = Math.max(most, calls);
    }
  }
  const byColumn = new Map(points.map((point) => [Math.round((point.started_unix_ns - start) / sliceNs), point]));
  return { start, sliceNs, columns, rows, lowest, cells, most, byColumn };
}

/** @param {HTMLCanvasElement} canvas @param {Grid} map @param {Range | null} now */
function paint(canvas, map, now) {
  const width = canvas.clientWidth;
  if (!width) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = HEIGHT * ratio;
  const style = getComputedStyle(document.documentElement);
  const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, HEIGHT);
  context.font = `11px ${color("--sans")}`;
  const [cellWidth, cellHeight] = [(width - LEFT) / map.columns, (HEIGHT - BOTTOM) / map.rows];
  const x = (/** @type {number} */ column) => LEFT + column * cellWidth;
  const y = (/** @type {number} */ row) => HEIGHT - BOTTOM - row * cellHeight;
  for (const [key, calls] of map.cells) {
    const [column, row] = [Math.floor(key / map.rows), key % map.rows];
    context.globalAlpha = 0.15 + 0.85 * (Math.log1p(calls) / Math.log1p(map.most));
    context.fillStyle = color("--accent");
    context.fillRect(x(column), y(row + 1), Math.max(cellWidth - 0.5, 0.5), Math.max(cellHeight - 0.5, 0.5));
  }
  context.globalAlpha = 1;
  if (now) {
    context.strokeStyle = color("--ink");
    context.strokeRect(x(now.from) + 0.5, 0.5, (now.to - now.from + 1) * cellWidth - 1, HEIGHT - BOTTOM - 1);
  }
  context.fillStyle = color("--soft");
  context.textAlign = "right";
  const every = Math.max(ROWS, Math.ceil(map.rows / 6 / ROWS) * ROWS);
  for (let row = (ROWS - (map.lowest % ROWS)) % ROWS; row < map.rows; row += every) if (y(row) > LETTER) context.fillText(time(2 ** ((map.lowest + row) / ROWS)), LEFT - 8, y(row) - 1);
  context.textAlign = "center";
  const labels = Math.max(1, Math.ceil(map.columns / (width / 110)));
  for (let column = 0; column < map.columns; column += labels) context.fillText(clock(map.start + column * map.sliceNs, map.sliceNs), Math.max(x(column + 0.5), LEFT + 24), HEIGHT - 6);
  percentiles(context, map, { x, y }, color);
}

/**
 * Lines through the slices that have calls; where one has none, a gap.
 * @param {CanvasRenderingContext2D} context @param {Grid} map
 * @param {{ x: (column: number) => number, y: (row: number) => number }} at @param {(name: string) => string} color
 */
function percentiles(context, map, { x, y }, color) {
  for (const [key, name] of /** @type {const} */ ([["p50_ns", "--p50"], ["p90_ns", "--p90"], ["p99_ns", "--p99"]])) {
    context.strokeStyle = color(name);
    context.lineWidth = 2;
    context.beginPath();
    let isDrawn = false;
    for (let column = 0; column < map.columns; column++) {
      const ns = map.byColumn.get(column)?.[key] ?? 0;
      if (!(ns > 0)) { isDrawn = false; continue; }
      const at = y(Math.log2(ns) * ROWS - map.lowest);
      if (isDrawn) context.lineTo(x(column + 0.5), at);
      else context.moveTo(x(column + 0.3), at), context.lineTo(x(column + 0.7), at);
      isDrawn = true;
    }
    context.stroke();
  }
  context.lineWidth = 1;
}

/** @param {Grid} map @param {number} column @param {number | null} row */
function told(map, column, row) {
  const point = map.byColumn.get(column);
  const when = clock(map.start + column * map.sliceNs, map.sliceNs);
  if (!point?.calls) return `${when}: no call`;
  const cell = row === null ? 0 : map.cells.get(column * map.rows + row);
  const [from, to] = [2 ** ((map.lowest + (row ?? 0)) / ROWS), 2 ** ((map.lowest + (row ?? 0) + 1) / ROWS)];
  const here = cell ? ` · ${count(cell)} of ${time(from)} to ${time(to)}` : "";
  return `${when}: ${count(point.calls)} calls · p50 ${time(point.p50_ns ?? 0)} · p90 ${time(point.p90_ns ?? 0)} · p99 ${time(point.p99_ns ?? 0)} · max ${time(point.max_ns ?? 0)}${here}`;
}
