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
const SPREAD = ["mean", "p50", "p90", "p99", "p999", "max"];
const sorting = { column: "self", isDescending: true };
/** The rows that are seen, in their order; and what draws those in sight. */
const listed = { rows: [], body: null, head: null, drawn: null };

function columnsOfTable() {
  return COLUMNS.filter(([key]) => !page.is_raw || !SPREAD.includes(key));
}

views.table = () => {
  const part = partOf(state.part);
  const sight = sighted(part);
  const columns = columnsOfTable();
  const view = document.getElementById("view-table");
  if (!listed.body) {
    Object.assign(listed, { body: element("tbody"), head: element("thead") });
    listed.drawn = new Rows(element("table", {}, listed.head, listed.body), listed.body);
  }
  listed.rows = sorted(sight.rows.filter(({ id }) => matches(id)));
  listed.head.replaceChildren(element("tr", {}, ...columns.map(headOf)));
  listed.drawn.box.setAttribute("aria-rowcount", listed.rows.length + 1);
  // As wide as the longest, wherever one has scrolled to.
  listed.drawn.box.style.setProperty("--calls", `${count(listed.rows.reduce((most, { calls }) => Math.max(most, calls), 0)).length}ch`);
  const notes = page.is_raw || !sight.rows.some(({ isCut }) => isCut) ? [] : unfiltered("Means and percentiles are kept by function, not by path: functions of which a part is filtered out have none here.");
  const parts = [...notes, ...listed.drawn.parts, ...(listed.rows.length ? [] : [element("p", { class: "empty" }, "No function has a name like that.")])];
  const isThere = parts.length === view.children.length && parts.every((part, index) => part === view.children[index]);
  if (!isThere) view.replaceChildren(...parts);
  const most = sight.rows.reduce((most, { self }) => Math.max(most, self), 1);
  listed.drawn.show(listed.rows.length, (index) => tableRow(part, listed.rows[index], index, columns, most));
};

function headOf([key, title, help]) {
  const isSorted = sorting.column === key;
  return element("th", { class: key === "label" ? "name" : key, scope: "col", "aria-sort": isSorted ? (sorting.isDescending ? "descending" : "ascending") : null },
    element("button", { title: help, onclick: () => sortBy(key) }, title, isSorted ? (sorting.isDescending ? " ↓" : " ↑") : ""));
}

function sorted(rows) {
  const { column, isDescending } = sorting;
  const key = column === "share" ? "self" : column;
  const sign = isDescending ? -1 : 1;
  const rank = ranks();
  // Names break ties, so that the order is the same each time; what has no value is last.
  return rows.sort((a, b) => {
    const byName = rank[a.id] - rank[b.id];
    if (key === "label") return sign * byName;
    if ((a[key] === undefined) !== (b[key] === undefined)) return a[key] === undefined ? 1 : -1;
    return sign * (a[key] - b[key]) || byName;
  });
}

function sortBy(column) {
  const isSame = sorting.column === column;
  Object.assign(sorting, { column, isDescending: isSame ? !sorting.isDescending : column !== "label" });
  views.table();
  toTop();
  document.querySelector("#view-table th[aria-sort] button").focus();
}

/** The table's functions, in its order, as CSV: times are nanoseconds. */
function saveTable() {
  const keys = columnsOfTable().map(([key]) => key).filter((key) => key !== "share");
  const names = { label: "function", calls: "calls", p999: "p99.9_ns" };
  const cell = (value) => (typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : (value ?? ""));
  const lines = [keys.map((key) => names[key] ?? `${key}_ns`), ...listed.rows.map((row) => keys.map((key) => cell(row[key])))];
  saveAs("diytrace.csv", "text/csv", `${lines.map((line) => line.join(",")).join("\n")}\n`);
}

function tableRow(part, row, index, columns, most) {
  const open = () => show({ selected: row.id });
  const cells = columns.map(([key]) => cell(part, row, key, most));
  const line = element("tr", { tabindex: 0, "data-row": row.id, "aria-rowindex": index + 2, onclick: open, class: state.selected === row.id ? "selected" : null }, ...cells);
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
    if (event.key === "ArrowDown") line.nextElementSibling?.focus(), event.preventDefault();
    if (event.key === "ArrowUp") line.previousElementSibling?.focus(), event.preventDefault();
  });
  return line;
}

function cell(part, row, key, most) {
  if (key === "label") return element("td", { class: "name" }, element("div", { class: "who" }, marked(row.label), element("span", { class: "where" }, place(row.id))));
  if (key === "calls") return element("td", { class: key }, count(row.calls));
  if (key === "share") {
    const bar = element("i", { style: `width: calc((100% - 14px) * ${(row.self / most).toFixed(3)})` });
    return element("td", { class: "share" }, bar, element("span", {}, share(row.self, part.total)));
  }
  if (row[key] === undefined) return element("td", { class: key });
  const text = key === "self" ? resolvedSelf(row) : resolved(row[key], key === "total" ? row.error : row.call_error);
  return element("td", { class: text.startsWith("<") ? `${key} unresolved` : key }, text);
}
