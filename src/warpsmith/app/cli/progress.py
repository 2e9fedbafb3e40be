"""One line on standard error while something takes long: stage, count, item. It is for terminals, comes after half a
second, and is gone when the work is done, or stopped.

    verifying  2/3  schedule 2: blocks and threads in another order  0:00:04
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.log import write_debug, write_info
from warpsmith.base.progress import Activity, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Display

__all__ = ["is_wanted", "watch_progress"]

DELAY_S = 0.5


@contextlib.contextmanager
def watch_progress() -> Iterator[Progress]:
    """Yield whom a flow tells what it does: the log learns of every stage, a terminal sees the line."""
    stages = _Stages()
    line = _Line() if is_wanted() else None

    def tell(work: Activity) -> None:
        stages.note(work)
        if line is not None:
            line.show(work)

    try:
        yield tell
    finally:
        if line is not None:
            line.clear()
        stages.end()


def is_wanted() -> bool:
    """Whether the line is shown: standard error is a terminal that can erase, and nothing says otherwise."""
    said, environment = global_options(), os.environ.get
    if said.no_progress or said.quiet or said.verbose or environment("CI") or environment("TERM") == "dumb":
        return False
    return sys.stderr is not None and sys.stderr.isatty()


class _Stages:
    """Writes to the log how long each stage took, and its items where that is asked for."""

    def __init__(self) -> None:
        self._stage = ""
        self._start = time.monotonic()

    def note(self, work: Activity) -> None:
        if work.stage != self._stage:
            self.end()
            self._stage, self._start = work.stage, time.monotonic()
        if work.item:
            count = f" {work.done}/{work.total}" if work.total else ""
            write_debug("%s%s %s", work.stage, count, work.item)

    def end(self) -> None:
        if self._stage:
            write_info("%s: %.2f s", self._stage, time.monotonic() - self._start)
        self._stage = ""


class _Line:
    """The line. rich is loaded when there is something to show, in the thread that waits for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = Activity("starting")
        self._display: Display | None = None
        self._over = False
        self._timer = threading.Timer(DELAY_S, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def show(self, work: Activity) -> None:
        with self._lock:
            self._last = work
            self._update()

    def clear(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._display is not None:
                self._display.stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Display
        from rich.progress import TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}", markup=False), TextColumn("{task.fields[count]}"))
        item = TextColumn("{task.fields[item]}", markup=False)
        console = Console(stderr=True, no_color=global_options().color == "never", highlight=False, emoji=False)
        with self._lock:
            if self._over:
                return
            # nothing of ours is printed meanwhile; what a build prints is left as it is
            self._display = Display(
                *columns, item, TimeElapsedColumn(), console=console, transient=True,
                redirect_stdout=False, redirect_stderr=False, refresh_per_second=5,
            )  # fmt: skip
            self._display.add_task("", total=None, count="", item="")
            self._update()
            self._display.start()

    def _update(self) -> None:
        if self._display is None:
            return
        work = self._last
        count = f"{work.done}/{work.total}" if work.total else ""
        self._display.update(self._display.task_ids[0], description=work.stage, count=count, item=work.item)
