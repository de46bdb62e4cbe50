"""The matrices of both semi-recursive methods in symbols, as on a blackboard: tree, C_q and H beside V, T and R_d.

For planar mechanisms. Symbols: body i has the reference point (x_i, y_i) and the angle theta_i, joint J the point
(X_J, Y_J) or the direction (hx_J, hy_J). Equation numbers: Yu, Mikkola, Pan, Escalona (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import sympy as sp

from ..codegen.show import ShownFormula, plain, written
from ..common.errors import InputError
from ..mechanism.model import FRAME, Model
from .initial_state import begin
from .spanning_tree import Branch, SpanningTree, spanning_tree
from .tree_head import SLIDE, SLIDE_OWN

MOST_OF_H = 3  # bodies up to which H is solved for in symbols


class Blackboard:
    """A planar spanning tree in symbols."""

    def __init__(self, tree: SpanningTree) -> None:
        self.tree = tree
        self.bodies = [b.body for b in tree.branches]
        self.columns = [(b, m) for b in tree.branches for m in b.motions]
        self.z = [sp.Symbol(f"z_{k + 1}") for k in range(len(self.columns))]

    def _at(self, body: str) -> tuple[sp.Expr, sp.Expr]:
        if body == FRAME:
            return sp.Integer(0), sp.Integer(0)
        return sp.Symbol(f"x_{body}"), sp.Symbol(f"y_{body}")

    def _joint(self, branch: Branch) -> tuple[sp.Expr, sp.Expr]:
        name = branch.joint.name if branch.joint else branch.body
        return sp.Symbol(f"X_{name}"), sp.Symbol(f"Y_{name}")

    def _along(self, branch: Branch) -> tuple[sp.Expr, sp.Expr]:
        name = branch.joint.name if branch.joint else branch.body
        return sp.Symbol(f"hx_{name}"), sp.Symbol(f"hy_{name}")

    def on_path(self, body: str, branch: Branch) -> bool:
        return branch in self.tree.path(body)

    def V(self) -> sp.Matrix:
        """Return V, element by element (Eq. 18, 20, 38, B.3)."""
        found = sp.zeros(3 * len(self.bodies), len(self.z))
        for i, body in enumerate(self.bodies):
            x, y = self._at(body)
            for j, (branch, motion) in enumerate(self.columns):
                if not self.on_path(body, branch):
                    continue
                if motion.kind in (SLIDE, SLIDE_OWN):
                    column = [*self._along(branch), 0]
                else:
                    X, Y = self._joint(branch)
                    column = [-(y - Y), x - X, 1]
                found[3 * i : 3 * i + 3, j] = sp.Matrix(column)
        return found

    def T(self) -> sp.Matrix:
        """Return the path matrix; its ones are identities of three rows (Eq. 39)."""
        return sp.Matrix([[int(self.on_path(body, branch)) for branch, _ in self.columns] for body in self.bodies])

    def R_d(self) -> sp.Matrix:
        """Return the columns b_j at the global origin, block by block (Eq. 31, 34, 36)."""
        found = sp.zeros(3 * len(self.z), len(self.z))
        for j, (branch, motion) in enumerate(self.columns):
            X, Y = self._joint(branch)
            slide = motion.kind in (SLIDE, SLIDE_OWN)
            found[3 * j : 3 * j + 3, j] = sp.Matrix([*self._along(branch), 0] if slide else [Y, -X, 1])
        return found

    def D(self) -> sp.Matrix:
        """Return D, which leads from the origin to the reference points (Eq. 28)."""
        blocks = [sp.Matrix([[1, 0, -y], [0, 1, x], [0, 0, 1]]) for x, y in map(self._at, self.bodies)]
        return sp.diag(*blocks)

    def C_q(self) -> tuple[sp.Matrix, list[str]]:
        """Return the Jacobian of the joints of the tree (Eq. 5), and what each row holds."""
        rows, names = [], []
        for branch in self.tree.branches:
            if branch.joint is None:
                continue
            X, Y = self._joint(branch)
            kinds = [m.kind for m in branch.motions]
            h = self._along(branch)
            if not any(k in (SLIDE, SLIDE_OWN) for k in kinds):
                parts = [((1, 0), f"{branch.joint.name}: x"), ((0, 1), f"{branch.joint.name}: y")]
            else:
                parts = [((-h[1], h[0]), f"{branch.joint.name}: across")]
            for n, name in parts:
                rows.append(self._force_row(branch, n, X, Y))
                names.append(name)
            if kinds == [SLIDE]:
                row = sp.zeros(1, 3 * len(self.bodies))
                for body, sign in ((branch.body, 1), (branch.parent, -1)):
                    if body != FRAME:
                        row[0, 3 * self.bodies.index(body) + 2] = sign
                rows.append(row)
                names.append(f"{branch.joint.name}: theta")
        return sp.Matrix.vstack(*rows), names

    def _force_row(self, branch: Branch, n: tuple[sp.Expr, sp.Expr], X: sp.Expr, Y: sp.Expr) -> sp.Matrix:
        """n · (velocity of the joint's point on the body less that on its parent)."""
        row = sp.zeros(1, 3 * len(self.bodies))
        for body, sign in ((branch.body, 1), (branch.parent, -1)):
            if body == FRAME:
                continue
            x, y = self._at(body)
            at = 3 * self.bodies.index(body)
            row[0, at], row[0, at + 1] = sign * n[0], sign * n[1]
            row[0, at + 2] = sp.expand(sign * (n[1] * (X - x) - n[0] * (Y - y)))
        return row

    def coordinates(self) -> list[sp.Symbol]:
        return [sp.Symbol(f"{letter}_{b}") for b in self.bodies for letter in ("x", "y", "theta")]

    def H(self, C: sp.Matrix) -> tuple[sp.Matrix, list[int]] | None:
        """Return H of Eq. 8 with independent coordinates for which C_qd is regular, the last possible ones."""
        n, f = C.cols, C.cols - C.rows
        if len(self.bodies) > MOST_OF_H:
            return None
        for chosen in combinations(range(n), f):
            rest = [k for k in range(n) if k not in chosen]
            inner = C.extract(list(range(C.rows)), rest)
            if sp.simplify(inner.det()) != 0:
                solved = sp.simplify(-inner.LUsolve(C.extract(list(range(C.rows)), list(chosen))))
                found = sp.zeros(n, f)
                for row, k in enumerate(rest):
                    found[k, :] = solved[row, :]
                for column, k in enumerate(chosen):
                    found[k, column] = 1
                return found, list(chosen)
        return None


def singular_pairs(board: Blackboard, C: sp.Matrix, names: Sequence[str]) -> list[str]:
    """Say which angles cannot be independent together: rows of C_q with no other entries than theirs."""
    found, q = [], board.coordinates()
    for r, name in enumerate(names):
        columns = [k for k in range(C.cols) if C[r, k] != 0]
        if len(columns) == 2 and all(q[k].name.startswith("theta_") for k in columns):
            one, two = (q[k].name for k in columns)
            found.append(
                f"{one} and {two} cannot be independent together: the row '{name}' of C_q has entries in their two "
                "columns only, so that this row of C_qd would be zero and C_qd singular."
            )
    return found


def shown(model: Model, style: str) -> str:
    """Return tree, paths, C_q, H, V and T R_d of a planar mechanism as text or LaTeX."""
    if model.dimension != 2:
        raise InputError(
            f"{model.origin or model.name}: symbols of the semi-recursive methods are written for planar mechanisms; "
            "of spatial ones see docs/formulations.md"
        )
    tree = spanning_tree(model, begin(model).posture)
    board = Blackboard(tree)
    C, names = board.C_q()
    V, T, R_d = board.V(), board.T(), board.R_d()
    lines = [f"spanning tree of {model.name}; cut: {', '.join(tree.cut) or 'none'}"]
    for z, (branch, motion) in zip(board.z, board.columns, strict=True):
        joint = f"{branch.joint.kind} {branch.joint.name}" if branch.joint else "free"
        what = "slide" if motion.kind in (SLIDE, SLIDE_OWN) else "turn"
        lines.append(f"    {z.name}: {what} of {branch.body} against {branch.parent}, joint {joint}")
    formulas = [
        ShownFormula("path matrix T, each 1 an identity of three rows (Eq. 39)", "T", T),
        ShownFormula("C_q of the joints of the tree (Eq. 5); rows " + ", ".join(names), "C_q", C),
    ]
    found = board.H(C)
    if found is not None:
        q = board.coordinates()
        chosen = ", ".join(q[k].name for k in found[1])
        formulas.append(ShownFormula(f"H by coordinate partitioning (Eq. 7, 8), independent: {chosen}", "H", found[0]))
    formulas += [
        ShownFormula("V of semi-recursive I, element by element (Eq. 11, 38)", "V", V),
        ShownFormula("R_d of semi-recursive II (Eq. 36, 39); W = T R_d", "R_d", R_d),
    ]
    checks = [
        f"C_q V = 0 (Eq. 12): {'an identity' if sp.expand(C * V).is_zero_matrix else 'NOT zero'}",
        f"V = D T R_d (Eq. 28, 35): {'an identity' if _same(board, V, T, R_d) else 'NOT the same'}",
        *singular_pairs(board, C, names),
    ]
    mark = "% " if style == "latex" else ""
    texts = ["\n".join(mark + plain(x, style) for x in part) for part in (lines, checks)]
    return "\n\n".join([texts[0], written(formulas, style), texts[1]])


def _same(board: Blackboard, V: sp.Matrix, T: sp.Matrix, R_d: sp.Matrix) -> bool:
    W = sp.kronecker_product(T, sp.eye(3)) * R_d
    return bool(sp.expand(board.D() * W - V).is_zero_matrix)
