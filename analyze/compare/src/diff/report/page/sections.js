// The report's sections, in the order of what matters.

function ofVerdict(verdict) {
  return query.functions.filter((fn) => fn.verdict === verdict);
}

function callersOf(fn) {
  const index = query.functions.indexOf(fn);
  return query.edges.filter((edge) => edge.ends[1] === index);
}

function changedCard(fn) {
  const test = fn.self_ns;
  const row = (title, before, after, difference, said) => [
    element("dt", {}, title), element("dd", {}, said(before)), element("dd", {}, said(after)), element("dd", {}, difference)];
  const numbers = element("dl", {},
    ...["", comparison.left.name, comparison.right.name, ""].map((text) => element("dt", { style: "text-align:right" }, text)),
    ...row("self time", test.left_median, test.right_median, signed(test.difference), time),
    ...row("calls", fn.calls.left_median, fn.calls.right_median, fn.calls.verdict === "equal" ? "equal" : exactly(fn.calls.difference), medianCount),
    ...row("each call", fn.cost_ns.left_median, fn.cost_ns.right_median, signed(fn.cost_ns.difference), time),
    ...row("with callees", fn.total_ns.left_median, fn.total_ns.right_median, signed(fn.total_ns.difference), time),
    element("dt", {}, "by calls"), element("dd", {}), element("dd", {}), element("dd", {}, signedTime(fn.split.calls_ns)),
    element("dt", {}, "by cost"), element("dd", {}), element("dd", {}), element("dd", {}, signedTime(fn.split.cost_ns)));
  const callers = callersOf(fn).filter((edge) => edge.is_per_call_changed);
  const said = callers.map((edge) => `${edge.caller} makes ${perCall(edge)}`);
  const repeat = fn.repeat && (fn.repeat.is_confirmed ? `confirmed by fresh runs: ${signed(fn.repeat.difference)}`
    : `not confirmed: fresh runs say ${fn.repeat.difference === null ? "nothing" : signed(fn.repeat.difference)}`);
  const details = [`T ${signed(test.threshold).slice(1)}`, `p ${probability(test.p_adjusted)}`, `correction ± ${time(test.error_ns)}`,
    test.interval && `interval ${between(test)}`].filter(Boolean).join(" · ");
  return element("article", { class: "card" },
    element("h3", {}, named(fn)),
    element("p", { class: `big ${tone(test.difference)}` }, `${signed(test.difference)} ${plusMinus(test)} `,
      element("small", {}, `${time(test.left_median)} → ${time(test.right_median)}`)),
    element("p", { class: "why" }, [why(fn), fn.cause && fn.cause.kind !== "calls" && because(fn), ...said].filter(Boolean).join(" · ")),
    element("p", { class: "soft", style: "margin:2px 0 0" }, [details, repeat].filter(Boolean).join(" · ")),
    element("div", { class: "parts" },
      element("div", {}, element("h4", {}, "medians of runs"), numbers),
      element("div", {}, element("h4", {}, "self time of each run"), legend(), strip(test)),
      fn.percentiles.length ? element("div", {}, element("h4", {}, "time of a call, with callees, by percentile"), legend(), percentiles(fn.percentiles)) : null,
      fn.timeline ? element("div", { class: "whole", title: OVERLAY_ABOUT }, element("h4", {}, "when it ran, from a run's first call"), overlayWithWords(fn.timeline, wholeWidth())) : null));
}

function signedTime(ns) {
  return `${ns < 0 ? "−" : "+"}${time(Math.abs(ns))}`;
}

/** What moved between functions, and what their sum is. */
function movedGroup({ parent, functions, moved_ns, sum_ns, verdict }) {
  const under = parent === null ? "" : ` under ${parent}`;
  return element("li", {}, `${functions.map((place) => query.functions[place].name).join(", ")}${under}: ${time(moved_ns)} moved; ` +
    `the sum ${time(sum_ns.left_median)} → ${time(sum_ns.right_median)}, ${signed(sum_ns.difference)} ${plusMinus(sum_ns)}` +
    `${verdict === "unresolved" ? ": no chance, but it may be the correction" : ""}`);
}

