// The data: what was written into the page, and the trees made of it.

const page = JSON.parse(document.getElementById("data").textContent);

const functions = page.functions.map(([label, module, file, line]) => ({ label, module, file, line }));

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
    ...(spread && { mean: spread[0], min: spread[1], p50: spread[2], p90: spread[3], p99: spread[4], p999: spread[5], max: spread[6] }),
  }));
  part.byFunction ??= new Map(part.rows.map((row) => [row.id, row]));
  part.tree ??= treeOf(part);
  return part;
}

/** The tree of functions: calls of one function from several lines of another are one node. */
function treeOf(part) {
  const { parent, function: ids, calls, own, error, inlined, via } = part.paths;
  const top = { id: -1, calls: 0, self: 0, total: 0, error: 0, parent: null, depth: -1, inlined: 0, vias: new Set(), kids: [], known: new Map() };
  const nodes = new Array(parent.length);
  for (let path = 0; path < parent.length; path++) {
    const above = parent[path] < 0 ? top : nodes[parent[path]];
    let node = above.known.get(ids[path]);
    if (!node) {
      node = { id: ids[path], calls: 0, self: 0, total: 0, error: 0, parent: above, depth: above.depth + 1, inlined: 0, vias: new Set(), kids: [], known: new Map() };
      above.known.set(ids[path], node);
      above.kids.push(node);
    }
    node.calls += calls[path];
    node.self += own[path];
    node.error += error[path];
    if (inlined[path]) node.inlined += calls[path];
    if (via[path]) node.vias.add(page.vias[via[path] - 1]);
    nodes[path] = node;
  }
  const all = [];
  const next = [top];
  while (next.length) {
    const node = next.pop();
    all.push(node);
    next.push(...node.kids);
  }
  // What was found later lies below: from the end, every total is complete before it is added to the one above.
  for (const node of all.reverse()) {
    node.total += node.self;
    if (node.parent) node.parent.total += node.total;
    node.kids.sort((a, b) => b.total - a.total || b.calls - a.calls || a.id - b.id);
  }
  top.calls = part.calls;
  return top;
}

/** Who calls a function and what it calls, with calls and time; of calls inside each other the outermost has the time. */
function neighbours(part, id) {
  part.neighbours ??= new Map();
  if (part.neighbours.has(id)) return part.neighbours.get(id);
  const callers = new Map();
  const callees = new Map();
  const add = (map, key, node, isOutermost) => {
    const sum = map.get(key) ?? { id: key, calls: 0, total: 0, error: 0 };
    sum.calls += node.calls;
    if (isOutermost) sum.total += node.total, sum.error += node.error;
    map.set(key, sum);
  };
  const next = [...part.tree.kids].map((node) => [node, new Set()]);
  while (next.length) {
    const [node, open] = next.pop();
    const edge = `${node.parent.id}>${node.id}`;
    const touches = node.id === id || node.parent.id === id;
    if (node.id === id) add(callers, node.parent.id, node, !open.has(edge));
    if (node.parent.id === id) add(callees, node.id, node, !open.has(edge));
    const below = touches && !open.has(edge) ? new Set(open).add(edge) : open;
    for (const kid of node.kids) next.push([kid, below]);
  }
  const sorted = (map) => [...map.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
  const found = { callers: sorted(callers), callees: sorted(callees) };
  part.neighbours.set(id, found);
  return found;
}
