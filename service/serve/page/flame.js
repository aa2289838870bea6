// The flame graph of a selection, or of two over each other.

import { FlameGraph, changeColor, frameColor } from "./flamegraph.js";
import { counted, element, resolved, share, time } from "./text.js";
import { insideOf } from "./tree.js";

/**
 * The flame graph of a tree. `find` is what is searched for; `onName` is told the function that somebody wants to know more of. Of two
 * selections (`isDifference`), red is what takes longer than before, blue what takes less, and the name says by how much. Values that
 * `write` writes are those of samples, and have no calls.
 * @param {import("./flamegraph.js").FlameNode} top
 * @param {{ find?: string, isDifference?: boolean, write?: (value: number) => string, onName?: (name: string) => void }} how
 */
export function flame(top, { find = "", isDifference = false, write, onName }) {
  const canvas = element("canvas", { class: "flame", tabindex: 0, role: "img", "aria-label": `Flame graph of ${(write ?? time)(top.total)}` });
  const box = element("div", { class: "flame-box" }, canvas); // the graph is drawn as soon as this has a width
  const trail = element("p", { class: "trail" });
  const said = element("p", { class: "said", role: "status" });
  const wanted = find.toLowerCase().replaceAll("*", "");
  const isFound = (/** @type {import("./flamegraph.js").FlameNode} */ node) => (wanted ? node.parent !== null && Boolean(node.name?.toLowerCase().includes(wanted)) : null);
  const graph = new FlameGraph(canvas, {
    isIcicle: true,
    label: (node) => node.name,
    color: (node, isDark) => (isDifference && !node.isGroup ? changeColor(node.total, node.before?.total ?? 0, node.error + (node.before?.error ?? 0), isDark) : frameColor(node.isGroup || node.isLeftOut || !node.parent ? null : (node.name ?? null), isDark)),
    isFound,
    onPoint: tell,
    onPick: (node) => {
      graph.show(node);
      drawTrail();
      tell(node);
    },
  });
  function drawTrail() {
    const node = graph.root;
    const back = node === top ? null : element("button", { type: "button", onclick: () => { graph.show(top); drawTrail(); } }, "← all");
    const name = node?.name;
    const more = !onName || node === top || !name || node.isGroup || node.isLeftOut ? null : element("button", { type: "button", onclick: () => onName(name) }, `More of ${name}`);
    const inside = wanted ? insideOf(top, isFound) : 0;
    const found = wanted ? `“${find}”: ${(write ?? time)(inside)} inside, ${share(inside, top.total)} of all. ` : "";
    trail.replaceChildren(found, ...(back ? [back, " "] : ["Click a frame to zoom in; arrows and Enter do the same. "]), ...(more ? [more] : []));
  }
  /** @param {import("./flamegraph.js").FlameNode | null} node */
  function tell(node) {
    if (!node) return said.replaceChildren("\u00a0");
    const name = element("b", {}, graph.nameOf(node));
    if (write) return said.replaceChildren(name, ` ${write(node.total)} (${share(node.total, top.total)}) · itself ${write(node.self)}${isDifference && node.before ? `, before ${write(node.before.total)}` : ""}`);
    const was = isDifference && node.before ? `, before ${time(node.before.total)} in ${counted(Math.round(node.before.calls), "call", "calls")}` : "";
    said.replaceChildren(name, ` ${resolved(node.total, node.error)} (${share(node.total, top.total)}) · self ${time(node.self)} · ${counted(Math.round(node.calls), "call", "calls")}${was}`);
  }
  graph.show(top);
  drawTrail();
  tell(null);
  return element("figure", {}, trail, said, box);
}
