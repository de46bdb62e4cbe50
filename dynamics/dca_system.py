"""One mechanism for the divide and conquer methods: joints, loads, assembly tree and room for all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen import jointcodes as code
from ..mechanism.model import FRAME, Array, Model
from .assembly_tree import AssemblyTree
from .bodyloads import BodyLoads, LoadTables
from .dca_layout import lay_out
from .inertia import Inertia
from .jointsystem import JointSystem

Ints = NDArray[np.int64]
# places in settings, counts and largest
ALPHA, FREQUENCY, STABLE, POSITION, VELOCITY, ACCELERATION, OPEN, N_SETTINGS = range(8)
MOST, FACTORED, ITERATIONS, FAILURES, N_COUNTS = range(5)
GAP_P, GAP_V, GAP_A, N_LARGEST = range(4)
THREADS = 27  # places for threads: three functions, arrays, sizes
LIGHT = 1e-12  # eigenvalues of a mass matrix below this part of the largest: the body alone has no acceleration


class System(NamedTuple):
    """Everything that compiled code reads and writes."""

    head: Ints
    items: Ints
    bodies: Array
    phi: Array
    rate: Array
    gamma: Array
    J: Array
    loads: LoadTables
    inertia: Array  # of every movable body about its centre, in its axes
    leaf: Array  # mass matrices
    nodes: Ints
    parts: Ints
    destinations: Ints
    ties: Ints
    gone: Ints
    levels: Ints
    matrices: Array
    vectors: Array
    jacobian: Array  # that of the factors
    wrench: Array
    rest: Array
    gap: Array
    change: Array
    force_change: Array
    found: Array
    force: Array
    work: Array
    settings: Array
    counts: Ints
    largest: Array
    threads: Ints  # addresses for threads, see dca_threads; zeros without
    lost: Ints


class DcaSystem:
    """The tables of a model, and its assembly tree."""

    def __init__(self, model: Model, inertia: Inertia, settings: Array, iterations: int) -> None:
        self.model, self.inertia = model, inertia
        centres = inertia.centre.copy()
        centres[0] = 0.0
        self.joints, self.loads = JointSystem(model, centres), BodyLoads(model, inertia, centres)
        m, w = len(model.bodies) - 1, self.joints.w
        self.joints.bodies[0, [code.COSINE2] if w == 3 else np.add(code.ROTATION3, (0, 4, 8))] = 1.0  # the frame
        own, leaf = np.zeros((m, 3, 3)), np.zeros((m, w, w))
        d = model.dimension
        leaf[:, range(d), range(d)] = inertia.mass[1:, None]
        if d == 2:
            leaf[:, 2, 2] = inertia.about_centre[1:]
        else:
            leaf[:, 3:, 3:] = own[:] = inertia.about_centre[1:]
        items = self.joints.items
        roles = [self._roles(e) for e in range(len(items))]
        ties = [tuple(b for b in found if b >= 0) for found in roles]
        scale = np.linalg.eigvalsh(leaf)
        light = scale[:, 0] <= LIGHT * scale.max(initial=0.0)
        self.tree = AssemblyTree(m, ties, light.tolist())
        rows = [(int(items[e, code.ROW]), int(items[e, code.ROWS])) for e in range(len(items))]
        layout = lay_out(self.tree, w, rows, roles)
        j, n_rows = self.joints, len(self.joints.phi)
        counts = np.zeros(N_COUNTS, dtype=np.int64)
        counts[MOST] = iterations
        settings = settings.copy()
        settings[ALPHA] *= np.mean(inertia.mass[1:][inertia.mass[1:] > 0.0]) if (inertia.mass[1:] > 0.0).any() else 1.0
        self.tables = System(
            j.head, items, j.bodies, j.phi, j.rate, j.gamma, j.J, self.loads.tables, own, leaf, *layout,
            np.zeros_like(j.J), np.zeros((m + 1, w)), np.zeros((m, w)), np.zeros(n_rows), np.zeros((m, w)),
            np.zeros(n_rows), np.zeros((m, w)), np.zeros(n_rows), np.zeros((3, 3)), settings, counts,
            np.zeros(N_LARGEST), np.zeros(THREADS, dtype=np.int64), np.zeros(len(layout.nodes), dtype=np.int64),
        )  # fmt: skip

    def _roles(self, line: int) -> tuple[int, int, int]:
        """Return the movable bodies of a line, -1 for the frame and for none."""
        tied, item = self.joints.table.bodies(line), self.joints.items[line]
        one, two, three = (int(item[k]) for k in (code.FIRST, code.SECOND, code.THIRD))
        return tuple(k - 1 if k in tied else -1 for k in (one, two, three))  # type: ignore[return-value]

    @property
    def names(self) -> list[str]:
        """The movable bodies."""
        return [b for b in self.model.bodies if b != FRAME]
