// Functions over builds, commits or time, and where they changed for good.

import { WantsToken, view, wordsOf } from "./ask.js";
import { lines } from "./chart.js";
import { choice, kinds, labels } from "./choice.js";
import { address, clock, day, go, moment, selection, shownTime, within } from "./place.js";
import { sampledHistory } from "./sampled_history.js";
import { lateMarks, series, withGaps } from "./series.js";
import { table } from "./table.js";
import { count, counted, element, share, time } from "./text.js";

/** What may change: how that is called, and how written.
 * @type {Record<import("./types.d.ts").Step["measure"], [string, (value: number) => string]>} */
const MEASURES = { self_per_call_ns: ["self a call", time], p50_ns: ["median call", time], calls_per_run: ["calls a run", (calls) => count(Math.round(calls))] };

/** Seconds: of longer times, the time of day does not say when. */
const A_DAY = 86_400;

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function history(words) {
  const there = await view("series");
  const areSamples = Boolean(words.type) || !there.series.length;
  const names = [...new Set((areSamples ? there.sampled : there.series).flatMap((one) => Object.keys(one.labels)))].filter((name) => !["service", "host"].includes(name)).sort();
  const over = words.over || (names.includes("commit") ? "commit" : "build");
  /** @type {import("./types.d.ts").Field[]} */
  const fields = [
    { name: "select", title: "Labels", hint: "service=…", isLabels: true },
    { name: "function", title: "Function", hint: "empty: all that rose" },
    { name: "over", title: "Over", options: [over, ...names.filter((name) => name !== over), ...(over === "time" ? [] : ["time"])].map((name) => /** @type {[string, string]} */ ([name, name])) },
    ...kinds(words, there),
  ];
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [element("h1", {}, words.function || "What rose, and stayed so"), choice("/history", { ...words, over }, fields), await labels()];
  try {
    const asked = { ...selection(words), over, type: words.type, shares: areSamples ? words.shares : undefined };
    const document = await view("history", words.function ? { ...asked, function: words.function } : { ...asked, regressions: "1" });
    parts.push(...document.warnings.map((warning) => element("p", { class: "soft" }, warning)));
    if ("per" in document) parts.push(...sampledHistory(document, words));
    else parts.push(...(words.function ? document.functions.flatMap((course) => courseParts(document, course, words)) : regressions(document, words, over)));
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    parts.push(element("p", { class: "error", role: "alert" }, wordsOf(error)));
  }
  return parts;
}

/** @param {import("./types.d.ts").HistoryDocument} document @param {import("./types.d.ts").Words} words @param {string} over */
function regressions({ functions, tested }, words, over) {
  const said = functions.length ? `${count(functions.length)} of ${counted(tested, "function", "functions")} rose over ${over}, and stayed so.` : `No rise that stayed in ${counted(tested, "function", "functions")} over ${over}.`;
  const rows = functions.flatMap((course) => course.steps.filter((step) => step.after > step.before).map((step) => ({ ...step, course, at: course.points[step.point] })));
  /** @type {import("./types.d.ts").Column<(typeof rows)[number]>[]} */
  const columns = [
    { title: "function", of: (row) => row.course.name, write: (name) => element("a", { href: address("/history", { ...words, function: name, over }) }, name), isName: true },
    { title: "what", of: (row) => row.measure, write: (_, row) => MEASURES[row.measure][0] },
    { title: "since", of: (row) => row.at.value || clock(row.at.started_unix_ns), isName: true },
    ...(over === "time" ? [] : [{ title: "first recorded", of: (/** @type {(typeof rows)[number]} */ row) => row.at.started_unix_ns, write: day }]),
    { title: "before", of: (row) => row.before, write: (value, row) => MEASURES[row.measure][1](value) },
    { title: "after", of: (row) => row.after, write: (value, row) => MEASURES[row.measure][1](value) },
    { title: "rise", of: (row) => row.change ?? Infinity, write: (_, row) => element("span", { class: "worse" }, changed(row)) },
    { title: "p", of: (row) => row.p, write: (p) => p.toExponential(1) },
  ];
  return [element("p", { role: "status" }, said), ...(rows.length ? [table("regressions", columns, rows, [columns.findIndex(({ title }) => title === "rise"), true])] : [])];
}

/**
 * By how much; of nothing there is no part.
 * @param {import("./types.d.ts").Step} step
 */
function changed({ change, before, after }) {
  return change === null ? "from none" : `${after > before ? "+" : "−"}${share(Math.abs(change), 1)}`;
}

/** What is drawn over the points.
 * @typedef {"p50_ns" | "p90_ns" | "p99_ns" | "max_ns" | "self_per_call_ns" | "calls_per_run"} Measured */

