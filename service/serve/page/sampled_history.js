// Functions in sampled profiles over builds, commits or time, and where they changed for good.

import { PER, writerOf } from "./amount.js";
import { lines } from "./chart.js";
import { address, clock, day, go, selection, within } from "./place.js";
import { table } from "./table.js";
import { count, counted, element, share } from "./text.js";

/** @param {import("./types.d.ts").SampledHistory} document @param {import("./types.d.ts").Words} words */
export function sampledHistory(document, words) {
  return words.function ? document.functions.flatMap((course) => courseParts(document, course, words)) : regressions(document, words);
}

/** @param {import("./types.d.ts").SampledHistory} document @param {import("./types.d.ts").Words} words */
function regressions(document, words) {
  const { functions, tested, over, type } = document;
  const write = writerOf(document);
  const said = functions.length ? `${count(functions.length)} of ${counted(tested, "function", "functions")} rose in ${type} over ${over}, and stayed so.` : `No rise of ${type} that stayed in ${counted(tested, "function", "functions")} over ${over}.`;
  const rows = functions.flatMap((course) => course.steps.filter((step) => step.after > step.before).map((step) => ({ ...step, course, at: course.points[step.point] })));
  /** @type {import("./types.d.ts").Column<(typeof rows)[number]>[]} */
  const columns = [
    { title: "function", of: (row) => row.course.name, write: (name) => element("a", { href: address("/history", { ...words, function: name, over }) }, name), isName: true },
    { title: "since", of: (row) => row.at.value || clock(row.at.started_unix_ns), isName: true },
    { title: "flat before", of: (row) => row.before, write },
    { title: "flat after", of: (row) => row.after, write },
    { title: "rise", of: (row) => row.change ?? Infinity, write: (_, row) => element("span", { class: "worse" }, changed(row)) },
    { title: "p", of: (row) => row.p, write: (p) => p.toExponential(1) },
  ];
  return [element("p", { role: "status" }, said), ...(rows.length ? [table("regressions", columns, rows, [4, true])] : [])];
}

/**
 * By how much; of nothing there is no part.
 * @param {import("./types.d.ts").SampledStep} step
 */
const changed = ({ change, before, after }) => (change === null ? "from none" : `${after > before ? "+" : "−"}${share(Math.abs(change), 1)}`);

/** @param {import("./types.d.ts").SampledHistory} document @param {import("./types.d.ts").SampledHistory["functions"][number]} course @param {import("./types.d.ts").Words} words */
function courseParts(document, course, words) {
  const write = writerOf(document);
  const isTime = document.slice_ns !== null;
  const label = (/** @type {import("./types.d.ts").SampledPoint} */ point) => (isTime ? clock(point.started_unix_ns, document.slice_ns ?? undefined) : point.value || "(none)");
  const before = (/** @type {import("./types.d.ts").SampledPoint} */ point) => course.points[course.points.indexOf(point) - 1];
  // A build leads to the comparison with the one before it.
  const onPick = isTime ? undefined : (/** @type {import("./types.d.ts").SampledPoint} */ point) => before(point) && go("/compare", { left: within(words.select, document.over, before(point).value), right: within(words.select, document.over, point.value), type: document.type, shares: words.shares });
  const marks = course.steps.map((step) => /** @type {[number, string]} */ ([step.point, `${step.after > step.before ? "▲" : "▼"} ${step.measure} ${changed(step)}`]));
  const steps = course.steps.map((step) => element("li", {}, `${step.measure}: ${write(step.before)} → ${write(step.after)} since ${label(course.points[step.point])}${isTime ? "" : `, first sampled ${day(course.points[step.point].started_unix_ns)}`} (`, element("span", { class: step.after > step.before ? "worse" : "better" }, changed(step)),
    `; p ${step.p.toExponential(1)}; profiles usually differ by ${share(step.usual, 1)}${step.side_by_side === null ? "" : `; side by side ${share(Math.abs(step.side_by_side), 1)}`})`));
  const which = document.functions.length > 1 ? [element("h2", { class: "which" }, course.name)] : [];
  const optional = (/** @type {number | null} */ value) => (value === null ? "" : write(value));
  return [
    ...which, element("p", { role: "status" }, steps.length ? "Changes that stayed:" : "No change that stayed."), ...(steps.length ? [element("ul", {}, ...steps)] : []),
    element(which.length ? "h3" : "h2", {}, `${document.type}, ${PER[document.per]}`),
    lines(course.points, { lines: [{ name: "flat", of: (point) => point.flat, kind: "self" }, { name: "cum", of: (point) => point.cum, kind: "p90" }], label, write, marks, onPick }),
    table(`history of ${course.name}${which.length ? `, ${course.file ?? ""}` : ""}`, [
      { title: document.over, of: (point) => point.started_unix_ns, write: (_, point) => label(point), isName: true },
      { title: "profiles", of: (point) => point.profiles, write: count },
      { title: "flat", of: (point) => point.flat, write: optional },
      { title: "±", of: (point) => point.flat_plus_minus, write: optional, help: "how far off it may be for sampling, in 95% of all cases" },
      { title: "cum", of: (point) => point.cum, write: optional },
      { title: "flat %", of: (point) => point.share, write: (value) => (value === null ? "" : share(value, 1)) },
    ], course.points, [0, false]),
    element("p", { class: "actions" }, element("a", { href: address("/samples", { ...selection(words), type: document.type }) }, "These profiles")),
  ];
}
