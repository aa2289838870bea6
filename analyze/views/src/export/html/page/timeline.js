// When functions ran: time or calls by slices of time, one row a function, all on one axis.

const MOST_TIMELINES = 200;
const HIGH = 36;
const timelines = { shows: null, marks: 0 };

/** Functions with timelines, those with most in them first: a function may have been called elsewhere, too. */
function timelinesOf(part) {
  const sum = (values) => values.reduce((sum, value) => sum + value, 0);
  part.ran ??= part.timelines.rows.map(([id, from, width, slices, empty, calls, time]) => ({
    id, from: from + empty * width, width, slices, empty, calls, time, begin: from, end: from + slices * width,
    all: { time: sum(time), calls: sum(calls) },
  })).sort((a, b) => b.all.time - a.all.time || b.all.calls - a.all.calls || a.id - b.id);
  return part.ran;
}

/** Time; calls, where none was measured. */
function whatTimelinesShow(part) {
  return timelines.shows ?? (timelinesOf(part).some((ran) => ran.time.some((ns) => ns > 0)) ? "time" : "calls");
}

views.timeline = () => {
  const part = partOf(state.part);
  const view = document.getElementById("view-timeline");
  const all = timelinesOf(part);
  if (!all.length) {
    const why = part.total > 0 ? "No function here has a timeline: roots have, and what nothing recorded has called." : "No time was measured here, so there is no timeline.";
    return view.replaceChildren(element("p", { class: "empty" }, why));
  }
  const { byFunction } = sighted(part);
  const rows = all.filter(({ id }) => byFunction.has(id) && matches(id));
  if (!rows.length) return view.replaceChildren(element("p", { class: "empty" }, "No function that is seen here has a timeline and a name like that."));
  const shows = whatTimelinesShow(part);
  const axis = timeAxis(part);
  const choose = (what) => element("button", { class: "plain", id: `shows-${what}`, "aria-pressed": String(shows === what), onclick: () => {
    timelines.shows = what;
    show({});
    document.getElementById(`shows-${what}`).focus();
  } }, what);
  const reading = element("p", { class: "reading", role: "status" }, "Point at a slice, or go through a row's with ← and →.");
  const labels = shape("svg", { class: "labels", width: "100%", height: 20 });
  const scrolled = view.scrollTop;
  view.replaceChildren(
    ...unfiltered("When functions ran is kept by function, not by path: these are all calls of the functions that remain, also those that are filtered out."),
    element("div", { class: "ran-bar" }, element("div", { class: "choice", role: "group", "aria-label": "What is shown" }, choose("time"), choose("calls")),
      element("p", {}, axis.text, element("br"), timelinesAbout())),
    element("div", { class: "ran-head" }, reading,
      element("div", { class: "ran-row" }, element("span", { class: "fn-head" }, "function, most time first"), labels,
        element("span", { class: "number" }, "peak"), element("span", { class: "number slices" }, "slices"))));
  timelines.marks = axis.most = roomForMarks(labels);
  labels.append(...labelsOf(axis));
  view.append(...rows.slice(0, MOST_TIMELINES).map((ran) => timelineRow(part, ran, axis, shows, reading)));
  if (rows.length > MOST_TIMELINES) view.append(element("p", { class: "empty" }, `${count(rows.length - MOST_TIMELINES)} more: search for them.`));
  view.scrollTop = scrolled;
};

function timelinesAbout() {
  const cost = "Profiling cost is taken off the times, not off the clock: what was busy all the time may stay below 1 s/s.";
  return `Outermost calls of roots; where no roots were chosen, calls by code that is not recorded. A row is as high as its peak. ${page.is_raw ? "" : cost}`;
}

/** From the beginning of the earliest to the end of the latest. */
function timeAxis(part) {
  const { start } = part.timelines;
  const length = Math.max(...timelinesOf(part).map((ran) => ran.end));
  const [from, to] = [moment(start, length / 1e3), moment(start + length, length / 1e3)];
  const text = from && `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to} UTC · ${time(length)}`;
  return { start, length, text, most: 0 };
}

