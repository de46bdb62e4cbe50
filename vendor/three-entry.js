// What the spatial view uses of three.js, and nothing else.
export {
  AmbientLight, AxesHelper, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DirectionalLight, DoubleSide,
  GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, LineLoop, LineSegments, Matrix4, Mesh,
  MeshStandardMaterial, PerspectiveCamera, Quaternion, Raycaster, Scene, SphereGeometry, Vector2, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
