"""The motion of many designs, and how series come out of the arrays into which compiled code writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism.plans.plan import Array
from ..motion.series import BodySeries, JointSeries, PointSeries
from ..runtime.outputs import Output


@dataclass(frozen=True, eq=False)
class Batch:
    """The motion of many designs: every series has the designs as its first axis.

    `status`: 0 whole, 1 lost on the way, 2 not assembled, 3 wrong at this design. `solved`: instants that are solved,
    from the first on; what is not solved is NaN. `lost_at`: when a design was lost (NaN: it was not), `message` why.
    """

    parameters: Mapping[str, Array]
    time: Array
    points: Mapping[str, PointSeries]
    bodies: Mapping[str, BodySeries]
    joints: Mapping[str, JointSeries]
    status: NDArray[np.int64]
    solved: NDArray[np.int64]
    own_way: NDArray[np.bool_]  # designs that were run on their own
    losses: Callable[[], tuple[Array, tuple[str, ...]]]  # when and why: found when they are asked for

    @cached_property
    def told(self) -> tuple[Array, tuple[str, ...]]:
        return self.losses()

    @property
    def lost_at(self) -> Array:
        return self.told[0]

    @property
    def message(self) -> tuple[str, ...]:
        return self.told[1]

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        whole = int(np.sum(self.status == 0))
        return f"<Batch of {len(self)} designs, {whole} whole; {len(self.time)} instants each>"


Parts = tuple[Array, Array, Array]


def parts_of(out: Array, output: Output, at: int, n: int, solved: int | None = None) -> Parts:
    """Return value, rate and acceleration of an output from its place; designs, if any, are the first axis."""
    found = []
    m = n if solved is None else solved
    for order, width in enumerate(output.widths):
        flat = out[..., order, at : at + m * width]
        shape = (*flat.shape[:-1], m, 3, 3) if width == 9 else (*flat.shape[:-1], m, width) if width > 1 else flat.shape
        found.append(flat.reshape(shape))
    return found[0], found[1], found[2]


def series_of(table: str, places: Sequence[tuple[Output, int]], parts: Sequence[Parts]) -> Any:
    """Return the series of a name from its parts."""
    first = parts[0]
    if table == "points":
        return PointSeries(*first)
    if table == "bodies":
        kind = "rotation" if first[0].ndim > first[1].ndim else "angle"
        return BodySeries(**{kind: first[0], "angular_velocity": first[1], "angular_acceleration": first[2]})
    if places[0][0].function == "write_displacement":
        return JointSeries(displacement=first[0], rate=first[1], acceleration=first[2])
    if len(parts) == 1:
        return JointSeries(angle=first[0], rate=first[1], acceleration=first[2])
    slide = parts[1]
    return JointSeries(
        angle=first[0], rate=first[1], acceleration=first[2], displacement=slide[0], displacement_rate=slide[1],
        displacement_acceleration=slide[2],
    )  # fmt: skip


def arrays_of(series: Any) -> list[Parts]:
    """Return the arrays of a series in the order of its outputs."""
    if isinstance(series, PointSeries):
        return [(series.position, series.velocity, series.acceleration)]
    if isinstance(series, BodySeries):
        value = series.angle if series.rotation is None else series.rotation
        assert value is not None
        return [(value, series.angular_velocity, series.angular_acceleration)]
    found = []
    if series.angle is not None:
        found.append((series.angle, series.rate, series.acceleration))
    if series.displacement is not None:
        rates = (series.rate, series.acceleration) if series.angle is None else (
            series.displacement_rate, series.displacement_acceleration
        )  # fmt: skip
        found.append((series.displacement, *rates))
    return found
