// The call paths of a selection: as a flame graph, as a call tree, from functions to their callers, or around one function.

import { CallTree } from "./calltree.js";
import { filterBar, filterButtons, filtered, filtersOf } from "./filters.js";
import { flameGraph } from "./flame.js";
import { below, around, folded, upwards } from "./paths.js";
import { go, mark } from "./place.js";
import { searchOf } from "./search.js";
import { saveAs } from "./save.js";
import { count, element, share, time } from "./text.js";
import { functionOf, insideOf, nameOf, nodeAt, pathOf } from "./tree.js";

/**
 * @typedef {import("./paths.js").PathNode} PathNode
 * @typedef {import("./types.d.ts").Words} Words
 * @typedef {import("./types.d.ts").Part} Part
 */

/** @type {Record<string, { title: string, parts: (shown: PathNode, words: Words, report: import("./types.d.ts").Listed) => Part[] }>} */
export const VIEWS = {
  flame: { title: "Flame graph", parts: flameParts },
  tree: { title: "Call tree", parts: treeParts },
  callers: { title: "Callers", parts: callersParts },
  sandwich: { title: "Sandwich", parts: sandwichParts },
};

/** Functions that are found whose callers are shown at once. */
const OPENED = 10;
/** Functions that a sandwich offers to be around. */
const OFFERED = 1000;

/**
 * The view that the words have, of the tree of a selection.
 * @param {import("./types.d.ts").Listed} report @param {Words} words @param {import("./tree.js").Node} top
 */
export function pathsPart(report, words, top) {
  const { title, parts } = VIEWS[words.view ?? ""];
  const filters = filtersOf(words);
  const shown = filtered(top, filters);
  const inside = words.root ? [element("p", {}, `Only what happens inside ${words.root}. `, element("button", { type: "button", onclick: () => go("/explore", { ...words, root: "" }) }, "Everything"))] : [];
  const nothing = shown.kids.length ? null : [element("p", {}, filters.length ? "No path is left." : "Nothing took any time.")];
  return [element("h2", {}, title), ...kinds(report, words), ...inside, ...filterBar(words, top, shown), ...(nothing ?? parts(shown, words, report))];
}

/** Which time the paths are of, as `--time` has it. */
const KINDS = [["", "all time"], ["cpu", "on a processor"], ["wait", "waiting"]];

/** @param {import("./types.d.ts").Listed} report @param {Words} words */
function kinds({ functions }, words) {
  if (!functions.some(({ wait_ns }) => wait_ns !== null)) return [];
  const kind = (/** @type {string[]} */ [time, title]) => element("button", { type: "button", "aria-pressed": String((words.time ?? "") === time), onclick: () => go("/explore", { ...words, time }) }, title);
  return [element("p", { class: "tabs", role: "group", "aria-label": "Which time" }, ...KINDS.flatMap((one) => [kind(one), " "]))];
}

/**
 * What can be done with a function that is picked.
 * @param {Words} words
 */
