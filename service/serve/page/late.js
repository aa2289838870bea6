// Parts of a page that are asked for longer than the rest: that is shown before, and each comes into its place.

import { wordsOf } from "./ask.js";
import { element } from "./text.js";

/** @type {Set<Promise<void>>} */
const coming = new Set();

/**
 * A place for parts that are not there yet, with as much room as they will take.
 * @param {Promise<import("./types.d.ts").Part[]>} parts @param {string} height
 */
export function late(parts, height) {
  const place = element("div", { "aria-busy": "true" });
  place.style.minHeight = height;
  const come = parts.catch((error) => [element("p", { class: "error", role: "alert" }, wordsOf(error))]).then((parts) => {
    place.replaceChildren(...parts);
    place.removeAttribute("aria-busy");
    place.style.minHeight = "";
    coming.delete(come);
  });
  coming.add(come);
  return place;
}

/** Waits until nothing is on its way. */
export async function arrived() {
  while (coming.size) await Promise.all(coming);
}
