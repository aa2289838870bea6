// Which call paths are looked at: those that some functions are on, and without those of others. What is chosen stands in the address, the latest
// last, so that it can be taken back, sent and come back to.

import { go } from "./place.js";
import { below, filteredTree } from "./paths.js";
import { element, share, time } from "./text.js";
import { isLeftOut, numberOf } from "./tree.js";

/** @typedef {{ name: string, isKept: boolean }} Filter */

const ONLY = "only ";
const WITHOUT = "without ";

/**
 * @param {import("./types.d.ts").Words} words
 * @returns {Filter[]}
 */
export function filtersOf({ paths }) {
  const lines = (paths ?? "").split("\n");
  const of = (/** @type {string} */ word, /** @type {boolean} */ isKept) => (/** @type {string} */ line) => (line.startsWith(word) ? [{ name: line.slice(word.length), isKept }] : []);
  return lines.flatMap((line) => [...of(ONLY, true)(line), ...of(WITHOUT, false)(line)]);
}

/** @param {Filter[]} filters */
const written = (filters) => filters.map(({ name, isKept }) => `${isKept ? ONLY : WITHOUT}${name}`).join("\n");

/**
 * The tree as it is looked at.
 * @param {import("./tree.js").Node} top @param {Filter[]} filters
 * @returns {import("./paths.js").PathNode}
 */
export const filtered = (top, filters) => (filters.length ? filteredTree(top, filters.map(({ name, isKept }) => ({ id: numberOf(name), isKept }))) : top);

/**
 * Buttons that filter by a function.
 * @param {string} name @param {import("./types.d.ts").Words} words
 */
export function filterButtons(name, words) {
  const to = (/** @type {boolean} */ isKept) => () => go("/explore", { ...words, zoom: "", function: "", paths: written([...filtersOf(words), { name, isKept }]) });
  return [element("button", { type: "button", onclick: to(true) }, "Only paths with it"), " ", element("button", { type: "button", onclick: to(false) }, "Without it"), " "];
}

/**
 * What is filtered, how much that leaves, and the way back.
 * @param {import("./types.d.ts").Words} words @param {import("./tree.js").Node} all @param {{ total: number }} left
 */
export function filterBar(words, all, left) {
  const filters = filtersOf(words);
  if (!filters.length) return [];
  const chips = filters.flatMap(({ name, isKept }) => [element("span", { class: "chip" }, `${isKept ? ONLY : WITHOUT}${name}`), " "]);
  const to = (/** @type {Filter[]} */ filters) => () => go("/explore", { ...words, zoom: "", paths: written(filters) });
  const undo = element("button", { type: "button", onclick: to(filters.slice(0, -1)) }, "Undo");
  const none = filters.length > 1 ? [" ", element("button", { type: "button", onclick: to([]) }, "All paths")] : [];
  const parts = [element("p", { class: "filters", role: "status" }, "Paths: ", ...chips, `${time(left.total)} of ${time(all.total)}, ${share(left.total, all.total)} of all. `, undo, ...none)];
  const leftOut = below(all).reduce((sum, node) => sum + (isLeftOut(node) ? node.total : 0), 0);
  if (leftOut > 0) parts.push(element("p", { class: "soft" }, `${time(leftOut)} was spent in paths that take too little each to be told apart here: they are kept or left out with what they were called by.`));
  return parts;
}
