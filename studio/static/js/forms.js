// Add New Link and Add New Joint, in the words of the paper's panels; the same forms edit.
import { ask as request } from "./link.js";
import { state, change, fresh, select, entries } from "./store.js";
import { ask, written } from "./dialogs.js";
import { bodyNames, pointNames, Plan, pointAt, pose, outside, inside } from "./geometry.js";

export const spatial = () => state.data.space === "spatial";
const axes = () => (spatial() ? ["x", "y", "z"] : ["x", "y"]);

// The value of a number or formula that was typed; throws with a message that names the field.
export async function value(text, label) {
  if (text !== "" && Number.isFinite(Number(text))) return Number(text);
  const answer = await request("formula", { formula: text || " " });
  if (answer.problem) throw new Error(`${label}: ${answer.problem}`);
  return answer.values[0];
}
const values = (texts, label) => Promise.all(texts.map((t) => value(t || "0", label)));

export function linkForm() {
  const points = pointNames();
  ask("Add new link", [
    { key: "name", label: "Name", value: fresh("bodies", `link${Math.max(1, bodyNames().length)}`), kind: "text" },
    { key: "mass", label: "Mass (kg)", value: "", placeholder: "0" }, { key: "inertia", label: spatial() ? "Ixx Iyy Izz" : "Inertia (kg m²)", value: "", placeholder: "about the centre of mass" },
    { key: "centre", label: "Centre x, y (m)", kind: "vector", value: ["", ""], labels: axes() },
    { key: "angle", label: "Angle (rad)", value: "", placeholder: "of its x axis, for example pi/2", when: () => !spatial() },
    { key: "points", label: "Points", kind: "many", options: points, value: [], when: () => points.length > 0 },
  ], async (v) => {
    try {
      if (!v.name) return "a link needs a name";
      if (state.data.bodies?.[v.name]) return `${v.name} is there already - choose another name`;
      const placed = v.centre.some((t) => t !== ""), plan = new Plan(), body = { points: [...v.points] };
      if (!placed && !v.points.length) return "give the place of its centre of mass, or choose points that it joins";
      if (v.mass) body.mass = written(v.mass);
      if (v.inertia) body.inertia = spatial() ? v.inertia.split(/[\s,]+/).map(written) : written(v.inertia);
      if (placed) {
        const where = await values(v.centre, "Centre"), angle = spatial() ? 0 : await value(v.angle || "0", "Angle"), name = fresh("points", `${v.name}_c`);
        plan.point(name, where);
        body.points.unshift(name);
        body.centre = name;
        if (!spatial()) {
          state.angles[v.name] = angle;
          body.local = Object.fromEntries(body.points.map((p) => [p, inside({ origin: where, angle }, plan.sketch(p))]));
        }
      }
      plan.bodies[v.name] = body;
      if (await change(plan.done())) select(`bodies:${v.name}`);
      return null;
    } catch (error) { return error.message; }
  }, { note: "A link by its mass, inertia and the place of its centre, or by points that are there. Joints give it more points." });
}