/** @param {import("./types.d.ts").HistoryDocument} document @param {import("./types.d.ts").Course} course @param {import("./types.d.ts").Words} words */
function courseParts(document, course, words) {
  const isTime = document.slice_ns !== null;
  const label = (/** @type {import("./types.d.ts").Point} */ point) => (isTime ? clock(point.started_unix_ns, document.slice_ns ?? undefined) : point.value || "(none)");
  const marks = course.steps.map((step) => /** @type {[number, string]} */ ([step.point, `${step.after > step.before ? "▲" : "▼"} ${MEASURES[step.measure][0]} ${changed(step)}`]));
  const before = (/** @type {import("./types.d.ts").Point} */ point) => course.points[course.points.indexOf(point) - 1];
  // A build leads to the comparison with the one before it.
  const onPick = isTime ? undefined : (/** @type {import("./types.d.ts").Point} */ point) => before(point) && go("/compare", { left: within(words.select, document.over, before(point).value), right: within(words.select, document.over, point.value) });
  const of = (/** @type {Measured} */ key) => (/** @type {import("./types.d.ts").Point} */ point) => point[key];
  const kinds = /** @type {const} */ ([["p50", "p50_ns"], ["p90", "p90_ns"], ["p99", "p99_ns"], ["self", "self_per_call_ns"]]);
  const steps = course.steps.map((step) => {
    const [what, write] = MEASURES[step.measure];
    return element("li", {}, `${what}: ${write(step.before)} → ${write(step.after)} since ${label(course.points[step.point])}${isTime ? "" : `, first recorded ${day(course.points[step.point].started_unix_ns)}`} (`, element("span", { class: step.after > step.before ? "worse" : "better" }, changed(step)),
      `; p ${step.p.toExponential(1)}; recordings usually differ by ${share(step.usual, 1)}${step.side_by_side === null ? "" : `; side by side ${share(Math.abs(step.side_by_side), 1)}`})`);
  });
  const which = document.functions.length > 1 ? [element("h2", { class: "which" }, `${course.name} of ${course.module}`)] : [];
  const names = (/** @type {typeof kinds[number][0]} */ kind) => (kind === "self" ? "self a call" : kind);
  const times = isTime ? overTime(course.points, kinds.map(([kind, key]) => ({ name: names(kind), of: of(key), kind })), document, time, marks, words) : lines(course.points, { lines: kinds.map(([kind, key]) => ({ name: names(kind), of: of(key), kind })), label, write: time, marks, onPick });
  const called = { lines: [{ name: "calls", of: of("calls_per_run"), kind: "self" }], write: (/** @type {number} */ calls) => count(Math.round(calls)) };
  return [
    ...which, element("p", { role: "status" }, steps.length ? "Changes that stayed:" : "No change that stayed."), ...(steps.length ? [element("ul", {}, ...steps)] : []),
    element(which.length ? "h3" : "h2", {}, "Time of a call"),
    times,
    element(which.length ? "h3" : "h2", {}, isTime ? "Calls" : "Calls of a run"),
    isTime ? overTime(course.points, called.lines, document, called.write, [], words) : lines(course.points, { ...called, label, marks: [], onPick }),
    table(`history of ${course.name}${which.length ? ` of ${course.module}` : ""}`, [
      { title: document.over, of: (point) => point.started_unix_ns, write: (_, point) => label(point), isName: true },
      { title: "runs", of: (point) => point.runs, write: count },
      { title: "calls", of: (point) => point.calls, write: count },
      { title: "total", of: (point) => point.total_ns, write: time },
      .../** @type {const} */ ([["self a call", "self_per_call_ns"], ["p50", "p50_ns"], ["p99", "p99_ns"], ["max", "max_ns"]]).map(([title, key]) => ({ title, of: of(key), write: (/** @type {number | null} */ ns) => (ns === null ? "" : time(ns)) })),
    ], course.points, [0, false]),
    element("p", { class: "actions" }, element("a", { href: address("/explore", { ...selection(words), function: course.name }) }, "Who calls it, and what it calls")),
  ];
}

/**
 * Lines over time; what is drawn over is looked at.
 * @param {import("./types.d.ts").Point[]} points @param {import("./types.d.ts").Line<import("./types.d.ts").Point>[]} lines
 * @param {import("./types.d.ts").HistoryDocument} document @param {(value: number) => string} write @param {[at: number, text: string][]} marks
 * @param {import("./types.d.ts").Words} words
 */
function overTime(points, lines, document, write, marks, words) {
  const { slice_ns } = document;
  const of = (/** @type {(point: import("./types.d.ts").Point) => number | null} */ value) => withGaps(points.map((point) => [point.started_unix_ns / 1e9, value(point)]), (slice_ns ?? 0) / 1e9);
  return series(lines.map(({ name, kind, of: value }) => ({ name, kind, points: of(value) })), {
    title: "Over time", write, marks: [...lateMarks(document), ...marks.map(([at, text]) => /** @type {[number, string]} */ ([points[at].started_unix_ns / 1e9, text]))], when: (second, step) => (step * points.length > A_DAY ? (shownTime(moment(second * 1e9)) ?? "") : clock(second * 1e9, slice_ns ?? undefined)),
    onRange: (from, to) => go("/explore", { ...selection(words), function: words.function, since: moment(from * 1e9), until: moment(to * 1e9) }),
  });
}
