"""Where results go: standard output, or the file that -o names, which is looked at before anything is worked out."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

from warpsmith.app.cli.output import check_free, not_writable, write_result

__all__ = ["results_in"]


def results_in(path: str, work: Callable[[], object], *, force: bool) -> object:
    """Let what `work` prints to standard output become the file `path`, whole or not at all, and return its exit code;
    `-` is standard output. A failure that has nothing to tell writes nothing.

    Raises UsageError, before `work` begins, where `path` exists (without `force`) or cannot be written. Where
    `work` raises, nothing is written.
    """
    if path == "-":
        return work()
    target = Path(path)
    if target.is_dir():
        raise not_writable(path, IsADirectoryError(21, "it is a folder"), "name a file: -o FILE")
    # a device or a pipe is not overwritten
    check_free(str(target.parent), [target.name], force=force or (target.exists() and not target.is_file()))
    held = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")
    with contextlib.redirect_stdout(held):
        code = work()
    held.flush()
    buffer = held.buffer
    assert isinstance(buffer, io.BytesIO)
    if buffer.getvalue() or not code:
        write_result(path, buffer.getvalue(), remedy="choose another place with -o")
    return code
