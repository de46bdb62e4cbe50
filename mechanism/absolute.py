"""The mechanism in absolute coordinates: the constraint rows of all joints and drivers on the poses of the bodies.

The unknowns are the twists of the bodies (planar: vx, vy, ω; spatial: v of the origin and ω, in global axes), and one
polar angle per cam contact. The frame is fixed and has no columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .joint_equations import (
    PLANAR,
    SPATIAL,
    WHOLE_TURNS_ARE_ALIKE,
    BodyPair,
    Indices,
    JointBatch,
    JointTerm,
    Numbers,
    Poses,
    Z,
    cross,
    nearest_turn,
    turned,
    wheel_turn,
)
from .model import FRAME, Array, Driver, Joint, Model, ends_of

STEP = 1e-30  # of a complex step: so small that its square is lost in rounding


def removed(model: Model, joint: Joint) -> int:
    """Return how many relative freedoms a joint removes."""
    if model.space != "planar":
        return len(SPATIAL[joint.kind][1])
    return 1 if joint.kind == "cam" else len(PLANAR[joint.kind][1])  # a cam's second row finds its contact


@dataclass(frozen=True, eq=False)
class ConstraintItem:
    """One joint, driver or rod as it enters a batch."""

    name: str
    kind: str
    bodies: tuple[str, str, str]
    joint: Joint | None = None
    driver: Driver | None = None
    axis: Array | None = None


class Absolute:
    """The rows of a model on the poses of some of its bodies (`unknown`, default: all but the frame); others stand.

    Only joints and drivers that touch an unknown body have rows. `drivers` are those to hold, default all.
    """

    def __init__(
        self, model: Model, unknown: Collection[str] | None = None, drivers: Collection[str] | None = None
    ) -> None:
        self.model, self.planar = model, model.space == "planar"
        self.size = model.size
        self.index = {name: k for k, name in enumerate(model.bodies)}
        wanted = set(model.movable if unknown is None else unknown) - {FRAME}
        self.bodies = tuple(b for b in model.bodies if b in wanted)
        self.components = (0, 1, 5) if self.planar else (0, 1, 2, 3, 4, 5)
        self._contacts = {j.name: k for k, j in enumerate(j for j in model.joints.values() if j.kind == "cam")}
        turning = () if self.planar else ("R", "C", "H", "gear")
        self._turns = {j.name: k for k, j in enumerate(j for j in model.joints.values() if j.kind in turning)}

        held = [d for d in model.drivers.values() if drivers is None or d.name in drivers]
        items = [*self._joints(model), *self._rods(model), *(self._driver(model, d) for d in held)]
        items = [i for i in items if any(b in wanted for b in i.bodies)]
        self.drivers = tuple(i.name for i in items if i.driver)

        width = len(self.components)
        self.column = np.full(len(model.bodies), -1)
        self.column[[self.index[b] for b in self.bodies]] = width * np.arange(len(self.bodies))
        touching = [self._contacts[i.name] for i in items if i.kind.startswith("cam")]
        self.contact_column = np.full(len(self._contacts), -1)
        self.contact_column[touching] = width * len(self.bodies) + np.arange(len(touching))
        self.n_columns = width * len(self.bodies) + len(touching)
        lengths = 2 if self.planar else 3
        self.column_scale = np.ones(self.n_columns)  # multiply unknowns: lengths are of the order of the size
        self.column_scale[: width * len(self.bodies)] = np.tile(
            [self.size] * lengths + [1.0] * (width - lengths), len(self.bodies)
        )
        self._build(items)

    # ---- set-up ---------------------------------------------------------------------------------------------------
    def _joints(self, model: Model) -> list[ConstraintItem]:
        items = []
        for j in model.joints.values():
            flat = j.kind == "cam" and j.follower is not None and j.follower.direction is not None
            carrier = j.carrier if j.carrier is not None else FRAME
            items.append(ConstraintItem(j.name, "cam-flat" if flat else j.kind, (j.first, j.second, carrier), joint=j))
        return items

    def _rods(self, model: Model) -> list[ConstraintItem]:
        ends = {b.name: ends_of(model.joints, b.name) for b in model.bodies.values() if b.rod}
        return [ConstraintItem(f"spin of {b}", "spin", (FRAME, b, FRAME), axis=p[1] - p[0]) for b, p in ends.items()]

    def _driver(self, model: Model, d: Driver) -> ConstraintItem:
        joint = model.joints[d.joint] if d.joint is not None else None
        first, second = (joint.first, joint.second) if joint else d.bodies
        screw = d.kind == "angle" and joint is not None and joint.kind == "H"
        return ConstraintItem(d.name, "driver screw" if screw else f"driver {d.kind}", (first, second, FRAME), joint, d)

    def _build(self, items: list[ConstraintItem]) -> None:
        table = PLANAR if self.planar else SPATIAL
        kinds = dict.fromkeys(i.kind for i in items)
        names: list[str] = []
        scales: list[float] = []
        batches = []
        for kind in kinds:
            members = [i for i in items if i.kind == kind]
            batches.append(self._batch(kind, members, len(names)))
            for i in members:
                pattern = table[kind][1]
                names += [i.name] * len(pattern)
                unit = 1 + abs(i.joint.ratio) if kind == "gear" and i.joint else 1.0
                scales += [self.size if letter == "l" else unit for letter in pattern]
        self.batches = tuple(batches)
        self.names = tuple(names)  # the joint, driver or rod that each row belongs to
        self.row_scale = np.array(scales)  # divide rows
        self.n_rows = len(names)
        self.of_driver = np.zeros(self.n_rows, dtype=bool)  # a joint and a driver may have the same name
        for batch in batches:
            if batch.kind.startswith("driver"):
                self.of_driver[batch.start : batch.start + len(batch.names)] = True

    def _batch(self, kind: str, items: list[ConstraintItem], start: int) -> JointBatch:
        vectors = np.zeros((6, len(items), 3))
        a, b, axis_a, axis_b, normal_a, normal_b = vectors  # views
        number, offset = np.zeros(len(items)), np.zeros(len(items))
        memory = np.full(len(items), -1)
        for k, i in enumerate(items):
            j = i.joint
            if j is not None:
                vectors[:, k] = j.in_space
                memory[k] = self._contacts.get(j.name, self._turns.get(j.name, -1))
                if j.carrier_normal is not None:
                    a[k] = j.carrier_normal
                number[k], offset[k] = self._constants(j)
                if j.follower is not None and j.follower.direction is not None:
                    axis_b[k, :2] = j.follower.direction
            if i.axis is not None:
                axis_b[k] = i.axis / np.hypot.reduce(i.axis)  # without squares, which may be out of range
            if i.driver is not None and i.driver.ends is not None:
                for block, end in zip((a, b), i.driver.ends, strict=True):
                    block[k, : len(end)] = end
            if i.driver is not None and i.driver.axis is not None:
                axis_a[k, : len(i.driver.axis)] = i.driver.axis
        if self.planar:
            normal_a[:] = cross(Z, axis_a)
        first, second, third = (np.array([self.index[i.bodies[n]] for i in items]) for n in range(3))
        return JointBatch(
            kind,
            tuple(i.name for i in items),
            start,
            first,
            second,
            third,
            memory,
            number=number,
            offset=offset,
            profiles=tuple(i.joint.profile for i in items if i.joint and i.joint.profile),
            a=a,
            b=b,
            axis_a=axis_a,
            axis_b=axis_b,
            normal_a=normal_a,
            normal_b=normal_b,
        )

    def _constants(self, j: Joint) -> tuple[float, float]:
        """Return the number of a joint and the offset that the first configuration gives it."""
        if j.kind == "P":
            return 0.0, j.angle
        if j.kind == "H":
            return j.pitch, 0.0
        if j.kind == "cam":
            return (j.follower.radius if j.follower else 0.0), 0.0
        first, second = self.model.bodies[j.first], self.model.bodies[j.second]
        if j.kind == "on-cylinder":
            return j.radius, 0.0
        if j.kind == "gear" and not self.planar:
            return j.ratio, 0.0
        if j.kind == "gear":
            carrier = self.model.bodies[j.carrier or FRAME].angle
            return j.ratio, second.angle - carrier - j.ratio * (first.angle - carrier)
        if j.kind == "rack":
            along = j.axis_b @ (second.inside(first.outside(j.a)) - j.b)
            return j.radius, float(along + j.radius * (first.angle - second.angle))
        return 0.0, 0.0

    # ---- poses ----------------------------------------------------------------------------------------------------
    def first(self) -> Poses:
        """Return the poses of the first configuration."""
        return self.posed({})

    def posed(self, places: Mapping[str, tuple[Array, Array | float]]) -> Poses:
        """Return poses from (origin, angle or rotation) of bodies; bodies not given are in the first configuration."""
        n = len(self.index)
        origin, angle = np.zeros((n, 3)), np.zeros(n)
        rotation = np.tile(np.eye(3), (n, 1, 1))
        for name, k in self.index.items():
            body = self.model.bodies[name]
            place, pose = places.get(name, (body.origin, body.angle if self.planar else body.rotation))
            origin[k, : len(place)] = place
            if self.planar:
                angle[k] = pose
            else:
                rotation[k] = pose
        if self.planar:
            rotation = turned(angle)
        turn = np.zeros(len(self._turns))
        return self.touching(Poses(origin, rotation, angle, np.zeros(len(self._contacts)), turn, self.planar))

    def touching(self, poses: Poses) -> Poses:
        """Return the poses with each cam's contact searched round its whole outline."""
        contact = poses.contact.copy()
        grid = np.linspace(-np.pi, np.pi, 721)
        for batch in self.batches:
            for k in range(len(batch.names) if batch.kind.startswith("cam") else 0):
                many = batch.repeated(k, len(grid))
                rows = np.array([t.value for t in PLANAR[batch.kind][0](BodyPair(many, replace(poses, contact=grid)))])
                if batch.kind == "cam":
                    best = int(np.argmin(np.hypot.reduce(rows)))  # whose squares need not be finite
                else:  # where the outline is parallel to the face, the place nearest to it
                    level = np.flatnonzero(rows[1, :-1] * rows[1, 1:] <= 0)
                    best = int(level[np.argmin(np.abs(rows[0, level]))]) if len(level) else 0
                contact[batch.memory[k]] = grid[best]
        return replace(poses, contact=contact)

    def remember(self, poses: Poses) -> Poses:
        """Return the poses with the turns of spatial joints remembered as they are now."""
        turn = poses.turn.copy()
        for batch in self.batches:
            if batch.kind in ("R", "C", "H") and not self.planar:
                turn[batch.memory] = BodyPair(batch, poses).turn().value
            elif batch.kind == "gear" and not self.planar:
                turn[batch.memory] = wheel_turn(BodyPair(batch, poses)).value
        return replace(poses, turn=turn)

    def at_turns(self, poses: Poses, turns: Mapping[str, float]) -> Poses:
        """Return the poses with the turns of some spatial joints (of a gear: of its first wheel) remembered."""
        turn = poses.turn.copy()
        for name, value in turns.items():
            turn[self._turns[name]] = value
        return replace(poses, turn=turn)

    def spread(self, unknowns: Numbers) -> tuple[Numbers, Numbers]:
        """Return unknowns (one per column) as twists of all bodies (n x 6) and rates of all contacts."""
        twist = np.zeros((len(self.index), 6), dtype=unknowns.dtype)
        width = len(self.components)
        rows = np.array([self.index[b] for b in self.bodies], dtype=np.int64)
        twist[rows[:, None], np.array(self.components)] = unknowns[: width * len(rows)].reshape(-1, width)
        contact = np.zeros(len(self.contact_column), dtype=unknowns.dtype)
        mine = self.contact_column >= 0
        contact[mine] = unknowns[self.contact_column[mine]]
        return twist, contact

    def flipped(self, poses: Poses) -> tuple[str, ...]:
        """Return the spatial joints whose axes have closed the wrong way round: rows of dot products allow it."""
        found: list[str] = []
        for batch in self.batches if not self.planar else ():
            pair = BodyPair(batch, poses)
            cosine = np.einsum("mi,mi->m", pair.axis, pair.axis_b)
            if batch.kind == "P":
                cosine = np.minimum(cosine, np.einsum("mi,mi->m", pair.normal, pair.normal_b))
            if batch.kind in ("R", "P", "C", "H", "planar"):
                found += [name for name, c in zip(batch.names, cosine, strict=True) if c < 0]
        return tuple(found)

    # ---- rows -----------------------------------------------------------------------------------------------------
    def rows(self, poses: Poses, values: Mapping[str, float]) -> Numbers:
        """Return the residual of every row; `values` are those of the drivers."""
        parts = []
        for batch, terms in self.terms_at(poses):
            value = np.stack([t.value for t in terms], axis=1)
            if batch.kind.startswith("driver"):
                value = value - np.array([[values[name]] for name in batch.names])
            if batch.kind in WHOLE_TURNS_ARE_ALIKE:
                value = nearest_turn(value)
            parts.append(value.ravel())
        return np.concatenate(parts) if parts else np.zeros(0)

    def measured(self, poses: Poses) -> dict[str, float]:
        """Return the values that the drivers' coordinates have at the poses."""
        found: dict[str, float] = {}
        for batch, terms in self.terms_at(poses, "driver"):
            found.update(zip(batch.names, terms[0].value.tolist(), strict=True))
        return found

    def per_driver(self, values: Mapping[str, float]) -> Array:
        """Return a vector with one entry per row: the drivers' values in their rows, zero in all others."""
        found = np.zeros(self.n_rows)
        for batch in self.batches:
            if batch.kind.startswith("driver"):
                found[batch.start : batch.start + len(batch.names)] = [values[name] for name in batch.names]
        return found

    def triplets(self, poses: Poses) -> tuple[Indices, Indices, Numbers]:
        """Return the Jacobian by the unknown twists and contacts as rows, columns and values; doubles add up."""
        found: list[tuple[Indices, Indices, Numbers]] = []
        components = np.array(self.components)
        for batch, terms in self.terms_at(poses):
            row = batch.start + np.arange(len(batch.names) * len(terms)).reshape(-1, len(terms))
            for body, role in ((batch.first, "first"), (batch.second, "second"), (batch.third, "third")):
                mine = self.column[body] >= 0
                if not mine.any() or getattr(terms[0], role) is None:
                    continue
                block = np.stack([getattr(t, role) for t in terms], axis=1)[mine][:, :, components]
                column = (self.column[body[mine]][:, None] + np.arange(len(components)))[:, None, :]
                where = np.broadcast_arrays(row[mine][:, :, None], column, block)
                found.append((where[0].ravel(), where[1].ravel(), block.ravel()))
            if terms[0].contact is not None:
                block = np.stack([t.contact for t in terms if t.contact is not None], axis=1)
                column = np.broadcast_to(self.contact_column[batch.memory][:, None], block.shape)
                found.append((row.ravel(), column.ravel(), block.ravel()))
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        rows, columns, values = (np.concatenate(x) for x in zip(*found, strict=True))
        return rows, columns, values

    def jacobian(self, poses: Poses) -> Numbers:
        """Return the Jacobian by the unknown twists and contacts as a dense matrix."""
        rows, columns, values = self.triplets(poses)
        dense = np.zeros((self.n_rows, self.n_columns), dtype=values.dtype)
        np.add.at(dense, (rows, columns), values)
        return dense

    def gamma(self, poses: Poses, velocity: Array) -> Array:
        """Return d/dt(J) ν along the motion ν (one rate per column), by a complex step: exact to rounding."""
        twist, contact = self.spread(velocity)
        rows, columns, values = self.triplets(poses.tangent(1j * STEP * twist, 1j * STEP * contact))
        product = values.imag / STEP * velocity[columns]
        return np.asarray(np.bincount(rows, weights=product, minlength=self.n_rows), dtype=np.float64)

    def times(self, poses: Poses, vector: Array) -> Array:
        """Return J times a vector with one entry per column."""
        rows, columns, values = self.triplets(poses)
        return np.asarray(np.bincount(rows, weights=values * vector[columns], minlength=self.n_rows), dtype=np.float64)

    def terms_at(self, poses: Poses, kinds: str = "") -> list[tuple[JointBatch, list[JointTerm]]]:
        table = PLANAR if self.planar else SPATIAL
        wanted = [batch for batch in self.batches if batch.kind.startswith(kinds)]
        return [(batch, table[batch.kind][0](BodyPair(batch, poses))) for batch in wanted]
