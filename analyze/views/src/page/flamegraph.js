// A flame graph on a canvas: widths are times with all that was called; what lies on a frame, or hangs below it, was called by it.
//
// A node has its time (`total`), what it called (`kids`, the most time first), the node that it was called by (`parent`), and `depth`.

import { counted } from "./text.js";

/**
 * @typedef {object} FlameNode
 * @property {string | null} [name]
 * @property {FlameNode | null} parent
 * @property {FlameNode[]} kids
 * @property {number} depth
 * @property {number} calls
 * @property {number} self
 * @property {number} total
 * @property {number} error
 * @property {boolean} [isGroup] what is too narrow to be drawn apart
 * @property {boolean} [isLeftOut]
 * @property {FlameNode} [before] of a comparison: the same on the other side
 * @property {number} [id]
 *
 * @typedef { { node: FlameNode, x: number, width: number, row: number, isAbove?: boolean } } Box
 *
 * @typedef {object} How
 * @property {(node: FlameNode) => string | null | undefined} label
 * @property {(node: FlameNode, isDark: boolean) => string} color
 * @property {(node: FlameNode) => boolean | null | undefined} [isFound]
 * @property {(node: FlameNode) => boolean} [isPicked]
 * @property {(node: FlameNode | null) => void} [onPoint]
 * @property {(node: FlameNode) => void} [onPick]
 * @property {boolean} [isIcicle]
 */

const LINE = 20;
/** Frames of less than so many pixels are drawn as one. */
const NARROW = 0.4;
/** So few that the first of them can be seen when one zooms in. */
const MOST_IN_GROUP = 500;
/** Browsers draw no larger ones. */
const HIGHEST = 32000;

