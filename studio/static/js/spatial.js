// Spatial mechanisms in three dimensions: the same scene, on three.js, which is loaded only here.
import * as THREE from "../vendor/three.js";
import { state, on, select, keyOf, entries } from "./store.js";
import { traced, legendOf } from "./overlays.js";

const paint = (name) => { const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim(); return new THREE.Color(value || "#888"); };
const THEMED = { "#20242b": "--ink", "#6b7280": "--ground", "#d7dbe1": "--ground-fill" };
const colour = (hex) => (THEMED[hex] ? paint(THEMED[hex]) : new THREE.Color(hex || "#888"));

export function spatialView(home) {
  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  const camera = new THREE.PerspectiveCamera(40, 1, 0.001, 1000), scene = new THREE.Scene();
  camera.up.set(0, 0, 1);
  const controls = new THREE.OrbitControls(camera, renderer.domElement);
  const light = new THREE.DirectionalLight(0xffffff, 2.2);
  light.position.set(2, -3, 4);
  scene.add(new THREE.HemisphereLight(0xffffff, 0x8090a0, 1.6), light);
  let bodies = {}, moving = new THREE.Group(), laid = new THREE.Group(), arrows = [], built = null;
  home.append(renderer.domElement);
  renderer.domElement.id = "spatial";
  controls.addEventListener("change", render);

  // A stroke of the scene as a thin rod between its corners, so that light falls on it.
  function rods(outline, closed, material, radius) {
    const group = new THREE.Group(), up = new THREE.Vector3(0, 1, 0), n = outline.length;
    for (let i = 0; i < (closed ? n : n - 1); i += 1) {
      const a = new THREE.Vector3(...outline[i]), b = new THREE.Vector3(...outline[(i + 1) % n]), d = b.clone().sub(a), length = d.length();
      if (length < 1e-12) continue;
      const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, length, 10), material);
      mesh.position.copy(a).addScaledVector(d, 0.5);
      mesh.quaternion.setFromUnitVectors(up, d.normalize());
      group.add(mesh);
    }
    return group;
  }

  function build() {
    const s = state.scene;
    if (s?.dimension !== 3) return;
    scene.remove(moving);
    moving = new THREE.Group();
    bodies = Object.fromEntries(Object.keys(s.bodies).map((name) => { const g = new THREE.Group(); g.name = name; g.matrixAutoUpdate = false; moving.add(g); return [name, g]; }));
    const span = Math.max(...s.high.map((h, k) => h - s.low[k]));
    for (const shape of s.shapes) {
      const material = new THREE.MeshStandardMaterial({ color: colour(shape.edge), roughness: 0.55, metalness: 0.1 });
      const radius = shape.layer === 0 ? 0.0025 * span : Math.max(0.0022 * span, 0.0026 * span * shape.width);
      bodies[shape.body].add(rods(shape.outline, shape.closed, material, radius));
      if (shape.closed && shape.fill && shape.outline.length > 2) {
        const geometry = new THREE.BufferGeometry(), fan = [];
        for (let i = 1; i < shape.outline.length - 1; i += 1) fan.push(...shape.outline[0], ...shape.outline[i], ...shape.outline[i + 1]);
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(fan), 3));
        geometry.computeVertexNormals();
        bodies[shape.body].add(new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colour(shape.fill), transparent: true, opacity: 0.4, side: THREE.DoubleSide, roughness: 0.8 })));
      }
    }
    for (const dot of s.dots) {
      const ball = new THREE.Mesh(new THREE.SphereGeometry(dot.radius, 18, 12), new THREE.MeshStandardMaterial({ color: colour(dot.edge), roughness: 0.4 }));
      ball.position.set(...dot.place);
      bodies[dot.body].add(ball);
    }
    const step = 10 ** Math.floor(Math.log10(span / 3)), grid = new THREE.GridHelper(Math.ceil((2 * span) / step) * step, Math.ceil((2 * span) / step), paint("--line-strong"), paint("--line"));
    grid.rotation.x = Math.PI / 2;
    grid.position.set((s.low[0] + s.high[0]) / 2, (s.low[1] + s.high[1]) / 2, s.low[2]);
    const axes = new THREE.AxesHelper(0.25 * span);
    moving.add(grid, axes);
    scene.add(moving);
    scene.background = paint("--sheet");
    if (built !== state.data.name) { look(span); built = state.data.name; }
    lay();
  }

  // Curves of points, and arrows of velocity, acceleration and reaction, whose length follows from frame to frame.
  const INKS = { velocity: "--curve-3", acceleration: "--curve-2", reactions: "--bad" };
  const along = (name, letter) => ["x", "y", "z"].map((axis) => state.series[`${name}.${letter}${axis}`]);
  function lay() {
    const s = state.scene;
    if (s?.dimension !== 3) return;
    scene.remove(laid);
    laid = new THREE.Group();
    arrows = [];
    const span = Math.max(...s.high.map((h, k) => h - s.low[k])), curves = state.show.curves ? traced().filter((p) => along(p, "")[0]?.length > 2) : [], legend = [];
    for (const p of curves) {
      const [x, y, z] = along(p, ""), geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from({ length: 3 * x.length }, (_, i) => [x, y, z][i % 3][Math.floor(i / 3)]), 3));
      laid.add(new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: paint("--accent") })));
    }
    const points = [...new Set(entries("bodies").filter(([n]) => n !== "frame").flatMap(([, b]) => b.points || []))].map((p) => [p, p]);
    const joints = entries("joints").filter(([, j]) => j.at).map(([n, j]) => [n, j.at]);
    for (const [kind, letter, owners] of [["velocity", "v", points], ["acceleration", "a", points], ["reactions", "f", joints]]) {
      const found = state.show[kind] ? owners.map(([name, at]) => ({ of: along(name, letter), at: along(at, "") })).filter((a) => a.of[0] && a.at[0]) : [];
      const most = Math.max(0, ...found.map(({ of: [x, y, z] }) => x.reduce((m, v, k) => Math.max(m, Math.hypot(v, y[k], z[k])), 0)));
      if (!(most > 0)) continue;
      legend.push(legendOf(kind, most));
      const material = new THREE.MeshStandardMaterial({ color: paint(INKS[kind]), roughness: 0.6 });
      for (const arrow of found) {
        const node = new THREE.Group(), shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.004 * span, 0.004 * span, 1, 8), material), head = new THREE.Mesh(new THREE.CylinderGeometry(0, 0.011 * span, 0.035 * span, 12), material);
        node.add(shaft, head);
        laid.add(node);
        arrows.push({ ...arrow, node, shaft, head, scale: (0.22 * span) / most, tip: 0.035 * span });
      }
    }
    scene.add(laid);
    Object.assign(renderer.domElement.dataset, { curves: curves.length, arrows: arrows.length });
    document.getElementById("legend").innerHTML = legend.join("");
    update();
  }
  function point(arrow) {
    const k = Math.min(arrow.of[0].length - 1, Math.round(state.frame)), v = new THREE.Vector3(...arrow.of.map((x) => x[k])), long = v.length() * arrow.scale;
    arrow.node.visible = long > 0.25 * arrow.tip;
    if (!arrow.node.visible) return;
    arrow.node.position.set(...arrow.at.map((x) => x[k]));
    arrow.node.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), v.normalize());
    arrow.shaft.scale.y = Math.max(long - arrow.tip, 1e-6);
    arrow.shaft.position.y = arrow.shaft.scale.y / 2;
    arrow.head.position.y = Math.max(long - arrow.tip / 2, arrow.tip / 2);
  }
  function look(span) {
    const s = state.scene, middle = s.low.map((l, k) => (l + s.high[k]) / 2);
    controls.target.set(...middle);
    camera.position.set(middle[0] + 1.1 * span, middle[1] - 1.5 * span, middle[2] + 0.9 * span);
    camera.near = span / 200;
    camera.far = span * 40;
    camera.updateProjectionMatrix();
    controls.update();
  }
  function update() {
    const s = state.scene;
    if (s?.dimension !== 3) return;
    for (const [name, group] of Object.entries(bodies)) {
      const m = s.bodies[name], count = m.length / 12, k = 12 * Math.min(count - 1, Math.round(state.frame));
      group.matrix.set(m[k + 3], m[k + 4], m[k + 5], m[k], m[k + 6], m[k + 7], m[k + 8], m[k + 1], m[k + 9], m[k + 10], m[k + 11], m[k + 2], 0, 0, 0, 1);
      group.matrixWorldNeedsUpdate = true;
    }
    arrows.forEach(point);
    render();
  }
  function render() { renderer.render(scene, camera); renderer.domElement.dataset.frames = Number(renderer.domElement.dataset.frames || 0) + 1; }
  function pick(event) {
    const box = renderer.domElement.getBoundingClientRect(), ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2), camera);
    let found = ray.intersectObjects(Object.values(bodies), true)[0]?.object;
    while (found && !bodies[found.name]) found = found.parent;
    if (found && found.name !== "frame") select(keyOf(found.name), event.shiftKey);
  }
  renderer.domElement.addEventListener("dblclick", pick);
  new ResizeObserver(() => {
    const box = home.getBoundingClientRect();
    renderer.setPixelRatio(devicePixelRatio);
    renderer.setSize(box.width, box.height, false);
    camera.aspect = box.width / Math.max(1, box.height);
    camera.updateProjectionMatrix();
    render();
  }).observe(home);
  on("document", build);
  on("frame", update);
  on("display", lay);
  on("theme", build);
  build();
  return { show: (yes) => renderer.domElement.classList.toggle("hidden", !yes) };
}
