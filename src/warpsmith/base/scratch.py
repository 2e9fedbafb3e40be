"""One folder for all that is temporary: whoever outlives the work takes it away as a whole, however the work ended.

A compiler that is killed leaves its files, and we may be killed ourselves before ours are put away.

Work that is to be stopped, and first puts together what it has done, says so with a file in the folder; so whoever
would kill it knows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

__all__ = ["ask_for_time", "asks_for_time", "lasting_folder", "make_folder", "remove_folder", "use_folder"]

_PREFIX = "warpsmith-run-"
_ROUNDS, _PAUSE_S = 5, 0.05
_FINISHING = "finishing"


def make_folder() -> str | None:
    """Return a new folder; None where the machine has no place for one, which matters to those alone who need it."""
    try:
        return tempfile.mkdtemp(prefix=_PREFIX)
    except OSError:
        return None


def use_folder(folder: str | None) -> None:
    """Let this process, and all that it starts, keep what is temporary in the folder."""
    if folder is not None:
        tempfile.tempdir = folder
        os.environ["TMPDIR"] = folder


def remove_folder(folder: str | None) -> None:
    """Take the folder away with all that is in it."""
    for _ in range(_ROUNDS if folder is not None else 0):
        assert folder is not None
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            return
        # a process that was just killed may still have written
        time.sleep(_PAUSE_S)


def lasting_folder() -> str:
    """Return the folder for temporary files that outlive us: a crash's details, what a build of the user's keeps."""
    folder = Path(tempfile.gettempdir())
    return str(folder.parent if folder.name.startswith(_PREFIX) else folder)


def ask_for_time() -> None:
    """Say that this process puts its results together, which may take longer than a stop does otherwise."""
    folder = Path(tempfile.gettempdir())
    if folder.name.startswith(_PREFIX):
        with contextlib.suppress(OSError):
            (folder / _FINISHING).touch()


def asks_for_time(folder: str | None) -> bool:
    """Return whether the work whose folder it is has said so."""
    return folder is not None and (Path(folder) / _FINISHING).exists()
