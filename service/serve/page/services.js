// Services: what there is, and how much each is doing now.

import { view } from "./ask.js";
import { bars } from "./chart.js";
import { isOld, lately, look } from "./lately.js";
import { rate } from "./live.js";
import { address, exactly } from "./place.js";
import { table } from "./table.js";
import { count, element, time } from "./text.js";

export async function services() {
  const { series } = await view("series");
  if (!series.length) return [element("h1", {}, "Services"), empty()];
  const services = byService(series);
  const draw = () => [table("services", columns, services, [3, true])];
  /** @type {import("./types.d.ts").Column<ReturnType<typeof byService>[number]>[]} */
  const columns = [
    { title: "service", of: (row) => row.name, write: (name) => element("a", { href: address("/explore", { select: `service=${exactly(name)}` }) }, name), isName: true },
    { title: "calls/s", of: (row) => rate(row.name).now, write: (now) => (now ? count(Math.round(now)) : "") },
    { title: "last minute", of: (row) => row.last, write: (_, row) => bars(rate(row.name).slices, `calls in each second of the last minute: ${row.name}`, "spark") },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "on a processor", of: (row) => lately(row.name)?.cpu, write: optional, help: "self time of the last 5 minutes, all processes together" },
    { title: "waiting", of: (row) => lately(row.name)?.wait, write: optional, help: "of the last 5 minutes" },
    { title: "p99", of: (row) => lately(row.name)?.p99, write: (_, row) => p99(row.name), help: "of calls of the function with the most time whose calls return, in the last 5 minutes" },
    { title: "recordings", of: (row) => row.recordings, write: count },
    { title: "hosts", of: (row) => row.hosts.size, write: count },
    { title: "builds", of: (row) => row.builds.size, write: count },
    { title: "last", of: (row) => row.last, write: age },
  ];
  const place = element("div", {}, ...draw());
  // What takes longer keeps nobody waiting, neither for the list nor for what comes in: the next that is drawn has it, or this one.
  if (isOld()) look().then(() => place.isConnected && place.replaceChildren(...draw()));
  return [element("h1", {}, "Services"), place];
}

/** @param {number | null | undefined} ns */
const optional = (ns) => (ns === null || ns === undefined ? "" : time(ns));

/**
 * The p99 of a function of a service, how it went, and which function that is.
 * @param {string} service
 */
function p99(service) {
  const { root, p99, course } = lately(service) ?? { root: "", p99: null, course: [] };
  if (p99 === null) return "";
  return element("span", {}, course.length > 1 ? bars(course, `p99 of ${root} in the last 5 minutes`, "spark") : null, ` ${time(p99)} `, element("span", { class: "soft" }, root));
}

/** @param {import("./types.d.ts").Series[]} series */
function byService(series) {
  const known = new Map();
  for (const { labels, recordings, calls, last_unix_ns } of series) {
    const name = labels.service || "";
    const one = known.get(name) ?? { name, hosts: /** @type {Set<string>} */ (new Set()), builds: /** @type {Set<string>} */ (new Set()), recordings: 0, calls: 0, last: 0 };
    one.hosts.add(labels.host);
    one.builds.add(labels.build);
    one.recordings += recordings;
    one.calls += calls;
    one.last = Math.max(one.last, last_unix_ns);
    known.set(name, one);
  }
  return [...known.values()];
}

/** @param {number} unixNs */
function age(unixNs) {
  if (!unixNs) return "–"; // of what is no longer there
  const seconds = Math.max(0, Date.now() / 1000 - unixNs / 1e9);
  if (seconds < 3) return "now";
  for (const [unit, one] of /** @type {const} */ ([["d", 86400], ["h", 3600], ["min", 60]])) if (seconds >= one) return `${Math.floor(seconds / one)} ${unit} ago`;
  return `${Math.floor(seconds)} s ago`;
}

/** What to do where nothing is. */
export function empty() {
  return element("div", {},
    element("p", {}, "Nothing is here yet. Send what programs of a host count, while they run:"),
    element("pre", { tabindex: 0 }, `diytrace agent --to ${location.origin} --dir diytrace.data`),
    element("p", {}, "or put in a recording that there is:"),
    element("pre", { tabindex: 0 }, `diytrace push --to ${location.origin} diytrace.data`));
}
