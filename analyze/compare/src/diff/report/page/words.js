// Differences in words: the same as in the terminal's summary.

function signed(part, digits = 1) {
  if (part === null || part === undefined) return "from 0";
  return `${part < 0 ? "−" : "+"}${Math.abs(part * 100).toFixed(Math.abs(part) >= 10 ? 0 : digits)}%`;
}

/** Counts are exact: as many digits as it takes. */
function exactly(part) {
  const size = Math.abs(part ?? 0) * 100;
  return signed(part, size === 0 || size >= 0.1 ? 1 : size >= 0.001 ? 3 : 5);
}

function plusMinus({ plus_minus: part }) {
  return part === null ? "" : `± ${(part * 100).toFixed(1)}%`;
}

function between({ interval }) {
  return interval ? `${signed(interval.low)} … ${signed(interval.high)} (${Math.round(interval.level * 1000) / 10}%)` : "";
}

function medianCount(value) {
  return Number.isInteger(value) ? count(value) : value.toFixed(1);
}

function ratio(value, digits) {
  if (Number.isInteger(value)) return count(value);
  if (value < 0.01) return value.toExponential(digits);
  return value < 1000 ? value.toFixed(digits) : digits > 2 ? value.toFixed(digits - 2) : count(Math.round(value));
}

/** What a caller makes of each of its calls, before and after, with as many digits as it takes to tell them apart. */
function perCall({ per_call: [before, after] }) {
  const texts = (digits) => [ratio(before, digits), ratio(after, digits)];
  const digits = [2, 3, 4, 5, 6, 7, 8, 9].find((digits) => new Set(texts(digits)).size > 1) ?? 2;
  return `${texts(digits).join(" → ")} a call`;
}

function probability(p) {
  return p === null ? "" : p >= 0.001 ? p.toFixed(3) : p.toExponential(1);
}

/** Longer is worse, whatever it is that is longer. */
function tone(difference) {
  return difference === null || difference > 0 ? "worse" : difference < 0 ? "better" : "";
}

function why({ split, calls, cost_ns }) {
  const cost = signed(cost_ns.difference);
  if (split.why === "cost") return `each call costs ${cost}`;
  if (split.why === "calls") return `calls ${exactly(calls.difference)}`;
  const whole = Math.abs(split.calls_ns) + Math.abs(split.cost_ns);
  const part = Math.round((Math.abs(split.calls_ns) / whole) * 100);
  return `calls ${exactly(calls.difference)} (${part}% of it), and each costs ${cost} (${100 - part}%)`;
}

/** Why it changed, as far as anybody can tell. */
function because(fn) {
  const { cause } = fn;
  if (!cause) return why(fn);
  const by = cause.by.join(", ");
  const near = { caller: "its caller ", callee: "its callee ", sibling: "beside it, " }[cause.relation] ?? "on its path, ";
  const calls = () => {
    const index = query.functions.indexOf(fn);
    const edges = query.edges.filter((edge) => edge.ends[0] === index && edge.is_per_call_changed && cause.by.includes(edge.callee));
    return edges.map((edge) => `${edge.callee} ${perCall(edge)}`).join(", ");
  };
  return {
    code: () => "its code changed",
    inlining: () => `its code changed, and ${by} with it: inlined on one side, called on the other`,
    calls: () => (by ? `called more or less often by ${by}` : "no recorded caller alone explains it"),
    callers: () => `follows ${by}`,
    moved: () => (!by ? "its calls moved" : fn.self_ns.right_median < fn.self_ns.left_median ? `its cost moved to ${by}` : `its cost moved here from ${by}`),
    "asked-for-more": () => `asked for ${fn.self_ns.difference < 0 ? "less" : "more"}: ${calls()}`,
    waits: () => `it waits ${time(fn.wait_ns[0])} → ${time(fn.wait_ns[1])}`,
    memory: () => `memory, as ${near}${by} changed`,
    layout: () => "layout, as its code lies elsewhere",
    surroundings: () => "both sides are one build: what it is given, or what runs it",
    unknown: () => (fn.code === "unknown" ? "nobody can tell whether its code changed" : "nobody can tell why"),
  }[cause.kind]();
}

/** Why what looks like a change is not called one. */
function noVerdict(fn) {
  if (fn.verdict === "too-small") return `less than the ${(fn.min_change * 100).toFixed(1)}% that matter`;
  if (fn.verdict === "unresolved") return `the correction may be off by ${time(fn.self_ns.error_ns)}`;
  if (fn.verdict === "unstable") return `it varies by ${Math.round(fn.self_ns.spread * 100)}%`;
  return `so few runs do that by chance among ${counted(query.tests, "function", "functions")}`;
}

function metricName(name) {
  return name.replace(/_(ns|bytes)$/, "").replaceAll("_", " ");
}

function metricValue(name, value) {
  if (name.endsWith("_ns")) return time(value);
  if (name.endsWith("_bytes")) return `${count(Math.round(value / 1024))} KiB`;
  return Number.isInteger(value) ? count(value) : value >= 1e4 ? count(Math.round(value)) : value.toPrecision(4);
}

/** A query's names, and those that several of its functions have. */
const names = { query: null, met: new Set(), shared: new Set() };

/** A function's name, with what tells it from others of that name. */
function named(fn) {
  if (names.query !== query) {
    Object.assign(names, { query, met: new Set(), shared: new Set() });
    for (const { name } of query.functions) (names.met.has(name) ? names.shared : names.met).add(name);
  }
  const place = names.shared.has(fn.name) ? fn.file ?? fn.module : null;
  return element("span", {}, element("span", { class: "fn", title: `${fn.name} [${fn.module}]` }, fn.name),
    place && element("span", { class: "soft" }, ` ${place}`));
}
