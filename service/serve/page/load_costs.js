// What a request costs in each function of the server, beside the load.

import { table } from "./table.js";
import { counted, element, share, time } from "./text.js";

/** Functions that are shown. */
const MOST = 100;

const WHY = { calls: "called more often", cost: "each call slower", both: "called more often, each call slower", new: "not called before" };

/** @param {import("./types.d.ts").LoadGrowth} growth */
const why = ({ why, has_waited_longer }) => WHY[why] + (has_waited_longer ? ", waited longer" : "");

/**
 * @param {import("./types.d.ts").LoadDocument} document
 * @param {(step: import("./types.d.ts").LoadStep) => string} title
 */
export function costs({ steps, response }, title) {
  if (!response) return [];
  const [from, to] = [steps[response.from_step], steps[response.to_step]];
  const signed = (/** @type {number} */ ns) => (ns < 0 ? `−${time(-ns)}` : time(ns));
  const optional = (/** @type {number | null} */ ns) => (ns === null ? "" : signed(ns));
  const functions = table("functions of the server", [
    { title: "function", of: (row) => row.name, isName: true },
    { title: "added", of: (row) => row.growth.self_ns_per_request, write: signed, help: "by how much its own time of a request has grown" },
    { title: "±", of: (row) => row.growth.error_ns_per_request, write: time },
    { title: "share", of: (row) => row.growth.share, write: (part) => (part > 0 ? share(part, 1) : "") },
    { title: "self", of: (row) => row.growth.to.self_ns_per_request, write: time },
    { title: "before", of: (row) => row.growth.from.self_ns_per_request, write: time },
    { title: "waited", of: (row) => row.growth.wait_ns_per_request, write: optional },
    { title: "calls", of: (row) => row.growth.to.calls_per_request, write: (calls) => calls.toFixed(2) },
    { title: "calls before", of: (row) => row.growth.from.calls_per_request, write: (calls) => calls.toFixed(2) },
    { title: "why", of: (row) => (row.growth.is_certain ? why(row.growth) : ""), write: (text) => element("span", { class: text ? "worse" : null }, text), isName: true, help: "of those that have grown for certain" },
  ], response.functions.slice(0, MOST), [1, true]);
  const spikes = response.spikes.filter(({ correlated }) => correlated.length).map(({ step, slices, highest_ns, correlated }) => {
    const named = correlated.map(({ name, share: there, share_else }) => `${name} (${share(there, 1)} of the time there, ${share(share_else, 1)} else)`);
    return element("p", {}, `${title(steps[step])}: ${counted(slices, "spike", "spikes")} of latency up to ${time(highest_ns)} go with more time in ${named.join(", ")}: a correlation.`);
  });
  return [element("h2", {}, `What a request costs at ${title(to)}, beside ${title(from)}`), functions, ...spikes];
}
