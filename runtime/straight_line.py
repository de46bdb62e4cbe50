"""Straight-line kernels as machine code without the front end of Numba.

Numba needs two milliseconds for each operation of a kernel: it translates byte code, infers types, resolves branches.
A straight-line kernel has nothing to infer: every scalar is a double. So its text is read and its operations are handed
to LLVM one by one, within whatever compiled function calls it; outside compiled code it stays a Python function.

The module that holds a kernel carries in its header a digest of this file: Numba looks only at the callers' own file
when it decides whether machine code on disk is still good.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing import signature
from numba.extending import type_callable
from numba.np.arrayobj import make_array, store_item

from .machine_code import defer_blas

Function = Callable[..., Any]
defer_blas()
_UNARY = signature(types.float64, types.float64)
_OPERATIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}

BRANCHED = 4  # choices on one condition; LLVM makes fewer of them without a branch anyway


def straight_line(
    *, forceinline: bool = False, fastmath: Iterable[str] = ("contract",), **_: object
) -> Callable[[Function], Function]:
    """Return a decorator that lets compiled functions call a straight-line kernel; further options of njit are idle."""

    def register(function: Function) -> Function:
        kernel = _Kernel(function, forceinline, tuple(sorted(fastmath)))
        if not numba.config.DISABLE_JIT:
            _register(kernel)
        function.kernel = kernel  # type: ignore[attr-defined]  # for kernels that call it
        function.py_func = function  # type: ignore[attr-defined]  # as compiled functions have it
        return function

    return register


@cache
def _functions(path: Path, written: int) -> dict[str, ast.FunctionDef]:
    """Return the functions of a file as it was written at a moment."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class _Kernel:
    """A kernel to be; its text is read when somebody first compiles a call."""

    def __init__(self, function: Function, inline: bool, flags: tuple[str, ...]) -> None:
        self.function, self.inline, self.flags = function, inline, flags

    @cached_property
    def node(self) -> ast.FunctionDef:
        path = Path(self.function.__code__.co_filename)
        return _functions(path, path.stat().st_mtime_ns)[self.function.__name__]

    @property
    def _last(self) -> ast.expr:
        last = self.node.body[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        return last.value

    @property
    def scalar(self) -> bool:
        """Whether the kernel returns one number, not a vector or a status."""
        return isinstance(self._last, ast.Name) and self._last.id != "OK"

    @property
    def entries(self) -> list[ast.expr]:
        """The results, none where the kernel writes into an array and returns a status."""
        if self.scalar:
            return [self._last]
        return self._last.elts if isinstance(self._last, ast.Tuple) else []

    @property
    def returns(self) -> Any:
        if self.scalar:
            return types.float64
        return types.UniTuple(types.float64, len(self.entries)) if self.entries else types.int64

    def symbol(self, arguments: Iterable[Any]) -> str:
        """Return a name for the linker: the same for the same text and types, so that copies are merged."""
        text = f"{ast.dump(self.node)} {self.flags} {[str(a) for a in arguments]}"
        return f"assurgent.{self.function.__name__}.{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def _register(kernel: _Kernel) -> None:
    @type_callable(kernel.function)
    def typing(context: Any) -> Callable[..., Any]:
        def returned(*arguments: Any) -> Any:
            return kernel.returns

        returned.pysig = inspect.signature(kernel.function)  # type: ignore[attr-defined]  # each argument by itself
        return returned

    @lower_builtin(kernel.function, *[types.Any] * kernel.function.__code__.co_argcount)
    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        flat = _flat(context, builder, signature.args, values)
        if kernel.inline:
            results = _Body(context, builder, kernel, signature.args, flat).emit()
        else:
            results = _called(context, builder, kernel, signature.args, flat)
        if kernel.scalar:
            return results[0]
        if not isinstance(signature.return_type, types.UniTuple):
            return context.get_constant(signature.return_type, 0)
        return context.make_tuple(builder, signature.return_type, results)


def _flat(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """Return the entries of all arguments one after the other: doubles, and arrays as they are."""
    found: list[Any] = []
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, types.BaseTuple):
            found += _flat(context, builder, tuple(kind), cgutils.unpack_tuple(builder, value, len(kind)))
        elif isinstance(kind, types.Array) or kind == types.float64:
            found.append(value)
        else:
            found.append(context.cast(builder, value, kind, types.float64))
    return found


def _called(context: Any, builder: Any, kernel: _Kernel, kinds: Any, flat: list[Any]) -> list[Any]:
    """Call the kernel as a function of the module that is being made; it writes its results where it is told to.

    Scalars and not vectors are handed over, because LLVM estimates from the work of packing whether to inline a call.
    """
    name, module, count = kernel.symbol(kinds), builder.module, len(kernel.entries)
    place = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), count))
    if name not in module.globals:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [place.type, *(v.type for v in flat)]), name)
        function.linkage = "linkonce_odr"
        function.attributes.add("nounwind")
        function.args[0].add_attribute("noalias")
        inner = ir.IRBuilder(function.append_basic_block("entry"))
        for i, value in enumerate(_Body(context, inner, kernel, kinds, list(function.args[1:])).emit()):
            inner.store(value, cgutils.gep_inbounds(inner, function.args[0], 0, i))
        inner.ret_void()
    builder.call(module.globals[name], [place, *flat])
    return [builder.load(cgutils.gep_inbounds(builder, place, 0, i)) for i in range(count)]


