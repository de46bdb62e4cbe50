// Elements of the page in one call: h("button.primary", { onclick }, "Save"); s(...) makes SVG.
const SVG = "http://www.w3.org/2000/svg";

function made(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("aria-")) { element.setAttribute(key, String(value)); continue; }
    if (value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled" || key === "selected") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
  return element;
}

export function h(selector, attributes, ...children) {
  const [tag, ...classes] = selector.split(".");
  return made(document.createElement(tag || "div"), classes, attributes, children);
}

export function s(selector, attributes, ...children) {
  const [tag, ...classes] = selector.split(".");
  return made(document.createElementNS(SVG, tag), classes, attributes, children);
}

const GLYPHS = {
  grid: "M3 7.500h14M3 12.500h14M7.500 3v14M12.500 3v14", snap: "M5 3v6a5 5 0 0 0 10 0V3M5 6.500h0M8 3v6a2 2 0 0 0 4 0V3M5 3h3M12 3h3", groups: "M7 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM13 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 10.500a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  select: "M5 3l12 7-5.5 1.3L9 17z", hand: "M7 11V5.5a1.5 1.5 0 0 1 3 0V10m0-1V4.5a1.5 1.5 0 0 1 3 0V10m0-3.5a1.5 1.5 0 0 1 3 0V13c0 3-2 5.5-5 5.5-3.5 0-4.500-1.500-7-6 1-1 2-.5 3 .8",
  point: "M10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM10 2v3M10 15v3M2 10h3M15 10h3", link: "M5 15L15 5M5 13a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM15 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  ground: "M10 4v4M10 8l-5 6h10zM3 14h14M5 17l1.500-3M9 17l1.500-3M13 17l1.500-3", pin: "M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", slider: "M2 15h16M5 7h10v6H5zM10 10h.01",
  motor: "M10 4a6 6 0 1 1-5.600 8M3 8l1.400 4 4-1", cylinder: "M2 14l4-3M5 9l7-4.500 2.500 3.800-7 4.500zM12 8l6-4", spring: "M2 10h2l1.500-4 2.500 8 2.500-8 2.500 8 2.500-8 1.500 4h2",
  force: "M4 16L16 4M9 4h7v7", undo: "M7 5L3 9l4 4M3 9h9a4.500 4.500 0 0 1 0 9H9", redo: "M13 5l4 4-4 4M17 9H8a4.500 4.500 0 0 0 0 9h3",
  plus: "M10 4v12M4 10h12", minus: "M4 10h12", fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4", edit: "M4 16l1-4 8-8 3 3-8 8z", trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.600L14 6",
  play: "M6 4l10 6-10 6z", pause: "M7 4v12M13 4v12", first: "M5 4v12M16 4L8 10l8 6z", back: "M14 4l-8 6 8 6z", next: "M6 4l8 6-8 6z", moon: "M16 12A7 7 0 0 1 8 4a7 7 0 1 0 8 8z",
  sun: "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 1.500v2M10 16.500v2M1.500 10h2M16.500 10h2M4 4l1.400 1.400M14.600 14.600L16 16M4 16l1.400-1.400M14.600 5.400L16 4", down: "M6 8l4 4 4-4", help: "M7.500 7.500a2.500 2.500 0 1 1 3.500 2.300c-.7.4-1 .8-1 1.700M10 15h.01", share: "M7 10l6-4M7 10l6 4M5 8.500a1.800 1.800 0 1 0 0 3.200M15 3.500a1.800 1.800 0 1 0 0 3.200M15 13a1.800 1.800 0 1 0 0 3.200",
};

export function glyph(name) {
  const icon = s("svg.glyph", { viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: GLYPHS[name] }));
  return icon;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

export function toast(message, bad = false) {
  const box = h(`div.toast${bad ? ".bad" : ""}`, null, message);
  const home = document.getElementById("toasts");
  while (home.children.length > 2) home.firstChild.remove();
  home.append(box);
  setTimeout(() => box.remove(), bad ? 8000 : 3000);
}

export function menu(anchor, items) {
  document.querySelectorAll(".menu").forEach((m) => m.remove());
  const box = h("div.menu", { role: "menu" }, items.map((item) =>
    item.title ? h("h3", null, item.title)
      : h("button", { role: "menuitem", disabled: item.disabled, onclick: () => { close(); item.act(); } }, h("span", null, item.label), item.key && h("kbd", null, item.key))));
  const close = () => { box.remove(); removeEventListener("pointerdown", outside, true); removeEventListener("keydown", escape, true); };
  const outside = (event) => { if (!box.contains(event.target)) close(); };
  const escape = (event) => {
    const all = [...box.querySelectorAll("button:not(:disabled)")], at = all.indexOf(document.activeElement);
    if (event.key === "Escape") { event.stopPropagation(); close(); anchor.focus(); }
    if (event.key === "ArrowDown") { event.preventDefault(); all[(at + 1) % all.length]?.focus(); }
    if (event.key === "ArrowUp") { event.preventDefault(); all[(at - 1 + all.length) % all.length]?.focus(); }
  };
  document.body.append(box);
  const place = anchor.getBoundingClientRect();
  box.style.left = `${Math.max(6, Math.min(place.left, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${Math.min(place.bottom + 4, innerHeight - box.offsetHeight - 8)}px`;
  addEventListener("pointerdown", outside, true);
  addEventListener("keydown", escape, true);
  box.querySelector("button")?.focus();
}

export function download(name, data, type) {
  const blob = data instanceof Blob ? data : new Blob([data], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A derived type without the number of its joints' first body and the digest of its topology, which no reader wants.
export const plainType = (name) => name.replace(/^g\d+-/, "").replace(/-[0-9a-f]{8}(-[0-9a-f]{8})?/, "");
export const short = (x, digits = 5) => {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-4 ? x.toExponential(Math.max(0, digits - 2)) : String(Number(x.toPrecision(digits)));
};
