// What is chosen: labels, time, and whatever else a page asks.

import { view } from "./ask.js";
import { go, shownTime } from "./place.js";
import { element } from "./text.js";

const AGES = [["", "all time"], ["5m", "last 5 minutes"], ["1h", "last hour"], ["1d", "last day"], ["7d", "last 7 days"]];

/**
 * A form of fields `{ name, title, hint }` or `{ name, title, options }`, and the time; labels complete those that `isLabels` is said of.
 * @param {string} path @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Field[]} fields
 */
export function choice(path, words, fields) {
  const form = element("form", { class: "choice" });
  for (const { name, title, hint, isLabels, options } of fields) {
    const field = options
      ? element("select", { name, onchange: () => form.requestSubmit() }, ...options.map(([value, text]) => option(value, text, words[name] ?? options[0][0])))
      : element("input", { name, value: words[name] || "", placeholder: hint, spellcheck: "false", autocomplete: "off", list: isLabels ? "labels" : null });
    form.append(element("label", { class: options ? null : "wide" }, title, field));
  }
  form.append(element("label", {}, "Time", ages(form, words)));
  form.append(element("button", {}, "Show"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = /** @type {import("./types.d.ts").Words} */ (Object.fromEntries(new FormData(form)));
    // A range of moments stays until an age is chosen.
    if (chosen.since === "range") Object.assign(chosen, { since: words.since, until: words.until });
    else chosen.until = "";
    go(path, { ...words, ...chosen });
  });
  return form;
}

/** @param {HTMLFormElement} form @param {import("./types.d.ts").Words} words */
function ages(form, words) {
  const isRange = words.until || (words.since && !AGES.some(([age]) => age === words.since));
  const range = isRange ? [["range", `${shownTime(words.since) ?? "…"} – ${shownTime(words.until) ?? "now"}`]] : [];
  const chosen = isRange ? "range" : words.since || "";
  return element("select", { name: "since", onchange: () => form.requestSubmit() }, ...[...range, ...AGES].map(([value, text]) => option(value, text, chosen)));
}

/** @param {string} value @param {string} text @param {string} chosen */
function option(value, text, chosen) {
  return element("option", { value, selected: value === chosen }, text);
}

/** All labels that there are, for fields to complete. */
export async function labels() {
  const { series, sampled } = await view("series");
  const all = new Set();
  for (const one of [...series, ...sampled]) for (const [name, value] of Object.entries(one.labels)) all.add(`${name}=${value}`);
  return element("datalist", { id: "labels" }, ...[...all].sort().map((value) => element("option", { value })));
}

/**
 * The fields that choose between recordings and a type of samples, where there are both or several types; and whether values are shares.
 * @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Documents["series"]} there @returns {import("./types.d.ts").Field[]}
 */
export function kinds({ type }, { series, sampled }) {
  const types = [...new Set(sampled.flatMap((one) => one.types.map((of) => of.type)))].sort();
  if (!types.length) return [];
  const first = /** @type {[string, string]} */ (["", series.length ? "recordings: calls, counted" : "as they show"]);
  const options = [first, ...types.map((name) => /** @type {[string, string]} */ ([name, `samples: ${name}`]))];
  return [
    { name: "type", title: "Of", options },
    ...(type || !series.length ? [{ name: "shares", title: "Values", options: /** @type {[string, string][]} */ ([["", "as they are"], ["1", "as shares"]]) }] : []),
  ];
}
