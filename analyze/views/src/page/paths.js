// Trees of call paths as one looks at them: without paths that were filtered out, from functions to their callers, around one function.
// No tree is changed: each way of looking makes one of its own.

/**
 * @typedef {object} PathNode
 * @property {number} id of its function; below 0: of none
 * @property {PathNode | null} parent
 * @property {PathNode[]} kids the most time first
 * @property {number} depth
 * @property {number} calls
 * @property {number} self
 * @property {number} total
 * @property {number} error
 * @property {number} [was] of a comparison: the total before
 * @property {number} inlined
 * @property {Set<string>} vias
 * @property {boolean} [isCut] whether something of it or below it was filtered out
 *
 * @typedef { { id: number, isKept: boolean } } Filter a function that paths must have, or must not have
 * @typedef { { at: PathNode, total: number, was: number, calls: number } } Entry a part of a path's time, seen from one of its functions
 */

/** How trees can be looked at, what that is called, and what it means. */
export const WAYS = [
  ["down", "From the top", "Who calls whom, from where recording began"],
  ["up", "From functions", "Who takes the time, and by whom that was called"],
  ["around", "Around one", "The selected function: its callers above, what it calls below"],
];

/**
 * The most time first; what else there is to tell them apart by, so that the order is the same each time.
 * @param {PathNode} a @param {PathNode} b
 */
export function byTime(a, b) {
  return b.total - a.total || b.calls - a.calls || a.id - b.id;
}

/**
 * Every node below one, each after the one that it was called by.
 * @param {PathNode} top
 */
export function below(top) {
  const all = [...top.kids];
  for (let at = 0; at < all.length; at++) for (const kid of all[at].kids) all.push(kid);
  return all;
}

/**
 * The paths that all functions are on that were filtered in, and none that was filtered out. Those that lead there stay, without time of
 * their own where they lack one.
 * @param {PathNode} top @param {Filter[]} filters @returns {PathNode}
 */
export function filteredTree(top, filters) {
  const kept = [...new Set(filters.filter(({ isKept }) => isKept).map(({ id }) => id))];
  const out = new Set(filters.filter(({ isKept }) => !isKept).map(({ id }) => id));
  const leads = kept.length ? leading(top, kept[0]) : null;
  const copied = copyOf(top, null, kept.length === 0);
  // In step: a node, its copy, and what is still to be met on the way down from it.
  const nodes = [top], copies = [copied], missing = [kept];
  for (let at = 0; at < nodes.length; at++) {
    const copy = copies[at];
    for (const kid of nodes[at].kids) {
      let missed = missing[at];
      if (missed.includes(kid.id)) missed = missed.filter((id) => id !== kid.id);
      if (out.has(kid.id) || (missed.length && missed[0] === kept[0] && !leads?.has(kid))) {
        copy.isCut = true;
        continue;
      }
      nodes.push(kid);
      copies.push(copyOf(kid, copy, missed.length === 0));
      missing.push(missed);
    }
  }
  // What was found later lies below: from the end, everything is complete before it is added to what lies above.
  for (let at = nodes.length - 1; at >= 0; at--) {
    const copy = copies[at];
    copy.kids.sort(byTime);
    copy.total += copy.self;
    const above = copy.parent;
    if (!above) continue;
    above.isCut ||= copy.isCut;
    if (missing[at].length && !copy.kids.length) continue;
    above.kids.push(copy);
    above.total += copy.total;
    above.error += copy.error;
    above.was = (above.was ?? 0) + (copy.was ?? 0);
  }
  return copied;
}

/**
 * A node with what is its own; what it called is added when that is known.
 * @param {PathNode} node @param {PathNode | null} parent @param {boolean} isThere @returns {PathNode}
 */
function copyOf({ id, depth, calls, self, inlined, vias, kids, error, was = 0 }, parent, isThere) {
  for (const kid of kids) error -= kid.error, was -= kid.was ?? 0;
  return { id, depth, calls, inlined, vias, parent, kids: [], self: isThere ? self : 0, total: 0,
    error: isThere ? Math.max(error, 0) : 0, was: isThere ? was : 0, isCut: !isThere };
}

/**
 * The nodes of a function, and all that lead to them.
 * @param {PathNode} top @param {number} id
 */
function leading(top, id) {
  const all = /** @type {Set<PathNode>} */ (new Set());
  for (const node of below(top)) {
    if (node.id !== id) continue;
    for (let above = /** @type {PathNode | null} */ (node); above && !all.has(above); above = above.parent) all.add(above);
  }
  return all;
}

/** Groups are made when they are looked at: of thousands of functions most never are. */
class Grouped {
  /** @param {number} id @param {PathNode | null} parent */
  constructor(id, parent) {
    this.id = id;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
    this.inlined = 0;
    this.vias = /** @type {Set<string>} */ (new Set());
    this.made = /** @type {PathNode[] | null} */ (null);
  }

  /** @returns {PathNode[]} */
  get kids() {
    this.made ??= this.group().sort(byTime);
    return this.made;
  }

  /** @returns {PathNode[]} */
  group() {
    return [];
  }
}

