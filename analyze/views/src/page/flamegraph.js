// A flame graph on a canvas: widths are times with all that was called; what lies on a frame, or hangs below it, was called by it.
//
// A node has its time (`total`), what it called (`kids`, the most time first), the node that it was called by (`parent`), and `depth`.

import { counted } from "./text.js";

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
   */
  constructor(canvas, { label, color, isFound = () => null, isPicked = () => false, onPoint = () => {}, onPick = () => {}, isIcicle = false }) {
    Object.assign(this, { canvas, label, color, isFound, isPicked, onPoint, onPick, isIcicle, root: null, pointed: null, boxes: [] });
    canvas.addEventListener("mousemove", (event) => this.point(this.boxAt(event)?.node ?? null));
    canvas.addEventListener("mouseleave", () => this.point(null));
    canvas.addEventListener("click", (event) => {
      const box = this.boxAt(event);
      if (box) this.onPick(box.node);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    // In the next frame: what is drawn changes the height of what is observed.
    new ResizeObserver(() => requestAnimationFrame(() => this.widthNow() !== this.width && this.draw())).observe(canvas.parentElement);
  }

  /** Shows a node with all that it called, and those that it was called by. */
  show(root) {
    if (this.root !== root) this.pointed = null;
    this.root = root;
    this.draw();
  }

  widthNow() {
    const box = this.canvas.parentElement;
    return box.clientWidth - 2 * parseFloat(getComputedStyle(box).paddingLeft || "0");
  }

  draw() {
    const { canvas, root } = this;
    const width = this.widthNow();
    if (!root || width <= 0) return;
    this.width = width;
    const rows = this.layOut(width);
    const ratio = window.devicePixelRatio || 1;
    this.height = Math.max(rows, 1) * LINE + 8;
    canvas.width = width * ratio;
    canvas.height = Math.min(this.height * ratio, HIGHEST);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    this.paint(canvas.getContext("2d"), ratio);
  }

  /** Gives every frame that can be seen its place, and tells how many rows there are. */
  layOut(width) {
    this.boxes = [];
    const path = [];
    for (let node = this.root; node; node = node.parent) path.unshift(node);
    path.forEach((node, row) => this.boxes.push({ node, x: 0, width, row, isAbove: node !== this.root }));
    let rows = path.length;
    const next = [[this.root, 0, width, path.length]];
    while (next.length) {
      const [node, left, space, row] = next.pop();
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
        next.push([kid, x, share, row + 1]);
        x += share;
      }
    }
    return rows;
  }

  paint(context, ratio) {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `12px ${color("--mono")}`;
    context.textBaseline = "middle";
    const letter = context.measureText("M").width;
    for (const box of this.boxes) {
      const y = this.top(box.row);
      const label = this.nameOf(box.node);
      const isFound = this.isFound(box.node);
      const isPicked = this.isPicked(box.node);
      context.globalAlpha = box.isAbove ? 0.45 : isFound === false ? 0.35 : 1;
      context.fillStyle = isFound ? color("--hit") : this.color(box.node, isDark);
      context.fillRect(box.x, y, Math.max(box.width - 1, 0.4), LINE - 1);
      context.globalAlpha = 1;
      if (isPicked || isSame(box.node, this.pointed)) {
        context.strokeStyle = color("--ink");
        context.lineWidth = isPicked ? 2 : 1;
        context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 0), LINE - 3);
      }
      const letters = Math.floor((box.width - 8) / letter);
      if (letters < 3) continue;
      context.fillStyle = isFound ? (isDark ? "#1c0f33" : "#ffffff") : isDark ? "#f6efe9" : "#2a1a0e";
      context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, box.x + 4, y + LINE / 2);
    }
  }

  top(row) {
    return this.isIcicle ? 4 + row * LINE : this.height - 4 - (row + 1) * LINE;
  }

  nameOf(node) {
    return node.isGroup ? counted(node.kids.length, "narrow one", "narrow ones") : this.label(node);
  }

  boxAt(event) {
    const area = this.canvas.getBoundingClientRect();
    const y = event.clientY - area.top;
    const row = Math.floor((this.isIcicle ? y - 4 : area.height - 4 - y) / LINE);
    const x = event.clientX - area.left;
    return this.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width);
  }

  point(node) {
    if (isSame(this.pointed, node)) return;
    this.pointed = node;
    this.canvas.title = node ? this.nameOf(node) : "";
    this.draw();
    this.onPoint(node);
  }

  /** Arrows go from frame to frame, Enter picks, Escape goes one up. */
  key(event) {
    const at = this.pointed ?? this.root;
    const beside = (step) => {
      const kids = at.parent?.kids ?? [];
      return kids[kids.indexOf(at) + step];
    };
    const [towards, away] = this.isIcicle ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
    const target = {
      [away]: () => at.kids[0],
      [towards]: () => at.parent,
      ArrowRight: () => beside(1),
      ArrowLeft: () => beside(-1),
    }[event.key];
    if (target) this.point(target() ?? at);
    else if (event.key === "Enter") this.onPick(at);
    else if (event.key === "Escape" || event.key === "Backspace") this.onPick(this.root.parent ?? this.root);
    else return;
    event.preventDefault();
  }
}

/** What is too narrow to be drawn apart, as one that can be zoomed into. */
function groupOf(parent, kids) {
  const sum = (key) => kids.reduce((sum, kid) => sum + kid[key], 0);
  return { id: -1, isGroup: true, parent, kids, depth: parent.depth + 1, calls: sum("calls"), self: 0, total: sum("total"), error: sum("error") };
}

/** Groups are made anew with each drawing. */
export function isSame(one, other) {
  return one === other || Boolean(one?.isGroup && other?.isGroup && one.kids[0] === other.kids[0]);
}

/** A function has one colour, in every page; what is none is grey. */
export function frameColor(label, isDark) {
  if (label === null) return isDark ? "#3a3733" : "#e4dfd6";
  let hash = 2166136261;
  for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 16777619);
  const one = ((hash >>> 8) & 0xff) / 255;
  const other = ((hash >>> 16) & 0xff) / 255;
  const hue = 12 + one * 36;
  return isDark ? `hsl(${hue} ${48 + other * 16}% ${30 + other * 8}%)` : `hsl(${hue} ${78 + other * 14}% ${68 + other * 10}%)`;
}