/** How many marks have room for their words. */
function roomForMarks(drawing) {
  return Math.max(2, Math.floor(drawing.getBoundingClientRect().width / 80));
}

function labelsOf(axis) {
  return momentMarks(axis.start, axis.length, axis.most).map(({ at, text }) => shape("text", { x: `${(at / axis.length) * 100}%`, y: 14, "text-anchor": "middle" }, text));
}

/** Its first and last moment. */
function endsOf({ start, length }) {
  const ends = iso(start + length) ? [clock(start, length / 100), clock(start + length, length / 100)] : ["0", since(length)];
  return [shape("text", { x: 0, y: 14 }, ends[0]), shape("text", { x: "100%", y: 14, "text-anchor": "end" }, ends[1])];
}

/** A rate in words: time in a second of the clock, or calls. */
function rate(part, ran, value, shows) {
  const perSecond = value / (ran.width / SECOND);
  if (shows === "time") return `${time(perSecond)}/s`;
  return `${part.timelines.is_all_timed ? "" : "about "}${perSecond < 9.95 ? perSecond.toFixed(1) : count(Math.round(perSecond))}/s`;
}

function peak(part, ran, shows) {
  return rate(part, ran, Math.max(0, ...ran[shows]), shows);
}

/** How many slices, and how long one is. */
function slicing(ran) {
  return `${count(ran.slices)} of ${time(ran.width)}`;
}

/** What is known of a slice. */
function sliceText(part, ran, index) {
  const from = ran.from + index * ran.width;
  const clockTime = clock(part.timelines.start + from, ran.width);
  const calls = ran.calls[index];
  const whole = Number.isInteger(calls) ? counted(calls, "call", "calls") : `${calls.toFixed(1)} calls`;
  return [
    `${clockTime}, ${since(from)} to ${since(from + ran.width)}`, `${time(ran.time[index])} spent (${rate(part, ran, ran.time[index], "time")})`,
    `${part.timelines.is_all_timed ? "" : "about "}${whole} ended`, `slice ${ran.empty + index + 1} of ${ran.slices}`,
  ].filter(Boolean).join(" · ");
}

