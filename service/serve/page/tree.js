// Call trees as the flame graph wants them, of one selection or of two.

/**
 * The tree of a document (`diytrace-tree/1`), below a node that stands for all.
 * @typedef {import("./flamegraph.js").FlameNode} Node
 *
 * @param {import("./types.d.ts").TreeDocument} document
 */
export function treeOf({ trees: [tree] }) {
  const top = node(null, "all");
  /** @type {Node[]} */
  const nodes = [];
  for (const one of tree?.nodes ?? []) {
    const parent = one.parent === null ? top : nodes[one.parent];
    const made = node(parent, one.name);
    // What is below a recursive call is told at the outermost one.
    Object.assign(made, { calls: one.calls, self: one.self_ns, total: one.is_recursion ? 0 : one.total_ns, error: one.total_error_ns });
    parent.kids.push(made);
    nodes.push(made);
    if (one.hidden) leftOut(made, one.hidden);
  }
  if (tree?.hidden) leftOut(top, tree.hidden);
  for (const key of /** @type {const} */ (["calls", "total", "error"])) top[key] = top.kids.reduce((sum, kid) => sum + kid[key], 0);
  return sorted(top);
}

/**
 * The tree of folded stacks, `outer;inner NUMBER` a line.
 * @param {string} text
 */
export function ofFolded(text) {
  const top = node(null, "all");
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
        next = node(one, name);
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
    const made = node(parent, (other ?? one)?.name ?? null);
    Object.assign(made, { calls: other?.calls ?? 0, self: other?.self ?? 0, total: other?.total ?? 0, error: other?.error ?? 0, before: one ?? node(null, made.name ?? null) });
    const names = new Set([...(one?.kids ?? []), ...(other?.kids ?? [])].map((kid) => kid.name));
    const of = (/** @type {Node | undefined} */ side, /** @type {string | null | undefined} */ name) => side?.kids.find((kid) => kid.name === name);
    made.kids = [...names].map((name) => merge(made, of(one, name), of(other, name)));
    return made;
  };
  return sorted(merge(null, before, after));
}

/** @param {Node | null} parent @param {string | null} name @returns {Node} */
function node(parent, name) {
  return { name, parent, depth: parent ? parent.depth + 1 : 0, kids: [], calls: 0, self: 0, total: 0, error: 0 };
}

/** @param {Node} parent @param {import("./types.d.ts").Hidden} hidden */
function leftOut(parent, { nodes, calls, total_ns }) {
  const name = `${nodes.toLocaleString("en-US")} with less time`;
  parent.kids.push(Object.assign(node(parent, name), { calls, total: total_ns, isLeftOut: true }));
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
 * @param {Node} top @param {(node: Node) => boolean | null} isFound
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
