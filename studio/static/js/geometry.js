// From what is drawn or typed to operations on the file: poses of bodies, points on bodies, lengths that follow a drag.
import { state, entries, freshPoint, fresh, place } from "./store.js";
import { tidy } from "./view.js";

const NEAR = 1e-7;
const same = (a, b) => a && b && Math.hypot(a[0] - b[0], a[1] - b[1]) < NEAR * Math.max(1, Math.hypot(...a));
const numbers = (v) => Array.isArray(v) && v.length === 2 && v.every((x) => typeof x === "number");
const exact = (x) => Number(x.toPrecision(12));

export const bodyNames = () => entries("bodies").map(([n]) => n);
export const pointNames = () => [...new Set([...Object.keys(state.data.points || {}), ...entries("bodies").flatMap(([, b]) => b.points || [])])];
export const ownersOf = (point) => entries("bodies").filter(([, b]) => (b.points || []).includes(point)).map(([n]) => n);

// Where a body's own axes lie in the sketch: origin and angle.
export function pose(name) {
  const body = state.data.bodies?.[name];
  if (!body || name === "frame") return { origin: [0, 0], angle: 0 };
  const points = (body.points || []).filter((p) => state.sketch[p]);
  const local = body.local || {};
  const known = points.filter((p) => numbers(local[p]));
  const angleKept = state.angles[name] ?? 0;
  if (body.local && known.length) {
    const [p, q] = known, far = known.find((k) => !same(local[k], local[p]));
    let angle = angleKept;
    if (q && far) {
      const [u, v] = [local[far][0] - local[p][0], local[far][1] - local[p][1]], [x, y] = [state.sketch[far][0] - state.sketch[p][0], state.sketch[far][1] - state.sketch[p][1]];
      angle = Math.atan2(y, x) - Math.atan2(v, u);
    }
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return { origin: [state.sketch[p][0] - c * local[p][0] + s * local[p][1], state.sketch[p][1] - s * local[p][0] - c * local[p][1]], angle };
  }
  if (!points.length) return { origin: [0, 0], angle: angleKept };
  const [a, b] = [state.sketch[points[0]], state.sketch[points[1]]];
  return { origin: a, angle: b ? Math.atan2(b[1] - a[1], b[0] - a[0]) : angleKept };
}
export function outside({ origin, angle }, [u, v]) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [exact(origin[0] + c * u - s * v), exact(origin[1] + s * u + c * v)];
}
export function inside({ origin, angle }, [x, y]) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)], dx = x - origin[0], dy = y - origin[1];
  return [exact(c * dx + s * dy), exact(-s * dx + c * dy)];
}

// A plan of changes: operations, seen as if they were made already.
export class Plan {
  constructor() { this.operations = []; this.points = {}; this.bodies = {}; this.joints = {}; }
  body(name) { return this.bodies[name] || (this.bodies[name] = structuredClone(state.data.bodies?.[name] || { points: [] })); }
  sketch(name) { return this.points[name] || state.sketch[name]; }
  point(name, where) { this.points[name] = where; this.operations.push(["set", ["points", name], where]); return name; }
  newPoint(where) { return this.point(freshPoint(Object.keys(this.points)), where); }
  // Make a point one of a body's; its place there is where the sketch has it, or as given in the body's axes.
  attach(point, name, local = null) {
    const body = this.body(name);
    body.points ||= [];
    if (!body.points.includes(point)) body.points.push(point);
    if (name !== "frame" && typeof body.length === "number" && body.points.length > 2) {
      const [a, b] = body.points;
      body.local = { [a]: [0, 0], [b]: [body.length, 0] };
      delete body.length;
    }
    if (body.local && name !== "frame") body.local[point] ||= local || inside(pose(name), this.sketch(point));
    this.bodies[name] = body;
  }
  joint(name, value) { this.joints[name] = value; }
  freshJoint(stem) { return fresh("joints", stem, Object.keys(this.joints)); }
  done() {
    for (const [name, body] of Object.entries(this.bodies)) this.operations.push(["set", ["bodies", name], body]);
    for (const [name, joint] of Object.entries(this.joints)) this.operations.push(["set", ["joints", name], joint]);
    return this.operations;
  }
}

// The point of a body at a place given in its axes; a new one where there is none.
export function pointAt(plan, name, local, other = null) {
  const body = plan.body(name), where = outside(pose(name), local);
  for (const p of body.points || []) if (same(plan.sketch(p), where)) return p;
  for (const p of plan.body(other || name).points || []) if (other && same(plan.sketch(p), where)) { plan.attach(p, name, local); return p; }
  const made = plan.newPoint(where);
  plan.attach(made, name, local);
  return made;
}

