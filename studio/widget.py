"""The moving mechanism in a notebook, by anywidget."""

from __future__ import annotations

import anywidget
import traitlets

from .viewer import module, style

_RENDER = """
export default {
  render({ model, el }) {
    if (model.get("page")) { // spatial: a page of its own, in a frame
      const frame = document.createElement("iframe");
      Object.assign(frame, { srcdoc: model.get("page"), title: "mechanism" });
      frame.setAttribute("sandbox", "allow-scripts");
      frame.style.cssText = `width:100%;border:0;height:${model.get("height")}px`;
      el.append(frame);
      return undefined;
    }
    const box = document.createElement("div");
    el.append(box);
    const bytes = () => { const d = model.get("data"); return new Uint8Array(d.buffer, d.byteOffset, d.byteLength); };
    let told = 0;
    const view = mount(box, bytes(), model.get("height"), (time) => {
      const now = performance.now();
      if (now - told > 200) { told = now; model.set("time", time); model.save_changes(); }
    });
    model.on("change:data", () => view.show(bytes()));
    return () => view.playing.pause();
  },
};
"""


class MechanismWidget(anywidget.AnyWidget):
    """A mechanism that can be played and looked at closely; `time` is the instant that is shown."""

    _esm = module() + _RENDER
    _css = style()
    data = traitlets.Bytes(b"").tag(sync=True)
    page = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(420).tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
