"""The matrices of the semi-recursive methods in symbols against the paper and against compiled ones."""

from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from assurgent.dynamics.initial_state import begin
from assurgent.dynamics.semirecursive import SemiRecursive1
from assurgent.dynamics.semirecursive_symbols import Blackboard, shown, singular_pairs
from assurgent.mechanism.reader import load

EXAMPLES = Path(__file__).parents[2] / "examples" / "dynamics"


def test_the_open_loop_of_the_paper():
    model = load(EXAMPLES / "yu-open-loop.toml")
    text = shown(model, "text")
    assert "C_q V = 0 (Eq. 12): an identity" in text
    assert "V = D T R_d (Eq. 28, 35): an identity" in text
    assert "theta_arm and theta_slider cannot be independent together" in text
    board = Blackboard(SemiRecursive1(model, begin(model).posture).tree)
    C, names = board.C_q()
    angles = [2, 5]
    rest = [0, 1, 3, 4]
    assert C.extract(list(range(4)), rest).det() == 0  # θ1 and θ2 together, as the paper says
    assert C.extract(list(range(4)), [k for k in range(6) if k not in (0, 3)]).det() != 0
    assert len(singular_pairs(board, C, names)) == 1
    H, chosen = board.H(C)
    assert chosen != angles
    assert sp.simplify(C * H).is_zero_matrix  # Eq. 6, 7
    assert "matrix" in shown(model, "latex")


def test_quick_return_as_compiled():
    """V of Eq. 38 in symbols, its places put in, is the compiled V."""
    model = load(EXAMPLES / "yu-quick-return.toml")
    method = SemiRecursive1(model, begin(model).posture)
    board = Blackboard(method.tree)
    V = board.V()
    assert board.T() == sp.Matrix([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0], [1, 0, 1, 0, 1]])
    values, posture, index = {}, method.posture(), list(model.bodies)
    for branch in method.tree.branches:
        i, p = index.index(branch.body), index.index(branch.parent)
        x, y = method.system.bodies[i, :2]
        values |= {f"x_{branch.body}": x, f"y_{branch.body}": y}
        X, Y = posture.origin[i] + posture.rotation[i] @ branch.b
        hx, hy = posture.rotation[p] @ np.array(branch.motions[0].axis)[:2]
        name = branch.joint.name
        values |= {f"X_{name}": X, f"Y_{name}": Y, f"hx_{name}": hx, f"hy_{name}": hy}
    order = [3 * (index.index(b) - 1) + c for b in board.bodies for c in range(3)]
    found = np.array(V.subs(values).tolist(), dtype=np.float64)
    assert found == pytest.approx(method.transformation()[order], abs=1e-13)
