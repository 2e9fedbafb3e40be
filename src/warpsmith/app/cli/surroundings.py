"""What the global options put around a command while it runs: the folder, the cache, the log."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from warpsmith.app.cli.global_options import GlobalOptions
from warpsmith.app.cli.log import keep_log
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["begin_command"]

_CACHE: Final = "WARPSMITH_CACHE_DIR"


@contextlib.contextmanager
def begin_command(options: GlobalOptions, name: str) -> Iterator[None]:
    """Run the body in the folder, with the cache and the log that the options name; `name` goes to the log."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(keep_log(options, name))
        stack.enter_context(_directory(options.directory))
        stack.enter_context(_cache(options))
        yield


@contextlib.contextmanager
def _directory(path: str | None) -> Iterator[None]:
    if path is None:
        yield
        return
    before = Path.cwd()
    try:
        os.chdir(path)
    except OSError as error:
        message = f"-C: {path}: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("INP001", "error", message, help=("name a folder that is there",))) from error
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _cache(options: GlobalOptions) -> Iterator[None]:
    """Name the cache for this process and those that it starts; without one, a folder that goes away is it."""
    before = os.environ.get(_CACHE)
    with contextlib.ExitStack() as stack:
        if options.no_cache or options.isolated:
            os.environ[_CACHE] = stack.enter_context(tempfile.TemporaryDirectory(prefix="warpsmith-cache-"))
        elif options.cache_dir is not None:
            if Path(options.cache_dir).exists() and not Path(options.cache_dir).is_dir():
                message = f"--cache-dir: {options.cache_dir} is no folder"
                raise UsageError(Finding("INP001", "error", message, help=("name a folder; it is made where need be",)))
            os.environ[_CACHE] = str(Path(options.cache_dir).resolve())
        try:
            yield
        finally:
            os.environ.pop(_CACHE, None)
            if before is not None:
                os.environ[_CACHE] = before
