"""The moving mechanism outside of the studio: one ES module of the page's own modules, for notebooks and lone pages."""

from __future__ import annotations

import base64
import re
import tempfile
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..mechanism.model import Model
from ..mechanism.plans.planning import study
from ..motion.results import Results
from .mechanism_text import Read
from .sheet import Shown, message

# In an order in which each needs only those before it.
MODULES = ("dom", "link", "store", "view", "overlays", "drawing", "player", "viewer")
HEIGHT = 420
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


@cache
def module() -> str:
    """Return one module with the function `mount`; every call of it has a state of its own."""
    static = files("assurgent.studio") / "static" / "js"
    parts = []
    for name in MODULES:
        text = (static / f"{name}.js").read_text("utf-8")
        offered = _EXPORT.findall(text)
        text = _EXPORT.sub("", _IMPORT.sub(lambda m: f"const {{{_renamed(m[1])}}} = {m[2]}_;", text))
        if re.search(r"^(import|export) ", text, re.MULTILINE):
            raise AssertionError(f"{name}.js: an import or export that the viewer cannot take over")
        parts.append(f"const {name}_ = (() => {{\n{text}\nreturn {{ {', '.join(offered)} }};\n}})();")
    return "function mount(...given) {\n" + "\n".join(parts) + "\nreturn viewer_.mount(...given);\n}\n"


def _renamed(names: str) -> str:
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)


@cache
def style() -> str:
    """Return the style: the light colours of the theme, the drawing, and the viewer's own."""
    css = files("assurgent.studio") / "static" / "css"
    theme = (css / "theme.css").read_text("utf-8")
    found = re.search(r":root \{.*?\}", theme, re.DOTALL)
    assert found is not None
    colours = found[0].replace(":root", ".assurgent-viewer", 1)
    return "\n".join([colours, *((css / f"{name}.css").read_text("utf-8") for name in ("drawing", "viewer"))])


def data_of(model: Model, results: Results, data: dict[str, Any]) -> bytes:
    """Return what the viewer draws: the same message that the studio's page gets."""
    return message(Shown(Read("", data, model, study(model)), results), None)


def page(model: Model, results: Results, data: dict[str, Any]) -> str:
    """Return a page that stands alone: nothing is loaded from anywhere. Spatial mechanisms in isometric view."""
    if model.space == "spatial":
        from ..pictures.animate import animate

        with tempfile.TemporaryDirectory() as folder:
            return animate(model, results, Path(folder) / "page.html").read_text("utf-8")
    packed = base64.b64encode(data_of(model, results, data)).decode("ascii")
    script = module().replace("</", "<\\/")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(model.name)}</title>\n'
        f"<style>html, body {{ margin: 0; height: 100%; }} #toasts {{ display: none; }}\n{style()}</style></head>\n"
        f'<body><div id="viewer"></div><div id="toasts"></div>\n<script type="module">\n{script}\n'
        f'const bytes = Uint8Array.from(atob("{packed}"), (c) => c.charCodeAt(0));\n'
        'const { playing } = mount(document.getElementById("viewer"), bytes, innerHeight - 2);\n'
        "playing.toggle();\n</script></body></html>\n"
    )


def widget(model: Model, results: Results, data: dict[str, Any], height: int = HEIGHT) -> Any:
    """Return a widget for notebooks; its trait `time` is the instant that is shown."""
    from .widget import MechanismWidget

    if model.space == "spatial":
        return MechanismWidget(page=page(model, results, data), height=height)
    return MechanismWidget(data=data_of(model, results, data), height=height)
