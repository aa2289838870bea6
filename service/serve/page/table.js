// Tables that are sorted by a click, and grow as one reads on.

import { element } from "./text.js";

/** Rows that are made at a time. */
const BATCH = 200;

/**
 * By which column each table is sorted, as long as the page is open.
 * @type {Map<string, [by: number, descending: boolean]>}
 */
const sorts = new Map();

/**
 * A table with a name. Columns are `{ title, of, write, isName, help }`: what a row has there, and how that is written (text or an
 * element). `sorted` is `[column, descending]` for whoever has not chosen yet.
 * @template Row
 * @param {string} name @param {import("./types.d.ts").Column<Row>[]} columns @param {Row[]} rows @param {[by: number, descending: boolean]} sorted
 */
export function table(name, columns, rows, sorted) {
  const holder = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name });
  const draw = () => {
    const [by, descending] = sorts.get(name) ?? sorted;
    const order = inOrder(rows, columns[by].of, descending);
    const body = element("tbody");
    const heads = columns.map((column, at) => head(column, at === by ? (descending ? "descending" : "ascending") : null, () => {
      sorts.set(name, [at, at === by ? !descending : !column.isName]);
      draw();
      /** @type {HTMLElement} */ (holder.querySelectorAll("th button")[at]).focus();
    }));
    holder.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
    grow(holder, body, order, columns);
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
 * Adds rows whenever the last one comes into sight.
 * @template Row
 * @param {HTMLElement} holder @param {HTMLElement} body @param {Row[]} rows @param {import("./types.d.ts").Column<Row>[]} columns
 */
function grow(holder, body, rows, columns) {
  let made = 0;
  const more = () => {
    body.append(...rows.slice(made, made + BATCH).map((row) => line(row, columns)));
    made += BATCH;
  };
  more();
  if (made >= rows.length) return;
  const end = element("p", { class: "soft" }, "…");
  holder.append(end);
  const watcher = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    more();
    if (made >= rows.length) watcher.disconnect(), end.remove();
  });
  watcher.observe(end);
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
