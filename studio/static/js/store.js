// What the page knows, who wants to hear of changes, and the history of the text.
import { ask, floats } from "./link.js";
import { toast } from "./dom.js";

export const state = {
  text: "", name: null, saved: "", data: {}, structure: null, scene: null, series: {}, sketch: {}, problem: null, notes: [],
  kind: "run", provisional: false, milliseconds: 0, diagnostics: {}, frame: 0, playing: false, tool: "select", tab: "build",
  selection: new Set(), traces: null, files: [], templates: [], busy: 0, stage: "", group: null, angles: {},
  show: { velocity: false, acceleration: false, reactions: false, efforts: false, centres: false, names: true, grid: true, snap: true, groups: true, curves: true },
};
const listeners = {};
export const on = (event, listener) => (listeners[event] ||= []).push(listener);
export const emit = (event, detail) => (listeners[event] || []).forEach((listener) => listener(detail));

const past = [], future = [];
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

// ---- answers ---------------------------------------------------------------------------------------------------------
export function take(header, light) {
  const scene = header.scene || null, before = state.provisional ? state.scene?.count : 0;
  if (scene) {
    scene.time = floats(header, scene.time);
    scene.count = scene.time.length;
    const wide = scene.dimension === 2 ? 4 : 12;
    for (const name of Object.keys(scene.bodies)) scene.bodies[name] = floats(header, scene.bodies[name]);
    scene.ties = scene.ties.map((tie) => floats(header, tie));
    scene.wide = wide;
  }
  const series = {};
  for (const [name, reference] of Object.entries(header.series || {})) series[name] = floats(header, reference);
  if (header.text !== undefined) state.text = header.text;
  Object.assign(state, { scene, series, sketch: header.sketch, problem: header.problem, notes: header.notes, provisional: header.provisional, method: header.method });
  state.structure = header.structure || null;
  if (header.data) state.data = header.data;
  if (header.diagnostics) state.diagnostics = header.diagnostics;
  if (header.milliseconds !== undefined) state.milliseconds = header.milliseconds;
  const last = Math.max(0, (scene?.count || 1) - 1);
  state.frame = before > 1 ? (state.frame / (before - 1)) * last : Math.min(state.frame, last); // the same time, not the same instant
  for (const key of [...state.selection]) if (!exists(key)) state.selection.delete(key);
  emit(light ? "drawn" : "document");
}

export function exists(key) {
  const [table, name] = parts(key);
  return state.data[table]?.[name] !== undefined || (table === "points" && state.series[`${name}.x`] !== undefined);
}
export const parts = (key) => { const at = key.indexOf(":"); return [key.slice(0, at), key.slice(at + 1)]; };

function request(fields, light) {
  const colours = state.show.groups ? "groups" : "bodies";
  return ask("solve", { kind: state.kind, colours, light, ...fields }, (early) => take(early, light));
}

let chain = Promise.resolve();
// Changes follow one another; each sees the text that the one before left.
function queued(work) {
  state.busy += 1;
  emit("busy");
  const run = chain.then(async () => {
    try { return await work(); } finally { state.busy -= 1; state.stage = ""; emit("busy"); }
  });
  chain = run.catch(() => undefined);
  return run;
}

// ---- changes ---------------------------------------------------------------------------------------------------------
// Operations: ["set", path, value], ["delete", path], ["rename", table, old, new]. Returns whether they were taken.
export function change(operations) {
  return queued(async () => {
    const before = state.text;
    try {
      take(await request({ text: before, operations }), false);
    } catch (error) { toast(error.message, true); return false; }
    if (state.text !== before) { past.push(before); future.length = 0; emit("history"); }
    return true;
  });
}

export function setText(text, { keep = true } = {}) {
  return queued(async () => {
    const before = state.text;
    try { take(await request({ text }), false); } catch (error) { toast(error.message, true); return false; }
    if (keep && text !== before) { past.push(before); future.length = 0; }
    emit("history");
    return true;
  });
}

export const again = () => setText(state.text, { keep: false });

export async function begin(text, name) {
  past.length = future.length = 0;
  Object.assign(state, { frame: 0, traces: null, name, saved: name ? text : text, group: null, angles: {} });
  state.selection.clear();
  state.kind = "run";
  await setText(text, { keep: false });
  state.saved = state.text;
  emit("opened");
  emit("history");
}

async function travel(from, to) {
  if (!from.length) return;
  to.push(state.text);
  await setText(from.pop(), { keep: false });
}
export const undo = () => travel(past, future);
export const redo = () => travel(future, past);

// ---- dragging: one request on its way at a time, the newest place wins; the text changes once, at the end -------------
let drag = null;
export function dragTo(operations, moved) {
  if (!drag) drag = { base: state.text, busy: false, next: null };
  drag.next = drag.last = { operations, moved };
  if (!drag.busy) pump();
}
async function pump() {
  const mine = drag;
  mine.busy = true;
  while (mine.next && !mine.ended) {
    const { operations, moved } = mine.next;
    mine.next = null;
    try { take(await request({ text: mine.base, operations }, true), true); moved?.(); } catch (error) { toast(error.message, true); }
  }
  mine.busy = false;
  if (mine.ended) change(mine.last.operations);
}
export function dragEnd() {
  if (!drag) return;
  const mine = drag;
  drag = null;
  mine.ended = true;
  if (!mine.busy) change(mine.last.operations);
}

// ---- reading ---------------------------------------------------------------------------------------------------------
export function select(keys, add = false) {
  if (!add) state.selection.clear();
  for (const key of [keys].flat()) state.selection.has(key) && add ? state.selection.delete(key) : state.selection.add(key);
  emit("selection");
}
// What is selected by a click on something drawn: a body's link, or the driver of a cylinder's barrel or rod.
export function keyOf(body) {
  const cylinder = body.match(/^ (?:barrel|rod) (.*)$/s);
  if (cylinder) return `drivers:${cylinder[1]}`;
  const member = Object.entries(state.structure?.rigid || {}).find(([m, r]) => r === body && m !== "frame")?.[0];
  return `bodies:${member || body}`;
}
export const entries = (table) => Object.entries(state.data[table] || {});
export function set(key, value) { state.show[key] = value; emit("display"); }

export function fresh(table, stem, taken = []) {
  const used = new Set([...Object.keys(state.data[table] || {}), ...taken]);
  if (!used.has(stem)) return stem;
  let n = 2;
  while (used.has(`${stem}${n}`)) n += 1;
  return `${stem}${n}`;
}
export function freshPoint(taken = []) {
  const used = new Set([...Object.keys(state.data.points || {}), ...Object.keys(state.series).filter((k) => k.endsWith(".x")).map((k) => k.slice(0, -2)), ...taken]);
  for (const c of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") if (!used.has(c)) return c;
  let n = 1;
  while (used.has(`P${n}`)) n += 1;
  return `P${n}`;
}
// Where a point is at the frame that is shown.
export function place(name, frame = state.frame) {
  const xs = state.series[`${name}.x`], ys = state.series[`${name}.y`];
  if (!xs) return state.sketch[name] || null;
  const k = Math.min(xs.length - 1, Math.floor(frame)), f = frame - k, next = Math.min(xs.length - 1, k + 1);
  return [xs[k] + f * (xs[next] - xs[k]), ys[k] + f * (ys[next] - ys[k])];
}
