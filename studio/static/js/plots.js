// Curves of anything that is chosen, over time, in step with the animation; with a reference from a CSV file.
import uPlot from "../vendor/uplot.js";
import { h, fill, short, toast } from "./dom.js";
import { state, on, emit, entries, select, set } from "./store.js";
import { traced, couplerPoints } from "./overlays.js";

const INKS = () => { const style = getComputedStyle(document.documentElement); return [1, 2, 3, 4].map((k) => style.getPropertyValue(`--curve-${k}`).trim()); };
const reference = { name: "", time: null, columns: {}, column: "" };

// What can be plotted of the thing chosen: title -> series, by the words of the paper's menu View.
export function quantities(key) {
  const at = key.indexOf(":"), table = key.slice(0, at), name = key.slice(at + 1), S = state.series, has = (names) => names.filter((n) => S[n]);
  const axes = ["x", "y", "z"], found = [];
  const add = (title, unit, names) => { const held = has(names); if (held.length) found.push({ title, unit, names: held }); };
  if (table === "points") {
    add("Position", "m", axes.map((a) => `${name}.${a}`));
    add("Velocity", "m/s", axes.map((a) => `${name}.v${a}`));
    add("Acceleration", "m/s²", axes.map((a) => `${name}.a${a}`));
  } else if (table === "bodies") {
    add("Angle", "rad", [`${name}.angle`]);
    add("Angular velocity", "rad/s", [`${name}.omega`, ...axes.map((a) => `${name}.omega${a}`)]);
    add("Angular acceleration", "rad/s²", [`${name}.alpha`, ...axes.map((a) => `${name}.alpha${a}`)]);
    const centre = state.data.bodies?.[name]?.centre;
    if (typeof centre === "string") found.push(...quantities(`points:${centre}`));
  } else if (table === "joints") {
    add("Reaction", "N", axes.map((a) => `${name}.f${a}`));
    add("Reaction moment", "N m", [`${name}.m`, ...axes.map((a) => `${name}.m${a}`)]);
    const unit = { R: "rad", P: "m" }[state.data.joints?.[name]?.type];
    add("Joint coordinate", unit, [`joint.${name}`]);
    add("Joint rate", unit && `${unit}/s`, [`joint.${name}.rate`]);
    add("Joint acceleration", unit && `${unit}/s²`, [`joint.${name}.acceleration`]);
  } else if (table === "drivers") {
    const turns = state.data.drivers?.[name]?.angle !== undefined;
    add("Effort", turns ? "N m" : "N", [`${name}.effort`]);
    add("Driver", turns ? "rad" : "m", [`${name}.value`]);
  } else if (table === "energy") add("Energy", "J", ["energy.kinetic", "energy.potential", "energy.total"]);
  return found;
}

function things() {
  const found = [];
  for (const name of Object.keys(state.series).filter((k) => k.endsWith(".vx")).map((k) => k.slice(0, -3))) found.push([`points:${name}`, `point ${name}`]);
  for (const [n] of entries("bodies")) if (n !== "frame") found.push([`bodies:${n}`, `body ${n}`]);
  for (const [n] of entries("joints")) if (quantities(`joints:${n}`).length) found.push([`joints:${n}`, `joint ${n}`]);
  for (const [n] of entries("drivers")) found.push([`drivers:${n}`, `driver ${n}`]);
  if (state.series["energy.total"]) found.push(["energy:all", "energy"]);
  return found;
}

// The range of an axis: what is constant but for rounding is drawn as a line, not as noise.
const spread = (u, low, high) => (low === null || high - low > 1e-9 * Math.max(1, Math.abs(low), Math.abs(high)) ? uPlot.rangeNum(low ?? 0, high ?? 1, 0.1, true) : [low - 1, high + 1]);

