// Small charts: bars, and lines over the same axis.

import { element, shape } from "./text.js";

/**
 * Bars of values, the largest as high as there is room.
 * @param {number[]} values
 * @param {string} title
 */
export function bars(values, title, kind = "chart") {
  const most = Math.max(...values, 1e-9);
  const chart = shape("svg", { class: kind, viewBox: `0 0 ${values.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": title });
  values.forEach((value, at) => {
    const height = (value / most) * 100;
    chart.append(shape("rect", { x: at, y: 100 - height, width: 0.9, height }));
  });
  return chart;
}

const HEIGHT = 220;
const LEFT = 70;
const BOTTOM = 24;
/** Room for the text below a point. */
const LABEL = 80;
/** How wide a letter of it is, or wider. */
const LETTER = 6.5;

/**
 * Lines over points: `lines` are `{ name, of, kind }`, `marks` the points that stand out, with a text. Each point tells its numbers when
 * it is pointed at or reached by the keyboard. They are as wide as there is room, so that text is as large as all other.
 * @template P
 * @param {P[]} points
 * @param {How<P>} how
 */
export function lines(points, how) {
  const { lines } = how;
  const legend = element("p", { class: "legend" }, ...lines.map(({ name, kind }) => element("span", { class: kind }, name)));
  const said = element("p", { class: "said", role: "status" });
  const chart = shape("svg", { class: "lines", height: HEIGHT, role: "group", "aria-label": lines.map(({ name }) => name).join(", ") });
  let drawn = 0;
  new ResizeObserver(() => requestAnimationFrame(() => {
    const width = chart.clientWidth;
    if (!width || width === drawn) return;
    drawn = width;
    chart.replaceChildren(...drawing(points, how, width, said));
  })).observe(chart);
  return element("figure", {}, legend, chart, said);
}

/**
 * @template P
 * @typedef {{ lines: import("./types.d.ts").Line<P>[], label: (point: P) => string, write: (value: number) => string, marks?: [at: number, text: string][], onPick?: (point: P) => void }} How
 */

/**
 * @template P
 * @param {P[]} points @param {How<P>} how @param {number} width @param {HTMLElement} said
 */
function drawing(points, { lines, label, write, marks = [], onPick }, width, said) {
  /** @type {SVGElement[]} */
  const parts = [];
  const values = points.flatMap((point) => lines.flatMap(({ of }) => of(point) ?? []));
  const most = Math.max(...values, 1e-9) * 1.05;
  const step = (width - LEFT) / points.length;
  const x = (/** @type {number} */ at) => LEFT + (at + 0.5) * step;
  const y = (/** @type {number} */ value) => (HEIGHT - BOTTOM) * (1 - value / most) + 4;
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const at = y((most / 1.05) * part);
    parts.push(shape("line", { class: "grid", x1: LEFT, x2: width, y1: at, y2: at }),
      shape("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, write((most / 1.05) * part)));
  }
  for (const [at, text] of marks) {
    const left = x(at) - step / 2;
    const isRight = left > width / 2; // there is more room before it
    parts.push(shape("line", { class: "mark", x1: left, x2: left, y1: 4, y2: HEIGHT - BOTTOM }),
      shape("text", { class: "mark", x: left + (isRight ? -6 : 6), y: 14, "text-anchor": isRight ? "end" : "start" }, text));
  }
  for (const { of, kind } of lines) {
    const there = points.flatMap((point, at) => {
      const value = of(point);
      return value === null ? [] : [{ at, value }];
    });
    parts.push(shape("polyline", { class: kind, points: there.map(({ at, value }) => `${x(at)},${y(value)}`).join(" ") }),
      ...there.filter(() => points.length <= 60).map(({ at, value }) => shape("circle", { class: kind, cx: x(at), cy: y(value), r: 2.5 })));
  }
  const every = Math.max(1, Math.ceil((points.length * LABEL) / (width - LEFT)));
  points.forEach((point, at) => {
    if (at % every === 0) parts.push(shape("text", { x: x(at), y: HEIGHT - 6, "text-anchor": "middle" }, shortened(label(point), Math.floor((every * step) / LETTER))));
    const text = `${label(point)}: ${lines.map(({ name, of }) => `${name} ${optional(of(point), write)}`).join(" · ")}`;
    const area = shape("rect", { class: "area", x: LEFT + at * step, y: 0, width: step, height: HEIGHT - BOTTOM, tabindex: 0, role: "button", "aria-label": text }, shape("title", {}, text));
    const tell = () => said.replaceChildren(text);
    area.addEventListener("mouseenter", tell);
    area.addEventListener("focus", tell);
    if (onPick) {
      area.addEventListener("click", () => onPick(point));
      area.addEventListener("keydown", (event) => event.key === "Enter" && onPick(point));
    }
    parts.push(area);
  });
  return parts;
}

/** @param {number | null} value @param {(value: number) => string} write */
const optional = (value, write) => (value === null ? "–" : write(value));

/** @param {string} text @param {number} most */
const shortened = (text, most) => (text.length > most ? `${text.slice(0, Math.max(most - 1, 1))}…` : text);
