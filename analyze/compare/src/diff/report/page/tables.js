// Tables that are sorted by their columns.

/** Longer tables have rows of one height and columns of one width, so that only those in sight are drawn. */
const LONG = 100;

/** Columns are { title, of: row => value to sort by, show: row => what to show, text }. */
function table(columns, rows) {
  const state = { by: null, down: true };
  const [head, body] = [element("thead"), element("tbody")];
  const isLong = rows.length > LONG;
  const box = element("table", { class: isLong && "long", "aria-rowcount": rows.length + 1 }, head, body);
  const list = isLong ? new Rows(box, body) : null;
  const row = (one) => element("tr", {}, ...columns.map((column) =>
    element("td", { class: column.name ? "text name" : column.text && "text" }, column.show(one))));
  const draw = () => {
    let sorted = rows;
    if (state.by) {
      const key = state.by.of;
      const rank = (value) => (value === null || value === undefined ? -Infinity : value);
      sorted = [...rows].sort((a, b) => {
        const [x, y] = [rank(key(a)), rank(key(b))];
        const order = x < y ? -1 : x > y ? 1 : 0;
        return state.down ? -order : order;
      });
    }
    head.replaceChildren(element("tr", {}, ...columns.map((column) => {
      const sort = () => {
        state.down = state.by === column ? !state.down : !column.text;
        state.by = column;
        draw();
      };
      const order = state.by === column && (state.down ? "descending" : "ascending");
      return element("th", { class: column.name ? "text name" : column.text && "text", "aria-sort": order, title: column.help },
        element("button", { onclick: sort }, column.title));
    })));
    if (list) list.show(sorted.length, (index) => row(sorted[index]));
    else body.replaceChildren(...sorted.map(row));
  };
  draw();
  return element("div", { class: "wide" }, ...(list ? list.parts : [box]));
}

const COLUMN = {
  name: { title: "function", text: true, name: true, of: (fn) => fn.name, show: named },
  before: { title: "self before", of: (fn) => fn.self_ns.left_median, show: (fn) => (fn.on === "right" ? "" : resolved(fn.self_ns.left_median, fn.self_ns.left_error_ns)) },
  after: { title: "after", of: (fn) => fn.self_ns.right_median, show: (fn) => (fn.on === "left" ? "" : resolved(fn.self_ns.right_median, fn.self_ns.right_error_ns)) },
  change: {
    title: "D", help: "Difference of medians, as a part of the median before", of: (fn) => fn.self_ns.difference,
    show: (fn) => (fn.on === "both" ? signed(fn.self_ns.difference) : ""),
  },
  threshold: {
    title: "T", help: "99% of all splits of the runs put medians no further apart", of: (fn) => fn.self_ns.threshold,
    show: (fn) => (fn.self_ns.threshold === null || fn.on !== "both" ? "" : signed(fn.self_ns.threshold).slice(1)),
  },
  spread: {
    title: "spread", help: "What T would be if the medians were the same", of: (fn) => fn.self_ns.spread,
    show: (fn) => (fn.self_ns.spread === null ? "" : signed(fn.self_ns.spread).slice(1)),
  },
  error: { title: "error", help: "How far off the difference may be as times were corrected", of: (fn) => fn.self_ns.error_ns, show: (fn) => time(fn.self_ns.error_ns) },
  p: { title: "p", help: "Adjusted for all functions that were tested", of: (fn) => fn.self_ns.p_adjusted, show: (fn) => probability(fn.self_ns.p_adjusted) },
  total: { title: "with callees", of: (fn) => fn.total_ns.difference, show: (fn) => (fn.on === "both" ? signed(fn.total_ns.difference) : "") },
  callsBefore: { title: "calls before", of: (fn) => fn.calls.left_median, show: (fn) => (fn.on === "right" ? "" : medianCount(fn.calls.left_median)) },
  callsAfter: { title: "after", of: (fn) => fn.calls.right_median, show: (fn) => (fn.on === "left" ? "" : medianCount(fn.calls.right_median)) },
  calls: {
    title: "calls", of: (fn) => fn.calls.difference,
    show: (fn) => (fn.on !== "both" ? "" : { equal: "equal", varies: "vary" }[fn.calls.verdict] ?? exactly(fn.calls.difference)),
  },
  why: { title: "why", text: true, of: (fn) => fn.split.why, show: why },
  because: { title: "why", text: true, of: (fn) => fn.cause?.kind, show: because },
  code: { title: "code", help: "Whether its machine code is the same on both sides", text: true, of: (fn) => fn.code, show: (fn) => fn.code },
  noVerdict: { title: "no verdict, as", text: true, of: (fn) => fn.verdict, show: noVerdict },
  share: { title: "share", help: "Of all self time, over both sides", of: (fn) => fn.share, show: (fn) => share(fn.share, 1) },
  verdict: { title: "verdict", text: true, of: (fn) => fn.verdict, show: (fn) => badge(fn) },
};

function badge(fn) {
  const kind = fn.verdict === "changed" ? tone(fn.self_ns.difference)
    : ["unstable", "underpowered", "unconfirmed"].includes(fn.verdict) ? "warn" : "";
  return element("span", { class: `badge ${kind}` }, fn.verdict.replace("-", " "));
}
