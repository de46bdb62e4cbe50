"""Groups without a closed form: a planar triad, a spatial group of eight unknowns, chains of triads, a platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..common.type_files import module_name
from ..mechanism.plans.plan import Array
from ..runtime.group_type import GroupType
from ..runtime.library import key_of
from ..runtime.store import Store
from .chains import PLANAR_SPEED, Chain, drafted, turning
from .competitors import Check
from .data_files import text
from .drafts import ProgramDraft
from .time_derivatives import Jet, constant

DEGREE = float(np.radians(1.0)) / PLANAR_SPEED  # time in which the input turns by a degree: the step of these cases
Track = tuple[Jet, ...]  # a point over time


def length_error(rods: Iterable[tuple[Track, Track, float | Jet]]) -> float:
    """Return how far rods are from their lengths, and the rates of the squares from theirs, relative."""
    worst = 0.0
    for a, b, length in rods:
        d = [y - x for x, y in zip(a, b, strict=True)]
        wanted = length if isinstance(length, Jet) else constant(length, d[0])
        parts = [x * x for x in d]
        lack = sum(parts[1:], parts[0]) - wanted * wanted
        size = float(wanted.x.max())
        v, w = (
            max(float(np.abs(x).max()) for x in part) for part in ([x.v for x in (*a, *b)], [x.a for x in (*a, *b)])
        )
        for x, scale in ((lack.x, size), (lack.v, v), (lack.a, w + v * v / size)):
            worst = max(worst, float(np.abs(x).max()) / (size * scale))
    return worst


def track(state: Array, rows: Sequence[int]) -> Track:
    """Return the motion of the point in some rows."""
    return tuple(Jet(*state[:, row]) for row in rows)


# ---- planar triads ------------------------------------------------------------------------------------------------
ARM = 0.15
_ANGLES = np.radians([210.0, 330.0, 90.0])
_BODY = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)  # D, E, F on a circle; the legs stand across its radii
_BASE = np.stack([np.cos(_ANGLES) - 2 * np.sin(_ANGLES), np.sin(_ANGLES) + 2 * np.cos(_ANGLES)], axis=1)  # A, B, C


def _triad_parameters() -> tuple[float, ...]:
    D, E, F = _BODY
    side = E - D
    along = (F - D) @ side / (side @ side)
    up = (F - D) @ np.array([-side[1], side[0]]) / (side @ side)
    legs = [float(np.hypot(*leg)) for leg in _BODY - _BASE]
    return (*legs, float(np.hypot(*side)), float(along), float(up))


def _rods(rods: Sequence[tuple[int, int, float]]) -> Check:
    """Return a check of planar rods: the first rows of both ends, and the length."""
    return lambda state: length_error(
        (track(state, (a, a + 1)), track(state, (b, b + 1)), length) for a, b, length in rods
    )


def triad_alone() -> tuple[Chain, Check]:
    """Return one triad of six revolutes whose input A is given on a circle; B and C are fixed."""
    draft, par = ProgramDraft("triad"), _triad_parameters()
    A, fixed = draft.rows(2), draft.constants(_BASE[1:].ravel())
    found = draft.group("triad-6R", (*A, *fixed), par, _BODY[:2].ravel().tolist())

    def given(time: Array) -> dict[int, Array]:
        theta = turning(0.0, PLANAR_SPEED, time)
        shift = theta.cos() - constant(1.0, theta), theta.sin()
        return {a: (x.times(ARM) + constant(float(c), x)).array() for a, x, c in zip(A, shift, _BASE[0], strict=True)}

    chain = drafted(draft, found, 4, 0.0, PLANAR_SPEED, given, DEGREE)
    return chain, _rods([(A[0], found[0], par[0]), (fixed[0], found[2], par[1]), (found[0], found[2], par[3])])


def triad_chain(k: int) -> tuple[Chain, Check]:
    """Return k triads on a crank, leg A of each pinned to the corner D of the one before; nEq = 4k + 2."""
    draft, par = ProgramDraft("triads"), _triad_parameters()
    shift = np.zeros(2)
    bases = []
    for _ in range(k):
        bases.append(draft.constants((_BASE[1:] + shift).ravel()))
        shift = shift + _BODY[0] - _BASE[0]
    pivot, level = draft.constants(_BASE[0] - (ARM, 0.0)), draft.constants((1.0, 0.0))
    known = draft.group("R", (*pivot, *level, draft.driver), (ARM,), _BASE[0].tolist())
    rows = list(known)
    shift = np.zeros(2)
    rods: list[tuple[int, int, float]] = []
    for base in bases:
        found = draft.group("triad-6R", (*known, *base), par, (_BODY[:2] + shift).ravel().tolist())
        rods += [(known[0], found[0], par[0]), (base[0], found[2], par[1]), (found[0], found[2], par[3])]
        rows += found
        known = found[:2]
        shift = shift + _BODY[0] - _BASE[0]
    return drafted(draft, rows, 4 * k + 2, 0.0, PLANAR_SPEED, step=DEGREE), _rods(rods)


# ---- eight unknowns in space --------------------------------------------------------------------------------------
# Found by a search for the best condition over a turn of the input.
_P, _Q, _B = np.array([-0.3, -0.6, 1.0]), np.array([-1.0, -0.5, -0.5]), np.array([0.6, -1.2, 0.2])
_A1, _A2 = np.array([-1.1, 0.6, -0.3]), np.array([0.2, 1.2, 0.2])
_S1, _S2 = np.array([-0.5, -1.1, -0.3]), np.array([0.9, -0.4, -0.9])
_U1, _U2 = np.array([2.0, -6.0, 1.0]) / np.sqrt(41.0), np.array([1.0, 5.0, -3.0]) / np.sqrt(35.0)


def spatial_alone() -> tuple[Chain, Check]:
    """Return a spatial group of eight unknowns: a coupler on rods and sliders whose input B is given on a circle."""
    draft = ProgramDraft("coupler", "spatial")
    ends = ((_P, _Q), (_P, _B), (_P, _A2), (_Q, _A1), (_P, _S1), (_Q, _S1), (_P, _S2), (_Q, _S2))
    par = tuple(float(np.linalg.norm(a - b)) for a, b in ends)
    first = draft.rows(3)
    fixed = [draft.constants(x) for x in (_A1, _A2, _S1, _U1, _S2, _U2)]
    known = (*first, *(row for rows in fixed for row in rows))
    phi = draft.group(own_type("bench-coupler-8", text("coupler-8")), known, par, [*map(float, (*_P, *_Q)), 0.0, 0.0])

    def given(time: Array) -> dict[int, Array]:
        theta = turning(0.0, PLANAR_SPEED, time)
        shift = (theta.cos() - constant(1.0, theta), theta.sin(), theta.sin().times(0.5))
        return {first[i]: (x.times(ARM) + constant(float(_B[i]), x)).array() for i, x in enumerate(shift)}

    def check(state: Array) -> float:
        P, Q, B = (track(state, rows) for rows in (phi[:3], phi[3:6], first))
        A1, A2, D1, u1, D2, u2 = (track(state, rows) for rows in fixed)
        s1, s2 = Jet(*state[:, phi[6]]), Jet(*state[:, phi[7]])
        S1, S2 = (tuple(d + s * u for d, u in zip(D, U, strict=True)) for D, s, U in ((D1, s1, u1), (D2, s2, u2)))
        pairs = ((P, Q), (P, B), (P, A2), (Q, A1), (P, S1), (Q, S1), (P, S2), (Q, S2))
        return length_error((a, b, length) for (a, b), length in zip(pairs, par, strict=True))

    return drafted(draft, phi, 8, 0.0, PLANAR_SPEED, given, DEGREE), check


def own_type(name: str, text: str) -> GroupType:
    """Return a type of the benchmark's own; derived at first use and kept with the user's types."""
    store = Store()
    found = store.find(module_name(name), key_of(text))
    if found is None:
        from ..codegen.specification_reader import parse_spec
        from ..runtime.library_build import generate_type

        found = generate_type(parse_spec(text, f"{name}.toml"), store=store).stored
    return GroupType(found.load())
