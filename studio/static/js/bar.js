// The bar above: file, history, what is computed, downloads, theme.
import { h, fill, glyph, menu } from "./dom.js";
import { state, on, undo, redo, canUndo, canRedo, again, change, emit } from "./store.js";
import { newSheet, openFile, save, saveAs, share, openLink, unsaved, recent } from "./files.js";
import { downloads } from "./exports.js";

const KINDS = [["run", "Motion", "Kinematics: the motion that the drivers prescribe"], ["inverse", "Forces", "Inverse dynamics: efforts and reactions along the motion"], ["simulate", "Simulation", "Forward dynamics: the motion under gravity, springs and forces"]];

export function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("assurgent-theme", name); } catch { /* a private window */ }
  emit("theme");
}
export function firstTheme() {
  let kept = null;
  try { kept = localStorage.getItem("assurgent-theme"); } catch { /* a private window */ }
  theme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
}

export function bar(home) {
  const name = h("input.name", { "aria-label": "Name of the mechanism", onchange: () => change([["set", ["name"], name.value.trim() || "untitled"]]) });
  const dot = h("span.unsaved", { title: "not saved" });
  const back = h("button.icon", { "aria-label": "Undo", title: "Undo (Ctrl Z)", id: "undo", onclick: undo }, glyph("undo"));
  const on_ = h("button.icon", { "aria-label": "Redo", title: "Redo (Ctrl Shift Z)", id: "redo", onclick: redo }, glyph("redo"));
  const file = h("button", { id: "menu-file", "aria-haspopup": "menu", onclick: () => menu(file, [
    { label: "New…", key: "Alt N", act: newSheet }, { label: "Open…", key: "Ctrl O", act: () => openFile() },
    { label: "From a link…", act: openLink }, { label: "Save", key: "Ctrl S", act: save }, { label: "Save as…", key: "Ctrl Shift S", act: saveAs }, { label: "Share as a link…", act: share },
    ...(recent().length ? [{ title: "Recent" }, ...recent().map((f) => ({ label: f, act: () => openFile(f) }))] : []),
  ]) }, "File", glyph("down"));
  const load = h("button", { id: "menu-download", "aria-haspopup": "menu", onclick: () => menu(load, downloads()) }, "Download", glyph("down"));
  const kinds = h("div.segments", { role: "group", "aria-label": "What is computed" }, KINDS.map(([kind, label, title]) => h("button", { id: `kind-${kind}`, title, onclick: () => { state.kind = kind; dress(); again(); } }, label)));
  const dark = h("button.icon", { "aria-label": "Light or dark", title: "Light or dark", id: "theme", onclick: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark") });
  const busy = h("span.badge", { id: "busy" });
  const size = () => { name.size = Math.max(8, name.value.length); };
  name.addEventListener("input", size);
  fill(home, h("span.brand", null, h("img", { src: "/static/icon.svg", alt: "" }), "Assurgent"), file, name, dot, h("span.rule"), back, on_, h("span.gap"), h("div.kinds", null, busy, kinds), h("span.gap"), load, dark);
  function dress() {
    back.disabled = !canUndo();
    on_.disabled = !canRedo();
    dot.classList.toggle("yes", unsaved());
    for (const [kind] of KINDS) document.getElementById(`kind-${kind}`).setAttribute("aria-pressed", String(state.kind === kind));
    if (document.activeElement !== name) name.value = state.data.name || "untitled";
    size();
    fill(dark, glyph(document.documentElement.dataset.theme === "dark" ? "sun" : "moon"));
  }
  let late = 0;
  on("busy", () => {
    clearTimeout(late);
    if (state.busy) late = setTimeout(() => { busy.textContent = "computing…"; }, 250);
    else busy.textContent = state.scene?.count > 1 ? `${state.scene.count} instants in ${state.milliseconds.toFixed(state.milliseconds < 10 ? 1 : 0)} ms` : "";
  });
  for (const event of ["document", "history", "opened", "theme"]) on(event, dress);
  addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });
}
