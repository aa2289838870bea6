// Where one is: every state is in the address, so that it can be sent to somebody and gone back to.

import { query } from "./ask.js";

/** The page, and the words that choose what it shows. */
export function place() {
  const [path, words] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", words: Object.fromEntries(new URLSearchParams(words || "")) };
}

export function go(path, words) {
  location.hash = address(path, words);
}

/** For links. */
export function address(path, words = {}) {
  const text = query(words);
  return `#${text ? `${path}?${text}` : path}`;
}

/** The pattern that means functions of a short name: what that leaves out may be anything. */
export function pattern(name) {
  const whole = [["‹…›", "<*>"], ["{lambda#", "{lambda(*)#"], ["(anonymous)", "(anonymous namespace)"], ["std::string", "std::*string*"]];
  const found = whole.reduce((text, [short, long]) => text.replaceAll(short, long), name);
  return name.includes("{lambda#") ? `${found}*` : found; // its parameters stand behind those of the lambda
}

/** What of the store is asked for. */
export const selection = ({ select, since, until }) => ({ select, since, until });

/** The same on a command line. */
export function commandLine(command, words) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const options = Object.entries(selection(words)).filter(([, value]) => value).map(([name, value]) => ` --${name} ${quoted(value)}`);
  return `diytrace ${command} --store …${options.join("")}`;
}

/** A moment as the store takes it, and as people read it. */
export const moment = (unixNs) => `@${(unixNs / 1e9).toFixed(3)}`;

export function shownTime(text) {
  if (!text?.startsWith("@")) return text;
  const date = new Date(Number(text.slice(1)) * 1000);
  return `${date.toLocaleDateString()} ${clock(date.getTime() * 1e6)}`;
}

/** The time of day, in the reader's zone. */
export function clock(unixNs) {
  return new Date(unixNs / 1e6).toLocaleTimeString([], { hour12: false });
}
