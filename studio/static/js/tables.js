// Build: the tables beside the drawing, in the words of the paper's panels, with exact numbers to be typed.
import { h, fill, glyph, short } from "./dom.js";
import { state, on, entries, select, change, place } from "./store.js";
import { linkForm, bodyForm, jointForm, pointForm } from "./forms.js";
import { driverForm, forceForm, simulateForm, parameterForm, motionKey, listening } from "./loads.js";
import { initialForm, actuatorForm } from "./starts.js";
import { deletion, ownersOf } from "./geometry.js";
import { written } from "./dialogs.js";

const remove = (key) => change(deletion([key]));
const plain = (x) => (Array.isArray(x) ? x.join(", ") : String(x));

function row(table, name, what, { colour, edit, extra } = {}) {
  const key = `${table}:${name}`, wrong = state.problem && state.problem.place[0] === table && state.problem.place[1] === name;
  return [h(`div.row${state.selection.has(key) ? ".selected" : ""}${wrong ? ".wrong" : ""}`, { "data-key": key },
    colour && h("span.swatch", { style: `background:${colour}` }),
    h("span.title", { onclick: (e) => select(key, e.shiftKey) }, name), extra || h("span.what", { onclick: (e) => select(key, e.shiftKey), title: what }, what),
    h("span.acts", null, edit && h("button", { "aria-label": `Edit ${name}`, title: "Edit", onclick: edit }, glyph("edit")), name !== "frame" && h("button", { "aria-label": `Delete ${name}`, title: "Delete", onclick: () => remove(key) }, glyph("trash")))),
  wrong && h("div.problem", null, `${state.problem.place.slice(2).join(".")}${state.problem.place.length > 2 ? ": " : ""}${state.problem.message}`)];
}

function card(id, title, rows, add, label, none) {
  const count = rows.length;
  return h("section.card", { id }, h("header", null, h("h2", null, title, h("span.count", null, count || "")), add && h("button.plain", { onclick: () => add(), id: `${id}-add` }, glyph("plus"), label)),
    count ? h("div.rows", null, rows) : h("div.empty", null, none));
}

function colours() {
  const found = {};
  for (const [body, rigid] of Object.entries(state.structure?.rigid || {})) found[body] = state.scene?.colours?.[rigid];
  return found;
}

function links() {
  const own = colours();
  return entries("bodies").map(([name, b]) => {
    const parts = [(b.points || []).join(" – ") || "no points yet"];
    if (b.length !== undefined) parts.push(`length ${plain(b.length)}`);
    if (b.mass !== undefined) parts.push(`${plain(b.mass)} kg`);
    if (b.inertia !== undefined) parts.push(`${plain(b.inertia)} kg m²`);
    return row("bodies", name, parts.join(", "), { colour: name === "frame" ? "var(--ground)" : own[name] || "var(--faint)", edit: () => bodyForm(name) });
  });
}

const JOINTS = { R: "revolute", P: "prismatic", slot: "pin in slot", gear: "gear", rack: "rack", cam: "cam", weld: "weld", S: "spherical", C: "cylindrical", U: "universal", H: "screw", planar: "planar" };
function pairs() {
  return entries("joints").map(([name, j]) => {
    const parts = [`${JOINTS[j.type] || j.type}: ${(j.bodies || []).join(" – ")}`];
    if (j.at) parts.push(`at ${j.at}`);
    if (j.axis) parts.push(`along (${plain(j.axis)})`);
    if (j.profile !== undefined) parts.push(`profile ${plain(typeof j.profile === "object" ? Object.values(j.profile) : j.profile)}`);
    if (j.radius !== undefined) parts.push(`radius ${plain(j.radius)}`);
    if (j.ratio !== undefined) parts.push(`ratio ${plain(j.ratio)}`);
    if (j.radii) parts.push(`radii ${plain(j.radii)}`);
    return row("joints", name, parts.join(", "), { edit: () => jointForm(name) });
  });
}

// A driver's formula can be changed in place; F' and F'' are derived below it.
function drivers() {
  return entries("drivers").map(([name, d], k) => {
    const key = motionKey(d), told = h("div.derived", { "data-derived": name });
    const input = h("input.number.formula", { value: d[key] ?? "", "aria-label": `F(t) of ${name}`, onchange: () => change([["set", ["drivers", name, key], written(input.value.trim())]]) });
    const listen = listening(({ bad, text, first, second }) => {
      fill(told, bad ? h("span", { style: "color:var(--bad)" }, text) : [h("span", null, `F' = ${first ?? "…"}`), h("span", null, `F'' = ${second ?? "…"}`)]);
      input.setAttribute("aria-invalid", String(Boolean(bad)));
    }, 25 * k);
    if (typeof d[key] === "string" || typeof d[key] === "number") listen(String(d[key]));
    input.addEventListener("input", () => listen(input.value.trim()));
    const where = d.joint ? `${key} of ${d.joint}` : d.between ? `${d.between.join(" – ")}` : d.bodies ? d.bodies.join(" – ") : `${d.point}.${key}`;
    const extra = [h("span.what", { onclick: () => select(`drivers:${name}`) }, where), d[key] === undefined ? h("span.what", null, `table ${d.table}`) : input];
    return [...row("drivers", name, "", { edit: () => driverForm(name), extra }), told];
  });
}

