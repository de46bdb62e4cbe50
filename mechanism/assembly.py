"""Assembly of a mechanism in absolute coordinates, and its motion followed through time: simple, robust, an oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache

import numpy as np

from ..common.errors import AssemblyError
from ..common.turns import begun, next_to
from .absolute import Absolute
from .body_motion import BodyMotion
from .joint_equations import Poses
from .model import FRAME, Array, Model

TOLERANCE = 1e-13  # of the rows, lengths divided by the size of the mechanism
STAGNANT = 1e-11  # accepted where rounding allows no better
RANK = 1e-10  # singular values below this part of the largest count as zero
SPARSE = 1e-16  # least damping of large systems, which have no singular values to look at
DENSE = 1000  # columns up to which a singular value decomposition is affordable
STRIDE = 0.1  # inner steps: radians, or parts of the size
ITERATIONS = 100


class LinearizedRows:
    """The scaled Jacobian at given poses, ready for least squares: J x = rhs, smallest x, rank-aware."""

    def __init__(self, system: Absolute, poses: Poses) -> None:
        self.system = system
        self.solve_scaled = self._dense(poses) if system.n_columns <= DENSE else self._sparse(poses)

    def solve(self, rhs: Array, damping: float = 0.0) -> Array:
        """Return the unknowns (one per column) for a right-hand side given per row, in their own units."""
        return self.solve_scaled(rhs / self.system.row_scale, damping) * self.system.column_scale

    def _dense(self, poses: Poses) -> Callable[[Array, float], Array]:
        system = self.system
        J = system.jacobian(poses) / system.row_scale[:, None] * system.column_scale
        if not np.isfinite(J).all():  # out of range: there is no step from here
            J = np.zeros_like(J)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        kept = s > RANK * s[0] if len(s) else s > 0

        def solve(rhs: Array, damping: float) -> Array:
            # s / (s² + damping), without squares that overflow
            filtered = np.where(kept, 1.0 / np.where(kept, s + damping / np.where(kept, s, 1.0), 1.0), 0.0)
            return np.asarray(Vt.T @ (filtered * (U.T @ rhs)))

        return solve

    def _sparse(self, poses: Poses) -> Callable[[Array, float], Array]:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        system = self.system
        m, n = system.n_rows, system.n_columns
        rows, columns, values = system.triplets(poses)
        scaled = values / system.row_scale[rows] * system.column_scale[columns]
        J = sparse.csc_array((scaled, (rows, columns)), shape=(m, n))

        @cache
        def factored(root: float) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
            # the augmented system of damped least squares: unlike normal equations it does not square the condition
            blocks = [[root * sparse.eye_array(m), J], [J.T, -root * sparse.eye_array(n)]]
            augmented = sparse.csc_array(sparse.block_array(blocks))
            return splu(augmented).solve, augmented.dot

        def solve(rhs: Array, damping: float) -> Array:
            inverse, times = factored(max(damping, SPARSE) ** 0.5)
            wanted = np.append(rhs, np.zeros(n))
            found = inverse(wanted)
            found += inverse(wanted - times(found))  # where rows depend on each other a single solve loses digits
            return np.asarray(found[m:])

        return solve


def _gap(system: Absolute, poses: Poses, values: Mapping[str, float]) -> Array:
    return np.asarray(system.rows(poses, values) / system.row_scale)


def _rounding(system: Absolute, poses: Poses) -> float:
    """Return how much larger than the mechanism its coordinates are: far from the origin digits are lost."""
    return max(1.0, float(np.abs(poses.origin).max()) / system.size)


def close(system: Absolute, start: Poses, values: Mapping[str, float], n_iterations: int = ITERATIONS) -> Poses | None:
    """Return the closed poses near `start` (damped Gauss-Newton, each step of the least change), or None."""
    poses = attempt(system, start, values, n_iterations)
    closed = np.max(np.abs(_gap(system, poses, values)), initial=0.0) <= STAGNANT * _rounding(system, poses)
    return poses if closed and not system.flipped(poses) else None


@np.errstate(over="ignore", invalid="ignore")  # of sizes whose squares are out of range, which then are not assembled
def attempt(system: Absolute, start: Poses, values: Mapping[str, float], n_iterations: int = ITERATIONS) -> Poses:
    """Return the poses with the smallest gap that damped Gauss-Newton finds from `start`."""
    poses = system.remember(start)
    gap = _gap(system, poses, values)
    damping = 0.0
    linear = LinearizedRows(system, poses)
    last = False
    for _ in range(n_iterations):
        if last:
            break
        last = np.max(np.abs(gap), initial=0.0) <= TOLERANCE * _rounding(system, poses)  # one more step, to rounding
        unknowns = -linear.solve(gap * system.row_scale, damping)
        largest = float(np.max(np.abs(unknowns / system.column_scale), initial=0.0))
        if largest > 0.5:  # of a radian or of the size: further the rows are not near to linear
            unknowns *= 0.5 / largest
        tried = system.remember(poses.moved(*system.spread(unknowns)))
        fresh = _gap(system, tried, values)
        if np.linalg.norm(fresh) < np.linalg.norm(gap):
            slow = np.linalg.norm(fresh) > 0.5 * np.linalg.norm(gap)
            poses, gap, linear = tried, fresh, LinearizedRows(system, tried)
            damping = damping if slow else (0.1 * damping if damping > 1e-9 else 0.0)
        elif largest < 1e-14 or damping > 1e4:
            break
        else:
            damping = max(1e-6, 10 * damping)
    return poses


def _of_drivers(system: Absolute, rows: Array) -> dict[str, float]:
    """Return the entries of a vector over the rows that belong to drivers, by their names."""
    return {system.names[k]: float(rows[k]) for k in np.flatnonzero(system.of_driver)}


def _changes(system: Absolute, poses: Poses, values: Mapping[str, float]) -> dict[str, float]:
    """Return how far each driver must go from where it is; whole turns count only where they matter."""
    return _of_drivers(system, -system.rows(poses, values))


def _path(system: Absolute, start: Poses, values: Mapping[str, float]) -> Poses | None:
    """Return poses reached by closing the joints with the drivers let go, then moving the drivers to their values."""
    released = Absolute(system.model, system.bodies, ())
    poses = close(released, start, {})
    if poses is None:
        return None
    held, change = system.measured(poses), _changes(system, poses, values)
    scale = _of_drivers(system, system.row_scale)
    n_steps = int(np.ceil(max((abs(change[d]) / scale[d] for d in change), default=0.0) / STRIDE)) + 1
    for k in range(1, n_steps + 1):
        part = k / n_steps
        found = close(system, poses, {d: held[d] + part * change[d] for d in system.drivers})
        if found is None:
            return None
        poses = found
    return poses


def _starts(system: Absolute, sketch: Poses) -> Iterator[Poses]:
    """Yield the sketch, then sketches disturbed more and more, always the same ones."""
    yield sketch
    random = np.random.default_rng(1)
    sizes = (0.02, 0.05, 0.1, 0.1, 0.2, 0.2, 0.4, 0.4, 0.8, 0.8)
    for size in sizes if system.n_columns <= DENSE else sizes[:2]:
        unknowns = size * random.standard_normal(system.n_columns) * system.column_scale
        yield system.touching(sketch.moved(*system.spread(unknowns)))


def assemble(
    model: Model,
    values: Mapping[str, float],
    start: Poses | None = None,
    homotopy: bool = True,
    unknown: Collection[str] | None = None,
) -> Poses:
    """Return the poses in which all joints are closed and the drivers have their values.

    From the sketch (or `start`); with `homotopy`, if a driver is far from where the sketch has it, it is moved there
    step by step, so that the way of assembly of the sketch is kept. AssemblyError names the joint that stays open.
    """
    system = Absolute(model, unknown)
    sketch = system.first() if start is None else start
    scale = _of_drivers(system, system.row_scale)
    far = any(abs(change) > STRIDE * scale[d] for d, change in _changes(system, sketch, values).items())
    if far and homotopy:
        found = _path(system, sketch, values)
        if found is not None:
            return found
    best, least = sketch, np.inf
    for place in _starts(system, sketch):
        found = attempt(system, place, values)
        gap = float(np.max(np.abs(_gap(system, found, values)), initial=0.0))
        if gap <= STAGNANT * _rounding(system, found) and not system.flipped(found):
            return found
        if gap < least and not system.flipped(found):
            best, least = found, gap
    raise AssemblyError(_message(system, best, values))


def _message(system: Absolute, poses: Poses, values: Mapping[str, float], time: float | None = None) -> str:
    gap = _gap(system, poses, values)
    worst = int(np.argmax(np.abs(gap)))
    name = system.names[worst]
    lengths = system.row_scale[worst] == system.size
    what = "driver" if system.of_driver[worst] else "joint" if name in system.model.joints else "rod"
    where = system.model.origin.name if system.model.origin is not None else system.model.name
    drivers = ", ".join(f"{d} = {values[d]:.6g}" for d in system.drivers)
    amount = abs(gap[worst] * system.row_scale[worst])
    return (
        f"{where}: the mechanism cannot be assembled{f' at t = {time:.9g}' if time is not None else ''}"
        f"{f' with {drivers}' if drivers else ''}: {what} '{name}' stays open by {amount:.3g} "
        f"{'(length)' if lengths else '(radians)'}; check the lengths of the bodies at it, the sketch in [points] "
        "and the range of the drivers"
    )


class _Rates:
    """Velocity and acceleration (one entry per column) at given poses and time."""

    def __init__(self, system: Absolute, poses: Poses, drivers: Mapping[str, Array]) -> None:
        linear = LinearizedRows(system, poses)
        rates = system.per_driver({d: drivers[d][1] for d in system.drivers})
        self.velocity = linear.solve(rates)
        wanted = system.per_driver({d: drivers[d][2] for d in system.drivers}) - system.gamma(poses, self.velocity)
        self.acceleration = linear.solve(wanted)


def follow(model: Model, times: Array, start: Poses | None = None) -> dict[str, BodyMotion]:
    """Return the motion of every movable body at the times, the assembly followed continuously from the first one."""
    system = Absolute(model)
    motions = {name: driver.motion for name, driver in model.drivers.items()}

    def drivers(t: float) -> dict[str, Array]:
        return {name: motion(np.array([t]))[:, 0] for name, motion in motions.items()}

    now = drivers(float(times[0]))
    poses = assemble(model, {d: float(x[0]) for d, x in now.items()}, start)
    rates = _Rates(system, poses, now)
    found = [(poses, rates)]
    for t0, t1 in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
        t, step = t0, t1 - t0
        while t < t1:
            fastest = float(np.max(np.abs(rates.velocity / system.column_scale), initial=0.0))
            step = min(step, STRIDE / fastest if fastest > 0 else step)
            last = t + step >= t1 - 1e-9 * (t1 - t0)
            t_next = t1 if last else t + step
            after = _advanced(system, poses, rates, t_next - t, drivers(t_next))
            if after is None:
                step *= 0.5
                if step < 1e-7 * (t1 - t0):
                    values = {d: float(x[0]) for d, x in drivers(t_next).items()}
                    raise AssemblyError(_message(system, attempt(system, poses, values), values, t_next))
                continue
            poses, t, step = after, t_next, t1 - t_next
            rates = _Rates(system, poses, drivers(t))
        found.append((poses, rates))
    return _motions(system, found, {d: float(x[0]) for d, x in now.items()})


def _advanced(system: Absolute, poses: Poses, rates: _Rates, dt: float, drivers: Mapping[str, Array]) -> Poses | None:
    """Return the poses after dt, from a second-order prediction; None if they are not where they were expected."""
    unknowns = rates.velocity * dt + 0.5 * rates.acceleration * dt**2
    if np.max(np.abs(unknowns / system.column_scale), initial=0.0) > 3 * STRIDE:
        return None
    guess = poses.moved(*system.spread(unknowns))
    after = close(system, guess, {d: float(x[0]) for d, x in drivers.items()}, 20)
    if after is None:
        return None
    shift = np.abs(after.origin - guess.origin).max() / system.size
    turn = np.abs(after.rotation - guess.rotation).max()
    return after if max(shift, turn) <= 0.3 * STRIDE else None


def _whole_turns(model: Model, poses: Poses, values: Mapping[str, float], index: Mapping[str, int]) -> Array:
    """Return what to add to planar angles: driven ones equal their drivers, others start in (-pi, pi]."""
    offset = begun(poses.angle) - poses.angle
    for driver in model.drivers.values():
        first, second = driver.bodies
        if driver.joint is not None:
            first, second = model.joints[driver.joint].first, model.joints[driver.joint].second
        if driver.kind in ("angle", "turn") and FRAME in (first, second):
            k, sign = (index[second], 1) if first == FRAME else (index[first], -1)
            offset[k] = next_to(poses.angle[k], sign * values[driver.name]) - poses.angle[k]
    return np.asarray(offset)


def _motions(system: Absolute, found: list[tuple[Poses, _Rates]], values: Mapping[str, float]) -> dict[str, BodyMotion]:
    d = system.model.dimension
    twists = np.array([[system.spread(r.velocity)[0], system.spread(r.acceleration)[0]] for _, r in found])
    offset = _whole_turns(system.model, found[0][0], values, system.index)
    motions = {}
    for name in system.bodies:
        k = system.index[name]
        place = np.array([p.origin[k, :d] for p, _ in found])
        origin = np.stack([place.T, twists[:, 0, k, :d].T, twists[:, 1, k, :d].T])
        omega, alpha = twists[:, 0, k, 3:].T, twists[:, 1, k, 3:].T
        if system.planar:
            angle = np.stack([np.array([p.angle[k] for p, _ in found]) + offset[k], omega[2], alpha[2]])
            motions[name] = BodyMotion(origin, angle=angle)
        else:
            rotation = np.array([p.rotation[k] for p, _ in found])
            motions[name] = BodyMotion(origin, rotation=rotation, omega=omega, alpha=alpha)
    return motions
