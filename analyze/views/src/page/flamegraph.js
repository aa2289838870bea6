// A flame graph on a canvas: widths are times with all that was called; what lies on a frame, or hangs below it, was called by it.
//
// A node has its time (`total`), what it called (`kids`, the most time first), the node that it was called by (`parent`), and `depth`.

import { followSight } from "./sight.js";
import { counted, fitting } from "./text.js";

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
/** Above the first row, and below the last. */
const MARGIN = 4;
/** Frames of less than so many pixels are drawn as one. */
const NARROW = 0.5;
/** So few that the first of them can be seen when one zooms in. */
const MOST_IN_GROUP = 500;

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
    /** By row, each from left to right. */
    this.rows = /** @type {Box[][]} */ ([]);
    this.width = 0;
    /** Of all rows; the canvas has those near the window, from `offset` pixels on. */
    this.height = 0;
    this.offset = 0;
    this.ratio = 1;
    this.look = /** @type {ReturnType<FlameGraph["lookNow"]> | null} */ (null);
    canvas.addEventListener("mousemove", (event) => this.point(this.boxAt(event)?.node ?? null));
    canvas.addEventListener("mouseleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const box = this.boxAt(event);
      if (box) this.onPick(box.node);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    // The canvas has margins as high as the rows that it does not have; they shall not run together with those of others.
    this.box.style.contain = "layout";
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
    const { root } = this;
    const width = this.widthNow();
    if (!root || width <= 0) return;
    this.width = width;
    followSight(this, this.canvas);
    this.rows = layOut(root, width);
    this.height = Math.max(this.rows.length, 1) * LINE + 2 * MARGIN;
    this.place();
  }

  /** Puts the canvas to where the window is, and draws what it has there. */
  place() {
    const { canvas, height, width } = this;
    const ratio = window.devicePixelRatio || 1;
    const { top } = this.box.getBoundingClientRect();
    // As much again on either side can be scrolled to before anything is drawn anew.
    const room = Math.min(height, 3 * window.innerHeight);
    this.offset = Math.round(Math.min(Math.max(-top - window.innerHeight, 0), height - room));
    this.ratio = ratio;
    canvas.width = width * ratio;
    canvas.height = room * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${room}px`;
    canvas.style.marginTop = `${this.offset}px`;
    canvas.style.marginBottom = `${height - room - this.offset}px`;
    this.paint();
  }

  /** After scrolling: of what lies near the window, everything has to be on the canvas. */
  follow() {
    const { canvas, height, offset } = this;
    if (!this.root || !canvas.offsetParent) return;
    const { top } = this.box.getBoundingClientRect();
    const from = Math.min(Math.max(-top, 0), height);
    const to = Math.min(Math.max(window.innerHeight - top, 0), height);
    if (from < to && (from < offset || to > offset + canvas.height / this.ratio + 1)) this.place();
  }

  /**
   * Scrolls to a frame that is out of sight.
   * @param {FlameNode} node
   */
  reveal(node) {
    const row = this.rows.findIndex((boxes) => boxes.some((box) => isSame(box.node, node)));
    const scroller = scrollerOf(this.box);
    if (row < 0) return;
    const top = this.box.getBoundingClientRect().top + this.offset + this.top(row);
    const [upper, lower] = scroller === document.documentElement ? [0, window.innerHeight] : [scroller.getBoundingClientRect().top, scroller.getBoundingClientRect().bottom];
    // What stays above it when it is scrolled hides some rows.
    if (top < upper + 3 * LINE || top + LINE > lower) scroller.scrollTop += top - (upper + lower) / 2;
  }

  paint() {
    this.look = this.lookNow();
    for (const row of this.rowsOnCanvas()) for (const box of row) this.paintBox(box, this.look);
  }

  rowsOnCanvas() {
    const { canvas, offset, ratio, rows } = this;
    const at = (/** @type {number} */ y) => Math.floor((this.isIcicle ? y - MARGIN : this.height - MARGIN - y) / LINE);
    const [one, other] = [at(offset), at(offset + canvas.height / ratio)];
    return rows.slice(Math.max(Math.min(one, other), 0), Math.max(one, other) + 1);
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
    context.fillStyle = isFound ? (isDark ? "#1c0f33" : "#ffffff") : isDark ? "#f6efe9" : "#2a1a0e";
    context.fillText(fitting(this.nameOf(box.node), letters), box.x + 4, y + LINE / 2);
  }

  /**
   * Of thousands of frames, those alone that look different now.
   * @param {FlameNode[]} nodes
   */
  repaint(nodes) {
    const { look } = this;
    if (!look) return;
    const boxes = this.rowsOnCanvas().flatMap((row) => row.filter((box) => nodes.some((node) => isSame(box.node, node))));
    for (const box of boxes) {
      look.context.clearRect(box.x, this.top(box.row), Math.max(box.width - 1, 0.4), LINE - 1);
      this.paintBox(box, look);
    }
  }

  /**
   * Where a row begins on the canvas.
   * @param {number} row
   */
  top(row) {
    return (this.isIcicle ? MARGIN + row * LINE : this.height - MARGIN - (row + 1) * LINE) - this.offset;
  }

  /** @param {FlameNode} node */
  nameOf(node) {
    return node.isGroup ? counted(node.kids.length, "narrow one", "narrow ones") : (this.label(node) ?? "");
  }

  /** @param {MouseEvent} event */
  boxAt(event) {
    const area = this.canvas.getBoundingClientRect();
    const y = event.clientY - area.top + this.offset;
    const row = this.rows[Math.floor((this.isIcicle ? y - MARGIN : this.height - MARGIN - y) / LINE)] ?? [];
    const x = event.clientX - area.left;
    return row.find((box) => x >= box.x && x < box.x + box.width);
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
    if (target) {
      const there = target() ?? at;
      this.point(there);
      this.reveal(there);
    }
    else if (event.key === "Enter") this.onPick(at);
    else if (event.key === "Escape" || event.key === "Backspace") this.onPick(root.parent ?? root);
    else return;
    event.preventDefault();
  }
}

/**
 * What scrolls something.
 * @param {HTMLElement} inside
 */
function scrollerOf(inside) {
  for (let above = inside.parentElement; above; above = above.parentElement) {
    if (above.scrollHeight > above.clientHeight && /auto|scroll/.test(getComputedStyle(above).overflowY)) return above;
  }
  return document.documentElement;
}

/**
 * Gives every frame that can be seen its place: below those that lead to the root, what it called.
 * @param {FlameNode} root @param {number} width
 */
function layOut(root, width) {
  /** @type {Box[][]} */
  const rows = [];
  for (let node = /** @type {FlameNode | null} */ (root); node; node = node.parent) rows.unshift([{ node, x: 0, width, row: 0, isAbove: node !== root }]);
  rows.forEach(([box], row) => { box.row = row; });
  for (let above = rows[rows.length - 1]; above.length; ) {
    /** @type {Box[]} */
    const boxes = [];
    for (const box of above) if (!box.node.isGroup || box.node === root) addKids(boxes, box, rows.length);
    if (boxes.length) rows.push(boxes);
    above = boxes;
  }
  return rows;
}

/**
 * The frames on a frame.
 * @param {Box[]} boxes @param {Box} below @param {number} row
 */
function addKids(boxes, { node, x, width }, row) {
  if (node.total <= 0) return;
  const { kids } = node;
  const scale = width / node.total;
  for (let index = 0; index < kids.length; index++) {
    const share = kids[index].total * scale;
    if (share >= NARROW) {
      boxes.push({ node: kids[index], x, width: share, row, isAbove: false });
      x += share;
      continue;
    }
    // Kids are sorted: all others are as narrow.
    for (let from = index; from < kids.length; from += MOST_IN_GROUP) {
      const group = groupOf(node, kids.slice(from, from + MOST_IN_GROUP));
      const together = group.total * scale;
      if (together < NARROW) return;
      boxes.push({ node: group, x, width: together, row, isAbove: false });
      x += together;
    }
    return;
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

const colors = [/** @type {Map<string, string>} */ (new Map()), /** @type {Map<string, string>} */ (new Map())];

/**
 * A function has one colour, in every page; what is none is grey.
 * @param {string | null} label @param {boolean} isDark
 */
export function frameColor(label, isDark) {
  if (label === null) return isDark ? "#3a3733" : "#e4dfd6";
  const known = colors[Number(isDark)];
  const color = known.get(label) ?? colorOf(label, isDark);
  known.set(label, color);
  return color;
}

/** @param {string} label @param {boolean} isDark */
function colorOf(label, isDark) {
  let hash = 2166136261;
  for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 16777619);
  const one = ((hash >>> 8) & 0xff) / 255;
  const other = ((hash >>> 16) & 0xff) / 255;
  const hue = 12 + one * 36;
  return isDark ? `hsl(${hue} ${48 + other * 16}% ${30 + other * 8}%)` : `hsl(${hue} ${78 + other * 14}% ${68 + other * 10}%)`;
}

/**
 * By how much of it a time has changed: red is longer than before, blue shorter, grey no more than it may be off by.
 * @param {number} total @param {number} before @param {number} error @param {boolean} isDark
 */
export function changeColor(total, before, error, isDark) {
  const difference = total - before;
  const part = difference / Math.max(total, before, 1);
  if (Math.abs(difference) <= error || Math.abs(part) < 0.02) return isDark ? "#3a3733" : "#e4dfd6";
  const strength = Math.min(Math.abs(part) / 0.5, 1);
  const hue = difference > 0 ? 8 : 212;
  return isDark ? `hsl(${hue} ${30 + 40 * strength}% ${26 + 12 * strength}%)` : `hsl(${hue} ${50 + 40 * strength}% ${86 - 22 * strength}%)`;
}
