// The mechanism as SVG: the symbols of the scene ride on their bodies; only transforms change from frame to frame.
import { s } from "./dom.js";
import { state, on, place } from "./store.js";
import { view, matrix, toScreen, gridLayer } from "./view.js";
import { overlays } from "./overlays.js";

// The colours of the product's pictures that follow the theme of the page.
const THEMED = { "#20242b": "var(--ink)", "#ffffff": "var(--sheet)", "#6b7280": "var(--ground)", "#d7dbe1": "var(--ground-fill)" };
export const themed = (colour) => THEMED[colour] || colour;
// An opaque filling that hides what is below it, such as a block on its guide: its edge's colour in two parts of the sheet's.
function tinted(edge) {
  const sheet = getComputedStyle(document.documentElement).getPropertyValue("--sheet").trim();
  const part = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  if (![edge, sheet].every((hex) => /^#[0-9a-f]{6}$/i.test(hex))) return edge;
  return `#${[0, 1, 2].map((k) => Math.floor((part(edge, k) + 2 * part(sheet, k)) / 3).toString(16).padStart(2, "0")).join("")}`;
}
export const filling = (shape) => (shape.opacity === 1 && shape.fill !== shape.edge && !THEMED[shape.fill] ? tinted(shape.edge) : themed(shape.fill));

export function poseAt(scene, body, frame) {
  const motion = scene.bodies[body], wide = scene.wide, count = motion.length / wide;
  const k = Math.min(count - 1, Math.floor(frame)), next = Math.min(count - 1, k + 1), f = frame - k;
  const at = (i) => { const a = motion[k * wide + i]; return f > 0 && next > k ? a + f * (motion[next * wide + i] - a) : a; };
  const c = at(2), sn = at(3), size = Math.hypot(c, sn) || 1;
  return [at(0), at(1), c / size, sn / size];
}

const pathOf = (outline, closed) => `M${outline.map(([x, y]) => `${x} ${y}`).join("L")}${closed ? "Z" : ""}`;

// A spring between two places: straight ends, and a zigzag of as many teeth whatever its length.
function coil([x1, y1, x2, y2], unit) {
  const long = Math.hypot(x2 - x1, y2 - y1) || 1, [u, v] = [(x2 - x1) / long, (y2 - y1) / long], wide = 1.1 * unit, lead = 0.16 * long, teeth = 9;
  let d = `M${x1} ${y1}L${x1 + u * lead} ${y1 + v * lead}`;
  for (let k = 0; k < 2 * teeth; k += 1) {
    const at = lead + ((k + 0.5) / (2 * teeth)) * (long - 2 * lead), side = k % 2 ? -wide : wide;
    d += `L${x1 + u * at - v * side} ${y1 + v * at + u * side}`;
  }
  return `${d}L${x2 - u * lead} ${y2 - v * lead}L${x2} ${y2}`;
}

export function drawing(home) {
  const world = s("g.scene"), ties = s("g.ties"), points = s("g.points"), gesture = s("g.gesture");
  const extra = overlays();
  const svg = s("svg", { role: "img", "aria-label": "mechanism" }, gridLayer(), extra.below, ties, world, extra.above, points, gesture);
  home.append(svg);
  let moving = [], marks = [], paths = [], dots = [], drawn = "";

  const outlined = (shape) => ({ d: pathOf(shape.outline, shape.closed) });
  const round = (dot) => ({ cx: dot.place[0], cy: dot.place[1], r: dot.radius });
  const flat = () => (state.scene?.dimension === 2 ? state.scene : null);
  // What the nodes are made for: shapes of the same bodies in the same order need new outlines only.
  const kindOf = (scene) => (scene ? [...scene.shapes, null, ...scene.dots].map((x) => (x ? `${x.body}|${x.edge}|${x.fill}` : "")).join("/") + scene.ties.length : "");

  function build() {
    const scene = flat();
    moving = [];
    const layers = [];
    let last = null, group = null;
    const into = (body) => {
      if (body !== last) {
        group = s("g", { "data-body": body });
        layers.push(group);
        moving.push([group, body]);
        last = body;
      }
      return group;
    };
    paths = (scene?.shapes || []).map((shape) => {
      const filled = shape.closed && shape.fill;
      const node = s("path", {
        ...outlined(shape), fill: filled ? filling(shape) : "none", "fill-opacity": filled ? shape.opacity : undefined,
        stroke: themed(shape.edge), "stroke-width": 1.35 * shape.width, "stroke-linejoin": "round", "stroke-linecap": "round", "stroke-dasharray": shape.dashed ? "9 3 2 3" : undefined,
      });
      into(shape.body).append(node);
      return node;
    });
    dots = (scene?.dots || []).map((dot) => {
      const node = s("circle", { ...round(dot), fill: themed(dot.fill), stroke: themed(dot.edge), "stroke-width": 1.6, "vector-effect": "non-scaling-stroke" });
      into(dot.body).append(node);
      return node;
    });
    drawn = kindOf(scene);
    world.replaceChildren(...layers, ...sketched(scene));
    ties.replaceChildren(...(scene?.ties || []).map(() => s("path", { stroke: "var(--ground)", "stroke-width": 2, fill: "none" })));
    buildPoints();
    extra.build();
    update();
    mark();
  }

  // While something is dragged only numbers change: the nodes stay.
  function reshape() {
    const scene = flat();
    if (!scene || kindOf(scene) !== drawn) return build();
    scene.shapes.forEach((shape, i) => paths[i].setAttribute("d", outlined(shape).d));
    scene.dots.forEach((dot, i) => Object.entries(round(dot)).forEach(([key, value]) => dots[i].setAttribute(key, value)));
    extra.build();
    return update();
  }

  // Bodies of a mechanism that cannot be read yet: lines between the points of the sketch.
  function sketched(scene) {
    if (scene) return [];
    return Object.entries(state.data.bodies || {}).filter(([name]) => name !== "frame").map(([name, body]) => {
      const places = (body.points || []).map((p) => state.sketch[p]).filter(Boolean);
      const d = places.length > 1 ? pathOf(places, places.length > 2) : "";
      return s("g", { "data-body": name }, s("path", { d, fill: "none", stroke: "var(--soft)", "stroke-width": 4, "stroke-opacity": 0.5, "stroke-linecap": "round" }));
    });
  }

  function buildPoints() {
    const names = new Set([...Object.keys(state.sketch), ...Object.keys(state.series).filter((k) => k.endsWith(".x") && state.series[`${k.slice(0, -2)}.vx`] !== undefined || (k.endsWith(".x") && state.sketch[k.slice(0, -2)])).map((k) => k.slice(0, -2))]);
    if (state.scene?.dimension === 3 || state.data.space === "spatial") names.clear();
    const used = new Set(Object.values(state.data.bodies || {}).flatMap((body) => body.points || []));
    marks = [...names].map((name) => {
      const node = s(used.has(name) ? "g" : "g.free", { "data-point": name }, s("circle.ring", { r: 12 }), s("circle.hit", { r: 10 }), used.has(name) ? null : s("circle", { r: 3, fill: "var(--soft)" }), s("text", { x: 9, y: -8 }, name));
      return [node, name];
    });
    points.replaceChildren(...marks.map(([node]) => node));
  }

  function update() {
    const scene = state.scene;
    world.setAttribute("transform", matrix());
    ties.setAttribute("transform", matrix());
    if (scene?.dimension === 2) {
      for (const [node, body] of moving) {
        const [x, y, c, sn] = poseAt(scene, body, state.frame);
        node.setAttribute("transform", `matrix(${c} ${sn} ${-sn} ${c} ${x} ${y})`);
      }
      const k = Math.round(state.frame);
      [...ties.children].forEach((line, i) => line.setAttribute("d", coil(scene.ties[i].subarray(4 * k, 4 * k + 4), scene.unit)));
    }
    for (const [node, name] of marks) {
      const at = place(name);
      if (!at || !Number.isFinite(at[0])) { node.setAttribute("visibility", "hidden"); continue; }
      const [px, py] = toScreen(at);
      node.setAttribute("visibility", "visible");
      node.setAttribute("transform", `translate(${px.toFixed(2)} ${py.toFixed(2)})`);
    }
    extra.update();
  }

  function mark() {
    for (const [node, name] of marks) node.classList.toggle("selected", state.selection.has(`points:${name}`));
    const rigid = state.structure?.rigid || {};
    const chosen = new Set([...state.selection].filter((k) => k.startsWith("bodies:")).map((k) => rigid[k.slice(7)] || k.slice(7)));
    if (state.group) for (const g of state.structure?.groups || []) if (g.name === state.group) g.bodies.forEach((b) => chosen.add(rigid[b] || b));
    for (const node of world.children) node.classList.toggle("selected", chosen.has(node.dataset.body));
    points.classList.toggle("nameless", !state.show.names);
    for (const node of points.querySelectorAll("text")) node.style.display = state.show.names ? "" : "none";
  }

  const resize = new ResizeObserver(() => {
    const box = home.getBoundingClientRect();
    Object.assign(view, { width: box.width, height: box.height });
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    update();
  });
  resize.observe(home);
  on("document", build);
  on("theme", build);
  on("drawn", reshape);
  on("frame", update);
  on("view", update);
  on("selection", mark);
  on("display", () => { extra.build(); update(); mark(); });
  return { svg, gesture, update, build };
}
