// The flame graph: widths are times with all that was called; what is on top of a frame was called by it.

const LINE = 20;
/** Frames of less than so many pixels are drawn as one. */
const NARROW = 0.4;
/** So few that the first of them can be seen when one zooms in. */
const MOST_IN_GROUP = 500;
const flame = { root: null, part: -1, boxes: [], pointed: null };

views.flame = () => {
  const part = partOf(state.part);
  if (flame.part !== state.part) Object.assign(flame, { root: part.tree, part: state.part, pointed: null });
  const canvas = document.getElementById("flame");
  const width = canvas.parentElement.clientWidth - 40;
  if (width <= 0) return;
  const rows = layOut(width);
  const ratio = window.devicePixelRatio || 1;
  const height = Math.max(rows, 1) * LINE + 8;
  canvas.width = width * ratio;
  canvas.height = Math.min(height * ratio, 32000); // browsers draw no larger ones
  canvas.style.height = `${canvas.height / ratio}px`;
  paint(canvas.getContext("2d"), ratio, height);
  drawTrail(part);
  drawPointed(part);
};

/** Gives every frame that can be seen its place, and tells how many rows there are. */
function layOut(width) {
  flame.boxes = [];
  const path = [];
  for (let node = flame.root; node; node = node.parent) path.unshift(node);
  path.forEach((node, row) => flame.boxes.push({ node, x: 0, width, row, isAbove: node !== flame.root }));
  let rows = path.length;
  const next = [[flame.root, 0, width, path.length]];
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
          flame.boxes.push({ node: group, x, width, row });
          x += width;
        }
        break;
      }
      flame.boxes.push({ node: kid, x, width: share, row, isAbove: false });
      rows = Math.max(rows, row + 1);
      next.push([kid, x, share, row + 1]);
      x += share;
    }
  }
  return rows;
}

/** What is too narrow to be drawn apart, as one that can be zoomed into. */
function groupOf(parent, kids) {
  const sum = (key) => kids.reduce((sum, kid) => sum + kid[key], 0);
  return { id: -1, isGroup: true, parent, kids, depth: parent.depth + 1, calls: sum("calls"), self: 0, total: sum("total"), error: sum("error") };
}

function nodeLabel(node) {
  return node.isGroup ? counted(node.kids.length, "narrow one", "narrow ones") : node.id < 0 ? "all" : functions[node.id].label;
}

function paint(context, ratio, height) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = `12px ${color("--mono")}`;
  context.textBaseline = "middle";
  const letter = context.measureText("M").width;
  for (const box of flame.boxes) {
    const y = height - 4 - (box.row + 1) * LINE;
    const { id } = box.node;
    const label = nodeLabel(box.node);
    const isFound = state.search && id >= 0 && matches(label);
    const isSelected = id >= 0 && id === state.selected;
    context.globalAlpha = box.isAbove ? 0.45 : state.search && !isFound ? 0.35 : 1;
    context.fillStyle = isFound ? color("--hit") : frameColor(id, isDark);
    context.fillRect(box.x, y, Math.max(box.width - 1, 0.4), LINE - 1);
    context.globalAlpha = 1;
    if (isSelected || isSame(box.node, flame.pointed)) {
      context.strokeStyle = color("--ink");
      context.lineWidth = isSelected ? 2 : 1;
      context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 0), LINE - 3);
    }
    const letters = Math.floor((box.width - 8) / letter);
    if (letters < 3) continue;
    context.fillStyle = isFound ? (isDark ? "#1c0f33" : "#ffffff") : isDark ? "#f6efe9" : "#2a1a0e";
    context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, box.x + 4, y + LINE / 2);
  }
}

/** A function has one colour, in every page. */
function frameColor(id, isDark) {
  if (id < 0) return isDark ? "#3a3733" : "#e4dfd6";
  const label = functions[id].label;
  let hash = 2166136261;
  for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 16777619);
  const one = ((hash >>> 8) & 0xff) / 255;
  const other = ((hash >>> 16) & 0xff) / 255;
  const hue = 12 + one * 36;
  return isDark ? `hsl(${hue} ${48 + other * 16}% ${30 + other * 8}%)` : `hsl(${hue} ${78 + other * 14}% ${68 + other * 10}%)`;
}

/** Groups are made anew with each drawing. */
function isSame(one, other) {
  return one === other || Boolean(one?.isGroup && other?.isGroup && one.kids[0] === other.kids[0]);
}

function boxAt(event) {
  const canvas = document.getElementById("flame");
  const area = canvas.getBoundingClientRect();
  const row = Math.floor((area.height - 4 - (event.clientY - area.top)) / LINE);
  const x = event.clientX - area.left;
  return flame.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width);
}

function zoom(node) {
  flame.root = node;
  views.flame();
}

function drawTrail(part) {
  const trail = document.getElementById("trail");
  if (flame.root === part.tree) return trail.replaceChildren("Click a frame to zoom in and for its details.");
  const reset = element("button", { id: "reset-zoom", onclick: () => zoom(part.tree) }, "← all");
  const label = nodeLabel(flame.root);
  trail.replaceChildren(reset, ` · ${label} · ${time(flame.root.total)} · ${share(flame.root.total, part.total)} of all`);
}

function drawPointed(part) {
  const node = flame.pointed;
  const pointed = document.getElementById("pointed");
  if (!node || node === part.tree) return pointed.replaceChildren();
  if (node.isGroup) return pointed.replaceChildren(element("b", {}, nodeLabel(node)), ` ${resolved(node.total, node.error)} (${share(node.total, part.total)})${isSame(node, flame.root) ? "" : " · click to see them"}`);
  const text = ` ${resolved(node.total, node.error)} (${share(node.total, part.total)}) · self ${resolvedSelf(node)} · ${counted(node.calls, "call", "calls")}`;
  pointed.replaceChildren(element("b", {}, functions[node.id].label), text);
}

function listenToFlame() {
  const canvas = document.getElementById("flame");
  const point = (node) => {
    if (isSame(flame.pointed, node)) return;
    flame.pointed = node;
    canvas.title = node ? nodeLabel(node) : "";
    views.flame();
  };
  canvas.addEventListener("mousemove", (event) => point(boxAt(event)?.node ?? null));
  canvas.addEventListener("mouseleave", () => point(null));
  canvas.addEventListener("click", (event) => {
    const box = boxAt(event);
    if (!box) return;
    flame.root = box.node;
    show({ selected: box.node.id < 0 ? null : box.node.id });
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "Backspace") zoom(flame.root.parent ?? flame.root);
  });
  new ResizeObserver(() => state.view === "flame" && views.flame()).observe(canvas.parentElement);
}
