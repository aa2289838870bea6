// When a selection ran, as bars over time; what is drawn over becomes its range of time.

import { view, WantsToken } from "./ask.js";
import { bars } from "./chart.js";
import { clock, go, moment, pattern, selection, shownTime } from "./place.js";
import { count, element, share, time } from "./text.js";

/** Functions that the bars are of: the ones with the most self time, which is nearly all of it, whatever the number of functions. */
export const MOST_FUNCTIONS = 20;
/** A shorter range than that is a slip of the mouse, in pixels. */
const SLIP = 3;
const A_DAY = 86_400e9;
const ENDS = /** @type {const} */ (["from", "to"]);

/**
 * What all functions did in a slice of time: all that came in it, and `inside`, what was done in it, where that which came at once and lies in
 * several slices counts in each by its time.
 * @typedef {{ self_ns: number, calls: number, inside: { self_ns: number, calls: number } }} Slice
 */

/**
 * What bars are of, and how high they are.
 * @type {Record<string, { title: string, of: (slice: Slice) => number, high: (slice: Slice) => number, write: (value: number) => string }>}
 */
const MEASURES = {
  "": { title: "Self time", of: (slice) => slice.self_ns, high: (slice) => slice.inside.self_ns, write: time },
  calls: { title: "Calls", of: (slice) => slice.calls, high: (slice) => slice.inside.calls, write: count },
};

/**
 * The timeline of a selection, by the functions of its report; nothing where all lies in one slice.
 * @param {import("./types.d.ts").Words} words @param {import("./types.d.ts").Listed} report
 */