export function watchPanel(page) {
  let charts = [], key = null;
  const chooser = h("select", { "aria-label": "What is plotted", onchange: () => { const [t] = chooser.value.split(":"); if (t === "energy") { key = chooser.value; draw(); } else select(chooser.value); } });
  const home = h("div", { id: "charts" }), values = h("table.values", { id: "values" });
  const told = h("div.legend-list", { id: "reference" });
  const file = h("input", { type: "file", accept: ".csv,text/csv", class: "hidden", onchange: () => file.files[0]?.text().then((text) => readReference(file.files[0].name, text)) });
  const toggle = (name, label) => h("label", null, h("input", { type: "checkbox", "data-show": name, checked: state.show[name], onchange: (e) => set(name, e.target.checked) }), label);
  const curves = h("div.chips");

  function layout() {
    fill(page, h("section.card", null, h("header", null, h("h2", null, "Plots"), chooser), home, h("div.body", null, values), told,
      h("div.chips", null, h("button", { onclick: () => file.click(), title: "Lay the curves of another program over these" }, "Reference CSV…"), reference.time && h("button", { onclick: () => { reference.time = null; draw(); } }, "Remove reference"), file)),
    h("section.card", null, h("header", null, h("h2", null, "Shown in the drawing")), h("div.toggles", null, toggle("curves", "coupler curves"), toggle("velocity", "velocities"), toggle("acceleration", "accelerations"), toggle("reactions", "reactions"), toggle("efforts", "efforts"), toggle("centres", "instant centres"), toggle("names", "names")),
      h("div.body", null, "Curves of"), curves));
    draw();
  }

  function current() {
    const chosen = [...state.selection].reverse().find((k) => quantities(k).length);
    if (chosen) return chosen;
    if (key && quantities(key).length) return key;
    const point = couplerPoints()[0];
    const first = point && quantities(`points:${point}`).length ? `points:${point}` : things()[0]?.[0];
    return first || null;
  }

  function draw() {
    if (state.tab !== "watch") return;
    charts.forEach((c) => c.plot.destroy());
    charts = [];
    key = current();
    fill(chooser, things().map(([value, label]) => h("option", { value, selected: value === key }, label)));
    fill(curves, Object.keys(state.sketch).filter((p) => state.series[`${p}.vx`]).map((p) => h("button", { "aria-pressed": traced().includes(p), onclick: () => { const now = new Set(traced()); if (now.has(p)) now.delete(p); else now.add(p); state.traces = now; emit("display"); draw(); } }, p)));
    for (const [name, ending] of [["reactions", ".fx"], ["efforts", ".effort"], ["centres", ""], ["names", ""]]) {
      const box = page.querySelector(`[data-show=${name}]`), none = !Object.keys(state.series).some((k) => k.endsWith(ending)), flat = name !== "reactions" && state.data.space === "spatial";
      box.disabled = none || flat;
      box.parentElement.title = flat ? "drawn in the plane only" : none ? "computed by Forces and Simulation, above" : "";
    }
    const wanted = key ? quantities(key) : [];
    if (!wanted.length || !(state.scene?.count > 1)) { fill(home, h("p.empty", null, "Nothing moves yet. What is missing stands above the drawing.")); fill(values); return; }
    fill(home);
    for (const quantity of wanted) home.append(chart(quantity));
    table(wanted);
    follow();
  }

  function chart(quantity) {
    const box = h("div.chart", { "data-quantity": quantity.title }), style = getComputedStyle(document.documentElement);
    const [ink, line, pink] = ["--soft", "--line", "--select"].map((name) => style.getPropertyValue(name).trim());
    const series = [{}], data = [state.series.t];
    const inks = INKS();
    quantity.names.forEach((name, i) => { series.push({ label: name, stroke: inks[i], width: 1.8, pxAlign: 0, points: { show: false } }); data.push(state.series[name]); });
    const other = overlay(quantity);
    if (other) { series.push({ label: other.name, stroke: pink, width: 1.6, pxAlign: 0, dash: [6, 4], points: { show: false } }); data.push(other.values); }
    const key_ = (label, colour) => h("span", null, h("i", { style: `color:${colour}` }, "— "), label);
    box.append(h("header", null, h("b", null, `${quantity.title}${quantity.unit ? ` (${quantity.unit})` : ""}`),
      quantity.names.length > 1 && quantity.names.map((name, i) => key_(name.slice(name.lastIndexOf(".") + 1), inks[i])), other && key_(reference.name, pink)));
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, size: 4 }, font: "11px system-ui", size: 46, space: 22 };
    const plot = new uPlot({
      width: Math.max(240, page.clientWidth - 40), height: 120,
      scales: { x: { time: false }, y: { range: spread } }, series, axes: [{ ...axis, size: 24, space: 46 }, axis], legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: true } },
      hooks: { ready: [() => queueMicrotask(follow), (u) => u.over.addEventListener("pointerdown", (e) => { const t = u.posToVal(e.offsetX, "x"); scrub(t); })] },
    }, data, box);
    charts.push({ plot, names: quantity.names });
    return box;
  }

  function scrub(t) {
    const time = state.scene.time;
    let best = 0;
    for (let k = 1; k < time.length; k += 1) if (Math.abs(time[k] - t) < Math.abs(time[best] - t)) best = k;
    state.frame = best;
    emit("pause");
    emit("frame");
  }

  function table(wanted) {
    const inks = INKS();
    const rows = wanted.flatMap((q) => q.names.map((name, i) => h("tr", { "data-series": name }, h("td", null, h("span", { style: `color:${inks[i]}` }, "— "), name), h("td.number", null), h("td.number", null), h("td.number", null))));
    fill(values, h("tr", null, h("th", null, ""), h("th", null, "now"), h("th", null, "least"), h("th", null, "greatest")), rows);
    for (const row of rows) {
      const x = state.series[row.dataset.series];
      let low = Infinity, high = -Infinity;
      for (const v of x) { if (v < low) low = v; if (v > high) high = v; }
      row.children[2].textContent = short(low, 5);
      row.children[3].textContent = short(high, 5);
    }
  }

  function follow() {
    if (state.tab !== "watch") return;
    const k = Math.round(state.frame), t = state.scene?.time?.[k];
    for (const { plot } of charts) {
      const left = plot.valToPos(t, "x");
      plot.setCursor({ left, top: 0 }, false);
    }
    for (const row of values.querySelectorAll("[data-series]")) {
      const value = state.series[row.dataset.series]?.[k];
      row.dataset.value = value;
      row.children[1].textContent = short(value, 6);
    }
  }

  // ---- the reference curve -------------------------------------------------------------------------------------------
  function readReference(name, text) {
    const lines = text.split(/\r?\n/).map((l) => l.trim()).filter((l) => l && !l.startsWith("#"));
    const cut = lines[0]?.includes(";") ? ";" : ",";
    const number = (x) => Number(cut === ";" ? x.replace(",", ".") : x);
    const head = lines[0].split(cut).map((x) => x.trim().replace(/^"|"$/g, ""));
    const named = head.some((x) => !Number.isFinite(number(x)));
    const rows = lines.slice(named ? 1 : 0).map((l) => l.split(cut).map(number)).filter((r) => r.length >= 2 && r.every(Number.isFinite));
    if (rows.length < 2) return toast(`${name}: columns of numbers, the first of them time, are expected`, true);
    reference.name = name;
    reference.time = rows.map((r) => r[0]);
    reference.columns = Object.fromEntries(head.slice(1).map((title, i) => [named ? title : `column ${i + 2}`, rows.map((r) => r[i + 1])]));
    reference.column = Object.keys(reference.columns)[0];
    return layout();
  }
  function overlay(quantity) {
    if (!reference.time) return null;
    const named = quantity.names.find((n) => reference.columns[n]);
    const column = named || (quantity === quantities(key)[0] && !Object.keys(reference.columns).some((c) => state.series[c]) ? reference.column : null);
    if (!column) return null;
    const times = reference.time, theirs = reference.columns[column], ours = state.series[named || quantity.names[0]];
    let j = 0, gap = 0, size = 0;
    const values_ = Array.from(state.series.t, (t, k) => {
      if (t < times[0] - 1e-9 || t > times[times.length - 1] + 1e-9) return null;
      while (j < times.length - 2 && times[j + 1] < t) j += 1;
      const f = (t - times[j]) / (times[j + 1] - times[j]), v = theirs[j] + f * (theirs[j + 1] - theirs[j]);
      gap = Math.max(gap, Math.abs(v - ours[k]));
      size = Math.max(size, Math.abs(ours[k]));
      return v;
    });
    told.textContent = `${reference.name}, ${column}: largest difference from ${named || quantity.names[0]} ${short(gap, 3)} (${short((100 * gap) / (size || 1), 2)} %)`;
    told.dataset.gap = gap;
    return { name: column, values: values_ };
  }

  on("document", () => draw());
  on("selection", () => draw());
  on("frame", follow);
  on("theme", () => draw());
  on("tab", () => state.tab === "watch" && layout());
  addEventListener("resize", () => draw());
  return layout;
}
