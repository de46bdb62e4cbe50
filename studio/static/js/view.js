// The window on the drawing: where the world lies on the screen, zoom, pan, grid and snapping.
import { s } from "./dom.js";
import { state, emit, on } from "./store.js";

export const view = { x: 0, y: 0, scale: 200, width: 800, height: 600 }; // world point in the middle, pixels per unit

export const toScreen = ([x, y]) => [view.width / 2 + (x - view.x) * view.scale, view.height / 2 - (y - view.y) * view.scale];
export const toWorld = ([px, py]) => [view.x + (px - view.width / 2) / view.scale, view.y - (py - view.height / 2) / view.scale];
export const matrix = () => `matrix(${view.scale} 0 0 ${-view.scale} ${view.width / 2 - view.x * view.scale} ${view.height / 2 + view.y * view.scale})`;

// The distance of grid lines: 1, 2 or 5 times a power of ten, about 24 pixels apart.
export function gridStep() {
  const least = 24 / view.scale, power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least);
}
const round = (x, step) => Number((Math.round(x / step) * step).toPrecision(12));
// A place as it is written to the file: on the grid, or to a tenth of a pixel.
export function snapped([x, y], free = false) {
  const fine = 10 ** Math.floor(Math.log10(0.4 / view.scale));
  const step = state.show.snap && !free ? gridStep() / 2 : fine;
  return [round(x, step), round(y, step)];
}
export const tidy = (x) => round(x, 10 ** Math.floor(Math.log10(0.1 / view.scale)));

export function zoomAt(factor, at = [view.width / 2, view.height / 2]) {
  const before = toWorld(at);
  view.scale = Math.min(1e7, Math.max(1e-5, view.scale * factor));
  const after = toWorld(at);
  view.x += before[0] - after[0];
  view.y += before[1] - after[1];
  emit("view");
}
export function pan(dx, dy) {
  view.x -= dx / view.scale;
  view.y += dy / view.scale;
  emit("view");
}

export function fit() {
  let low = null, high = null;
  if (state.scene && state.scene.dimension === 2 && state.scene.shapes.length) [low, high] = [state.scene.low, state.scene.high];
  for (const place of Object.values(state.sketch || {})) {
    if (place.length !== 2) continue;
    low = low ? [Math.min(low[0], place[0]), Math.min(low[1], place[1])] : place;
    high = high ? [Math.max(high[0], place[0]), Math.max(high[1], place[1])] : place;
  }
  if (!low) { Object.assign(view, { x: 0.5, y: 0.25, scale: Math.min(view.width, view.height) / 1.4 }); return emit("view"); }
  const wide = Math.max(high[0] - low[0], 1e-6), tall = Math.max(high[1] - low[1], 1e-6);
  view.scale = Math.min((view.width - 90) / wide, (view.height - 130) / tall, 2000 / Math.max(wide, tall));
  view.x = (low[0] + high[0]) / 2;
  view.y = (low[1] + high[1]) / 2;
  return emit("view");
}

// Numbers at the strong lines, along the axes, or along the edge where an axis is out of sight.
function numbered(step, [left, right], [bottom, top]) {
  const [x0, y0] = toScreen([0, 0]), y = Math.min(Math.max(y0, 60), view.height - 40), x = Math.min(Math.max(x0, 8), view.width - 60), labels = [];
  const text = (value) => String(Number(value.toPrecision(6))).replace("-", "\u2212");
  for (let k = 5 * Math.ceil(left / step / 5); k <= right / step; k += 5) if (k) labels.push(s("text", { x: toScreen([k * step, 0])[0].toFixed(1), y: (y + 13).toFixed(1), "text-anchor": "middle" }, text(k * step)));
  for (let k = 5 * Math.ceil(bottom / step / 5); k <= top / step; k += 5) {
    const at = toScreen([0, k * step])[1] - 3;
    if (k && at > 15 && at < view.height - 32) labels.push(s("text", { x: (x + 5).toFixed(1), y: at.toFixed(1) }, text(k * step))); // whole, and above the hint
  }
  return labels;
}

export function gridLayer() {
  const layer = s("g.grid");
  on("view", () => {
    if (!state.show.grid) return layer.replaceChildren();
    const step = gridStep(), [left, top] = toWorld([0, 0]), [right, bottom] = toWorld([view.width, view.height]);
    const lines = { "": "", strong: "", axis: "" };
    const kind = (k) => (k === 0 ? "axis" : k % 5 === 0 ? "strong" : "");
    for (let k = Math.ceil(left / step); k <= right / step; k += 1) lines[kind(k)] += `M${toScreen([k * step, 0])[0].toFixed(1)} 0V${view.height}`;
    for (let k = Math.ceil(bottom / step); k <= top / step; k += 1) lines[kind(k)] += `M0 ${toScreen([0, k * step])[1].toFixed(1)}H${view.width}`;
    return layer.replaceChildren(...Object.entries(lines).map(([name, d]) => s("path", { d, class: name })), ...numbered(step, [left, right], [bottom, top]));
  });
  on("display", () => emit("view"));
  return layer;
}
