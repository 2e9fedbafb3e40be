"""What goes to the package's log: standard error with -v, and the log file.

`logging` is loaded only where somebody reads what is written: other runs start sooner.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warpsmith.app.cli.global_options import GlobalOptions
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

if TYPE_CHECKING:
    import logging

__all__ = ["keep_log", "write_debug", "write_info"]

_NAME: Final = "warpsmith"


def write_debug(template: str, *values: object) -> None:
    """Record a message for -vv and the log file."""
    if (logger := _logger()) is not None:
        logger.debug(template, *values)


def write_info(template: str, *values: object) -> None:
    """Record a message for -v and the log file."""
    if (logger := _logger()) is not None:
        logger.info(template, *values)


def _logger() -> logging.Logger | None:
    """Return the package's logger; None where nobody has loaded `logging`, so that nobody can listen."""
    module = sys.modules.get("logging")
    return module.getLogger(_NAME) if module is not None else None


@contextlib.contextmanager
def keep_log(options: GlobalOptions, name: str) -> Iterator[None]:
    """Send what the package's logger records to standard error (-v) and to the log file; `name` is the command's."""
    file = options.log_file or (None if options.isolated else os.environ.get("WARPSMITH_LOG"))
    if file == "-":
        raise UsageError(Finding("INP000", "error", "--log-file names a file", help=("-v prints to standard error",)))
    if not options.verbose and not file and _logger() is None:
        yield
        return
    import logging

    logger = logging.getLogger(_NAME)
    handlers = _handlers(options.verbose, file)
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


def _handlers(verbose: int, file: str | None) -> list[logging.Handler]:
    """Return what writes to standard error and to the log file; raises UsageError where that cannot be opened."""
    import logging

    class LogFile(logging.FileHandler):
        """A log file; that it cannot be written, say on a full disk, is reported once, at the end."""

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
            """Go on without the line: what cannot be written to the file at its end says the same."""

    handlers: list[logging.Handler] = []
    if verbose:
        handlers.append(logging.StreamHandler())
        handlers[0].setFormatter(logging.Formatter("%(message)s"))
        handlers[0].setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    if file:
        try:
            handlers.append(LogFile(file, encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            message = f"--log-file: {file} cannot be written: {(error.strerror or str(error)).lower()}"
            raise UsageError(Finding("OUT002", "error", message)) from error
        handlers[-1].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return handlers
