// Values of samples as people read their units.

import { count, share, significant, time } from "./text.js";

/** @type {Record<string, number>} */
const TIMES = { nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, "µs": 1e3, milliseconds: 1e6, ms: 1e6, seconds: 1e9, s: 1e9 };
/** @type {Record<import("./types.d.ts").Per, string>} */
const AFTER = { second: "/s", profile: "", share: "" };
/** What values are of, in words. */
export const PER = { second: "a second that was sampled", profile: "a profile", share: "as a part of each profile" };

/**
 * How values of a unit are written.
 * @param {string} unit @returns {(value: number) => string}
 */
export function writer(unit) {
  if (unit in TIMES) return (value) => signed(value, time(Math.abs(value) * TIMES[unit]));
  if (unit === "bytes" || unit === "B") return bytes;
  return (value) => signed(value, Math.abs(value) < 100 && value % 1 ? significant(Math.abs(value), 3) : count(Math.round(Math.abs(value))));
}

/**
 * The same of values that are of something.
 * @param {{ unit: string, per: import("./types.d.ts").Per }} of @returns {(value: number) => string}
 */
export function writerOf({ unit, per }) {
  const write = writer(unit);
  return per === "share" ? (value) => signed(value, share(Math.abs(value), 1)) : (value) => `${write(value)}${AFTER[per]}`;
}

/** @param {number} size */
export function bytes(size) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(size))) / 10)));
  const value = Math.abs(size) / 1024 ** step;
  return signed(size, `${step ? value.toPrecision(3) : Math.round(value)} ${units[step]}`);
}

/** @param {number} value @param {string} text */
const signed = (value, text) => (value < 0 ? `−${text}` : text);
