// The keyboard: every tool a letter, the usual chords for file and history, arrows for what is selected.
import { state, undo, redo, select, change, entries, place } from "./store.js";
import { view, zoomAt, fit, gridStep, tidy } from "./view.js";
import { deletion, copied, pasting, dragPlan, freeze } from "./geometry.js";
import { save, saveAs, openFile, newSheet } from "./files.js";
import { TOOLS } from "./tools.js";
import { toast } from "./dom.js";

let clipboard = null;
const chosen = () => [...state.selection];

export async function removeSelected() {
  const operations = deletion(chosen());
  if (operations.length) await change(operations);
}
export function copy() { clipboard = copied(chosen()); toast(`${clipboard.bodies.length} links and ${clipboard.points.length} points copied`); }
export async function paste() {
  if (!clipboard?.points.length) return;
  const step = 2 * gridStep(), { operations, keys } = pasting(clipboard, [step, -step]);
  if (await change(operations)) select(keys);
}
function nudge(dx, dy) {
  const points = chosen().filter((k) => k.startsWith("points:")).map((k) => k.slice(7)).filter((p) => state.data.points?.[p]);
  if (!points.length) return false;
  const step = state.show.snap ? gridStep() / 2 : 1 / view.scale, frozen = freeze();
  change(dragPlan(points.map((p) => { const at = place(p, 0); return [p, [tidy(at[0] + dx * step), tidy(at[1] + dy * step)]]; }), frozen));
  return true;
}

export function keys(tools, player) {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]"), chord = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    const act = (work) => { event.preventDefault(); work(); };
    if (document.querySelector("dialog[open]")) return undefined;
    if (chord && key === "s") return act(event.shiftKey ? saveAs : save);
    if (chord && key === "o") return act(() => openFile());
    if (event.altKey && key === "n") return act(newSheet);
    if (typing && typing.type !== "range") return undefined;
    if (chord && key === "z") return act(event.shiftKey ? redo : undo);
    if (chord && key === "y") return act(redo);
    if (chord && key === "c") return act(copy);
    if (chord && key === "v") return act(paste);
    if (chord && key === "d") return act(() => { copy(); paste(); });
    if (chord && key === "a") return act(() => select([...entries("points").map(([n]) => `points:${n}`), ...entries("bodies").filter(([n]) => n !== "frame").map(([n]) => `bodies:${n}`)]));
    if (chord || event.altKey) return undefined;
    if (event.key === "Delete" || event.key === "Backspace") return act(removeSelected);
    if (event.key === "Escape") return act(() => { if (tools.drawing()) tools.giveUp(); else { select([]); tools.choose("select"); } });
    if (event.key === "Enter" && tools.drawing()) return act(tools.finish);
    if (event.key === " " && !event.target.closest?.("button")) return act(player.toggle);
    if (event.key === "Home") return act(() => { player.pause(); player.go(0); });
    if (event.key === ",") return act(() => player.step(-1));
    if (event.key === ".") return act(() => player.step(1));
    if (event.key === "+" || event.key === "=") return act(() => zoomAt(1.25));
    if (event.key === "-") return act(() => zoomAt(0.8));
    if (event.key === "0") return act(fit);
    const arrows = { arrowleft: [-1, 0], arrowright: [1, 0], arrowup: [0, 1], arrowdown: [0, -1] };
    if (arrows[key] && event.target.closest?.("#sheet") && nudge(...arrows[key])) return event.preventDefault();
    const tool = TOOLS.find((t) => t && t[2].toLowerCase() === key);
    return tool && !event.shiftKey ? act(() => tools.choose(tool[0])) : undefined;
  });
}
