// Hands on the drawing: select, move, draw points and links, pin, slide, drive, tie; zoom and pan.
import { h, fill, glyph, s, toast } from "./dom.js";
import { state, on, emit, select, change, dragTo, dragEnd, place, entries, fresh, keyOf } from "./store.js";
import { view, toWorld, toScreen, snapped, zoomAt, pan, fit, tidy } from "./view.js";
import { Plan, linkPlan, groundPlan, sliderPlan, dragPlan, freeze, onRay, ownersOf } from "./geometry.js";
import { driverForm, forceForm } from "./loads.js";

export const TOOLS = [
  ["select", "Select and change the design: drag points", "V"], ["hand", "Move the mechanism: drag it through its motion", "H"], null,
  ["point", "Point", "P"], ["link", "Link: click from point to point, Enter or the last point again ends", "L"], ["ground", "Pin a point to the ground", "G"], ["slider", "Let a point slide on the ground", "S"], null,
  ["motor", "Drive a joint at its pin", "M"], ["cylinder", "Cylinder between two points", "C"], ["spring", "Spring between two points", "K"], ["force", "Force at a point", "F"],
];
const HINTS = { select: "Drag points to change the design. Shift adds to the selection; drag on the sheet selects an area.", hand: "Drag a link to move the mechanism through its motion.", point: "Click to place points.", link: "Click points, or places for new ones. Enter ends the link, Escape gives it up.", ground: "Click the point that is pinned to the ground.", slider: "Press at a point and pull in the direction of its guide.", motor: "Click the pin that is driven.", cylinder: "Click the two ends of the cylinder.", spring: "Click the two ends of the spring.", force: "Press at a point and pull: the force." };

