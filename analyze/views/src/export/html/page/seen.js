// What of a part is seen in trees: paths that were filtered in or out, and from where one looks at them.

const WAYS = [
  ["down", "From the top", "Who calls whom, from where recording began"],
  ["up", "From functions", "Who takes the time, and by whom that was called"],
  ["around", "Around one", "The selected function: its callers above, what it calls below"],
];

/** Filters, the latest last; which way one looks; and the trees that were made of that. */
const seen = { filters: [], way: "down", made: new Map() };

/** The tree of what is seen of a part; of one function, what it calls. */
function seenTree(part) {
  if (seen.way === "around" && part.byFunction.has(state.selected)) return once(`below ${state.selected}`, () => new Below(state.selected, outermost(part, state.selected)));
  return seen.way === "up" ? once("up", () => upwards(filtered(part))) : filtered(part);
}

/** Around one function: those that call it. */
function callersTree(part) {
  if (seen.way !== "around" || !part.byFunction.has(state.selected)) return null;
  const entries = () => outermost(part, state.selected).map((node) => ({ at: node, total: node.total, calls: node.calls }));
  return once(`above ${state.selected}`, () => new Above(state.selected, entries()));
}

/** What was made before is the same, so that what was zoomed into and opened stays. */
function once(what, make) {
  const key = `${state.part} ${what} ${seen.filters.map(({ id, isKept }) => `${isKept ? "+" : "-"}${id}`).join(" ")}`;
  if (!seen.made.has(key)) seen.made.set(key, make());
  return seen.made.get(key);
}

/** The paths that all functions are on that were filtered in, and none that was filtered out. */
function filtered(part) {
  return seen.filters.length ? once("down", () => copied(part.tree)) : part.tree;
}

function copied(tree) {
  const kept = [...new Set(seen.filters.filter(({ isKept }) => isKept).map(({ id }) => id))];
  const out = new Set(seen.filters.filter(({ isKept }) => !isKept).map(({ id }) => id));
  const top = { ...tree, self: 0, total: 0, kids: [], isThere: true };
  const all = [];
  const next = [[tree, top, new Set()]];
  while (next.length) {
    const [node, copy, met] = next.pop();
    all.push(copy);
    for (const kid of node.kids) {
      if (out.has(kid.id)) continue;
      const metHere = kept.includes(kid.id) && !met.has(kid.id) ? new Set(met).add(kid.id) : met;
      const isThere = metHere.size === kept.length;
      const below = { ...kid, self: isThere ? kid.self : 0, total: 0, kids: [], parent: copy, isThere };
      copy.kids.push(below);
      next.push([kid, below, metHere]);
    }
  }
  for (const node of all.reverse()) {
    node.kids = node.kids.filter((kid) => kid.isThere).sort((a, b) => b.total - a.total || b.calls - a.calls || a.id - b.id);
    node.isThere ||= node.kids.length > 0;
    node.total = node.kids.reduce((sum, kid) => sum + kid.total, node.self);
  }
  return top;
}

/** Groups are made when they are looked at: of thousands of functions most never are. */
class Grouped {
  constructor(id, parent) {
    Object.assign(this, { id, parent, depth: parent ? parent.depth + 1 : 0, inlined: 0, vias: new Set(), made: null });
  }

  get kids() {
    this.made ??= this.group().sort((a, b) => b.total - a.total || b.calls - a.calls || a.id - b.id);
    return this.made;
  }
}

/** Calls of a function by the same callers, with a part of each one's time. */
class Above extends Grouped {
  constructor(id, entries, parent = null) {
    super(id, parent);
    this.entries = entries;
    this.total = entries.reduce((sum, entry) => sum + entry.total, 0);
    this.calls = entries.reduce((sum, entry) => sum + entry.calls, 0);
    this.self = parent && parent.id >= 0 ? 0 : this.total;
    this.error = 0;
  }

  group() {
    const called = this.entries.filter(({ at }) => at.parent && at.parent.id >= 0);
    return groups(called.map((entry) => ({ ...entry, at: entry.at.parent })), ({ at }) => at.id).map(([id, entries]) => new Above(id, entries, this));
  }
}

