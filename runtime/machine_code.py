"""Numba's start, its compiler and its machine code on disk, made quicker and harder to break from outside.

No SciPy before it is needed; operators are resolved once; vectors as wide as the processor's; no search for cyclic
garbage while code is compiled; what is damaged on disk is compiled again. Another Numba, in which these places look
otherwise, is left as it is.
"""

from __future__ import annotations

import functools
import gc
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from .seals import seal_machine_code

PROJECT = __name__.partition(".")[0] + "."
WIDE = '"prefer-vector-width"="512"'  # an attribute of LLVM's that llvmlite has no name for
when_compiling: list[Callable[[], None]] = []  # called when something is compiled that was not found on disk


def prepare() -> None:
    """Do all of it, once, before anything is compiled or loaded."""
    defer_blas()
    seal_machine_code()
    forgive_damage()
    resolve_once()
    widen_literals()
    widen_vectors()
    watch_compiler()


@functools.cache
def defer_blas() -> None:
    """Let Numba look for SciPy's BLAS when a function asks for it, not at its own start: a tenth of a second.

    The module of array functions asks once when it is imported, and remembers the answer for one message.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    try:
        from numba.np import linalg

        ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    except (ImportError, AttributeError):  # another Numba: then it asks
        return
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ask


@functools.cache
def forgive_damage() -> None:
    """Let Numba take damaged machine code on disk for missing, and do without a disk that takes no more of it."""
    from numba.core.caching import Cache

    load, save = Cache.load_overload, Cache.save_overload

    def load_overload(cache: Any, signature: Any, context: Any) -> Any:
        try:
            return load(cache, signature, context)
        except Exception:  # noqa: BLE001 - unpickling damaged bytes may raise anything
            try:
                cache.flush()
            except OSError:  # it cannot be written either: compile for this process only
                cache.disable()
            return None

    def save_overload(cache: Any, signature: Any, data: Any) -> None:
        try:
            save(cache, signature, data)
        except OSError:
            cache.disable()

    Cache.load_overload, Cache.save_overload = load_overload, save_overload


@functools.cache
def resolve_once() -> None:
    """Let Numba remember which implementation an operator or function has for given types.

    It tries all templates of an operator anew at every place where the operator stands, and compares its flags by
    making two dictionaries each time: together a fifth of the time that it takes to compile something.
    """
    from numba.core import targetconfig
    from numba.core.types import functions

    configuration: Any = targetconfig.TargetConfig
    function_type: Any = functions.BaseFunction
    if not (hasattr(configuration, "_values") and hasattr(targetconfig.ConfigStack, "top_or_none")):
        return
    compare, resolve = configuration.__eq__, function_type.get_call_type
    flags = targetconfig.ConfigStack.top_or_none

    @functools.cache
    def defaults(kind: Any) -> dict[str, Any]:
        return {name: option.default for name, option in kind.options.items()}

    def equal(one: Any, other: Any) -> Any:
        if type(one) is not type(other):
            return compare(one, other)
        kind: Any = type(one)
        own = defaults(kind)
        return one._values == other._values or {**own, **one._values} == {**own, **other._values}

    @functools.cache
    def digest(kind: Any) -> int:
        return hash(tuple(sorted(kind.options)))  # as Numba does: of the names, which are the same for all of a kind

    known: dict[Any, tuple[Any, Any]] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        try:
            key = function, context, args, tuple(kws.items()), flags()
            found = known.get(key)
        except TypeError:  # something that has no hash
            return resolve(function, context, args, kws)
        if found is None:
            signature = resolve(function, context, args, kws)
            known[key] = signature, function._impl_keys[signature.args]
            return signature
        signature, function._impl_keys[found[0].args] = found
        return signature

    def name_hash(one: Any) -> int:
        kind: Any = type(one)
        return digest(kind)

    configuration.__eq__, configuration.__hash__ = equal, name_hash
    function_type.get_call_type = get_call_type


@functools.cache
def widen_literals() -> None:
    """Let our compiled functions be compiled once for all whole numbers that they are called with by each other.

    Numba makes a version of its own for every number that stands in the text of a call; LLVM finds them after inlining.
    """
    from numba.core import dispatcher as dispatchers
    from numba.core.types.misc import unliteral

    compiled_function: Any = dispatchers.Dispatcher
    given = compiled_function.get_call_template

    def get_call_template(dispatcher: Any, args: Any, kws: Any) -> Any:
        if dispatcher.py_func.__module__.startswith(PROJECT):
            args = tuple(unliteral(arg) for arg in args)
        return given(dispatcher, args, kws)

    compiled_function.get_call_template = get_call_template


@functools.cache
def widen_vectors() -> None:
    """Let our compiled functions fill the vectors of AVX-512: on Intel's processors LLVM takes half of one by itself.

    Of sweeps over lanes that is a fifth to a third of the time. Where LLVM takes whole ones by itself nothing changes.
    """
    from numba.core.base import BaseContext

    target: Any = BaseContext
    given = target.declare_function

    def declare_function(context: Any, module: Any, description: Any) -> Any:
        function = given(context, module, description)
        if (description.modname or "").startswith(PROJECT) and isinstance(function.attributes, set):
            set.add(function.attributes, WIDE)
        return function

    target.declare_function = declare_function


@functools.cache
def watch_compiler() -> None:
    """Let Python not look for cyclic garbage while Numba compiles, which it keeps anyway; tell those who wait."""
    from numba.core import event

    class Rest(event.Listener):  # type: ignore[misc]
        """Counts who holds the compiler's lock or waits for it: it is taken again inside, and by several threads."""

        depth, was_on, lock = 0, False, threading.Lock()

        def on_start(self, _: Any) -> None:
            with self.lock:
                if self.depth == 0:
                    self.was_on = gc.isenabled()
                    gc.disable()
                self.depth += 1

        def on_end(self, _: Any) -> None:
            with self.lock:
                self.depth -= 1
                if self.depth == 0 and self.was_on:
                    gc.enable()

    class Tell(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            for call in when_compiling:
                call()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compiler_lock", Rest())
    event.register("numba:compile", Tell())
