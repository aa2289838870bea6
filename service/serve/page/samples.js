// Sampled profiles of others: taken from an endpoint by a click, listed, and shown by function, line and stack.

import { bytes, writer } from "./amount.js";
import { WantsToken, ask, hasToken, path, view, wordsOf } from "./ask.js";
import { choice, labels } from "./choice.js";
import { flame } from "./flame.js";
import { address, commandLine, day, go, selection } from "./place.js";
import { breakable, table } from "./table.js";
import { counted, element, share } from "./text.js";
import { ofFolded } from "./tree.js";

/** Most profiles in the list. */
const LISTED = "200";
const VIEWS = { functions: "Functions", lines: "Lines", flame: "Flame graph" };

/** @param {import("./types.d.ts").Words} words @returns {Promise<import("./types.d.ts").Part[]>} */
export async function samples(words) {
  const asked = words.id ? { id: words.id } : selection(words);
  /** @type {import("./types.d.ts").Part[]} */
  const parts = [element("h1", {}, "Sampled profiles"), scrape()];
  let listed;
  try {
    listed = await view("profiles", { ...selection(words), limit: LISTED });
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    return [...parts, choice("/samples", words, [{ name: "select", title: "Labels", hint: "service=…", isLabels: true }]), element("p", { class: "error", role: "alert" }, wordsOf(error))];
  }
  const types = [...new Set(listed.profiles.flatMap((one) => one.types.map((of) => of.type)))].sort();
  const chosen = words.type || (words.id ? "" : shownByAll(listed.profiles));
  const fields = [
    { name: "select", title: "Labels", hint: "service=…", isLabels: true },
    { name: "type", title: "Type", options: /** @type {[string, string][]} */ ([["", "as they show"], ...types.map((name) => [name, name])]) },
  ];
  parts.push(choice("/samples", { ...words, id: undefined }, fields), await labels());
  if (words.id || chosen) parts.push(...(await shown({ ...asked, type: chosen }, words)));
  else parts.push(element("p", {}, "These profiles show different types of samples: choose one."));
  parts.push(element("h2", {}, "Profiles"), list(listed, words));
  return parts;
}

/**
 * The type that all profiles show first, if that is one.
 * @param {import("./types.d.ts").SampledProfile[]} profiles
 */
function shownByAll(profiles) {
  const first = new Set(profiles.map((one) => one.types[0]?.type));
  return first.size === 1 ? [...first][0] : "";
}

/** The form that takes a profile from an endpoint, now. */
function scrape() {
  const url = element("input", { name: "url", required: true, spellcheck: "false", autocomplete: "off", placeholder: "127.0.0.1:6060/debug/pprof/heap" });
  const seconds = element("input", { name: "seconds", type: "number", min: "1", max: "300", placeholder: "as it is" });
  const service = element("input", { name: "service", spellcheck: "false", autocomplete: "off", placeholder: "its program" });
  const said = element("p", { class: "said", role: "status" }, "\u00a0");
  const button = element("button", {}, "Scrape");
  const form = element("form", { class: "choice", "aria-label": "Take a profile from an endpoint" },
    element("label", { class: "wide" }, "Host, port and path of a pprof endpoint", url), element("label", {}, "Seconds", seconds), element("label", {}, "Service", service), button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    said.textContent = seconds.value ? `Sampling for ${seconds.value} s …` : "Asking …";
    try {
      const body = JSON.stringify({ url: url.value.trim(), ...(seconds.value ? { seconds: Number(seconds.value) } : {}), labels: service.value.trim() ? { service: service.value.trim() } : {} });
      const taken = await (await ask("/v1/scrape", { method: "POST", body, headers: { "content-type": "application/json" } })).json();
      go("/samples", { id: taken.id });
    } catch (error) {
      said.textContent = wordsOf(error);
    }
    button.disabled = false;
  });
  return element("section", {}, form, said);
}

