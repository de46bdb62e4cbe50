// Play, scrub, speed, loop and ping-pong; marks on the time line where something happens.
import { h, glyph, fill, short } from "./dom.js";
import { state, on, emit, entries } from "./store.js";

const play = { speed: 0, way: "loop", direction: 1, last: 0, time: 0 };
const SPEEDS = [["auto", 0], ["1/100 ×", 0.01], ["1/10 ×", 0.1], ["1/4 ×", 0.25], ["1/2 ×", 0.5], ["1 ×", 1], ["2 ×", 2], ["5 ×", 5], ["10 ×", 10], ["100 ×", 100]];

export function player(home) {
  const button = h("button.play", { disabled: true, "aria-label": "Play", title: "Play (Space)", onclick: toggle }, glyph("play"));
  const track = h("input", { type: "range", disabled: true, min: 0, max: 0, step: 1, value: 0, "aria-label": "Time", oninput: () => { pause(); go(Number(track.value)); } });
  const marks = h("div.marks");
  const clock = h("output.time.number", { id: "clock" });
  const speed = h("select", { "aria-label": "Speed", title: "Speed", onchange: () => { play.speed = Number(speed.value); } }, SPEEDS.map(([label, value]) => h("option", { value }, label)));
  const way = h("select", { "aria-label": "At the end", title: "At the end", onchange: () => { play.way = way.value; } },
    h("option", { value: "loop" }, "loop"), h("option", { value: "pingpong" }, "ping-pong"), h("option", { value: "once" }, "once"));
  fill(home, button, h("button.icon", { "aria-label": "To the start", title: "To the start (Home)", onclick: () => { pause(); go(0); } }, glyph("first")),
    h("button.icon", { "aria-label": "One instant back", title: "Back (,)", onclick: () => step(-1) }, glyph("back")),
    h("button.icon", { "aria-label": "One instant on", title: "On (.)", onclick: () => step(1) }, glyph("next")),
    h("div.track", null, track, marks), clock, speed, way);

  const count = () => state.scene?.count || 0;
  function factor() {
    if (play.speed) return play.speed;
    const t = state.scene.time, span = t[t.length - 1] - t[0];
    return span > 12 || span < 1.2 ? span / 4 : 1; // a cycle that can be followed: about four seconds
  }
  function frameAt(time) {
    const t = state.scene.time;
    let low = 0, high = t.length - 1;
    while (high - low > 1) { const mid = (low + high) >> 1; if (t[mid] <= time) low = mid; else high = mid; }
    return t[high] > t[low] ? low + Math.min(1, (time - t[low]) / (t[high] - t[low])) : low;
  }
  function tick(now) {
    if (!state.playing) return;
    const t = state.scene?.time;
    if (!t || t.length < 2) return pause();
    play.time += play.direction * ((now - play.last) / 1000) * factor();
    play.last = now;
    const first = t[0], last = t[t.length - 1];
    if (play.time > last || play.time < first) {
      if (play.way === "once") { go(play.time > last ? t.length - 1 : 0); return pause(); }
      if (play.way === "pingpong") { play.direction *= -1; play.time = play.time > last ? last : first; } else play.time = first + ((play.time - first) % (last - first) + (last - first)) % (last - first);
    }
    go(frameAt(play.time));
    return requestAnimationFrame(tick);
  }
  function go(frame) {
    state.frame = Math.max(0, Math.min(count() - 1, frame));
    emit("frame");
  }
  function pause() { state.playing = false; dress(); }
  function toggle() {
    if (count() < 2) return;
    state.playing = !state.playing;
    const t = state.scene.time, k = Math.round(state.frame);
    play.time = k >= t.length - 1 && play.way !== "pingpong" ? t[0] : t[k];
    play.last = performance.now();
    dress();
    if (state.playing) requestAnimationFrame(tick);
  }
  function step(by) { pause(); go(Math.round(state.frame) + by); }
  function dress() {
    button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    fill(button, glyph(state.playing ? "pause" : "play"));
    home.dataset.playing = state.playing ? "yes" : "no";
  }
  function show() {
    track.value = Math.round(state.frame);
    const t = state.scene?.time;
    clock.textContent = t?.length ? `t = ${short(t[Math.round(state.frame)], 5)} s` : "";
  }
  function built() {
    track.max = Math.max(0, count() - 1);
    track.disabled = button.disabled = count() < 2;
    fill(marks, count() > 2 ? happenings().map((m) => h(`button.mark.${m.kind}`, { title: m.what, "aria-label": m.what, style: `left:${(100 * m.frame) / (count() - 1)}%`, onclick: () => { pause(); go(m.frame); } })) : []);
    show();
  }
  on("document", built);
  on("drawn", built);
  on("frame", show);
  on("pause", pause);
  return { toggle, pause, go, step };
}

// Turning points of joints, poor transmission, and where the motion ends: what the time line marks.
export function happenings() {
  const found = [], driven = new Set(entries("drivers").map(([, d]) => d.joint)), n = state.scene?.count || 0;
  for (const [name] of entries("joints")) {
    const rate = state.series[`joint.${name}.rate`];
    if (driven.has(name) || !rate) continue;
    let size = 0;
    for (const x of rate) size = Math.max(size, Math.abs(x));
    for (let k = 1; k < rate.length && found.length < 60; k += 1) {
      if (size > 0 && rate[k - 1] * rate[k] < 0 && Math.max(Math.abs(rate[k - 1]), Math.abs(rate[k])) > 1e-6 * size) found.push({ frame: k, kind: "turn", what: `joint ${name} turns back (limit of its motion)` });
    }
  }
  for (const [group, told] of Object.entries(state.diagnostics?.groups || {})) {
    if (told.least_conditioning < 0.25 && n) found.push({ frame: nearest(told.at), kind: "poor", what: `group ${group} is nearest to a dead point here (conditioning ${short(told.least_conditioning, 2)})` });
  }
  if (state.problem?.kind === "assembly" && n > 1) found.push({ frame: n - 1, kind: "dead", what: state.problem.message });
  return found;
}
function nearest(time) {
  const t = state.scene.time;
  let best = 0;
  for (let k = 1; k < t.length; k += 1) if (Math.abs(t[k] - time) < Math.abs(t[best] - time)) best = k;
  return best;
}
