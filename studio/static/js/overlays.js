// What is laid over the mechanism: coupler curves, arrows of velocity, acceleration and reaction, efforts, instant centres.
import { s, short } from "./dom.js";
import { state, place, entries } from "./store.js";
import { matrix, toScreen } from "./view.js";

const COLOURS = { velocity: "var(--curve-3)", acceleration: "var(--curve-2)", reactions: "var(--bad)" };
const UNITS = { velocity: "m/s", acceleration: "m/s²", reactions: "N" };
const LONGEST = 95; // pixels of the longest arrow
export const legendOf = (kind, most) => `<span style="color:${COLOURS[kind]}">${kind}: longest arrow ${short(most, 3)} ${UNITS[kind]}</span>`;

// Points that only mark a place on one moving body: what a designer looks at.
export function couplerPoints() {
  const owners = {}, jointed = new Set(entries("joints").flatMap(([, j]) => [j.at, j.through, j.centre]));
  for (const [name, body] of entries("bodies")) for (const p of body.points || []) (owners[p] ||= []).push(name);
  const free = Object.keys(owners).filter((p) => owners[p].length === 1 && owners[p][0] !== "frame" && !jointed.has(p) && !p.endsWith("_c"));
  if (free.length) return free;
  const moving = Object.keys(owners).filter((p) => !owners[p].includes("frame") && jointed.has(p));
  return moving.slice(-1);
}
export const traced = () => [...(state.traces || new Set(couplerPoints()))];

// The places of a joint and the centre of a body at a frame.
export const jointPlace = (name, frame = state.frame) => {
  const joint = state.data.joints?.[name];
  return joint?.at ? place(joint.at, frame) : null;
};

const at = (series, k) => (series ? series[Math.min(series.length - 1, Math.round(k))] : NaN);

function largest(names, x, y) {
  let most = 0;
  for (const name of names) {
    const a = state.series[x(name)], b = state.series[y(name)];
    if (a && b) for (let k = 0; k < a.length; k += 1) most = Math.max(most, Math.hypot(a[k], b[k]) || 0);
  }
  return most;
}

// The instant centre of a body against the frame: where its velocity is zero.
export function pole(body, frame) {
  const omega = at(state.series[`${body}.omega`], frame), point = state.data.bodies[body]?.points?.[0];
  if (!point || !Number.isFinite(omega)) return null;
  const [x, y] = [at(state.series[`${point}.x`], frame), at(state.series[`${point}.y`], frame)];
  const [vx, vy] = [at(state.series[`${point}.vx`], frame), at(state.series[`${point}.vy`], frame)];
  return Math.abs(omega) < 1e-9 ? null : [x - vy / omega, y + vx / omega];
}

