// Where a simulation starts, and which joints carry the efforts of inverse dynamics: [initial] and [actuators].
import { state, change, fresh, select, entries } from "./store.js";
import { ask, written } from "./dialogs.js";

const joints = (...kinds) => entries("joints").filter(([, j]) => kinds.includes(j.type)).map(([n]) => n);
const TURNS = ["R", "C", "H"], SLIDES = ["P", "slot", "C"];

// A renamed entry stands where it stood: it is deleted and set again only under another name.
function put(table, name, own, value) {
  const operations = name && own !== name ? [["delete", [table, name]]] : [];
  return change([...operations, ["set", [table, own], value]]).then((taken) => { if (taken) select(`${table}:${own}`); });
}

export function initialForm(name = null) {
  const old = name ? state.data.initial[name] : {}, all = [...new Set([...joints(...TURNS), ...joints(...SLIDES)])], slides = joints(...SLIDES), turns = joints(...TURNS);
  const used = new Set(entries("initial").map(([, i]) => i.joint));
  ask(name ? `Start of ${name}` : "Add start of a joint", [
    { key: "name", label: "Name", value: name || fresh("initial", "start"), kind: "text" },
    { key: "joint", label: "Joint", kind: "select", options: all, value: old.joint || all.find((j) => !used.has(j)) },
    { key: "angle", label: "Angle (rad)", value: old.angle ?? "", placeholder: "as in the drawing", when: (v) => turns.includes(v.joint) },
    { key: "displacement", label: "Displacement (m)", value: old.displacement ?? "", placeholder: "as in the drawing", when: (v) => slides.includes(v.joint) },
    { key: "rate", label: "Rate", value: old.rate ?? "", placeholder: "0" },
  ], async (v) => {
    if (!v.joint) return "there is no joint with a coordinate yet - add one first";
    const start = { joint: v.joint };
    if (turns.includes(v.joint) && v.angle !== "") start.angle = written(v.angle);
    if (slides.includes(v.joint) && v.displacement !== "") start.displacement = written(v.displacement);
    if (v.rate !== "") start.rate = written(v.rate);
    if (Object.keys(start).length < 2) return "give a position or a rate";
    await put("initial", name, v.name, start);
    return null;
  }, { action: name ? "Change" : "Add", note: "Position and rate of a joint when a simulation starts: as many joints as there are degrees of freedom." });
}

export function actuatorForm(name = null) {
  const old = name ? state.data.actuators[name] : {};
  ask(name ? `Actuator ${name}` : "Add actuator", [
    { key: "name", label: "Name", value: name || fresh("actuators", "motor"), kind: "text" },
    { key: "joint", label: "Joint", kind: "select", options: [...new Set([...joints(...TURNS), ...joints(...SLIDES)])], value: old.joint },
  ], async (v) => {
    if (!v.joint) return "there is no joint with a coordinate yet - add one first";
    await put("actuators", name, v.name, { ...old, joint: v.joint });
    return null;
  }, { action: name ? "Change" : "Add", note: "The joints that carry the efforts of Forces, where they are not the driven ones." });
}
