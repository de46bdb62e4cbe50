// The moving mechanism outside of the studio: a notebook's widget, or a page that stands alone.
import { h } from "./dom.js";
import { unpack } from "./link.js";
import { state, on, take } from "./store.js";
import { fit, pan, zoomAt } from "./view.js";
import { drawing } from "./drawing.js";
import { player } from "./player.js";

// Draw the message of the server (bytes) into an element; `moved` hears of the time that is shown.
export function mount(element, bytes, height, moved = null) {
  const sheet = h("div.sheet"), bar = h("div.player");
  element.classList.add("assurgent-viewer");
  element.style.height = `${height}px`;
  element.replaceChildren(sheet, bar);
  drawing(sheet);
  const playing = player(bar);
  state.show.grid = false;
  let from = null;
  sheet.addEventListener("pointerdown", (e) => { from = [e.clientX, e.clientY]; sheet.setPointerCapture(e.pointerId); });
  sheet.addEventListener("pointermove", (e) => { if (from) { pan(e.clientX - from[0], e.clientY - from[1]); from = [e.clientX, e.clientY]; } });
  sheet.addEventListener("pointerup", () => { from = null; });
  sheet.addEventListener("wheel", (e) => { e.preventDefault(); const box = sheet.getBoundingClientRect(); zoomAt(Math.exp(-e.deltaY * 0.0015), [e.clientX - box.left, e.clientY - box.top]); }, { passive: false });
  if (moved) on("frame", () => moved(state.scene.time[Math.round(state.frame)]));
  function show(data) {
    const copy = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    take(unpack(copy), false);
    requestAnimationFrame(() => requestAnimationFrame(fit));
  }
  show(bytes);
  return { show, playing };
}
