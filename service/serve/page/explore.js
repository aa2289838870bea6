// A selection: its functions, or its flame graph; and one function more closely.

import { WantsToken, ask, hasToken, path, view, wordsOf } from "./ask.js";
import { MOST_FUNCTIONS, timeline } from "./brush.js";
import { choice, labels } from "./choice.js";
import { flame } from "./flame.js";
import { functionPart, optionalTime, percentiles, whichOf } from "./function.js";
import { late } from "./late.js";
import { listed } from "./listed.js";
import { commandLine, go, selection } from "./place.js";
import { empty } from "./services.js";
import { breakable, table } from "./table.js";
import { count, counted, element, resolved, resolvedSelf, share, time } from "./text.js";
import { treeOf } from "./tree.js";

/** Frames of less than that share are drawn as one: a screen has some thousand columns. */
const LEAST_PERCENT = "0.05";
/** Functions that are listed until somebody wants all: those with the most self time. */
const LISTED = "1000";
/** Beside a flame graph: those that the timeline is of. */
const TIMED = String(MOST_FUNCTIONS);

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function explore(words) {
  const fields = [
    { name: "select", title: "Labels", hint: "service=…,host=db*", isLabels: true },
    { name: "find", title: "Functions", hint: "name, * and ?" },
  ];
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [element("h1", {}, words.select || "Everything"), choice("/explore", words, fields), late(labels().then((all) => [all]), "0")];
  try {
    parts.push(...(await shown(words)));
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    parts.push(element("p", { class: "error", role: "alert" }, wordsOf(error)), ...(wordsOf(error).includes("is empty") ? [empty()] : []));
  }
  return parts;
}

/** @param {import("./types.d.ts").Words} words */
async function shown(words) {
  const tree = words.view === "flame" ? view("tree", { ...selection(words), root: words.root, min_percent: LEAST_PERCENT, time: words.time, names: "short" }) : null;
  tree?.catch(() => {}); // it is told where it is drawn, if the rest is there
  const limit = tree ? TIMED : words.all ? undefined : LISTED;
  const document = await listed({ ...selection(words), function: pattern(words.find), names: "short", sort: "self", limit });
  const report = document.reports[0];
  if (!report) return [element("p", {}, "No function of that name was called.")];
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [facts(report, words), ...document.warnings.map((warning) => element("p", { class: "soft" }, warning))];
  parts.push(late(timeline(words, report).catch(untold), "14em"));
  if (words.function) parts.push(late(functionPart(words).then((part) => [part]), "30em"));
  parts.push(tabs(words));
  parts.push(...(tree ? flamePart(report, words, await tree) : functionsPart(report, words)), element("h2", {}, "Elsewhere"), exports(words), element("pre", { tabindex: 0 }, commandLine("report", words)));
  return parts;
}

/**
 * Functions whose names cannot be asked for have no timeline; all else of them is there.
 * @param {unknown} error
 */
function untold(error) {
  if (error instanceof WantsToken) throw error;
  return [element("p", { class: "soft" }, `No timeline: ${wordsOf(error)}`)];
}

/**
 * A part of a name stands for all that have it.
 * @param {string | undefined} find
 */
function pattern(find) {
  return find ? (/[*?]/.test(find) ? find : `*${find}*`) : undefined;
}

/** @param {import("./types.d.ts").Listed} report @param {import("./types.d.ts").Words} words */
function facts(report, words) {
  const { overhead } = report;
  return element("p", { class: "soft" }, [
    counted(report.calls, "call", "calls"), counted(report.processes, "process", "processes"),
    `recording subtracted: ${(overhead.inner_ns + overhead.outer_ns).toFixed(1)} ns a call ± ${overhead.error_ns.toFixed(1)} ns`,
    report.lost_calls ? `${counted(report.lost_calls, "call", "calls")} lost` : null,
    report.unlisted && !words.view ? `${counted(report.unlisted, "function", "functions")} not shown, with ${time(report.unlisted_self_ns)} of self time` : null,
  ].filter(Boolean).join(" · "));
}

/** @param {import("./types.d.ts").Words} words */
function tabs(words) {
  const tab = (/** @type {string} */ name, /** @type {string} */ title) => element("button", { type: "button", "aria-pressed": String((words.view || "") === name), onclick: () => go("/explore", { ...words, view: name }) }, title);
  return element("p", { class: "tabs" }, tab("", "Functions"), " ", tab("flame", "Flame graph"));
}

