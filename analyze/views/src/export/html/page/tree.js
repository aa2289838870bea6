// The call tree, opened branch by branch. A search opens what leads to it.

const opened = { tree: null, nodes: new Set(), search: "" };
/** The nodes that can be come to, and what draws those in sight. */
const branches = { nodes: [], drawn: null };

views.tree = () => {
  const part = partOf(state.part);
  const tree = seenTree(part);
  if (opened.tree !== tree) {
    Object.assign(opened, { tree, nodes: new Set(), search: "" });
    if (seen.way !== "up") openHottest(tree);
  }
  if (opened.search !== state.search) {
    opened.search = state.search;
    // Callers of all functions are many times what there is: of those only what is open is searched.
    if (state.search && seen.way !== "up") openFound(tree);
  }
  if (!branches.drawn) {
    const titles = ["function", "calls", "total", "self", "of all"].map((title) => element("span", {}, title));
    branches.drawn = new Rows(element("div", { role: "tree", "aria-label": "Call tree" }));
    document.getElementById("view-tree").append(element("div", { class: "tree-head" }, ...titles), ...branches.drawn.parts);
  }
  branches.nodes = [];
  const next = tree.id < 0 ? [...tree.kids].reverse() : [tree];
  while (next.length) {
    const node = next.pop();
    branches.nodes.push(node);
    if (opened.nodes.has(node)) for (let kid = node.kids.length - 1; kid >= 0; kid--) next.push(node.kids[kid]);
  }
  branches.drawn.show(branches.nodes.length, (index) => treeRow(part, branches.nodes[index], index));
};

/** Opens the way that most of the time takes. */
function openHottest(top) {
  let node = top;
  while (node.kids.length) {
    opened.nodes.add(node);
    if (node.kids[0].total * 2 < node.total) break;
    node = node.kids[0];
  }
}

function openFound(top) {
  for (const node of below(top)) {
    if (!matches(node.id)) continue;
    for (let above = node.parent; above && !opened.nodes.has(above); above = above.parent) opened.nodes.add(above);
  }
}

function treeRow(part, node, index) {
  const isOpen = opened.nodes.has(node);
  const twist = element("span", { class: "twist" }, node.kids.length ? (isOpen ? "▾" : "▸") : "");
  const isRecursive = hasAbove(node, ({ id }) => id === node.id);
  const who = element("span", { class: "who", style: `padding-left: ${Math.min(node.depth, 60) * 14}px` },
    twist, marked(functions[node.id].label),
    isRecursive ? element("span", { class: "tag", title: "A call inside another of this function" }, "recursion") : null,
    node.inlined > 0 && node.inlined === node.calls ? element("span", { class: "tag", title: "Its body is a part of its caller's code" }, "inlined") : null,
    node.vias.size ? element("span", { class: "note" }, `via ${[...node.vias].join(", ")}`) : null);
  const numbers = [count(node.calls), resolved(node.total, node.error), resolvedSelf(node), share(node.total, part.total)];
  const row = element("div", {
    class: `tree-row${state.selected === node.id ? " selected" : ""}`, role: "treeitem", tabindex: 0,
    "aria-level": node.depth + 1, "aria-expanded": node.kids.length ? String(isOpen) : null,
  }, who, ...numbers.map((number) => element("span", { class: number.startsWith("< ") ? "unresolved" : null }, number)));
  row.addEventListener("click", (event) => {
    if (event.target === twist) toggle(node);
    else show({ selected: node.id });
  });
  row.addEventListener("dblclick", () => toggle(node));
  row.addEventListener("keydown", (event) => treeKey(event, node, index));
  return row;
}

function toggle(node, isOpen = !opened.nodes.has(node)) {
  if (isOpen) opened.nodes.add(node);
  else opened.nodes.delete(node);
  views.tree();
}

function treeKey(event, node, index) {
  const focus = (at) => branches.nodes[at] && branches.drawn.reveal(at).focus();
  if (event.key === "ArrowRight") toggle(node, true), focus(index);
  else if (event.key === "ArrowLeft") toggle(node, false), focus(index);
  else if (event.key === "ArrowDown") focus(index + 1);
  else if (event.key === "ArrowUp") focus(index - 1);
  else if (event.key === "Enter") show({ selected: node.id }), focus(index);
  else return;
  event.preventDefault();
}