export function overlays() {
  const below = s("g.traces"), above = s("g");
  let arrows = [], centres = [], efforts = [];

  function arrowsOf(kind, names, place_, x, y) {
    const most = largest(names, x, y);
    if (!most) return [];
    return names.map((name) => {
      const line = s("line", { stroke: COLOURS[kind], "stroke-width": 2 }), head = s("path", { fill: COLOURS[kind] });
      return { node: s("g", { "data-arrow": `${kind}:${name}` }, line, head), line, head, name, place: place_, x: x(name), y: y(name), scale: LONGEST / most };
    });
  }

  function build() {
    const flat = state.scene?.dimension === 2, legend = [];
    below.replaceChildren(...(flat && state.show.curves ? traced() : []).filter((p) => state.series[`${p}.x`]?.length > 2).map((p) => {
      const xs = state.series[`${p}.x`], ys = state.series[`${p}.y`];
      let line = "";
      for (let k = 0; k < xs.length; k += 1) if (Number.isFinite(xs[k])) line += `${xs[k]},${ys[k]} `;
      return s("polyline", { points: line, fill: "none", stroke: "var(--accent)", "stroke-width": 1.8, "stroke-opacity": 0.65, "stroke-linejoin": "round", "data-trace": p });
    }));
    arrows = []; centres = []; efforts = [];
    if (flat) {
      const moving = [...new Set(entries("bodies").filter(([n]) => n !== "frame").flatMap(([, b]) => b.points || []))];
      const chosen = [...state.selection].filter((k) => k.startsWith("points:")).map((k) => k.slice(7));
      const names = chosen.length ? chosen : moving;
      for (const [kind, letter] of [["velocity", "v"], ["acceleration", "a"]]) {
        if (state.show[kind]) arrows.push(...arrowsOf(kind, names, place, (n) => `${n}.${letter}x`, (n) => `${n}.${letter}y`));
      }
      if (state.show.reactions) {
        const joints = entries("joints").map(([n]) => n).filter((n) => state.series[`${n}.fx`]);
        arrows.push(...arrowsOf("reactions", joints, jointPlace, (n) => `${n}.fx`, (n) => `${n}.fy`));
      }
      if (state.show.centres) {
        centres = entries("bodies").filter(([n]) => n !== "frame" && state.series[`${n}.omega`]).map(([n]) => ({ body: n, node: s("g.centres", { "data-centre": n }, s("circle", { r: 4.5 }), s("text", { x: 8, y: 14 }, `P ${n}`)) }));
      }
      if (state.show.efforts) {
        efforts = entries("drivers").filter(([n]) => state.series[`${n}.effort`]).map(([n, d]) => ({ name: n, driver: d, node: s("text", { "data-effort": n, "font-size": 12, fill: COLOURS.reactions, "font-weight": 600, style: "paint-order:stroke;stroke:var(--sheet);stroke-width:3px" }) }));
      }
    }
    above.replaceChildren(...arrows.map((a) => a.node), ...centres.map((c) => c.node), ...efforts.map((e) => e.node));
    for (const kind of ["velocity", "acceleration", "reactions"]) {
      const first = arrows.find((a) => a.node.dataset.arrow.startsWith(kind));
      if (first) legend.push(legendOf(kind, LONGEST / first.scale));
    }
    const box = document.getElementById("legend");
    if (box) box.innerHTML = legend.join("");
  }

  function update() {
    below.setAttribute("transform", matrix());
    for (const a of arrows) {
      const from = a.place(a.name), x = at(state.series[a.x], state.frame) * a.scale, y = at(state.series[a.y], state.frame) * a.scale;
      const size = Math.hypot(x, y);
      if (!from || !(size > 3)) { a.node.setAttribute("visibility", "hidden"); continue; }
      const [px, py] = toScreen(from), tip = [px + x, py - y], u = [x / size, -y / size], h = Math.min(9, size * 0.6);
      a.node.setAttribute("visibility", "visible");
      a.line.setAttribute("x1", px); a.line.setAttribute("y1", py);
      a.line.setAttribute("x2", tip[0] - u[0] * h * 0.8); a.line.setAttribute("y2", tip[1] - u[1] * h * 0.8);
      a.head.setAttribute("d", `M${tip[0]} ${tip[1]}L${tip[0] - u[0] * h - u[1] * h * 0.45} ${tip[1] - u[1] * h + u[0] * h * 0.45}L${tip[0] - u[0] * h + u[1] * h * 0.45} ${tip[1] - u[1] * h - u[0] * h * 0.45}Z`);
    }
    for (const c of centres) {
      const where = pole(c.body, state.frame);
      const [px, py] = where ? toScreen(where) : [NaN, NaN];
      const seen = Math.abs(px) < 5000 && Math.abs(py) < 5000;
      c.node.setAttribute("visibility", seen ? "visible" : "hidden");
      if (seen) c.node.setAttribute("transform", `translate(${px} ${py})`);
    }
    for (const e of efforts) {
      const where = e.driver.joint ? jointPlace(e.driver.joint) : e.driver.between ? place(e.driver.between[0]) : null;
      if (!where) continue;
      const [px, py] = toScreen(where);
      const torque = e.driver.angle !== undefined;
      e.node.setAttribute("x", px + 12); e.node.setAttribute("y", py + 20);
      e.node.textContent = `${e.name}: ${short(at(state.series[`${e.name}.effort`], state.frame), 4)} ${torque ? "N m" : "N"}`;
    }
  }
  return { below, above, build, update };
}