/** @param {import("./types.d.ts").Listed} report @param {import("./types.d.ts").Words} words */
function functionsPart(report, words) {
  const all = report.all_self_ns || 1;
  const more = (/** @type {string} */ name) => element("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, ...breakable(name));
  const times = (/** @type {import("./types.d.ts").ListedFunction} */ row) => ({ self: row.self_ns, own_error: row.self_error_ns, total: row.total_ns, error: row.total_error_ns });
  /** @type {import("./types.d.ts").Column<import("./types.d.ts").ListedFunction>[]} */
  const columns = [
    { title: "function", of: (row) => row.name, write: (name, row) => element("span", {}, more(name), whichOf(row, report.functions)), isName: true },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "total", of: (row) => row.total_ns, write: (ns, row) => resolved(ns, row.total_error_ns), help: "with what it calls; of a recursion the outermost call's" },
    { title: "±", of: (row) => row.total_error_ns, write: time, help: "how far off the total may be" },
    { title: "self", of: (row) => row.self_ns, write: (_, row) => resolvedSelf(times(row)), help: "without what it calls" },
    { title: "self %", of: (row) => row.self_ns / all, write: (part) => share(part, 1) },
    ...waits(report),
    ...percentiles(),
  ];
  const listed = element("p", { class: "actions" }, `The ${count(report.functions.length)} functions with the most self time. `, element("button", { type: "button", onclick: () => go("/explore", { ...words, all: "1" }) }, words.find ? "List all of that name" : `List all ${count(report.functions.length + report.unlisted)}`));
  return [element("h2", {}, "Functions"), ...(!words.all && report.functions.length >= Number(LISTED) && report.unlisted ? [listed] : []), table("functions", columns, report.functions, [4, true])];
}

/** Waiting of less than that share of all self time is nothing to look at. */
const LEAST_WAITING = 0.01;

/**
 * The columns of what was waited, where that is known and some was.
 * @param {import("./types.d.ts").Listed} report
 */
function waits({ functions, all_self_ns }) {
  const waited = functions.reduce((sum, { self_wait_ns }) => sum + (self_wait_ns ?? 0), 0);
  if (waited < all_self_ns * LEAST_WAITING) return [];
  return [
    { title: "wait", of: (/** @type {import("./types.d.ts").ListedFunction} */ row) => row.wait_ns, write: optionalTime, help: "what of the total it waited, off the processor" },
    { title: "self wait", of: (/** @type {import("./types.d.ts").ListedFunction} */ row) => row.self_wait_ns, write: optionalTime, help: "what of its self time" },
  ];
}

/** Which time a flame graph is of, as `--time` has it. */
const KINDS = [["", "all time"], ["cpu", "on a processor"], ["wait", "waiting"]];

/** @param {import("./types.d.ts").Listed} report @param {import("./types.d.ts").Words} words */
function kinds({ functions }, words) {
  if (!functions.some(({ wait_ns }) => wait_ns !== null)) return null;
  const kind = (/** @type {string[]} */ [time, title]) => element("button", { type: "button", "aria-pressed": String((words.time ?? "") === time), onclick: () => go("/explore", { ...words, time }) }, title);
  return element("p", { class: "tabs", role: "group", "aria-label": "Which time" }, ...KINDS.flatMap((one) => [kind(one), " "]));
}

/** @param {import("./types.d.ts").Listed} report @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").TreeDocument} document */
function flamePart(report, words, document) {
  const inside = words.root ? element("p", {}, `Only what happens inside ${words.root}. `, element("button", { type: "button", onclick: () => go("/explore", { ...words, root: "" }) }, "Everything")) : null;
  return [element("h2", {}, "Flame graph"), kinds(report, words), inside, flame(treeOf(document), { find: words.find, onName: (name) => go("/explore", { ...words, function: name }) })].filter((part) => part !== null);
}

const EXPORTS = [["html", "one page with everything"], ["flamegraph", "flame graph (SVG)"], ["pprof", "pprof"], ["speedscope", "speedscope"], ["firefox", "Firefox Profiler"], ["callgrind", "Callgrind"], ["folded", "folded stacks"]];

/** @param {import("./types.d.ts").Words} words */
function exports(words) {
  return element("p", { class: "exports" }, ...EXPORTS.map(([format, title]) => {
    const href = path(`/v1/export/${format}`, selection(words));
    return element("a", { href, target: "_blank", onclick: hasToken() ? (event) => { event.preventDefault(); save(href, format); } : null }, title);
  }));
}

/**
 * With a token a link alone would not be let in.
 * @param {string} href @param {string} format
 */
async function save(href, format) {
  const url = URL.createObjectURL(await (await ask(href)).blob());
  element("a", { href: url, download: `diytrace.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
