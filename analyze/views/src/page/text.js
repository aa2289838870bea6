// Numbers and names as people read them: the same words as in a terminal's report.

/**
 * A time in the unit that suits it, with three significant digits (seconds with four).
 * @param {number} ns
 */
export function time(ns) {
  if (!(ns > 0)) return "0 ns";
  for (const [scale, unit] of /** @type {const} */ ([[1, "ns"], [1e3, "µs"], [1e6, "ms"]])) {
    const text = significant(ns / scale, 3);
    if (Number(text) < 1000) return `${text} ${unit}`;
  }
  const seconds = ns / 1e9;
  return seconds >= 1000 ? `${count(Math.round(seconds))} s` : `${significant(seconds, 4)} s`;
}

/** @param {number} value @param {number} digits */
export function significant(value, digits) {
  const before = value < 10 ? 1 : value < 100 ? 2 : 3;
  return value.toFixed(Math.max(0, digits - before));
}

/**
 * The time at a mark of a scale, without digits that it does not need.
 * @param {number} ns
 */
export function tickText(ns) {
  return ns > 0 ? time(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ") : "0";
}

/**
 * A time; or the most that it may be, if it is less than what its correction may be off by.
 * @param {number} ns @param {number} error
 */
export function resolved(ns, error) {
  return ns < error ? `< ${time(ns + error)}` : time(ns);
}

/**
 * The self time of what has that total: it is within it, so it cannot be told better.
 * @param { { self: number, own_error?: number, total: number, error: number } } times
 */
export function resolvedSelf({ self, own_error = 0, total, error }) {
  const most = total + error;
  const own = total < error ? error : Math.min(own_error, most);
  return self < own ? `< ${time(Math.min(self + own, most))}` : time(self);
}

const counts = new Intl.NumberFormat("en-US");

/** @param {number} number */
export function count(number) {
  return counts.format(number);
}

/** @param {number} number @param {string} one @param {string} many */
export function counted(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** @param {number} part @param {number} whole */
export function share(part, whole) {
  if (!(whole > 0)) return "";
  const percent = (part / whole) * 100;
  return percent <= 0 ? "0%" : percent < 0.05 ? "<0.1%" : `${percent.toFixed(1)}%`;
}

/**
 * What a name is made of: the namespaces and classes that it is in, its own, and its parameters with all that follows.
 * @param {string} name
 * @returns {[string, string, string]}
 */
export function nameParts(name) {
  let [depth, own] = [0, 0];
  for (let at = 0; at < name.length; at++) {
    const letter = name[at];
    if (!"<>‹›(){}[]:".includes(letter)) continue;
    if (/operator(|<|>|-|\(|\[|<=|->)$/.test(name.slice(Math.max(at - 10, 0), at))) continue;
    if (letter === "(" && depth === 0 && !name.startsWith("(anonymous", at)) return [name.slice(0, own), name.slice(own, at), name.slice(at)];
    if ("<‹{([".includes(letter)) depth++;
    else if (">›})]".includes(letter)) depth = Math.max(depth - 1, 0);
    else if (depth === 0 && name.startsWith("::", at)) own = at;
  }
  return [name.slice(0, own), name.slice(own), ""];
}

/**
 * A name in that many letters: what it is in goes first, then the end.
 * @param {string} name @param {number} letters
 */
export function fitting(name, letters) {
  if (name.length <= letters) return name;
  const [scope, own, rest] = nameParts(name);
  const end = scope ? own.slice(2) + rest : own + rest;
  if (scope && own.length + rest.length < letters) return `…${own}${rest}`;
  return end.length <= letters ? end : `${end.slice(0, letters - 1)}…`;
}

/**
 * What an element has: `on…` are told events, anything else is an attribute, unless it is nothing.
 * @typedef { { [name: string]: string | number | boolean | null | undefined | ((event: any) => void) } } Attributes
 */

/**
 * An element with attributes and children; text is never read as markup.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {Attributes} attributes
 * @param {(string | Node | null | undefined)[]} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/**
 * The same in a drawing.
 * @template {keyof SVGElementTagNameMap} N
 * @param {N} name
 * @param { { [name: string]: string | number } } attributes
 * @param {(string | Node)[]} children
 */
export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}
