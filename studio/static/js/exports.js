// Downloads: CSV, JSON and GIF from the server, SVG and PNG from the drawing, the file itself.
import { download, toast } from "./dom.js";
import { ask } from "./link.js";
import { state } from "./store.js";
import { traced } from "./overlays.js";

const stem = () => (state.data.name || "mechanism").replace(/[^A-Za-z0-9_-]+/g, "-");

// The drawing as a document of its own: computed colours instead of the page's style sheet.
export function svgText() {
  const svg = document.querySelector("#sheet > svg"), copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "stroke-opacity", "vector-effect", "font", "paint-order", "visibility", "display"];
  from.forEach((node, i) => { const style = getComputedStyle(node); to[i].setAttribute("style", kept.map((k) => `${k}:${style.getPropertyValue(k)}`).join(";")); to[i].removeAttribute("class"); });
  for (const node of copy.querySelectorAll("circle.hit")) node.remove();
  const box = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  return new XMLSerializer().serializeToString(copy);
}

async function png() {
  const canvas3 = document.querySelector("#sheet > canvas");
  if (canvas3) return canvas3.toBlob((blob) => download(`${stem()}.png`, blob));
  const image = new Image(), box = document.querySelector("#sheet > svg").getBoundingClientRect(), scale = 2;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText())}`;
  await image.decode();
  const canvas = new OffscreenCanvas(box.width * scale, box.height * scale), pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--sheet");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return download(`${stem()}.png`, await canvas.convertToBlob());
}

async function fromServer(form) {
  toast(form === "gif" ? "The film is being drawn…" : "Writing…");
  try {
    const answer = await ask("export", { text: state.text, kind: state.kind, form, trace: traced() });
    const bytes = new Uint8Array(answer.floats.buffer, answer.floats.byteOffset, answer.size);
    download(answer.file, new Blob([bytes]));
  } catch (error) { toast(error.message, true); }
}

export function downloads() {
  const still = !(state.scene?.count > 1), spatial = state.scene?.dimension === 3;
  return [
    { label: "Mechanism file (.toml)", act: () => download(state.name || `${stem()}.toml`, state.text, "application/toml") },
    { title: "Results" },
    { label: "Table (.csv)", disabled: still, act: () => fromServer("csv") }, { label: "Everything (.json)", disabled: still, act: () => fromServer("json") },
    { title: "Pictures" },
    { label: "Drawing (.svg)", disabled: spatial, act: () => download(`${stem()}.svg`, svgText(), "image/svg+xml") }, { label: "Drawing (.png)", act: png },
    { label: "Film (.gif)", disabled: still, act: () => fromServer("gif") }, { label: "Moving page (.html)", disabled: still, act: () => fromServer("html") },
  ];
}
