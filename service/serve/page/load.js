// Runs of load: how one goes while it goes on, and what it has come to.

import { view } from "./ask.js";
import { bars } from "./chart.js";
import { costs } from "./load_costs.js";
import { address, shownTime } from "./place.js";
import { series } from "./series.js";
import { table } from "./table.js";
import { count, element, tickText, time } from "./text.js";

/** @typedef {import("./types.d.ts").LoadStep} Step */

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function load(words) {
  return words.run ? one(words.run, words.step) : all();
}

const STATES = { running: "running", over: "over", lost: "not heard of any more" };

async function all() {
  const { runs } = await view("load/shown");
  if (!runs.length) return [element("h1", {}, "Load"), ...howTo()];
  /** @type {import("./types.d.ts").Column<import("./types.d.ts").LoadFacts>[]} */
  const columns = [
    { title: "target", of: (row) => row.target, write: (target, row) => element("a", { href: address("/load", { run: row.run }) }, target), isName: true },
    { title: "state", of: (row) => row.state, write: (_, row) => STATES[row.state] },
    { title: "what came out", of: (row) => row.summary, isName: true },
    { title: "run", of: (row) => row.run },
    { title: "begun", of: (row) => row.started_unix_ns, write: (_, row) => begun(row) },
  ];
  return [element("h1", {}, "Load"), table("runs of load", columns, runs, [4, true])];
}

function howTo() {
  const commands = [`diytrace load http://127.0.0.1:8080 --rate 100,200,400 --to ${location.origin}`, `diytrace load http://web1:8080 --rate 10k --workers ${location.origin}`];
  return [
    element("p", { role: "status" }, "No run is here: a service keeps the latest 20 until it ends. These commands show one, on this machine or by workers:"),
    element("pre", { tabindex: "0" }, commands.join("\n")),
  ];
}

/** @param {string} run @param {string | undefined} chosen */
async function one(run, chosen) {
  const facts = await view("load/shown", { run });
  const { document } = facts;
  const { steps, going } = document;
  const at = chosen ? Number(chosen) : (going ?? highest(steps));
  const step = steps[at];
  return [
    element("h1", {}, document.target),
    element("p", { role: "status" }, element("strong", {}, STATES[facts.state]), going === undefined ? "" : `: ${title(steps[going])}`, document.summary ? ` · ${document.summary}` : ""),
    element("p", { class: "soft" }, [document.http2 ? "HTTP/2" : "", document.schedule, `${count(document.connections)} connections`, `begun ${begun(facts)}`, run].filter(Boolean).join(" · ")),
    ...document.warnings.map((warning) => element("p", { class: "soft" }, warning)),
    ...(step ? [stepTable(run, steps, going), ...shown(step, at === going)] : [element("p", {}, "Warm-up of the first step.")]),
    ...costs(document, title),
    element("p", { class: "actions" }, element("a", { href: address("/load") }, "All runs")),
  ];
}

/** The step of the highest rate. @param {Step[]} steps */
function highest(steps) {
  return steps.reduce((best, step, at) => ((step.offered_per_s ?? Infinity) >= (steps[best].offered_per_s ?? Infinity) ? at : best), 0);
}

/** @param {string} run @param {Step[]} steps @param {number | undefined} going */
function stepTable(run, steps, going) {
  const rows = steps.map((step, at) => ({ step, at }));
  /** @param {keyof import("./types.d.ts").LoadTimes} name @returns {import("./types.d.ts").Column<typeof rows[number]>} */
  const latency = (name) => ({ title: name, of: ({ step }) => step.latency_ns[name], write: optionalTime });
  return table("steps", [
    { title: "step", of: ({ at }) => at, write: (at, row) => element("a", { href: address("/load", { run, step: String(at) }) }, title(row.step) + (at === going ? " (goes on)" : "")), isName: true },
    { title: "achieved/s", of: ({ step }) => step.achieved_per_s, write: (rate) => count(Math.round(rate)) },
    { title: "sent", of: ({ step }) => step.sent, write: count },
    { title: "not sent", of: ({ step }) => step.not_sent, write: (not) => failed(not) },
    { title: "errors", of: ({ step }) => step.errors, write: (errors) => failed(errors) },
    latency("p50"), latency("p90"), latency("p99"), latency("max"),
    { title: "p99 from send", of: ({ step }) => step.from_send_ns.p99, write: optionalTime },
    { title: "p99 late", of: ({ step }) => step.late_ns.p99, write: optionalTime, help: "how late this many requests were sent, though a connection was free" },
  ], rows, [0, false]);
}

/** @param {Step} step @param {boolean} isGoing */
function shown(step, isGoing) {
  const { slices, slice_ns } = step.timeline;
  // What is on its way is in none yet: the last slice of a step that goes on is not whole.
  const whole = (isGoing ? slices.slice(0, -1) : slices).map((slice, at) => ({ ...slice, at }));
  const parts = [element("h2", {}, `Latency over time at ${title(step)}`)];
  if (!whole.length) return [...parts, element("p", { class: "soft" }, "Nothing has been answered yet.")];
  const rates = whole.map(({ answered }) => answered / (slice_ns / 1e9));
  return [
    ...parts,
    series(/** @type {const} */ ([["p50", "p50_ns"], ["p90", "p90_ns"], ["p99", "p99_ns"]]).map(([kind, key]) => ({ name: kind, kind, points: whole.map((slice) => [(slice.at * slice_ns) / 1e9, slice[key]]) })),
      { title: "Latency over time", write: time, when: (second) => tickText(second * 1e9) }),
    element("h2", {}, "Answers a second"),
    bars(rates, `answers a second in slices of ${time(slice_ns)}: at most ${count(Math.round(Math.max(...rates)))}`),
    ...failures(step),
    ...workers(step),
  ];
}

/** @param {Step} step */
function failures({ errors_by, not_sent_by }) {
  const rows = [...Object.entries(errors_by).map(([why, number]) => ({ why, number })), ...Object.entries(not_sent_by).map(([why, number]) => ({ why: `not sent: ${why}`, number }))];
  if (!rows.length) return [];
  return [element("h2", {}, "What failed"), table("errors", [{ title: "why", of: (row) => row.why, isName: true }, { title: "requests", of: (row) => row.number, write: count }], rows, [1, true])];
}

/** @param {Step} step */
function workers({ workers: rows = [] }) {
  if (!rows.length) return [];
  return [element("h2", {}, "Workers"), table("workers", [
    { title: "worker", of: (row) => row.name, isName: true },
    { title: "connections", of: (row) => row.connections, write: count },
    { title: "planned", of: (row) => row.planned, write: count },
    { title: "sent", of: (row) => row.sent, write: count },
    { title: "answered", of: (row) => row.answered, write: count },
    { title: "errors", of: (row) => row.errors, write: failed },
    { title: "not sent", of: (row) => row.not_sent, write: failed },
    { title: "state", of: (row) => (row.lost ? "lost" : ""), write: (lost) => element("span", { class: lost ? "worse" : null }, lost) },
  ], rows, [0, false])];
}

/** @param {number} number */
const failed = (number) => element("span", { class: number ? "worse" : null }, count(number));

/** @param {number | null} ns */
const optionalTime = (ns) => (ns === null ? "" : time(ns));

/** @param {Step} step */
function title({ offered_per_s: rate }) {
  return rate === null ? "max" : `${count(Math.round(rate))}/s`;
}

/** @param {{ started_unix_ns: number }} facts */
const begun = ({ started_unix_ns }) => shownTime(`@${(started_unix_ns / 1e9).toFixed(0)}`) ?? "";
