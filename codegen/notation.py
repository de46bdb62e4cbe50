"""The one table of symbols: how paper and code write a quantity, its shape, meaning and equation.

`python -m assurgent.codegen.notation > docs/notation.md` writes the page of the documentation.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

PAPER = (
    "M. Saura, P. Segado, D. Dopico, *Computational kinematics of multibody systems: two formulations "
    "for a modular approach based on natural coordinates*"
)


@dataclass(frozen=True)
class Symbol:
    """One quantity; `equation` is the number in the paper, empty where the paper has no such quantity."""

    paper: str
    python: str
    shape: str
    meaning: str
    equation: str = ""


@dataclass(frozen=True)
class NotationPart:
    """Symbols that belong together, under one heading."""

    title: str
    symbols: tuple[Symbol, ...]


NOTATION: tuple[NotationPart, ...] = (
    NotationPart(
        "Sizes",
        (
            Symbol("p", "n_constraints", "-", "number of scalar constraint equations", "Section 3.3"),
            Symbol(
                "r",
                "n_dependent",
                "-",
                "number of dependent coordinates; p = r, or p > r (least squares)",
                "Section 3.3",
            ),
            Symbol("s", "n_independent", "-", "number of independent coordinates", "Section 3.3"),
        ),
    ),
    NotationPart(
        "Coordinates",
        (
            Symbol("φ", "phi", "r", "dependent coordinates: what the group must find", "17"),
            Symbol(
                "h",
                "h",
                "s",
                "independent coordinates: what the frame, earlier groups and drivers give",
                "17",
            ),
            Symbol("t", "t", "-", "time, where it stands in the constraints explicitly", "17"),
            Symbol(
                "L_AC, L_BC, ...",
                "par",
                "number of parameters",
                "parameters of the group (lengths, offsets, ...)",
                "18",
            ),
            Symbol(
                "φ̇, φ̈, φ⃛",
                "phidot, phiddot, phidddot",
                "r",
                "velocity, acceleration and jerk of φ",
                "22, 30, -",
            ),
            Symbol(
                "ḣ, ḧ, h⃛",
                "hdot, hddot, hdddot",
                "s",
                "velocity, acceleration and jerk of h; known",
                "22, 30, -",
            ),
        ),
    ),
    NotationPart(
        "Constraints",
        (
            Symbol("Φ", "Phi", "p", "constraint vector, Φ(φ, h, t) = 0", "17"),
            Symbol("Φ_φ", "Phi_phi", "p x r", "Jacobian with respect to φ", "19b"),
            Symbol("Φ_h", "Phi_h", "p x s", "Jacobian with respect to h", "24a"),
            Symbol(
                "Φ_t",
                "Phi_t",
                "p",
                "partial derivative with respect to time; zero unless the group is rheonomic",
                "24b",
            ),
            Symbol("χ", "chi", "-", "det Φ_φ without the number that all entries of the adjugate share", "20b"),
        ),
    ),
    NotationPart(
        "Positions",
        (
            Symbol(
                "σ",
                "branch",
                "number of branches",
                "signs (+1 or -1) that choose the assembly mode of a closed form",
            ),
            Symbol(
                "-",
                "gap",
                "-",
                "margin of assembly of a closed form: negative where the group cannot be closed",
            ),
        ),
    ),
    NotationPart(
        "Velocities",
        (
            Symbol(
                "K_φh",
                "K",
                "r x s",
                "velocity coefficients: Φ_φ K = -Φ_h, φ̇ = K ḣ + S b",
                "25a, 26; 28a if p > r",
            ),
            Symbol(
                "S b",
                "Sb",
                "r",
                "velocity from explicit time alone: Φ_φ (S b) = -Φ_t",
                "25b, 25c; 28 if p > r",
            ),
        ),
    ),
    NotationPart(
        "Accelerations",
        (
            Symbol("Φ̇_q q̇ + Φ̇_t", "gamma", "p", "velocity terms of Φ̈ (time-derivative approach, TD)", "30, 31"),
            Symbol(
                "L_φh/hᵢ",
                "L[i]",
                "s x r x s",
                "derivatives of the velocity coefficients, dK/dhᵢ (third-order tensor approach, 3OT)",
                "35, 39; 43 if p > r",
            ),
            Symbol(
                "-",
                "K_t",
                "r x s",
                "derivative of K along φ̇ = S b and time, at fixed h: the term K_t ḣ that Eq. 33 and 36 lack",
            ),
            Symbol(
                "d(S b)/dt",
                "Sb_dot",
                "r",
                "derivative of S b along the motion (sign of ḃ in Eq. 42a corrected)",
                "34; 42 if p > r",
            ),
            Symbol(
                "∂²Φ(u, v)",
                "curvature",
                "p",
                "second derivative of Φ along two directions u, v of (φ, h, t): L, K_t and Sb_dot come from it",
                "38, 39",
            ),
        ),
    ),
    NotationPart(
        "Changes (sensitivities)",
        (
            Symbol("δh, δḣ, δḧ", "dh, dhdot, dhddot", "s", "change of what is known"),
            Symbol("δp", "dpar", "number of parameters", "change of the parameters"),
            Symbol(
                "δφ, δφ̇, δφ̈",
                "dphi, dphidot, dphiddot",
                "r",
                "the change of the motion that follows, to first order and exactly",
            ),
        ),
    ),
)

# Equations of the paper for a quantity in general: where p = r, and where p > r.
_GENERAL: dict[str, tuple[str, str]] = {
    "Phi": ("17", "17"),
    "Phi_phi": ("19a", "21"),
    "A": ("28", "28"),
    "inverse": ("25b", "28b"),
    "Phi_h": ("22b", "23"),
    "Phi_t": ("22b", "23"),
    "K": ("25a", "28a"),
    "Sb": ("25b, 25c", "28b, 28c"),
    "gamma": ("30a", "32"),
    "moved": ("38", "38"),
    "L": ("39", "43"),
    "L40": ("39", "43"),
    "K_t": ("missing in 33 and 36", "missing in 33 and 36"),
    "Sb_dot": ("34a", "42a, corrected"),
}
# The paper's own equations of its own types.
_PRINTED: dict[str, dict[str, str]] = {
    "RRR": {
        "Phi": "18, 48b",
        "Phi_phi": "19b",
        "inverse": "20a",
        "chi": "20b",
        "Phi_h": "24a",
        "K": "27",
        "gamma": "31",
        "L40": "40, corrected",
    },
    "1R": {"Phi": "48a", "Phi_phi": "49a", "Phi_h": "49b"},
    "1R3D": {"Phi": "50a, corrected", "Phi_phi": "51a", "Phi_h": "51b"},
    "2E1P": {"Phi": "50b, corrected", "Phi_phi": "51c", "Phi_h": "51d"},
}


def equation_number(name: str, square: bool, quantity: str) -> str:
    """Return " (Eq. 19b)": the number of a quantity of the type of that name, its own or the general one."""
    number = _PRINTED.get(name, {}).get(quantity) or _GENERAL.get(quantity, ("", ""))[not square]
    if not number:
        return ""
    return f" (Eq. {number})" if number[0].isdigit() else f" ({number})"


_SCALARS = """\
## Names of scalars

A point `C` has the components `x_C, y_C` (and `z_C` in space), a vector `V` has `V_x, V_y` (and `V_z`),
a number keeps its name. Rates append `_dot`, `_ddot`, `_dddot`: `x_C_dot`. Arrays over time are
`[coordinate, step]`.
Lengths are in any one unit, angles in radians, time in seconds.
"""


def markdown() -> str:
    """Return the page docs/notation.md."""
    lines = [
        "# Notation",
        "",
        "<!-- Written by `python -m assurgent.codegen.notation > docs/notation.md`. Do not edit. -->",
        "",
        f"Equation numbers are those of {PAPER}; `-` marks what the paper does not have.",
        "Vectors are one-dimensional arrays.",
    ]
    for part in NOTATION:
        lines += ["", f"## {part.title}", ""]
        lines += ["| paper | code | shape | meaning | equation |", "|---|---|---|---|---|"]
        for s in part.symbols:
            code = ", ".join(f"`{name}`" for name in s.python.split(", "))
            lines.append(f"| {s.paper} | {code} | {s.shape} | {s.meaning} | {s.equation or '-'} |")
    return "\n".join([*lines, "", _SCALARS])


if __name__ == "__main__":
    sys.stdout.buffer.write(markdown().encode("utf-8"))
