// Spatial mechanisms in three dimensions: the same scene, on three.js, which is loaded only here.
import * as THREE from "../vendor/three.js";
import { state, on, select, keyOf } from "./store.js";

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
  let bodies = {}, moving = new THREE.Group(), built = null;
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
    update();
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
  on("theme", build);
  build();
  return { show: (yes) => renderer.domElement.classList.toggle("hidden", !yes) };
}
