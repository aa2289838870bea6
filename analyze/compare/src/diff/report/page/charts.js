// Drawings of runs and percentiles.

const LEFT = 0, RIGHT = 1;

function legend() {
  const key = (side, text) => element("span", {}, element("i", { class: side }), text);
  return element("div", { class: "legend" }, key("l", comparison.left.name), key("r", comparison.right.name));
}

/** Pixels of a drawing across a card: drawn so, its words are as large as others. */
function wholeWidth() {
  return Math.max(360, document.getElementById("main").clientWidth - 86);
}

/** Round numbers that a scale is marked at. */
function marks(low, high, most) {
  const rough = (high - low) / most || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((step) => step >= rough);
  const all = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) all.push(at);
  return all;
}

/** The value of every run, one row a side, with the medians. */
function strip(test, said = time) {
  const width = 420, left = 8, right = width - 8;
  const all = [...test.left, ...test.right];
  let [low, high] = [Math.min(...all), Math.max(...all)];
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  [low, high] = [Math.max(low - room, Math.min(low, 0)), high + room];
  const x = (value) => left + ((value - low) / (high - low)) * (right - left);
  const svg = shape("svg", { viewBox: `0 0 ${width} 74`, role: "img", "aria-label": "The value of each run" });
  for (const at of marks(low, high, 4)) {
    svg.append(shape("line", { class: "grid", x1: x(at), x2: x(at), y1: 4, y2: 54 }));
    svg.append(shape("text", { x: x(at), y: 69, "text-anchor": x(at) > right - 30 ? "end" : x(at) < 30 ? "start" : "middle" }, said(at)));
  }
  [["left", 18, test.left_median], ["right", 42, test.right_median]].forEach(([side, y, median]) => {
    test[side].forEach((value, run) => {
      const dot = shape("circle", { class: `dot ${side}`, cx: x(value), cy: y + ((run * 7) % 5) - 2, r: 3.5 });
      dot.append(shape("title", {}, `${comparison[side].name}, run ${run + 1}: ${said(value)}`));
      svg.append(dot);
    });
    svg.append(shape("line", { class: `median ${side}`, x1: x(median), x2: x(median), y1: y - 11, y2: y + 11 }));
  });
  return svg;
}

/** Values of all runs in the order in which they were made. */
function course(test, said = time) {
  const width = wholeWidth(), height = 150, left = 64, right = width - 8, bottom = height - 22;
  const all = [...test.left, ...test.right];
  const high = Math.max(...all) * 1.05 || 1;
  const low = Math.min(...all) > high / 2 ? Math.min(...all) - (high - Math.min(...all)) * 0.3 : 0;
  const runs = Math.max(test.left.length, test.right.length);
  const x = (run) => left + ((run + 0.5) / runs) * (right - left);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - 8);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Values in the order of runs" });
  for (const at of marks(low, high, 4)) {
    svg.append(shape("line", { class: "grid", x1: left, x2: right, y1: y(at), y2: y(at) }));
    svg.append(shape("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, said(at)));
  }
  for (let run = 0; run < runs; run += Math.ceil(runs / 20)) {
    svg.append(shape("text", { x: x(run), y: height - 6, "text-anchor": "middle" }, String(run + 1)));
  }
  for (const side of ["left", "right"]) {
    const points = test[side].map((value, run) => `${x(run)},${y(value)}`);
    svg.append(shape("path", { class: side, d: `M${points.join("L")}`, "stroke-opacity": 0.45 }));
    test[side].forEach((value, run) => {
      const dot = shape("circle", { class: `dot ${side}`, cx: x(run), cy: y(value), r: 3.5 });
      dot.append(shape("title", {}, `${comparison[side].name}, run ${run + 1}: ${said(value)}`));
      svg.append(dot);
    });
  }
  return svg;
}

/** How long calls took, by the share of calls that took no longer: both sides over each other. */
function percentiles(all) {
  const width = 420, height = 170, left = 58, right = width - 10, bottom = height - 24;
  const values = all.flatMap((one) => [one.left_ns, one.right_ns]).filter((ns) => ns > 0);
  if (!values.length) return element("p", { class: "nothing" }, "No call returned.");
  const [low, high] = [Math.log10(Math.min(...values)) - 0.08, Math.log10(Math.max(...values)) + 0.08];
  // The far end matters: as nines.
  const nines = (share) => -Math.log10(1 - share);
  const x = (share) => left + (nines(share) / nines(all.at(-1).share)) * (right - left);
  const y = (ns) => bottom - ((Math.log10(ns) - low) / (high - low)) * (bottom - 8);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Percentiles of calls, both sides" });
  const span = high - low;
  const steps = span > 3 ? [1] : span > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  let last = Infinity;
  for (let power = Math.floor(low); power <= high; power++) {
    for (const step of steps) {
      const ns = step * 10 ** power;
      if (Math.log10(ns) < low || Math.log10(ns) > high || last - y(ns) < 14) continue;
      last = y(ns);
      svg.append(shape("line", { class: "grid", x1: left, x2: right, y1: y(ns), y2: y(ns) }));
      svg.append(shape("text", { x: left - 6, y: y(ns) + 4, "text-anchor": "end" }, time(ns)));
    }
  }
  for (const share of [0.5, 0.75, 0.9, 0.99, 0.999]) {
    const at = share === 0.999 ? right : x(share);
    svg.append(shape("text", { x: at, y: height - 8, "text-anchor": share === 0.999 ? "end" : "middle" }, `p${share * 100}`));
    svg.append(shape("line", { class: "grid", x1: x(share), x2: x(share), y1: 8, y2: bottom }));
  }
  for (const side of ["left", "right"]) {
    const points = all.filter((one) => one[`${side}_ns`] > 0).map((one) => [x(one.share), y(one[`${side}_ns`]), one]);
    if (!points.length) continue;
    svg.append(shape("path", { class: side, d: `M${points.map(([px, py]) => `${px},${py}`).join("L")}` }));
    for (const [px, py, one] of points) {
      const dot = shape("circle", { class: `dot ${side}`, cx: px, cy: py, r: 3 });
      dot.append(shape("title", {}, `${comparison[side].name} p${one.share * 100}: ${time(one[`${side}_ns`])}`));
      svg.append(dot);
    }
  }
  return svg;
}
