"""One run of a project in a copy that watches assumptions. Watching is slow, so it is not the run that is measured.

Invariant: nothing below `root` is written. A run that takes too long is ended, and what was seen until then counts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from warpsmith.project.copying import copy_project, fingerprint
from warpsmith.project.profile.run import RunRequest, build_copy, check_untouched, clear, environment_of
from warpsmith.project.profile.watch import AssumptionWatch, Observation, read_seen, watch_header, watched_text

__all__ = ["WatchedRun", "watch_run"]


class WatchedRun(Struct, frozen=True):
    """What was seen of each watch (None: its loop's text cannot be changed), and whether the run came to its end."""

    seen: tuple[Observation | None, ...]
    ended: bool


def watch_run(request: RunRequest, watches: Sequence[AssumptionWatch]) -> WatchedRun:
    """Build and run the project once in a copy that watches, on one thread of OpenMP, so that iterations come in order.

    Raises UsageError (PRF001, PRF002) where it cannot be copied or built; the user's files are as they were.
    """
    root = request.root.resolve()
    before = fingerprint(root)
    with tempfile.TemporaryDirectory(prefix="warpsmith-watch-", dir=request.scratch) as folder:
        copy, data, header = Path(folder, root.name or "copy"), Path(folder, "seen"), Path(folder, "ws_watch.h")
        copy_project(root, copy, request.most_bytes)
        data.mkdir()
        done = _watch_all(copy, root, header, watches)
        header.write_text(watch_header(str(data), len(watches)), "utf-8", "surrogateescape")
        where = copy / request.directory.resolve().relative_to(root)
        build_copy(request, root, copy, where)
        check_untouched(root, before, "the build")
        clear(data)
        ended = _run(request, root, copy, where)
        check_untouched(root, before, "the run")
        seen = read_seen(sorted(data.iterdir()), len(watches))
    return WatchedRun(tuple(one if k in done else None for k, one in enumerate(seen)), ended)


def _watch_all(copy: Path, root: Path, header: Path, watches: Sequence[AssumptionWatch]) -> frozenset[int]:
    """Let the files of the copy watch; return the numbers of the watches that do."""
    done: frozenset[int] = frozenset()
    for file in dict.fromkeys(watch.file for watch in watches):
        original = Path(file).resolve()
        if not original.is_relative_to(root):
            continue
        path = copy / original.relative_to(root)
        mine = [(number, watch) for number, watch in enumerate(watches) if watch.file == file]
        text, found = watched_text(path.read_bytes().decode("latin-1"), str(header), mine)
        path.write_bytes(text.encode("latin-1"))
        done |= found
    return done


def _run(request: RunRequest, root: Path, copy: Path, where: Path) -> bool:
    """Run the command, its output away from ours; return whether it ended in time."""
    environment = {**environment_of(root, copy), "OMP_NUM_THREADS": "1"}
    started = subprocess.Popen(
        ["/bin/sh", "-c", request.run.replace(str(root), str(copy))], cwd=where, start_new_session=True,
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        started.wait(request.timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        return False
    return True
