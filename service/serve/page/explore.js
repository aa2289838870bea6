// A selection: its functions, or its flame graph; and one function more closely.

import { ask, hasToken, path, view } from "./ask.js";
import { choice, labels } from "./choice.js";
import { flame } from "./flame.js";
import { functionPart } from "./function.js";
import { commandLine, go, selection } from "./place.js";
import { empty } from "./services.js";
import { table } from "./table.js";
import { count, counted, element, resolved, resolvedSelf, share, time } from "./text.js";
import { treeOf } from "./tree.js";

/** Frames of less than that share are drawn as one: a screen has some thousand columns. */
const LEAST_PERCENT = "0.05";

export async function explore(words) {
  const fields = [
    { name: "select", title: "Labels", hint: "service=…,host=db*", isLabels: true },
    { name: "find", title: "Functions", hint: "name, * and ?" },
  ];
  const parts = [element("h1", {}, words.select || "Everything"), choice("/explore", words, fields), await labels()];
  try {
    parts.push(...(await shown(words)));
  } catch (error) {
    if (error.wantsToken) throw error;
    parts.push(element("p", { class: "error", role: "alert" }, error.message), ...(error.message.includes("is empty") ? [empty()] : []));
  }
  return parts;
}

async function shown(words) {
  const document = await view("report", { ...selection(words), function: pattern(words.find), names: "short" });
  const report = document.reports[0];
  if (!report) return [element("p", {}, "No function of that name was called.")];
  const parts = [facts(report), ...document.warnings.map((warning) => element("p", { class: "soft" }, warning))];
  if (words.function) parts.push(await functionPart(words));
  parts.push(tabs(words));
  parts.push(...(words.view === "flame" ? await flamePart(words) : functionsPart(report, words)), element("h2", {}, "Elsewhere"), exports(words), element("pre", {}, commandLine("report", words)));
  return parts;
}

/** A part of a name stands for all that have it. */
function pattern(find) {
  return find ? (/[*?]/.test(find) ? find : `*${find}*`) : undefined;
}

function facts(report) {
  const { overhead } = report;
  return element("p", { class: "soft" }, [
    counted(report.calls, "call", "calls"), counted(report.processes, "process", "processes"),
    `recording subtracted: ${(overhead.inner_ns + overhead.outer_ns).toFixed(1)} ns a call ± ${overhead.error_ns.toFixed(1)} ns`,
    report.lost_calls ? `${counted(report.lost_calls, "call", "calls")} lost` : null,
    report.unlisted ? `${counted(report.unlisted, "function", "functions")} not shown, with ${time(report.unlisted_self_ns)} of self time` : null,
  ].filter(Boolean).join(" · "));
}

function tabs(words) {
  const tab = (name, title) => element("button", { type: "button", "aria-pressed": String((words.view || "") === name), onclick: () => go("/explore", { ...words, view: name }) }, title);
  return element("p", { class: "tabs" }, tab("", "Functions"), " ", tab("flame", "Flame graph"));
}

function functionsPart(report, words) {
  const all = report.all_self_ns || 1;
  const more = (name) => element("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, name);
  const times = (row) => ({ self: row.self_ns, own_error: row.self_error_ns, total: row.total_ns, error: row.total_error_ns });
  const columns = [
    { title: "function", of: (row) => row.name, write: more, isName: true },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "total", of: (row) => row.total_ns, write: (ns, row) => resolved(ns, row.total_error_ns), help: "with what it calls; of a recursion the outermost call's" },
    { title: "±", of: (row) => row.total_error_ns, write: time, help: "how far off the total may be" },
    { title: "self", of: (row) => row.self_ns, write: (_, row) => resolvedSelf(times(row)), help: "without what it calls" },
    { title: "self %", of: (row) => row.self_ns / all, write: (part) => share(part, 1) },
    ...["mean", "p50", "p99", "max"].map((title) => ({ title, of: (row) => row[`${title}_ns`], write: (ns) => (ns === null ? "" : time(ns)) })),
  ];
  return [element("h2", {}, "Functions"), table("functions", columns, report.functions, [4, true])];
}

async function flamePart(words) {
  const document = await view("tree", { ...selection(words), root: words.root, min_percent: LEAST_PERCENT, names: "short" });
  const inside = words.root ? element("p", {}, `Only what happens inside ${words.root}. `, element("button", { type: "button", onclick: () => go("/explore", { ...words, root: "" }) }, "Everything")) : null;
  return [element("h2", {}, "Flame graph"), inside, flame(treeOf(document), { find: words.find, onName: (name) => go("/explore", { ...words, function: name }) })].filter(Boolean);
}

const EXPORTS = [["html", "one page with everything"], ["flamegraph", "flame graph (SVG)"], ["pprof", "pprof"], ["speedscope", "speedscope"], ["firefox", "Firefox Profiler"], ["callgrind", "Callgrind"], ["folded", "folded stacks"]];

function exports(words) {
  return element("p", { class: "exports" }, ...EXPORTS.map(([format, title]) => {
    const href = path(`/v1/export/${format}`, selection(words));
    return element("a", { href, target: "_blank", onclick: hasToken() ? (event) => { event.preventDefault(); save(href, format); } : null }, title);
  }));
}

/** With a token a link alone would not be let in. */
async function save(href, format) {
  const url = URL.createObjectURL(await (await ask(href)).blob());
  element("a", { href: url, download: `diytrace.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