export function bodyForm(name) {
  const body = state.data.bodies[name], list = (x) => (Array.isArray(x) ? x.join(" ") : x ?? "");
  ask(`Link ${name}`, [
    { key: "name", label: "Name", value: name, kind: "text", when: () => name !== "frame" },
    { key: "points", label: "Points", kind: "many", options: pointNames(), value: body.points || [] },
    { key: "length", label: "Length (m)", value: body.length ?? "", placeholder: "measured from the points", when: (v) => v.points.length === 2 && name !== "frame" && !body.local },
    { key: "mass", label: "Mass (kg)", value: body.mass ?? "", placeholder: "0", when: () => name !== "frame" },
    { key: "inertia", label: "Inertia (kg m²)", value: list(body.inertia), placeholder: "0", when: () => name !== "frame" },
    { key: "centre", label: "Centre of mass", value: list(body.centre), placeholder: "mean of its joints; a point, or x y in its axes", kind: "text", when: () => name !== "frame" },
  ], async (v) => {
    const now = structuredClone(body), put = (key, x) => { if (x === "" || x === undefined) delete now[key]; else now[key] = x; };
    const plan = new Plan();
    plan.bodies[name] = now;
    for (const p of v.points) if (!(body.points || []).includes(p)) plan.attach(p, name);
    now.points = [...(now.points || []).filter((p) => v.points.includes(p))];
    if (now.local) for (const p of Object.keys(now.local)) if (!v.points.includes(p)) delete now.local[p];
    if (!body.local) put("length", v.points.length === 2 && v.length !== "" ? written(v.length) : "");
    put("mass", v.mass === "" ? "" : written(v.mass));
    const parts = v.inertia.split(/[\s,]+/).filter(Boolean);
    put("inertia", parts.length > 1 ? parts.map(written) : v.inertia === "" ? "" : written(v.inertia));
    const centre = v.centre.split(/[\s,]+/).filter(Boolean);
    put("centre", v.centre === "" ? "" : centre.length > 1 ? centre.map(written) : v.centre);
    const operations = [["set", ["bodies", name], now]];
    if (v.name !== name && name !== "frame") operations.push(["rename", "bodies", name, v.name]);
    await change(operations);
    return null;
  }, { action: "Change" });
}

const TYPES = () => (spatial()
  ? [["R", "R - revolute"], ["P", "P - prismatic"], ["S", "S - spherical"], ["C", "C - cylindrical"], ["U", "U - universal"], ["H", "H - screw"], ["planar", "planar"], ["weld", "weld"]]
  : [["R", "R - rotational (revolute)"], ["P", "P - translational (prismatic)"], ["slot", "slot - pin in slot"], ["gear", "gear"], ["rack", "rack and pinion"], ["cam", "cam - cam and follower"], ["weld", "weld"]]);
const FOLLOWERS = [["point", "a point"], ["roller", "a roller"], ["face", "a flat face"]];
const BY = "(by positions)";
const list = (x, k) => (Array.isArray(x) ? x[k] : undefined);

