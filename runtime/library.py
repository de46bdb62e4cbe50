"""Find a group type by name, check its digest, and bind its compiled module."""

from __future__ import annotations

import hashlib
import importlib
import json
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..common.errors import GenerationError, InputError, nearest
from ..common.type_files import SPECIFICATION, module_name
from .group_type import GroupType
from .sources import digest
from .sources import package_folder as package_folder
from .store import Store, StoredType

Report = Callable[[str], None]
REPAIR = "generate it again: assurgent generate SPEC"
WAITING = "another process is writing this type; waiting for it"


@dataclass(frozen=True)
class Entry:
    """A type of the shipped library, as its manifest lists it."""

    name: str
    aliases: tuple[str, ...]
    module: str
    title: str
    space: str
    specification: str
    specification_sha256: str
    sha256: str
    signature: str
    order: tuple[str, ...]


@cache
def manifest() -> tuple[Entry, ...]:
    """Return the entries of the shipped library."""
    data = json.loads((package_folder("generated") / "manifest.json").read_text("utf-8"))
    return tuple(Entry(**{**t, "aliases": tuple(t["aliases"]), "order": tuple(t["order"])}) for t in data["types"])


# Where the text of a type's module is decided: from the specification to the frozen kernels and their emission.
MAKERS = tuple(f"assurgent.codegen.{name}" for name in ("specification_reader", "closedform", "kernels", "emit"))


def fingerprint() -> str:
    """Return the digest of what decides an emitted text besides the specification: generator and tools."""
    from importlib.metadata import version  # slow to import, and only types of the user's own need it

    tools = [f"{tool} {version(tool)}" for tool in ("sympy", "numba")]
    return hashlib.sha256("\n".join([digest(*MAKERS), *tools]).encode()).hexdigest()


def key_of(specification: str) -> str:
    """Return the key of a specification's text under the present generator."""
    return hashlib.sha256(f"{fingerprint()}\n{specification}".encode()).hexdigest()[:16]


def find_entry(name: str) -> Entry | None:
    """Return the shipped type of that name or alias."""
    for entry in manifest():
        if name == entry.name or name in entry.aliases:
            return entry
    return None


@dataclass(frozen=True)
class OwnType:
    """A type of the user's own, as its specification describes it."""

    name: str
    aliases: tuple[str, ...]
    title: str
    space: str
    module: str


@dataclass(frozen=True)
class OwnTypes:
    """The user's types, and one line for each that is damaged beyond repair."""

    types: tuple[OwnType, ...]
    damaged: tuple[str, ...]


def own_types(store: Store | None = None) -> OwnTypes:
    """Return the user's types, read from their signed specifications; nothing is imported or generated."""
    store = store or Store()
    found, damaged = [], []
    for module in store.modules():
        trusted = store.specification(module)
        if trusted is None:
            damaged.append(f"your type '{module}' is damaged and left out: {store.damage(module)} - {REPAIR}")
        elif find_entry(trusted[0]) is None:  # one that takes the place of an altered shipped type is listed there
            data = tomllib.loads(trusted[1])
            aliases, title = tuple(data.get("aliases", ())), data.get("title", "")
            found.append(OwnType(trusted[0], aliases, title, data["space"], module))
    return OwnTypes(tuple(found), tuple(damaged))


def names() -> tuple[str, ...]:
    """Return the names of all types: the shipped ones, then the user's own."""
    return (*(e.name for e in manifest()), *(t.name for t in own_types().types))


def _warn(line: str) -> None:
    warnings.warn(line, RuntimeWarning, stacklevel=3)


def load(name: str, report: Report = _warn) -> GroupType:
    """Return the compiled type of that name or alias; a file that was altered is refused and generated again.

    `report` receives a line where that happens, because it takes seconds; without it, it is a RuntimeWarning.
    """
    if not isinstance(name, str):
        raise InputError(f"there is no group type {name!r} - 'assurgent types' lists their names")
    entry = find_entry(name)
    if entry is not None:
        return _load_shipped(entry, report)
    store = Store()
    module = module_name(name)
    found = store.current(module)
    if module not in store.modules() or (found is not None and found.name != name):
        own = own_types(store).types
        for other in own:
            if name in other.aliases:
                return load(other.name, report)
        known = (*names(), *(a for t in own for a in t.aliases))
        if name.endswith(".toml"):
            raise InputError(
                f"there is no group type '{name}': load takes the name of a type, such as load(\"RRR\") - a mechanism "
                f'file is read by assurgent.Mechanism.load("{name}"), a specification made a type by '
                "'assurgent generate SPEC'"
            )
        raise InputError(
            f"there is no group type '{name}'{nearest(name, known)} - "
            "'assurgent types' lists them, 'assurgent generate SPEC' makes one"
        )
    if found is None:
        trusted = store.specification(module, lambda: report(f"{name}: {WAITING}"))
        if trusted is None:
            raise GenerationError(f"the type '{name}' cannot be trusted: {store.damage(module)} - {REPAIR}")
        if trusted[0] != name:
            raise InputError(f"there is no group type '{name}' - did you mean '{trusted[0]}'?")
        report(f"{name}: {store.root / module} was altered, so it is refused; generating the type again")
        found = regenerate(trusted[1], SPECIFICATION, store)
    elif found.key != key_of(text := found.specification.read_text("utf-8")):
        report(f"{name}: written by another version of the generator; generating it again")
        found = regenerate(text, SPECIFICATION, store)
    return GroupType(found.load())


def _load_shipped(entry: Entry, report: Report) -> GroupType:
    path = package_folder("generated") / f"{entry.module}.py"
    try:
        good = hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256
    except OSError:
        good = False
    if good:
        return GroupType(importlib.import_module(f"assurgent.generated.{entry.module}"))
    specification = package_folder("codegen") / "groups" / entry.specification
    data = specification.read_bytes() if specification.is_file() else b""
    if hashlib.sha256(data).hexdigest() != entry.specification_sha256:
        raise GenerationError(f"{specification}: is missing or was altered as well - install assurgent again")
    store, text = Store(), data.decode("utf-8")
    found = store.find(entry.module, key_of(text))
    remedy = "generating the type again" if found is None else "using the one generated again"
    report(f"{entry.name}: {path} is missing or was altered, so it is refused; {remedy}")
    return GroupType((found or regenerate(text, entry.specification, store)).load())


def specification_of(name: str) -> str:
    """Return the text of the specification of a type that can be loaded."""
    entry = find_entry(name)
    if entry is not None:
        return (package_folder("codegen") / "groups" / entry.specification).read_text("utf-8")
    trusted = Store().specification(module_name(name))
    if trusted is None or trusted[0] != name:
        raise GenerationError(f"the type '{name}' was changed while it was read - run the command again")
    return trusted[1]


def regenerate(specification: str, origin: str, store: Store) -> StoredType:
    """Generate a type anew from the text of its specification (imports the generator)."""
    from ..codegen.specification_reader import parse_spec
    from .library_build import generate_type

    return generate_type(parse_spec(specification, origin), store=store).stored
