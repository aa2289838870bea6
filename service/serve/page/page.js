// The service's page: what there is, live; a selection's functions; two selections compared. Every state is in the address.

const main = document.getElementById("main");
const state = { live: null, rates: new Map(), seq: 0, redraw: null };

// ---- what is asked, and how it is written

/** @param {string} path */
async function ask(path) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch(path, token ? { headers: { authorization: `Bearer ${token}` } } : {});
  if (answer.status === 401) throw Object.assign(new Error("This service wants a token."), { wantsToken: true });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || `status ${answer.status}`);
  return answer;
}

/** @param {Record<string, string | undefined>} what */
function query(what) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(what)) if (value) words.set(name, value);
  return words.toString();
}

function time(ns) {
  if (ns === null || ns === undefined) return "";
  const size = Math.abs(ns);
  for (const [unit, one] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (size >= one) return `${(ns / one).toPrecision(3).replace(/e\+\d+/, "")} ${unit}`.replace(/^(-?\d+)\.0+ /, "$1 ");
  }
  return `${ns.toFixed(size < 10 ? 1 : 0)} ns`;
}

const count = (number) => Math.round(number).toLocaleString("en");

function age(unixNs) {
  const seconds = Math.max(0, Date.now() / 1000 - unixNs / 1e9);
  if (seconds < 3) return "now";
  for (const [unit, one] of [["d", 86400], ["h", 3600], ["min", 60]]) if (seconds >= one) return `${Math.floor(seconds / one)} ${unit} ago`;
  return `${Math.floor(seconds)} s ago`;
}

/** An element; text is never markup. */
function el(name, attributes = {}, ...children) {
  const is = name === "svg" || name === "rect" || name === "path" || name === "title";
  const made = is ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// ---- tables

/** Rows with columns of [title, of a row, how it is written, name?]; sorted by a click, the largest first. */
function table(caption, columns, rows, sorted, onSort) {
  const [by, descending] = sorted;
  const value = columns[by][1];
  const order = [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const less = typeof x === "string" ? x.localeCompare(y) : (x ?? -1) - (y ?? -1);
    return descending ? -less : less;
  });
  const heads = columns.map(([title, , , isName], at) =>
    el("th", { scope: "col", class: isName ? "name" : undefined, "aria-sort": at === by ? (descending ? "descending" : "ascending") : undefined },
      el("button", { type: "button", onclick: () => onSort([at, at === by ? !descending : !isName]) }, title)));
  const body = order.map((row) => el("tr", {}, ...columns.map(([, of, write, isName], at) => {
    const cell = write ? write(of(row), row) : String(of(row) ?? "");
    return el(isName && at === 0 ? "th" : "td", isName ? { class: "name", scope: at === 0 ? "row" : undefined } : {}, cell);
  })));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)));
}

