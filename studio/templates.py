"""What a new sheet can begin with: the project's examples, and an empty sheet."""

from __future__ import annotations

from importlib.resources import files

from ..common.errors import InputError, nearest

EMPTY = """format = 1
name   = "untitled"
space  = "planar"

[points]

[bodies.frame]
points = []

[joints]

[drivers]

[simulation]
start = 0
stop  = 2
step  = 0.01
"""
# title -> file of the examples, in the order of the menu
TEMPLATES = {
    "Empty sheet": None,
    "Four-bar": "four-bar",
    "Slider-crank": "slider-crank",
    "Quick return": "quick-return",
    "Watt six-bar": "watt-six-bar",
    "Stephenson six-bar": "stephenson-six-bar",
    "Jansen leg": "jansen-leg",
    "Klann leg": "klann-leg",
    "Five-bar": "five-bar",
    "Excavator": "excavator",
    "Scissor lift": "scissor-lift",
    "Planetary gear": "planetary-gear",
    "Rack and pinion": "rack-and-pinion",
    "Stewart platform": "stewart-platform",
}


def template(title: object) -> str:
    """Return the text of a template."""
    if title not in TEMPLATES:
        raise InputError(f"there is no template {str(title)[:60]!r}{nearest(title, TEMPLATES)}")
    stem = TEMPLATES[str(title)]
    return EMPTY if stem is None else (files("assurgent.examples") / f"{stem}.toml").read_text("utf-8")
