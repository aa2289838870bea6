// What of a part is seen: paths that were filtered in or out, in every view; and from where one looks at them, in trees.

/** Filters, the latest last; which way one looks; and the trees that were made of that. */
const seen = { filters: [], way: "down", made: new Map() };

/** The part as it is seen: the tree of the paths that remain, and sums of functions over them. */
function sighted(part) {
  if (!seen.filters.length) return part;
  return once("part", () => {
    const tree = filteredTree(treeOf(part), seen.filters);
    // What stands for paths that were left out of the page is no function, and has no row.
    const rows = [...sumsOf(tree)].filter(([id]) => part.byFunction.has(id)).map(([id, sums]) => {
      const all = part.byFunction.get(id);
      const isCut = sums.isCut || sums.calls !== all.calls;
      // How single calls are spread is kept by function: it is known where nothing of a function is filtered out.
      return isCut ? { id, label: functions[id].label, ...sums, isCut } : all;
    });
    return { tree, rows, byFunction: new Map(rows.map((row) => [row.id, row])) };
  });
}

/** The tree of what is seen of a part; of one function, what it calls. */
function seenTree(part) {
  const tree = treeOf(sighted(part));
  if (isAround(part)) return aroundSelected(part).callees;
  return seen.way === "up" ? once("up", () => upwards(tree)) : tree;
}

/** Around one function: those that call it. */
function callersTree(part) {
  return isAround(part) ? aroundSelected(part).callers : null;
}

function isAround(part) {
  return seen.way === "around" && sighted(part).byFunction.has(state.selected);
}

function aroundSelected(part) {
  const id = state.selected;
  return once(`around ${id}`, () => around(treeOf(sighted(part)), id));
}

/** What was made before is the same, so that what was zoomed into and opened stays. */
function once(what, make) {
  const key = `${state.part} ${what} ${filtersInWords()}`;
  if (!seen.made.has(key)) seen.made.set(key, make());
  return seen.made.get(key);
}

function filtersInWords() {
  return seen.filters.map(({ id, isKept }) => `${isKept ? "+" : "-"}${id}`).join(" ");
}

/** Takes the last filter back, with the trees that were made for it: there may be much in them. */
function undo() {
  const gone = ` ${filtersInWords()}`;
  for (const key of seen.made.keys()) if (key.endsWith(gone)) seen.made.delete(key);
  seen.filters.pop();
  show({});
}

/** Filters what every view shows. */
function filter(id, isKept) {
  seen.filters.push({ id, isKept });
  show({});
}

/** What a view that filters cannot change says of that. */
function unfiltered(text) {
  return seen.filters.length ? [element("p", { class: "unfiltered", role: "note" }, text)] : [];
}

function look(way) {
  seen.way = way;
  show({ view: isTree() ? state.view : "flame" });
}

function isTree() {
  return ["flame", "tree"].includes(state.view);
}

/** The bar above views: which way one looks at trees, what is filtered, the way back, and all that is seen as a file. */
function drawSeen() {
  const bar = document.getElementById("seen");
  bar.hidden = !["table", "flame", "tree"].includes(state.view) && !seen.filters.length;
  if (bar.hidden) return;
  const part = partOf(state.part);
  const way = ([name, label, title]) => element("button", {
    class: "plain", id: `way-${name}`, title, "aria-pressed": String(seen.way === name),
    disabled: name === "around" && state.selected === null, onclick: () => look(name),
  }, label);
  const chip = ({ id, isKept }) => element("span", { class: "chip", title: functions[id].label }, `${isKept ? "only" : "without"} ${functions[id].label}`);
  bar.replaceChildren(...(isTree() ? WAYS.map(way) : []), ...seen.filters.map(chip),
    ...(seen.filters.length ? [
      element("span", { class: "of" }, `${time(treeOf(sighted(part)).total)} of ${time(part.total)}`),
      element("button", { class: "plain", id: "undo", onclick: undo }, "Undo"),
    ] : []),
    ...(isTree() ? [element("button", { class: "plain", id: "save", title: "As folded stacks, which other tools read", onclick: save }, "Save what is seen")] : []),
    ...(state.view === "table" ? [element("button", { class: "plain", id: "save", title: "As CSV, times in nanoseconds", onclick: saveTable }, "Save what is seen")] : []));
}

function save() {
  const part = partOf(state.part);
  const tree = seenTree(part);
  const root = state.view === "flame" && flame.tree === tree && flame.root ? flame.root : tree;
  saveAs("diytrace.folded", "text/plain", folded(root, nodeLabel));
}

function saveAs(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
