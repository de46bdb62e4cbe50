// The panels on the right: Build, Watch, Understand, File.
import { h, fill } from "./dom.js";
import { state, emit, on, setText } from "./store.js";
import { fit } from "./view.js";

export function panel(home, pages) {
  const bodies = {}, tabs = h("div.tabs", { role: "tablist" });
  const titles = { build: "Build", watch: "Watch", understand: "Understand", file: "File" };
  for (const name of Object.keys(titles)) {
    bodies[name] = h("div.page", { role: "tabpanel", id: `page-${name}`, "aria-label": titles[name] });
    tabs.append(h("button", { role: "tab", id: `tab-${name}`, "aria-selected": "false", onclick: () => open(name) }, titles[name]));
  }
  fill(home, tabs, ...Object.values(bodies));
  function open(name) {
    state.tab = name;
    for (const key of Object.keys(titles)) {
      bodies[key].classList.toggle("hidden", key !== name);
      document.getElementById(`tab-${key}`).setAttribute("aria-selected", String(key === name));
    }
    emit("tab");
  }
  for (const name of Object.keys(pages)) pages[name](bodies[name]);
  open("build");
  return { open };
}

// The text of the file itself, for those who like it better than tables.
export function filePanel(page) {
  const box = h("textarea.source", { spellcheck: "false", "aria-label": "Text of the mechanism file", id: "source" });
  const told = h("div.problem");
  // A text that someone pastes is another mechanism: it is shown whole.
  async function takeOver() {
    const before = state.data.name;
    if ((await setText(box.value)) && state.data.name !== before) fit();
  }
  const take = h("button.primary", { onclick: takeOver, id: "take-text" }, "Take over");
  const back = h("button.plain", { onclick: show }, "Discard");
  box.addEventListener("input", () => { take.disabled = back.disabled = box.value === state.text; });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) takeOver();
    event.stopPropagation();
  });
  fill(page, h("section.card", null, h("header", null, h("h2", null, state.name || "The file"), back, take), h("div.body", null, box), told));
  function show() {
    if (document.activeElement !== box || box.value === state.text) box.value = state.text;
    take.disabled = back.disabled = box.value === state.text;
    page.querySelector("h2").textContent = state.name || "The file";
    told.textContent = state.problem?.message || "";
    box.setAttribute("aria-invalid", String(Boolean(state.problem && state.problem.kind === "input")));
  }
  on("document", () => { box.value = state.text; show(); });
  on("tab", show);
  on("opened", show);
}
