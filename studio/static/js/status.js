// What is the matter with the mechanism, in words, above the drawing: mobility, what is missing or too much, mistakes.
import { h, fill, plainType } from "./dom.js";
import { state, on } from "./store.js";
import { onevent } from "./link.js";

export function status(home) {
  function show() {
    const found = [], st = state.structure;
    if (state.provisional) found.push(h("span.chip.warn", { id: "provisional" }, "absolute coordinates, until the solver is ready"));
    if (st) {
      const even = st.drivers === st.mobility && !st.free && !(st.redundant || []).length;
      found.push(h(`span.chip${even ? ".good" : ".warn"}`, { id: "mobility", title: `Grübler's count: ${st.count}` }, h("b", null, `mobility ${st.mobility}`), `, ${st.drivers} driver${st.drivers === 1 ? "" : "s"}`));
      if (st.groups.length) found.push(h("span.chip", { id: "groups", title: st.groups.map((g) => `${g.name}: ${g.bodies.join(", ")}`).join("\n") }, st.groups.slice(0, 9).map((g) => plainType(g.type)).join(" → ") + (st.groups.length > 9 ? " …" : "")));
    }
    if (state.busy && state.stage) found.push(h("span.chip.warn", null, state.stage));
    if (state.problem) found.push(h("div.note.bad", { id: "problem", role: "alert" }, state.problem.place.length ? h("b", null, `${state.problem.place.join(" › ")}: `) : null, state.problem.message));
    else if (!Object.keys(state.data.points || {}).length) found.push(h("div.note", { id: "welcome" }, "An empty sheet. Draw links with ", h("kbd", null, "L"), " (click from point to point, Enter ends), pin them to the ground with ", h("kbd", null, "G"), ", drive a joint with ", h("kbd", null, "M"), " - or use the tables on the right."));
    for (const note of state.notes || []) found.push(h("div.note", null, note));
    if (st?.redundant?.length && !state.problem && !state.notes.length) for (const f of st.redundant) found.push(h("div.note", null, f.message));
    fill(home, found);
  }
  onevent((event) => { if (event.event === "progress") { state.stage = event.stage.slice(0, 90); show(); } });
  on("document", show);
  on("drawn", show);
  on("busy", () => { if (!state.busy) show(); });
}