/** Calls of a function by the same callers, with a part of each one's time. */
class Above extends Grouped {
  /** @param {number} id @param {Entry[]} entries @param {PathNode | null} parent */
  constructor(id, entries, parent = null) {
    super(id, parent);
    this.entries = entries;
    this.total = sum(entries, ({ total }) => total);
    this.was = sum(entries, ({ was }) => was);
    this.calls = sum(entries, ({ calls }) => calls);
    this.self = parent && parent.id >= 0 ? 0 : this.total;
    this.error = 0;
  }

  group() {
    const called = this.entries.flatMap((entry) => (entry.at.parent && entry.at.parent.id >= 0 ? [{ ...entry, at: entry.at.parent }] : []));
    return groups(called, ({ at }) => at.id).map(([id, entries]) => new Above(id, entries, this));
  }
}

/** Calls of a function with all that they call, as one. */
class Below extends Grouped {
  /** @param {number} id @param {PathNode[]} nodes @param {PathNode | null} parent */
  constructor(id, nodes, parent = null) {
    super(id, parent);
    this.nodes = nodes;
    this.total = sum(nodes, ({ total }) => total);
    this.was = sum(nodes, ({ was }) => was ?? 0);
    this.self = sum(nodes, ({ self }) => self);
    this.calls = sum(nodes, ({ calls }) => calls);
    this.error = sum(nodes, ({ error }) => error);
    this.inlined = sum(nodes, ({ inlined }) => inlined);
  }

  group() {
    return groups(this.nodes.flatMap((node) => node.kids), (node) => node.id).map(([id, nodes]) => new Below(id, nodes, this));
  }
}

/**
 * Functions with their own time, and below each of them its callers.
 * @param {PathNode} top @returns {PathNode}
 */
export function upwards(top) {
  const entries = below(top).map((at) => ({ at, total: at.self, calls: at.calls, was: sum(at.kids, (kid) => -(kid.was ?? 0)) + (at.was ?? 0) }));
  const some = entries.filter(({ total, was, calls }) => total > 0 || was > 0 || calls > 0);
  /** @type {PathNode} */
  const turned = { ...top, self: 0, parent: null, depth: -1, kids: [] };
  turned.kids = groups(some, ({ at }) => at.id).map(([id, all]) => new Above(id, all, turned)).sort(byTime);
  return turned;
}

/**
 * A function in all places: its callers, and what it calls. Calls inside other calls of it are a part of those.
 * @param {PathNode} top @param {number} id
 */
export function around(top, id) {
  const found = outermost(top, (node) => node.id === id);
  return {
    callers: /** @type {PathNode} */ (new Above(id, found.map((at) => ({ at, total: at.total, was: at.was ?? 0, calls: at.calls })))),
    callees: /** @type {PathNode} */ (new Below(id, found)),
  };
}

/**
 * Nodes that are looked for, without those inside others of them.
 * @param {PathNode} top @param {(node: PathNode) => boolean} isFound
 */
export function outermost(top, isFound) {
  const found = [];
  const next = [...top.kids];
  for (let node = next.pop(); node; node = next.pop()) {
    if (isFound(node)) found.push(node);
    else for (const kid of node.kids) next.push(kid);
  }
  return found;
}

/**
 * Folded stacks: a line for each path with time of its own.
 * @param {PathNode} top @param {(node: PathNode) => string} label
 */
export function folded(top, label) {
  const lines = [];
  const next = [{ node: top, above: "" }];
  for (let one = next.pop(); one; one = next.pop()) {
    const { node, above } = one;
    const stack = node.id < 0 ? above : above + (above && ";") + label(node).replaceAll(";", ":");
    const own = Math.round(node.total - sum(node.kids, ({ total }) => total));
    if (stack && own > 0) lines.push(`${stack} ${own}`);
    for (const kid of node.kids) next.push({ node: kid, above: stack });
  }
  return `${lines.sort().join("\n")}\n`;
}

/**
 * What a tree's functions add up to: their calls, and times with a recursion's outermost calls alone.
 * @param {PathNode} tree
 */
export function sumsOf(tree) {
  const sums = /** @type {Map<number, { calls: number, self: number, own_error: number, total: number, error: number, isCut: boolean }>} */ (new Map());
  for (const node of below(tree)) {
    let sum = sums.get(node.id);
    if (!sum) sums.set(node.id, sum = { calls: 0, self: 0, own_error: 0, total: 0, error: 0, isCut: false });
    sum.calls += node.calls;
    sum.self += node.self;
    let own = node.error;
    for (const kid of node.kids) own -= kid.error;
    sum.own_error += Math.max(own, 0);
    sum.isCut ||= node.isCut ?? false;
    let above = node.parent;
    while (above && above.id !== node.id) above = above.parent;
    if (!above) sum.total += node.total, sum.error += node.error;
  }
  return sums;
}

/**
 * @template T
 * @param {T[]} all @param {(one: T) => number} value
 */
function sum(all, value) {
  let sum = 0;
  for (const one of all) sum += value(one);
  return sum;
}

/**
 * @template T
 * @param {T[]} all @param {(one: T) => number} keyOf
 */
function groups(all, keyOf) {
  /** @type {Map<number, T[]>} */
  const map = new Map();
  for (const one of all) {
    const key = keyOf(one);
    const group = map.get(key);
    if (group) group.push(one);
    else map.set(key, [one]);
  }
  return [...map];
}
