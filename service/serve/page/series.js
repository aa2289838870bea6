// Lines over time, drawn by uPlot, which comes with the first of them.

import { clock } from "./place.js";
import { element } from "./text.js";

/**
 * A line: its points, the earlier first; where there is no value, it has a gap.
 * @typedef {{ name: string, kind: string, points: [second: number, value: number | null][] }} Line
 *
 * @typedef {object} How
 * @property {string} title what this is, for those who do not see it
 * @property {number} [height] in pixels
 * @property {(value: number) => string} write
 * @property {(second: number, step: number) => string} when a moment in words, where those beside it are so far
 * @property {[second: number, text: string][]} [marks] moments that stand out
 * @property {(from: number, to: number) => void} [onRange] is told the seconds that somebody draws over; else these alone are shown then
 */

const HEIGHT = 220;
/** Room for what values are written as. */
const LEFT = 72;
/** And for moments, and between them. */
const BELOW = 28;
const APART = 90;
/** Above the largest value. */
const AIR = 1.05;
/** The colours of kinds; others have that of the page. */
const COLORS = ["p50", "p90", "p99"];

/**
 * Lines over the same time. By mouse or finger a moment is pointed at and a range drawn; by keyboard the arrows go from moment to moment.
 * @param {Line[]} lines @param {How} how
 */
export function series(lines, how) {
  const legend = element("p", { class: "legend" }, ...lines.map(({ name, kind }) => element("span", { class: kind }, name)));
  const said = element("p", { class: "said", role: "status" });
  const box = element("div", { class: "series", tabindex: 0, role: "img", "aria-label": `${how.title}: ${lines.map(({ name }) => name).join(", ")}` });
  box.style.minHeight = `${how.height ?? HEIGHT}px`; // until it is drawn
  import("./uplot.js").then(({ default: UPlot }) => draw(UPlot, box, { lines, how, said }));
  return element("figure", {}, legend, box, said);
}

/**
 * @param {typeof import("./uplot.js")} UPlot @param {HTMLElement} box
 * @param {{ lines: Line[], how: How, said: HTMLElement }} what
 */
function draw(UPlot, box, { lines, how: { height = HEIGHT, write, when, marks = [], onRange }, said }) {
  const style = getComputedStyle(document.documentElement);
  const color = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: color("soft"), font: `11px ${color("sans")}`, ticks: { show: false } };
  const grid = { stroke: color("line"), width: 1 };
  const data = UPlot.join(lines.map(({ points }) => [points.map(([at]) => at), points.map(([, value]) => value)]));
  const at = /** @type {number[]} */ (data[0]);
  const step = at.length > 1 ? (at[at.length - 1] - at[0]) / (at.length - 1) : 1;
  const tell = (/** @type {number | null | undefined} */ index) => {
    if (index === null || index === undefined) return said.replaceChildren("\u00a0");
    const values = lines.flatMap(({ name }, line) => (data[line + 1][index] === undefined ? [] : `${name} ${optional(data[line + 1][index], write)}`));
    said.replaceChildren(`${when(at[index], step)}: ${values.join(" · ")}`);
  };
  const chart = new UPlot({
    width: box.clientWidth || 600, height,
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most ?? 0, 1e-9) * AIR] } },
    axes: [
      { ...axis, grid: { show: false }, size: BELOW, space: APART, values: (_, splits) => splits.map((second) => when(second, step)) },
      { ...axis, grid, size: LEFT, values: (_, splits) => splits.map((value) => write(value)) },
    ],
    series: [{}, ...lines.map(({ name, kind }) => ({ label: name, stroke: color(COLORS.includes(kind) ? kind : "accent"), width: 2, dash: kind === "before" ? [6, 4] : undefined }))],
    cursor: { y: false, drag: { x: true, y: false, setScale: !onRange } },
    hooks: {
      draw: [(chart) => marks.forEach(([second, text]) => mark(chart, chart.valToPos(second, "x", true), text, color))],
      setCursor: [(chart) => tell(chart.cursor.idx)],
      setSelect: [(chart) => {
        const { left, width } = chart.select;
        if (onRange && width > 0) onRange(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
      }],
    },
  }, data, box);
  tell(null);
  box.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!way || !at.length) return;
    const now = chart.cursor.idx ?? (way > 0 ? -1 : at.length);
    const next = Math.min(Math.max(now + way, 0), at.length - 1);
    chart.setCursor({ left: chart.valToPos(at[next], "x"), top: 0 });
    event.preventDefault();
  });
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (box.clientWidth && box.clientWidth !== chart.width) chart.setSize({ width: box.clientWidth, height });
  })).observe(box);
}

/**
 * A line through all, with a text on the side that has more room.
 * @param {import("./uplot.js")} chart @param {number} x @param {string} text @param {(name: string) => string} color
 */
function mark({ bbox, ctx }, x, text, color) {
  const isRight = x > bbox.left + bbox.width / 2;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color("ink");
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.textAlign = isRight ? "right" : "left";
  ctx.font = `600 ${11 * devicePixelRatio}px ${color("sans")}`;
  ctx.fillText(text, x + (isRight ? -6 : 6) * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
  ctx.restore();
}

/**
 * Marks where what came late is told: all of it is in the slice in which it ended.
 * @param {import("./types.d.ts").HistoryDocument} document
 * @returns {[second: number, text: string][]}
 */
export const lateMarks = ({ coarse }) => coarse.map(({ started_unix_ns, ended_unix_ns }) => [ended_unix_ns / 1e9, `all since ${clock(started_unix_ns)}`]);

/**
 * Points of slices of time, with a gap where there are none for longer than a slice.
 * @param {[second: number, value: number | null][]} points @param {number} slice in seconds
 * @returns {[second: number, value: number | null][]}
 */
export const withGaps = (points, slice) => points.flatMap(([at, value], which) => {
  const before = points[which - 1]?.[0];
  return before !== undefined && at - before > slice * 1.5 ? [/** @type {[number, null]} */ ([before + slice, null]), [at, value]] : [[at, value]];
});

/** @param {number | null | undefined} value @param {(value: number) => string} write */
const optional = (value, write) => (value === null || value === undefined ? "–" : write(value));
