// Two selections beside each other over time: from each one's beginning, on the same axes.

import { view } from "./ask.js";
import { inside } from "./brush.js";
import { heatmaps } from "./heatmap.js";
import { address, go, moment, pattern } from "./place.js";
import { series, withGaps } from "./series.js";
import { element, tickText, time } from "./text.js";

/**
 * @typedef {import("./types.d.ts").Words} Words
 * @typedef {import("./types.d.ts").Part} Part
 * @typedef {{ since?: string, until?: string }} Range
 */

/** Functions that the course of a side is of: those with the most self time on either. */
const MOST = 20;
/** Functions that may be chosen. */
const OFFERED = 200;
/** Fewer slices of time show no course. */
const FEWEST_SLICES = 3;

const SIDES = /** @type {const} */ (["before", "after"]);

/**
 * How much time both spent each second, and how long the calls of one function took.
 * @param {import("./types.d.ts").Compared[]} functions those that were compared, the one to look at first @param {Words} words @param {Range} asked
 * @returns {Promise<Part[]>}
 */
export async function aligned(functions, words, asked) {
  const selects = [words.left ?? "", words.right ?? ""];
  const most = (/** @type {import("./types.d.ts").Compared} */ row) => Math.max(row.self_ns.left_median ?? 0, row.self_ns.right_median ?? 0);
  const hottest = [...functions].sort((a, b) => most(b) - most(a)).slice(0, MOST);
  // Who asks a side for a function that it does not have, is told of none.
  const onSide = /** @type {const} */ (["left_median", "right_median"]).map((median) => [...new Set(hottest.filter(({ self_ns }) => self_ns[median]).map(({ name }) => pattern(name)))]);
  const chosen = functions.find(({ name }) => name === words.function)?.name ?? functions[0]?.name;
  if (!chosen) return [];
  const of = (/** @type {"history" | "heatmap"} */ kind, /** @type {string[][]} */ names) => Promise.all(selects.map((select, side) => courses(kind, { select, ...asked, function: names[side] })));
  const one = [pattern(chosen)];
  const [times, calls] = await Promise.all([of("history", onSide), of("heatmap", [one, one])]);
  const choice = element("select", { "aria-label": "Function", onchange: (event) => go("/compare", { ...words, function: event.target.value }) },
    ...functions.slice(0, OFFERED).map(({ name }) => element("option", { value: name, selected: name === chosen }, name)));
  return [
    element("h2", {}, "Beside each other, from each one's beginning"),
    ...(times.every(isTold) ? [timeline(times)] : [element("p", { class: "soft" }, "No timeline: one of them was put in as a whole, or is too short to be cut into slices of time.")]),
    element("h3", {}, "How long the calls took: ", choice),
    ...heatParts(calls, selects, chosen, asked),
  ];
}

/**
 * The points of functions together, and how long a slice is; nothing where a selection has none of them.
 * @typedef {{ points: import("./types.d.ts").Point[], sliceNs: number }} Side
 *
 * @param {"history" | "heatmap"} kind @param {import("./types.d.ts").Parameters} asked
 * @returns {Promise<Side>}
 */
async function courses(kind, asked) {
  const document = asked.function?.length ? await view(kind, kind === "history" ? { ...asked, over: "time" } : asked).catch(() => null) : null;
  if (!document || "per" in document) return { points: [], sliceNs: 0 };
  return { points: document.functions.flatMap(({ points }) => points), sliceNs: document.slice_ns ?? 0 };
}

/** @param {Side} side */
const isTold = ({ points, sliceNs }) => sliceNs > 0 && new Set(points.map((point) => point.started_unix_ns)).size >= FEWEST_SLICES;

/** @param {Side[]} sides */
function timeline(sides) {
  const lines = sides.map(({ points, sliceNs }, which) => {
    const start = Math.min(...points.map((point) => point.started_unix_ns));
    const sums = /** @type {Map<number, number>} */ (new Map());
    for (const point of points) {
      const slice = Math.round((point.started_unix_ns - start) / sliceNs);
      sums.set(slice, (sums.get(slice) ?? 0) + Math.max(point.self_ns, 0) * inside(point));
    }
    // Sides have slices of different lengths: what goes on in a second does not depend on that.
    const at = /** @type {[number, number][]} */ ([...sums].sort(([a], [b]) => a - b).map(([slice, ns]) => [(slice * sliceNs) / 1e9, (ns * 1e9) / sliceNs]));
    return { name: SIDES[which], kind: SIDES[which], points: withGaps(at, sliceNs / 1e9) };
  });
  return series(lines, { title: "Self time each second", write: (ns) => `${time(ns)}/s`, when: (second) => tickText(second * 1e9) });
}

/** @param {Side[]} sides @param {string[]} selects @param {string} name @param {Range} asked */
function heatParts(sides, selects, name, asked) {
  if (!sides.every(isTold)) return [element("p", { class: "soft" }, "No heat maps: one of them has too few slices of time.")];
  return heatmaps(sides.map((side, which) => ({
    ...side,
    title: element("a", { href: address("/explore", { select: selects[which], ...asked, function: name }) }, `${SIDES[which]}: ${selects[which]}`),
    onRange: (/** @type {number} */ from, /** @type {number} */ to) => go("/explore", { select: selects[which], function: name, since: moment(from), until: moment(to) }),
  })));
}
