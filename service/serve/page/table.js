// Tables that are sorted by a click; of long ones only what is in sight is in the page.

import { mark, place } from "./place.js";
import { Rows } from "./rows.js";
import { element } from "./text.js";

/** More rows than that are drawn when they come into sight: each as high as the others, so names do not wrap. */
const MOST_WHOLE = 200;
/** What a long list's columns have room for is what stands in so many of its first rows, and in the one with the most. */
const MEASURED = 50;
/** How wide names are at least, in digits. */
const NAME = 24;

/**
 * By which column each table is sorted, by the column's title; it stands in the address, too.
 * @type {Map<string, [by: string, descending: boolean]>}
 */
const sorts = new Map();

/** What somebody has sent along with the address. */
function readSorts() {
  for (const line of (place().words.order ?? "").split("\n").filter(Boolean)) {
    const [name, by, way] = line.split("\t");
    sorts.set(name, [by, way !== "up"]);
  }
}

/** @param {string} name @param {string} by @param {boolean} descending */
function keepSort(name, by, descending) {
  sorts.set(name, [by, descending]);
  const { path, words } = place();
  const others = (words.order ?? "").split("\n").filter((line) => line && !line.startsWith(`${name}\t`));
  mark(path, { ...words, order: [...others, [name, by, descending ? "down" : "up"].join("\t")].join("\n") }, false);
}

/**
 * How high the rows of long tables are, which does not change while the page is open, unless the window does.
 * @type {{ width: number, height: number }}
 */
const known = { width: 0, height: 0 };

/**
 * A table with a name. Columns are `{ title, of, write, isName, help }`: what a row has there, and how that is written (text or an
 * element). `sorted` is `[column, descending]` for whoever has not chosen yet; null leaves rows as they come.
 * @template Row
 * @param {string} name @param {import("./types.d.ts").Column<Row>[]} columns @param {Row[]} rows @param {[by: number, descending: boolean] | null} sorted
 */
export function table(name, columns, rows, sorted) {
  const holder = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name });
  readSorts();
  const draw = () => {
    const [chosen, isDown] = sorts.get(name) ?? [];
    const at = columns.findIndex(({ title }) => title === chosen);
    const [by, descending] = at < 0 ? (sorted ?? [-1, false]) : [at, Boolean(isDown)];
    const order = by < 0 ? rows : inOrder(rows, columns[by].of, descending);
    const body = element("tbody");
    const heads = columns.map((column, at) => head(column, at === by ? (descending ? "descending" : "ascending") : null, () => {
      keepSort(name, column.title, at === by ? !descending : !column.isName);
      draw();
      /** @type {HTMLElement} */ (holder.querySelectorAll("th button")[at]).focus();
    }));
    const whole = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
    if (order.length > MOST_WHOLE) return holder.replaceChildren(...inSight(whole, body, order, columns));
    body.append(...order.map((row) => line(row, columns)));
    holder.replaceChildren(whole);
  };
  draw();
  return holder;
}

/**
 * A long name as parts that may stand on lines of their own.
 * @param {string} name
 */
export function breakable(name) {
  return name.split(/(?<=::|, |_)/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}

/** @param {import("./types.d.ts").Column<any>} column @param {string | null} sort @param {() => void} onSort */
function head({ title, isName, help }, sort, onSort) {
  const button = element("button", { type: "button", onclick: onSort, title: help }, title);
  return element("th", { scope: "col", class: isName ? "name" : null, "aria-sort": sort }, button);
}

/**
 * @template Row
 * @param {Row[]} rows @param {import("./types.d.ts").Column<Row>["of"]} of @param {boolean} descending
 */
function inOrder(rows, of, descending) {
  return [...rows].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    const less = typeof x === "string" ? x.localeCompare(String(y)) : Number(x ?? -1) - Number(y ?? -1);
    return descending ? -less : less;
  });
}

/**
 * A long table, of which what is in sight is drawn. Its columns keep their widths, whatever is.
 * @template Row
 * @param {HTMLElement} whole @param {HTMLElement} body @param {Row[]} order @param {import("./types.d.ts").Column<Row>[]} columns
 */
function inSight(whole, body, order, columns) {
  const widths = columns.map((column) => (column.isName ? null : digits(column, order)));
  const sum = widths.reduce((sum, width) => /** @type {number} */ (sum) + (width ?? NAME), 0);
  const one = (/** @type {number | null} */ width) => {
    const made = element("col");
    if (width) made.style.width = `calc(${width}ch + 1.2em)`;
    return made;
  };
  whole.prepend(element("colgroup", {}, ...widths.map(one)));
  whole.classList.add("long");
  whole.style.minWidth = `calc(${sum}ch + ${1.2 * columns.length}em)`;
  whole.setAttribute("aria-rowcount", String(order.length + 1));
  const rows = new Rows(whole, body, known.width === innerWidth ? known.height : 0);
  rows.show(order.length, (index) => {
    Object.assign(known, { width: innerWidth, height: rows.height });
    const made = line(order[index], columns);
    made.setAttribute("aria-rowindex", String(index + 2));
    made.title = made.firstElementChild?.textContent ?? ""; // of a long name, all of it
    return made;
  });
  return rows.parts;
}

/**
 * How many digits a column has room for.
 * @template Row
 * @param {import("./types.d.ts").Column<Row>} column @param {Row[]} rows
 */
function digits({ title, of, write }, rows) {
  const most = rows.reduce((most, row) => (Number(of(row)) > Number(of(most)) ? row : most), rows[0]);
  const texts = [most, ...rows.slice(0, MEASURED)].map((row) => {
    const cell = write ? write(of(row), row) : String(of(row) ?? "");
    return (typeof cell === "string" ? cell : (cell.textContent ?? "")).length;
  });
  return Math.max(title.length + 3, ...texts) + 1;
}

/**
 * @template Row
 * @param {Row} row @param {import("./types.d.ts").Column<Row>[]} columns
 */
function line(row, columns) {
  return element("tr", {}, ...columns.map(({ of, write, isName }, at) => {
    const cell = write ? write(of(row), row) : String(of(row) ?? "");
    const isHead = isName && at === 0;
    return element(isHead ? "th" : "td", isName ? { class: "name", scope: isHead ? "row" : null } : {}, cell);
  }));
}
