// All functions in a table, sorted by any column.

const COLUMNS = [
  ["label", "function", "Name and place"],
  ["calls", "calls", "Calls entered: exact"],
  ["total", "total", "Time with all that was called; of a recursion, the outermost calls"],
  ["self", "self", "Time without what was called"],
  ["share", "self %", "Share of all self time"],
  ["mean", "mean", "Mean time of a call"],
  ["p50", "p50", "Half of the calls took no longer"],
  ["p90", "p90", "Nine of ten calls took no longer"],
  ["p99", "p99", "99 of 100 calls took no longer"],
  ["p999", "p99.9", "999 of 1,000 calls took no longer"],
  ["max", "max", "The longest call"],
];
const BATCH = 300;
const sorting = { column: "self", isDescending: true, shown: BATCH };

views.table = () => {
  const part = partOf(state.part);
  const columns = COLUMNS.filter(([key]) => !page.is_raw || !["mean", "p50", "p90", "p99", "p999", "max"].includes(key));
  const rows = sorted(part.rows.filter((row) => matches(row.label)));
  const head = columns.map(([key, title, help]) => element("th", {
    class: key === "label" ? "name" : key, scope: "col",
    "aria-sort": sorting.column === key ? (sorting.isDescending ? "descending" : "ascending") : null,
  }, element("button", { title: help, onclick: () => sortBy(key) }, title, sorting.column === key ? (sorting.isDescending ? " ↓" : " ↑") : "")));
  const shown = rows.slice(0, sorting.shown).map((row) => tableRow(part, row, columns));
  const view = document.getElementById("view-table");
  const scrolled = view.scrollTop;
  view.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...shown)));
  if (!rows.length) view.append(element("p", { class: "empty" }, "No function has a name like that."));
  if (rows.length > sorting.shown) {
    const more = () => { sorting.shown += BATCH; views.table(); };
    view.append(element("p", { class: "more" }, element("button", { class: "plain", onclick: more }, `Show more of ${count(rows.length)}`)));
  }
  view.scrollTop = scrolled;
};

function sorted(rows) {
  const { column, isDescending } = sorting;
  const key = column === "share" ? "self" : column;
  const sign = isDescending ? -1 : 1;
  // Names break ties, so that the order is the same each time; what has no value is last.
  return rows.sort((a, b) => {
    if (key !== "label" && (a[key] === undefined) !== (b[key] === undefined)) return a[key] === undefined ? 1 : -1;
    const order = key === "label" ? a.label.localeCompare(b.label) : a[key] - b[key];
    return sign * order || a.label.localeCompare(b.label);
  });
}

function sortBy(column) {
  const isSame = sorting.column === column;
  Object.assign(sorting, { column, isDescending: isSame ? !sorting.isDescending : column !== "label", shown: BATCH });
  views.table();
  document.querySelector("#view-table th[aria-sort] button").focus();
}

function tableRow(part, row, columns) {
  const open = () => show({ selected: row.id });
  const cells = columns.map(([key]) => cell(part, row, key));
  const line = element("tr", { tabindex: 0, "data-row": row.id, onclick: open, class: state.selected === row.id ? "selected" : null }, ...cells);
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
    if (event.key === "ArrowDown") line.nextElementSibling?.focus(), event.preventDefault();
    if (event.key === "ArrowUp") line.previousElementSibling?.focus(), event.preventDefault();
  });
  return line;
}

function cell(part, row, key) {
  if (key === "label") return element("td", { class: "name" }, element("div", { class: "who" }, marked(row.label), element("span", { class: "where" }, place(row.id))));
  if (key === "calls") return element("td", { class: key }, count(row.calls));
  if (key === "share") {
    part.most ??= Math.max(1, ...part.rows.map((other) => other.self));
    const bar = element("i", { style: `width: calc((100% - 14px) * ${(row.self / part.most).toFixed(3)})` });
    return element("td", { class: "share" }, bar, element("span", {}, share(row.self, part.total)));
  }
  if (row[key] === undefined) return element("td", { class: key });
  const text = key === "self" ? resolvedSelf(row) : resolved(row[key], key === "total" ? row.error : part.call_error);
  return element("td", { class: text.startsWith("<") ? `${key} unresolved` : key }, text);
}
