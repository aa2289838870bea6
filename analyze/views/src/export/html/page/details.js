// The selected function: its numbers, and its neighbours to go on to.

const MOST_NEIGHBOURS = 100;
let shownInDetails = null;

function drawDetails() {
  const aside = document.getElementById("details");
  const part = partOf(state.part);
  const row = part.byFunction.get(state.selected);
  aside.hidden = !row;
  if (!row) return aside.replaceChildren();
  const { label, file, line, module } = functions[row.id];
  const { callers, callees } = neighbours(part, row.id);
  const facts = [
    ["calls", count(row.calls)],
    ["total", `${resolved(row.total, row.error)}${page.is_raw ? "" : ` ± ${time(row.error)}`}`],
    ["self", `${resolvedSelf(row)} · ${share(row.self, part.total)}`],
  ];
  const spread = row.max === undefined ? [] : [
    ["mean", row.mean], ["min", row.min], ["p50", row.p50], ["p90", row.p90], ["p99", row.p99], ["p99.9", row.p999], ["max", row.max],
  ].map(([name, ns]) => [name, resolved(ns, part.call_error)]);
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
    ...(spread.length ? [element("h3", {}, "Of all its calls"), list(spread)] : []),
    ...timelineDetails(part, row.id),
    element("h3", {}, "Called by"), neighbourList(callers, "nobody that is recorded", part, () => row),
    element("h3", {}, "Calls"), neighbourList(callees, "nothing that is recorded", part, ({ id }) => part.byFunction.get(id)),
  );
  if (shownInDetails !== row.id) aside.scrollTop = 0;
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
    return !page.is_part && of?.p99 !== undefined && of.calls === neighbour.calls ? ` · p99 ${resolved(of.p99, part.call_error)}` : "";
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
  let most = null;
  seen.way = "down";
  const tree = filtered(part);
  const next = [...tree.kids];
  while (next.length) {
    const node = next.pop();
    if (node.id === id && (!most || node.total > most.total)) most = node;
    next.push(...node.kids);
  }
  if (view === "flame") Object.assign(flame, { root: most ?? tree, tree });
  if (view === "tree") {
    views.tree(); // so that it knows the part
    for (let above = most?.parent; above; above = above.parent) opened.nodes.add(above);
  }
  show({ view, selected: id });
  document.querySelector(`#view-${view} .selected`)?.scrollIntoView({ block: "center" });
}
