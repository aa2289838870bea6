// The call tree of what is seen. A search opens what leads to it.

const branches = { tree: null, search: "", drawn: null };

views.tree = () => {
  const part = partOf(state.part);
  const tree = seenTree(part);
  if (!branches.drawn) {
    branches.drawn = new CallTree({
      name: ({ id }) => marked(functions[id].label),
      isPicked: ({ id }) => state.selected === id,
      onPick: ({ id }) => show({ selected: id }),
    });
    document.getElementById("view-tree").append(...branches.drawn.parts);
  }
  branches.drawn.show(tree, part.total);
  // Callers of all functions are many times what there is: of those, nothing is opened unasked.
  if (seen.way !== "up") {
    if (branches.tree !== tree) branches.drawn.openHottest();
    if (state.search && (branches.tree !== tree || branches.search !== state.search)) openFound(tree);
    branches.drawn.draw();
  }
  Object.assign(branches, { tree, search: state.search });
};

function openFound(top) {
  for (const node of below(top)) if (matches(node.id)) branches.drawn.openTo(node);
}
