// A selection: its functions, or its call paths; and one function more closely.

import { WantsToken, ask, hasToken, path, view, wordsOf } from "./ask.js";
import { MOST_FUNCTIONS, timeline } from "./brush.js";
import { VIEWS, pathsPart } from "./callpaths.js";
import { choice, labels } from "./choice.js";
import { filtersOf } from "./filters.js";
import { functionPart } from "./function.js";
import { LISTED, filteredFunctions, functionsPart } from "./functions.js";
import { late } from "./late.js";
import { listed } from "./listed.js";
import { commandLine, go, selection } from "./place.js";
import { saveAs } from "./save.js";
import { patternOf, searchOf } from "./search.js";
import { empty } from "./services.js";
import { counted, element, time } from "./text.js";
import { callTree } from "./tree.js";

/** Beside call paths: those that the timeline is of. */
const TIMED = String(MOST_FUNCTIONS);

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function explore(words) {
  const fields = [
    { name: "select", title: "Labels", hint: "service=…,host=db*", isLabels: true },
    { name: "find", title: "Functions", hint: "name, * and ?, or /regular expression/" },
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
  const search = searchOf(words.find);
  const isOfPaths = Boolean(words.view && words.view in VIEWS);
  const tree = isOfPaths || filtersOf(words).length ? callTree({ ...selection(words), root: words.root, time: isOfPaths ? words.time : undefined }) : null;
  tree?.catch(() => {}); // it is told where it is drawn, if the rest is there
  const limit = isOfPaths ? TIMED : words.all || search ? undefined : LISTED;
  const document = await listed({ ...selection(words), function: patternOf(words.find), names: "short", sort: "self", limit });
  const report = document.reports[0];
  if (!report) return [element("p", {}, "No function of that name was called.")];
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [facts(report, words), ...document.warnings.map((warning) => element("p", { class: "soft" }, warning))];
  parts.push(late(timeline(words, report).catch(untold), "14em"));
  if (words.function && words.view !== "sandwich") parts.push(late(functionPart(words).then((part) => [part]), "30em"));
  parts.push(tabs(words));
  if (!tree) parts.push(...functionsPart(report, words, search));
  else if (isOfPaths) parts.push(...pathsPart(report, words, await tree));
  else parts.push(...filteredFunctions(await tree, words, search));
  parts.push(element("h2", {}, "Elsewhere"), exports(words), element("pre", { tabindex: 0 }, commandOf(words)));
  return parts;
}

/**
 * The same on a command line.
 * @param {import("./types.d.ts").Words} words
 */
function commandOf(words) {
  const { find, root, time, view: shown = "" } = words;
  const command = { flame: "export flamegraph", tree: "tree", sandwich: "callers", callers: "callers" }[shown] ?? "report";
  const named = patternOf(find);
  const more = {
    ...(root && command !== "callers" ? { root } : {}),
    ...(time && shown in VIEWS ? { time } : {}),
    ...(command === "report" && named ? { function: named } : {}),
  };
  const of = command === "callers" ? (words.function ?? named) : undefined;
  return commandLine(command === "callers" && !of ? "report" : command, words, more, of);
}

/**
 * Functions whose names cannot be asked for have no timeline; all else of them is there.
 * @param {unknown} error
 */
function untold(error) {
  if (error instanceof WantsToken) throw error;
  return [element("p", { class: "soft" }, `No timeline: ${wordsOf(error)}`)];
}

/** @param {import("./types.d.ts").Listed} report @param {import("./types.d.ts").Words} words */
function facts(report, words) {
  const { overhead } = report;
  return element("p", { class: "soft" }, [
    counted(report.calls, "call", "calls"), counted(report.processes, "process", "processes"),
    `recording subtracted: ${(overhead.inner_ns + overhead.outer_ns).toFixed(1)} ns a call ± ${overhead.error_ns.toFixed(1)} ns`,
    report.lost_calls ? `${counted(report.lost_calls, "call", "calls")} lost` : null,
    report.unlisted && !words.view && !words.find ? `${counted(report.unlisted, "function", "functions")} not shown, with ${time(report.unlisted_self_ns)} of self time` : null,
  ].filter(Boolean).join(" · "));
}

/** @param {import("./types.d.ts").Words} words */
function tabs(words) {
  const tab = (/** @type {string} */ name, /** @type {string} */ title) => element("button", { type: "button", "aria-pressed": String((words.view || "") === name), onclick: () => go("/explore", { ...words, zoom: "", view: name }) }, title);
  return element("p", { class: "tabs", role: "group", "aria-label": "Views" }, tab("", "Functions"), ...Object.entries(VIEWS).flatMap(([name, { title }]) => [" ", tab(name, title)]));
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
const save = async (href, format) => saveAs(`diytrace.${format}`, await (await ask(href)).blob());
