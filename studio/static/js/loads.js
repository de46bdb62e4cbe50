// Add New Driver, forces and springs, Simulate: forms with immediate feedback on formulas.
import { ask as request } from "./link.js";
import { state, change, fresh, select, entries } from "./store.js";
import { ask, written } from "./dialogs.js";
import { bodyNames, pointNames } from "./geometry.js";
import { spatial } from "./forms.js";
import { short } from "./dom.js";

const MOTIONS = [["angle", "rotational: angle of a joint"], ["displacement", "translational: displacement of a joint"], ["distance", "cylinder: distance of two points"], ["bodies", "angle between two bodies"], ["point", "a coordinate of a point"]];
const drivable = (kinds) => entries("joints").filter(([, j]) => kinds.includes(j.type)).map(([n]) => n);

// F', F'' of a formula as text, or what is wrong with it.
export async function derived(formula) {
  const answer = await request("formula", { formula });
  if (answer.problem) return { bad: true, text: answer.problem };
  const [f, f1, f2] = answer.values;
  return { text: `F' = ${answer.first ?? "…"}    F'' = ${answer.second ?? "…"}    (first values ${short(f, 4)}, ${short(f1, 4)}, ${short(f2, 4)})`, first: answer.first, second: answer.second };
}
// Calls back with the answer to the newest formula only: answers may overtake one another. `after` are milliseconds of rest.
export function listening(show, after = 120) {
  let timer = 0, number = 0;
  return (formula) => {
    clearTimeout(timer);
    const mine = ++number;
    const tell = (told) => { if (mine === number) show(told); };
    timer = setTimeout(() => {
      if (!formula) return tell({ text: "", bad: false });
      return derived(formula).then(tell, (error) => tell({ text: error.message, bad: true }));
    }, after);
  };
}

function kindOf(d) {
  if (d.between) return "distance";
  if (d.bodies) return "bodies";
  if (d.point) return "point";
  return d.displacement !== undefined ? "displacement" : "angle";
}
export const motionKey = (d) => ["angle", "displacement", "distance", "x", "y", "z"].find((k) => d[k] !== undefined) || "angle";

export function driverForm(name = null, given = {}) {
  const old = name ? state.data.drivers[name] : given, key = motionKey(old);
  const is = (...kinds) => (v) => kinds.includes(v.kind);
  let listen = null;
  const R = drivable(["R", "C", "H"]), P = drivable(["P", "slot", "C"]);
  const free = R.filter((j) => !entries("drivers").some(([, d]) => d.joint === j));
  ask(name ? `Driver ${name}` : "Add new driver", [
    { key: "name", label: "Name", value: name || fresh("drivers", old.between ? "cylinder" : "theta"), kind: "text" },
    { key: "kind", label: "Type", kind: "select", options: spatial() ? MOTIONS.filter(([k]) => k !== "bodies") : MOTIONS, value: name || given.joint || given.between ? kindOf(old) : R.length ? "angle" : P.length ? "displacement" : "distance" },
    { key: "R", label: "Joint", kind: "select", options: R, value: old.joint || free[0], when: is("angle") },
    { key: "P", label: "Joint", kind: "select", options: P, value: old.joint, when: is("displacement") },
    { key: "p", label: "From point", kind: "select", options: pointNames(), value: old.between?.[0], when: is("distance") },
    { key: "q", label: "To point", kind: "select", options: pointNames(), value: old.between?.[1], when: is("distance") },
    { key: "a", label: "Body i", kind: "select", options: bodyNames(), value: old.bodies?.[0], when: is("bodies") },
    { key: "b", label: "Body j", kind: "select", options: bodyNames(), value: old.bodies?.[1], when: is("bodies") },
    { key: "point", label: "Point", kind: "select", options: pointNames(), value: old.point, when: is("point") },
    { key: "axis", label: "Coordinate", kind: "select", options: spatial() ? ["x", "y", "z"] : ["x", "y"], value: key, when: is("point") },
    { key: "F", label: "F(t)", value: old[key] ?? "", placeholder: "for example pi/2 + 0.6283*t", kind: "text" },
  ], async (v) => {
    if (!v.F) return "F(t) is missing: the motion as a formula in t, for example 2*pi*t";
    const told = await derived(v.F);
    if (told.bad) return `F(t): ${told.text}`;
    const F = written(v.F), driver = { angle: () => ({ joint: v.R, angle: F }), displacement: () => ({ joint: v.P, displacement: F }), distance: () => ({ between: [v.p, v.q], distance: F }), bodies: () => ({ bodies: [v.a, v.b], angle: F }), point: () => ({ point: v.point, [v.axis]: F }) }[v.kind]();
    if (driver.joint === "" || driver.joint === undefined && ["angle", "displacement"].includes(v.kind)) return "there is no joint of this kind yet - add one first";
    if (v.kind === "distance" && v.p === v.q) return "a cylinder ends at two different points";
    const operations = [];
    if (name && v.name !== name) operations.push(["rename", "drivers", name, v.name]);
    operations.push(["set", ["drivers", v.name], driver]);
    if (await change(operations)) select(`drivers:${v.name}`);
    return null;
  }, { action: name ? "Change" : "Add", changed: (v, tell) => { (listen ||= listening((told) => tell("F", told.text, told.bad)))(v.F); } });
}

