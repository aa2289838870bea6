// Wall-clock time, in nanoseconds since 1970, as people read it: UTC, as in a terminal's report.

const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** What a scale of time may be marked at. */
const STEPS = [
  ...[1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1, 2, 5, 10, 15, 30].map((many) => many * SECOND), ...[1, 2, 5, 10, 15, 30].map((many) => many * MINUTE),
  ...[1, 2, 3, 6, 12].map((many) => many * HOUR), ...[1, 2, 7, 14, 28, 91, 182, 364, 1820, 3640].map((many) => many * DAY),
];

/** 2026-11-20T12:30:01.234Z; nothing for what a damaged file says. */
function iso(unix) {
  const moment = new Date(Math.round(unix / 1e6)); // a double may be a little before the millisecond that is meant
  return Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
}

/** A moment, to the digit that a step of time needs (milliseconds at best). */
function moment(unix, step) {
  const digits = step >= SECOND ? 0 : Math.min(3, Math.ceil(-Math.log10(step / SECOND)));
  return iso(unix).replace("T", " ").replace(/\.(\d+)Z$/, (_, all) => (digits ? `.${all.slice(0, digits)}` : ""));
}

/** A moment without its date. */
function clock(unix, step) {
  return moment(unix, step).split(" ").pop();
}

/** How long after the start. */
function since(ns) {
  return ns > 0 ? `+${time(ns)}` : "0";
}

/** Marks on an axis of that many nanoseconds, at round moments of the clock; or, where the clock's digits would be too many, at
 *  round times from its start. */
function momentMarks(start, length, most) {
  if (!most) return [];
  const step = STEPS.find((step) => step >= length / most) ?? length;
  const isClock = step >= 1e6 && iso(start + length) !== "";
  const text = (at) => {
    if (!isClock) return since(at);
    if (step >= DAY) return moment(start + at, step).split(" ")[0];
    const shown = step >= MINUTE ? clock(start + at, step).slice(0, 5) : clock(start + at, step);
    return length > DAY ? `${moment(start + at, step).slice(5, 10)} ${shown}` : shown;
  };
  const marks = [];
  // A double knows today to a quarter of a microsecond: enough for clocks' marks, which are a millisecond apart or more.
  for (let at = isClock ? (step - (start % step)) % step : 0; at <= length; at += step) marks.push({ at, text: text(at) });
  return marks;
}
