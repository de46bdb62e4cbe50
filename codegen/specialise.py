"""Kernels of a type for a program module: entries that are always zero folded away, and what needs them dropped.

A constant coordinate has no rates. The compiler may not drop 0.0 * x by itself, for x could be infinite, and telling
it to assume finite numbers would also remove the checks for lanes that cannot be closed. So it is done here, on the
text of the kernel that this program emitted: straight-line assignments of arithmetic expressions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from .printer import WIDTH, broken

Zeros = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class KernelText:
    """A kernel as text: its lines after the decorator."""

    name: str
    lines: tuple[str, ...]


def specialised(module: ModuleType, function: str, name: str, zeros: Zeros) -> KernelText:
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
    return KernelText(name, tuple(_text(node, name, _needed(body))))


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


def _text(node: ast.FunctionDef, name: str, body: list[ast.stmt]) -> list[str]:
    lines = [f"def {name}({', '.join(a.arg for a in node.args.args)}):"]
    for statement in body:
        line = f"    {ast.unparse(statement)}"
        if isinstance(statement, ast.Expr):
            line = f'    """{ast.get_docstring(node)}"""'
        elif isinstance(statement, ast.Assign) and len(line) > WIDTH:
            head = f"    {ast.unparse(statement.targets[0])} = ("
            line = broken(head, ast.unparse(statement.value), "    ")
        lines += line.split("\n")
    return lines