/** Functions with their own time, and below each of them its callers. */
function upwards(tree) {
  const entries = [];
  each(tree, (node) => { if (node.self > 0) entries.push({ at: node, total: node.self, calls: node.calls }); });
  const top = { ...tree, self: 0, parent: null, depth: -1, kids: [] };
  top.kids = groups(entries, ({ at }) => at.id).map(([id, all]) => new Above(id, all, top)).sort((a, b) => b.total - a.total || a.id - b.id);
  return top;
}

/** Calls of a function with all that they call, as one. */
class Below extends Grouped {
  constructor(id, nodes, parent = null) {
    super(id, parent);
    this.nodes = nodes;
    for (const key of ["total", "self", "calls", "error", "inlined"]) this[key] = nodes.reduce((sum, node) => sum + node[key], 0);
  }

  group() {
    return groups(this.nodes.flatMap((node) => node.kids), (node) => node.id).map(([id, nodes]) => new Below(id, nodes, this));
  }
}

function groups(all, keyOf) {
  const map = new Map();
  for (const one of all) {
    const key = keyOf(one);
    if (map.has(key)) map.get(key).push(one);
    else map.set(key, [one]);
  }
  return [...map];
}

/** The calls of a function that are in no other of it. */
function outermost(part, id) {
  const found = [];
  const next = [...filtered(part).kids];
  while (next.length) {
    const node = next.pop();
    if (node.id === id) found.push(node);
    else next.push(...node.kids);
  }
  return found;
}

function each(tree, visit) {
  const next = [...tree.kids];
  while (next.length) {
    const node = next.pop();
    visit(node);
    next.push(...node.kids);
  }
}

function filter(id, isKept) {
  seen.filters.push({ id, isKept });
  show({ view: ["flame", "tree"].includes(state.view) ? state.view : "flame" });
}

function look(way) {
  seen.way = way;
  show({ view: ["flame", "tree"].includes(state.view) ? state.view : "flame" });
}

/** The bar above trees: which way, what is filtered, the way back, and all of it as a file. */
function drawSeen() {
  const bar = document.getElementById("seen");
  bar.hidden = !["flame", "tree"].includes(state.view);
  if (bar.hidden) return;
  const part = partOf(state.part);
  const way = ([name, label, title]) => element("button", {
    class: "plain", id: `way-${name}`, title, "aria-pressed": String(seen.way === name),
    disabled: name === "around" && state.selected === null, onclick: () => look(name),
  }, label);
  const chip = ({ id, isKept }) => element("span", { class: "chip" }, `${isKept ? "only" : "without"} ${functions[id].label}`);
  const tree = filtered(part);
  bar.replaceChildren(...WAYS.map(way), ...seen.filters.map(chip),
    ...(seen.filters.length ? [
      element("span", { class: "of" }, `${time(tree.total)} of ${time(part.total)}`),
      element("button", { class: "plain", id: "undo", onclick: () => { seen.filters.pop(); show({}); } }, "Undo"),
    ] : []),
    element("button", { class: "plain", id: "save", title: "As folded stacks, which other tools read", onclick: save }, "Save what is seen"));
}

/** What is seen as folded stacks: a line for each path with time of its own. */
function folded(root) {
  const lines = [];
  const next = [[root, ""]];
  while (next.length) {
    const [node, above] = next.pop();
    const stack = node.id < 0 ? above : above + (above && ";") + functions[node.id].label.replaceAll(";", ":");
    const own = Math.round(node.kids.reduce((own, kid) => own - kid.total, node.total));
    if (stack && own > 0) lines.push(`${stack} ${own}`);
    for (const kid of node.kids) next.push([kid, stack]);
  }
  return `${lines.sort().join("\n")}\n`;
}

function save() {
  const part = partOf(state.part);
  const tree = seenTree(part);
  const root = state.view === "flame" && flame.tree === tree && flame.root ? flame.root : tree;
  const url = URL.createObjectURL(new Blob([folded(root)], { type: "text/plain" }));
  element("a", { href: url, download: "diytrace.folded" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
