"""What is known of the way of a run beforehand: inner times, and how the motion passes instants where branches meet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..mechanism.plans.plan import Array
from ..runtime.sequence import Ints

Ramp = tuple[float, float]


@dataclass(frozen=True)
class ChangePoint:
    """An instant at which branches of a group meet while its motion goes on smoothly.

    Lanes nearer to it than a spacing, where digits are lost, follow from the values at eight nodes (order seven):
    from both sides, or next to an end of the run from one.
    """

    centre: float
    spacing: float
    offsets: tuple[int, ...]  # of the nodes from the centre, in spacings, the nearest first
    sign: int = -1  # number of the branch sign that is the opposite one from there on

    @property
    def nodes(self) -> Array:
        return self.centre + self.spacing * np.array(self.offsets, dtype=np.float64)

    @property
    def reach(self) -> tuple[float, float]:
        """The stretch of time in which lanes follow from the nodes."""
        return self.centre - self.spacing, self.centre + self.spacing

    def lanes(self, time: Array) -> Ints:
        """Return the lanes that follow from the nodes."""
        first, last = self.centre - 0.99 * self.spacing, self.centre + 0.99 * self.spacing
        return np.arange(np.searchsorted(time, first, side="right"), np.searchsorted(time, last))

    def weights(self, time: Array) -> Array:
        """Return what the values at the nodes weigh in those at some times, node x time."""
        x, nodes = (time - self.centre) / self.spacing, np.array(self.offsets, dtype=np.float64)
        others = [np.delete(nodes, i)[:, None] for i in range(len(nodes))]
        return np.array([np.prod((x - o) / (n - o), axis=0) for n, o in zip(nodes, others, strict=True)])

    def found(self, time: Array) -> Ints:
        """Return the lanes of the nodes; none where one is missing among the times."""
        lanes = np.minimum(np.searchsorted(time, self.nodes), len(time) - 1)
        return lanes if (time[lanes] == self.nodes).all() else lanes[:0]


@dataclass
class Course:
    """What is known of the way of a run beforehand: inner times, and the instants at which branches of groups meet.

    `clear` are stretches of time, by group, that were looked at closely and need nothing; within `ramps` drivers jump.
    """

    extra: list[float] = field(default_factory=list)
    change_points: dict[str, list[ChangePoint]] = field(default_factory=dict)
    clear: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    ramps: tuple[Ramp, ...] = ()

    @property
    def met(self) -> int:
        """The number of change points."""
        return sum(map(len, self.change_points.values()))

    def since(self, time: float, extra: Array) -> Course:
        """Return what is known of the way after a time, with those of the inner times that lie after it."""
        change_points = {name: [m for m in found if m.centre >= time] for name, found in self.change_points.items()}
        clear = {name: [s for s in found if s[1] >= time] for name, found in self.clear.items()}
        return Course(extra[extra > time].tolist(), change_points, clear, self.ramps)

    def add(self, other: Course, extra: Array) -> None:
        """Take over what is known of a stretch of the way, and its inner times."""
        self.extra += extra.tolist()
        for name, found in other.change_points.items():
            self.change_points[name] = list(dict.fromkeys([*self.change_points.get(name, []), *found]))
        for name, stretches in other.clear.items():
            self.clear[name] = list(dict.fromkeys([*self.clear.get(name, []), *stretches]))
