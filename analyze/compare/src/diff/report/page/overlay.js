// When a function ran: the runs of both sides over each other.

const OVERLAY_ABOUT = "Time counts from the first call in each run (to a slice). Line: the median of a side's runs; band: from the lowest to the highest of them.";

/** Time spent in each slice: medians as lines, all runs within the bands. */
function overlay({ slice_ns, left, right }, width) {
  const height = width > 600 ? 190 : 170, from = 64, to = width - 10, bottom = height - 24;
  const slices = left.median_ns.length, length = slices * slice_ns;
  const rate = (ns) => (ns * 1e9) / slice_ns;
  const high = Math.max(...left.high_ns, ...right.high_ns) * 1.04;
  const x = (ns) => from + (ns / length) * (to - from);
  const y = (ns) => bottom - (ns / high) * (bottom - 8);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "When it ran, both sides" });
  for (const at of marks(0, rate(high), 4)) {
    const level = y((at * slice_ns) / 1e9);
    svg.append(shape("line", { class: "grid", x1: from, x2: to, y1: level, y2: level }));
    svg.append(shape("text", { x: from - 6, y: level + 4, "text-anchor": "end" }, at > 0 ? `${tickText(at)}/s` : "0"));
  }
  for (const at of marks(0, length, width > 600 ? 8 : 4)) {
    svg.append(shape("line", { class: "grid", x1: x(at), x2: x(at), y1: 8, y2: bottom }));
    svg.append(shape("text", { x: x(at), y: height - 8, "text-anchor": x(at) > to - 24 ? "end" : "middle" }, tickText(at)));
  }
  const steps = (values) => values.map((ns, slice) => `${x(slice * slice_ns).toFixed(1)},${y(ns).toFixed(1)}H${x((slice + 1) * slice_ns).toFixed(1)}`);
  const back = (values) => values.map((ns, slice) => `${x((slice + 1) * slice_ns).toFixed(1)},${y(ns).toFixed(1)}H${x(slice * slice_ns).toFixed(1)}`).reverse();
  const sides = [["left", left], ["right", right]];
  for (const [side, of] of sides) svg.append(shape("path", { class: `band ${side}`, d: `M${[...steps(of.high_ns), ...back(of.low_ns)].join("L")}Z` }));
  for (const [side, of] of sides) svg.append(shape("path", { class: side, d: `M${steps(of.median_ns).join("L")}` }));
  for (let slice = 0; slice < slices; slice++) {
    const said = (side, of) => `${comparison[side].name}: ${time(of.median_ns[slice])} (${time(of.low_ns[slice])} to ${time(of.high_ns[slice])})`;
    const area = shape("rect", { class: "slice", x: x(slice * slice_ns), width: (to - from) / slices, y: 8, height: bottom - 8 });
    area.append(shape("title", {}, `${time(slice * slice_ns)} to ${time((slice + 1) * slice_ns)}\n${sides.map(([side, of]) => said(side, of)).join("\n")}`));
    svg.append(area);
  }
  return svg;
}

/** The overlay with what it is made of; only words where all is in one slice. */
function overlayWithWords(timeline, width) {
  const slices = timeline.left.median_ns.length;
  if (slices < 2) return element("p", { class: "nothing" }, `All of it lies in one slice of ${time(timeline.slice_ns)}.`);
  return element("div", {}, legend(), overlay(timeline, width), element("p", { class: "soft note" }, `${slices} slices of ${time(timeline.slice_ns)} · upwards: time spent in a second of the clock`));
}

function withTimeline() {
  const total = (fn) => Math.max(fn.total_ns.left_median, fn.total_ns.right_median);
  return query.functions.filter((fn) => fn.timeline).sort((a, b) => total(b) - total(a));
}

/** Some of many, and a button for the rest. */
function overlays(rows, shown = 8) {
  const card = (fn) => element("div", { class: "card" }, element("h3", {}, named(fn)),
    element("p", { class: "soft", style: "margin:0 0 4px" }, `with callees ${time(fn.total_ns.left_median)} → ${time(fn.total_ns.right_median)}`),
    overlayWithWords(fn.timeline, wholeWidth()));
  const box = element("div", {}, ...rows.slice(0, shown).map(card));
  if (rows.length > shown) {
    const more = element("button", { class: "plain", onclick: () => {
      more.parentElement.remove();
      box.append(...rows.slice(shown).map(card));
    } }, `Show all ${count(rows.length)}`);
    box.append(element("p", { class: "more" }, more));
  }
  return box;
}