class _Body:
    """The statements of one kernel, each handed to LLVM as it is read."""

    def __init__(self, context: Any, builder: Any, kernel: _Kernel, kinds: Any, flat: list[Any]) -> None:
        self.context, self.builder, self.kernel = context, builder, kernel
        self.scalars: dict[str, Any] = {}
        self.vectors: dict[str, list[Any]] = {}
        self.arrays: dict[str, tuple[Any, Any]] = {}
        names = [a.arg for a in kernel.node.args.args]
        rest = iter(flat)
        for name, kind in zip(names, kinds, strict=True):
            if isinstance(kind, types.BaseTuple):
                self.vectors[name] = [next(rest) for _ in kind]
            elif isinstance(kind, types.Array):
                self.arrays[name] = kind, make_array(kind)(context, builder, next(rest))
            else:
                self.scalars[name] = next(rest)

    def emit(self) -> list[Any]:
        """Return the results."""
        waiting: list[tuple[str, ast.IfExp]] = []  # choices that hang on one condition
        for statement in self.kernel.node.body:
            if not isinstance(statement, ast.Assign):
                continue
            target, value = statement.targets[0], statement.value
            choice = not self.kernel.inline and isinstance(target, ast.Name) and isinstance(value, ast.IfExp)
            read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            other = choice and waiting and ast.dump(waiting[0][1].test) != ast.dump(value.test)  # type: ignore[attr-defined]
            if other or any(name in read for name, _ in waiting):
                self.choose(waiting)
                waiting = []
            if choice:
                waiting.append((target.id, value))  # type: ignore[attr-defined, arg-type]
            else:
                self.assign(target, value)
        self.choose(waiting)
        return [self.value(e) for e in self.kernel.entries]

    def choose(self, waiting: list[tuple[str, ast.IfExp]]) -> None:
        """Make choices on one condition: where there are several, by one branch, which is foretold most of the time.

        Rows of an elimination are exchanged together, and mostly the same way as at the instant before. In lanes of a
        sweep (kernels that are inlined) each is a choice of its own, so that the lanes stay together.
        """
        if len(waiting) < BRANCHED:
            for name, choice in waiting:
                self.scalars[name] = self.value(choice)
            return
        pairs = [(self.value(choice.body), self.value(choice.orelse)) for _, choice in waiting]
        builder, condition = self.builder, self.condition(waiting[0][1].test)
        yes, no, after = (builder.append_basic_block() for _ in range(3))
        builder.cbranch(condition, yes, no)
        for block in (yes, no):
            builder.position_at_end(block)
            builder.branch(after)
        builder.position_at_end(after)
        for (name, _), pair in zip(waiting, pairs, strict=True):
            value = self.scalars[name] = builder.phi(ir.DoubleType())
            for entry, block in zip(pair, (yes, no), strict=True):
                value.add_incoming(entry, block)

    def condition(self, test: ast.expr) -> Any:
        match test:
            case ast.Compare(left=less, ops=[ast.Lt()], comparators=[greater]):
                return self.builder.fcmp_ordered("<", self.value(less), self.value(greater))
        raise TypeError(ast.unparse(test))

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Tuple(elts=names):
                assert isinstance(value, ast.Name)
                for name, entry in zip(names, self.vectors[value.id], strict=True):
                    assert isinstance(name, ast.Name)
                    self.scalars[name.id] = entry
            case ast.Name(id=name):
                self.scalars[name] = self.value(value)
            case ast.Subscript(value=ast.Name(id=array), slice=place):
                self.store(array, ast.literal_eval(place), self.value(value))
            case _:
                raise TypeError(ast.unparse(target))

    def store(self, array: str, place: tuple[int, ...], value: Any) -> None:
        kind, made = self.arrays[array]
        inds = [self.context.get_constant(types.intp, i) for i in place]
        pointer = cgutils.get_item_pointer(self.context, self.builder, kind, made, inds, wraparound=False)
        store_item(self.context, self.builder, kind, value, pointer)

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return self.scalars[name]
            case ast.Constant(value=number):
                return ir.Constant(ir.DoubleType(), float(number))  # type: ignore[arg-type]
            case ast.BinOp(left=left, op=operation, right=right):
                emit = getattr(self.builder, _OPERATIONS[type(operation)])
                return emit(self.value(left), self.value(right), flags=self.kernel.flags)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.builder.fneg(self.value(operand), flags=self.kernel.flags)
            case ast.Call(func=ast.Name(id="abs"), args=[argument]):
                return self.call(abs, argument)
            case ast.Call(func=ast.Name(id="fma"), args=arguments):
                return self.builder.fma(*(self.value(a) for a in arguments))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=[argument]):
                return self.call(getattr(self.kernel.function.__globals__["math"], name), argument)
            case ast.Attribute(value=ast.Name(id="math"), attr="pi"):
                return ir.Constant(ir.DoubleType(), math.pi)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.builder.select(self.condition(test), self.value(yes), self.value(no))
            case ast.Subscript(value=ast.Name(id=vector), slice=ast.Constant(value=place)):
                return self.vectors[vector][place]  # type: ignore[index]
        raise TypeError(ast.unparse(node))

    def call(self, function: Function, argument: ast.expr) -> Any:
        inner = getattr(function, "kernel", None)
        if inner is not None:  # a straight-line function itself
            kinds = (types.float64,)
            return _Body(self.context, self.builder, inner, kinds, [self.value(argument)]).emit()[0]
        return self.context.get_function(function, _UNARY)(self.builder, (self.value(argument),))
