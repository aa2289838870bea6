// The service's page: what there is, live; a selection; two compared; functions over builds; what comparisons concluded; sampled
// profiles of others; load.

import { WantsToken, useToken, wordsOf } from "./ask.js";
import { compare } from "./compare.js";
import { explore } from "./explore.js";
import { history } from "./history.js";
import { arrived } from "./late.js";
import { listen } from "./live.js";
import { load } from "./load.js";
import { place } from "./place.js";
import { samples } from "./samples.js";
import { services } from "./services.js";
import { element } from "./text.js";
import { verdicts } from "./verdicts.js";

/** @type {Record<string, (words: import("./types.d.ts").Words) => Promise<import("./types.d.ts").Part[]>>} */
const PAGES = { "/": services, "/explore": explore, "/compare": compare, "/history": history, "/verdicts": verdicts, "/samples": samples, "/load": load };
/** Pages on which what comes in is drawn, and after how many milliseconds again: it moves within a second, and not more often than anybody reads
 * numbers; and so that no more than that part of the time is spent on it, however much there is to draw. */
const LIVE = ["/", "/explore", "/load"];
const EVERY = 800;
const PART = 0.1;

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
let drawn = 0;
let next = /** @type {number | null} */ (null);
/** Drawings that are under way, and when the last one began and how long it took. */
let drawing = 0;
let began = -Infinity;
let took = 0;

async function draw(isLive = false) {
  const { path, words } = place();
  if (isLive && (!isFree(path) || document.hidden)) return;
  const [mine, start] = [++drawn, performance.now()];
  if (!isLive) main.setAttribute("aria-busy", "true"); // what is there is of another address
  drawing++;
  began = start;
  try {
    await drawNow({ isLive, mine, path, words });
  } finally {
    drawing--;
    took = performance.now() - start;
  }
}

/** @param {{ isLive: boolean, mine: number, path: string, words: import("./types.d.ts").Words }} what */
async function drawNow({ isLive, mine, path, words }) {
  let parts;
  try {
    parts = await (PAGES[path] ?? services)(words);
  } catch (error) {
    parts = error instanceof WantsToken ? [element("h1", {}, "Who are you?"), login()] : [element("h1", {}, "No answer"), element("p", { class: "error", role: "alert" }, wordsOf(error))];
  }
  if (isLive) await arrived(); // what is there stays until all of the new is
  if (mine !== drawn || (isLive && !isFree(path))) return; // somebody has gone on
  const [held, scrolled] = [document.activeElement && main.contains(document.activeElement) ? nameOf(document.activeElement) : null, scrollY];
  main.replaceChildren(...parts);
  main.removeAttribute("aria-busy");
  document.title = `${main.querySelector("h1")?.textContent ?? "diytrace"} · diytrace`;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("header nav a"))) {
    if (link.hash === `#${path}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (isLive) scrollTo(0, scrolled);
  // Whoever goes by keyboard stays where they were, if it is still there.
  if (held) [.../** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("button, a, select, [tabindex]"))].find((one) => nameOf(one) === held)?.focus({ preventScroll: true });
  await arrived();
}

/** @param {Element} one */
const nameOf = (one) => one.getAttribute("aria-label") ?? one.getAttribute("name") ?? one.textContent;

/**
 * What somebody types in, points at or reads closely is not drawn anew under their hands.
 * @param {string} path
 */
function isFree(path) {
  const { words } = place();
  const isHeld = main.contains(document.activeElement) && document.activeElement?.matches("input, select, canvas, [role=slider]");
  return LIVE.includes(path) && !isHeld && !words.function && !words.view;
}

function login() {
  const input = element("input", { type: "password", name: "token", autocomplete: "off", required: true });
  return element("form", { class: "choice", onsubmit: (event) => {
    event.preventDefault();
    useToken(input.value.trim());
    draw();
  } }, element("label", { class: "wide" }, "This service wants a token that may read", input), element("button", {}, "Enter"));
}

/** @param {string} text @param {boolean} isThere */
function said(text, isThere) {
  live.textContent = text;
  live.classList.toggle("lost", !isThere);
}

addEventListener("hashchange", () => draw());
draw();
listen(soon, said);

/** Until what has come in may be drawn, in milliseconds, by how long the last drawing took. */
const pause = () => began + Math.max(EVERY, took / PART) - performance.now();

/** Draws what has come in, at once if nothing has for a while; what is being drawn is shown before, however long it takes. */
function soon() {
  next ??= setTimeout(() => {
    next = null;
    if (drawing || pause() > 0) soon();
    else draw(true);
  }, Math.max(pause(), drawing ? EVERY : 0));
}
