"""Forward dynamics in the relative coordinates of a spanning tree (Yu, Mikkola, Pan, Escalona 2022).

Semi-recursive I refers each body to its centre, II to the global origin. Loops are closed by projection after each
step, by Baumgarte's stabilisation, or by partitioning: `[simulation] loops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.model import Array, Model
from . import tree_head as place
from .applied_loads import Applied
from .body_method import BodyMethod
from .posture import Posture
from .spanning_tree import SpanningTree, coordinate_names, relative_coordinates, spanning_tree

RANK = 1e-9  # of the scaled closing rows: below, some are in excess
LOOPS = {"projection": place.PROJECTED, "baumgarte": place.STABILISED, "partitioning": place.PARTITIONED}


class SemiRecursive(BodyMethod):
    """One forward simulation in relative coordinates; `second` says which of the two methods."""

    second = False

    def __init__(self, model: Model, start: Posture, applied: Applied | None = None, reactions: bool = True) -> None:
        super().__init__(model, start, applied, reactions)
        self.tree = spanning_tree(model, start)
        self._write(self.tree)
        self.q = relative_coordinates(self.tree, start)
        self.v = np.zeros(self.nv)
        self._close()
        self.connect()
        self.evaluate(self.q, self.v)
        self._take_rates(self._twists(start))
        self.y[: self.nq + self.nv] = self.packed()
        self._count_redundant()

    # ---- arrays ---------------------------------------------------------------------------------------------------
    def _write(self, tree: SpanningTree) -> None:
        """Write the tree as compiled code reads it."""
        model, system = self.model, self.system
        index, n, w = {b: k for k, b in enumerate(model.bodies)}, len(model.bodies), system.w
        motions = [m for b in sorted(tree.branches, key=lambda b: index[b.body]) for m in b.motions]
        first = np.zeros(n + 1, dtype=np.int64)
        for b in tree.branches:
            first[index[b.body] + 1] = len(b.motions)
        first = np.cumsum(first)
        widths = [place.WIDTHS[m.kind] for m in motions]
        # coordinates and rates stand in the order of the branches
        q_at, v_at = np.zeros(len(motions), dtype=np.int64), np.zeros(len(motions), dtype=np.int64)
        start, count = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.nq = self.nv = 0
        scales: list[float] = []
        for b in tree.branches:
            i = index[b.body]
            start[i] = self.nv
            for m in range(first[i], first[i + 1]):
                q_at[m], v_at[m] = self.nq, self.nv
                self.nq += 4 if motions[m].kind == place.BALL else 1
                self.nv += widths[m]
                scales += [model.size if motions[m].kind in (place.SLIDE, place.SLIDE_OWN) else 1.0] * widths[m]
            count[i] = self.nv - start[i]
        self.rate_scales = np.array(scales)
        self.columns, self.reference = np.zeros((self.nv, w)), np.zeros((n, 3))
        self.parent = np.array([0, *np.zeros(n - 1)], dtype=np.int64)
        a, b_, turn = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9))
        for b in tree.branches:
            i, p = index[b.body], index[b.parent]
            self.parent[i] = p
            a[i, : system.d] = b.a - (system.centre[p] if b.joint else 0.0)
            b_[i, : system.d] = b.b - system.centre[i]
            turn[i, : b.turn.size] = b.turn.ravel()
        self.order = np.array([index[b.body] for b in tree.branches], dtype=np.int64)
        self.start_column, self.count_column = start, count
        system.head[[place.N_Q, place.N_V, place.SECOND]] = self.nq, self.nv, int(self.second)
        system.put({
            place.PARENT: self.parent, place.ORDER: self.order, place.FIRST_MOTION: first, place.FIRST_COLUMN: start,
            place.N_COLUMNS: count, place.POINT_A: a, place.POINT_B: b_, place.TURN: turn,
            place.MOTION_KIND: np.array([m.kind for m in motions], dtype=np.int64),
            place.MOTION_AXIS: np.array([m.axis for m in motions]).reshape(-1, 3),
            place.PITCH: np.array([m.pitch for m in motions]), place.MOTION_Q: q_at, place.MOTION_V: v_at,
            place.COLUMNS: self.columns, place.REFERENCE: self.reference,
            place.RECURSIVE_INERTIA: np.zeros((n, w, w)), place.RECURSIVE_FORCE: np.zeros((n, w)),
            place.KEPT: np.zeros((n, 3, 7, 6)), place.INTERMEDIATE: np.zeros((n, 2 * w)), place.SPARE: np.zeros((8, w)),
        })  # fmt: skip

    def _close(self) -> None:
        """Write what closes the loops: all lines of joints and drivers that are not in the tree."""
        from ..codegen import joint_codes as code

        system, joints = self.system, self.system.joints
        inside = {b.joint.name for b in self.tree.branches if b.joint is not None}
        lines = [e for e, name in enumerate(joints.names) if joints.table.of_driver[e] or name not in inside]
        self.closing_rows = joints.table.rows_of(lines)
        rows, total = len(self.closing_rows), self.nv + len(self.closing_rows)
        if rows:
            joints.evaluate(self.start.time)
            joints.remember()
        way = self.model.simulation.loops
        system.head[[place.N_CLOSING, place.N_ROWS, place.LOOPS]] = len(lines), rows, LOOPS[way]
        assert joints.items.shape[1] == code.ITEM_SIZE
        from .semirecursive_kernels import piece_addresses

        for at, address in piece_addresses(bool(rows)).items():
            system.head[at] = address
        self.independent = np.zeros(self.nv, dtype=np.int64)
        size = total if rows else 1
        system.put({
            place.CLOSING: np.array(lines, dtype=np.int64), place.MATRIX: np.zeros((size, size)),
            place.SIDE: np.zeros(size), place.PIVOTS: np.zeros(size, dtype=np.int64),
            place.SCALES: np.concatenate([self.rate_scales, joints.scales[self.closing_rows]]),
            place.STABILISING: np.array(self.model.simulation.baumgarte), place.INDEPENDENT: self.independent,
        })  # fmt: skip

    def _count_redundant(self) -> None:
        """Find whether closing rows are in excess, and which rates are independent."""
        if not len(self.closing_rows):
            return
        C = self.closing() / self.system.joints.scales[self.closing_rows][:, None] * self.rate_scales
        s = np.linalg.svd(C, compute_uv=False)
        rank = int(np.sum(s > RANK * s[0])) if len(s) and s[0] > 0 else 0
        self.system.head[place.REDUNDANT] = int(rank < len(C))
        from scipy.linalg import qr

        pivots = qr(C, mode="r", pivoting=True)[1]
        self.independent[:] = 1
        self.independent[pivots[:rank]] = 0

    # ---- the state ------------------------------------------------------------------------------------------------
    def packed(self) -> Array:
        """Return relative coordinates and rates."""
        return np.concatenate([self.q, self.v])

    def tolerances(self, tolerance: float) -> Array:
        """Return the absolute tolerances: lengths by the size of the mechanism."""
        found = np.full(len(self.y) - 1, tolerance)
        found[self.nq : self.nq + self.nv] *= self.rate_scales
        return found

    def addresses(self) -> tuple[int, int, int]:
        """Return where right-hand side, projection and the end of a step are compiled."""
        from .semirecursive_kernels import addresses

        return addresses()

    def diagnostics(self) -> dict[str, Any]:
        """Return the cut joints, the coordinates of the tree, and how loops are closed."""
        found: dict[str, Any] = {"cut": list(self.tree.cut), "coordinates": coordinate_names(self.tree)}
        return found | ({"loops": self.model.simulation.loops} if len(self.closing_rows) else {})

    # ---- matrices of the papers -----------------------------------------------------------------------------------
    def evaluate(self, q: Array, v: Array, t: float | None = None) -> None:
        """Evaluate the right-hand side; bodies, columns and accelerations are left in their arrays."""
        y = np.zeros(len(self.y))
        y[: self.nq], y[self.nq : self.nq + self.nv] = q, v
        self.rates(self.t if t is None else t, y)

    def transformation(self) -> Array:
        """Return V (Eq. 14, 38), on the velocities of the centres: of II, D T R_d."""
        W = self.projection()
        return (
            np.einsum("nij,njv->niv", self.reference_change(), W).reshape(-1, self.nv)
            if self.second
            else (W.reshape(-1, self.nv))
        )

    def projection(self) -> Array:
        """Return the columns along the paths at the reference points, n x w x rates: V of I, T R_d of II (Eq. 39)."""
        n, w = len(self.parent), self.system.w
        found = np.zeros((n, w, self.nv))
        for i in self.order:
            p = self.parent[i]
            found[i] = _change(self.reference[i] - self.reference[p], w) @ found[p]
            mine = slice(self.start_column[i], self.start_column[i] + self.count_column[i])
            found[i][:, mine] += self.columns[mine].T
        return found[1:]

    def reference_change(self) -> Array:
        """Return D of every body (Eq. 28), n x w x w: from the point of reference to the centre."""
        d, w = self.system.d, self.system.w
        centres = np.zeros((len(self.parent), 3))
        centres[:, :d] = self.system.bodies[:, :d]
        return np.stack([_change(c - x, w) for c, x in zip(centres[1:], self.reference[1:], strict=True)])

    def masses(self) -> Array:
        """Return M̄ (Eq. 44, 51) as it is accumulated along the tree."""
        from .tree_dynamics import mass_matrix

        n, w = len(self.parent), self.system.w
        A, b = np.zeros((self.nv, self.nv)), np.zeros(self.nv)
        M, force = self._body_masses(), np.zeros((n, w))
        mass_matrix(
            self.order, self.parent, self.start_column, self.count_column, self.reference, self.columns, M, force,
            self.second, np.zeros((8, w)), A, b,
        )  # fmt: skip
        return A

    def _body_masses(self) -> Array:
        from .tree_dynamics import body_inertia

        n, w, d = len(self.parent), self.system.w, self.system.d
        M = np.zeros((n, w, w))
        for k in range(1, n):
            arm = np.zeros(3)
            arm[:d] = self.system.bodies[k, :d] - self.reference[k, :d]
            body_inertia(k, self.inertia.mass, self.system.about, self.system.global_inertia, *arm, M)
        return M

    def closing(self) -> Array:
        """Return C_z of the closing rows (Eq. 47, 54) through the whole V."""
        self.system.joints.evaluate(self.t)
        return np.asarray(self.system.joints.dense()[self.closing_rows] @ self.transformation())

    def _take_rates(self, twists: Array) -> None:
        """Find the relative rates of velocities of all centres, n x w, branch by branch."""
        w, d = self.system.w, self.system.d
        centres = np.zeros((len(self.parent), 3))
        centres[:, :d] = self.system.bodies[:, :d]
        for i in self.order:
            p, mine = self.parent[i], slice(self.start_column[i], self.start_column[i] + self.count_column[i])
            relative = twists[i] - _change(centres[i] - centres[p], w) @ twists[p]
            own = _change(centres[i] - self.reference[i], w) @ self.columns[mine].T
            self.v[mine] = np.linalg.lstsq(own, relative, rcond=None)[0]

    def _twists(self, posture: Posture) -> Array:
        """Return the velocities of all centres at a posture, n x w."""
        d = self.system.d
        arm = np.einsum("nij,nj->ni", posture.rotation, self.system.centre)
        twist = posture.twist.copy()
        if d == 2:
            twist[:, :2] += np.stack([-twist[:, 2] * arm[:, 1], twist[:, 2] * arm[:, 0]], axis=1)
        else:
            twist[:, :3] += np.cross(twist[:, 3:], arm)
        return twist


class SemiRecursive1(SemiRecursive):
    """Reference points at the centres."""

    name = "semirecursive-1"


class SemiRecursive2(SemiRecursive):
    """Reference points at the global origin."""

    name = "semirecursive-2"
    second = True


def _change(way: Array, w: int) -> Array:
    """Return B or D: what a motion at a point is at another one, `way` further."""
    found = np.eye(w)
    x, y, z = way
    if w == 3:
        found[0, 2], found[1, 2] = -y, x
    else:
        found[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return found
