"""A new type in the user's library: derived, emitted, compiled, verified, signed and stored."""

from __future__ import annotations

import gc
import hashlib
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..codegen.generate import CompiledSpec, Progress, Stages, compile_spec, quiet
from ..codegen.signature import signature
from ..codegen.spec import GroupSpec
from ..codegen.specification_reader import read_spec
from ..codegen.verification_errors import Verification
from ..codegen.verify import verify_module
from ..common.errors import GenerationError
from ..common.type_files import module_name
from .group_type import GroupType
from .library import WAITING, find_entry, key_of, load, manifest, own_types, package_folder
from .store import Store, StoredType, import_name, load_source

# A wrong term shows in every random configuration; some more, because one of its factors may happen to be small.
# `assurgent verify` takes 100, compiles everything, and compares with SymPy's derivatives, too.
CHECKED_CONFIGURATIONS = 4


@dataclass(frozen=True)
class Generated:
    """A new type in the user's library, with its verification (None where it was there already)."""

    stored: StoredType
    verification: Verification | None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave cycles of garbage where they are for some seconds: looking for them would take a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def generate(path: Path | str, *, store: Store | None = None, progress: Progress = quiet) -> Generated:
    """Derive, emit, compile, verify and store the type of a file; at once where it is stored already."""
    return generate_type(read_spec(Path(path)), store=store, progress=progress)


def generate_type(
    spec: GroupSpec, *, store: Store | None = None, progress: Progress = quiet, derived: bool = False
) -> Generated:
    """Do what `generate` does, for a specification that was read already.

    A type that is not `derived` from a mechanism is the user's own: it is found by its equations from now on.
    """
    store = store or Store()
    _name_is_free(spec)
    _aliases_are_free(spec, store)
    key = key_of(spec.text)
    with store.lock(spec.module, lambda: progress("waiting", 0.0, WAITING)):
        if not derived:
            store.note(signature(tomllib.loads(spec.text)).digest, spec.module)
        found = store.find(spec.module, key)
        if found is not None:
            store.select(spec.module, key)
            return Generated(found, None)
        taken = store.current(spec.module)
        if taken is not None and taken.name != spec.name:
            raise _too_like(spec, f"your type {taken.name}")
        with _uncollected():
            return _make(spec, key, store, progress)


def _make(spec: GroupSpec, key: str, store: Store, progress: Progress) -> Generated:
    """Make a type and put it into the store, whose lock the caller holds."""
    compiled = compile_spec(spec, Path(spec.origin).name, progress)
    staging = store.stage(spec.module, compiled.module.text, spec.text)
    try:
        verification = _compile_and_verify(compiled, staging, import_name(spec.module, key), progress)
        if not verification.passed:
            raise GenerationError(
                f"{spec.origin}: the compiled type does not agree with its derivation: "
                f"{verification.headline} - please report the specification"
            )
        return Generated(store.publish(staging, spec.name, spec.module, key), verification)
    finally:
        shutil.rmtree(staging, ignore_errors=True)  # gone already where it was published


def find_specification(name: str, report: Callable[[str], None] = lambda _: None) -> GroupSpec:
    """Return the specification behind a type's name: shipped, or the user's own (repaired where it was altered)."""
    entry = find_entry(name)
    if entry is not None:
        return read_spec(package_folder("codegen") / "groups" / entry.specification)
    group = load(name, report)  # repairs an altered one, or says what is wrong
    found = Store().current(module_name(group.name))
    assert found is not None
    return read_spec(found.specification)


def _name_is_free(spec: GroupSpec) -> None:
    """Refuse the name of a shipped type, unless the specification is the shipped one."""
    entry = find_entry(spec.name)
    if entry is not None and entry.name != spec.name:
        raise GenerationError(
            f"{spec.place(None, 'name')}: name: '{spec.name}' is an alias of the shipped type {entry.name} - "
            "choose another name"
        )
    if entry is not None and hashlib.sha256(spec.text.encode()).hexdigest() != entry.specification_sha256:
        raise GenerationError(
            f"{spec.place(None, 'name')}: name: '{spec.name}' is the name of a shipped type, whose specification is "
            "another - choose another name"
        )
    for shipped in manifest():
        if entry is None and shipped.module == spec.module:
            raise _too_like(spec, f"the shipped type {shipped.name}")


def _aliases_are_free(spec: GroupSpec, store: Store) -> None:
    """Refuse an alias that means another type already, and a name that is another type's alias."""
    if find_entry(spec.name) is not None:  # the shipped specification itself, with its own aliases
        return
    own = [t for t in own_types(store).types if t.module != spec.module]
    taken = {name: f"your type {t.name}" for t in own for name in (t.name, *t.aliases)}
    taken |= {name: f"the shipped type {e.name}" for e in manifest() for name in (e.name, *e.aliases)}
    for key, name in (("name", spec.name), *(("aliases", a) for a in spec.aliases)):
        if name in taken:
            raise GenerationError(
                f"{spec.place(None, key)}: {key}: '{name}' means {taken[name]} already - choose another"
            )


def _too_like(spec: GroupSpec, other: str) -> GenerationError:
    return GenerationError(
        f"{spec.place(None, 'name')}: the name '{spec.name}' is too like that of {other} "
        "(letter case and signs do not count) - choose another name"
    )


def as_plain_python(path: Path, name: str) -> ModuleType:
    """Import an emitted module without compiling it: the same statements, slow to run but ready at once."""
    try:
        module = load_source(path, name)
        for key, value in list(vars(module).items()):  # what the module imports is compiled all the same
            plain = getattr(value, "py_func", None)
            if plain is not None and plain.__module__ == name:
                setattr(module, key, plain)
        return module
    finally:
        sys.modules.pop(name, None)


def _compile_and_verify(compiled: CompiledSpec, staging: Path, name: str, progress: Progress) -> Verification:
    """Verify a staged module, imported under the name it will have for good, since Numba caches that name."""
    before = sys.modules.pop(name, None)
    try:
        path = staging / f"{compiled.module.module}.py"
        done = Stages(progress)
        verification = verify_module(
            compiled.derivation,
            GroupType(as_plain_python(path, f"{name}_plain")),
            CHECKED_CONFIGURATIONS,
            running=GroupType(load_source(path, name)),
            symbolic=False,
            compile_done=lambda: done("compile", "Numba: what a motion calls; the rest when it is first used"),
        )
        done("verify", verification.headline)
    finally:  # what is used later is imported from its final place
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
    return verification
