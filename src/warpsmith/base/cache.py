"""Where what is kept for later runs lies; and tables that come with warpsmith, read once a user: what TOML says takes
as long to read as a short program to port.

    effects.toml, file.py, …  ──►  key  ─┬─►  ~/.cache/warpsmith/tables/effects      key, check sum, the table packed
                                         └─►  made anew where that has another key

Invariant: a table that was kept was made of the same files, which are all that it depends on. One that cannot be read,
or is not whole, counts as none; where the cache cannot be written, the table is made each time.

`kept_bytes` keeps what was made of a key, many of a kind, each in a file that the key names; those that nobody asked
for longest go. Of files that another user wrote, or could have, nothing is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import source_hash
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["cache_folder", "is_kept", "keep_bytes", "kept_bytes", "kept_table", "read_kept"]

T = TypeVar("T")
_HASH_BYTES = 8
_LARGEST: Final = 256 << 20
"""Bytes that a folder of `kept_bytes` has at most, roughly."""


def cache_folder() -> Path:
    """Return the folder of the cache, there or not: $WARPSMITH_CACHE_DIR, or `warpsmith` in the user's own.

    Raises RuntimeError where the user has no folder.
    """
    named = os.environ.get("WARPSMITH_CACHE_DIR")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpsmith"


def kept_table(name: str, form: type[T], sources: Sequence[Traversable], make: Callable[[], T]) -> T:
    """Return the table called `name`, of type `form`, which `make` makes of nothing but the files `sources`."""
    try:
        said = [source.read_bytes() for source in sources]
        place = cache_folder() / "tables" / name
    except (OSError, RuntimeError):  # a package without its texts, a user without a folder
        return make()
    key = source_hash(b"".join(len(part).to_bytes(8, "little") + part for part in said))
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return _unpack(place.read_bytes(), key, form)
    table = make()
    with contextlib.suppress(OSError):
        _keep(place, key, msgspec.msgpack.encode(table))
    return table


def _unpack(data: bytes, key: bytes, form: type[T]) -> T:
    """Return the table that `data` holds; raises DecodeError where it is another one, or not whole."""
    head, table = data[: 2 * _HASH_BYTES], data[2 * _HASH_BYTES :]
    if head != key + source_hash(table):
        raise msgspec.DecodeError("made of other files, or not whole")
    return msgspec.msgpack.decode(table, type=form)


def _keep(place: Path, key: bytes, table: bytes) -> None:
    """Write a table in one step: a run at the same time finds the old one, or all of the new one."""
    _write(place, key + source_hash(table) + table)


def kept_bytes(name: str, key: bytes, make: Callable[[], bytes]) -> bytes:
    """Return what `make` makes of `key`, which is all that it depends on: from the folder `name` of the cache where it
    is there. What is not whole, or may be another user's, is made again."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        return read_kept(name, key)
    made = make()
    with contextlib.suppress(OSError, RuntimeError):
        keep_bytes(name, key, made)
    return made


def read_kept(name: str, key: bytes) -> bytes:
    """Return what was kept of `key` in the folder `name`. Raises OSError where there is nothing, ValueError where it is
    not ours, or not whole, RuntimeError for a user without a folder."""
    digest = hashlib.sha256(key).digest()
    return _own_bytes(cache_folder() / name / digest.hex(), digest)


def keep_bytes(name: str, key: bytes, made: bytes) -> None:
    """Keep what was made of `key`, in place of what was kept before. Raises OSError where it cannot be written,
    RuntimeError for a user without a folder."""
    digest = hashlib.sha256(key).digest()
    place = cache_folder() / name / digest.hex()
    _write(place, _seal(digest, made) + made)
    _drop_oldest(place.parent)


def is_kept(name: str, key: bytes) -> bool:
    """Whether `kept_bytes` is likely to find what was made of `key`."""
    try:
        return (cache_folder() / name / hashlib.sha256(key).digest().hex()).is_file()
    except (RuntimeError, OSError):
        return False


def _seal(digest: bytes, data: bytes) -> bytes:
    return hashlib.sha256(digest + data).digest()


def _own_bytes(place: Path, digest: bytes) -> bytes:
    """Return what a file of ours holds; raises ValueError where it is not ours, or not whole, OSError where it cannot
    be read."""
    with place.open("rb") as file:
        facts = os.fstat(file.fileno())
        if facts.st_uid != os.geteuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ValueError("others may have written it")
        seal, data = file.read(hashlib.sha256().digest_size), file.read()
        if seal != _seal(digest, data):
            raise ValueError("not whole")
        os.utime(file.fileno())
    return data


def _drop_oldest(folder: Path) -> None:
    """Remove the files that nobody asked for longest, until the folder is not too large."""
    files = sorted(((one.stat().st_mtime_ns, one.stat().st_size, one) for one in folder.iterdir()), reverse=True)
    total = 0
    for _, size, one in files:
        total += size
        if total > _LARGEST:
            one.unlink(missing_ok=True)


def _write(place: Path, data: bytes) -> None:
    """Write a file in one step: a run at the same time finds the old one, or all of the new one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix="new-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(fresh).replace(place)
    except OSError:
        Path(fresh).unlink(missing_ok=True)
        raise