const LOADS = [["force", "force at a point"], ["torque", "torque on a body"], ["spring", "spring and damper between points"], ["torsion-spring", "torsion spring in a joint"]];
export function forceForm(name = null, given = {}) {
  const old = name ? state.data.forces[name] : given, is = (...kinds) => (v) => kinds.includes(v.kind);
  const moving = bodyNames().filter((b) => b !== "frame");
  ask(name ? `Force ${name}` : "Add force or spring", [
    { key: "name", label: "Name", value: name || fresh("forces", old.type === "spring" ? "spring" : "load"), kind: "text" },
    { key: "kind", label: "Type", kind: "select", options: LOADS, value: old.type || (old.torque !== undefined ? "torque" : "force") },
    { key: "body", label: "Body", kind: "select", options: moving, value: old.body, when: is("force", "torque") },
    { key: "point", label: "Point", kind: "select", options: pointNames(), value: typeof old.point === "string" ? old.point : undefined, when: is("force") },
    { key: "force", label: "Force (N)", kind: "vector", labels: spatial() ? ["x", "y", "z"] : ["x", "y"], value: old.force || ["0", "-10"], when: is("force") },
    { key: "torque", label: "Torque (N m)", value: old.torque ?? "", when: is("torque") },
    { key: "p", label: "From point", kind: "select", options: pointNames(), value: old.between?.[0], when: is("spring") },
    { key: "q", label: "To point", kind: "select", options: pointNames(), value: old.between?.[1], when: is("spring") },
    { key: "joint", label: "Joint", kind: "select", options: drivable(["R"]), value: old.joint, when: is("torsion-spring") },
    { key: "stiffness", label: "Stiffness", value: old.stiffness ?? "", when: is("spring", "torsion-spring") },
    { key: "length", label: "Free length (m)", value: old.length ?? "", when: is("spring") },
    { key: "angle", label: "Free angle (rad)", value: old.angle ?? "", when: is("torsion-spring") },
    { key: "damping", label: "Damping", value: old.damping ?? "", when: is("spring", "torsion-spring") },
  ], async (v) => {
    const some = (x, without) => (x === "" ? without : written(x));
    const load = {
      force: () => ({ body: v.body, point: v.point, force: v.force.map((t) => written(t || "0")) }), torque: () => ({ body: v.body, torque: some(v.torque, 0) }),
      spring: () => ({ type: "spring", between: [v.p, v.q], stiffness: some(v.stiffness, 0), ...(v.length !== "" && { length: written(v.length) }), ...(v.damping !== "" && { damping: written(v.damping) }) }),
      "torsion-spring": () => ({ type: "torsion-spring", joint: v.joint, stiffness: some(v.stiffness, 0), ...(v.angle !== "" && { angle: written(v.angle) }), ...(v.damping !== "" && { damping: written(v.damping) }) }),
    }[v.kind]();
    const operations = [];
    if (name && v.name !== name) operations.push(["rename", "forces", name, v.name]);
    operations.push(["set", ["forces", v.name], load]);
    if (await change(operations)) select(`forces:${v.name}`);
    return null;
  }, { action: name ? "Change" : "Add" });
}

export function simulateForm() {
  const s = state.data.simulation || {}, g = state.data.gravity || [];
  ask("Simulate", [
    { key: "start", label: "Start (s)", value: s.start ?? 0 }, { key: "stop", label: "End (s)", value: s.stop ?? 1 }, { key: "step", label: "Step (s)", value: s.step ?? 0.01 },
    { key: "gravity", label: "Gravity (m/s²)", kind: "vector", labels: spatial() ? ["x", "y", "z"] : ["x", "y"], value: g },
  ], async (v) => {
    const operations = ["start", "stop", "step"].filter((k) => v[k] !== "" && written(v[k]) !== s[k]).map((k) => ["set", ["simulation", k], written(v[k])]);
    if (v.gravity.some((t) => t !== "")) operations.push(["set", ["gravity"], v.gravity.map((t) => written(t || "0"))]);
    else if (state.data.gravity) operations.push(["delete", ["gravity"]]);
    if (operations.length) await change(operations);
    return null;
  }, { action: "Simulate", note: "When the motion starts and ends, how far apart its instants are, and gravity." });
}

export function parameterForm(name = null) {
  ask(name ? `Parameter ${name}` : "Add parameter", [{ key: "name", label: "Name", value: name || "", kind: "text" }, { key: "value", label: "Value", value: name ? state.data.parameters[name] : "", placeholder: "number or formula" }], async (v) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(v.name)) return "a parameter's name has letters, digits and _";
    if (v.value === "") return "a parameter needs a value";
    await change([...(name && v.name !== name ? [["delete", ["parameters", name]]] : []), ["set", ["parameters", v.name], written(v.value)]]);
    return null;
  }, { action: name ? "Change" : "Add" });
}
