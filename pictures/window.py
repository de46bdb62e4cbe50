"""Which part of a run a picture shows: all of it, or as many turns as an eye can follow."""

from __future__ import annotations

import numpy as np

from ..common.errors import InputError
from ..mechanism.arguments import real, shown
from ..motion.results import Results


def window(results: Results, start: float | None, stop: float | None) -> tuple[float, float]:
    """Return the part of the run that is shown: all of it, or the first two turns of the fastest body."""
    times = results.time
    first, last = float(times[0]), float(times[-1])
    for name, value in (("start", start), ("stop", stop)):
        if value is not None and (real(value) is None or not first <= value <= last):
            raise InputError(f"{name} = {shown(value)} is outside the run, which is from {first:g} to {last:g} s")
    if start is not None:
        first = start
    if stop is not None:
        return first, stop
    rates = [np.linalg.norm(np.atleast_2d(b.angular_velocity.T), axis=0) for b in results.bodies.values()]
    if rates and len(times) > 2:
        turned = [np.concatenate([[0], np.cumsum(np.diff(times) * (w[1:] + w[:-1]) / 2)]) / (2 * np.pi) for w in rates]
        fastest = max(turned, key=lambda turns: float(turns[-1]))
        begin = float(np.interp(first, times, fastest))
        if fastest[-1] - begin > 6:  # more turns than an eye can follow
            last = float(times[np.searchsorted(fastest, begin + 2)])
    return first, last