export async function timeline(words, report) {
  const hottest = [...report.functions].sort((a, b) => b.self_ns - a.self_ns).slice(0, MOST_FUNCTIONS);
  const range = words.since || words.until ? element("button", { type: "button", onclick: () => go("/explore", { ...words, since: "", until: "" }) }, "All time") : null;
  const heading = element("h2", {}, "When");
  let told = hottest;
  const ask = async () => (told.length ? view("history", { ...selection(words), over: "time", function: [...new Set(told.map(({ name }) => pattern(name)))] }) : null);
  const course = await ask().catch((error) => {
    if (error instanceof WantsToken) throw error;
    // Names in short may tell others apart in a part of the time: those that are whole are there.
    told = hottest.filter(({ name }) => !/[‹{]|\(anonymous\)/.test(name));
    return ask();
  });
  const slices = course && !("per" in course) ? inSlices(course) : null; // of recordings, as their report is
  if (!slices || slices.all.length < 2) return range ? [heading, element("p", { class: "tabs" }, "One slice of time: it cannot be cut further. ", range)] : [];
  const measure = MEASURES[words.bars ?? ""] ?? MEASURES[""];
  const tabs = Object.entries(MEASURES).map(([name, { title }]) => element("button", { type: "button", "aria-pressed": String(MEASURES[name] === measure), onclick: () => go("/explore", { ...words, bars: name }) }, title));
  const part = share(told.reduce((sum, row) => sum + row.self_ns, 0), report.all_self_ns);
  const of = told.length < report.functions.length + report.unlisted ? ` Of the ${told.length === 1 ? "function" : `${count(told.length)} functions`} with the most self time: ${part} of all.` : "";
  const parts = [heading, element("p", { class: "tabs" }, ...tabs.flatMap((tab) => [tab, " "]), range), brush(slices, measure, (since, until) => go("/explore", { ...words, since: moment(since), until: moment(until) }))];
  return of ? [...parts, element("p", { class: "soft" }, of.trim())] : parts;
}

/**
 * What part of what came in a slice was done in it, and more than all if that is told in others.
 * @param {import("./types.d.ts").Point} point
 */
export const inside = ({ calls, calls_per_run }) => (calls ? calls_per_run / calls : 1);

/**
 * All functions together, slice by slice; where nothing was counted, a slice of nothing.
 * @param {import("./types.d.ts").HistoryDocument} history
 */
function inSlices({ functions, slice_ns: width }) {
  const points = functions.flatMap((one) => one.points);
  if (!points.length || !width) return null;
  // Slices begin at multiples of their width since 1970, which nanoseconds in a double are too coarse to hit.
  const border = (/** @type {number} */ ns) => Math.round(ns / width);
  const first = Math.min(...points.map((point) => border(point.started_unix_ns)));
  const last = Math.max(...points.map((point) => border(point.started_unix_ns)));
  const all = Array.from({ length: last - first + 1 }, () => ({ self_ns: 0, calls: 0, inside: { self_ns: 0, calls: 0 } }));
  for (const point of points) {
    const slice = all[border(point.started_unix_ns) - first];
    const [self, part] = [Math.max(point.self_ns, 0), inside(point)];
    slice.self_ns += self;
    slice.calls += point.calls;
    slice.inside.self_ns += self * part;
    slice.inside.calls += point.calls * part;
  }
  return { all, width, start: first * width };
}

/**
 * The bars, and two handles over them: by mouse or finger a range is drawn, by keyboard each handle is moved, and Enter takes it.
 * @param {{ all: Slice[], width: number, start: number }} slices @param {(typeof MEASURES)[string]} measure
 * @param {(since: number, until: number) => void} onRange
 */
function brush({ all, width, start }, { title, of, high, write }, onRange) {
  const at = (/** @type {number} */ border) => start + border * width;
  const isLong = all.length * width > A_DAY; // the time of day does not say when
  const when = (/** @type {number} */ ns) => (isLong ? shownTime(moment(ns)) : clock(ns, width)) ?? "";
  const now = { from: 0, to: all.length };
  const shade = element("div", { class: "shade" });
  const said = element("p", { class: "said", role: "status" });
  const handles = ENDS.map((end) => element("div", {
    class: "handle", role: "slider", tabindex: 0, "aria-label": end === "from" ? "Beginning of the range" : "End of the range",
    "aria-valuemin": 0, "aria-valuemax": all.length, onkeydown: (event) => key(event, end),
  }));
  const box = element("div", { class: "brush" }, bars(all.map(high), `${title} in ${count(all.length)} slices of time`), shade, ...handles);

  function draw() {
    const percent = (/** @type {number} */ border) => `${(border / all.length) * 100}%`;
    Object.assign(shade.style, { left: percent(now.from), width: percent(now.to - now.from) });
    ENDS.forEach((end, which) => {
      handles[which].style.left = percent(now[end]);
      handles[which].setAttribute("aria-valuenow", String(now[end]));
      handles[which].setAttribute("aria-valuetext", when(at(now[end])));
    });
    box.classList.toggle("whole", now.to - now.from === all.length);
  }
  function tell() {
    const sum = all.slice(now.from, now.to).reduce((sum, slice) => sum + of(slice), 0);
    said.replaceChildren(`${when(at(now.from))} – ${when(at(now.to))}: ${title.toLowerCase()} ${write(sum)}`);
  }
  /** @param {number} from @param {number} to */
  function choose(from, to) {
    Object.assign(now, { from: Math.max(Math.min(from, to), 0), to: Math.min(Math.max(from, to), all.length) });
    draw();
    tell();
  }
  const reset = () => {
    Object.assign(now, { from: 0, to: all.length });
    draw();
    said.replaceChildren("Draw over the bars to look at that time alone; by keyboard, move an end by the arrows and press Enter.");
  };
  const take = () => now.to - now.from < all.length && onRange(at(now.from), at(now.to));

  /** @param {KeyboardEvent} event @param {"from" | "to"} end */
  function key(event, end) {
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -all.length, End: all.length };
    const step = steps[event.key];
    if (step) {
      const [least, most] = end === "from" ? [0, now.to - 1] : [now.from + 1, all.length];
      const moved = { ...now, [end]: Math.min(Math.max(now[end] + step, least), most) };
      choose(moved.from, moved.to);
    } else if (event.key === "Enter") take();
    else if (event.key === "Escape") reset();
    else return;
    event.preventDefault();
  }

  const sliceAt = (/** @type {PointerEvent} */ event) => {
    const area = box.getBoundingClientRect();
    return Math.min(Math.max(Math.floor(((event.clientX - area.left) / area.width) * all.length), 0), all.length - 1);
  };
  let began = /** @type {{ slice: number, x: number } | null} */ (null);
  box.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    began = { slice: sliceAt(event), x: event.clientX };
    box.setPointerCapture(event.pointerId);
    handles[0].focus({ preventScroll: true }); // what is held is not drawn anew by what comes in
    event.preventDefault();
  });
  box.addEventListener("pointermove", (event) => {
    const slice = sliceAt(event);
    if (began && Math.abs(event.clientX - began.x) >= SLIP) choose(Math.min(began.slice, slice), Math.max(began.slice, slice) + 1);
    else if (!began) said.replaceChildren(`${when(at(slice))}: ${title.toLowerCase()} ${write(of(all[slice]))}`);
  });
  box.addEventListener("pointerup", (event) => {
    const isDrawn = began && Math.abs(event.clientX - began.x) >= SLIP;
    began = null;
    if (isDrawn) take();
  });
  box.addEventListener("pointercancel", () => { began = null; reset(); });
  reset();
  const ends = element("p", { class: "ends" }, element("span", {}, shownTime(moment(at(0)))), element("span", {}, shownTime(moment(at(all.length)))));
  return element("figure", {}, box, ends, said);
}
