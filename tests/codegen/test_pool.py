"""Value numbering: equal values are one node, in an order without hashing; operations are counted."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import pytest
import sympy as sp

from assurgent.codegen import ir, printer
from assurgent.codegen.closedform import find_closed_form
from assurgent.codegen.derive import derive
from assurgent.codegen.kernels import build_kernels
from assurgent.codegen.specification_reader import read_spec
from assurgent.codegen.value_numbering import Pool
from assurgent.runtime.library import package_folder

X, Y, Z = sp.symbols("x y z", real=True)
RRR = package_folder("codegen") / "groups" / "rrr.toml"


def printed(pool: Pool) -> list[str]:
    return [printer.statement(s, 0) for section in pool.sections() for s in section.statements]


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        (X - Y, 2 * Y - 2 * X, Fraction(-2)),
        (X + Y, 3 * Y + 3 * X, Fraction(3)),
        (X * Y, -Y * X / 5, Fraction(-1, 5)),
        ((X - Y) ** 2, (Y - X) ** 2, Fraction(1)),
        ((X - Y) ** 3, (Y - X) ** 3, Fraction(-1)),
        (1 / (X - Y), 1 / (4 * Y - 4 * X), Fraction(-1, 4)),
        (sp.Abs(X - Y), sp.Abs(Y - X), Fraction(1)),
        (sp.sqrt(X**2 + Y**2), sp.sqrt(Y**2 + X**2), Fraction(1)),
    ],
)
def test_equal_values_share_a_node(first: sp.Expr, second: sp.Expr, ratio: Fraction) -> None:
    """Values that differ by a number are one node; the number travels outside."""
    pool = Pool(["x", "y"])
    one, two = pool.freeze(first), pool.freeze(second)
    assert one.node == two.node
    assert two.factor / one.factor == ratio


def test_what_is_used_twice_is_computed_once() -> None:
    pool = Pool(["x", "y"])
    pool.assign("p", pool.freeze((X - Y) ** 2))
    pool.assign("q", pool.freeze(sp.exp(2 * Y - 2 * X)))
    assert printed(pool) == ["_t0 = x - y", "p = _t0 * _t0", "q = math.exp(-2.0 * _t0)"]


def test_like_terms_and_constants_fold() -> None:
    pool = Pool(["x", "y"])
    x, y = pool.symbol("x"), pool.symbol("y")
    assert (x - x).is_zero
    assert (x / x).constant == 1
    assert (x + y - x) == y
    assert (2 * x * 3) / x == pool.number(6)
    assert pool.call("sqrt", pool.number(1)).constant == 1
    assert pool.select(x, y, x, x) == x


def test_division_by_zero_is_refused() -> None:
    pool = Pool(["x"])
    x = pool.symbol("x")
    with pytest.raises(ZeroDivisionError, match="always zero"):
        _ = 1 / (x - x)


def test_fresh_name_is_nobody_elses() -> None:
    """A hint is numbered where it is taken, past inputs whose own names end in such a number."""
    pool = Pool(["tau", "tau_2", "x0"])
    found = [pool.fresh(h) for h in ("tau", "tau", "x0", "x0_2", "x0", "root", "root", "root_2")]
    assert found == ["tau_3", "tau_4", "x0_2", "x0_2_2", "x0_3", "root", "root_2", "root_2_2"]
    assert len({*found, "tau", "tau_2", "x0"}) == len(found) + 3


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (X, 0),
        (-X, 0),
        (X + Y, 1),
        (X + 2, 1),
        (2 * X - 3, 2),
        (X * Y * Z, 2),
        (X / Y, 1),
        (1 / X, 1),
        (1 / X**2, 2),
        (X**3, 2),
        ((X - Y) ** 2, 2),
        (sp.sin(X + Y), 2),
        (2 * X * Y, 2),
    ],
)
def test_operation_count(expression: sp.Expr, count: int) -> None:
    """+ - * / and functions count one each, x**n counts n - 1; signs are free."""
    pool = Pool(["x", "y", "z"])
    pool.assign("r", pool.freeze(expression))
    assert sum(ir.operations(s.value) for section in pool.sections() for s in section.statements) == count


def test_operations_of_the_rrr_constraints() -> None:
    """Twice |C - P|^2 - L^2: two differences, two squares, their sum, L squared, the last difference."""
    derivation = derive(read_spec(RRR))
    kernels = build_kernels(derivation, find_closed_form(derivation), derivation.blocks).kernels
    (constraint,) = (k for k in kernels if k.name == "constraint_at")
    assert constraint.operations == 2 * (2 + 2 + 1 + 1 + 1)


PROGRAM = """
import hashlib
from assurgent.codegen.closedform import find_closed_form
from assurgent.codegen.derive import derive
from assurgent.codegen.emit import emit
from assurgent.codegen.kernels import build_kernels
from assurgent.codegen.specification_reader import read_spec
from assurgent.runtime.library import package_folder

derivation = derive(read_spec(package_folder("codegen") / "groups" / "rrr.toml"))
module = emit(derivation, build_kernels(derivation, find_closed_form(derivation), derivation.blocks), "rrr.toml")
print(hashlib.sha256(module.text.encode()).hexdigest())
"""


def test_text_does_not_depend_on_hashing() -> None:
    """Three processes with three hash seeds emit the same bytes."""
    digests = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout.strip())
    assert len(digests) == 1
    assert len(digests.pop()) == 64
