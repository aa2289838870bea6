// The selected function: its numbers, and its neighbours to go on to.

const MOST_NEIGHBOURS = 100;
let shownInDetails = null;

function drawDetails() {
  const aside = document.getElementById("details");
  const part = partOf(state.part);
  const sight = sighted(part);
  const row = sight.byFunction.get(state.selected);
  aside.hidden = !row;
  if (!row) return aside.replaceChildren();
  const { label, file, line, module } = functions[row.id];
  const { callers, callees } = neighbours(sight, row.id);
  const facts = [
    ["calls", count(row.calls)],
    ["total", `${resolved(row.total, row.error)}${page.is_raw ? "" : ` ± ${time(row.error)}`}`],
    ["self", `${resolvedSelf(row)} · ${share(row.self, part.total)}`],
  ];
  const all = part.byFunction.get(row.id);
  const also = row.isCut ? ", also of those that are filtered out" : "";
  const spread = all.max === undefined ? [] : [
    ["mean", all.mean], ["min", all.min], ["p50", all.p50], ["p90", all.p90], ["p99", all.p99], ["p99.9", all.p999], ["max", all.max],
  ].map(([name, ns]) => [name, resolved(ns, all.call_error)]);
  const home = module === null ? "" : page.modules[module];
  aside.replaceChildren(
    element("button", { class: "close", "aria-label": "Close", onclick: () => show({ selected: null }) }, "×"),
    element("h2", {}, label),
    element("p", { class: "place" }, [file ? `${file}:${line}` : "", home].filter(Boolean).join(" · ")),
    element("p", { class: "actions" },
      element("button", { class: "plain", onclick: () => find(row.id, "flame") }, "In the flame graph"),
      element("button", { class: "plain", onclick: () => find(row.id, "tree") }, "In the tree"),
      element("button", { class: "plain", id: "around", onclick: () => look("around") }, "Callers and callees"),
      element("button", { class: "plain", id: "only", onclick: () => filter(row.id, true) }, "Only paths with it"),
      element("button", { class: "plain", id: "without", onclick: () => filter(row.id, false) }, "Without it")),
    list(facts),
    ...(spread.length ? [element("h3", {}, `Of all its calls${also}`), list(spread)] : []),
    ...timelineDetails(part, row.id, also),
    element("h3", {}, "Called by"), neighbourList(callers, "nobody that is recorded", part, () => row),
    element("h3", {}, "Calls"), neighbourList(callees, "nothing that is recorded", part, ({ id }) => sight.byFunction.get(id)),
  );
  // In the next frame, when all has been laid out for it: now it would have to be for this alone.
  if (shownInDetails !== row.id) requestAnimationFrame(() => { aside.scrollTop = 0; });
  shownInDetails = row.id;
}

function list(facts) {
  return element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

/** Functions to go on to; `callee` gives whose calls are meant. Percentiles are kept by function: they are those of a caller's
 * calls where nobody else calls it. */
function neighbourList(neighbours, none, part, callee) {
  if (!neighbours.length) return element("p", { class: "place" }, none);
  const p99 = (neighbour) => {
    const of = callee(neighbour);
    return !page.is_part && of?.p99 !== undefined && of.calls === neighbour.calls ? ` · p99 ${resolved(of.p99, of.call_error)}` : "";
  };
  const item = (neighbour) => {
    const { id, calls, total, error } = neighbour;
    if (id < 0) return element("li", {}, element("span", { class: "place" }, `code that is not recorded · ${counted(calls, "call", "calls")}`));
    const name = functions[id].label;
    return element("li", {}, element("button", { onclick: () => show({ selected: id }) },
      marked(name), element("span", {}, resolved(total, error)),
      element("small", {}, counted(calls, "call", "calls") + p99(neighbour))));
  };
  const more = neighbours.length - MOST_NEIGHBOURS;
  return element("ul", {}, ...neighbours.slice(0, MOST_NEIGHBOURS).map(item),
    more > 0 ? element("li", { class: "place" }, `and ${count(more)} more, with less time`) : null);
}

/** Goes to where a function takes most of its time. */
function find(id, view) {
  const part = partOf(state.part);
  seen.way = "down";
  const tree = seenTree(part);
  const most = nodesOf(sighted(part), id).reduce((most, node) => (most && most.total >= node.total ? most : node), null);
  if (view === "flame") Object.assign(flame, { root: most ?? tree, tree });
  if (view === "tree") {
    views.tree(); // so that it knows the part
    if (most) branches.drawn.openTo(most);
  }
  show({ view, selected: id });
  if (view === "flame") flame.graph.reveal(flame.root);
  if (view === "tree" && most) branches.drawn.reveal(most).scrollIntoView({ block: "center" });
}
