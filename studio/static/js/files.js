// Open, save, save as, recent, templates; a link that holds the mechanism.
import { ask as request } from "./link.js";
import { state, begin, emit } from "./store.js";
import { ask, choose, confirm } from "./dialogs.js";
import { s, toast } from "./dom.js";
import { filling, themed } from "./drawing.js";

const NOTES = { "Empty sheet": "draw your own", "Four-bar": "crank and rocker", "Slider-crank": "offset piston", "Quick return": "Whitworth", "Watt six-bar": "two dyads", "Stephenson six-bar": "one group of four bodies", "Jansen leg": "Theo Jansen's walker", "Klann leg": "walking spider", "Five-bar": "two motors", Excavator: "three cylinders", "Scissor lift": "one cylinder", "Planetary gear": "gears on a carrier", "Rack and pinion": "rolling without slip", "Stewart platform": "spatial, six legs" };

export const unsaved = () => state.text !== state.saved;

async function leave() {
  return !unsaved() || confirm("Changes are not saved", "The mechanism has changes that no file holds. They are lost if you go on.", "Go on without saving");
}

// Small pictures of the templates, loaded with the first look at the gallery.
let pictures = null;
function picture(one) {
  const shapes = (one?.shapes || []).map(([d, fill, opacity, edge]) => s("path", { d, fill: fill ? filling({ fill, opacity, edge }) : "none", "fill-opacity": opacity, stroke: themed(edge), "stroke-width": 0.9, "stroke-linejoin": "round" }));
  const dots = (one?.dots || []).map(([cx, cy, r, fill, edge]) => s("circle", { cx, cy, r, fill: themed(fill), stroke: themed(edge), "stroke-width": 0.8 }));
  return s("svg", { viewBox: "0 0 150 84", "aria-hidden": "true" }, shapes, dots);
}

export async function newSheet() {
  pictures ||= await fetch("/static/thumbnails.json").then((answer) => answer.json()).catch(() => null);
  const items = state.templates.map((t) => ({ value: t, label: t, note: NOTES[t] || "", picture: pictures && picture(pictures[t]) }));
  const title = await choose("New mechanism", items, { note: "Begin with a template or with an empty sheet." });
  if (!title || !(await leave())) return;
  await openTemplate(title);
}

export async function openTemplate(title) {
  const { text } = await request("template", { name: title });
  await begin(text, null);
  document.title = `${title} - Assurgent studio`;
}

export async function openFile(name) {
  if (!name) {
    if (!state.files.length) return toast("The folder holds no mechanism files yet.");
    name = await choose("Open", state.files.map((f) => ({ value: f, label: f })), { note: `Files of the folder ${state.folder}, the newest first.` });
    if (!name || !(await leave())) return undefined;
  }
  try {
    const { text } = await request("open", { name });
    await begin(text, name);
    remember(name);
  } catch (error) { toast(error.message, true); }
  return undefined;
}

export async function save() {
  if (!state.name) return saveAs();
  return write(state.name, false);
}

async function write(name, fresh) {
  try {
    const answer = await request("save", { name, text: state.text, new: fresh });
    if (answer.exists) {
      if (!(await confirm(`${name} is there already`, "Another mechanism has this name.", "Replace it"))) return false;
      return write(name, false);
    }
    Object.assign(state, { name: answer.name, saved: state.text, files: answer.files });
    remember(answer.name);
    emit("opened");
    toast(`saved as ${answer.name}`);
    return true;
  } catch (error) { toast(error.message, true); return error.message; }
}

export function saveAs() {
  const stem = (state.data.name || "mechanism").replace(/[^A-Za-z0-9_ ().+-]/g, "-");
  ask("Save as", [{ key: "name", label: "File name", value: state.name || `${stem}.toml`, kind: "text" }], async ({ name }) => {
    const full = name.endsWith(".toml") ? name : `${name}.toml`;
    const found = await write(full, full !== state.name);
    return found === true ? null : found || null;
  }, { action: "Save", note: `In the folder ${state.folder}.` });
}

const recentKey = () => `assurgent-recent-${state.folder}`;
export const recent = () => { try { return JSON.parse(localStorage.getItem(recentKey()) || "[]").filter((n) => state.files.includes(n)); } catch { return []; } };
function remember(name) {
  try { localStorage.setItem(recentKey(), JSON.stringify([name, ...recent().filter((n) => n !== name)].slice(0, 8))); } catch { /* a private window */ }
}

// ---- links -----------------------------------------------------------------------------------------------------------
async function squeezed(bytes, stream) {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}
export async function linkOf(text) {
  const packed = await squeezed(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return `${location.origin}/#m=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}
const MOST = 200000;
export async function textOf(link) {
  const code = link.match(/#m=([A-Za-z0-9_-]+)/)?.[1];
  if (!code || code.length > MOST) throw new Error("that is no link to a mechanism: it holds #m=… after the address");
  const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const reader = new Blob([Uint8Array.from(binary, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) { // a small link may unpack to a large text: stop in time
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) { await reader.cancel(); throw new Error("the mechanism in that link is too large"); }
    parts.push(value);
  }
  return new Blob(parts).text();
}
export async function share() {
  const link = await linkOf(state.text);
  try { await navigator.clipboard.writeText(link); toast("The link is in the clipboard: paste it into another studio (Open from a link)."); } catch { /* shown below */ }
  ask("Share as a link", [{ key: "link", label: "Link", value: link, kind: "text" }], () => null, { action: "Done", note: "The link holds the whole mechanism; nothing is uploaded. Whoever has a studio opens it with File > From a link." });
}
export function openLink() {
  ask("Open from a link", [{ key: "link", label: "Link", value: "", kind: "text" }], async ({ link }) => {
    try { await begin(await textOf(link), null); return null; } catch (error) { return error.message; }
  }, { action: "Open" });
}