/** @param {import("./types.d.ts").Parameters} asked @param {import("./types.d.ts").Words} words */
async function shown(asked, words) {
  const kind = words.view && words.view in VIEWS ? words.view : "functions";
  try {
    const document = await view("samples", { ...asked, lines: kind === "lines" ? "1" : undefined });
    const write = writer(document.shown.unit);
    const others = document.types.filter((of) => of.type !== document.shown.type).map((of) => `${of.type} ${writer(of.unit)(of.total)}`);
    const tabs = Object.entries(VIEWS).map(([one, title]) => element("button", { type: "button", "aria-pressed": String(one === kind), onclick: () => go("/samples", { ...words, view: one }) }, title));
    const type = asked.type ? ` --type ${asked.type}` : "";
    const command = `${words.id ? `diytrace samples --store … --id ${words.id}` : commandLine("samples", words)}${type}${kind === "lines" ? " --lines" : ""}`;
    return [
      element("p", { role: "status" }, element("b", {}, `${document.shown.type}: ${write(document.shown.total)}`), ` in ${counted(document.profiles, "profile", "profiles")}${others.length ? ` · also ${others.join(", ")}` : ""}`),
      ...document.warnings.map((warning) => element("p", { class: "soft" }, warning)),
      element("p", { class: "tabs" }, ...tabs),
      kind === "flame" ? await picture(asked, write) : rows(document, write, kind === "lines", words),
      ...tags(document, write),
      element("p", { class: "actions" }, element("code", {}, command), " ", ...(hasToken() ? [] : [element("a", { href: path("/v1/samples/pprof", asked), download: "profile.pb.gz" }, "Download for pprof")])),
    ];
  } catch (error) {
    if (error instanceof WantsToken) throw error;
    return [element("p", { class: "error", role: "alert" }, wordsOf(error))];
  }
}

/** @param {import("./types.d.ts").Parameters} asked @param {(value: number) => string} write */
async function picture(asked, write) {
  const text = await (await ask(path("/v1/samples/folded", asked))).text();
  return flame(ofFolded(text), { write });
}

/** @param {import("./types.d.ts").SamplesDocument} document @param {(value: number) => string} write @param {boolean} areLines @param {import("./types.d.ts").Words} words */
function rows({ functions, shown: { total, type } }, write, areLines, words) {
  /** @type {import("./types.d.ts").Column<(typeof functions)[number]>[]} */
  const columns = [
    { title: "function", of: (row) => row.name, write: (name) => element("a", { href: address("/history", { select: words.select, function: name, type }), title: "over builds and time" }, ...breakable(name)), isName: true },
    { title: areLines ? "line" : "file", of: (row) => (row.file ? `${row.file.replace(/.*\//, "")}${row.line === null ? "" : `:${row.line}`}` : ""), isName: true },
    { title: "flat", of: (row) => row.flat, write, help: "of samples in it" },
    { title: "flat %", of: (row) => row.flat, write: (value) => share(value, total) },
    { title: "cum", of: (row) => row.cum, write, help: "of samples in it, or in what it called" },
    { title: "cum %", of: (row) => row.cum, write: (value) => share(value, total) },
  ];
  return table("sampled functions", columns, functions, [2, true]);
}

/** @param {import("./types.d.ts").SamplesDocument} document @param {(value: number) => string} write */
function tags({ tags: all, shown: { total } }, write) {
  if (!all.length) return [];
  /** @type {import("./types.d.ts").Column<(typeof all)[number]>[]} */
  const columns = [
    { title: "label", of: (row) => row.key, isName: true },
    { title: "value", of: (row) => row.value, write: (value, row) => (typeof value === "number" && row.unit ? writer(row.unit)(value) : String(value)), isName: true },
    { title: "samples", of: (row) => row.total, write },
    { title: "%", of: (row) => row.total, write: (value) => share(value, total) },
  ];
  return [element("h2", {}, "Labels of samples"), table("labels of samples", columns, all, [2, true])];
}

/** @param {import("./types.d.ts").ProfilesDocument} document @param {import("./types.d.ts").Words} words */
function list({ profiles, left_out }, words) {
  const named = (/** @type {Record<string, string>} */ all) => Object.entries(all).map(([name, value]) => `${name}=${value}`).join(", ");
  /** @type {import("./types.d.ts").Column<(typeof profiles)[number]>[]} */
  const columns = [
    { title: "ended", of: (row) => row.ended_unix_ns, write: day },
    { title: "series", of: (row) => named(row.labels), write: (text, row) => element("a", { href: `#${path("/samples", { id: row.id, view: words.view })}` }, text), isName: true },
    { title: "shows", of: (row) => row.types[0]?.type ?? "", isName: true },
    { title: "value", of: (row) => row.types[0]?.total, write: (value, row) => (row.types[0] ? writer(row.types[0].unit)(value) : "") },
    { title: "size", of: (row) => row.bytes, write: bytes },
  ];
  const older = left_out ? [element("p", { class: "soft" }, `${counted(left_out, "older profile", "older profiles")} left out: choose a time.`)] : [];
  return element("section", {}, table("sampled profiles", columns, profiles, [0, true]), ...older);
}
