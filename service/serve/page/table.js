// Tables that are sorted by a click, and grow as one reads on.

import { element } from "./text.js";

/** Rows that are made at a time. */
const BATCH = 200;

/** By which column each table is sorted, as long as the page is open. */
const sorts = new Map();

/**
 * A table with a name. Columns are `{ title, of, write, isName, help }`: what a row has there, and how that is written (text or an
 * element). `sorted` is `[column, descending]` for whoever has not chosen yet.
 */
export function table(name, columns, rows, sorted) {
  const holder = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name });
  const draw = () => {
    const [by, descending] = sorts.get(name) ?? sorted;
    const order = inOrder(rows, columns[by].of, descending);
    const body = element("tbody");
    const heads = columns.map((column, at) => head(column, at === by ? (descending ? "descending" : "ascending") : null, () => {
      sorts.set(name, [at, at === by ? !descending : !column.isName]);
      draw();
      holder.querySelectorAll("th button")[at].focus();
    }));
    holder.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
    grow(holder, body, order, columns);
  };
  draw();
  return holder;
}

function head({ title, isName, help }, sort, onSort) {
  const button = element("button", { type: "button", onclick: onSort, title: help }, title);
  return element("th", { scope: "col", class: isName ? "name" : null, "aria-sort": sort }, button);
}

function inOrder(rows, of, descending) {
  return [...rows].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    const less = typeof x === "string" ? x.localeCompare(y) : (x ?? -1) - (y ?? -1);
    return descending ? -less : less;
  });
}

/** Adds rows whenever the last one comes into sight. */
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

function line(row, columns) {
  return element("tr", {}, ...columns.map(({ of, write, isName }, at) => {
    const cell = write ? write(of(row), row) : String(of(row) ?? "");
    const isHead = isName && at === 0;
    return element(isHead ? "th" : "td", isName ? { class: "name", scope: isHead ? "row" : null } : {}, cell);
  }));
}
