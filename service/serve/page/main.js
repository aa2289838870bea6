// The service's page: what there is, live; a selection; two compared; functions over builds.

import { useToken } from "./ask.js";
import { compare } from "./compare.js";
import { explore } from "./explore.js";
import { history } from "./history.js";
import { listen } from "./live.js";
import { place } from "./place.js";
import { services } from "./services.js";
import { element } from "./text.js";

const PAGES = { "/": services, "/explore": explore, "/compare": compare, "/history": history };
/** Pages on which what comes in is drawn, and how often, in milliseconds: as often as anybody reads numbers. */
const LIVE = ["/", "/explore"];
const EVERY = 1000;

const main = document.getElementById("main");
let drawn = 0;
let next = null;

async function draw(isLive = false) {
  const { path, words } = place();
  if (isLive && (!isFree(path) || document.hidden)) return;
  const mine = ++drawn;
  let parts;
  try {
    parts = await (PAGES[path] ?? services)(words);
  } catch (error) {
    parts = [error.wantsToken ? login() : element("p", { class: "error", role: "alert" }, error.message)];
  }
  if (mine !== drawn || (isLive && !isFree(path))) return; // somebody has gone on
  const [held, scrolled] = [document.activeElement?.textContent, scrollY];
  main.replaceChildren(...parts);
  document.title = `${main.querySelector("h1")?.textContent ?? "diytrace"} · diytrace`;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === `#${path}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!isLive) return;
  scrollTo(0, scrolled);
  [...main.querySelectorAll("button, a")].find((one) => one.textContent === held)?.focus({ preventScroll: true });
}

/** What somebody types in, points at or reads closely is not drawn anew under their hands. */
function isFree(path) {
  const { words } = place();
  const isHeld = main.contains(document.activeElement) && ["INPUT", "SELECT", "CANVAS"].includes(document.activeElement.tagName);
  return LIVE.includes(path) && !isHeld && !words.function && words.view !== "flame";
}

function login() {
  const input = element("input", { type: "password", name: "token", autocomplete: "off", required: true });
  return element("form", { class: "choice", onsubmit: (event) => {
    event.preventDefault();
    useToken(input.value.trim());
    draw();
  } }, element("label", { class: "wide" }, "This service wants a token that may read", input), element("button", {}, "Enter"));
}

function said(text, isThere) {
  const live = document.getElementById("live");
  live.textContent = text;
  live.classList.toggle("lost", !isThere);
}

addEventListener("hashchange", () => draw());
draw();
listen(() => { next ??= setTimeout(() => { next = null; draw(true); }, EVERY); }, said);
