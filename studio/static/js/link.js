// The conversation with the server: one WebSocket, requests with numbers, answers as header and floats.
import { toast } from "./dom.js";

const waiting = new Map();
const listeners = [];
let socket = null, number = 0, opened = null;

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const begin = 4 + length + ((8 - ((4 + length) % 8)) % 8);
  header.floats = new Float64Array(buffer, begin, Math.floor((buffer.byteLength - begin) / 8));
  return header;
}

// The floats that a reference of the header speaks of.
export const floats = (header, reference) => {
  const [start, rows, columns] = reference.f;
  return header.floats.subarray(start, start + rows * columns);
};

export function connect() {
  const token = new URLSearchParams(location.search).get("token") || "";
  opened = new Promise((resolve) => {
    socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => resolve();
    socket.onmessage = (event) => heard(unpack(event.data));
    socket.onclose = (event) => {
      for (const { reject } of waiting.values()) reject(new Error("the connection to the studio was lost"));
      waiting.clear();
      document.documentElement.dataset.offline = "yes";
      if (event.code === 1001) toast("The studio has ended. Start it again with: assurgent studio", true);
      else setTimeout(connect, 1000);
    };
  });
  opened.then(() => delete document.documentElement.dataset.offline);
  return opened;
}

function heard(header) {
  if (header.event) return listeners.forEach((listener) => listener(header));
  const asked = waiting.get(header.id);
  if (!asked) return undefined;
  if (header.error) { waiting.delete(header.id); return asked.reject(new Error(header.error)); }
  if (header.final === false) return asked.early?.(header);
  waiting.delete(header.id);
  return asked.resolve(header);
}

export const onevent = (listener) => listeners.push(listener);

export async function ask(what, fields = {}, early = null) {
  await opened;
  const id = ++number;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, early });
    socket.send(JSON.stringify({ id, do: what, ...fields }));
  });
}
