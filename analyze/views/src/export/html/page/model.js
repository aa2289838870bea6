// The data: what was written into the page, and the trees made of it.

const page = JSON.parse(document.getElementById("data").textContent);

const functions = page.functions.map(([label, module, file, line], id) => ({ id, label, module, file, line, small: label.toLowerCase() }));

/** Where each function is in the order of names: comparing numbers is quicker. */
const ranks = (() => {
  let ranks = null;
  return () => {
    if (ranks) return ranks;
    ranks = new Int32Array(functions.length);
    const { compare } = new Intl.Collator();
    functions.toSorted((a, b) => compare(a.label, b.label)).forEach(({ id }, rank) => { ranks[id] = rank; });
    return ranks;
  };
})();

/** Where a function is written, for people. */
function place(id) {
  const { module, file, line } = functions[id];
  const where = file ? `${file.split("/").pop()}:${line}` : "";
  const home = page.modules.length > 1 && module !== null ? page.modules[module] : "";
  return [where, home].filter(Boolean).join(" · ");
}

/** What a part has, made when it is first shown. */
function partOf(number) {
  const part = page.parts[number];
  part.rows ??= part.sums.map(([id, calls, self, own_error, total, error, spread]) => ({
    id, calls, self, own_error, total, error, label: functions[id].label,
    // Of a call: for its own hooks, or for those of the calls inside it.
    call_error: Math.max(part.call_error, error / Math.max(calls, 1)),
    ...(spread && { mean: spread[0], min: spread[1], p50: spread[2], p90: spread[3], p99: spread[4], p999: spread[5], max: spread[6] }),
  }));
  part.byFunction ??= new Map(part.rows.map((row) => [row.id, row]));
  return part;
}

/** The tree of a part's functions, made when something needs it. */
function treeOf(part) {
  part.tree ??= madeTree(part);
  return part.tree;
}

const NO_VIAS = new Set();

/** Calls of one function from several lines of another are one node. */
function madeTree(part) {
  const { parent, function: ids, calls, own, error, inlined, via } = part.paths;
  const node = (id, parent) => ({ id, calls: 0, self: 0, total: 0, error: 0, parent, depth: parent ? parent.depth + 1 : -1, inlined: 0, vias: NO_VIAS, kids: [] });
  const top = node(-1, null);
  const nodes = new Array(parent.length);
  const numbers = new Int32Array(parent.length); // of a path's node among all
  const all = [];
  const known = new Map();
  part.nodes = functions.map(() => []);
  for (let path = 0; path < parent.length; path++) {
    const above = parent[path] < 0 ? top : nodes[parent[path]];
    const key = (parent[path] < 0 ? 0 : numbers[parent[path]] + 1) * functions.length + ids[path];
    let number = known.get(key);
    if (number === undefined) {
      number = all.length;
      known.set(key, number);
      all.push(node(ids[path], above));
      above.kids.push(all[number]);
      part.nodes[ids[path]].push(all[number]);
    }
    const here = all[number];
    here.calls += calls[path];
    here.self += own[path];
    here.error += error[path];
    if (inlined[path]) here.inlined += calls[path];
    if (via[path]) {
      if (here.vias === NO_VIAS) here.vias = new Set();
      here.vias.add(page.vias[via[path] - 1]);
    }
    nodes[path] = here;
    numbers[path] = number;
  }
  // What was met later lies below or beside: from the end, every total is complete before it is added to the one above.
  for (let number = all.length - 1; number >= 0; number--) {
    const here = all[number];
    here.total += here.self;
    here.parent.total += here.total;
    here.kids.sort(byTime);
  }
  top.kids.sort(byTime);
  top.calls = part.calls;
  return top;
}

/** Whether a node has one above it, up to the top, of which that is so. */
function hasAbove(node, isIt) {
  for (let above = node.parent; above; above = above.parent) if (isIt(above)) return true;
  return false;
}

/** Who calls a function and what it calls, with calls and time; of calls inside each other the outermost has the time. */
function neighbours(sight, id) {
  const callers = new Map();
  const callees = new Map();
  const add = (map, key, node) => {
    const sum = map.get(key) ?? { id: key, calls: 0, total: 0, error: 0 };
    sum.calls += node.calls;
    const isInside = hasAbove(node, (above) => above.id === node.id && above.parent.id === node.parent.id);
    if (!isInside) sum.total += node.total, sum.error += node.error;
    map.set(key, sum);
  };
  for (const node of nodesOf(sight, id)) {
    add(callers, node.parent.id, node);
    for (const kid of node.kids) add(callees, kid.id, kid);
  }
  const sorted = (map) => [...map.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
  return { callers: sorted(callers), callees: sorted(callees) };
}

/** A function's nodes in the tree. */
function nodesOf(sight, id) {
  if (!sight.nodes) {
    sight.nodes = functions.map(() => []);
    for (const node of below(treeOf(sight))) sight.nodes[node.id].push(node);
  }
  return sight.nodes[id];
}
