"""One mechanism for the divide and conquer methods: bodies, joints, assembly tree and room for all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen import jointcodes as code
from ..mechanism.model import FRAME, Array
from ..runtime.parallel import thread_count
from .assembly_tree import AssemblyTree
from .bodysystem import BodySystem
from .dca_layout import lay_out

Ints = NDArray[np.int64]
# places in settings, counts and largest
ALPHA, FREQUENCY, STABLE, POSITION, VELOCITY, ACCELERATION, OPEN, N_SETTINGS = range(8)
MOST, FACTORED, ITERATIONS, FAILURES, N_COUNTS = range(5)
GAP_P, GAP_V, GAP_A, N_LARGEST = range(4)
THREADS = 27  # places for threads: three functions, arrays, sizes
LIGHT = 1e-12  # eigenvalues of a mass matrix below this part of the largest: the body alone has no acceleration


class System(NamedTuple):
    """Everything that compiled code reads and writes."""

    head: Ints  # of the BodySystem
    joints: Ints  # of its JointSystem
    items: Ints
    bodies: Array
    phi: Array
    rate: Array
    gamma: Array
    J: Array
    about: Array
    turned: Array
    wrench: Array
    turns: Array
    leaf: Array  # mass matrices
    nodes: Ints
    parts: Ints
    destinations: Ints
    ties: Ints
    gone: Ints
    shares: Ints
    matrices: Array
    vectors: Array
    jacobian: Array  # that of the factors
    rest: Array
    gap: Array
    change: Array
    force_change: Array
    found: Array
    force: Array
    settings: Array
    counts: Ints
    largest: Array
    threads: Ints  # addresses for threads, see dca_threads; zeros without
    lost: Ints


class DcaSystem:
    """The tables of a model, and its assembly tree."""

    def __init__(self, bodies: BodySystem, settings: Array, iterations: int) -> None:
        self.system, joints = bodies, bodies.joints
        self.names = [b for b in bodies.model.bodies if b != FRAME]
        m, w, d, mass = len(self.names), bodies.w, bodies.d, bodies.inertia.mass[1:]
        leaf = np.zeros((m, w, w))
        leaf[:, range(d), range(d)] = mass[:, None]
        leaf[:, d:, d:] = bodies.inertia.about_centre[1:].reshape(m, w - d, w - d)
        items, n_rows = joints.items, len(joints.phi)
        roles = [self._roles(e) for e in range(len(items))]
        moments = np.linalg.eigvalsh(leaf)
        light = moments[:, 0] <= LIGHT * moments.max(initial=0.0)
        self.tree = AssemblyTree(m, [tuple(b for b in tie if b >= 0) for tie in roles], light.tolist())
        layout = lay_out(self.tree, w, items[:, [code.ROW, code.ROWS]].tolist(), roles, max(2, thread_count()))
        settings, counts = settings.copy(), np.zeros(N_COUNTS, dtype=np.int64)
        settings[ALPHA] *= np.mean(mass[mass > 0.0]) if (mass > 0.0).any() else 1.0
        counts[MOST] = iterations
        self.tables = System(
            bodies.head, joints.head, items, joints.bodies, joints.phi, joints.rate, joints.gamma, joints.J,
            bodies.about, bodies.global_inertia, bodies.wrench, bodies.turns, leaf, *layout,
            jacobian=np.zeros_like(joints.J), rest=np.zeros((m, w)), gap=np.zeros(n_rows), change=np.zeros((m, w)),
            force_change=np.zeros(n_rows), found=np.zeros((m, w)), force=np.zeros(n_rows), settings=settings,
            counts=counts, largest=np.zeros(N_LARGEST), threads=np.zeros(THREADS, dtype=np.int64),
            lost=np.zeros(len(layout.shares), dtype=np.int64),
        )  # fmt: skip

    def _roles(self, line: int) -> tuple[int, int, int]:
        """Return the movable bodies of a line, -1 for the frame and for none."""
        joints = self.system.joints
        tied, item = joints.table.bodies(line), joints.items[line]
        one, two, three = (int(k) - 1 if int(k) in tied else -1 for k in item[code.FIRST : code.THIRD + 1])
        return one, two, three
