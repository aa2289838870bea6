// What is shown: part, view, search, selected function. Views listen, and nothing else changes them.

const state = { part: 0, view: "table", search: "", selected: null };
const views = {};
const stale = new Set();

/** Changes what is shown. Only the view in sight is drawn anew, others when they come into sight. */
function show(changes) {
  Object.assign(state, changes);
  for (const name of Object.keys(views)) stale.add(name);
  keepingFocus(draw);
  // Where details cover a part of the view, they leave what they are of in sight.
  if (changes.selected > -1 && window.innerWidth <= 900) document.querySelector(`#view-${state.view} .selected`)?.scrollIntoView({ block: "nearest" });
}

/** What has another order now is read from its beginning. */
function toTop() {
  for (const box of [document.getElementById(`view-${state.view}`), document.querySelector("main")]) box.scrollTop = 0;
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
  drawSeen();
  if (stale.delete(state.view)) views[state.view]();
  drawFound();
}

/** Whether each function is searched for. */
const found = { search: null, functions: [] };

function matches(id) {
  if (!state.search) return true;
  if (found.search !== state.search) Object.assign(found, { search: state.search, functions: functions.map(({ small }) => small.includes(state.search)) });
  return found.functions[id];
}

/** Names with more letters lose some where there is no room; their own last letters stay, in which names of C differ. */
const LONG = 14, TAIL = 6;

/** A name in which what was searched for stands out. */
function marked(name) {
  const at = state.search ? name.toLowerCase().indexOf(state.search) : -1;
  const end = at < 0 ? -1 : at + state.search.length;
  // A part of the name, with what of it was found.
  const part = (from, to) => [name.slice(from, Math.max(from, Math.min(at, to))),
    ...(at < to && end > from ? [element("span", { class: "hit" }, name.slice(Math.max(at, from), Math.min(end, to)))] : []),
    name.slice(Math.min(Math.max(end, from), to), to)];
  const [scope, own] = nameParts(name);
  if (name.length <= LONG && !scope) return element("span", { class: "fn", title: name }, ...part(0, name.length));
  const start = scope ? scope.length + "::".length : 0, last = scope.length + own.length;
  const tail = last - start > LONG ? last - TAIL : last;
  const spans = [["scope", 0, start], [tail < last ? "own front" : "own", start, tail], ["tail", tail, last], ["rest", last, name.length]];
  const shown = spans.filter(([, from, to]) => to > from);
  return element("span", { class: "fn long", title: name }, ...shown.map(([of, from, to]) => element("span", { class: of }, ...part(from, to))));
}

/** How much was found: time counts once, however often a function that was found calls another. */
function drawFound() {
  const said = document.getElementById("found");
  if (!state.search) return said.replaceChildren();
  const part = partOf(state.part);
  const sight = sighted(part);
  const rows = sight.rows.filter(({ id }) => matches(id));
  let inside = 0;
  for (const node of outermost(treeOf(sight), ({ id }) => matches(id))) inside += node.total;
  said.textContent = `${counted(rows.length, "function", "functions")} · ${share(inside, part.total)} of the time inside: ${time(inside)}`;
}
