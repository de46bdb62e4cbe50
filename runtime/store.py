"""The user's own library of emitted types: atomic, locked, signed.

Layout: ``<root>/<module>/<key>/`` holds the module, its specification and a record;
``<root>/<module>/current`` names the key in use. A type is written into a staging folder beside its place and
renamed as a whole, under a lock that the system releases when a process dies; so a kill at any moment leaves
either the old state or the new one.

A record carries the digests of the files and is signed with a key that only this user has: a module that this
program did not write for this user, or that was altered since, is refused before it is imported.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import importlib.util
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import platformdirs

from ..common.errors import GenerationError, InputError
from ..common.type_files import SPECIFICATION
from .seals import TYPES, ProvenLoader, sign

RECORD = "record.json"
CURRENT = "current"
EQUATIONS = ".equations"  # which of the user's own types has which equations
_KEY = re.compile(r"[0-9a-f]{16}")
_MODULE = re.compile(r"[a-z][a-z0-9_]{0,79}")


def default_root() -> Path:
    """Return the folder of the user's types: $ASSURGENT_CACHE, or the platform's cache folder."""
    given = os.environ.get("ASSURGENT_CACHE")
    return (Path(given) if given else platformdirs.user_cache_path("assurgent")) / "types"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class StoredType:
    """A type in the store whose files were checked."""

    name: str
    module: str
    key: str
    folder: Path
    digest: str  # of the source, as the signed record has it

    @property
    def source(self) -> Path:
        return self.folder / f"{self.module}.py"

    @property
    def specification(self) -> Path:
        return self.folder / SPECIFICATION

    def load(self) -> ModuleType:
        """Import the module from the very bytes that the signed record speaks of."""
        data = self.source.read_bytes()
        if _digest(data) != self.digest:
            raise GenerationError(f"{self.source}: was altered while it was read - run the command again")
        return load_source(self.source, import_name(self.module, self.key), data)


def import_name(module: str, key: str) -> str:
    """Return the name under which a type is imported; Numba keeps it in its cache and asks for it again."""
    return f"{TYPES}{module}_{key}"


def load_source(path: Path, name: str, data: bytes | None = None) -> ModuleType:
    """Import one emitted source file under a name of its own: `data`, where they were checked, or what it holds now."""
    if name in sys.modules:
        return sys.modules[name]
    loader = ProvenLoader(name, path, path.read_bytes() if data is None else data, keep=data is not None)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Store:
    """The user's types below one folder."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or default_root()

    # ---- reading -------------------------------------------------------------------------------------------
    def modules(self) -> list[str]:
        """Return the module names that have a current type."""
        if not self.root.is_dir():
            return []
        folders = [p for p in self.root.iterdir() if _MODULE.fullmatch(p.name)]
        return sorted(p.name for p in folders if (p / CURRENT).is_file())

    def _key(self, module: str) -> str:
        """Return the key in use, or an empty text where it cannot be read."""
        try:
            return (self.root / module / CURRENT).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def current(self, module: str) -> StoredType | None:
        """Return the type in use under a module name, or None where there is none or it is refused."""
        return self.find(module, self._key(module))

    def find(self, module: str, key: str) -> StoredType | None:
        """Return the type with that key if every file is what its signed record says, else None."""
        return self._find(module, key, (f"{module}.py", SPECIFICATION))

    def _find(self, module: str, key: str, names: tuple[str, ...]) -> StoredType | None:
        """Return the type if its record is signed and the named files are what it says, else None."""
        if not (_MODULE.fullmatch(module) and _KEY.fullmatch(key)):
            return None
        folder = self.root / module / key
        try:
            record = json.loads((folder / RECORD).read_text("utf-8"))
            signature = record.pop("signature")
            good = (
                hmac.compare_digest(signature, sign(record))
                and record["module"] == module
                and record["key"] == key
                and set(record["files"]) == {f"{module}.py", SPECIFICATION}
                and all(_digest((folder / n).read_bytes()) == record["files"][n] for n in names)
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        self._is_private()
        return StoredType(record["name"], module, key, folder, record["files"][f"{module}.py"]) if good else None

    def specification(self, module: str, waiting: Callable[[], None] = lambda: None) -> tuple[str, str] | None:
        """Return name and specification of the type in use if these can be trusted, whatever its module is."""
        found = self._find(module, self._key(module), (SPECIFICATION,))
        if found is None:  # with the lock, a type that another process is just writing is seen whole
            with self.lock(module, waiting):
                found = self._find(module, self._key(module), (SPECIFICATION,))
        return None if found is None else (found.name, found.specification.read_text("utf-8"))

    def damage(self, module: str) -> str:
        """Return which file keeps the type in use from being trusted."""
        folder, key = self.root / module, self._key(module)
        if not _KEY.fullmatch(key) or not (folder / key).is_dir():
            return f"{folder / CURRENT} names no stored type"
        if self._find(module, key, ()) is None:
            return f"{folder / key / RECORD} was altered or was not written by this program for this user"
        return f"{folder / key / SPECIFICATION} was altered"

    def _is_private(self) -> None:
        """Refuse a folder into which others can write: compiled code lies there too."""
        if os.name != "posix":
            return
        status = self.root.stat()
        if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise InputError(
                f"{self.root}: belongs to somebody else or can be written by others, so what lies there "
                "cannot be trusted - run 'chmod go-w' on it, or set ASSURGENT_CACHE to a folder of your own"
            )

    def noted(self, equations: str) -> str | None:
        """Return the module of a type that was noted under the digest of its equations; what it says is not trusted."""
        try:
            found = (self.root / EQUATIONS / equations).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return found if _MODULE.fullmatch(found) else None

    # ---- writing -------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def lock(self, module: str, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the lock of one type; where another process holds it, call `waiting` once and wait."""
        import filelock  # only writers need it

        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._is_private()
            lock = filelock.FileLock(self.root / f".{module}.lock")
            try:
                lock.acquire(blocking=False)
            except filelock.Timeout:
                waiting()
                lock.acquire()
            try:
                self._sweep(module)
                yield
            finally:
                lock.release()
        except OSError as error:  # also of what is done under the lock: a full disk
            raise GenerationError(
                f"{self.root}: cannot be written: {error.strerror} - set ASSURGENT_CACHE to a folder that you can write"
            ) from error

    def _sweep(self, module: str) -> None:
        """Remove what killed processes left behind; only the holder of the lock writes here."""
        for left in (self.root / module).glob(".staging-*"):
            if not left.is_dir():
                left.unlink(missing_ok=True)
                continue
            for refused in left.glob("refused-*"):
                place = self.root / module / refused.name.removeprefix("refused-")
                if not place.exists():  # killed before the new one came: the specification still counts
                    refused.replace(place)
            shutil.rmtree(left, ignore_errors=True)

    def stage(self, module: str, text: str, specification: str) -> Path:
        """Write a module and its specification into a staging folder; return the folder."""
        (self.root / module).mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".staging-", dir=self.root / module))
        _write(folder / f"{module}.py", text)
        _write(folder / SPECIFICATION, specification)
        return folder

    def publish(self, staging: Path, name: str, module: str, key: str) -> StoredType:
        """Sign a staged type and make it the current one, atomically."""
        files = {n: _digest((staging / n).read_bytes()) for n in (f"{module}.py", SPECIFICATION)}
        record: dict[str, object] = {"format": 1, "name": name, "module": module, "key": key, "files": files}
        _write(staging / RECORD, json.dumps({**record, "signature": sign(record)}, indent=1) + "\n")
        _sync(staging)
        place = self.root / module / key
        refused: Path | None = None
        if place.exists():  # refused before: altered or incomplete
            refused = Path(tempfile.mkdtemp(prefix=".staging-", dir=self.root / module))
            place.replace(refused / f"refused-{key}")
        staging.replace(place)
        self.select(module, key)
        if refused is not None:
            shutil.rmtree(refused, ignore_errors=True)
        found = self.find(module, key)
        if found is None:
            raise GenerationError(f"{place}: was altered while it was written - generate the type again")
        return found

    def note(self, equations: str, module: str) -> None:
        """Note a type under the digest of its equations, atomically; the caller holds the lock of the type."""
        folder = self.root / EQUATIONS
        folder.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        os.close(handle)
        _write(Path(name), module + "\n")
        Path(name).replace(folder / equations)

    def select(self, module: str, key: str) -> None:
        """Make the stored type with that key the one in use, atomically; the caller holds the lock."""
        current = self.root / module / CURRENT
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if current.read_text("ascii").strip() == key:
                return
        handle, name = tempfile.mkstemp(prefix=".staging-", dir=self.root / module)
        os.close(handle)
        _write(Path(name), key + "\n")
        Path(name).replace(current)
        _sync(self.root / module)


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make renames in a folder durable (where the system can)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
