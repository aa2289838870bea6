// Flame graphs of both sides and of their difference: looked at from the top, from functions to their callers, or around one function;
// paths are filtered in and out.

/** The pictures that there is time for. */
function picturesOf({ left, right }) {
  const [before, after] = [left, right].map((times) => times.some((ns) => ns > 0));
  const all = [["difference", "Difference", before && after], ["left", comparison.left.name, before], ["right", comparison.right.name, after]];
  return all.filter(([, , isThere]) => isThere);
}

/** The tree of a picture; in that of the difference, nodes know what they took before. */
function treeOf({ parent, name, left, right }, picture) {
  const own = picture === "left" ? left : right;
  const node = (id, parent) => ({ id, parent, kids: [], depth: parent ? parent.depth + 1 : -1, calls: 0, self: 0, total: 0, error: 0, was: 0, inlined: 0, vias: new Set() });
  const top = node(-1, null);
  const nodes = [];
  parent.forEach((above, path) => {
    const here = node(name[path], above < 0 ? top : nodes[above]);
    Object.assign(here, { self: own[path], total: own[path], was: picture === "difference" ? left[path] : 0 });
    here.parent.kids.push(here);
    nodes.push(here);
  });
  for (const here of nodes.reverse()) {
    here.parent.total += here.total;
    here.parent.was += here.was;
    here.kids.sort(byTime);
  }
  top.kids.sort(byTime);
  return top;
}

/** The pictures, with what they can be asked. */
function flameGraphs(paths, pictures) {
  const seen = { picture: pictures[0][0], way: "down", filters: [], selected: null, search: "", root: null, tree: null };
  const made = new Map();
  const once = (key, make) => {
    if (!made.has(key)) made.set(key, make());
    return made.get(key);
  };
  const all = () => once(seen.picture, () => treeOf(paths, seen.picture));
  const filters = () => `${seen.picture} ${seen.filters.map(({ id, isKept }) => `${isKept ? "+" : "-"}${id}`).join(" ")}`;
  const filtered = () => (seen.filters.length ? once(filters(), () => filteredTree(all(), seen.filters)) : all());
  const isAround = () => seen.way === "around" && seen.selected !== null;
  const aroundIt = () => once(`${filters()} around ${seen.selected}`, () => around(filtered(), seen.selected));
  const tree = () => (isAround() ? aroundIt().callees : seen.way === "up" ? once(`${filters()} up`, () => upwards(filtered())) : filtered());

  const label = (node) => (node.id < 0 ? "all" : paths.names[node.id]);
  const isFound = (node) => (seen.search ? node.id >= 0 && label(node).toLowerCase().includes(seen.search) : null);
  const how = {
    label, isFound, isPicked: (node) => node.id >= 0 && node.id === seen.selected, onPoint: (node) => say(node),
    color: (node, isDark) => (seen.picture === "difference" && !node.isGroup && node.id >= 0
      ? changeColor(node.total, node.was, 0, isDark) : frameColor(node.id < 0 ? null : label(node), isDark)),
  };
  const canvas = (name) => element("canvas", { class: "flame", tabindex: 0, role: "img", "aria-label": name });
  const [above, below] = [canvas("Callers"), canvas("Flame graph")];
  const aboveBox = element("div", { class: "flame-box", hidden: true }, above);
  const belowBox = element("div", { class: "flame-box" }, below);
  const go = (node) => {
    if (node.id >= 0) seen.selected = node.id;
    if (!isAround()) seen.root = node;
    draw();
  };
  const graphs = [new FlameGraph(above, { ...how, onPick: go }), new FlameGraph(below, { ...how, onPick: go, isIcicle: true })];

  const button = (text, action, attributes = {}) => element("button", { class: "plain", onclick: action, ...attributes }, text);
  const choose = (changes) => () => { Object.assign(seen, changes); draw(); };
  const filter = (isKept) => () => { seen.filters.push({ id: seen.selected, isKept }); draw(); };
  const undo = () => { seen.filters.pop(); draw(); };
  const tools = element("div", { class: "tools" });
  const some = element("div", { class: "tools" });
  const said = element("p", { class: "flame-text", role: "status" });
  const found = element("span", { class: "soft", role: "status" });
  const search = element("input", { type: "search", placeholder: "Search the graph", "aria-label": "Search the flame graph", oninput: () => {
    seen.search = search.value.trim().toLowerCase();
    draw();
  } });
  const searching = element("div", { class: "tools" }, search, found);

  function draw() {
    const shown = tree();
    const isNew = seen.tree !== shown;
    if (isNew) Object.assign(seen, { tree: shown, root: shown });
    const pressed = (isIt) => ({ "aria-pressed": String(isIt) });
    tools.replaceChildren(
      ...pictures.map(([key, title]) => button(title, choose({ picture: key }), pressed(key === seen.picture))),
      ...WAYS.map(([key, title, help]) => button(title, choose({ way: key }), { title: help, disabled: key === "around" && seen.selected === null, ...pressed(key === seen.way) })),
      button("Save what is seen", save, { title: "As folded stacks, which other tools read" }));
    const none = seen.selected === null;
    some.replaceChildren(
      ...seen.filters.map(({ id, isKept }) => element("span", { class: "chip", title: paths.names[id] }, `${isKept ? "only" : "without"} ${paths.names[id]}`)),
      ...(seen.filters.length ? [element("span", { class: "soft" }, `${time(filtered().total)} of ${time(all().total)}`), button("Undo", undo)] : []),
      button("Only paths with it", filter(true), { disabled: none }), button("Without it", filter(false), { disabled: none }),
      ...(seen.root !== shown ? [button("← all", choose({ root: shown }))] : []));
    aboveBox.hidden = !isAround();
    if (isAround()) graphs[0].show(aroundIt().callers);
    graphs[1].show(seen.root);
    if (isNew && isAround()) graphs[0].reveal(aroundIt().callers);
    const inside = seen.search ? outermost(filtered(), isFound).reduce((sum, { total }) => sum + total, 0) : 0;
    found.textContent = seen.search ? `${share(inside, all().total)} of the time inside: ${time(inside)}` : "";
    say(null);
  }

  function say(node) {
    const one = node ?? (seen.root === seen.tree ? null : seen.root);
    if (!one) return said.replaceChildren("Click a frame to zoom in and to select its function; arrows and Enter do the same.");
    const was = seen.picture === "difference" && !one.isGroup ? `${time(one.was)} → ` : "";
    said.replaceChildren(element("b", {}, graphs[1].nameOf(one)), ` ${was}${time(one.total)} (${share(one.total, all().total)})`);
  }

  function save() {
    const url = URL.createObjectURL(new Blob([folded(seen.root, label)], { type: "text/plain" }));
    element("a", { href: url, download: `${seen.picture}.folded` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  draw();
  return element("div", {}, tools, some, searching, said, aboveBox, belowBox);
}
