// What is shown: part, view, search, selected function. Views listen, and nothing else changes them.

const state = { part: 0, view: "table", search: "", selected: null };
const views = {};
const stale = new Set();

/** Changes what is shown. Only the view in sight is drawn anew, others when they come into sight. */
function show(changes) {
  Object.assign(state, changes);
  for (const name of Object.keys(views)) stale.add(name);
  draw();
}

function draw() {
  for (const name of Object.keys(views)) {
    const isShown = name === state.view;
    document.getElementById(`view-${name}`).hidden = !isShown;
    const tab = document.getElementById(`tab-${name}`);
    tab.setAttribute("aria-selected", isShown);
    tab.tabIndex = isShown ? 0 : -1;
  }
  drawDetails();
  if (stale.delete(state.view)) views[state.view]();
  drawFound();
}

function matches(label) {
  return !state.search || label.toLowerCase().includes(state.search);
}

/** How much was found: time counts once, however often a function that was found calls another. */
function drawFound() {
  const found = document.getElementById("found");
  if (!state.search) return found.replaceChildren();
  const part = partOf(state.part);
  const rows = part.rows.filter((row) => matches(row.label));
  let inside = 0;
  const next = [...part.tree.kids];
  while (next.length) {
    const node = next.pop();
    if (matches(functions[node.id].label)) inside += node.total;
    else next.push(...node.kids);
  }
  found.textContent = `${counted(rows.length, "function", "functions")} · ${share(inside, part.total)} of the time inside`;
}