export function jointForm(name = null) {
  const old = name ? state.data.joints[name] : {}, bodies = bodyNames();
  const chosen = [...state.selection].filter((k) => k.startsWith("bodies:")).map((k) => k.slice(7));
  const is = (...types) => (v) => types.includes(v.type);
  const byPlace = (v) => !spatial() && v.at === BY;
  const angleOf = old.axis && old.axis.every((x) => typeof x === "number") ? old.axis : ["", ""];
  ask(name ? `Joint ${name}` : "Add new joint", [
    { key: "name", label: "Name", value: name || "", kind: "text", placeholder: "its point's name" },
    { key: "type", label: "Type", kind: "select", options: TYPES(), value: old.type || "R" },
    { key: "first", label: "Body i", kind: "select", options: bodies, value: list(old.bodies, 0) || chosen[0] || "frame" },
    { key: "second", label: "Body j", kind: "select", options: bodies, value: list(old.bodies, 1) || chosen[1] || bodies.at(-1) },
    { key: "at", label: "At point", kind: "select", options: [...(spatial() ? [] : [BY]), ...pointNames()], value: old.at || BY, when: (v) => !["gear", "rack", "weld", "cam"].includes(v.type) },
    { key: "pi", label: "i-th position", kind: "vector", value: ["", ""], when: (v) => byPlace(v) && is("R", "P", "slot")(v) },
    { key: "pj", label: "j-th position", kind: "vector", value: ["", ""], when: (v) => byPlace(v) && is("R", "P", "slot")(v) },
    { key: "axis", label: "Direction", kind: "vector", labels: axes(), value: spatial() ? old.axis || old.normal || list(old.axes, 0) || ["", "", ""] : angleOf, when: (v) => is("P", "slot", "rack", "C", "H", "planar", "U")(v) || (spatial() && v.type === "R") },
    { key: "axis2", label: "Second axis", kind: "vector", labels: axes(), value: list(old.axes, 1) || ["", "", ""], when: is("U") },
    { key: "through", label: "Line through", kind: "select", options: [["", "(where it is)"], ...pointNames().map((p) => [p, p])], value: old.through || "", when: (v) => is("P", "slot", "C")(v) && !byPlace(v) },
    { key: "ratio", label: "Ratio", value: old.ratio ?? "", placeholder: "turn of j over turn of i", when: is("gear") },
    { key: "radii", label: "or radii", kind: "vector", labels: ["i", "j"], value: old.radii || ["", ""], when: is("gear") },
    { key: "internal", label: "Internal mesh", kind: "check", value: old.internal, when: is("gear") },
    { key: "carrier", label: "Carrier", kind: "select", options: bodies, value: old.carrier || "frame", when: is("gear") },
    { key: "radius", label: "Radius", value: old.radius ?? "", when: is("rack") },
    { key: "centre", label: "Centre of the cam", kind: "select", options: pointNames(), value: old.centre, when: is("cam") },
    { key: "profile", label: "Radius over u", value: typeof old.profile === "object" ? "" : old.profile ?? "", placeholder: typeof old.profile === "object" ? "(a table: it stays)" : "for example 0.05 + 0.01*cos(u)", kind: "text", when: is("cam") },
    { key: "follower", label: "Follower", kind: "select", options: FOLLOWERS, value: old.follower?.radius !== undefined ? "roller" : old.follower?.direction ? "face" : "point", when: is("cam") },
    { key: "tip", label: "Its point", kind: "select", options: pointNames(), value: old.follower?.point, when: is("cam") },
    { key: "roller", label: "Roller's radius", value: old.follower?.radius ?? "", when: (v) => v.type === "cam" && v.follower === "roller" },
    { key: "face", label: "Face along", kind: "vector", value: old.follower?.direction || ["", ""], when: (v) => v.type === "cam" && v.follower === "face" },
    { key: "pitch", label: "Pitch (m/rad)", value: old.pitch ?? "", when: is("H") },
  ], async (v) => {
    try {
      if (v.first === v.second) return "a joint ties two different bodies";
      const plan = new Plan(), joint = { type: v.type, bodies: [v.first, v.second] };
      const problem = await located(v, joint, plan);
      if (problem) return problem;
      if (v.type === "gear") {
        if (v.ratio !== "") joint.ratio = written(v.ratio); else if (v.radii.every((r) => r !== "")) joint.radii = v.radii.map(written); else return "a gear needs a ratio or two radii";
        if (v.internal) joint.internal = true;
        if (v.carrier !== "frame") joint.carrier = v.carrier;
      }
      if (v.type === "rack") { if (v.radius === "") return "a rack needs the radius of its pinion"; joint.radius = written(v.radius); }
      if (v.type === "cam") { const missing = contact(v, joint, old, plan); if (missing) return missing; }
      if (v.type === "H") joint.pitch = written(v.pitch || "0");
      const own = v.name || name || plan.freshJoint(joint.at || v.type);
      const operations = [];
      if (name && own !== name) operations.push(["rename", "joints", name, own]);
      plan.joint(own, joint);
      if (await change([...operations, ...plan.done()])) select(`joints:${own}`);
      return null;
    } catch (error) { return error.message; }
  }, { action: name ? "Change" : "Add", note: spatial() ? null : "Positions are measured in the axes of each body, from its centre where it has one." });
}

