// The flame graph of a selection, or of two over each other.

import { FlameGraph, changeColor, frameColor } from "./flamegraph.js";
import { counted, element, resolved, share, time } from "./text.js";
import { functionOf, insideOf, nameOf, nodeAt, pathOf } from "./tree.js";

/**
 * @typedef {import("./flamegraph.js").FlameNode} FlameNode
 *
 * @typedef {object} How
 * @property {import("./search.js").Search | null} [search] what is searched for
 * @property {boolean} [isDifference] of two selections, red is what takes longer than before, blue what takes less
 * @property {(value: number) => string} [write] writes values of samples, which have no calls
 * @property {(name: string) => (Node | string)[]} [actions] what can be done with the function of a frame that is picked
 * @property {string} [zoom] the path of the frame that is picked at first
 * @property {(path: string) => void} [onZoom] is told the one that is picked then
 * @property {(name: string) => void} [onName] is told the function of a frame that is picked, instead
 * @property {boolean} [isUpright] with the first frame at the bottom
 * @property {string} [label] what it is called
 */

/**
 * The flame graph of a tree. What `show` zooms to has been picked elsewhere.
 * @param {FlameNode} top @param {How} how
 */
export function flameGraph(top, { search = null, isDifference = false, write, actions, zoom, onZoom = () => {}, onName, isUpright = false, label }) {
  const canvas = element("canvas", { class: "flame", tabindex: 0, role: "img", "aria-label": label ?? `Flame graph of ${(write ?? time)(top.total)}` });
  const box = element("div", { class: "flame-box" }, canvas); // the graph is drawn as soon as this has a width
  const trail = element("p", { class: "trail" });
  const said = element("p", { class: "said", role: "status" });
  const isFound = (/** @type {FlameNode} */ node) => (search ? search.isFound(functionOf(node)) : null);
  const graph = new FlameGraph(canvas, {
    isIcicle: !isUpright,
    label: nameOf,
    color: (node, isDark) => (isDifference && !node.isGroup ? changeColor(node.total, node.before?.total ?? 0, node.error + (node.before?.error ?? 0), isDark) : frameColor(node.isGroup ? null : (functionOf(node) ?? null), isDark)),
    isFound,
    onPoint: tell,
    onPick: (node) => {
      const name = functionOf(node);
      if (onName && name && node !== top) return onName(name);
      pick(node);
      tell(node);
      if (!node.isGroup) onZoom(pathOf(node));
    },
  });
  const back = () => {
    pick(top);
    onZoom("");
  };
  /** @param {FlameNode} node */
  function pick(node) {
    graph.show(node);
    const name = node === top ? undefined : functionOf(node);
    const found = search ? [`“${search.text}”: ${inside()}. `] : [];
    const ways = node === top ? [onName ? "Click a frame to look around that one; arrows and Enter do the same." : "Click a frame to zoom in; arrows and Enter do the same. "] : [element("button", { type: "button", onclick: back }, "← all"), " "];
    trail.replaceChildren(...found, ...ways, ...(name && actions ? actions(name) : []));
  }
  function inside() {
    const inside = insideOf(top, (node) => Boolean(isFound(node)));
    return `${(write ?? time)(inside)} inside, ${share(inside, top.total)} of all`;
  }
  /** @param {FlameNode | null} node */
  function tell(node) {
    if (!node) return said.replaceChildren("\u00a0");
    const name = element("b", {}, graph.nameOf(node));
    if (write) return said.replaceChildren(name, ` ${write(node.total)} (${share(node.total, top.total)}) · itself ${write(node.self)}${isDifference && node.before ? `, before ${write(node.before.total)}` : ""}`);
    const was = isDifference && node.before ? `, before ${time(node.before.total)} in ${counted(Math.round(node.before.calls), "call", "calls")}` : "";
    said.replaceChildren(name, ` ${resolved(node.total, node.error)} (${share(node.total, top.total)}) · self ${time(node.self)} · ${counted(Math.round(node.calls), "call", "calls")}${was}`);
  }
  pick(nodeAt(top, zoom));
  tell(null);
  const show = (/** @type {string} */ path) => pick(nodeAt(top, path));
  return { figure: element("figure", {}, trail, said, box), show };
}

/**
 * The same as a part of a page.
 * @param {FlameNode} top @param {How} how
 */
export const flame = (top, how) => flameGraph(top, how).figure;
