// One function: its numbers, when and how long its calls ran, who calls it and what it calls, and where.

import { WantsToken, view, wordsOf } from "./ask.js";
import { filterButtons } from "./filters.js";
import { heatmap } from "./heatmap.js";
import { address, clock, go, moment, pattern, selection } from "./place.js";
import { lateMarks, series, withGaps } from "./series.js";
import { breakable, table } from "./table.js";
import { count, element, resolved, time } from "./text.js";

/** Fewer slices of time show no course. */
const FEWEST_SLICES = 3;
/** How high the rate of calls is drawn, in pixels. */
const RATE_HEIGHT = 110;
/** So much of a build ID tells it from others. */
const BUILD_DIGITS = 12;

/** @param {import("./types.d.ts").Words} words */
export async function functionPart(words) {
  const name = words.function ?? "";
  const asked = selection(words);
  const close = element("button", { type: "button", onclick: () => go("/explore", { ...words, function: "" }) }, "Close");
  const inside = element("button", { type: "button", onclick: () => go("/explore", { ...words, function: "", root: pattern(name), view: "flame" }) }, "Flame graph of what happens inside");
  const sandwich = element("button", { type: "button", onclick: () => go("/explore", { ...words, zoom: "", view: "sandwich" }) }, "Callers and callees");
  const over = element("a", { href: address("/history", { select: words.select, since: words.since, until: words.until, function: pattern(name) }) }, "Over builds");
  const part = element("section", { class: "part", "aria-label": name }, element("h2", {}, name), element("p", { class: "actions" }, inside, " ", sandwich, " ", ...filterButtons(name, words), over, " ", close));
  try {
    const [under, callers, over, hosts, builds] = await Promise.all([
      view("report", { ...asked, root: pattern(name), names: "short" }),
      view("callers", { ...asked, function: pattern(name), names: "short" }),
      view("heatmap", { ...asked, function: pattern(name) }),
      .../** @type {const} */ (["host", "build"]).map((by) => view("report", { ...asked, function: pattern(name), by, names: "short" })),
    ]);
    const rows = under.reports[0]?.functions ?? [];
    for (const row of rows) part.append(numbers(row, moduleOf(row, rows)));
    for (const course of over.functions) part.append(...whenItRan(course, over, words));
    const around = element("div", { class: "around" }, callersOf(name, callers, words),
      element("div", {}, ...rows.filter((row) => row.callees.length).flatMap((row) => calleesOf(row, moduleOf(row, rows), words))));
    part.append(around, ...byLabel("host", hosts), ...byLabel("build", builds, { fewest: 2, most: BUILD_DIGITS }));
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    part.append(element("p", { class: "error", role: "alert" }, wordsOf(error)));
  }
  return part;
}

/**
 * The heat map of a function, where its time is told in slices: what was pushed as a whole is one.
 * @param {import("./types.d.ts").Course} course @param {import("./types.d.ts").HistoryDocument} document @param {import("./types.d.ts").Words} words
 */
function whenItRan({ name, module, points }, document, words) {
  const { slice_ns, functions, warnings } = document;
  if (points.filter((point) => point.calls).length < FEWEST_SLICES) return [];
  const title = `How long its calls took${functions.length > 1 ? `: ${name} of ${module}` : ""}`;
  const sliceNs = slice_ns ?? 1;
  const onRange = (/** @type {number} */ from, /** @type {number} */ to) => go("/explore", { ...words, since: moment(from), until: moment(to) });
  const rate = points.map((point) => /** @type {[number, number]} */ ([point.started_unix_ns / 1e9, (point.calls_per_run * 1e9) / sliceNs]));
  return [
    element("h3", {}, title), ...warnings.map((warning) => element("p", { class: "soft" }, warning)), heatmap(points, sliceNs, onRange),
    element("h3", {}, "Calls a second"),
    series([{ name: "calls a second", kind: "rate", points: withGaps(rate, sliceNs / 1e9) }], {
      title: "Calls a second", height: RATE_HEIGHT, marks: lateMarks(document), write: (calls) => count(Math.round(calls)), when: (second) => clock(second * 1e9, sliceNs),
      onRange: (from, to) => onRange(from * 1e9, to * 1e9),
    }),
  ];
}

/** The columns of what a call took. */
export const percentiles = () => /** @type {const} */ (["mean", "p50", "p99", "max"]).map((title) => ({
  title, of: (/** @type {import("./types.d.ts").ListedFunction} */ row) => row[`${title}_ns`], write: optionalTime,
}));

/** @param {number | null} ns */
export const optionalTime = (ns) => (ns === null ? "" : time(ns));

/**
 * How many functions of a list have a name.
 * @type {WeakMap<import("./types.d.ts").ListedFunction[], Map<string, number>>}
 */
const copies = new WeakMap();

