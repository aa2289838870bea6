// What services did in the last minutes: where their time went, and how long the calls of their roots took.

import { view } from "./ask.js";
import { listed } from "./listed.js";
import { exactly, pattern } from "./place.js";

/** How long that is, as the service takes it. */
const LATELY = "5m";
/** It is asked for anew after so many milliseconds; more services than that have no course. */
const EVERY = 10_000;
const MOST = 20;
/** Slices of the course. */
const SLICES = "32";
/** Functions among which one is looked for whose calls return: a server's `main`, and what waits for requests in it, do not. */
const LOOKED_AT = "8";

/**
 * What is known of a service: times on a processor and waiting; of the function with the most time whose calls return, which is a root or what
 * a server does over and over, its name and the p99 of its calls, slice by slice.
 * @typedef {{ cpu: number | null, wait: number | null, root: string, p99: number | null, course: number[] }} Facts
 */

/** @type {Map<string, Facts>} */
let known = new Map();
let asked = -Infinity;

/** @param {string} service */
export const lately = (service) => known.get(service);

/** Whether it is to be asked for again. */
export const isOld = () => performance.now() - asked > EVERY;

/** Asks for it. Where nothing has run, nothing is known. */
export async function look() {
  asked = performance.now();
  const { reports } = await listed({ by: "service", since: LATELY, sort: "total", limit: LOOKED_AT, names: "short" }).catch(() => ({ reports: [] }));
  const found = await Promise.all(reports.slice(0, MOST).map(factsOf));
  known = new Map(found);
}

/** @param {import("./types.d.ts").Listed} report @returns {Promise<[string, Facts]>} */
async function factsOf({ label, all_self_cpu_ns: cpu, all_self_wait_ns: wait, functions }) {
  const root = functions.find(({ p99_ns }) => p99_ns !== null);
  const service = (label ?? "").replace("service=", "");
  const history = root ? await view("history", { select: `service=${exactly(service)}`, since: LATELY, over: "time", slices: SLICES, function: pattern(root.name) }).catch(() => null) : null;
  const points = history && !("per" in history) ? (history.functions[0]?.points ?? []) : [];
  return [service, { cpu, wait, root: root?.name ?? "", p99: root?.p99_ns ?? null, course: points.map((point) => point.p99_ns ?? 0) }];
}
