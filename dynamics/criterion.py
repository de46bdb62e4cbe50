"""The projective criterion of all listed joint coordinates over lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..mechanism.model import Array
from .body_lanes import BodyLanes
from .coordinates import RIDGE, Gauge, shown_name, virtual_driver
from .inertia import Inertia
from .joint_lanes import JointTable

CACHE = 200_000  # numbers in the small systems of a block of lanes


class Criterion:
    """What `Gauge.weigh` says of one posture, over lanes: the squared cosine of every listed coordinate."""

    def __init__(self, gauge: Gauge, inertia: Inertia) -> None:
        self.inertia = inertia
        model = replace(gauge.model, drivers={c.driver: virtual_driver(gauge.model, c) for c in gauge.all})
        t = self.table = JointTable(model)
        lines, listed = t.drivers(), [gauge.all[i] for i in gauge.listed]
        joints = [k for k, name in enumerate(t.names) if not t.of_driver[k] and name not in gauge.cut]
        root = {k: k for k in range(1, len(model.bodies))}

        def top(body: int) -> int:
            while root[body] != body:
                body = root[body]
            return body

        for line in joints:
            first, *others = sorted(t.bodies(line))
            for body in others:
                root[top(body)] = top(first)
        trees: dict[int, tuple[list[int], list[int], list[int]]] = {}
        for body in root:
            trees.setdefault(top(body), ([], [], []))[0].append(body)
        for line in joints:
            trees[top(min(t.bodies(line)))][1].append(line)
        for c in listed:
            trees[top(min(t.bodies(lines[c.driver])))][2].append(lines[c.driver])
        self.tables = []
        for part in zip(*trees.values(), strict=True):
            start = np.concatenate([[0], np.cumsum([len(x) for x in part])]).astype(np.int64)
            self.tables += [start, np.array([k for x in part for k in x], dtype=np.int64)]
        order = {line: k for k, line in enumerate(self.tables[-1].tolist())}
        self.names = [shown_name(gauge.model, c) for c in listed]
        self.places = [order[lines[c.driver]] for c in listed]

    def over(self, bodies: BodyLanes, columns: Array) -> Array:
        """Return the squared cosines, coordinate x lane, for the velocity transformation (f x n x w x lane)."""
        from .tree_kernels import cosines

        t, found = self.table, np.empty((len(self.places), len(bodies)))
        masses = np.ascontiguousarray(np.moveaxis(self.inertia.matrices_over(bodies), 0, -1))
        widest = columns.shape[2] * int(np.diff(self.tables[0]).max())
        block = int(np.clip(CACHE // ((len(self.tables[0]) + len(found)) * widest**2), 1, 64))
        cosines(t.items, t.numbers, *self.tables, RIDGE, block, bodies.origin, bodies.rotation, t.given(bodies),
                masses, columns, found)  # fmt: skip
        return found[self.places]
