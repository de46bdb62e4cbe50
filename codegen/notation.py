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

# One word for one thing, in code, messages and documentation.
WORDS = {
    "group, type": "a structural group of a mechanism; what groups of one topology have in common",
    "plan": "a group with its type, its parameters, and where its known coordinates come from",
    "program, item": "all plans of a mechanism in order; one step of it: a group, a combination of rows, an angle",
    "state, row": "everything that is solved for, with two rates; one coordinate of it",
    "lane": "a place in the last axis of an array: an instant, a design, or both",
    "instant, time": "one moment of a run; its value in seconds",
    "design": "one set of values of the parameters of a file",
    "column": "one further right-hand side with the same factors: a unit rate, or a change of a parameter",
    "branch, assembly mode": "one of the solutions of a group, told by signs; the one that is chosen at the start",
    "change point": "an instant at which branches meet and the motion goes on, by a bridge of instants on both sides",
    "dead point": "an instant at which the driver cannot go on",
    "stop": "the time at which a motion ends early, and why; an outcome is results with that",
    "conditioning": "distance of Φ_φ from singularity, 0 to 1; for an RRR dyad the sine of the transmission angle",
    "orientation": "the sign of det Φ_φ, the same along a branch; of several blocks its size tells their signs",
    "residual wrench": "what is missing of the balance of a body before the forces in its joints are known",
}


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
    words = [f"| {word} | {meaning} |" for word, meaning in WORDS.items()]
    return "\n".join([*lines, "", _SCALARS, "## Words", "", "| word | meaning |", "|---|---|", *words, ""])


if __name__ == "__main__":
    sys.stdout.buffer.write(markdown().encode("utf-8"))
