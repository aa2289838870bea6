// The flame graph: the part's tree, what is pointed at, and the way back.

const flame = { root: null, tree: null, graph: null, callers: null };

views.flame = () => {
  const part = partOf(state.part);
  const tree = seenTree(part);
  const isNew = flame.tree !== tree;
  if (isNew) Object.assign(flame, { root: tree, tree });
  const callers = callersTree(part);
  document.getElementById("callers-box").hidden = !callers;
  if (callers) flame.callers.show(callers);
  flame.graph.show(flame.root);
  // Where it begins is in sight: its first function, or the one with callers above it.
  if (isNew) callers ? flame.callers.reveal(callers) : flame.graph.reveal(tree);
  drawTrail(part);
  drawPointed(part);
};

function nodeLabel(node) {
  return node.id < 0 ? "all" : functions[node.id].label;
}

function zoom(node) {
  flame.root = node;
  views.flame();
}

function drawTrail(part) {
  const trail = document.getElementById("trail");
  if (flame.root === flame.tree) return trail.replaceChildren("Click a frame to zoom in and for its details.");
  const reset = element("button", { id: "reset-zoom", onclick: () => zoom(flame.tree) }, "← all");
  const label = flame.graph.nameOf(flame.root);
  trail.replaceChildren(reset, ` · ${label} · ${time(flame.root.total)} · ${share(flame.root.total, part.total)} of all`);
}

function drawPointed(part, node = flame.graph.pointed) {
  const pointed = document.getElementById("pointed");
  if (!node || node.id < 0 && !node.isGroup) return pointed.replaceChildren();
  if (node.isGroup) return pointed.replaceChildren(element("b", {}, flame.graph.nameOf(node)), ` ${resolved(node.total, node.error)} (${share(node.total, part.total)})${isSame(node, flame.root) ? "" : " · click to see them"}`);
  const text = ` ${resolved(node.total, node.error)} (${share(node.total, part.total)}) · self ${resolvedSelf(node)} · ${counted(node.calls, "call", "calls")}`;
  pointed.replaceChildren(element("b", {}, functions[node.id].label), text);
}

function listenToFlame() {
  const look = {
    label: nodeLabel,
    color: (node, isDark) => frameColor(node.id < 0 ? null : functions[node.id].label, isDark),
    isFound: (node) => (state.search ? node.id >= 0 && matches(node.id) : null),
    isPicked: (node) => node.id >= 0 && node.id === state.selected,
  };
  flame.graph = new FlameGraph(document.getElementById("flame"), {
    ...look,
    isIcicle: true, // where it all begins is in sight, however deep it goes
    onPoint: () => drawPointed(partOf(state.part)),
    onPick: (node) => {
      // Around a function, another one is gone to; elsewhere a frame is zoomed into.
      if (seen.way !== "around" || node.id < 0) flame.root = node;
      show({ selected: node.id < 0 ? null : node.id });
    },
  });
  flame.callers = new FlameGraph(document.getElementById("callers"), {
    ...look,
    onPoint: (node) => drawPointed(partOf(state.part), node),
    onPick: (node) => node.id >= 0 && show({ selected: node.id }),
  });
}
