// What is shown: part, view, search, selected function. Views listen, and nothing else changes them.

const state = { part: 0, view: "table", search: "", selected: null };
const views = {};
const stale = new Set();

/** Changes what is shown. Only the view in sight is drawn anew, others when they come into sight. */
function show(changes) {
  Object.assign(state, changes);
  for (const name of Object.keys(views)) stale.add(name);
  keepingFocus(draw);
}

/** Who came to a row by the keyboard stays there when it is drawn anew. */
function keepingFocus(draw) {
  const row = document.activeElement?.dataset.row;
  draw();
  if (row) document.querySelector(`#view-${state.view} [data-row="${row}"]`)?.focus({ preventScroll: true });
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

/** A name in which what was searched for stands out. */
function marked(name) {
  const span = element("span", { class: "fn", title: name });
  const at = state.search ? name.toLowerCase().indexOf(state.search) : -1;
  if (at < 0) return span.append(name), span;
  const end = at + state.search.length;
  span.append(name.slice(0, at), element("span", { class: "hit" }, name.slice(at, end)), name.slice(end));
  return span;
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
