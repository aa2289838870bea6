// A call tree that is opened branch by branch; of a long one, what is in sight is in the page.

import { Rows } from "./rows.js";
import { count, element, resolved, resolvedSelf, share } from "./text.js";

/**
 * @typedef {import("./paths.js").PathNode} PathNode
 *
 * @typedef {object} Told what a page says of nodes
 * @property {(node: PathNode) => HTMLElement} name
 * @property {(node: PathNode) => boolean} isPicked
 * @property {(node: PathNode) => void} onPick
 */

/** Pixels that a branch stands behind the one above, and the deepest that does. */
const STEP = 14;
const DEEPEST = 60;

/** Draws trees, and tells which node is picked. */
export class CallTree {
  /** @param {Told} told */
  constructor(told) {
    this.told = told;
    this.tree = /** @type {PathNode | null} */ (null);
    /** The time that shares are of. */
    this.whole = 0;
    this.opened = /** @type {Set<PathNode>} */ (new Set());
    /** Those that can be come to, from the top down. */
    this.nodes = /** @type {PathNode[]} */ ([]);
    this.rows = new Rows(element("div", { role: "tree", "aria-label": "Call tree" }));
  }

  /** What is put into the page. */
  get parts() {
    const titles = ["function", "calls", "total", "self", "of all"].map((title) => element("span", {}, title));
    return [element("div", { class: "tree-head" }, ...titles), ...this.rows.parts];
  }

  /**
   * Shows a tree. What was opened of it stays open.
   * @param {PathNode} tree @param {number} whole
   */
  show(tree, whole) {
    if (this.tree !== tree) this.opened = new Set();
    Object.assign(this, { tree, whole });
    this.draw();
  }

  draw() {
    const { opened, rows, tree } = this;
    if (!tree) return;
    this.nodes = [];
    const next = tree.id < 0 ? [...tree.kids].reverse() : [tree];
    for (let node = next.pop(); node; node = next.pop()) {
      this.nodes.push(node);
      if (opened.has(node)) for (let kid = node.kids.length - 1; kid >= 0; kid--) next.push(node.kids[kid]);
    }
    rows.show(this.nodes.length, (index) => this.row(this.nodes[index], index));
  }

  /** Opens the way that most of the time takes. */
  openHottest() {
    for (let node = this.tree; node?.kids.length; node = node.kids[0]) {
      this.opened.add(node);
      if (node.kids[0].total * 2 < node.total) break;
    }
  }

  /**
   * Opens what leads to a node.
   * @param {PathNode} node
   */
  openTo(node) {
    for (let above = node.parent; above && !this.opened.has(above); above = above.parent) this.opened.add(above);
  }

  /**
   * The row of a node, wherever it is, if all that leads to it is open.
   * @param {PathNode} node
   */
  reveal(node) {
    const index = this.nodes.indexOf(node);
    return index < 0 ? undefined : this.rows.reveal(index);
  }

  /** @param {PathNode} node @param {number} index */
  row(node, index) {
    const { opened, told, whole } = this;
    const isOpen = opened.has(node);
    const twist = element("span", { class: "twist" }, node.kids.length ? (isOpen ? "▾" : "▸") : "");
    const who = element("span", { class: "who" }, twist, told.name(node),
      isInItself(node) ? element("span", { class: "tag", title: "A call inside another of this function" }, "recursion") : null,
      node.inlined > 0 && node.inlined === node.calls ? element("span", { class: "tag", title: "Its body is a part of its caller's code" }, "inlined") : null,
      node.vias.size ? element("span", { class: "note" }, `via ${[...node.vias].join(", ")}`) : null);
    who.style.paddingLeft = `${Math.min(node.depth, DEEPEST) * STEP}px`;
    const numbers = [count(node.calls), resolved(node.total, node.error), resolvedSelf(node), share(node.total, whole)];
    const row = element("div", {
      class: `tree-row${told.isPicked(node) ? " selected" : ""}`, role: "treeitem", tabindex: 0,
      "aria-level": node.depth + 1, "aria-expanded": node.kids.length ? String(isOpen) : null,
    }, who, ...numbers.map((number) => element("span", { class: number.startsWith("< ") ? "unresolved" : null }, number)));
    row.addEventListener("click", (event) => {
      if (event.target === twist) this.toggle(node);
      else told.onPick(node);
    });
    row.addEventListener("dblclick", () => this.toggle(node));
    row.addEventListener("keydown", (event) => this.key(event, node, index));
    return row;
  }

  /** @param {PathNode} node */
  toggle(node, isOpen = !this.opened.has(node)) {
    if (isOpen) this.opened.add(node);
    else this.opened.delete(node);
    this.draw();
  }

  /** @param {KeyboardEvent} event @param {PathNode} node @param {number} index */
  key(event, node, index) {
    const focus = (/** @type {number} */ at) => this.nodes[at] && this.rows.reveal(at)?.focus();
    if (event.key === "ArrowRight") this.toggle(node, true), focus(index);
    else if (event.key === "ArrowLeft") this.toggle(node, false), focus(index);
    else if (event.key === "ArrowDown") focus(index + 1);
    else if (event.key === "ArrowUp") focus(index - 1);
    else if (event.key === "Enter") this.told.onPick(node), focus(index);
    else return;
    event.preventDefault();
  }
}

/**
 * Whether a node is a call inside another of its function.
 * @param {PathNode} node
 */
function isInItself(node) {
  for (let above = node.parent; above; above = above.parent) if (above.id === node.id) return true;
  return false;
}
