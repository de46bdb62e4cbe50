// Understand: groups in order, their equations, conditioning, assembly modes, the structural diagram, verification.
import uPlot from "../vendor/uplot.js";
import { h, fill, s, short, plainType } from "./dom.js";
import { dialog } from "./dialogs.js";
import { ask, floats } from "./link.js";
import { state, on, emit, change, entries } from "./store.js";

export function understandPanel(page) {
  const list = h("div.rows"), detail = h("div", { id: "group-detail" }), course = h("div"), picture = h("div.diagram.body"), steps = h("div.legend-list"), verdict = h("div.body", { id: "verdict" });
  let asked = "", plot = null;
  fill(page,
    h("section.card", null, h("header", null, h("h2", null, "Structural groups, in the order of solution")), list),
    detail,
    h("section.card", null, h("header", null, h("h2", null, "Conditioning over the cycle")), course),
    h("section.card", null, h("header", null, h("h2", null, "Verification"), h("button.plain", { id: "verify", onclick: verify }, "Verify this mechanism")), verdict),
    h("section.card", null, h("header", null, h("h2", null, "Structural diagram"), h("button.plain", { onclick: diagram, id: "diagram" }, "Draw")), picture, steps));

  function groups() {
    const st = state.structure, told = state.diagnostics?.groups || {};
    if (!st) return fill(list, h("div.empty", null, "The mechanism cannot be read yet."));
    const rows = st.groups.map((g) => h(`div.row${state.group === g.name ? ".selected" : ""}`, { "data-group": g.name, tabindex: 0, role: "button", onclick: () => open(g.name), onkeydown: (e) => e.key === "Enter" && open(g.name) },
      h("span.swatch", { style: `background:${g.colour}` }), h("span.title", { title: g.name }, plainType(g.name)), h("span.what", null, `${g.bodies.join(", ")}; joints ${g.joints.join(", ") || "–"}${g.drivers.length ? `; driver ${g.drivers.join(", ")}` : ""}${g.depends_on.length ? `; after ${g.depends_on.join(", ")}` : ""}`),
      told[g.name]?.mode ? h("span.badge", { title: "assembly mode" }, `mode ${told[g.name].mode}`) : null));
    const said = [...(st.free || []), ...(st.redundant || [])].map((f) => h("div.problem", null, f.message));
    const notes = (st.notes || []).map((n) => h("div.legend-list", null, n));
    return fill(list, rows.length ? rows : h("div.empty", null, "No groups yet."), said, notes);
  }

  async function open(name) {
    state.group = state.group === name ? null : name;
    emit("selection");
    groups();
    if (!state.group) return fill(detail);
    const text = state.text;
    fill(detail, h("section.card", null, h("div.empty", null, "Deriving the equations…")));
    let equations = null, modes = null, problem = "";
    try { [equations, modes] = await Promise.all([ask("explain", { text, group: name }), ask("modes", { text, group: name })]); } catch (error) { problem = error.message; }
    if (state.group !== name) return undefined;
    if (!equations) return fill(detail, h("section.card", null, h("div.problem", null, problem)));
    const formulas = equations.formulas.filter((f) => f.mathml).map((f) => { const box = h("div.equation", null, f.title && h("h3", null, f.title)); box.append(parsed(f.mathml)); return box; });
    return fill(detail, h("section.card", { "data-explained": name },
      h("header", null, h("h2", { title: name }, plainType(name)), h("span.badge", { title: equations.type.split(":")[0] }, plainType(equations.type.split(":")[0]))),
      h("div.legend-list", null, equations.type, h("br"), equations.positions), h("div.legend-list", null, equations.legend.map((l) => h("div", null, l))),
      modes.modes.length > 1 ? [h("div.legend-list", null, h("b", null, "Assembly modes"), " - click to assemble the group that way"), pictures(name, modes)] : null, formulas));
  }

  // MathML comes from our own formulas; names of the mechanism stand in it as text. It is parsed as XML, never as HTML.
  function parsed(mathml) {
    const doc = new DOMParser().parseFromString(mathml, "application/xml");
    if (doc.querySelector("parsererror")) return h("code", null, mathml.replace(/<[^>]+>/g, " "));
    const allowed = /^(math|m[a-z]+)$/;
    for (const node of doc.querySelectorAll("*")) {
      if (!allowed.test(node.localName)) node.remove();
      for (const a of [...node.attributes]) if (/^on|href|src/.test(a.name)) node.removeAttribute(a.name);
    }
    return document.importNode(doc.documentElement, true);
  }

  function pictures(group, found) {
    const all = found.modes.flatMap((m) => Object.values(m.points)), xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)], pad = 0.08 * Math.max(x1 - x0, y1 - y0, 1e-9);
    const own = {};
    for (const g of state.structure?.groups || []) for (const b of g.bodies) own[b] = g.colour;
    return h("div.modes", null, found.modes.map((m) => h("button", { "aria-pressed": m.number === found.chosen, "data-mode": m.number, onclick: () => choose(group, m.number) },
      s("svg", { viewBox: `${x0 - pad} ${-(y1 + pad)} ${x1 - x0 + 2 * pad} ${y1 - y0 + 2 * pad}` }, entries("bodies").filter(([n]) => n !== "frame").map(([n, b]) => {
        const places = (b.points || []).map((p) => m.points[p]).filter(Boolean);
        return s(places.length > 2 ? "polygon" : "polyline", { points: places.map((p) => `${p[0]},${-p[1]}`).join(" "), stroke: own[n] || "var(--soft)" });
      })), `mode ${m.number}`)));
  }
  async function choose(group, number) {
    await change([["set", ["assembly", group], number]]);
    state.group = null;
    open(group);
  }

  async function condition() {
    if (state.tab !== "understand" || asked === state.text) return;
    asked = state.text;
    plot?.destroy();
    plot = null;
    fill(course);
    let found;
    try { found = await ask("condition", { text: state.text }); } catch (error) { return fill(course, h("div.empty", null, error.message)); }
    const style = getComputedStyle(document.documentElement), ink = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line");
    const names = Object.keys(found.groups).filter((n) => state.structure?.groups.some((g) => g.name === n && g.type !== "R" && g.type !== "P")), time = floats(found, found.time);
    if (!names.length) return fill(course, h("div.empty", null, "Only driven links: always well conditioned."));
    const colour = (n) => state.structure.groups.find((g) => g.name === n)?.colour || "#888", axis = { stroke: ink, grid: { stroke: line }, ticks: { stroke: line }, font: "11px system-ui", size: 40, space: 24 };
    const box = h("div.chart", { id: "conditioning" });
    fill(course, box, h("div.legend-list", null, names.map((n) => {
      const values = floats(found, found.groups[n]);
      let least = Infinity;
      for (const v of values) least = Math.min(least, v);
      const angle = found.dyads.includes(n) ? `, least transmission angle ${short((180 / Math.PI) * Math.asin(Math.min(1, least)), 4)}°` : "";
      return h("div", { "data-condition": n, "data-least": least }, h("span", { style: `color:${colour(n)}` }, "— "), `${plainType(n)}: least ${short(least, 4)}${angle}`);
    }), h("div", null, "1 is best, 0 a dead point; of an RRR dyad it is the sine of the transmission angle.")));
    plot = new uPlot({ width: Math.max(240, page.clientWidth - 40), height: 120, scales: { x: { time: false }, y: { range: [0, 1] } }, series: [{}, ...names.map((n) => ({ stroke: colour(n), width: 1.8, points: { show: false } }))], axes: [{ ...axis, size: 26 }, axis], legend: { show: false }, cursor: { drag: { x: false, y: false } } }, [time, ...names.map((n) => floats(found, found.groups[n]))], box);
    return undefined;
  }

  function enlarged(image) {
    const view = dialog("Structural diagram", [h("div.large", null, image), h("footer", null, h("button.primary", { type: "button", onclick: () => view.close() }, "Close"))], { wide: true });
    view.box.classList.add("widest");
  }
  async function diagram() {
    try {
      const found = await ask("diagram", { text: state.text });
      const image = () => h("img", { alt: "structural diagram", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(found.svg)}` });
      fill(picture, h("button.enlarge", { title: "Enlarge", "aria-label": "Enlarge the structural diagram", onclick: () => enlarged(image()) }, image()));
      fill(steps, found.steps.map((line) => h("div", null, line)));
    } catch (error) { fill(picture, h("div.problem", null, error.message)); }
  }

  async function verify() {
    fill(verdict, "Verifying: every group three ways, the whole against absolute coordinates…");
    try {
      const found = await ask("verify", { text: state.text });
      const worst = (errors) => Math.max(0, ...Object.values(errors).flatMap((e) => Object.values(e)).filter(Number.isFinite));
      fill(verdict, h(`span.badge.${found.passed ? "good" : "bad"}`, { id: "passed" }, found.passed ? "passed" : "failed"),
        h("table.values", null, h("tr", null, h("th", null, "group"), h("th", null, "largest relative error")), found.groups.map((g) => h("tr", null, h("td", null, `${g.name} (${g.type})`), h("td.number", null, worst(g.errors).toExponential(1)))),
          Object.entries(found.whole).map(([k, v]) => h("tr", null, h("td", null, `whole, ${k}`), h("td.number", null, Number(v).toExponential(1))))));
    } catch (error) { fill(verdict, h("span.problem", null, error.message)); }
  }

  on("document", () => { groups(); if (state.tab === "understand") condition(); if (state.group && !state.structure?.groups.some((g) => g.name === state.group)) { state.group = null; fill(detail); } });
  on("tab", () => { groups(); condition(); });
  on("theme", () => { asked = ""; condition(); });
  on("opened", () => { fill(verdict); fill(picture); fill(steps); fill(detail); });
}
