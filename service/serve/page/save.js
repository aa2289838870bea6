// What is saved to a file.

import { element } from "./text.js";

/** So long a browser may take to begin with it, in milliseconds. */
const PATIENCE = 60_000;

/** @param {string} name @param {Blob | string} content */
export function saveAs(name, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: "text/plain" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE);
}