/** Draws trees, and tells which node is pointed at and which is picked. */
export class FlameGraph {
  /**
   * `label` names a node; `color` gives what it is filled with; `isFound` whether it is searched for (`null`: nothing is), `isPicked`
   * whether it stands out; `onPoint` and `onPick` are told nodes. With `isIcicle` the first row is on top.
   * @param {HTMLCanvasElement} canvas @param {How} how
   */
  constructor(canvas, { label, color, isFound = () => null, isPicked = () => false, onPoint = () => {}, onPick = () => {}, isIcicle = false }) {
    this.canvas = canvas;
    this.box = /** @type {HTMLElement} */ (canvas.parentElement);
    this.label = label;
    this.color = color;
    this.isFound = isFound;
    this.isPicked = isPicked;
    this.onPoint = onPoint;
    this.onPick = onPick;
    this.isIcicle = isIcicle;
    this.root = /** @type {FlameNode | null} */ (null);
    this.pointed = /** @type {FlameNode | null} */ (null);
    this.boxes = /** @type {Box[]} */ ([]);
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    this.look = /** @type {ReturnType<FlameGraph["lookNow"]> | null} */ (null);
    canvas.addEventListener("mousemove", (event) => this.point(this.boxAt(event)?.node ?? null));
    canvas.addEventListener("mouseleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const box = this.boxAt(event);
      if (box) this.onPick(box.node);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    // In the next frame: what is drawn changes the height of what is observed.
    new ResizeObserver(() => requestAnimationFrame(() => this.widthNow() !== this.width && this.draw())).observe(this.box);
  }

  /**
   * Shows a node with all that it called, and those that it was called by.
   * @param {FlameNode} root
   */
  show(root) {
    if (this.root !== root) this.pointed = null;
    this.root = root;
    this.draw();
  }

  widthNow() {
    return this.box.clientWidth - 2 * parseFloat(getComputedStyle(this.box).paddingLeft || "0");
  }

  draw() {
    const { canvas, root } = this;
    const width = this.widthNow();
    if (!root || width <= 0) return;
    this.width = width;
    const rows = this.layOut(root, width);
    const ratio = window.devicePixelRatio || 1;
    this.height = Math.max(rows, 1) * LINE + 8;
    canvas.width = width * ratio;
    canvas.height = Math.min(this.height * ratio, HIGHEST);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    this.ratio = ratio;
    this.paint();
  }

  /**
   * Gives every frame that can be seen its place, and tells how many rows there are.
   * @param {FlameNode} root @param {number} width
   */
  layOut(root, width) {
    this.boxes = [];
    /** @type {FlameNode[]} */
    const path = [];
    for (let node = /** @type {FlameNode | null} */ (root); node; node = node.parent) path.unshift(node);
    path.forEach((node, row) => this.boxes.push({ node, x: 0, width, row, isAbove: node !== root }));
    let rows = path.length;
    const next = [{ node: root, left: 0, space: width, row: path.length }];
    for (let one = next.pop(); one; one = next.pop()) {
      const { node, left, space, row } = one;
      let x = left;
      for (const [index, kid] of node.kids.entries()) {
        const share = node.total > 0 ? (kid.total / node.total) * space : 0;
        if (share < NARROW) { // kids are sorted: all others are as narrow
          for (let from = index; from < node.kids.length; from += MOST_IN_GROUP) {
            const group = groupOf(node, node.kids.slice(from, from + MOST_IN_GROUP));
            const width = node.total > 0 ? (group.total / node.total) * space : 0;
            if (width < NARROW) break;
            this.boxes.push({ node: group, x, width, row });
            x += width;
          }
          break;
        }
        this.boxes.push({ node: kid, x, width: share, row, isAbove: false });
        rows = Math.max(rows, row + 1);
        next.push({ node: kid, left: x, space: share, row: row + 1 });
        x += share;
      }
    }
    return rows;
  }

  paint() {
    this.look = this.lookNow();
    for (const box of this.boxes) this.paintBox(box, this.look);
  }

  /** Colours and letters, as the reader has them. */
  lookNow() {
    const { canvas, ratio } = this;
    const style = getComputedStyle(document.documentElement);
    const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `12px ${color("--mono")}`;
    context.textBaseline = "middle";
    return { context, isDark, hit: color("--hit"), ink: color("--ink"), letter: context.measureText("M").width };
  }

  /** @param {Box} box @param {ReturnType<FlameGraph["lookNow"]>} look */
  paintBox(box, { context, isDark, hit, ink, letter }) {
    const y = this.top(box.row);
    const isFound = this.isFound(box.node);
    const isPicked = this.isPicked(box.node);
    context.globalAlpha = box.isAbove ? 0.45 : isFound === false ? 0.35 : 1;
    context.fillStyle = isFound ? hit : this.color(box.node, isDark);
    context.fillRect(box.x, y, Math.max(box.width - 1, 0.4), LINE - 1);
    context.globalAlpha = 1;
    if (isPicked || isSame(box.node, this.pointed)) {
      context.strokeStyle = ink;
      context.lineWidth = isPicked ? 2 : 1;
      context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 0), LINE - 3);
    }
    const letters = Math.floor((box.width - 8) / letter);
    if (letters < 3) return;
    const label = this.nameOf(box.node);
    context.fillStyle = isFound ? (isDark ? "#1c0f33" : "#ffffff") : isDark ? "#f6efe9" : "#2a1a0e";
    context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, box.x + 4, y + LINE / 2);
  }

  /**
   * Of thousands of frames, those alone that look different now.
   * @param {FlameNode[]} nodes
   */
  repaint(nodes) {
    const { look } = this;
    if (!look) return;
    for (const box of this.boxes.filter((box) => nodes.some((node) => isSame(box.node, node)))) {
      look.context.clearRect(box.x, this.top(box.row), Math.max(box.width - 1, 0.4), LINE - 1);
      this.paintBox(box, look);
    }
  }

  /** @param {number} row */
  top(row) {
    return this.isIcicle ? 4 + row * LINE : this.height - 4 - (row + 1) * LINE;
  }

  /** @param {FlameNode} node */
  nameOf(node) {
    return node.isGroup ? counted(node.kids.length, "narrow one", "narrow ones") : (this.label(node) ?? "");
  }

  /** @param {MouseEvent} event */
  boxAt(event) {
    const area = this.canvas.getBoundingClientRect();
    const y = event.clientY - area.top;
    const row = Math.floor((this.isIcicle ? y - 4 : area.height - 4 - y) / LINE);
    const x = event.clientX - area.left;
    return this.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width);
  }

  /** @param {FlameNode | null} node */
  point(node) {
    if (isSame(this.pointed, node)) return;
    const nodes = [this.pointed, node].filter((one) => one !== null);
    this.pointed = node;
    this.canvas.title = node ? this.nameOf(node) : "";
    this.repaint(nodes);
    this.onPoint(node);
  }

  /**
   * Arrows go from frame to frame, Enter picks, Escape goes one up.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const { root } = this;
    const at = this.pointed ?? root;
    if (!root || !at) return;
    const beside = (/** @type {number} */ step) => {
      const kids = at.parent?.kids ?? [];
      return kids[kids.indexOf(at) + step];
    };
    const [towards, away] = this.isIcicle ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
    /** @type {Record<string, () => FlameNode | null | undefined>} */
    const targets = {
      [away]: () => at.kids[0],
      [towards]: () => at.parent,
      ArrowRight: () => beside(1),
      ArrowLeft: () => beside(-1),
    };
    const target = targets[event.key];
    if (target) this.point(target() ?? at);
    else if (event.key === "Enter") this.onPick(at);
    else if (event.key === "Escape" || event.key === "Backspace") this.onPick(root.parent ?? root);
    else return;
    event.preventDefault();
  }
}

/**
 * What is too narrow to be drawn apart, as one that can be zoomed into.
 * @param {FlameNode} parent @param {FlameNode[]} kids @returns {FlameNode}
 */
function groupOf(parent, kids) {
  const sum = (/** @type {"calls" | "total" | "error"} */ key) => kids.reduce((sum, kid) => sum + kid[key], 0);
  return { id: -1, isGroup: true, parent, kids, depth: parent.depth + 1, calls: sum("calls"), self: 0, total: sum("total"), error: sum("error") };
}

/**
 * Groups are made anew with each drawing.
 * @param {FlameNode | null} one @param {FlameNode | null} other
 */
export function isSame(one, other) {
  return one === other || Boolean(one?.isGroup && other?.isGroup && one.kids[0] === other.kids[0]);
}

/**
 * A function has one colour, in every page; what is none is grey.
 * @param {string | null} label @param {boolean} isDark
 */
export function frameColor(label, isDark) {
  if (label === null) return isDark ? "#3a3733" : "#e4dfd6";
  let hash = 2166136261;
  for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 16777619);
  const one = ((hash >>> 8) & 0xff) / 255;
  const other = ((hash >>> 16) & 0xff) / 255;
  const hue = 12 + one * 36;
  return isDark ? `hsl(${hue} ${48 + other * 16}% ${30 + other * 8}%)` : `hsl(${hue} ${78 + other * 14}% ${68 + other * 10}%)`;
}
