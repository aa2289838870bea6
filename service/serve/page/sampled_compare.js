// Two selections of sampled profiles: which functions changed, whether the profiles suffice to tell, and where in the stacks.

import { PER, writer, writerOf } from "./amount.js";
import { ask, path } from "./ask.js";
import { flame } from "./flame.js";
import { address, go } from "./place.js";
import { breakable, table } from "./table.js";
import { count, counted, element } from "./text.js";
import { all, bothOf, ofFolded } from "./tree.js";

/** How many standard deviations hold 95%. */
const OF_95 = 1.96;
const RUNS = { profile: ["profile", "profiles"], host: ["host", "hosts"] };

/** @param {import("./types.d.ts").SampledComparison} document @param {import("./types.d.ts").Words} words */
export async function sampledParts(document, words) {
  const after = { select: words.right, type: document.type, since: words.since, until: words.until };
  return [...sampledVerdict(document, after), ...(await picture(document, words, after))];
}

/**
 * What a comparison says of the functions; names lead to their history in `after`, if that is still there.
 * @param {import("./types.d.ts").SampledComparison} document @param {import("./types.d.ts").Words} [after]
 */
export function sampledVerdict(document, after) {
  const { functions, left, right, replicates, options, total, warnings } = document;
  const { suffice } = replicates;
  const write = writerOf(document);
  const [one, many] = RUNS[replicates.of];
  const isBeyond = (/** @type {import("./types.d.ts").SampledRow} */ row) => (suffice ? row.verdict === "changed" : (row.sampling?.p_adjusted ?? 1) <= options.level);
  const beyond = functions.filter(isBeyond);
  const names = beyond.slice(0, 3).map((row) => `${row.name} ${part(row.flat)}`).join(", ");
  const found = `${beyond.length ? `: ${names}${beyond.length > 3 ? " …" : ""}` : ""}.`;
  const what = suffice ? (beyond.length ? `${counted(beyond.length, "function", "functions")} changed${found}` : "No function changed.")
    : `No function can be called changed${left.samples === null || right.samples === null ? "." : beyond.length ? `; ${counted(beyond.length, "function differs", "functions differ")} by more than the sampling error${found}` : "; none differs by more than its sampling error."}`;
  const runs = ` ${counted(left.runs, one, many)} before, ${counted(right.runs, one, many)} after, each a run: ${suffice ? "enough to tell" : "too few to tell"}.`;
  const together = total ? ` All together ${write(total.values.left_median)} → ${write(total.values.right_median)}.` : "";
  const said = (/** @type {import("./types.d.ts").SampledRow} */ row) => (suffice ? row.verdict.replaceAll("-", " ") : row.sampling?.p_adjusted == null ? "cannot tell" : isBeyond(row) ? "more than its sampling error" : "within its sampling error");
  const tone = (/** @type {import("./types.d.ts").SampledRow} */ row) => (!isBeyond(row) ? null : row.flat.right_median > row.flat.left_median ? "worse" : "better");
  const difference = (/** @type {import("./types.d.ts").SampledRow} */ row) => row.flat.right_median - row.flat.left_median;
  const off = (/** @type {import("./types.d.ts").SampledRow} */ row) => (suffice ? row.flat.plus_minus === null ? null : row.flat.plus_minus * row.flat.left_median : row.sampling?.plus_minus ?? null);
  const p = (/** @type {import("./types.d.ts").SampledRow} */ row) => (suffice ? row.flat.p_adjusted : row.sampling?.p_adjusted ?? null);
  return [
    element("p", { role: "status" }, what, runs, together),
    ...warnings.map((warning) => element("p", { class: "soft" }, warning)),
    element("p", { class: "soft" }, `${document.type}, ${PER[document.per]}; flat is what was sampled in a function, cum in it and all that it called.`),
    table("compared functions", [
      { title: "function", of: (row) => row.name, write: (name) => (after ? element("a", { href: address("/history", { ...after, function: name }) }, ...breakable(name)) : element("span", {}, ...breakable(name))), isName: true },
      { title: "verdict", of: said, write: (text, row) => element("span", { class: tone(row) }, text) },
      { title: "flat before", of: (row) => row.flat.left_median, write },
      { title: "flat after", of: (row) => row.flat.right_median, write },
      { title: "difference", of: (row) => Math.abs(difference(row)), write: (_, row) => `${difference(row) > 0 ? "+" : ""}${write(difference(row))}${part(row.flat) && `, ${part(row.flat)}`}` },
      { title: "±", of: off, write: (value) => (value === null ? "" : write(value)), help: suffice ? "how far off the difference may be, as the runs say" : "how far off the difference may be for sampling, in 95% of all cases" },
      { title: "cum before", of: (row) => row.cum.left_median, write },
      { title: "cum after", of: (row) => row.cum.right_median, write },
      { title: "p", of: p, write: (value) => (value === null ? "" : value.toPrecision(2)), help: `adjusted for ${counted(replicates.tests, "function", "functions")}` },
    ], functions, [4, true]),
  ];
}

/**
 * Both over each other: before as if it were of as many seconds, profiles or samples as after.
 * @param {import("./types.d.ts").SampledComparison} document @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Words} after
 */
async function picture(document, words, after) {
  const asked = { left: words.left, right: words.right, since: words.since, until: words.until, type: document.type, shares: document.per === "share" ? "1" : undefined };
  const lines = (await (await ask(path("/v1/compare/folded", asked))).text()).split("\n").filter(Boolean);
  const side = (/** @type {2 | 1} */ behind) => ofFolded(lines.map((line) => {
    const parts = line.split(" ");
    return `${parts.slice(0, -2).join(" ")} ${parts.at(-behind)}`;
  }).join("\n"));
  const sides = [side(2), side(1)];
  for (const [at, { samples, total, scale }] of [document.left, document.right].entries()) {
    // What a sample adds, and so how far off sums of them may be.
    const one = samples ? (total / samples) * scale : 0;
    for (const node of all(sides[at])) node.error = OF_95 * Math.sqrt(node.total * one);
  }
  const write = writer(document.unit);
  const [older, newer] = sides;
  return [
    element("h2", {}, "Both over each other"),
    element("p", { class: "soft" }, `Widths are values after (${write(newer.total)}); those before (${write(older.total)}) are as if of as ${{ second: "many seconds", profile: "many profiles", share: "much" }[document.per]}. Red takes more than before, blue less; grey differs by no more than ${document.right.samples === null ? "2%" : "its sampling error"}.`),
    flame(bothOf(older, newer), { isDifference: true, write, actions: (name) => [element("button", { type: "button", onclick: () => go("/history", { ...after, function: name }) }, `More of ${name}`)] }),
  ];
}

/**
 * A difference as a part of what was before.
 * @param {{ difference: number | null, right_median: number }} values
 */
const part = ({ difference, right_median }) => (difference === null ? (right_median > 0 ? "new" : "") : `${difference < 0 ? "−" : "+"}${count(Math.round(Math.abs(100 * difference)))}%`);
