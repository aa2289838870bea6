// Call trees as the flame graph and paths.js want them, of one selection or of two.

import { view } from "./ask.js";

/** @typedef {import("./flamegraph.js").FlameNode & import("./paths.js").PathNode} Node */

/** Of no function: what stands for all, and for what is left out. */
const ALL = -1;
const LEFT_OUT = -2;

/** Functions by number, and their numbers: those of one name are one, as they are where somebody asks for them. */
const names = /** @type {string[]} */ ([]);
const numbers = /** @type {Map<string, number>} */ (new Map());

/**
 * The number of the functions of a name.
 * @param {string} name
 */
export function numberOf(name) {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, names.length);
  return names.push(name) - 1;
}

/**
 * What a node is called.
 * @param {{ id?: number, name?: string | null }} node
 */
export const nameOf = ({ id = ALL, name }) => name ?? names[id] ?? (id === LEFT_OUT ? "with less time" : "all");

/**
 * The function of a node, if it is of one.
 * @param {{ id?: number }} node
 */
export const functionOf = ({ id = ALL }) => /** @type {string | undefined} */ (names[id]);

/**
 * Whether a node stands for paths that take too little to be told apart.
 * @param {{ id?: number }} node
 */
export const isLeftOut = ({ id }) => id === LEFT_OUT;

/**
 * The names from the top to a node, for addresses.
 * @param {{ id?: number, parent: any }} node
 */
export function pathOf(node) {
  const path = [];
  for (let one = node; one?.parent; one = one.parent) path.unshift(nameOf(one));
  return path.join("\n");
}

/**
 * The node that such names lead to, as far as they do.
 * @template {{ id?: number, name?: string | null, kids: T[] }} T
 * @param {T} top @param {string | undefined} path
 */
export function nodeAt(top, path) {
  let node = top;
  for (const name of path?.split("\n") ?? []) {
    const next = node.kids.find((kid) => nameOf(kid) === name);
    if (!next) break;
    node = next;
  }
  return node;
}

/** So many call paths are asked for: those with the most time. What else there is, is told as one below each. */
const MOST = "100000";

/**
 * The call tree of a selection.
 * @param {import("./types.d.ts").Parameters} asked
 */
export const callTree = async (asked) => treeOf(await view("tree", { ...asked, names: "short", compact: "1", limit: MOST }));

/**
 * The tree of a document (`diytrace-paths/1`), below a node that stands for all.
 * @param {import("./types.d.ts").PathsDocument} document
 */
function treeOf({ functions, columns, trees: [tree] }) {
  const at = Object.fromEntries(columns.map((name, place) => [name, place]));
  const ids = functions.map(([name]) => numberOf(name));
  const top = node(null);
  /** @type {Node[]} */
  const nodes = [];
  for (const row of tree?.nodes ?? []) {
    const above = row[at.parent];
    const parent = above === null ? top : nodes[above];
    const made = node(parent, ids[Number(row[at.function])]);
    made.calls = Number(row[at.calls]);
    made.self = Number(row[at.self_ns]);
    made.total = row[at.is_recursion] ? 0 : Number(row[at.total_ns]); // what is below a recursive call is told at the outermost one
    made.error = Number(row[at.total_error_ns]);
    parent.kids.push(made);
    nodes.push(made);
  }
  for (const [parent, count, calls, total] of tree?.hidden ?? []) leftOut(parent === null ? top : nodes[parent], { count, calls, total });
  for (const key of /** @type {const} */ (["calls", "total", "error"])) top[key] = top.kids.reduce((sum, kid) => sum + kid[key], 0);
  return sorted(top);
}

/**
 * The tree of folded stacks, `outer;inner NUMBER` a line.
 * @param {string} text
 */
export function ofFolded(text) {
  const top = node(null);
  /** @type {Map<Node, Map<string, Node>>} */
  const kids = new Map();
  for (const line of text.split("\n").filter(Boolean)) {
    const at = line.lastIndexOf(" ");
    const value = Number(line.slice(at + 1));
    let one = top;
    top.total += value;
    for (const name of line.slice(0, at).split(";")) {
      const named = kids.get(one) ?? new Map();
      kids.set(one, named);
      let next = named.get(name);
      if (!next) {
        next = node(one, numberOf(name));
        named.set(name, next);
        one.kids.push(next);
      }
      next.total += value;
      one = next;
    }
    one.self += value;
  }
  return sorted(top);
}

/**
 * A tree whose numbers are those of one of so many runs.
 * @param {Node} top @param {number} runs
 */
export function ofRun(top, runs) {
  for (const one of all(top)) for (const key of /** @type {const} */ (["calls", "self", "total", "error"])) one[key] /= Math.max(runs, 1);
  return top;
}

/**
 * Two trees over each other: as wide as after, and `before` beside it; what is gone is there with no width.
 * @param {Node} before @param {Node} after
 */
export function bothOf(before, after) {
  /** @type {(parent: Node | null, one?: Node, other?: Node) => Node} */
  const merge = (parent, one, other) => {
    const made = node(parent, (other ?? one)?.id, (other ?? one)?.name);
    Object.assign(made, { calls: other?.calls ?? 0, self: other?.self ?? 0, total: other?.total ?? 0, error: other?.error ?? 0, before: one ?? node(null, made.id, made.name) });
    // What is left out is called by how much it is.
    const keyOf = (/** @type {Node} */ kid) => kid.name ?? kid.id;
    const keys = new Set([...(one?.kids ?? []), ...(other?.kids ?? [])].map((kid) => keyOf(/** @type {Node} */ (kid))));
    const of = (/** @type {Node | undefined} */ side, /** @type {string | number} */ key) => /** @type {Node | undefined} */ (side?.kids.find((kid) => keyOf(/** @type {Node} */ (kid)) === key));
    made.kids = [...keys].map((key) => merge(made, of(one, key), of(other, key)));
    return made;
  };
  return sorted(merge(null, before, after));
}

/** What inlined callers are shown for, where that is told: in no tree of a service. */
const NO_VIAS = /** @type {Set<string>} */ (new Set());

/** @param {Node | null} parent @param {string | null} [name] what is told of what is no function @returns {Node} */
function node(parent, id = ALL, name = null) {
  return { id, name, parent, depth: parent ? parent.depth + 1 : -1, kids: [], calls: 0, self: 0, total: 0, error: 0, inlined: 0, vias: NO_VIAS };
}

/** @param {Node} parent @param {{ count: number, calls: number, total: number }} hidden */
function leftOut(parent, { count, calls, total }) {
  const name = `${count.toLocaleString("en-US")} with less time`;
  parent.kids.push(Object.assign(node(parent, LEFT_OUT, name), { calls, self: total, total }));
}

/** @param {Node} top */
function sorted(top) {
  for (const one of all(top)) one.kids.sort((a, b) => b.total - a.total || b.calls - a.calls);
  return top;
}

/**
 * All nodes, each before those below it.
 * @param {Node} top
 */
export function* all(top) {
  const next = [top];
  for (let one = next.pop(); one; one = next.pop()) {
    yield one;
    next.push(...one.kids);
  }
}

/**
 * The time inside calls that are found, each moment once.
 * @template {{ total: number, kids: T[] }} T
 * @param {T} top @param {(node: T) => boolean} isFound
 */
export function insideOf(top, isFound) {
  let inside = 0;
  const next = [...top.kids];
  for (let one = next.pop(); one; one = next.pop()) {
    if (isFound(one)) inside += one.total;
    else next.push(...one.kids);
  }
  return inside;
}
