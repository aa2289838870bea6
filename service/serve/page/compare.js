// Two selections: which functions changed, by how much, and where in the tree.

import { aligned } from "./aligned.js";
import { WantsToken, view, wordsOf } from "./ask.js";
import { choice, kinds, labels } from "./choice.js";
import { flame, flameGraph } from "./flame.js";
import { late } from "./late.js";
import { address, go, mark } from "./place.js";
import { sampledParts } from "./sampled_compare.js";
import { breakable, table } from "./table.js";
import { count, counted, element, time } from "./text.js";
import { bothOf, callTree, ofRun } from "./tree.js";

const REPLICATES_OF_SAMPLES = { run: "a profile", host: "a host" };
const REPLICATES = { run: "a recording", host: "a host", slice: "a slice of time" };
/** Fewer runs of a side give no verdict. */
const FEWEST = 4;

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function compare(words) {
  const there = await view("series");
  const fields = [{ name: "left", title: "Before", hint: "build=ab12*", isLabels: true }, { name: "right", title: "After", hint: "build=cd34*", isLabels: true }, ...kinds(words, there)];
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [element("h1", {}, "Compare"), choice("/compare", words, fields), await labels()];
  if (!words.left || !words.right) return [...parts, element("p", {}, "Name two selections by their labels: two builds, two hosts, two commits.")];
  const areSamples = Boolean(words.type) || !there.series.length;
  const known = areSamples ? REPLICATES_OF_SAMPLES : REPLICATES;
  const replicate = words.replicate && words.replicate in known ? words.replicate : "run";
  const asked = { since: words.since, until: words.until };
  parts.push(element("p", { class: "tabs" }, "Each counts as one run of its side: ", ...Object.entries(known).map(([one, title]) =>
    element("button", { type: "button", "aria-pressed": String(one === replicate), onclick: () => go("/compare", { ...words, replicate: one }) }, title))));
  try {
    const found = await view("compare", { left: words.left, right: words.right, ...asked, replicate, type: words.type, shares: areSamples ? words.shares : undefined });
    if ("per" in found) return [...parts, ...(await sampledParts(found, words))];
    parts.push(...found.queries.flatMap((query) => verdict(query, { select: words.right, ...asked })), ...[...found.errors, ...found.warnings].map((warning) => element("p", { class: "soft" }, warning)));
    const sides = await Promise.all([words.left, words.right].map((select) => callTree({ select, ...asked })));
    // A side that was recorded more often has not taken longer by that.
    const runs = [found.queries[0]?.left_runs ?? 1, found.queries[0]?.right_runs ?? 1];
    const [before, after] = sides.map((side, which) => ofRun(side, runs[which]));
    parts.push(...flames(before, after, words, asked), late(aligned(ranked(found.queries[0]?.functions ?? []), words, asked), "30em"));
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    parts.push(element("p", { class: "error", role: "alert" }, wordsOf(error)));
  }
  return parts;
}

/**
 * The call trees of a run of both, over each other or side by side.
 * @param {import("./tree.js").Node} before @param {import("./tree.js").Node} after @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Words} asked
 */
function flames(before, after, words, asked) {
  const areBeside = words.flames === "beside";
  const how = (/** @type {boolean} */ to, /** @type {string} */ title) => element("button", { type: "button", "aria-pressed": String(areBeside === to), onclick: () => go("/compare", { ...words, flames: to ? "beside" : "" }) }, title);
  const parts = [element("h2", {}, "Where in the tree"), element("p", { class: "tabs", role: "group", "aria-label": "Flame graphs" }, how(false, "Over each other"), " ", how(true, "Side by side"))];
  const of = (/** @type {string | undefined} */ select) => (/** @type {string} */ name) => [element("button", { type: "button", onclick: () => go("/explore", { select, ...asked, function: name }) }, `More of ${name}`)];
  const keep = (/** @type {string} */ zoom) => mark("/compare", { ...words, zoom });
  if (!areBeside) {
    return [...parts, element("p", { class: "soft" }, `Widths are times of a run after (${time(after.total)}; before ${time(before.total)}). Red takes longer than before, blue less; grey did not change by more than its error.`),
      flame(bothOf(before, after), { isDifference: true, zoom: words.zoom, onZoom: keep, actions: of(words.right) })];
  }
  // Who zooms into one looks at the same in the other.
  const sides = /** @type {{ figure: HTMLElement, show: (path: string) => void }[]} */ ([]);
  const together = (/** @type {number} */ other) => (/** @type {string} */ zoom) => {
    sides[other].show(zoom);
    keep(zoom);
  };
  sides.push(flameGraph(before, { zoom: words.zoom, onZoom: together(1), actions: of(words.left) }), flameGraph(after, { zoom: words.zoom, onZoom: together(0), actions: of(words.right) }));
  const side = (/** @type {string} */ title, /** @type {import("./tree.js").Node} */ tree, /** @type {number} */ which) => element("div", {}, element("h3", {}, `${title}: ${time(tree.total)} a run`), sides[which].figure);
  return [...parts, element("div", { class: "around" }, side("Before", before, 0), side("After", after, 1))];
}

