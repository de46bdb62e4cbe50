"""Seals: code in the user's cache is taken only where this program wrote it for this user and can prove it.

Sources of types have a signed record (`store`). Byte code and machine code that were made of them carry the same
user's signature behind their last byte; what has none, or another one, is made again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import importlib.machinery
import importlib.util
import io
import json
import marshal
import os
import pickle
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import platformdirs

from ..common.errors import InputError
from ..common.files import write_whole

PROJECT = __name__.partition(".")[0]
TYPES = f"{PROJECT}_types."  # what names of modules in the store begin with
SIZE = 32  # of a seal in bytes


def _secret_file() -> Path:
    given = os.environ.get("ASSURGENT_DATA")
    return (Path(given) if given else platformdirs.user_data_path("assurgent")) / "signing-key"


def secret() -> bytes:
    """Return this user's signing key, made at first use; two processes that make it at once agree on one."""
    path = _secret_file()
    try:
        return _read_secret(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError(
            f"{path}: the signing key cannot be read: {error.strerror} - "
            "make it readable, or set ASSURGENT_DATA to a folder of your own"
        ) from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
    except OSError as error:
        raise InputError(
            f"{path}: the signing key can be neither read nor made: {error.strerror} - "
            "set ASSURGENT_DATA to a folder that you can write"
        ) from error
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(name, path)  # fails where another process was first: its key counts
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        Path(name).replace(path)
    Path(name).unlink(missing_ok=True)
    return _read_secret(path)


def _read_secret(path: Path) -> bytes:
    secret = path.read_bytes()
    if len(secret) != 32:
        raise InputError(f"{path}: is not a signing key - remove it, then generate your types anew")
    return secret


def sign(record: dict[str, object]) -> str:
    """Return the signature of a record."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hmac.new(secret(), text.encode(), hashlib.sha256).hexdigest()


def seal(what: str, data: bytes) -> bytes:
    """Return what stands behind data that are called so."""
    return hmac.digest(secret(), what.encode() + b"\0" + data, "sha256")


def opened(path: Path, what: str) -> bytes | None:
    """Return the data of a sealed file without the seal; None where there is no file, or not this user's seal."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[:-SIZE]
    return body if len(data) > SIZE and hmac.compare_digest(data[-SIZE:], seal(what, body)) else None


# ---- byte code ------------------------------------------------------------------------------------------------------
class ProvenLoader(importlib.machinery.SourceFileLoader):
    """Runs a source that was read and checked: not what the file holds by now, nor byte code that lies beside it."""

    def __init__(self, name: str, path: Path, source: bytes, keep: bool) -> None:
        super().__init__(name, str(path))
        self.source, self.keep = source, keep

    def get_code(self, fullname: str) -> CodeType:
        """Return the byte code: kept from last time under this user's seal, or compiled."""
        path = Path(self.path)
        if not self.keep:
            return compile(self.source, path, "exec", dont_inherit=True)
        kept = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.sealed"
        made_of = hashlib.sha256(self.source).hexdigest()
        what = f"{path} {made_of} {importlib.util.MAGIC_NUMBER.hex()}"
        found = opened(kept, what)
        if found is not None:
            code: CodeType = marshal.loads(found)
            return code
        code = compile(self.source, path, "exec", dont_inherit=True)
        data = marshal.dumps(code)
        with contextlib.suppress(OSError, InputError):  # a disk that takes no more: compiled again the next time
            kept.parent.mkdir(exist_ok=True)
            write_whole(kept, lambda part: part.write_bytes(data + seal(what, data)))
        return code


# ---- machine code ---------------------------------------------------------------------------------------------------
@functools.cache
def seal_machine_code() -> None:
    """Let Numba take machine code of ours from the user's cache only under this user's seal.

    What lies beside the sources of an installed package is as safe as these, and is taken as Numba does.
    """
    from numba.core import caching

    files: Any = caching.IndexDataCacheFile

    class SealedFiles(files):  # type: ignore[misc]
        """Numba's index and data of one function, each with a seal behind its last byte."""

        def _what(self, path: str) -> str:
            return f"{Path(path).name} {self._source_stamp}"

        @contextlib.contextmanager
        def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
            written = io.BytesIO()
            yield written
            data = written.getvalue()
            try:
                mark = seal(self._what(path), data)
            except InputError as error:  # no key can be made: nothing is kept
                raise OSError(str(error)) from error
            with super()._open_for_write(path) as file:
                file.write(data + mark)

        def _load_index(self) -> Any:
            data = opened(Path(self._index_path), self._what(self._index_path))
            if data is None:
                return {}
            stream = io.BytesIO(data)
            if pickle.load(stream) != self._version:
                return {}
            stamp, overloads = pickle.load(stream)
            return overloads if stamp == self._source_stamp else {}

        def _load_data(self, name: str) -> Any:
            path = self._data_path(name)
            data = opened(Path(path), self._what(path))
            if data is None:
                raise OSError(f"{path}: has no seal of this user")  # for Numba: there is no such file
            return pickle.loads(data)

    cache: Any = caching.Cache
    begin = cache.__init__

    def begin_sealed(self: Any, function: Any) -> None:
        begin(self, function)
        beside = Path(function.__code__.co_filename).parent / "__pycache__"
        own = f"{function.__module__}.".startswith(f"{PROJECT}.") and Path(self._cache_path) != beside
        if own or function.__module__.startswith(TYPES):
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = SealedFiles(self._cache_path, self._impl.filename_base, stamp)

    cache.__init__ = begin_sealed