const SECTIONS = [
  {
    id: "together", title: "Changed together", about: "Cost moved between them, and only their sum tells whether they take longer.",
    rows: () => query.together.filter((group) => group.verdict === "changed"), show: (groups) => element("ul", {}, ...groups.map(movedGroup)),
  },
  {
    id: "changed", title: "Changed", about: "Longer or shorter than chance makes it, by more than matters and than the correction may be off by.",
    rows: () => ofVerdict("changed"), show: (rows) => element("div", {}, ...rows.map(changedCard)),
  },
  {
    id: "calls", title: "Called more or less often", about: "Counts are compared exactly. No change of time is certain.",
    rows: () => ofVerdict("calls"), show: (rows) => table([COLUMN.callsBefore, COLUMN.callsAfter, COLUMN.calls, COLUMN.share, COLUMN.name,
      { title: "by", text: true, name: true, of: () => 0, show: (fn) => callersOf(fn).filter((edge) => edge.is_per_call_changed)
        .map((edge) => `${edge.caller}: ${perCall(edge)}`).join(", ") }], rows),
  },
  {
    id: "follows", title: "Changed with their callers", about: "Each call of their callers still makes as many calls, and those cost what they did.",
    rows: () => ofVerdict("follows"), show: (rows) => table([COLUMN.calls, COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.name,
      { title: "follows", text: true, name: true, of: (fn) => fn.follows[0], show: (fn) => fn.follows.join(", ") }], rows),
  },
  {
    id: "same-code", title: "Same code, other cost", about: "Their machine code is the same, and so is how often their callers call them: the reason lies elsewhere.",
    rows: () => ofVerdict("same-code"), show: (rows) => table([COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.share, COLUMN.because, COLUMN.name], rows),
  },
  {
    id: "moved", title: "Moved", about: "Others take as much less or more: renamed, split, merged, inlined, or called from elsewhere. No change of the sum is certain.",
    rows: () => ofVerdict("moved"), show: (rows) => element("div", {},
      table([COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.share, COLUMN.because, COLUMN.name], rows),
      element("ul", {}, ...query.moved.map(movedGroup))),
  },
  {
    id: "one-sided", title: "On one side only", about: "Added, removed, renamed, or no longer called.",
    rows: () => ofVerdict("one-sided"), show: (rows) => table([
      { title: "only", text: true, of: (fn) => fn.on, show: (fn) => (fn.on === "left" ? "before" : "after") },
      COLUMN.callsBefore, COLUMN.callsAfter, COLUMN.before, COLUMN.after, COLUMN.name,
      { title: "", text: true, of: (fn) => fn.perhaps, show: (fn) => (fn.perhaps ? `perhaps renamed ${fn.on === "left" ? "to" : "from"} ${fn.perhaps}` : "") }], rows),
  },
  {
    id: "unconfirmed", title: "Unconfirmed", about: "They looked changed, and fresh runs did not show it again in sign and size.",
    rows: () => ofVerdict("unconfirmed"), show: (rows) => element("div", {}, ...rows.map(changedCard)),
  },
  {
    id: "candidates", title: "Candidates", about: "All runs of one side are beyond all of the other, and yet it is not called a change.",
    rows: () => query.functions.filter((fn) => fn.is_candidate),
    show: (rows) => table([COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.code, COLUMN.share, COLUMN.noVerdict, COLUMN.name], rows),
  },
  {
    id: "unstable", title: "Unstable", about: "Their times vary so much from run to run that a change would not be seen.",
    rows: () => ofVerdict("unstable"), show: (rows) => table([COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.threshold, COLUMN.spread, COLUMN.share, COLUMN.name], rows),
  },
  {
    id: "underpowered", title: "Underpowered", about: "They look changed, but with so few runs nothing among so many functions can be called so: make more runs.",
    rows: () => ofVerdict("underpowered"), show: (rows) => table([COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.threshold, COLUMN.calls, COLUMN.share, COLUMN.why, COLUMN.name], rows),
  },
  {
    id: "skipped", title: "Not tested", about: "They take too little of all time, or less than what their correction may be off by.",
    rows: () => [...ofVerdict("unresolved"), ...ofVerdict("skipped")],
    show: (rows) => table([COLUMN.before, COLUMN.after, COLUMN.error, COLUMN.calls, COLUMN.share, COLUMN.verdict, COLUMN.name], rows),
  },
  {
    id: "errors", title: "Errors and warnings", about: "What was left out, and what the reader should know.",
    rows: () => [...comparison.errors, ...comparison.warnings],
    show: (rows) => element("ul", { class: "errors" }, ...rows.map((text) => element("li", {}, text))),
  },
  {
    id: "runs", title: "Run times", about: "Self time of all functions together, and what was measured of whole runs, in the order of the runs.", bare: true,
    rows: () => [{ name: "self time of all functions", verdict: query.total.verdict, values: query.total.self_ns },
      ...query.metrics.filter((metric) => metric.name === "wall_ns" || metric.name === "user_ns")],
    show: (rows) => element("div", {}, ...rows.map((metric) => element("div", { class: "card" },
      element("h3", {}, `${metricName(metric.name)}: ${signed(metric.values.difference)} ${plusMinus(metric.values)}, ${metric.verdict.replace("-", " ")}`),
      legend(), course(metric.values)))),
  },
  {
    id: "timelines", title: "Timelines", bare: true,
    about: `When roots ran, or else what nothing recorded has called. ${OVERLAY_ABOUT}`, rows: withTimeline, show: (rows) => overlays(rows),
  },
  {
    id: "metrics", title: "Metrics", about: "Medians of whole runs.",
    rows: () => query.metrics, show: (rows) => table([
      { title: "metric", text: true, of: (metric) => metric.name, show: (metric) => metricName(metric.name) },
      { title: "before", of: (metric) => metric.values.left_median, show: (metric) => metricValue(metric.name, metric.values.left_median) },
      { title: "after", of: (metric) => metric.values.right_median, show: (metric) => metricValue(metric.name, metric.values.right_median) },
      { title: "D", of: (metric) => metric.values.difference, show: (metric) => signed(metric.values.difference) },
      { title: "T", of: (metric) => metric.values.threshold, show: (metric) => (metric.values.threshold === null ? "" : signed(metric.values.threshold).slice(1)) },
      { title: "p", of: (metric) => metric.values.p_adjusted, show: (metric) => probability(metric.values.p_adjusted) },
      { title: "verdict", text: true, of: (metric) => metric.verdict, show: (metric) => element("span", { class: `badge ${metric.verdict === "changed" ? tone(metric.values.difference) : ""}` }, metric.verdict.replace("-", " ")) },
    ], rows),
  },
  {
    id: "functions", title: "All functions", about: "", bare: true, rows: () => query.functions,
    show: (rows) => {
      const columns = [COLUMN.before, COLUMN.after, COLUMN.change, COLUMN.threshold, COLUMN.p, COLUMN.total, COLUMN.calls, COLUMN.code, COLUMN.share, COLUMN.verdict, COLUMN.name];
      const list = element("div", {}, table(columns, rows));
      const search = () => {
        const wanted = input.value.toLowerCase();
        list.replaceChildren(table(columns, rows.filter((fn) => fn.name.toLowerCase().includes(wanted))));
      };
      const input = element("input", { type: "search", placeholder: "Search functions", "aria-label": "Search functions", oninput: search });
      return element("div", {}, element("div", { class: "tools" }, input), list);
    },
  },
  {
    id: "flames", title: "Flame graphs", bare: true,
    about: "Time of the mean run, with callees; in the difference, red takes longer after than before, blue shorter, and the width is the time after.",
    rows: () => picturesOf(data.flames[number]), show: (pictures) => flameGraphs(data.flames[number], pictures),
  },
];