function bars(values, title, kind = "chart") {
  const most = Math.max(...values, 1e-9);
  const chart = el("svg", { class: kind, viewBox: `0 0 ${values.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": title });
  values.forEach((value, at) => {
    const height = (value / most) * 100;
    chart.append(el("rect", { x: at, y: 100 - height, width: 0.9, height }));
  });
  return chart;
}

// ---- where one is

function place() {
  const [path, words] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", words: Object.fromEntries(new URLSearchParams(words || "")) };
}

function go(path, words) {
  const text = query(words);
  location.hash = text ? `${path}?${text}` : path;
}

function chooser(words, fields, path) {
  const form = el("form", { class: "choice" });
  for (const [name, title, kind] of fields) {
    let input;
    if (kind === "time") {
      input = el("select", { name }, ...[["", "all time"], ["5m", "last 5 minutes"], ["1h", "last hour"], ["1d", "last day"], ["7d", "last 7 days"]]
        .map(([value, text]) => el("option", { value, selected: (words[name] || "") === value }, text)));
      input.addEventListener("change", () => form.requestSubmit());
    } else {
      input = el("input", { name, value: words[name] || "", placeholder: kind, spellcheck: "false", list: name.startsWith("select") || name === "left" || name === "right" ? "labels" : undefined });
    }
    form.append(el("label", { class: kind === "time" ? undefined : "wide" }, title, input));
  }
  form.append(el("button", {}, "Show"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(path, { ...words, ...Object.fromEntries(new FormData(form)), function: words.function });
  });
  return form;
}

async function labels() {
  const { series } = await (await ask("/v1/series")).json();
  const all = new Set();
  for (const one of series) for (const [name, value] of Object.entries(one.labels)) all.add(`${name}=${value}`);
  return el("datalist", { id: "labels" }, ...[...all].sort().map((value) => el("option", { value })));
}

// ---- pages

async function services() {
  const { series } = await (await ask("/v1/series")).json();
  const known = new Map();
  for (const { labels, recordings, calls, last_unix_ns, bytes } of series) {
    const name = labels.service || "";
    const one = known.get(name) || { name, hosts: new Set(), builds: new Set(), recordings: 0, calls: 0, last: 0, bytes: 0 };
    one.hosts.add(labels.host);
    one.builds.add(labels.build);
    one.recordings += recordings;
    one.calls += calls;
    one.bytes += bytes;
    one.last = Math.max(one.last, last_unix_ns);
    known.set(name, one);
  }
  const rows = [...known.values()];
  if (!rows.length) return [el("h1", {}, "Services"), empty()];
  const columns = [
    ["service", (row) => row.name, (name) => el("a", { href: `#/explore?${query({ select: `service=${name}` })}` }, name), true],
    ["calls/s", (row) => rate(row.name).now, (now) => (now ? count(now) : "")],
    ["last minute", (row) => row.last, (_, row) => bars(rate(row.name).slices, `calls in each second of the last minute: ${row.name}`, "spark")],
    ["calls", (row) => row.calls, count],
    ["recordings", (row) => row.recordings, count],
    ["hosts", (row) => row.hosts.size, count],
    ["builds", (row) => row.builds.size, count],
    ["last", (row) => row.last, age],
  ];
  return [el("h1", {}, "Services"), sortable("services", columns, rows, [3, true])];
}

function empty() {
  return el("div", {},
    el("p", {}, "Nothing is here yet. Send what programs of a host count, while they run:"),
    el("pre", {}, `diytrace agent --to ${location.origin} --dir diytrace.data`),
    el("p", {}, "or put in a recording that there is:"),
    el("pre", {}, `diytrace push --to ${location.origin} diytrace.data`));
}

const sorts = new Map();

function sortable(name, columns, rows, usual) {
  const holder = el("div", {});
  const draw = () => holder.replaceChildren(table(name, columns, rows, sorts.get(name) || usual, (sorted) => { sorts.set(name, sorted); draw(); }));
  draw();
  return holder;
}

async function explore(words) {
  const asked = { select: words.select, since: words.since };
  const parts = [
    el("h1", {}, words.select || "Everything"),
    chooser(words, [["select", "Labels", "service=…,host=db*"], ["since", "Time", "time"], ["find", "Functions", "name, * and ?"]], "/explore"),
    await labels(),
  ];
  let document;
  try {
    const find = words.find ? (/[*?]/.test(words.find) ? words.find : `*${words.find}*`) : undefined;
    document = await (await ask(`/v1/report?${query({ ...asked, function: find, names: "short" })}`)).json();
  } catch (error) {
    if (error.wantsToken) throw error;
    return [...parts, el("p", { class: "error", role: "alert" }, error.message), empty()];
  }
  const report = document.reports[0];
  if (!report) return [...parts, el("p", {}, "No function of that name was called.")];
  const all = report.all_self_ns || 1;
  parts.push(el("p", { class: "faint" },
    `${count(report.calls)} calls in ${count(report.processes)} ${report.processes === 1 ? "process" : "processes"} · recording subtracted: ` +
    `${(report.overhead.inner_ns + report.overhead.outer_ns).toFixed(1)} ns a call ± ${report.overhead.error_ns.toFixed(1)} ns` +
    (report.lost_calls ? ` · ${count(report.lost_calls)} calls lost` : "")));
  for (const warning of document.warnings) parts.push(el("p", { class: "faint" }, warning));
  if (words.function) parts.push(await details(words, asked));
  const shown = report.functions.slice(0, 500);
  const link = (name) => el("button", { type: "button", onclick: () => go("/explore", { ...words, function: name }) }, name);
  const columns = [
    ["function", (row) => row.name, link, true],
    ["calls", (row) => row.calls, count],
    ["total", (row) => row.total_ns, time],
    ["±", (row) => row.total_error_ns, time],
    ["self", (row) => row.self_ns, time],
    ["self %", (row) => row.self_ns / all, (share) => `${(100 * share).toFixed(1)}%`],
    ["mean", (row) => row.mean_ns, time],
    ["p50", (row) => row.p50_ns, time],
    ["p99", (row) => row.p99_ns, time],
    ["max", (row) => row.max_ns, time],
  ];
  parts.push(el("h2", {}, "Functions"), sortable("functions", columns, shown, [4, true]));
  const left = report.functions.length - shown.length;
  if (left > 0) {
    const rest = report.functions.slice(500).reduce((sum, row) => sum + row.self_ns, 0);
    parts.push(el("p", { class: "faint" }, `… and ${count(left)} more functions with ${time(rest)} of self time: search for them above.`));
  }
  parts.push(el("h2", {}, "Elsewhere"), exports(asked),
    el("pre", {}, `diytrace report --store … ${words.select ? `--select '${words.select}' ` : ""}${words.since ? `--since ${words.since}` : ""}`));
  return parts;
}

function exports(asked) {
  const links = [["html", "flame graph, call tree and callers"], ["flamegraph", "flame graph (SVG)"], ["pprof", "pprof"], ["speedscope", "speedscope"], ["firefox", "Firefox Profiler"], ["callgrind", "Callgrind"], ["folded", "folded stacks"]];
  return el("p", { class: "exports" }, ...links.map(([format, title]) => {
    const path = `/v1/export/${format}?${query(asked)}`;
    return el("a", { href: path, target: "_blank", onclick: sessionStorage.getItem("token") ? (event) => { event.preventDefault(); save(path, format); } : () => {} }, title);
  }));
}

/** With a token a link alone would not be let in. */
async function save(path, format) {
  const url = URL.createObjectURL(await (await ask(path)).blob());
  el("a", { href: url, download: `diytrace.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function details(words, asked) {
  const name = words.function;
  const close = el("button", { type: "button", onclick: () => go("/explore", { ...words, function: "" }) }, "Close");
  const side = el("section", { class: "side", "aria-label": name }, el("h2", {}, name), close);
  try {
    const [under, callers] = await Promise.all([
      ask(`/v1/report?${query({ ...asked, root: name, names: "short" })}`).then((answer) => answer.json()),
      ask(`/v1/callers?${query({ ...asked, function: name, names: "short" })}`).then((answer) => answer.json()),
    ]);
    for (const row of under.reports[0]?.functions ?? []) {
      const facts = [["calls", count(row.calls)], ["total", `${time(row.total_ns)} ± ${time(row.total_error_ns)}`], ["self", time(row.self_ns)], ["p50", time(row.p50_ns)], ["p90", time(row.p90_ns)], ["p99", time(row.p99_ns)], ["max", time(row.max_ns)]];
      side.append(el("p", {}, facts.filter(([, value]) => value).map(([title, value]) => `${title} ${value}`).join(" · "),
        row.file ? el("span", { class: "faint" }, ` ${row.file}:${row.line}`) : null));
      if (row.timeline) {
        side.append(el("p", { class: "faint" }, `When it ran, in slices of ${time(row.timeline.slice_ns)} since ${new Date(row.timeline.start_unix_ns / 1e6).toLocaleString()}:`),
          bars(row.timeline.slices.map((slice) => slice.total_ns), `time of ${row.name} in each slice`));
      }
      if (row.callees.length) {
        side.append(el("h2", {}, "What it calls"), sortable(`callees of ${row.name}`, [
          ["function", (callee) => callee.name, (callee) => el("button", { type: "button", onclick: () => go("/explore", { ...words, function: callee }) }, callee), true],
          ["calls", (callee) => callee.calls, count],
          ["a call", (callee) => callee.calls / Math.max(1, row.calls), (each) => each.toPrecision(3)],
          ["total", (callee) => callee.total_ns, time],
          ["self", (callee) => callee.self_ns, time],
        ], row.callees, [3, true]));
      }
    }
    const above = callers.trees.flatMap((tree) => tree.nodes.filter((node) => node.depth === 1));
    if (above.length) {
      side.append(el("h2", {}, "Who calls it"), sortable(`callers of ${name}`, [
        ["function", (caller) => caller.name, (caller) => el("button", { type: "button", onclick: () => go("/explore", { ...words, function: caller }) }, caller), true],
        ["calls", (caller) => caller.calls, count],
        ["total", (caller) => caller.total_ns, time],
      ], above, [2, true]));
    }
  } catch (error) {
    if (error.wantsToken) throw error;
    side.append(el("p", { class: "error", role: "alert" }, error.message));
  }
  return side;
}

async function compare(words) {
  const parts = [
    el("h1", {}, "Compare"),
    chooser(words, [["left", "Before", "build=ab12*"], ["right", "After", "build=cd34*"], ["since", "Time", "time"]], "/compare"),
    await labels(),
  ];
  if (!words.left || !words.right) return [...parts, el("p", {}, "Name two selections by their labels: two builds, two hosts, two commits.")];
  const replicate = words.replicate || "run";
  parts.push(el("p", {}, "Each counts as one run of its side: ", ...["run", "host", "slice"].map((one) =>
    el("button", { type: "button", "aria-pressed": String(one === replicate), onclick: () => go("/compare", { ...words, replicate: one }) }, { run: "a recording", host: "a host", slice: "a slice of time" }[one]))));
  try {
    const found = await (await ask(`/v1/compare?${query({ left: words.left, right: words.right, since: words.since, replicate })}`)).json();
    parts.push(...verdict(found));
  } catch (error) {
    if (error.wantsToken) throw error;
    parts.push(el("p", { class: "error", role: "alert" }, error.message));
  }
  return parts;
}

function verdict(found) {
  const parts = [];
  for (const { functions, total, left_runs, right_runs } of found.queries) {
    const changed = functions.filter((row) => ["changed", "calls", "one-sided"].includes(row.verdict));
    const unknown = functions.filter((row) => ["unstable", "underpowered", "unconfirmed"].includes(row.verdict));
    const names = changed.slice(0, 3).map((row) => `${row.name} (${change(row.self_ns)})`).join(", ");
    parts.push(el("p", { role: "status" }, changed.length ? `${count(changed.length)} functions changed: ${names}${changed.length > 3 ? " …" : ""}` : "No function changed.",
      ` ${count(left_runs)} runs before, ${count(right_runs)} after; all self time together: ${total.verdict.replaceAll("-", " ")}.`,
      unknown.length ? ` ${count(unknown.length)} vary too much to tell.` : "",
      Math.min(left_runs, right_runs) < 4 ? " That is too few runs for a verdict: record each side at least four times, or count slices as runs." : ""));
    const tone = (row) => (changed.includes(row) ? (row.self_ns.right_median > row.self_ns.left_median ? "worse" : "better") : undefined);
    parts.push(sortable("compared functions", [
      ["function", (row) => row.name, null, true],
      ["verdict", (row) => row.verdict, (text, row) => el("span", { class: tone(row) }, text.replaceAll("-", " "))],
      ["self before", (row) => row.self_ns.left_median, time],
      ["self after", (row) => row.self_ns.right_median, time],
      ["change", (row) => Math.abs(row.self_ns.right_median - row.self_ns.left_median), (_, row) => change(row.self_ns)],
      ["calls before", (row) => row.calls.left_median, (calls) => (calls === null ? "" : count(calls))],
      ["calls after", (row) => row.calls.right_median, (calls) => (calls === null ? "" : count(calls))],
      ["p", (row) => row.self_ns.p_adjusted, (p) => (p === null ? "" : p.toPrecision(2))],
    ], functions.slice(0, 300), [4, true]));
  }
  for (const warning of [...found.errors, ...found.warnings]) parts.push(el("p", { class: "faint" }, warning));
  return parts;
}

function change({ left_median: before, right_median: after }) {
  const difference = after - before;
  const percent = before ? ` (${difference < 0 ? "−" : "+"}${Math.abs(100 * difference / before).toFixed(1)}%)` : "";
  return `${difference < 0 ? "−" : "+"}${time(Math.abs(difference))}${percent}`;
}

// ---- live

/** Calls a second of a service, and of each of the last 60 seconds, from frames. */
function rate(name) {
  const frames = state.rates.get(name) ?? [];
  const now = Date.now() / 1000;
  const slices = new Array(60).fill(0);
  for (const { start, end, calls } of frames) {
    // A frame's calls lie evenly in its time, as far as anybody knows.
    for (let second = Math.max(Math.floor(start - now + 60), 0); second < Math.min(end - now + 60, 60); second += 1) {
      const [from, to] = [Math.max(start, now - 60 + second), Math.min(end, now - 59 + second)];
      if (to > from) slices[second] += calls * (to - from) / Math.max(end - start, 1e-9);
    }
  }
  const recent = slices.slice(-12, -1);
  return { slices, now: frames.length ? recent.reduce((sum, one) => sum + one, 0) / recent.length : 0 };
}

function said(text, lost) {
  const live = document.getElementById("live");
  live.textContent = text;
  live.classList.toggle("lost", lost);
}

async function listen() {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await ask("/v1/live");
      said("live", false);
      pause = 500;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) {
          const data = event.split("\n").find((line) => line.startsWith("data: "));
          if (event.includes("event: frame") && data) heard(JSON.parse(data.slice(6)));
        }
      }
      said("connection lost: trying again …", true);
    } catch (error) {
      said(error.wantsToken ? "a token is needed" : "no connection: trying again …", true);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}

function heard({ labels, calls, started_unix_ns, ended_unix_ns, put }) {
  if (put === "known") return;
  const name = labels.service || "";
  const frames = state.rates.get(name) ?? [];
  frames.push({ start: started_unix_ns / 1e9, end: ended_unix_ns / 1e9, calls });
  const old = Date.now() / 1000 - 70;
  state.rates.set(name, frames.filter((frame) => frame.end > old));
  // Once a second is as often as anybody reads.
  state.redraw ??= setTimeout(() => { state.redraw = null; draw(true); }, 1000);
}

// ---- drawing

async function draw(isLive = false) {
  const { path, words } = place();
  // What somebody types or reads in is not drawn anew under their hands.
  const busy = document.activeElement && main.contains(document.activeElement) && ["INPUT", "SELECT"].includes(document.activeElement.tagName);
  if (isLive && (busy || path === "/compare" || document.hidden)) return;
  const mine = ++state.seq;
  let parts;
  try {
    parts = await (path === "/explore" ? explore(words) : path === "/compare" ? compare(words) : services());
  } catch (error) {
    parts = [error.wantsToken ? login() : el("p", { class: "error", role: "alert" }, error.message)];
  }
  if (mine !== state.seq) return; // somebody has gone on
  const [held, scrolled] = [document.activeElement?.textContent, scrollY];
  main.replaceChildren(...parts);
  document.title = `${main.querySelector("h1")?.textContent ?? "diytrace"} · diytrace`;
  for (const link of document.querySelectorAll("header nav a")) link.toggleAttribute("aria-current", link.hash === `#${path}`);
  if (isLive) {
    scrollTo(0, scrolled);
    [...main.querySelectorAll("button, a")].find((one) => one.textContent === held)?.focus({ preventScroll: true });
  }
}

function login() {
  const input = el("input", { type: "password", name: "token", autocomplete: "off", required: true });
  return el("form", { class: "choice", onsubmit: (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", input.value.trim());
    draw();
  } }, el("label", { class: "wide" }, "This service wants a token that may read", input), el("button", {}, "Enter"));
}

addEventListener("hashchange", () => draw());
draw();
listen();