// A link drawn from point to point: a body, with a revolute joint wherever it meets another one.
export function linkPlan(names, plan = new Plan()) {
  const name = fresh("bodies", bodyNames().length <= 1 ? "link1" : `link${bodyNames().length}`);
  const places = names.map((p) => plan.sketch(p));
  const body = { points: names };
  if (names.length === 2) body.length = tidy(Math.hypot(places[0][0] - places[1][0], places[0][1] - places[1][1]));
  const owners = Object.fromEntries(names.map((p) => [p, ownersOf(p)]));
  plan.bodies[name] = body;
  for (const p of names) {
    const other = owners[p].includes("frame") ? "frame" : owners[p][0];
    if (other) plan.joint(plan.freshJoint(p), { type: "R", bodies: [other, name], at: p });
  }
  return { plan, name };
}

// Pin a point to the ground: the frame has it too, with a revolute joint for each body there.
export function groundPlan(point) {
  const plan = new Plan(), bodies = ownersOf(point).filter((b) => b !== "frame");
  if (ownersOf(point).includes("frame")) return null;
  const where = place(point, 0) || state.sketch[point];
  plan.point(point, where.map(tidy));
  plan.attach(point, "frame");
  if (bodies.length) plan.joint(plan.freshJoint(point), { type: "R", bodies: ["frame", bodies[0]], at: point });
  return plan;
}

// Let a point slide along a line of the ground: a small body with a pin and a guide.
export function sliderPlan(point, axis) {
  const plan = new Plan(), bodies = ownersOf(point).filter((b) => b !== "frame"), name = fresh("bodies", "slider");
  plan.bodies[name] = { points: [point] };
  if (bodies.length) plan.joint(plan.freshJoint(point), { type: "R", bodies: [bodies[0], name], at: point });
  plan.joint(plan.freshJoint("guide"), { type: "P", bodies: ["frame", name], at: point, axis });
  if (!state.data.bodies?.frame) plan.bodies.frame = { points: [] };
  return plan;
}

// What a drag of points changes: their places, and the lengths and local places that were numbers.
export function dragPlan(moves, frozen) {
  const operations = [], moved = Object.fromEntries(moves);
  const now = (p) => moved[p] || frozen.places[p];
  for (const [name, where] of moves) operations.push(["set", ["points", name], where]);
  for (const [name, body] of entries("bodies")) {
    const mine = (body.points || []).filter((p) => moved[p]);
    if (!mine.length || name === "frame") continue;
    const grounded = mine.every((p) => ownersOf(p).includes("frame"));
    if (grounded && moves.length === 1) continue; // a pivot moves: lengths stay, the mechanism is assembled anew
    if (typeof body.length === "number" && body.points.length === 2) {
      const [a, b] = body.points.map(now);
      operations.push(["set", ["bodies", name, "length"], tidy(Math.hypot(a[0] - b[0], a[1] - b[1]))]);
    } else if (body.local) {
      const axes = frozen.axes[name];
      for (const p of mine) if (numbers(body.local[p]) && axes) operations.push(["set", ["bodies", name, "local", p], inside(axes, moved[p]).map(tidy)]);
    }
  }
  return operations;
}
// A body's axes in the first configuration, as solved.
function posedAt(name) {
  const motion = state.scene?.bodies?.[state.structure?.rigid?.[name] || name];
  return motion && state.scene.dimension === 2 ? { origin: [motion[0], motion[1]], angle: Math.atan2(motion[3], motion[2]) } : pose(name);
}

// The first configuration as it is when a drag begins: what does not move is measured from there.
export function freeze() {
  const places = Object.fromEntries(pointNames().map((p) => [p, place(p, 0) || state.sketch[p]]));
  return { places, axes: Object.fromEntries(bodyNames().map((b) => [b, posedAt(b)])) };
}

// A driven pin stays on its ray: the driver decides the direction, the drag the length.
export function onRay(point, where, frozen) {
  for (const [, driver] of entries("drivers")) {
    const joint = state.data.joints?.[driver.joint];
    if (!joint || driver.angle === undefined || joint.type !== "R" || !joint.bodies.includes("frame")) continue;
    const body = state.data.bodies?.[joint.bodies.find((b) => b !== "frame")], from = frozen.places[joint.at], to = frozen.places[point];
    if (!body?.points?.includes(point) || point === joint.at || !from || !to) continue;
    const u = [to[0] - from[0], to[1] - from[1]], size = Math.hypot(...u);
    if (!size) continue;
    const along = Math.max(((where[0] - from[0]) * u[0] + (where[1] - from[1]) * u[1]) / size, size * 1e-3);
    return [tidy(from[0] + (u[0] / size) * along), tidy(from[1] + (u[1] / size) * along)];
  }
  return where;
}

