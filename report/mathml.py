"""LaTeX of our own formulas as MathML, which browsers typeset without help from a network."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

_WORD = re.compile(r"_\{([A-Za-z][A-Za-z0-9]+)\}")  # an index of several letters is a word, not a product
_ROMAN = re.compile(r"\\mathrm\{((?:[^{}\\]|\\[_#$%&{}])*)\}")


def mathml(latex: str) -> str:
    """Return a displayed formula as one <math> element.

    The converter's text output takes escapes back, so that a name could become markup: its tree is written out here.
    """
    from latex2mathml.converter import convert_to_element

    latex = _ROMAN.sub(lambda m: r"\text{" + re.sub(r"\\([_#$%&{}])", r"\1", m[1]) + "}", latex)
    element = convert_to_element(_WORD.sub(r"_{\\text{\1}}", latex), display="block")
    for part in element.iter():
        if part.text:
            part.text = html.unescape(part.text)
    return ElementTree.tostring(element, encoding="unicode")
