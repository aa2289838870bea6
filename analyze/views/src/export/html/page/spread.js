// Percentiles: how the times of each function's calls are spread, on one logarithmic axis.

const MOST_SPREADS = 200;

views.spread = () => {
  const part = partOf(state.part);
  const view = document.getElementById("view-spread");
  if (page.is_raw) return view.replaceChildren(element("p", { class: "empty" }, "There are no percentiles of uncorrected times: export without --raw."));
  const seenRows = sighted(part).rows.filter(({ id }) => matches(id)).sort((a, b) => b.self - a.self);
  const rows = seenRows.map(({ id }) => part.byFunction.get(id)).filter((row) => row.max !== undefined);
  if (!rows.length) return view.replaceChildren(element("p", { class: "empty" }, "No function that is seen here has returned and has a name like that."));
  const shown = rows.slice(0, MOST_SPREADS);
  const axis = axisOf(shown, part.call_error);
  const legend = ["thin line: shortest to longest call", "box: p50 to p99", "bar: p50", "ticks: p90, p99.9", "dot: mean"];
  const head = element("div", { class: "spread-row spread-head" }, element("span", { class: "fn-head" }, "function, most self time first"), axisMarks(axis), element("span", { class: "count" }, "calls"));
  view.replaceChildren(
    ...unfiltered("Percentiles are kept by function, not by path: these are of all calls of the functions that remain, also of those that are filtered out."),
    element("div", { class: "legend" }, ...legend.map((text) => element("span", {}, text))), head,
    ...shown.map((row) => spreadRow(row, axis)));
  if (rows.length > shown.length) view.append(element("p", { class: "empty" }, `${count(rows.length - shown.length)} more: search for them.`));
};

/** The axis begins where single calls can be told from what measuring them costs. */
function axisOf(rows, error) {
  const low = Math.log10(Math.max(error, Math.min(...rows.map((row) => Math.max(row.min, 0.5))), 0.5));
  const high = Math.log10(Math.max(...rows.map((row) => row.max), 10));
  const from = Math.floor(low * 2) / 2;
  const to = Math.max(Math.ceil(high), from + 1);
  const at = (ns) => Math.min(100, Math.max(0, ((Math.log10(Math.max(ns, 1e-3)) - from) / (to - from)) * 100));
  const ticks = [];
  for (let power = Math.ceil(from); power <= to; power++) ticks.push(10 ** power);
  return { at, ticks };
}

function axisMarks(axis) {
  const marks = axis.ticks.map((ns, index) => shape("text", { class: index % 2 ? "odd" : "", x: `${axis.at(ns)}%`, y: 14, "text-anchor": axis.at(ns) > 97 ? "end" : axis.at(ns) < 3 ? "start" : "middle" }, tickText(ns)));
  return shape("svg", { width: "100%", height: 20 }, ...marks);
}

function drawing(row, axis) {
  const line = (from, to, y1, y2, kind) => shape("line", { x1: `${axis.at(from)}%`, x2: `${axis.at(to)}%`, y1, y2, class: kind });
  const grid = axis.ticks.map((ns) => line(ns, ns, 0, 24, "grid"));
  const box = shape("rect", { x: `${axis.at(row.p50)}%`, width: `${Math.max(axis.at(row.p99) - axis.at(row.p50), 0.2)}%`, y: 6, height: 12, rx: 2, class: "most" });
  return shape("svg", { width: "100%", height: 24, role: "img", "aria-label": spreadText(row) }, shape("title", {}, spreadText(row)),
    ...grid, line(row.min, row.max, 12, 12, "whole"), box, line(row.p50, row.p50, 4, 20, "median"),
    line(row.p90, row.p90, 7, 17, "tail"), line(row.p999, row.p999, 7, 17, "tail"),
    shape("circle", { cx: `${axis.at(row.mean)}%`, cy: 12, r: 3, class: "mean" }));
}

function spreadText(row) {
  const times = [["min", row.min], ["p50", row.p50], ["p90", row.p90], ["p99", row.p99], ["p99.9", row.p999], ["max", row.max], ["mean", row.mean]];
  return times.map(([name, ns]) => `${name} ${resolved(ns, row.call_error)}`).join(" · ");
}

function spreadRow(row, axis) {
  const open = () => show({ selected: row.id });
  const line = element("div", { class: `spread-row${state.selected === row.id ? " selected" : ""}`, tabindex: 0, "data-row": row.id, onclick: open },
    marked(row.label), drawing(row, axis), element("span", { class: "count" }, count(row.calls)));
  line.addEventListener("keydown", (event) => event.key === "Enter" && open());
  return line;
}