function forces() {
  return entries("forces").map(([name, f]) => {
    const what = f.type ? `${f.type}, ${plain(f.between || f.joint)}, stiffness ${plain(f.stiffness ?? 0)}` : f.torque !== undefined ? `torque ${f.torque} on ${f.body}` : `(${plain(f.force || [])}) N at ${plain(f.point)} of ${f.body}`;
    return row("forces", name, what, { edit: () => forceForm(name) });
  });
}

function initial() {
  return entries("initial").map(([name, i]) => row("initial", name, [`joint ${i.joint}`, i.angle !== undefined && `angle ${plain(i.angle)}`, i.displacement !== undefined && `displacement ${plain(i.displacement)}`, i.rate !== undefined && `rate ${plain(i.rate)}`].filter(Boolean).join(", "), { edit: () => initialForm(name) }));
}

function actuators() {
  return entries("actuators").map(([name, a]) => row("actuators", name, `joint ${a.joint}`, { edit: () => actuatorForm(name) }));
}

function points() {
  return Object.keys(state.data.points || {}).map((name) => {
    const at = state.data.points[name];
    const inputs = (Array.isArray(at) ? at : []).map((x, k) => h("input.number", { value: x, "aria-label": `${"xyz"[k]} of ${name}`, onchange: (e) => { const now = [...at]; now[k] = written(e.target.value.trim()); change([["set", ["points", name], now]]); } }));
    const now = place(name, 0), moved = now && state.sketch[name] && now.length === 2 && Math.hypot(now[0] - state.sketch[name][0], now[1] - state.sketch[name][1]) > 1e-6;
    return row("points", name, "", { edit: () => pointForm(name), extra: [...inputs, h("span.what", { title: moved ? `assembled at (${short(now[0])}, ${short(now[1])})` : "" }, ownersOf(name).join(", ") || "of no body yet")] });
  });
}

function parameters() {
  return entries("parameters").map(([name, x]) => row("parameters", name, "", { edit: () => parameterForm(name), extra: [h("input.number.formula", { value: x, "aria-label": `Parameter ${name}`, onchange: (e) => change([["set", ["parameters", name], written(e.target.value.trim())]]) })] }));
}

export function buildPanel(page) {
  function draw() {
    if (state.tab !== "build") return;
    const top = page.scrollTop, s = state.data.simulation || {}, active = document.activeElement, focus = active?.getAttribute?.("aria-label");
    const typed = active?.dataset?.typed && { value: active.value, caret: active.selectionStart };
    fill(page,
      card("links", "Added links", links(), linkForm, "Add new link", "No links yet: draw them, or add them by mass and centre."),
      card("pairs", "Defined pairs", pairs(), () => jointForm(), "Add new joint", "No joints yet: they tie two links."),
      card("drivers", "Added drivers", drivers(), () => driverForm(), "Add new driver", "No drivers yet: one for each free motion."),
      h("section.card", { id: "simulate" }, h("header", null, h("h2", null, "Simulate"), h("button.plain", { id: "simulate-edit", onclick: simulateForm }, glyph("edit"), "Simulate")),
        h("div.body", null, `t = ${plain(s.start ?? 0)} … ${plain(s.stop ?? 1)} s, step ${plain(s.step ?? 0.01)} s; gravity ${state.data.gravity ? `(${plain(state.data.gravity)}) m/s²` : "none"}`)),
      card("points", "Points", points(), null, "", "No points yet."),
      card("forces", "Forces and springs", forces(), () => forceForm(), "Add", "None."),
      card("initial", "Start of a simulation", initial(), () => initialForm(), "Add", "At rest, as drawn."),
      card("actuators", "Actuators", actuators(), () => actuatorForm(), "Add", "The driven joints carry the efforts."),
      card("parameters", "Parameters", parameters(), () => parameterForm(), "Add", "None: numbers with names, for formulas."));
    page.scrollTop = top;
    const box = focus && page.querySelector(`[aria-label="${CSS.escape(focus)}"]`);
    if (!box) return;
    box.focus();
    if (typed) retype(box, typed);
  }
  // An answer that arrives while something is being typed leaves it in its box.
  function retype(box, { value, caret }) {
    box.value = value;
    box.setSelectionRange(caret, caret);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function mark() {
    for (const node of page.querySelectorAll("[data-key]")) node.classList.toggle("selected", state.selection.has(node.dataset.key));
  }
  page.addEventListener("input", (event) => { event.target.dataset.typed = "yes"; });
  page.addEventListener("change", (event) => { delete event.target.dataset.typed; });
  on("document", draw);
  on("tab", draw);
  on("opened", () => { page.scrollTop = 0; });
  on("selection", () => { mark(); page.querySelector(".row.selected")?.scrollIntoView({ block: "nearest" }); });
}