// The contact of cam (body i) and follower (body j): centre, profile, and what of the follower touches.
function contact(v, joint, old, plan) {
  if (v.profile === "" && typeof old.profile !== "object") return "a cam needs its profile: the radius as a formula in u, the polar angle";
  if (!v.centre || !v.tip) return "a cam needs a centre and a point of the follower";
  Object.assign(joint, { centre: v.centre, profile: v.profile === "" ? old.profile : written(v.profile), follower: { point: v.tip } });
  if (v.follower === "roller") { if (v.roller === "") return "a roller needs a radius"; joint.follower.radius = written(v.roller); }
  if (v.follower === "face") joint.follower.direction = v.face.every((t) => t === "") ? [1, 0] : v.face.map((t) => written(t || "0"));
  for (const [p, body] of [[v.centre, v.first], [v.tip, v.second]]) if (!(state.data.bodies[body].points || []).includes(p)) plan.attach(p, body);
  return null;
}

// Where the joint is: at a point that is there, or by its places on the two bodies.
async function located(v, joint, plan) {
  const { type } = joint, needsAxis = ["P", "slot", "rack", "C", "H"].includes(type) || (spatial() && type === "R");
  if (needsAxis) joint.axis = v.axis.every((t) => t === "") && !spatial() ? [1, 0] : v.axis.map((t) => written(t || "0"));
  if (type === "planar") joint.normal = v.axis.map((t) => written(t || "0"));
  if (type === "U") joint.axes = [v.axis, v.axis2].map((axis) => axis.map((t) => written(t || "0")));
  if (["gear", "rack", "weld", "cam"].includes(type)) return null;
  if (v.at !== BY) {
    joint.at = v.at;
    if (v.through) joint.through = v.through;
    const needs = type === "R" || type === "S" ? [v.first, v.second] : [v.second];
    for (const body of needs) if (!(state.data.bodies[body].points || []).includes(v.at)) plan.attach(v.at, body);
    return null;
  }
  const given = [v.pi, v.pj].map((p) => p.some((t) => t !== ""));
  if (!given[0] && !given[1]) return "give the position of the joint on body i or j, or choose a point";
  const pi = given[0] ? await values(v.pi, "i-th position") : inside(pose(v.first), outside(pose(v.second), await values(v.pj, "j-th position")));
  const pj = given[1] ? await values(v.pj, "j-th position") : inside(pose(v.second), outside(pose(v.first), pi));
  if (type === "R") {
    const anchor = v.first === "frame" ? v.first : v.second;
    joint.at = pointAt(plan, anchor, anchor === v.first ? pi : pj, anchor === v.first ? v.second : v.first);
    plan.attach(joint.at, v.first, v.first === "frame" ? null : pi);
    plan.attach(joint.at, v.second, v.second === "frame" ? null : pj);
    if (v.name && v.name !== joint.at && plan.points[joint.at] && !pointNames().includes(v.name)) renamePoint(plan, joint, v.name);
    return null;
  }
  joint.at = pointAt(plan, v.second, pj);
  joint.through = pointAt(plan, v.first, pi);
  return null;
}

// A new point is called as its joint.
function renamePoint(plan, joint, name) {
  const old = joint.at;
  plan.points[name] = plan.points[old];
  delete plan.points[old];
  plan.operations = plan.operations.map((o) => (o[1][0] === "points" && o[1][1] === old ? ["set", ["points", name], o[2]] : o));
  for (const body of Object.values(plan.bodies)) {
    body.points = body.points.map((p) => (p === old ? name : p));
    if (body.local?.[old]) { body.local[name] = body.local[old]; delete body.local[old]; }
  }
  joint.at = name;
}

export function pointForm(name) {
  const at = state.data.points?.[name] || [];
  ask(`Point ${name}`, [{ key: "name", label: "Name", value: name, kind: "text" }, { key: "at", label: "Place (m)", kind: "vector", labels: axes(), value: at }],
    async (v) => {
      const operations = [];
      if (v.at.every((t) => t !== "")) operations.push(["set", ["points", name], v.at.map(written)]);
      if (v.name !== name) operations.push(["rename", "points", name, v.name]);
      await change(operations);
      return null;
    }, { action: "Change" });
}
export const hasMass = () => entries("bodies").some(([, b]) => b.mass !== undefined);