// ---- deleting and copying --------------------------------------------------------------------------------------------
export function deletion(keys) {
  const gone = { points: new Set(), bodies: new Set(), joints: new Set(), drivers: new Set(), forces: new Set(), parameters: new Set(), initial: new Set(), actuators: new Set() };
  for (const key of keys) { const at = key.indexOf(":"); gone[key.slice(0, at)]?.add(key.slice(at + 1)); }
  gone.bodies.delete("frame");
  const has = (set, value) => [value].flat().some((v) => set.has(v));
  for (const [n, j] of entries("joints")) if (has(gone.bodies, j.bodies || []) || has(gone.points, [j.at, j.through, j.centre, j.follower?.point])) gone.joints.add(n);
  for (const [n, d] of entries("drivers")) if (has(gone.joints, d.joint) || has(gone.points, d.between || d.point || []) || has(gone.bodies, d.bodies || [])) gone.drivers.add(n);
  for (const [n, f] of entries("forces")) if (has(gone.bodies, f.body) || has(gone.points, [f.between || [], f.point].flat()) || has(gone.joints, f.joint)) gone.forces.add(n);
  const operations = [];
  for (const table of Object.keys(gone)) for (const name of gone[table]) if (state.data[table]?.[name] !== undefined) operations.push(["delete", [table, name]]);
  for (const table of ["initial", "actuators"]) for (const [n, x] of entries(table)) if (gone.joints.has(x.joint) && !gone[table].has(n)) operations.push(["delete", [table, n]]);
  for (const [name, body] of entries("bodies")) {
    if (gone.bodies.has(name) || !(body.points || []).some((p) => gone.points.has(p))) continue;
    const left = structuredClone(body);
    left.points = left.points.filter((p) => !gone.points.has(p));
    for (const p of gone.points) if (left.local) delete left.local[p];
    if (left.points.length < 2) delete left.length;
    if (gone.points.has(left.centre)) delete left.centre;
    operations.push(["set", ["bodies", name], left]);
  }
  return operations;
}

export function copied(keys) {
  const bodies = keys.filter((k) => k.startsWith("bodies:")).map((k) => k.slice(7)).filter((n) => n !== "frame");
  const points = [...new Set([...keys.filter((k) => k.startsWith("points:")).map((k) => k.slice(7)), ...bodies.flatMap((b) => state.data.bodies[b].points || [])])];
  const joints = entries("joints").filter(([, j]) => (j.bodies || []).every((b) => bodies.includes(b)));
  return { points: points.map((p) => [p, place(p, 0) || state.sketch[p]]).filter(([, at]) => at), bodies: bodies.map((b) => [b, state.data.bodies[b]]), joints };
}
export function pasting({ points, bodies, joints }, by) {
  const operations = [], names = {}, taken = [], keys = [];
  for (const [p, at] of points) { names[p] = freshPoint(taken); taken.push(names[p]); operations.push(["set", ["points", names[p]], [tidy(at[0] + by[0]), tidy(at[1] + by[1])]]); keys.push(`points:${names[p]}`); }
  const named = (x) => names[x] || x, own = {}, used = [];
  for (const [b, body] of bodies) {
    own[b] = fresh("bodies", b, used); used.push(own[b]);
    const copy = structuredClone(body);
    copy.points = copy.points.map(named);
    if (copy.local) copy.local = Object.fromEntries(Object.entries(copy.local).map(([p, at]) => [named(p), at]));
    if (typeof copy.centre === "string") copy.centre = named(copy.centre);
    operations.push(["set", ["bodies", own[b]], copy]);
    keys.push(`bodies:${own[b]}`);
  }
  const ties = [];
  for (const [j, joint] of joints) {
    const name = fresh("joints", j, ties); ties.push(name);
    const copy = structuredClone(joint);
    copy.bodies = copy.bodies.map((b) => own[b] || b);
    for (const key of ["at", "through", "centre"]) if (copy[key]) copy[key] = named(copy[key]);
    operations.push(["set", ["joints", name], copy]);
  }
  return { operations, keys };
}
