// Where one is: every state is in the address, so that it can be sent to somebody and gone back to.

import { query } from "./ask.js";

/**
 * The page, and the words that choose what it shows.
 * @returns {{ path: string, words: import("./types.d.ts").Words }}
 */
export function place() {
  const [path, words] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", words: Object.fromEntries(new URLSearchParams(words || "")) };
}

/** @param {string} path @param {import("./types.d.ts").Words} words */
export function go(path, words) {
  const here = place();
  // Tables may have got another order since those words were read.
  location.hash = address(path, { ...words, order: here.path === path ? here.words.order : words.order });
}

/**
 * Has the address tell what is shown already; the way back leads to what was shown before, if that is a step of its own.
 * @param {string} path @param {import("./types.d.ts").Words} words
 */
export function mark(path, words, isStep = true) {
  const there = address(path, words);
  if (there === location.hash) return;
  if (isStep) history.pushState(null, "", there);
  else history.replaceState(null, "", there);
}

/**
 * For links.
 * @param {string} path @param {import("./types.d.ts").Words} words
 */
export function address(path, words = {}) {
  const text = query(words);
  return `#${text ? `${path}?${text}` : path}`;
}

/**
 * The pattern that means functions of a short name: what that leaves out may be anything.
 * @param {string} name
 */
export function pattern(name) {
  if (name.includes("{lambda#")) return name; // parameters of what it is in are left out, and which there are is not known here
  const whole = [["‹…›", "<*>"], ["(anonymous)", "(anonymous namespace)"], ["std::string", "std::*string*"]];
  const longer = whole.reduce((text, [short, long]) => text.replaceAll(short, long), name);
  return longer.replace(/(?<!operator)>(?=>)/g, ">*"); // names have `> >` there
}

/**
 * What of the store is asked for.
 * @param {import("./types.d.ts").Words} words
 */
export const selection = ({ select, since, until }) => ({ select, since, until });

/** Labels of a selection: commas in quotes are a part of a value. */
const LABELS = /(?:[^",]|"(?:\\.|[^"\\])*"|")+/g;

/**
 * A pattern that means this value of a label and no other.
 * @param {string} value
 */
export const exactly = (value) => (/[,*?|"\\]|^!|^\s|\s$/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : value);

/**
 * What of a selection has this value of a label, as labels.
 * @param {string | undefined} select @param {string} label @param {string} value
 */
export const within = (select, label, value) => [...((select ?? "").match(LABELS) ?? []).filter((one) => !one.trim().startsWith(`${label}=`)), `${label}=${exactly(value)}`].join(",");

/**
 * The same on a command line: a command, options beyond the selection, and what comes last.
 * @param {string} command @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Words} [more] @param {string} [last]
 */
export function commandLine(command, words, more = {}, last) {
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;
  const options = Object.entries({ ...selection(words), ...more }).flatMap(([name, value]) => (value ? ` --${name} ${quoted(value)}` : []));
  return `diytrace ${command} --store …${options.join("")}${last ? ` ${quoted(last)}` : ""}`;
}

/**
 * A moment as the store takes it, and as people read it.
 * @param {number} unixNs
 */
export const moment = (unixNs) => `@${(unixNs / 1e9).toFixed(3)}`;

/**
 * A day and a time of it, in the reader's zone.
 * @param {number} unixNs
 */
export const day = (unixNs) => `${new Date(unixNs / 1e6).toLocaleDateString()} ${clock(unixNs)}`;

/** @param {string | undefined} text */
export function shownTime(text) {
  if (!text?.startsWith("@")) return text;
  const seconds = Number(text.slice(1));
  return `${new Date(seconds * 1000).toLocaleDateString()} ${clock(seconds * 1e9, seconds % 1 ? 1 : undefined)}`;
}

/**
 * The time of day, in the reader's zone; of what is told in steps of less than a second, with its part of one.
 * @param {number} unixNs @param {number} stepNs
 */
export function clock(unixNs, stepNs = 1e9) {
  const fraction = stepNs < 1e9 ? 2 : undefined;
  return new Date(unixNs / 1e6).toLocaleTimeString([], { hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: fraction });
}