/** @param {string} name @param {import("./types.d.ts").ListedFunction[]} all */
function copiesOf(name, all) {
  let counts = copies.get(all);
  if (!counts) {
    counts = new Map();
    for (const row of all) counts.set(row.name, (counts.get(row.name) ?? 0) + 1);
    copies.set(all, counts);
  }
  return counts.get(name) ?? 0;
}

/**
 * What tells a function from the others of its name: the file name of its module, and of several builds which.
 * @param {import("./types.d.ts").ListedFunction} row @param {import("./types.d.ts").ListedFunction[]} all
 */
const moduleOf = (row, all) => (copiesOf(row.name, all) > 1 ? ` ${row.module.split("/").pop()}${row.build ? `@${row.build}` : ""}` : "");

/** @param {import("./types.d.ts").ListedFunction} row @param {import("./types.d.ts").ListedFunction[]} all */
export function whichOf(row, all) {
  const which = moduleOf(row, all);
  return which ? element("span", { class: "soft" }, which) : null;
}

/** @param {import("./types.d.ts").FunctionRow} row @param {string} of */
function numbers(row, of) {
  const facts = [
    ["calls", count(row.calls)], ["total", `${resolved(row.total_ns, row.total_error_ns)} ± ${time(row.total_error_ns)}`], ["self", resolved(row.self_ns, row.self_error_ns)],
    ["on a processor", optionalTime(row.cpu_ns)], ["waiting", row.wait_ns ? time(row.wait_ns) : ""],
    ...(/** @type {const} */ (["mean", "p50", "p90", "p99", "max"])).map((key) => [key, optionalTime(row[`${key}_ns`])]),
  ];
  const where = row.file ? element("span", { class: "soft" }, ` ${row.file}:${row.line}`) : null;
  return element("p", {}, of ? element("b", {}, `${of.trim()}: `) : null, facts.filter(([, value]) => value).map(([title, value]) => `${title} ${value}`).join(" · "), where);
}

/** @param {import("./types.d.ts").Words} words @returns {(name: string) => HTMLElement} */
const to = (words) => (name) => element("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, ...breakable(name));

/**
 * What a function calls; `of` is which of several of its name it is.
 * @param {import("./types.d.ts").FunctionRow} row @param {string} of @param {import("./types.d.ts").Words} words
 */
function calleesOf(row, of, words) {
  return [element("h3", {}, "What it calls", element("span", { class: "soft" }, of)), table(`callees of ${row.name}${of}`, [
    { title: "function", of: (callee) => callee.name, write: to(words), isName: true },
    { title: "calls", of: (callee) => callee.calls, write: count },
    { title: "a call", of: (callee) => callee.calls / Math.max(1, row.calls), write: (each) => each.toPrecision(3), help: `calls in a call of ${row.name}` },
    { title: "total", of: (callee) => callee.total_ns, write: time },
    { title: "self", of: (callee) => callee.self_ns, write: (ns, callee) => resolved(ns, callee.self_error_ns ?? 0) },
  ], row.callees, [3, true])];
}

/** @param {string} name @param {import("./types.d.ts").CallersDocument} callers @param {import("./types.d.ts").Words} words */
function callersOf(name, callers, words) {
  const above = callers.trees.flatMap((tree) => tree.nodes.filter((node) => node.depth === 1));
  const list = above.length
    ? table(`callers of ${name}`, [
        { title: "function", of: (caller) => caller.name, write: (name, caller) => element("span", {}, to(words)(name), element("span", { class: "soft" }, lineOf(caller))), isName: true },
        { title: "calls", of: (caller) => caller.calls, write: count },
        { title: "total", of: (caller) => caller.total_ns, write: time },
      ], above, [2, true])
    : element("p", { class: "soft" }, "Nobody that is recorded.");
  return element("div", {}, element("h3", {}, "Who calls it"), list);
}

/**
 * Where a caller calls from, if that is one line.
 * @param {import("./types.d.ts").CallerNode} caller
 */
function lineOf({ sites }) {
  const [site, ...others] = sites;
  return site?.file && !others.length ? ` ${site.file.split("/").pop()}:${site.line}` : "";
}

/**
 * The same function host by host, or build by build: is one of several slower?
 * @param {string} by @param {import("./types.d.ts").Documents["report"]} document @param {{ fewest?: number, most?: number }} [how]
 */
function byLabel(by, { reports }, { fewest = 1, most } = {}) {
  const rows = reports.flatMap((report) => report.functions.map((row) => ({ ...row, value: (report.label ?? "").replace(`${by}=`, "").slice(0, most) })));
  if (new Set(rows.map(({ value }) => value)).size < fewest) return [];
  return [element("h3", {}, `By ${by}`), table(`by ${by}`, [
    { title: by, of: (row) => row.value, write: (value, row) => element("span", {}, value, whichOf(row, rows.filter((other) => other.value === value))), isName: true },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "total", of: (row) => row.total_ns, write: time },
    { title: "self", of: (row) => row.self_ns, write: time },
    ...percentiles(),
  ], rows, [3, true])];
}
