"""The cache of what warpsmith compiles for itself, once a user and compiler: `~/.cache/warpsmith/NAME-DIGEST/`.

A folder of the cache is complete as soon as it has its name, so that runs at the same time do not disturb each other;
where the cache cannot be written, the same is made in the directory of the build.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from warpsmith.base.cache import cache_folder

__all__ = ["kept_folder"]


def kept_folder(
    name: str, compiler: str, content: Iterable[bytes], directory: Path, make: Callable[[Path], None]
) -> Path:
    """Return the folder that `make` fills, made at most once for this `content` and version of the compiler."""
    digest = hashlib.sha256(_version(compiler))
    for part in content:
        digest.update(len(part).to_bytes(8, "little") + part)
    full = f"{name}-{digest.hexdigest()[:24]}"
    ready = cache_folder() / full
    if ready.is_dir():
        return ready
    built = directory / full
    built.mkdir(parents=True, exist_ok=True)
    make(built)
    return _keep(built, ready) or built


@lru_cache(maxsize=8)
def _version(compiler: str) -> bytes:
    said = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    return said + os.uname().machine.encode()


def _keep(built: Path, ready: Path) -> Path | None:
    """Move a copy of `built` to the cache in one step; None where the cache cannot be written."""
    try:
        ready.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=ready.parent))
        shutil.copytree(built, fresh, dirs_exist_ok=True)
        try:
            fresh.rename(ready)
        except OSError:  # another run was faster: its objects are the same
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError:
        return None
    return ready if ready.is_dir() else None
