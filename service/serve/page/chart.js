// Small charts: bars, and lines over the same axis.

import { element, shape } from "./text.js";

/** Bars of values, the largest as high as there is room. */
export function bars(values, title, kind = "chart") {
  const most = Math.max(...values, 1e-9);
  const chart = shape("svg", { class: kind, viewBox: `0 0 ${values.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": title });
  values.forEach((value, at) => {
    const height = (value / most) * 100;
    chart.append(shape("rect", { x: at, y: 100 - height, width: 0.9, height }));
  });
  return chart;
}

const WIDTH = 900;
const HEIGHT = 220;
const LEFT = 70;
const BOTTOM = 24;

/**
 * Lines over points: `lines` are `{ name, of, kind }`, `marks` the points that stand out, with a text. Each point tells its numbers when
 * it is pointed at or reached by the keyboard.
 */
export function lines(points, { lines, label, write, marks = [], onPick }) {
  const values = points.flatMap((point) => lines.map(({ of }) => of(point)).filter((value) => value !== null));
  const most = Math.max(...values, 1e-9) * 1.05;
  const x = (at) => LEFT + ((at + 0.5) / points.length) * (WIDTH - LEFT);
  const y = (value) => (HEIGHT - BOTTOM) * (1 - value / most) + 4;
  const chart = shape("svg", { class: "lines", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": lines.map(({ name }) => name).join(", ") });
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const at = y((most / 1.05) * part);
    chart.append(shape("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: at, y2: at }),
      shape("text", { x: LEFT - 8, y: at + 4, "text-anchor": "end" }, write((most / 1.05) * part)));
  }
  for (const [at, text] of marks) {
    chart.append(shape("line", { class: "mark", x1: x(at) - (WIDTH - LEFT) / points.length / 2, x2: x(at) - (WIDTH - LEFT) / points.length / 2, y1: 4, y2: HEIGHT - BOTTOM }),
      shape("text", { class: "mark", x: x(at), y: 14 }, text));
  }
  for (const { of, kind } of lines) {
    const there = points.map((point, at) => [at, of(point)]).filter(([, value]) => value !== null);
    chart.append(shape("polyline", { class: kind, points: there.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") }),
      ...there.filter(() => points.length <= 60).map(([at, value]) => shape("circle", { class: kind, cx: x(at), cy: y(value), r: 2.5 })));
  }
  const every = Math.max(1, Math.ceil(points.length / 8));
  const said = element("p", { class: "said", role: "status" });
  const legend = element("p", { class: "legend" }, ...lines.map(({ name, kind }) => element("span", { class: kind }, name)));
  points.forEach((point, at) => {
    if (at % every === 0) chart.append(shape("text", { x: x(at), y: HEIGHT - 6, "text-anchor": "middle" }, label(point)));
    const text = `${label(point)}: ${lines.map(({ name, of }) => `${name} ${of(point) === null ? "–" : write(of(point))}`).join(" · ")}`;
    const width = (WIDTH - LEFT) / points.length;
    const area = shape("rect", { class: "area", x: LEFT + at * width, y: 0, width, height: HEIGHT - BOTTOM, tabindex: 0, role: "button", "aria-label": text }, shape("title", {}, text));
    const tell = () => said.replaceChildren(text);
    area.addEventListener("mouseenter", tell);
    area.addEventListener("focus", tell);
    if (onPick) {
      area.addEventListener("click", () => onPick(point));
      area.addEventListener("keydown", (event) => event.key === "Enter" && onPick(point));
    }
    chart.append(area);
  });
  return element("figure", {}, legend, chart, said);
}
