// Rows of which only those in sight, and some beside them, are in the document: of 10,000 some dozens. All are as high as the first.

import { followSight } from "./sight.js";

/** So many are kept ready above and below what is in sight. */
const BESIDE = 20;

/** A long list in a box, with room above and below for what is not drawn. */
export class Rows {
  /**
   * `box` is put where the list shall be, between `above` and `below`; rows are put into `body`, which may be a part of it. `height`
   * is a row's, where that is known from a list like it: there is room for all of them before the first is in the page.
   * @param {HTMLElement} box @param {HTMLElement} body @param {number} height
   */
  constructor(box, body = box, height = 0) {
    this.box = box;
    this.body = body;
    this.above = document.createElement("div");
    this.below = document.createElement("div");
    // What is drawn and forgotten moves nothing: there is room for it. Browsers would scroll by its height.
    for (const part of this.parts) part.style.setProperty("overflow-anchor", "none");
    this.count = 0;
    this.height = height;
    this.first = 0;
    this.drawn = /** @type {HTMLElement[]} */ ([]);
    this.row = /** @type {(index: number) => HTMLElement} */ (() => document.createElement("div"));
    // Before it is in the page, nothing has a height.
    new ResizeObserver(() => (this.height ? this.follow() : this.show(this.count, this.row))).observe(box);
    body.addEventListener("focusin", () => this.follow()); // keys may come faster than what is scrolled is told
  }

  /** What is put into the page. */
  get parts() {
    return [this.above, this.box, this.below];
  }

  /**
   * Shows that many rows, each made by `row`.
   * @param {number} count @param {(index: number) => HTMLElement} row
   */
  show(count, row) {
    const from = this.drawn.length ? this.start() : null; // before anything moves
    this.count = count;
    this.row = row;
    followSight(this, this.box);
    this.clear(0);
    if (!this.height && count) {
      this.draw(0, 1);
      this.height = this.drawn[0].getBoundingClientRect().height;
    }
    if (!this.height) return; // it is not in the page yet
    if (this.box.isConnected && from === null) this.follow();
    else this.draw(...this.near(from ?? 0));
  }

  /** Draws what has come into sight, and forgets what has left it. */
  follow() {
    if (!this.height || !this.body.offsetParent) return;
    this.draw(...this.near(this.start()));
  }

  /** Where the first of all rows begins, below the window's upper end. */
  start() {
    return (this.drawn[0] ?? this.body).getBoundingClientRect().top - this.first * this.height;
  }

  /**
   * The rows in sight and beside it, where the first of all begins there.
   * @param {number} start @returns {[number, number]}
   */
  near(start) {
    const { count, height } = this;
    const last = Math.max(Math.min(Math.ceil((window.innerHeight - start) / height) + BESIDE, count), 0);
    return [Math.max(Math.min(Math.floor(-start / height) - BESIDE, last - 2 * BESIDE), 0), last];
  }

  /**
   * Makes sure that a row is in the document, wherever it is.
   * @param {number} index
   */
  reveal(index) {
    this.draw(Math.max(index - BESIDE, 0), Math.min(index + BESIDE, this.count));
    return /** @type {HTMLElement | undefined} */ (this.drawn[index - this.first]);
  }

  /** @param {number} first @param {number} last the one behind it */
  draw(first, last) {
    if (first >= this.first + this.drawn.length || last <= this.first) this.clear(first);
    const { body, drawn } = this;
    while (this.first < first) drawn.shift()?.remove(), this.first++;
    while (this.first + drawn.length > last) drawn.pop()?.remove();
    const before = [], after = [];
    for (let index = first; index < this.first; index++) before.push(this.row(index));
    for (let index = this.first + drawn.length; index < last; index++) after.push(this.row(index));
    body.prepend(...before);
    body.append(...after);
    drawn.unshift(...before);
    drawn.push(...after);
    this.first = first;
    this.above.style.height = `${first * this.height}px`;
    this.below.style.height = `${Math.max(this.count - last, 0) * this.height}px`;
  }

  /** @param {number} first where drawing goes on */
  clear(first) {
    this.body.replaceChildren();
    this.drawn = [];
    this.first = first;
  }
}
