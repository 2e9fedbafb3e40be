"""What the global options put around a command while it runs: the folder, the cache, the log."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from warpsmith.app.cli.global_options import GlobalOptions
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["begin_command"]

_CACHE: Final = "WARPSMITH_CACHE_DIR"


@contextlib.contextmanager
def begin_command(options: GlobalOptions, name: str) -> Iterator[None]:
    """Run the body in the folder, with the cache and the log that the options name; `name` goes to the log."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_logging(options, name))
        stack.enter_context(_directory(options.directory))
        stack.enter_context(_cache(options))
        yield


class _LogFile(logging.FileHandler):
    """A log file; that it cannot be written, say on a full disk, is reported once, at the end."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        """Go on without the line: what cannot be written to the file at its end says the same."""


@contextlib.contextmanager
def _logging(options: GlobalOptions, name: str) -> Iterator[None]:
    """Send what the package's logger records to standard error (-v) and to the log file."""
    logger = logging.getLogger("warpsmith")
    handlers: list[logging.Handler] = []
    file = options.log_file or (None if options.isolated else os.environ.get("WARPSMITH_LOG"))
    if file == "-":
        raise UsageError(Finding("INP000", "error", "--log-file names a file", help=("-v prints to standard error",)))
    if options.verbose:
        handlers.append(logging.StreamHandler())
        handlers[0].setFormatter(logging.Formatter("%(message)s"))
        handlers[0].setLevel(logging.DEBUG if options.verbose > 1 else logging.INFO)
    if file:
        try:
            handlers.append(_LogFile(file, encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            message = f"--log-file: {file} cannot be written: {(error.strerror or str(error)).lower()}"
            raise UsageError(Finding("OUT002", "error", message)) from error
        handlers[-1].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level = logger.level
    if handlers:
        logger.setLevel(logging.DEBUG)
    elif not logger.handlers:
        logger.setLevel(logging.WARNING)
        handlers = [logging.NullHandler()]
    logger.propagate = False
    for handler in handlers:
        logger.addHandler(handler)
    logger.debug("%s in %s", name, Path.cwd())
    try:
        yield
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


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
