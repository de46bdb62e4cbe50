"""A sweep: blocks of designs, done here, by threads or by Dask, kept one by one until the file is whole.

Every block that is done is a file of its own beside the output, written whole; a sweep that was stopped, by whatever,
goes on with the blocks that are missing, and the output has the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from ..mechanism.model import Array
from ..mechanism.tables import tables_of
from ..mechanism.toml_text import to_toml
from ..runtime import sources
from ..runtime.parallel import ahead, checked
from . import sweep_blocks
from .sweep_blocks import Block, Sweeper, remote_block
from .sweep_files import ZarrTarget, check_names, write
from .sweep_names import ENDINGS

NUMBERS = 2_000_000  # kept by a block at most
LARGEST = 5_000  # designs of a block at most
# what opening a damaged archive may raise
DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError)


@dataclass(frozen=True, eq=False)
class Sweep:
    """The designs of a sweep and what was kept of them: arrays whose first axis is the design."""

    parameters: Mapping[str, Array]
    time: Array
    labels: Mapping[str, Sequence[str]]
    found: Mapping[str, Array]

    @property
    def status(self) -> Array:
        """0: whole; 1: lost on the way; 2: not assembled; 3: wrong at this design."""
        return self.found["status"]


def sweep(
    data: Mapping[str, Any],
    origin: str,
    folder: Path | None,
    designs: Mapping[str, Array],
    want: Sequence[str] | None = None,
    times: Array | None = None,
    output: Path | None = None,
    threads: int = 1,
    dask: str | int | None = None,
    report: Callable[[int, int], None] = lambda done, every: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Sweep | None:
    """Run designs and keep what is wanted; with an output, which is written, nothing is returned.

    `dask` is the address of a scheduler, or the number of processes of a cluster on this machine; `tell` hears a line
    where a scheduler has no workers yet.
    """
    if isinstance(dask, int) and dask < 1:
        raise InputError(f"workers {dask}: at least one process is needed - leave it out, or give 2")
    if output is not None and not _is_store(output):
        check_target(output, ENDINGS)
    names = tuple(designs)
    sweeper = Sweeper(data, origin, folder, names, want, times)
    if output is not None:
        check_names(sweeper)
    values = np.column_stack([designs[n] for n in names]) if names else np.zeros((0, 0))
    blocks = _blocks(sweeper, len(values))
    key = _key(data, folder, designs, sweeper)
    store = None if output is None else _Store(output, key, sweeper, values, blocks)
    todo = [k for k in range(len(blocks)) if store is None or not store.has(k)]
    kept: dict[int, Block] = {}
    done = sum(blocks[k][1] - blocks[k][0] for k in range(len(blocks)) if k not in set(todo))
    report(done, len(values))
    for k, block in _done(sweeper, data, folder, values, blocks, todo, want, times, threads, dask, key, tell):
        if store is None:
            kept[k] = block
        else:
            store.put(k, block)
        del block  # before the next one takes its room
        done += blocks[k][1] - blocks[k][0]
        report(done, len(values))
    if store is not None:
        tell(counted(store.finish()))
        return None
    found = {name: np.concatenate([kept[k][name] for k in sorted(kept)]) for name in kept[0]}
    return Sweep(dict(designs), sweeper.time, sweeper.labels(), found)


def counted(status: Array) -> str:
    """Return how many designs there are, how many of them are whole, and what became of the others."""
    ways = {1: "lost on the way", 2: "not assembled", 3: "wrong"}
    others = [f"{n} {what}" for k, what in ways.items() if (n := int(np.sum(status == k)))]
    return f"{len(status)} designs, {', '.join([f'{int(np.sum(status == 0))} whole', *others])}"


def _is_store(output: Path) -> bool:
    """Return whether a Zarr store is there, whose place a new one takes as files do."""
    return output.suffix == ".zarr" and (output / ".zgroup").is_file()


def _blocks(sweeper: Sweeper, count: int) -> list[tuple[int, int]]:
    """Return the first and last design of every block: always the same for the same sweep."""
    width = sum((6 if w.table == "points" else 3) * len(sweeper.time) for w in sweeper.wants if not w.how) + 8
    size = int(np.clip(NUMBERS // width, 1, LARGEST))
    return [(a, min(a + size, count)) for a in range(0, count, size)]


def _key(data: Mapping[str, Any], folder: Path | None, designs: Mapping[str, Array], sweeper: Sweeper) -> str:
    """Return a digest of all that the numbers of a sweep depend on: tables beside the file and this program, too."""
    digest = hashlib.sha256(sources.digest(sweep_blocks.__name__).encode())
    digest.update(json.dumps([to_toml(data), list(designs), [w.text for w in sweeper.wants]]).encode())
    for path in ((folder or Path()) / name for name in tables_of(data)):
        digest.update(path.read_bytes() if path.is_file() else b"")  # a parameter may be called table, too
    for values in designs.values():
        digest.update(values.tobytes())
    digest.update(sweeper.time.tobytes())
    return digest.hexdigest()


def _done(
    sweeper: Sweeper, data: Mapping[str, Any], folder: Path | None, values: Array, blocks: Sequence[tuple[int, int]],
    todo: Sequence[int], want: Sequence[str] | None, times: Array | None, threads: int, dask: str | int | None,
    key: str, tell: Callable[[str], None],
) -> Iterator[tuple[int, Block]]:  # fmt: skip
    """Yield blocks as they are done."""
    if dask is None or not todo:
        # blocks by one thread each, or, where there are too few of them, each block by all threads
        each, at_once = (threads, 1) if len(todo) < 2 * checked(threads) else (1, threads)
        found = ahead(lambda k: sweeper.block(values[slice(*blocks[k])], each), todo, at_once)
        for k in todo:  # zip would hold a block while the next one is made
            yield k, next(found)
        return
    try:
        import distributed
    except ImportError:
        raise InputError("dask and workers need dask.distributed: pip install 'assurgent[cluster]'") from None
    text, asked = to_toml(data), None if times is None else np.asarray(times, dtype=np.float64).tobytes()
    place, given = None if folder is None else str(folder.resolve()), None if want is None else tuple(want)
    local = isinstance(dask, int)
    try:
        # on this machine alone: the scheduler listens to no network
        cluster = distributed.LocalCluster(
            n_workers=dask, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) if local else None  # fmt: skip
        client = distributed.Client(cluster if local else dask, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(f"dask {dask}: there is no scheduler - {error}") from error
    try:
        if not client.nthreads():
            tell(f"dask {dask}: the scheduler has 0 workers; waiting for one (dask worker {dask})")
            client.wait_for_workers(1)
        fixed = (text, place, sweeper.names, given, asked, key)
        futures = {client.submit(remote_block, *fixed, values[slice(*blocks[k])], pure=False): k for k in todo}
        for future in distributed.as_completed(list(futures)):
            yield futures[future], future.result()
            future.release()
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


class _Store:
    """The blocks of a sweep on their way into its output."""

    def __init__(
        self, output: Path, key: str, sweeper: Sweeper, values: Array, blocks: Sequence[tuple[int, int]]
    ) -> None:
        self.output, self.sweeper, self.values, self.blocks = output, sweeper, values, blocks
        self.parts = output.with_name(f".{output.name}.parts")
        note = self.parts / "sweep.json"
        if not _says(note, key):
            shutil.rmtree(self.parts, ignore_errors=True)
            self.parts.mkdir(parents=True)
            write_whole(note, lambda part: part.write_text(json.dumps({"key": key}), "utf-8"))
        self.zarr = ZarrTarget(self.parts / "store.zarr", sweeper, values, blocks) if output.suffix == ".zarr" else None

    def _place(self, k: int) -> Path:
        return self.parts / f"block-{k:06d}.npz"

    def has(self, k: int) -> bool:
        """Return whether a block is there, whole: each of its arrays carries a checksum."""
        try:
            with zipfile.ZipFile(self._place(k)) as file:
                return file.testzip() is None
        except (*DAMAGED, OSError):
            return False

    def put(self, k: int, block: Block) -> None:
        if self.zarr is not None:  # into its region; the mark that it is done comes after
            self.zarr.put(k, block)
            block = {}
        write_whole(self._place(k), lambda part: _save(part, block))

    def finish(self) -> Array:
        """Make the output of the blocks, whole, and remove them; the status of every design."""
        if self.zarr is not None:
            status = self.zarr.finish()
            old = self.parts / "old"
            if self.output.exists():
                self.output.replace(old)
            (self.parts / "store.zarr").replace(self.output)
        else:
            found = [dict(np.load(self._place(k))) for k in range(len(self.blocks))]
            every = {name: np.concatenate([b[name] for b in found]) for name in found[0]}
            write(self.output, self.sweeper, self.values, every)
            status = every["status"]
        shutil.rmtree(self.parts, ignore_errors=True)
        return status


def _says(note: Path, key: str) -> bool:
    """Return whether blocks are of the sweep with this key; not where the note cannot be read."""
    try:
        found = json.loads(note.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("key") == key


def _save(path: Path, block: Mapping[str, Any]) -> None:
    with path.open("wb") as file:
        np.savez(file, **block)