const actions = (words) => (/** @type {string} */ name) => [
  element("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, `More of ${name}`), " ",
  ...filterButtons(name, words),
  element("button", { type: "button", onclick: () => go("/explore", { ...words, zoom: "", view: "sandwich", function: name }) }, "Callers and callees"),
];

/** @param {Words} words */
const zooming = (words) => ({ zoom: words.zoom, onZoom: (/** @type {string} */ zoom) => mark("/explore", { ...words, zoom }) });

/** @param {PathNode} shown @param {Words} words */
function flameParts(shown, words) {
  const isUpright = Boolean(words.upright);
  const turn = (/** @type {boolean} */ to, /** @type {string} */ title) => element("button", { type: "button", "aria-pressed": String(isUpright === to), onclick: () => go("/explore", { ...words, upright: to ? "1" : "" }) }, title);
  const { figure } = flameGraph(shown, { search: searchOf(words.find), actions: actions(words), isUpright, ...zooming(words) });
  return [element("p", { class: "tabs", role: "group", "aria-label": "Where it begins" }, turn(false, "Icicle: from the top"), " ", turn(true, "Flames: from the bottom"), " ", saving(shown)), figure];
}

/** @param {PathNode} shown @param {Words} words */
function treeParts(shown, words) {
  const search = searchOf(words.find);
  const { parts, tree } = branches(shown, words, shown.total);
  tree.openHottest();
  if (search) for (const node of below(shown)) if (search.isFound(functionOf(node))) tree.openTo(node);
  tree.draw();
  const inside = search ? insideOf(shown, (node) => search.isFound(functionOf(node))) : 0;
  const found = search ? [element("p", { role: "status" }, `“${search.text}”: ${time(inside)} inside, ${share(inside, shown.total)} of all.`)] : [];
  return [...found, element("p", { class: "tabs" }, saving(shown)), ...parts];
}

/** @param {PathNode} shown @param {Words} words */
function callersParts(shown, words) {
  const search = searchOf(words.find);
  const turned = upwards(shown);
  // Of what is searched for, callers stay what they are.
  const kids = search ? turned.kids.filter((node) => search.isFound(functionOf(node))) : turned.kids;
  const self = kids.reduce((sum, node) => sum + node.total, 0);
  const found = search ? [element("p", { role: "status" }, `“${search.text}”: ${count(kids.length)} of ${count(turned.kids.length)} functions, self time ${time(self)}, ${share(self, shown.total)} of all.`)] : [];
  const { tree, parts } = branches(search ? { ...turned, kids } : turned, words, shown.total);
  if (search) for (const node of kids.slice(0, OPENED)) tree.toggle(node, true);
  return [...found, element("p", { class: "soft" }, "Functions with their own time; below each, who called it, with the part of that time."), ...parts];
}

/**
 * A call tree, with what can be done with the branch that is picked.
 * @param {PathNode} top @param {Words} words @param {number} whole
 */
function branches(top, words, whole) {
  const { zoom, onZoom } = zooming(words);
  const search = searchOf(words.find);
  const trail = element("p", { class: "trail" });
  let picked = zoom ? nodeAt(top, zoom) : null;
  const tell = () => {
    const name = picked ? functionOf(picked) : undefined;
    trail.replaceChildren(...(name ? actions(words)(name) : ["Arrows open and close branches; Enter or a click picks one."]));
  };
  const tree = new CallTree({
    name: (node) => element("span", { class: search?.isFound(functionOf(node)) ? "fn hit" : "fn", title: nameOf(node) }, nameOf(node)),
    isPicked: (node) => node === picked,
    onPick: (node) => {
      picked = node;
      tree.draw();
      tell();
      onZoom(pathOf(node));
    },
  });
  tree.show(top, whole);
  if (picked) {
    tree.openTo(picked);
    tree.draw();
    const at = picked;
    requestAnimationFrame(() => requestAnimationFrame(() => tree.reveal(at)?.scrollIntoView({ block: "nearest" })));
  }
  tell();
  return { tree, parts: [trail, element("div", { class: "tree" }, ...tree.parts)] };
}

/** @param {PathNode} shown @param {Words} words @param {import("./types.d.ts").Listed} report */
function sandwichParts(shown, words, { functions }) {
  const known = new Set(below(shown).flatMap((node) => functionOf(node) ?? []));
  const name = words.function || functions.find((row) => known.has(row.name))?.name || [...known][0];
  const input = element("input", { name: "function", value: name, list: "functions", autocomplete: "off", spellcheck: "false" });
  const form = element("form", { class: "choice", onsubmit: (event) => {
    event.preventDefault();
    go("/explore", { ...words, function: input.value.trim() });
  } }, element("label", { class: "wide" }, "Around", input), element("button", {}, "Show"),
  element("datalist", { id: "functions" }, ...[...known].slice(0, OFFERED).sort().map((value) => element("option", { value }))));
  const id = below(shown).find((node) => functionOf(node) === name)?.id;
  if (id === undefined) return [form, element("p", {}, `${name} is on none of these paths, or takes too little of the time to be told apart.`)];
  const { callers, callees } = around(shown, id);
  const how = { search: searchOf(words.find), onName: (/** @type {string} */ name) => go("/explore", { ...words, function: name }) };
  return [form,
    element("p", {}, element("b", {}, name), `: ${time(callees.total)} with what it calls, ${share(callees.total, shown.total)} of all; self ${time(callees.self)}. `,
      element("button", { type: "button", onclick: () => go("/explore", { ...words, view: "", function: name }) }, `More of ${name}`), " ", ...filterButtons(name, words)),
    element("h3", {}, "Who calls it"), flameGraph(callers, { ...how, isUpright: true, label: `Callers of ${name}` }).figure,
    element("h3", {}, "What it calls"), flameGraph(callees, { ...how, label: `Callees of ${name}` }).figure];
}

/** @param {PathNode} shown */
const saving = (shown) => element("button", { type: "button", title: "As folded stacks, which other tools read", onclick: () => saveAs("diytrace.folded", folded(shown, nameOf)) }, "Save what is seen");
