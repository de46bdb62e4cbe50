"""Kernels of a type for a program module: entries that are always zero folded away, and what needs them dropped.

A constant coordinate has no rates. The compiler may not drop 0.0 * x by itself, for x could be infinite, and telling
it to assume finite numbers would also remove the checks for lanes that cannot be closed. So it is done here, on the
text of the kernel that this program emitted: straight-line assignments of arithmetic expressions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

from .printer import WIDTH, broken

Zeros = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class Kernel:
    """A straight-line kernel under a name of its own."""

    name: str
    arguments: tuple[str, ...]
    doc: str
    body: tuple[ast.stmt, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The text, after the decorator."""
        return tuple(_text(self))


def specialised(module: ModuleType, function: str, name: str, zeros: Zeros) -> Kernel:
    """Return a kernel of an emitted module under a new name; `zeros`: which entries of its vectors are zero."""
    node = copy.deepcopy(_functions(Path(str(module.__file__)))[function])
    vanishing: set[str] = set()
    for statement in node.body:
        vanishing |= _unpacked_zeros(statement, zeros)
    body: list[ast.stmt] = []
    for statement in node.body:
        if not isinstance(statement, ast.Assign) or isinstance(statement.targets[0], ast.Tuple):
            body.append(_Fold(vanishing).visit(statement) if isinstance(statement, ast.Return) else statement)
            continue
        statement.value = _Fold(vanishing).visit(statement.value)
        target = statement.targets[0]
        if isinstance(target, ast.Name) and _is_zero(statement.value):
            vanishing.add(target.id)
        else:
            body.append(statement)
    arguments = tuple(a.arg for a in node.args.args)
    return Kernel(name, arguments, ast.get_docstring(node) or "", tuple(_needed(body)))


# ---- a number that all right-hand sides share ---------------------------------------------------------------------
def common_factor(rates: Sequence[Kernel]) -> float:
    """Return the number that every result of some kernels is a multiple of by its text, one where there is none."""
    found: set[float] = set()
    for kernel in rates:
        values = {s.targets[0].id: s.value for s in kernel.body if _assigns(s)}  # type: ignore[attr-defined]
        (result,) = (s.value for s in kernel.body if isinstance(s, ast.Return))
        entries = result.elts if isinstance(result, ast.Tuple) else []
        found |= {_factor(values[e.id]) if isinstance(e, ast.Name) else 1.0 for e in entries if not _is_zero(e)}
    return found.pop() if len(found) == 1 else 1.0


def divided(kernel: Kernel, factor: float) -> Kernel:
    """Return a kernel with all results divided by a number that they are multiples of."""
    (result,) = (s.value for s in kernel.body if isinstance(s, ast.Return))
    names = {e.id for e in ast.walk(result) if isinstance(e, ast.Name)}  # type: ignore[arg-type]
    body = copy.deepcopy(kernel.body)
    for statement in body:
        if _assigns(statement) and statement.targets[0].id in names:  # type: ignore[attr-defined]
            product = statement.value  # type: ignore[attr-defined]
            sign = isinstance(product.left, ast.UnaryOp)
            statement.value = ast.UnaryOp(ast.USub(), product.right) if sign else product.right  # type: ignore[attr-defined]
    return replace(kernel, body=body)


def with_larger_inverse(factors: Kernel, factor: float) -> Kernel | None:
    """Return the kernel of an inverse that is so many times as large; None where it is not made by one division."""
    body = copy.deepcopy(factors.body)
    divisions = [n for s in body for n in ast.walk(s) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    (result,) = (s.value for s in body if isinstance(s, ast.Return))
    inverses = all(isinstance(e, ast.Name) and e.id.startswith("inv") for e in getattr(result, "elts", []))
    if len(divisions) != 1 or not inverses or not isinstance(divisions[0].left, ast.Constant):
        return None
    divisions[0].left = ast.Constant(float(divisions[0].left.value) * factor)  # type: ignore[arg-type]
    return replace(factors, body=body)


def _assigns(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _factor(value: ast.expr) -> float:
    """Return the size of a number that a product begins with, one for anything else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        first = value.left.operand if isinstance(value.left, ast.UnaryOp) else value.left
        if isinstance(first, ast.Constant) and isinstance(first.value, float):
            return abs(first.value)
    return 1.0


@cache
def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _unpacked_zeros(statement: ast.stmt, zeros: Zeros) -> set[str]:
    """Return the names that an unpacking of a vector gives to its zero entries."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return set()
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple):
        return set()
    entries = zeros.get(statement.value.id, frozenset())
    return {e.id for i, e in enumerate(target.elts) if i in entries and isinstance(e, ast.Name)}


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0.0


class _Fold(ast.NodeTransformer):
    """Arithmetic with zeros: 0 x = 0, 0 + x = x, -0 = 0, 0 / x = 0."""

    def __init__(self, vanishing: set[str]) -> None:
        self.vanishing = vanishing

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(0.0) if node.id in self.vanishing else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return node.operand if isinstance(node.op, ast.USub) and _is_zero(node.operand) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        left, right = _is_zero(node.left), _is_zero(node.right)
        match node.op:
            case ast.Mult() if left or right:
                return ast.Constant(0.0)
            case ast.Div() if left:
                return ast.Constant(0.0)
            case ast.Add() if left:
                return node.right
            case ast.Add() | ast.Sub() if right:
                return node.left
            case ast.Sub() if left:
                return ast.UnaryOp(ast.USub(), node.right)
        return node


def _needed(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that the results need."""
    used: set[str] = set()
    kept: list[ast.stmt] = []
    for statement in reversed(body):
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id not in used:
                continue
            if isinstance(target, ast.Tuple) and not used & {e.id for e in target.elts if isinstance(e, ast.Name)}:
                continue
            used |= {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
        else:
            used |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        kept.append(statement)
    return kept[::-1]


def _text(kernel: Kernel) -> list[str]:
    lines = [f"def {kernel.name}({', '.join(kernel.arguments)}):"]
    for statement in kernel.body:
        line = f"    {ast.unparse(statement)}"
        if isinstance(statement, ast.Expr):
            line = f'    """{kernel.doc}"""'
        elif isinstance(statement, ast.Assign) and len(line) > WIDTH:
            head = f"    {ast.unparse(statement.targets[0])} = ("
            line = broken(head, ast.unparse(statement.value), "    ")
        lines += line.split("\n")
    return lines
