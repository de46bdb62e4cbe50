"""Words of users in a LaTeX document: characters that mean something there, and letters that its fonts lack."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    **{c: rf"\{c}" for c in "_#$%&{}"},
}  # fmt: skip
_GREEK = {
    "Φ": r"\Phi", "φ": r"\varphi", "χ": r"\chi", "σ": r"\sigma", "τ": r"\tau", "α": r"\alpha", "β": r"\beta",
    "γ": r"\gamma", "δ": r"\delta", "θ": r"\theta", "λ": r"\lambda", "μ": r"\mu", "ω": r"\omega", "π": r"\pi",
    "ψ": r"\psi", "ρ": r"\rho", "ε": r"\varepsilon", "η": r"\eta", "Σ": r"\Sigma", "Ω": r"\Omega", "Δ": r"\Delta",
}  # fmt: skip
_OTHER = {
    "φ̇": r"\dot{\varphi}", "ḣ": r"\dot{h}", "ḃ": r"\dot{b}", "⁻¹": "^{-1}", "ᵀ": "^{T}", "²": "^{2}", "∂": r"\partial ",
    "·": r"\cdot ", "→": r"\to ", "≠": r"\neq ", "≤": r"\leq ", "≥": r"\geq ", "−": "-", "°": r"^{\circ}", "±": r"\pm ",
}  # fmt: skip
_ACCENTS = {chr(n) for n in (0x300, 0x301, 0x302, 0x303, 0x308, 0x30A, 0x30C, 0x327)}
_KNOWN = {**_GREEK, **_OTHER}
_PATTERN = re.compile("|".join(sorted(map(re.escape, _KNOWN), key=len, reverse=True)))


def escaped(text: object) -> str:
    """Return words as they stand: nothing in them is a command."""
    return "".join(_SPECIAL.get(c, c) for c in str(text))


def safe(document: str) -> str:
    """Return a document whose letters every LaTeX engine sets: Greek as mathematics, unknown ones by their number."""
    document = _PATTERN.sub(lambda m: rf"\ensuremath{{{_KNOWN[m[0]]}}}", document)
    return "".join(c if _known(c) else f"[U+{ord(c):04X}]" for c in document)


def _known(c: str) -> bool:
    """Whether LaTeX's oldest fonts have a character: ASCII, or a letter with an accent."""
    if c.isascii() or c in "ßøØæÆœŒ§–—“”’…":
        return True
    parts = unicodedata.normalize("NFD", c)
    return len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS
