"""Newton for all lanes at once gives what Newton lane by lane gives: the same digits, branch and stop."""

from __future__ import annotations

import numpy as np
import pytest

from assurgent.bench import newton_cases
from assurgent.bench.chains import PLANAR_SPEED, drafted
from assurgent.bench.competitors import Modular
from assurgent.bench.drafts import ProgramDraft
from assurgent.runtime import sequence

SAME = 1e-13  # relative, of each order
LANES = 3000


@pytest.fixture(autouse=True)
def _early(monkeypatch):
    monkeypatch.setattr(sequence, "AT_ONCE_FROM", 100)


def both(chain, n, step=None):
    """Run at once and lane by lane (blocks of one lane); returns both, without asking for completeness."""
    found = []
    for block in (None, 1):
        m = Modular(chain, n, step)
        _, iterations = m.sequence.run("td", m.time, m.state, m.edges, m.signs, block=block)
        rows = [r for s in chain.program.steps for r in s.phi_rows]
        found.append((m.state[:, rows].copy(), iterations))
    return found


@pytest.mark.parametrize("degrees", [0.1, 1.0, 3.0, 7.0, 20.0])
@pytest.mark.parametrize("case", [newton_cases.triad_alone, lambda: newton_cases.triad_chain(2)])
def test_same_digits_at_any_pace(case, degrees):
    chain, _ = case()
    (lanes, _), (serial, _) = both(chain, LANES, float(np.radians(degrees)) / PLANAR_SPEED)
    for order in range(3):
        assert np.abs(lanes[order] - serial[order]).max() <= SAME * np.abs(serial[order]).max()


def test_uneven_times():
    chain, _ = newton_cases.triad_alone()
    rng = np.random.default_rng(3)
    time = np.sort(rng.uniform(0.0, 0.6, LANES))  # some lanes nearly coincide, others are degrees apart
    found = []
    for block in (None, 1):
        m = Modular(chain, LANES)
        m.time[:] = time
        for row, motion in chain.given(time).items():
            m.state[:, row] = motion
        m.run("td", block)
        found.append(chain.read(m.state))
    for order in range(3):
        assert np.abs(found[0] - found[1])[order].max() <= SAME * np.abs(found[1][order]).max()


def test_work_was_done_at_once_and_is_counted():
    chain, _ = newton_cases.triad_alone()
    (_, lanes), (_, serial) = both(chain, LANES)
    assert lanes != serial  # another way was taken
    assert 2 * LANES <= lanes < 3 * LANES  # two steps in every lane, and those of the lanes that hold the branch


def drawn_away(rate):
    """Return a triad whose input A moves away from it until it cannot be closed."""
    draft, par = ProgramDraft("triad"), newton_cases._triad_parameters()
    base = newton_cases._BASE
    A, fixed = draft.rows(2), draft.constants(base[1:].ravel())
    found = draft.group("triad-6R", (*A, *fixed), par, newton_cases._BODY[:2].ravel().tolist())
    away = base[0] / np.linalg.norm(base[0])

    def given(time):
        s = np.stack([rate * time, np.full_like(time, rate), np.zeros_like(time)])
        motion = {a: float(c) * s for a, c in zip(A, away, strict=True)}
        for a, x in zip(A, base[0], strict=True):
            motion[a][0] += x
        return motion

    return drafted(draft, found, 4, 0.0, 1.0, given, 0.001)


@pytest.mark.parametrize("rate", [1.0, 1.7, 3.0])
def test_the_run_is_lost_at_the_same_lane(rate):
    (lanes, _), (serial, _) = both(drawn_away(rate), LANES)
    open_at = int(np.argmin(np.isfinite(serial).all(axis=(0, 1))))
    assert 0 < open_at < LANES  # it cannot be closed any more
    assert np.isfinite(lanes[:, :, :open_at]).all()
    assert np.isnan(lanes[:, :, open_at + 1 :]).all()
    assert np.isnan(serial[:, :, open_at + 1 :]).all()
    assert not np.isfinite(lanes[:, :, open_at]).all()
    # next to the dead point, where the last digits are worth little, the branch is still the same
    before = slice(0, open_at)
    assert np.abs(lanes[0, :, before] - serial[0, :, before]).max() < 1e-7
    far = slice(0, open_at - LANES // 10)
    assert np.abs(lanes[0, :, far] - serial[0, :, far]).max() < 1e-12


def test_few_lanes_go_one_by_one(monkeypatch):
    monkeypatch.setattr(sequence, "AT_ONCE_FROM", 10_000)
    chain, _ = newton_cases.triad_alone()
    (lanes, a), (serial, b) = both(chain, 361)
    assert a == b
    assert (lanes == serial).all()
