// Puts the page together, for one query at a time.

const data = JSON.parse(document.getElementById("data").textContent);
const comparison = data.comparison;
let number = 0;
let query = comparison.queries[0];

function headline() {
  const groups = query.together.filter((group) => group.verdict === "changed");
  const changed = ofVerdict("changed").filter((fn) => !query.together.some((group) => group.functions.includes(query.functions.indexOf(fn))));
  const worse = changed.filter((fn) => fn.self_ns.right_median > fn.self_ns.left_median);
  const better = changed.length - worse.length;
  const said = [];
  const first = !groups.length && changed[0] && [`${changed[0].name}: `, because(changed[0]), ". "];
  for (const { functions, sum_ns } of groups) {
    const isWorse = sum_ns.right_median > sum_ns.left_median;
    said.push(element("b", { class: isWorse ? "worse" : "better" },
      `${functions.map((place) => query.functions[place].name).join(", ")} together take ${isWorse ? "longer" : "less"}`));
  }
  if (worse.length) said.push(element("b", { class: "worse" }, counted(worse.length, "function takes longer", "functions take longer")));
  if (better) said.push(element("b", { class: "better" }, counted(better, "function takes less", "functions take less")));
  const calls = ofVerdict("calls").length + ofVerdict("follows").length;
  if (calls) said.push(counted(calls, "function is called more or less often", "functions are called more or less often"));
  const same = ofVerdict("same-code").length;
  if (same) said.push(counted(same, "function costs more or less with the same code", "functions cost more or less with the same code"));
  const moved = ofVerdict("moved").length;
  if (moved) said.push(`cost moved between ${counted(moved, "function", "functions")}`);
  const alone = ofVerdict("one-sided").length;
  if (alone) said.push(counted(alone, "function is on one side only", "functions are on one side only"));
  if (!said.length) said.push("No function changed");
  const total = query.total.self_ns;
  const together = total.left_median > 0
    ? `. All together: ${time(total.left_median)} → ${time(total.right_median)}, ${signed(total.difference)} ${plusMinus(total)}` +
      `${query.total.verdict === "changed" ? "" : ` (${query.total.verdict.replace("-", " ")})`}.` : ".";
  return [...first || [], ...said.flatMap((part, index) => (index ? [", ", part] : [part])), together, explained()];
}

/** How much of the whole is explained by what is named. */
function explained() {
  const { difference_ns: whole, changed_ns, same_code_ns, moved_ns, rest_ns } = query.explained;
  if (query.total.verdict !== "changed" || !whole || (!changed_ns && !same_code_ns)) return "";
  const part = (ns, what) => ns && `${what} ${signedTime(ns)} (${Math.round((ns / whole) * 100)}%)`;
  const parts = [part(changed_ns, "changed functions explain"), part(same_code_ns, "the same code at other cost"), part(moved_ns, "what moved"), part(rest_ns, "all others")];
  return ` Of that, ${parts.filter(Boolean).join(", ")}.`;
}

function facts() {
  const { left_runs, right_runs, tests, smallest_p } = query;
  const { options } = comparison;
  const corrections = { bh: "Benjamini-Hochberg", holm: "Holm", none: "no correction" };
  const runs = left_runs === right_runs ? `${counted(left_runs, "run", "runs")} a side` : `${left_runs} and ${right_runs} runs`;
  const confirmation = comparison.confirmation ? " · confirmed with fresh runs" : "";
  return `${runs} · ${counted(tests, "function", "functions")} tested (${corrections[options.correction]}, p ≤ ${options.level}; ` +
    `the smallest p of so many runs is ${probability(smallest_p)}) · changes from ${options.min_change * 100}% on${confirmation}`;
}

function draw() {
  document.getElementById("facts").textContent = facts();
  document.getElementById("verdict").replaceChildren(...headline());
  const links = [], parts = [];
  for (const section of SECTIONS) {
    const rows = section.rows();
    const size = section.bare ? "" : rows.length;
    const title = [section.title, size === "" ? "" : element("b", {}, ` ${size}`)];
    links.push(rows.length ? element("a", { href: `#${section.id}` }, ...title) : element("span", { class: "is-empty" }, ...title));
    if (!rows.length && section.id !== "changed") continue;
    parts.push(element("section", { id: section.id }, element("h2", {}, section.title),
      rows.length && section.about ? element("p", {}, section.about) : null,
      rows.length ? section.show(rows) : element("p", { class: "nothing" }, "None.")));
  }
  document.getElementById("contents").replaceChildren(...links);
  document.getElementById("main").replaceChildren(...parts);
}

// Sections are scrolled to below the bar that names them, which has as many lines as it needs.
const bar = document.getElementById("contents");
new ResizeObserver(() => { document.documentElement.style.scrollPaddingTop = `${bar.offsetHeight + 12}px`; }).observe(bar);

if (comparison.queries.length > 1) {
  const select = document.getElementById("query");
  comparison.queries.forEach((one, index) => {
    const changed = one.functions.filter((fn) => fn.verdict === "changed").length;
    select.append(element("option", { value: index }, `${one.query ?? "runs"}${changed ? ` (${changed} changed)` : ""}`));
  });
  select.addEventListener("change", () => {
    number = Number(select.value);
    query = comparison.queries[number];
    draw();
  });
  document.getElementById("query-label").hidden = false;
}
draw();
