"""One mechanism for the divide and conquer methods: bodies, joints, assembly tree and room for all of them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen import joint_codes as code
from ..mechanism.model import FRAME, Array
from ..runtime.parallel import thread_count
from . import dca_head as at
from .assembly_tree import AssemblyTree
from .body_system import BodySystem
from .dca_layout import lay_out

Ints = NDArray[np.int64]
# The slowest combination of multipliers pulls a chain of n bodies along: it meets the inertia of all of them, and of
# Φ_q M⁻¹ Φ_qᵀ it has about 1/n² of the others. A penalty that grows as n² lets the number of iterations stay.
SHORT, STIFFER = 10, 1e4  # bodies up to which the penalty is as given, and how many times it may become
LIGHT = 1e-12  # eigenvalues of a mass matrix below this part of the largest: the body alone has no acceleration


class System(NamedTuple):
    """Everything that compiled code reads and writes, through its addresses (`dca_head`)."""

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
    lost: Ints


class DcaSystem:
    """The tables of a model, and its assembly tree."""

    def __init__(self, bodies: BodySystem, settings: Array, iterations: int, projected: bool = False) -> None:
        self.system, joints, self.projected = bodies, bodies.joints, projected
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
        settings, counts = settings.copy(), np.zeros(at.N_COUNTS, dtype=np.int64)
        settings[at.ALPHA] *= np.mean(mass[mass > 0.0]) if (mass > 0.0).any() else 1.0
        settings[at.ALPHA] *= min(max(1.0, (m / SHORT) ** 2), STIFFER)
        counts[at.MOST] = iterations
        self.tables = System(
            bodies.head, joints.head, items, joints.bodies, joints.phi, joints.rate, joints.gamma, joints.J,
            bodies.about, bodies.global_inertia, bodies.wrench, bodies.turns, leaf, *layout,
            jacobian=np.zeros_like(joints.J), rest=np.zeros((m, w)), gap=np.zeros(n_rows), change=np.zeros((m, w)),
            force_change=np.zeros(n_rows), found=np.zeros((m, w)), force=np.zeros(n_rows), settings=settings,
            counts=counts, largest=np.zeros(at.N_LARGEST),
            lost=np.zeros(len(layout.shares), dtype=np.int64),
        )  # fmt: skip

    @cached_property
    def head(self) -> Ints:
        """Addresses, sizes and code for compiled functions; they are compiled when this is first asked for."""
        from .dca_equations import addresses

        s, found = self.tables, np.zeros(at.SIZE, dtype=np.int64)
        for place, array in enumerate(s):
            assert array.flags.c_contiguous
            found[place] = array.ctypes.data
        found[at.N_BODIES : at.PLACE_CODE] = (
            len(s.leaf), s.leaf.shape[1], len(s.phi), len(s.items), len(s.nodes), len(s.parts), len(s.ties),
            len(s.shares), len(s.turns),
        )  # fmt: skip
        for place, address in addresses(self.projected).items():
            found[place] = address
        return found

    def _roles(self, line: int) -> tuple[int, int, int]:
        """Return the movable bodies of a line, -1 for the frame and for none."""
        joints = self.system.joints
        tied, item = joints.table.bodies(line), joints.items[line]
        one, two, three = (int(k) - 1 if int(k) in tied else -1 for k in item[code.FIRST : code.THIRD + 1])
        return one, two, three