/** What is sure comes first.
 * @param {import("./types.d.ts").Compared} row */
const rank = ({ verdict }) => (["changed", "calls"].includes(verdict) ? 2 : verdict === "one-sided" ? 1 : 0);

/** @param {import("./types.d.ts").Compared[]} functions */
const ranked = (functions) => [...functions].sort((a, b) => rank(b) - rank(a) || difference(b) - difference(a));

/**
 * What a comparison says of the runs of a query; names lead to what functions do in `after`, if that is still there.
 * @param {import("./types.d.ts").Query} query @param {import("./types.d.ts").Words} [after]
 */
export function verdict({ functions, total, left_runs, right_runs }, after) {
  const changed = functions.filter((row) => ["changed", "calls"].includes(row.verdict));
  const alone = functions.filter((row) => row.verdict === "one-sided");
  const unknown = functions.filter((row) => ["unstable", "underpowered", "unconfirmed"].includes(row.verdict));
  const names = changed.slice(0, 3).map((row) => `${row.name} (${row.verdict === "calls" ? `${optionalCount(row.calls.left_median)} → ${optionalCount(row.calls.right_median)} calls` : change(row.self_ns)})`).join("; ");
  const said = element("p", { role: "status" },
    changed.length ? `${counted(changed.length, "function", "functions")} changed: ${names}${changed.length > 3 ? " …" : ""}.` : "No function changed.",
    alone.length ? ` On one side only: ${alone.slice(0, 3).map((row) => row.name).join(", ")}${alone.length > 3 ? " …" : ""}.` : "",
    ` ${counted(left_runs, "run", "runs")} before, ${count(right_runs)} after; all self time together: ${total.verdict.replaceAll("-", " ")}.`,
    unknown.length ? ` ${count(unknown.length)} vary too much to tell.` : "",
    Math.min(left_runs, right_runs) < FEWEST ? " That is too few runs for a verdict: record each side at least four times, or count slices as runs." : "");
  const tone = (/** @type {import("./types.d.ts").Compared} */ row) => ([...changed, ...alone].includes(row) ? (hasRisen(row.verdict === "calls" ? row.calls : row.self_ns) ? "worse" : "better") : null);
  return [said, table("compared functions", [
    { title: "function", of: (row) => row.name, write: (name) => (after ? element("a", { href: address("/explore", { ...after, function: name }) }, ...breakable(name)) : element("span", {}, ...breakable(name))), isName: true },
    { title: "verdict", of: (row) => row.verdict, write: (text, row) => element("span", { class: tone(row) }, text.replaceAll("-", " ")) },
    { title: "self before", of: (row) => row.self_ns.left_median, write: optionalTime },
    { title: "self after", of: (row) => row.self_ns.right_median, write: optionalTime },
    { title: "change", of: difference, write: (_, row) => change(row.self_ns) },
    { title: "calls before", of: (row) => row.calls.left_median, write: optionalCount },
    { title: "calls after", of: (row) => row.calls.right_median, write: optionalCount },
    { title: "p", of: (row) => row.self_ns.p_adjusted, write: (p) => (p === null ? "" : p.toPrecision(2)) },
    { title: "by calls", of: (row) => split(row)?.calls_ns ?? null, write: optionalDifference, help: "What of the change more or fewer calls make" },
    { title: "by cost", of: (row) => split(row)?.cost_ns ?? null, write: optionalDifference, help: "What of the change each call's cost makes" },
  ], ranked(functions), null)];
}

/** @param {import("./types.d.ts").Compared} row */
const difference = ({ self_ns: { left_median: before, right_median: after } }) => Math.abs((after ?? 0) - (before ?? 0));

/**
 * What of a change is calls and what their cost; nothing of calls that were open all the time.
 * @param {import("./types.d.ts").Compared} row
 */
const split = (row) => (row.calls.left_median || row.calls.right_median ? row.split : null);

/** @param {import("./types.d.ts").Sides} sides */
const hasRisen = ({ left_median: before, right_median: after }) => (after ?? 0) > (before ?? 0);

/** @param {number | null} number */
const optionalCount = (number) => (number === null ? "" : count(number));

/** @param {number | null} ns */
const optionalTime = (ns) => (ns === null ? "" : time(ns));

/** @param {number | null} ns */
const optionalDifference = (ns) => (ns === null ? "" : signed(ns));

/** @param {number} ns */
const signed = (ns) => `${ns < 0 ? "−" : ns > 0 ? "+" : ""}${time(Math.abs(ns))}`;

/** @param {import("./types.d.ts").Sides} sides */
function change({ left_median: before, right_median: after }) {
  const difference = (after ?? 0) - (before ?? 0);
  const sign = difference < 0 ? "−" : "+";
  const percent = before ? `, ${sign}${Math.abs((100 * difference) / before).toFixed(1)}%` : "";
  return `${signed(difference)}${percent}`;
}
