// The page comes to life.

function drawHead() {
  const part = partOf(state.part);
  const error = page.is_raw ? "" : ` ± ${time(part.error)}`;
  document.getElementById("facts").textContent = [
    `${time(part.total)}${error}, ${page.times}`, counted(part.calls, "call", "calls"),
    // Which processes were inside the roots, and how long single calls there took, is not known.
    page.is_part ? "" : counted(part.processes, "process", "processes"), counted(part.rows.length, "function", "functions"),
    page.is_part && !page.is_raw ? "means and percentiles are of all calls, also of those elsewhere" : "", `diytrace ${page.version}`,
  ].filter(Boolean).join(" · ");
}

function listen() {
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    show({ search: search.value.trim().toLowerCase() });
    if (["table", "tree"].includes(state.view)) toTop();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) search.focus(), event.preventDefault();
    else if (event.key === "Escape" && document.activeElement === search) search.value = "", show({ search: "" });
    else if (event.key === "Escape") show({ selected: null });
  });
  const tabs = Object.keys(views);
  for (const name of tabs) {
    const tab = document.getElementById(`tab-${name}`);
    tab.addEventListener("click", () => show({ view: name }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const other = tabs[(tabs.indexOf(name) + step + tabs.length) % tabs.length];
      show({ view: other });
      document.getElementById(`tab-${other}`).focus();
    });
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show({}));
  listenToFlame();
  listenToTimeline();
}

function start() {
  if (page.warnings.length) {
    const box = document.getElementById("warnings");
    box.hidden = false;
    box.querySelector("summary").textContent = page.warnings.length === 1 ? `Warning: ${page.warnings[0]}` : counted(page.warnings.length, "warning", "warnings");
    if (page.warnings.length > 1) box.querySelector("ul").append(...page.warnings.map((text) => element("li", {}, text)));
  }
  if (page.parts.length > 1) {
    const choice = document.getElementById("part");
    choice.append(...page.parts.map((part, number) => element("option", { value: number }, `${part.name} · ${time(part.total)}`)));
    state.part = page.parts.reduce((most, part, number) => (part.total > page.parts[most].total ? number : most), 0);
    choice.value = state.part;
    choice.addEventListener("change", () => { show({ part: Number(choice.value) }); drawHead(); });
    document.getElementById("part-label").hidden = false;
  }
  listen();
  drawHead();
  show({});
  // Of many paths it takes a while: it is there before somebody asks for it.
  setTimeout(() => treeOf(partOf(state.part)), 50);
}

start();
