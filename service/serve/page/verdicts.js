// What comparisons concluded: all that are kept, and one of them, with the way to the runs that were compared.

import { view } from "./ask.js";
import { choice } from "./choice.js";
import { verdict } from "./compare.js";
import { address, shownTime } from "./place.js";
import { sampledVerdict } from "./sampled_compare.js";
import { table } from "./table.js";
import { count, counted, element, time } from "./text.js";

const COMMANDS = { bench: "bench: two in turn", diff: "diff: two selections", similar: "similar: two environments" };

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function verdicts(words) {
  return words.id ? one(words.id) : all(words);
}

/** @param {import("./types.d.ts").Words} words */
async function all({ kind, since, until }) {
  const asked = { kind, since, until };
  const fields = [{ name: "kind", title: "Command", options: /** @type {[string, string][]} */ ([["", "all"], ...Object.entries(COMMANDS)]) }];
  const parts = [element("h1", {}, "Verdicts"), choice("/verdicts", asked, fields)];
  const { verdicts: found } = await view("verdicts", asked);
  if (!found.length) return [...parts, ...(kind || since ? [element("p", { role: "status" }, "None of these: choose another time, or all commands.")] : howTo())];
  /** @type {import("./types.d.ts").Column<import("./types.d.ts").VerdictFacts>[]} */
  const columns = [
    { title: "what came out", of: (row) => row.sentence, write: (text, row) => element("a", { href: address("/verdicts", { id: row.id }) }, text), isName: true },
    { title: "outcome", of: (row) => row.outcome, write: (_, row) => outcome(row) },
    { title: "command", of: (row) => row.kind },
    { title: "compared", of: sides, isName: true },
    { title: "saved", of: (row) => row.saved_unix_ns, write: (_, row) => saved(row) },
  ];
  return [...parts, element("p", { class: "soft", role: "status" }, counted(found.length, "verdict", "verdicts")), table("verdicts", columns, found, [4, true])];
}

function howTo() {
  const commands = ["diytrace bench --a ./old --b ./new --store …", "diytrace diff --store … commit=ab12 commit=cd34 --save", "diytrace similar --store … host=a host=b --save"];
  return [
    element("p", { role: "status" }, "No verdict is kept here yet. These commands put one in, with the store of this service in place of the dots:"),
    element("pre", { tabindex: "0" }, commands.join("\n")),
  ];
}

/** @param {string} id */
async function one(id) {
  const { verdict: facts, document } = await view("verdict", { id });
  return [
    element("h1", {}, sides(facts)),
    element("p", { role: "status" }, outcome(facts), ` ${facts.sentence}`),
    element("p", { class: "soft" }, `${COMMANDS[facts.kind]} · saved ${saved(facts)}`),
    element("pre", { tabindex: "0" }, facts.command),
    ...("metrics" in document ? metrics(document) : "per" in document ? sampledVerdict(document) : functions(document)),
    ...("per" in document ? [] : document.warnings).map((warning) => element("p", { class: "soft" }, warning)),
    await runs(facts, document),
    element("p", { class: "actions" }, element("a", { href: address("/verdicts") }, "All verdicts")),
  ];
}

/** @param {import("./types.d.ts").ComparedDocument} document */
function functions({ queries, errors }) {
  const parts = queries.flatMap((query) => [...(query.query ? [element("h2", {}, query.query)] : []), ...verdict(query)]);
  return [...parts, ...errors.map((error) => element("p", { class: "soft" }, error))];
}

/** @param {import("./types.d.ts").SimilarDocument} document */
function metrics({ metrics: rows, left, right, similarity }) {
  const average = (/** @type {"left" | "right"} */ side) => (/** @type {import("./types.d.ts").Metric} */ row) => row[side].average;
  const write = (/** @type {number | null} */ value, /** @type {import("./types.d.ts").Metric} */ row) => (value === null ? "none" : written(value, row.unit));
  const order = ["missing", "mismatched", "matched"];
  return [
    element("p", { class: "soft" }, `${counted(left.runs, "run", "runs")} of A, ${count(right.runs)} of B; total similarity ${similarity.toFixed(3)}`),
    table("compared metrics", [
      { title: "metric", of: (row) => row.metric, isName: true },
      { title: "verdict", of: (row) => order.indexOf(row.verdict), write: (_, row) => element("span", { class: row.verdict === "matched" ? null : "worse" }, row.verdict) },
      { title: "similarity", of: (row) => row.similarity, write: (value) => value.toFixed(3) },
      { title: "A/B", of: (row) => row.ratio, write: (value) => (value === null ? "" : value.toFixed(3)) },
      { title: "A", of: average("left"), write },
      { title: "B", of: average("right"), write },
    ], rows, [2, false]),
  ];
}

/** @param {number} value @param {string} unit */
function written(value, unit) {
  if (unit === "ns") return time(value);
  return unit ? `${value.toPrecision(4)} ${unit}` : Number.isInteger(value) ? count(value) : value.toPrecision(4);
}

/**
 * The way to the runs that were compared, if the store has them still: of a bench of several queries, to those of each.
 * @param {import("./types.d.ts").VerdictFacts} facts @param {import("./types.d.ts").Documents["verdict"]["document"]} document
 */
async function runs({ left_select, right_select, since, until, replicate }, document) {
  const queries = "queries" in document ? document.queries : [];
  const isOfSamples = "per" in document;
  const from = Number(since?.slice(1) ?? 0) * 1e9;
  const isThere = async (/** @type {string} */ select) => (await view("series", { select }))[isOfSamples ? "sampled" : "series"].some((one) => one.last_unix_ns >= from);
  // What is gone altogether is an error there.
  const are = await Promise.all([left_select, right_select].map((select) => isThere(select).catch(() => false)));
  if (!are.every(Boolean)) return element("p", { class: "soft" }, "The runs that were compared are not in the store any more.");
  const link = (/** @type {string | null} */ query, /** @type {string} */ title) => {
    const [left, right] = [left_select, right_select].map((select) => [select, query && `query=${query}`].filter(Boolean).join(","));
    const words = { left: left || "service=*", right: right || "service=*", since: since ?? undefined, until: until ?? undefined, replicate, ...(isOfSamples ? { type: document.type, shares: document.per === "share" ? "1" : undefined } : {}) };
    return element("a", { href: address("/compare", words) }, title);
  };
  const named = queries.map(({ query }) => query).filter((query) => query !== null);
  const links = named.length > 1 ? named.map((query) => link(query, `Compare the runs of ${query}`)) : [link(null, "Compare these runs")];
  return element("p", { class: "actions" }, ...links.flatMap((one, at) => (at ? [" · ", one] : [one])));
}

/** @param {import("./types.d.ts").VerdictFacts} facts */
const sides = ({ left, right }) => `${left} → ${right}`;

/** @param {import("./types.d.ts").VerdictFacts} facts */
const saved = ({ saved_unix_ns }) => shownTime(`@${(saved_unix_ns / 1e9).toFixed(0)}`) ?? "";

/** @param {import("./types.d.ts").VerdictFacts} facts */
const outcome = ({ outcome: word }) => element("span", { class: word === "fail" ? "worse" : "better" }, word);