/** A function's slices as a drawing, and a way to point at one of them. */
function timelineChart(part, ran, axis, shows, say) {
  const most = Math.max(...ran[shows], 0);
  const x = (ns) => ((ns / axis.length) * 1000).toFixed(2);
  let path = "";
  ran[shows].forEach((value, index, all) => {
    if (!(value > 0)) return;
    const from = ran.from + index * ran.width;
    const y = (HIGH - Math.max(1, (value / most) * (HIGH - 2))).toFixed(1);
    path += all[index - 1] > 0 ? `V${y}` : `M${x(from)} ${HIGH}V${y}`;
    path += `H${x(from + ran.width)}${all[index + 1] > 0 ? "" : `V${HIGH}Z`}`;
  });
  const cursor = shape("rect", { class: "cursor", y: 0, height: HIGH, width: 0 });
  const label = `${functions[ran.id].label}: ${shows} in ${slicing(ran)}, peak ${peak(part, ran, shows)}`;
  const drawing = shape("svg", { class: "ran", viewBox: `0 0 1000 ${HIGH}`, preserveAspectRatio: "none", height: HIGH, role: "img", "aria-label": label },
    ...momentMarks(axis.start, axis.length, axis.most).map(({ at }) => shape("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: HIGH })),
    shape("line", { class: "base", x1: x(ran.begin), x2: x(ran.end), y1: HIGH - 0.5, y2: HIGH - 0.5 }), cursor, shape("path", { d: path }));
  const chart = { drawing, index: -1, last: ran.time.length - 1 };
  chart.point = (index) => {
    if (index < 0 || index >= ran.time.length) return;
    chart.index = index;
    cursor.setAttribute("x", x(ran.from + index * ran.width));
    cursor.setAttribute("width", Math.max((ran.width / axis.length) * 1000, 2));
    say(sliceText(part, ran, index));
  };
  drawing.addEventListener("mousemove", (event) => {
    const box = drawing.getBoundingClientRect();
    const pixel = axis.length / box.width;
    const ns = (event.clientX - box.left) * pixel;
    const index = nearestSlice(ran, shows, ns, 3 * pixel);
    if (index >= 0 && index < ran.time.length) return chart.point(index);
    cursor.setAttribute("width", 0);
    say(`${clock(part.timelines.start + ns, pixel)}, ${since(ns)}: nothing`);
  });
  drawing.addEventListener("mouseleave", () => cursor.setAttribute("width", 0));
  return chart;
}

/** The slice at a moment; where that is empty or narrower than can be pointed at, the fullest near it. */
function nearestSlice(ran, shows, ns, reach) {
  const at = (ns) => Math.floor((ns - ran.from) / ran.width);
  const here = at(ns);
  if (ran[shows][here] > 0 && ran.width > reach) return here;
  let best = here;
  for (let index = Math.max(0, at(ns - reach)); index <= Math.min(ran.time.length - 1, at(ns + reach)); index++) {
    if (ran[shows][index] > (ran[shows][best] ?? 0)) best = index;
  }
  return best;
}

function timelineRow(part, ran, axis, shows, reading) {
  const { label } = functions[ran.id];
  const chart = timelineChart(part, ran, axis, shows, (text) => reading.replaceChildren(element("b", {}, label), ` ${text}`));
  const open = () => show({ selected: ran.id });
  const row = element("div", { class: `ran-row${state.selected === ran.id ? " selected" : ""}`, tabindex: 0, "data-row": ran.id, onclick: open },
    marked(label), chart.drawing, element("span", { class: "number" }, peak(part, ran, shows)), element("span", { class: "number slices" }, slicing(ran)));
  row.addEventListener("keydown", (event) => timelineKey(event, row, chart, open));
  return row;
}

function timelineKey(event, row, chart, open) {
  if (event.key === "Enter") open();
  else if (event.key === "ArrowRight") chart.point(chart.index + 1);
  else if (event.key === "ArrowLeft") chart.point(chart.index - 1);
  else if (event.key === "Home") chart.point(0);
  else if (event.key === "End") chart.point(chart.last);
  else if (event.key === "ArrowDown") row.nextElementSibling?.focus();
  else if (event.key === "ArrowUp") row.previousElementSibling?.focus();
  else return;
  event.preventDefault();
}

/** A function's timeline among its details. */
function timelineDetails(part, id, also) {
  const ran = timelinesOf(part).find((ran) => ran.id === id);
  if (!ran) return [];
  const shows = whatTimelinesShow(part);
  const axis = timeAxis(part);
  const about = `${shows} in ${counted(ran.slices, "slice", "slices")} of ${time(ran.width)}, peak ${peak(part, ran, shows)}`;
  const reading = element("p", { class: "place reading" }, about);
  const chart = timelineChart(part, ran, axis, shows, (text) => { reading.textContent = text; });
  const box = element("div", { class: "ran-small", tabindex: 0, "aria-label": "When it ran" }, chart.drawing, shape("svg", { width: "100%", height: 20 }, ...endsOf(axis)));
  box.addEventListener("keydown", (event) => timelineKey(event, box, chart, () => show({ view: "timeline" })));
  return [element("h3", {}, also ? `When it ran: all its calls${also}` : "When it ran"), box, reading];
}

/** Marks need room: drawn anew where that has become more or less. */
function listenToTimeline() {
  const view = document.getElementById("view-timeline");
  new ResizeObserver(() => {
    const labels = view.querySelector(".labels");
    if (labels && state.view === "timeline" && roomForMarks(labels) !== timelines.marks) keepingFocus(views.timeline);
  }).observe(view);
}
