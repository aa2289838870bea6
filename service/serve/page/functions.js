// The functions of a selection, with what they took; of what is searched for, how much that is of all.

import { filterBar, filtered, filtersOf } from "./filters.js";
import { optionalTime, percentiles, whichOf } from "./function.js";
import { sumsOf } from "./paths.js";
import { go } from "./place.js";
import { breakable, table } from "./table.js";
import { count, counted, element, resolved, resolvedSelf, share, time } from "./text.js";
import { nameOf } from "./tree.js";

/** So many are listed until somebody wants all: those with the most self time. */
export const LISTED = "1000";
/** Waiting of less than that share of all self time is nothing to look at. */
const LEAST_WAITING = 0.01;
/** A share of the time for which others had the processor that is told with it: on a quiet machine it is less. */
const DISTURBED = 0.05;

/**
 * @typedef {import("./types.d.ts").Words} Words
 * @typedef {import("./types.d.ts").ListedFunction} Row
 * @typedef {import("./search.js").Search} Search
 */

/** @param {import("./types.d.ts").Listed} report @param {Words} words @param {Search | null} search */
export function functionsPart(report, words, search) {
  const found = search ? report.functions.filter(({ name }) => search.isFound(name)) : report.functions;
  const times = (/** @type {Row} */ row) => ({ self: row.self_ns, own_error: row.self_error_ns, total: row.total_ns, error: row.total_error_ns });
  /** @type {import("./types.d.ts").Column<Row>[]} */
  const columns = [
    { title: "function", of: (row) => row.name, write: (name, row) => element("span", {}, more(name, words), whichOf(row, report.functions)), isName: true },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "total", of: (row) => row.total_ns, write: (ns, row) => resolved(ns, row.total_error_ns), help: "with what it calls; of a recursion the outermost call's" },
    { title: "±", of: (row) => row.total_error_ns, write: time, help: "how far off the total may be" },
    { title: "self", of: (row) => row.self_ns, write: (_, row) => resolvedSelf(times(row)), help: "without what it calls" },
    { title: "self %", of: (row) => row.self_ns / (report.all_self_ns || 1), write: (part) => share(part, 1), help: "of all self time, whatever is searched for" },
    ...waits(report),
    ...percentiles(),
  ];
  const isCut = !words.all && !search && report.functions.length >= Number(LISTED) && report.unlisted;
  const all = isCut ? [element("p", { class: "actions" }, `The ${count(report.functions.length)} functions with the most self time. `, element("button", { type: "button", onclick: () => go("/explore", { ...words, all: "1" }) }, `List all ${count(report.functions.length + report.unlisted)}`))] : [];
  return [element("h2", {}, "Functions"), ...disturbed(report), ...all, ...sumOf(found, report.all_self_ns, search), table("functions", columns, found, [4, true])];
}

/**
 * Where others had the processor for so much of the time that it decides what is on top: that they did.
 * @param {import("./types.d.ts").Listed} report
 */
function disturbed({ all_self_ns, all_self_preempted_ns: preempted }) {
  if ((preempted ?? 0) < all_self_ns * DISTURBED || !preempted) return [];
  return [element("p", {}, `Others had the processor for ${time(preempted)} (${share(preempted, all_self_ns)}) of this time.`)];
}

/**
 * The functions on the paths that are left; of how single calls are spread, paths know nothing.
 * @param {import("./tree.js").Node} top @param {Words} words @param {Search | null} search
 */
export function filteredFunctions(top, words, search) {
  const shown = filtered(top, filtersOf(words));
  const rows = [...sumsOf(shown)].filter(([id]) => id >= 0).map(([id, sums]) => ({ name: nameOf({ id }), self_ns: sums.self, ...sums }));
  const found = search ? rows.filter(({ name }) => search.isFound(name)) : rows;
  /** @type {import("./types.d.ts").Column<(typeof rows)[number]>[]} */
  const columns = [
    { title: "function", of: (row) => row.name, write: (name) => more(name, words), isName: true },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "total", of: (row) => row.total, write: (ns, row) => resolved(ns, row.error), help: "on these paths, with what it calls" },
    { title: "±", of: (row) => row.error, write: time, help: "how far off the total may be" },
    { title: "self", of: (row) => row.self, write: (_, row) => resolvedSelf(row), help: "on these paths, without what it calls" },
    { title: "self %", of: (row) => row.self / (top.total || 1), write: (part) => share(part, 1), help: "of all time, whatever is filtered" },
  ];
  return [element("h2", {}, "Functions"), ...filterBar(words, top, shown), ...sumOf(found, top.total, search), table("functions", columns, found, [4, true])];
}

/** @param {string} name @param {Words} words */
const more = (name, words) => element("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, ...breakable(name));

/**
 * What was found, together.
 * @param {{ self_ns: number }[]} found @param {number} all @param {Search | null} search
 */
function sumOf(found, all, search) {
  if (!search) return [];
  const self = found.reduce((sum, { self_ns }) => sum + self_ns, 0);
  return [element("p", { role: "status" }, `“${search.text}”: ${counted(found.length, "function", "functions")}, self time ${time(self)}, ${share(self, all)} of all.`)];
}

/**
 * The columns of what was waited, where that is known and some was.
 * @param {import("./types.d.ts").Listed} report
 */
function waits({ functions, all_self_ns }) {
  const waited = functions.reduce((sum, { self_wait_ns }) => sum + (self_wait_ns ?? 0), 0);
  if (waited < all_self_ns * LEAST_WAITING) return [];
  return [
    { title: "wait", of: (/** @type {Row} */ row) => row.wait_ns, write: optionalTime, help: "what of the total it waited, off the processor" },
    { title: "self wait", of: (/** @type {Row} */ row) => row.self_wait_ns, write: optionalTime, help: "what of its self time" },
  ];
}
