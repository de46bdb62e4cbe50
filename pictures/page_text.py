"""The text of an animation's page: style, canvas, controls and the script that draws. Two marks are filled in."""

PAGE = r"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>@TITLE@</title>
<style>
  :root { color-scheme: light; font: 15px/1.4 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #20242b; }
  body { margin: 0; background: #f1f3f6; display: flex; min-height: 100vh; align-items: center;
         justify-content: center; }
  main { background: #fff; border: 1px solid #dfe3e8; border-radius: 12px; box-shadow: 0 6px 24px #1b27360f;
         width: min(960px, calc(100vw - 32px)); margin: 16px; overflow: hidden; }
  header { display: flex; justify-content: space-between; align-items: baseline; gap: 16px; padding: 14px 20px 10px; }
  h1 { font-size: 18px; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
  #clock { color: #5b6472; font-variant-numeric: tabular-nums; white-space: nowrap; font-size: 14px; }
  canvas { display: block; width: 100%; background: #fff; touch-action: none; }
  footer { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 16px; padding: 12px 20px 14px;
           border-top: 1px solid #e7eaee; background: #fafbfc; }
  button { font: inherit; width: 88px; padding: 5px 0; border: 1px solid #2f6db5; border-radius: 7px;
           background: #2f6db5; color: #fff; cursor: pointer; }
  button:hover { background: #265b99; }
  #slider { flex: 1 1 220px; accent-color: #2f6db5; }
  label { display: inline-flex; align-items: center; gap: 6px; font-size: 14px; color: #3d4552; }
  select { font: inherit; font-size: 14px; padding: 3px 4px; border: 1px solid #cfd5dd; border-radius: 6px;
           background: #fff; }
  :focus-visible { outline: 2px solid #d9782d; outline-offset: 2px; }
</style>
</head>
<body>
<main>
  <header><h1 id="title"></h1><span id="clock"></span></header>
  <canvas id="canvas" role="img"></canvas>
  <footer>
    <button id="play" type="button">Pause</button>
    <input id="slider" type="range" min="0" value="0" step="1" aria-label="time">
    <label>Speed <select id="speed">
      <option value="0.1">0.1</option><option value="0.25">0.25</option><option value="0.5">0.5</option>
      <option value="1" selected>1</option><option value="2">2</option><option value="4">4</option></select></label>
    <label><input id="names" type="checkbox" checked>names</label>
    <label><input id="traces" type="checkbox" checked>paths</label>
    <span id="kinds"></span>
  </footer>
</main>
<script id="data" type="application/json">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const canvas = get("canvas"), pen = canvas.getContext("2d"), flat = data.dimension === 2;
const frames = data.time.length;
let frame = 0, playing = true, width = 0, height = 0, scale = 1, zoom = 1, view = data.view;
get("title").textContent = data.name;
canvas.setAttribute("aria-label", "The mechanism " + data.name + " in motion");
get("slider").max = frames - 1;
const shown = {};
for (const a of data.arrows) {
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox"; box.checked = true; label.style.color = a.colour; label.style.marginRight = "12px";
  shown[a.kind] = box; box.onchange = draw; label.append(box, a.kind); get("kinds").append(label);
}
if (!data.traces.length) get("traces").parentElement.remove();

// ---- from the world to the picture ----
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + (flat ? 0 : a[2] * b[2]);
const project = p => flat ? p : [dot(view[0], p), dot(view[1], p)];
const middle = [0, 1].map(k => (data.low[k] + data.high[k]) / 2);   // of the first view, which need not move
const foot = 30 * data.arrows.length + 28;
function screen(p) {
  const q = project(p);
  return [width / 2 + (q[0] - middle[0]) * scale * zoom, (height - foot) / 2 - (q[1] - middle[1]) * scale * zoom];
}
function resize() {
  const ratio = window.devicePixelRatio || 1, w = data.high[0] - data.low[0], h = data.high[1] - data.low[1];
  width = canvas.clientWidth;
  height = Math.max(240, Math.min(width * h / w, window.innerHeight - 150 - foot)) + foot;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  scale = Math.min(width / w, (height - foot) / h);
  draw();
}
function placed(name, p) {
  const b = data.bodies[name], o = b.origin[frame], r = b.axes[frame];
  if (flat) return [o[0] + r[0] * p[0] - r[1] * p[1], o[1] + r[1] * p[0] + r[0] * p[1]];
  return [0, 1, 2].map(i => o[i] + r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2]);
}
const depth = points => points.reduce((sum, p) => sum + dot(view[2], p), 0) / points.length;

// ---- drawing ----
function line(points, closed) {
  pen.beginPath();
  points.forEach((p, k) => k ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1]));
  if (closed) pen.closePath();
}
function drawShape(shape, points) {
  line(points.map(screen), shape.closed);
  if (shape.closed && shape.fill) {
    pen.globalAlpha = shape.opacity; pen.fillStyle = shape.fill; pen.fill(); pen.globalAlpha = 1;
  }
  if (!shape.width) return;
  pen.strokeStyle = shape.edge; pen.lineWidth = 1.35 * shape.width; pen.setLineDash(shape.dashed ? [9, 3, 2, 3] : []);
  pen.stroke(); pen.setLineDash([]);
}
function drawArrow(from, to, colour) {
  const dx = to[0] - from[0], dy = to[1] - from[1], l = Math.hypot(dx, dy);
  const h = 11;  // the head; a shorter arrow is left out
  if (l < h) return;
  const u = dx / l, v = dy / l, x = to[0] - h * u, y = to[1] - h * v;
  pen.strokeStyle = pen.fillStyle = colour; pen.lineWidth = 2.6;
  line([from, [x, y]], false); pen.stroke();
  line([to, [x - 0.42 * h * v, y + 0.42 * h * u], [x + 0.42 * h * v, y - 0.42 * h * u]], true); pen.fill();
}
function drawName(text, x, y, colour) {
  pen.lineWidth = 4; pen.strokeStyle = "#fff"; pen.strokeText(text, x, y);
  pen.fillStyle = colour; pen.fillText(text, x, y);
}
function drawScale() {   // a round length at the foot on the right; in space of what lies in the plane of the picture
  const most = 0.2 * width / (scale * zoom), power = Math.pow(10, Math.floor(Math.log10(most)));
  const length = power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1), long = length * scale * zoom;
  const x = width - 22, y = height - 10;
  pen.strokeStyle = "#6b7280"; pen.lineWidth = 1.3;
  line([[x - long, y - 4], [x - long, y + 4], [x - long, y], [x, y], [x, y - 4], [x, y + 4]], false); pen.stroke();
  pen.font = "12px system-ui, Helvetica, Arial, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "bottom";
  pen.fillStyle = "#6b7280";
  pen.fillText(length >= 0.01 ? Number(length.toPrecision(3)) + " m" : Number((1000 * length).toPrecision(3)) + " mm",
               x - long / 2, y - 5);
}
function draw() {
  pen.clearRect(0, 0, width, height);
  pen.lineJoin = pen.lineCap = "round";
  if (get("traces")?.checked) for (const t of data.traces) {
    line(t.places.map(screen), false);
    pen.globalAlpha = 0.75; pen.strokeStyle = t.colour; pen.lineWidth = 1.8; pen.stroke(); pen.globalAlpha = 1;
  }
  pen.strokeStyle = "#6b7280"; pen.lineWidth = 2; pen.setLineDash([3, 3]);
  for (const t of data.ties) { line(t[frame].map(screen), false); pen.stroke(); }
  pen.setLineDash([]);
  const shapes = data.shapes.map(s => ({s, points: s.outline.map(p => placed(s.body, p))}));
  if (!flat) shapes.sort((a, b) => (a.s.layer ? depth(a.points) : -1e9) - (b.s.layer ? depth(b.points) : -1e9));
  for (const {s, points} of shapes) drawShape(s, points);
  for (const d of data.dots) {
    const [x, y] = screen(placed(d.body, d.place));
    pen.beginPath(); pen.arc(x, y, Math.max(1.5, d.radius * scale * zoom), 0, 7); pen.fillStyle = d.fill; pen.fill();
    pen.strokeStyle = d.edge; pen.lineWidth = 1.7; pen.stroke();
  }
  data.arrows.forEach((a, k) => {
    if (!shown[a.kind].checked) return;
    a.places[frame].forEach((p, j) => {
      drawArrow(screen(p), screen(p.map((x, i) => x + a.vectors[frame][j][i])), a.colour);
    });
    const y = height - foot + 12 + 30 * k, long = a.length * scale * zoom;
    drawArrow([22, y], [22 + long, y], a.colour);
    pen.font = "13px system-ui, Helvetica, Arial, sans-serif"; pen.textAlign = "left"; pen.textBaseline = "middle";
    drawName(a.legend, 34 + long, y, a.colour);
  });
  pen.font = "14px system-ui, Helvetica, Arial, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
  if (get("names").checked) for (const n of data.names) {
    const [x, y] = screen(placed(n.body, n.place));
    drawName(n.text, x + n.beside[0], y - n.beside[1], "#20242b");
  }
  drawScale();
  get("clock").textContent = "t = " + data.time[frame].toPrecision(4) + " s  (" + data.pace + ")";
}

// ---- control ----
let last = null, run = 0;
function tick(now) {
  if (last !== null && playing) {
    run = (run + (now - last) / 1000 * get("speed").value / data.seconds * frames) % frames;
    const next = Math.floor(run);
    if (next !== frame) { frame = next; get("slider").value = frame; draw(); }
  }
  last = now;
  requestAnimationFrame(tick);
}
function play(on) { playing = on; get("play").textContent = on ? "Pause" : "Play"; }
get("play").onclick = () => play(!playing);
get("slider").oninput = () => { play(false); frame = run = Number(get("slider").value); draw(); };
get("names").onchange = draw;
if (get("traces")) get("traces").onchange = draw;
document.addEventListener("keydown", event => {
  if (event.key === " " && event.target === document.body) { event.preventDefault(); play(!playing); }
});
if (!flat) {   // drag to turn the view, wheel to come nearer
  let held = null, turn = -Math.PI / 4, lift = Math.atan(Math.SQRT1_2);
  canvas.style.cursor = "grab";
  canvas.onpointerdown = event => { held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); };
  canvas.onpointerup = () => { held = null; };
  canvas.onwheel = event => { event.preventDefault(); zoom *= Math.exp(-0.001 * event.deltaY); draw(); };
  canvas.onpointermove = event => {
    if (!held) return;
    turn -= (event.clientX - held[0]) * 0.008; lift += (event.clientY - held[1]) * 0.008;
    lift = Math.max(-1.57, Math.min(1.57, lift)); held = [event.clientX, event.clientY];
    const c = Math.cos(turn), s = Math.sin(turn), d = Math.cos(lift), e = Math.sin(lift);
    view = [[-s, c, 0], [-c * e, -s * e, d], [c * d, s * d, e]];
    draw();
  };
}
if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) play(false);
window.addEventListener("resize", resize);
resize();
requestAnimationFrame(tick);
</script>
</body>
</html>
"""