export function tools(bar, home, drawn, player) {
  let drawing = [], press = null;
  const hint = h("div", { id: "hint" });
  home.append(hint, h("div", { id: "legend" }), h("div", { id: "zoom" }, h("button.icon", { "aria-label": "Smaller", title: "Smaller (-)", onclick: () => zoomAt(1 / 1.25) }, glyph("minus")), h("button.icon", { "aria-label": "Fit", title: "Fit (0)", onclick: fit }, glyph("fit")), h("button.icon", { "aria-label": "Larger", title: "Larger (+)", onclick: () => zoomAt(1.25) }, glyph("plus"))));
  const option = (key, label) => h("button", { "aria-label": label, title: label, "aria-pressed": state.show[key], id: `option-${key}`, onclick: (e) => { state.show[key] = !state.show[key]; e.currentTarget.setAttribute("aria-pressed", state.show[key]); emit(key === "groups" ? "recolour" : "display"); } }, glyph(key));
  fill(bar, TOOLS.map((t) => (t ? h("button", { id: `tool-${t[0]}`, "aria-label": t[1], title: `${t[1]} (${t[2]})`, "aria-pressed": "false", onclick: () => choose(t[0]) }, glyph(t[0])) : h("span.rule"))), h("span.rule"), option("grid", "Grid"), option("snap", "Snap to the grid"), option("groups", "Colour by groups"));

  function choose(name) {
    giveUp();
    state.tool = name;
    home.dataset.tool = name;
    for (const t of TOOLS) if (t) document.getElementById(`tool-${t[0]}`).setAttribute("aria-pressed", String(t[0] === name));
    hint.textContent = HINTS[name];
    emit("tool");
  }
  const at = (event) => { const box = home.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  // The point under the pointer: the drawing's own, or one within reach.
  function pointUnder(px) {
    let best = null, least = 13;
    for (const node of drawn.svg.querySelectorAll("[data-point]")) {
      const where = place(node.dataset.point);
      if (!where) continue;
      const [x, y] = toScreen(where), d = Math.hypot(x - px[0], y - px[1]);
      if (d < least) { least = d; best = node.dataset.point; }
    }
    return best;
  }
  const bodyUnder = (event) => event.target.closest?.("[data-body]")?.dataset.body || null;

  function down(event) {
    if (event.target.closest("#zoom")) return;
    home.focus({ preventScroll: true });
    const px = at(event), point = pointUnder(px), body = bodyUnder(event);
    home.setPointerCapture?.(event.pointerId);
    if (event.button === 1 || event.altKey) { press = { kind: "pan", px }; return; }
    if (event.button) return;
    const actions = { select: () => pick(event, px, point, body), hand: () => grab(px, point, body), point: () => putPoint(px, event), link: () => putLink(px, point, event), ground: () => point && ground(point), slider: () => point && (press = { kind: "pull", tool: "slider", point, px }), motor: () => point && motor(point), cylinder: () => ends(point, "cylinder"), spring: () => ends(point, "spring"), force: () => point && (press = { kind: "pull", tool: "force", point, px }) };
    actions[state.tool]?.();
  }

  function pick(event, px, point, body) {
    if (point) {
      const key = `points:${point}`;
      if (!state.selection.has(key) || event.shiftKey) select(key, event.shiftKey);
      const points = [...state.selection].filter((k) => k.startsWith("points:")).map((k) => k.slice(7)).filter((p) => state.data.points?.[p] !== undefined);
      if (points.length) press = { kind: "drag", px, point, points, frozen: freeze(), started: false };
      return;
    }
    if (body && body !== "frame") { select(keyOf(body), event.shiftKey); return; }
    press = { kind: "area", px, add: event.shiftKey };
  }
  function grab(px, point, body) {
    const name = point || null;
    if (!name && (!body || body === "frame")) { press = { kind: "pan", px }; return; }
    player.pause();
    const world = toWorld(px), rigid = body && body !== "frame" ? body : null;
    press = { kind: "scrub", point: name, body: rigid, local: rigid ? localOf(rigid, world) : null };
  }
  function localOf(body, [x, y]) {
    const m = state.scene.bodies[body], k = 4 * Math.round(state.frame), [dx, dy] = [x - m[k], y - m[k + 1]];
    return [m[k + 2] * dx + m[k + 3] * dy, -m[k + 3] * dx + m[k + 2] * dy];
  }
  // The instant, near the present one, at which the grabbed place is nearest to the pointer.
  function scrub(px) {
    const [x, y] = toWorld(px), n = state.scene?.count || 0, now = Math.round(state.frame), reach = Math.max(3, Math.floor(n / 6));
    let best = now, least = Infinity;
    for (let j = -reach; j <= reach; j += 1) {
      const k = (((now + j) % n) + n) % n;
      const where = press.point ? [state.series[`${press.point}.x`][k], state.series[`${press.point}.y`][k]] : placeOf(press.body, press.local, k);
      const d = Math.hypot(where[0] - x, where[1] - y) + Math.abs(j) * 1e-9;
      if (d < least) { least = d; best = k; }
    }
    if (n) player.go(best);
  }
  const placeOf = (body, [u, v], k) => { const m = state.scene.bodies[body], i = 4 * k; return [m[i] + m[i + 2] * u - m[i + 3] * v, m[i + 1] + m[i + 3] * u + m[i + 2] * v]; };

  function move(event) {
    const px = at(event);
    if (drawing.length) preview(px);
    if (!press) return;
    if (press.kind === "pan") { pan(px[0] - press.px[0], px[1] - press.px[1]); press.px = px; }
    if (press.kind === "scrub") scrub(px);
    if (press.kind === "area") rectangle(press.px, px);
    if (press.kind === "pull") line([press.px, px]);
    if (press.kind === "drag") drag(px, event);
  }
  function drag(px, event) {
    if (!press.started && Math.hypot(px[0] - press.px[0], px[1] - press.px[1]) < 4) return;
    if (!press.started) { press.started = true; player.pause(); player.go(0); }
    const from = press.frozen.places[press.point];
    const to = snapped([from[0] + (px[0] - press.px[0]) / view.scale, from[1] - (px[1] - press.px[1]) / view.scale], event.ctrlKey);
    const by = [to[0] - from[0], to[1] - from[1]], one = press.points.length === 1;
    const moves = press.points.map((p) => [p, one ? onRay(p, to, press.frozen) : [tidy(press.frozen.places[p][0] + by[0]), tidy(press.frozen.places[p][1] + by[1])]]);
    const stamp = performance.now();
    dragTo(dragPlan(moves, press.frozen), () => { home.dataset.latency = (performance.now() - stamp).toFixed(2); home.dataset.drags = Number(home.dataset.drags || 0) + 1; });
  }
  function up(event) {
    const px = at(event), mine = press;
    press = null;
    fill(drawn.gesture);
    if (!mine) { if (drawing.length) preview(px); return; }
    if (mine.kind === "drag" && mine.started) dragEnd();
    if (mine.kind === "drag" && !mine.started && !event.shiftKey) select(`points:${mine.point}`); // a click, not a drag of all
    if (mine.kind === "area") area(mine, px);
    if (mine.kind === "pull") pulled(mine, px);
  }
  function area({ px, add }, to) {
    if (Math.hypot(to[0] - px[0], to[1] - px[1]) < 4) { if (!add) select([]); return; }
    const inside = ([x, y]) => x >= Math.min(px[0], to[0]) && x <= Math.max(px[0], to[0]) && y >= Math.min(px[1], to[1]) && y <= Math.max(px[1], to[1]);
    const points = [...drawn.svg.querySelectorAll("[data-point]")].map((n) => n.dataset.point).filter((p) => place(p) && inside(toScreen(place(p))));
    const bodies = entries("bodies").filter(([n, b]) => n !== "frame" && b.points?.length && b.points.every((p) => points.includes(p))).map(([n]) => `bodies:${n}`);
    select([...points.map((p) => `points:${p}`), ...bodies], add);
  }
  function pulled({ tool, point, px }, to) {
    const d = [(to[0] - px[0]) / view.scale, (px[1] - to[1]) / view.scale], size = Math.hypot(...d), long = Math.hypot(to[0] - px[0], to[1] - px[1]) > 8;
    if (tool === "slider") {
      let angle = long ? Math.atan2(d[1], d[0]) : 0;
      angle = Math.round(angle / (Math.PI / 12)) * (Math.PI / 12); // every 15 degrees
      const axis = [Math.cos(angle), Math.sin(angle)].map((x) => Number(x.toFixed(12)));
      return change(sliderPlan(point, axis).done());
    }
    const body = ownersOf(point).find((b) => b !== "frame");
    if (!body) return toast("A force acts on a moving link: choose one of its points.", true);
    return forceForm(null, { body, point, force: long ? d.map((x) => Number(((x / size) * 10).toFixed(3))) : [0, -10] });
  }

  // ---- drawing -------------------------------------------------------------------------------------------------------
  function putPoint(px, event) {
    const plan = new Plan(), name = plan.newPoint(snapped(toWorld(px), event.ctrlKey));
    change(plan.done()).then(() => select(`points:${name}`));
  }
  function putLink(px, point, event) {
    const last = drawing.at(-1);
    const again = last && Math.hypot(toScreen(last.at)[0] - px[0], toScreen(last.at)[1] - px[1]) < 12;
    if (again) return drawing.length > 1 ? finish() : undefined;
    drawing.push(point ? { name: point, at: place(point) } : { at: snapped(toWorld(px), event.ctrlKey) });
    return preview(px);
  }
  function finish() {
    if (drawing.length < 2) return giveUp();
    const plan = new Plan(), names = drawing.map((d) => d.name || plan.newPoint(d.at));
    const unique = names.filter((n, k) => names.indexOf(n) === k);
    giveUp();
    if (!state.data.bodies?.frame) plan.bodies.frame = { points: [] };
    const { name } = linkPlan(unique, plan);
    return change(plan.done()).then(() => select(`bodies:${name}`));
  }
  function giveUp() { drawing = []; fill(drawn.gesture); }
  function preview(px) { line([...drawing.map((d) => toScreen(d.at)), ...(drawing.length ? [px] : [])]); }
  const line = (places) => fill(drawn.gesture, s("polyline", { points: places.map((p) => p.join(",")).join(" ") }));
  const rectangle = (a, b) => fill(drawn.gesture, s("rect", { x: Math.min(a[0], b[0]), y: Math.min(a[1], b[1]), width: Math.abs(a[0] - b[0]), height: Math.abs(a[1] - b[1]) }));

  function ground(point) {
    const plan = groundPlan(point);
    if (!plan) return toast(`${point} is on the ground already.`);
    return change(plan.done());
  }
  function motor(point) {
    const joint = entries("joints").find(([, j]) => j.at === point && j.type === "R" && (j.bodies || []).includes("frame")) || entries("joints").find(([, j]) => j.at === point && ["R", "P", "slot"].includes(j.type));
    if (!joint) return toast(`There is no joint at ${point} yet: pin it to the ground first (G).`, true);
    if (joint[1].type !== "R") return driverForm(null, { joint: joint[0], displacement: "0.1*sin(2*pi*t)" });
    const body = state.data.bodies[joint[1].bodies[1]], other = (body?.points || []).find((p) => p !== point);
    const a = place(point, 0), b = other && place(other, 0), first = a && b ? Number(Math.atan2(b[1] - a[1], b[0] - a[0]).toFixed(4)) : 0;
    const span = (state.data.simulation?.stop ?? 1) - (state.data.simulation?.start ?? 0);
    return driverForm(null, { joint: joint[0], angle: `${first ? `${first} + ` : ""}2*pi*t${span && span !== 1 && typeof span === "number" ? `/${span}` : ""}` });
  }
  function ends(point, kind) {
    if (!point) return undefined;
    drawing.push({ name: point, at: place(point) });
    if (drawing.length < 2) return undefined;
    const [p, q] = drawing.map((d) => d.name), length = Number(Math.hypot(...[0, 1].map((k) => drawing[0].at[k] - drawing[1].at[k])).toPrecision(4));
    giveUp();
    if (p === q) return undefined;
    return kind === "spring" ? forceForm(fresh("forces", "spring") && null, { type: "spring", between: [p, q], stiffness: 100, length }) : driverForm(null, { between: [p, q], distance: `${length} + ${Number((0.1 * length).toPrecision(2))}*sin(2*pi*t)` });
  }

  home.addEventListener("pointerdown", down);
  home.addEventListener("pointermove", move);
  home.addEventListener("pointerup", up);
  home.addEventListener("pointercancel", up);
  home.addEventListener("wheel", (event) => { event.preventDefault(); if (event.ctrlKey || !event.shiftKey) zoomAt(Math.exp(-event.deltaY * 0.0015), at(event)); else pan(-event.deltaY, 0); }, { passive: false });
  on("document", () => {
    const spatial = state.data.space === "spatial"; // built by the tables, looked at in three dimensions
    for (const button of bar.querySelectorAll("[id^=tool-], #option-grid, #option-snap")) button.disabled = spatial;
    document.getElementById("zoom").classList.toggle("hidden", spatial);
    hint.classList.toggle("hidden", state.data.space === "spatial"); });
  choose("select");
  return { choose, finish, giveUp, drawing: () => drawing.length > 0 };
}
