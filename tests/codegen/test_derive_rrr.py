"""The RRR dyad's derivation against the printed equations of Saura, Segado and Dopico, as symbolic identities."""

from __future__ import annotations

import pytest
import sympy as sp

from assurgent.codegen.derive import Derivation, derive, symbol
from assurgent.codegen.specification_reader import read_spec
from assurgent.runtime.library import package_folder

x_A, y_A, x_B, y_B, x_C, y_C = (symbol(n) for n in ("x_A", "y_A", "x_B", "y_B", "x_C", "y_C"))
L_AC, L_BC = symbol("L_AC"), symbol("L_BC")


def dot(x: sp.Symbol) -> sp.Symbol:
    return symbol(f"{x.name}_dot")


CHI = 2 * (x_A * y_B - x_B * y_A - x_A * y_C + x_C * y_A + x_B * y_C - x_C * y_B)  # Eq. 20b


@pytest.fixture(scope="module")
def rrr() -> Derivation:
    return derive(read_spec(package_folder("codegen") / "groups" / "rrr.toml"))


def vanishes(matrix: sp.MatrixBase) -> bool:
    return all(sp.simplify(e) == 0 for e in matrix)


def test_constraints_are_eq_18(rrr: Derivation) -> None:
    printed = sp.Matrix([(x_C - x_A) ** 2 + (y_C - y_A) ** 2 - L_AC**2, (x_C - x_B) ** 2 + (y_C - y_B) ** 2 - L_BC**2])
    assert vanishes(sp.Matrix(rrr.Phi) - printed)


def test_jacobian_is_eq_19b(rrr: Derivation) -> None:
    printed = sp.Matrix([[2 * (x_C - x_A), 2 * (y_C - y_A)], [2 * (x_C - x_B), 2 * (y_C - y_B)]])
    assert vanishes(rrr.Phi_phi - printed)


def test_inverse_is_eq_20(rrr: Derivation) -> None:
    printed = sp.Matrix([[y_C - y_B, -(y_C - y_A)], [-(x_C - x_B), x_C - x_A]]) / CHI
    assert vanishes(rrr.Phi_phi * printed - sp.eye(2))


def test_independent_jacobian_is_eq_24(rrr: Derivation) -> None:
    printed = sp.Matrix([[-2 * (x_C - x_A), -2 * (y_C - y_A), 0, 0], [0, 0, -2 * (x_C - x_B), -2 * (y_C - y_B)]])
    assert vanishes(rrr.Phi_h - printed)
    assert rrr.Phi_t == (0, 0)
    assert not rrr.rheonomic


def test_velocity_coefficients_are_eq_27(rrr: Derivation) -> None:
    printed = sp.Matrix(
        [
            [
                2 * (x_A - x_C) * (y_B - y_C),
                2 * (y_A - y_C) * (y_B - y_C),
                -2 * (x_B - x_C) * (y_A - y_C),
                -2 * (y_B - y_C) * (y_A - y_C),
            ],
            [
                -2 * (x_A - x_C) * (x_B - x_C),
                -2 * (y_A - y_C) * (x_B - x_C),
                2 * (x_B - x_C) * (x_A - x_C),
                2 * (y_B - y_C) * (x_A - x_C),
            ],
        ]
    )
    assert rrr.K is not None
    assert vanishes(rrr.K - printed / CHI)


def test_velocity_terms_are_eq_31(rrr: Derivation) -> None:
    def row(x: sp.Symbol, y: sp.Symbol) -> sp.Expr:
        relative_x, relative_y = dot(x_C) - dot(x), dot(y_C) - dot(y)
        return 2 * relative_x * dot(x_C) + 2 * relative_y * dot(y_C) - 2 * relative_x * dot(x) - 2 * relative_y * dot(y)

    assert vanishes(sp.Matrix(rrr.gamma) - sp.Matrix([row(x_A, y_A), row(x_B, y_B)]))


def test_first_column_of_L_is_eq_40_with_its_sign_corrected(rrr: Derivation) -> None:
    """The printed column has the opposite sign (checked by differentiating Eq. 27 along dφ = K dh)."""
    K = rrr.K
    assert K is not None
    K11, K21 = K[0, 0], K[1, 0]
    q1 = 2 * K11**2 + 2 * K21**2
    q2 = 2 * K21**2 - 2 * K11 + K11 * (2 * K11 - 2) + 2
    corrected = sp.Matrix([(y_B - y_C) * q2 - (y_A - y_C) * q1, (x_A - x_C) * q1 - (x_B - x_C) * q2]) / CHI
    column = K[:, 0]
    total = column.diff(x_A) + column.diff(x_C) * K11 + column.diff(y_C) * K21
    assert vanishes(total - corrected)
    values = {x_A: 1, y_A: 2, x_B: 7, y_B: 3, x_C: 4, y_C: 9}
    assert total.subs(values) == corrected.subs(values) != -corrected.subs(values)


def test_right_hand_sides_close_the_differentiated_constraints(rrr: Derivation) -> None:
    """Φ_φ φ̇ - rhs is dΦ/dt, and Φ_φ φ̈ - rhs is d²Φ/dt², for functions of time put into Φ."""
    t = sp.Symbol("time", real=True)
    functions = {x: sp.Function(x.name)(t) for x in (*rrr.phi.symbols, *rrr.h.symbols)}
    along = sp.Matrix(rrr.Phi).xreplace(functions)
    back: dict[sp.Expr, sp.Expr] = {}
    for x, f in functions.items():
        back |= {f: x, f.diff(t): symbol(f"{x.name}_dot"), f.diff(t, 2): symbol(f"{x.name}_ddot")}
    first = along.diff(t).subs(back, simultaneous=True)
    second = along.diff(t, 2).doit().subs(dict(reversed(back.items())), simultaneous=True)
    assert vanishes(first - (rrr.Phi_phi * sp.Matrix(rrr.phi.rate(1)) - sp.Matrix(rrr.velocity_rhs)))
    assert vanishes(second - (rrr.Phi_phi * sp.Matrix(rrr.phi.rate(2)) - sp.Matrix(rrr.acceleration_rhs)))
