// Services: what there is, and how much each is doing now.

import { view } from "./ask.js";
import { bars } from "./chart.js";
import { rate } from "./live.js";
import { address } from "./place.js";
import { table } from "./table.js";
import { count, element } from "./text.js";

export async function services() {
  const { series } = await view("series");
  if (!series.length) return [element("h1", {}, "Services"), empty()];
  /** @type {import("./types.d.ts").Column<ReturnType<typeof byService>[number]>[]} */
  const columns = [
    { title: "service", of: (row) => row.name, write: (name) => element("a", { href: address("/explore", { select: `service=${name}` }) }, name), isName: true },
    { title: "calls/s", of: (row) => rate(row.name).now, write: (now) => (now ? count(Math.round(now)) : "") },
    { title: "last minute", of: (row) => row.last, write: (_, row) => bars(rate(row.name).slices, `calls in each second of the last minute: ${row.name}`, "spark") },
    { title: "calls", of: (row) => row.calls, write: count },
    { title: "recordings", of: (row) => row.recordings, write: count },
    { title: "hosts", of: (row) => row.hosts.size, write: count },
    { title: "builds", of: (row) => row.builds.size, write: count },
    { title: "last", of: (row) => row.last, write: age },
  ];
  return [element("h1", {}, "Services"), table("services", columns, byService(series), [3, true])];
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
