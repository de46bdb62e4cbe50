// Dialogs: a titled form with fields, checked before it closes; a question; a choice.
import { h, fill } from "./dom.js";

export function dialog(title, content, { wide = false, note = null } = {}) {
  const box = h(`dialog${wide ? ".wide" : ""}`, { "aria-label": title });
  const form = h("form.form", { method: "dialog" }, h("header", null, title), note && h("p", null, note), content);
  box.append(form);
  document.getElementById("dialogs").append(box);
  box.addEventListener("close", () => box.remove());
  box.addEventListener("keydown", (event) => event.stopPropagation());
  box.showModal();
  return { box, form, close: () => box.close() };
}

// fields: [{ key, label, value, kind, options, note, told }]; done(values) returns nothing, or what is wrong.
export function ask(title, fields, done, { action = "Add", note = null, changed = null } = {}) {
  const inputs = {}, lines = h("div.fields"), wrong = h("div.wrong", { role: "alert" });
  const values = () => Object.fromEntries(Object.entries(inputs).map(([key, read]) => [key, read()]));
  let hidden = () => false;
  const rows = [];
  for (const field of fields) {
    const { control, read } = made(field, () => { refresh(); });
    inputs[field.key] = read;
    const label = h("label", { for: `f-${field.key}` }, field.label);
    const told = h("div.told", { id: `told-${field.key}` });
    rows.push({ field, parts: [label, control, told], told, control });
    lines.append(label, control, told);
  }
  const footer = h("footer", null, h("button.plain", { type: "button", onclick: () => view.close() }, "Cancel"), h("button.primary", { type: "submit", id: "f-submit" }, action));
  const view = dialog(title, [lines, wrong, footer], { note });
  view.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const message = await done(values());
    if (message) wrong.textContent = message; else view.close();
  });
  function refresh() {
    const now = values();
    for (const row of rows) for (const part of row.parts) part.classList.toggle("hidden", Boolean(row.field.when && !row.field.when(now)) || (part === row.told && !part.textContent));
    changed?.(now, (key, text, bad) => {
      const row = rows.find((r) => r.field.key === key);
      row.told.textContent = text;
      row.told.classList.toggle("bad", Boolean(bad));
      row.told.classList.toggle("hidden", !text);
    });
  }
  refresh();
  view.form.querySelector("input, select, textarea")?.focus();
  return { ...view, values, refresh };
}

function made(field, changed) {
  const id = `f-${field.key}`;
  if (field.kind === "select") {
    const control = h("select", { id, onchange: changed }, field.options.map((o) => { const [value, label] = Array.isArray(o) ? o : [o, o]; return h("option", { value, selected: value === field.value }, label); }));
    return { control, read: () => control.value };
  }
  if (field.kind === "check") {
    const control = h("input", { id, type: "checkbox", checked: Boolean(field.value), onchange: changed });
    return { control: h("div", null, control), read: () => control.checked };
  }
  if (field.kind === "vector") {
    const all = (field.labels || ["x", "y"]).map((axis, k) => h("input.number", { id: k ? `${id}-${axis}` : id, "aria-label": `${field.label} ${axis}`, placeholder: axis, value: field.value?.[k] ?? "", oninput: changed }));
    return { control: h("div.pair", null, all), read: () => all.map((input) => input.value.trim()) };
  }
  if (field.kind === "many") {
    const chosen = new Set(field.value || []);
    const buttons = field.options.map((o) => h("button", { type: "button", "aria-pressed": chosen.has(o), onclick: (e) => { if (chosen.has(o)) chosen.delete(o); else chosen.add(o); e.currentTarget.setAttribute("aria-pressed", chosen.has(o)); changed(); } }, o));
    return { control: h("div.chips", { id, style: "padding:0" }, buttons), read: () => field.options.filter((o) => chosen.has(o)) };
  }
  const control = h(`input${field.kind === "text" ? "" : ".number"}`, { id, value: field.value ?? "", placeholder: field.placeholder, oninput: changed, autocomplete: "off", spellcheck: "false" });
  return { control, read: () => control.value.trim() };
}

export function choose(title, items, { note = null } = {}) {
  return new Promise((resolve) => {
    const grid = h("div.gallery", null, items.map((item) => h("button", { type: "button", onclick: () => { view.close(); resolve(item.value); } }, item.picture, h("b", null, item.label), item.note && h("small", null, item.note))));
    const view = dialog(title, [grid, h("footer", null, h("button.plain", { type: "button", onclick: () => view.close() }, "Cancel"))], { wide: true, note });
    view.box.addEventListener("close", () => resolve(null));
  });
}

export function confirm(title, note, action) {
  return new Promise((resolve) => {
    const view = dialog(title, [h("footer", null, h("button.plain", { type: "button", onclick: () => view.close() }, "Cancel"), h("button.primary", { type: "button", onclick: () => { resolve(true); view.close(); } }, action))], { note });
    view.box.addEventListener("close", () => resolve(false));
  });
}

// A text of a form as a file holds it: a number where it is one, otherwise a formula.
export const written = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
export { fill };
