"""`--watch`: a command runs again whenever one of its files changes, until Ctrl-C."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from time import sleep, strftime
from typing import Final

import click

from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import render_finding

__all__ = ["watch_for_changes"]

PAUSE: Final = 0.5
INTERRUPTED: Final = 130

Stamp = tuple[int, int]


def watch_for_changes(run: Callable[[], object], files: Callable[[], Iterable[str]], pause: float = PAUSE) -> int:
    """Call `run`, and again after every change of one of `files`, which are asked for anew each time, and know more
    after a run; return the exit code of an interruption. Input that cannot be used is reported, and waited for."""
    named: tuple[str, ...] = tuple(files())

    def look() -> dict[str, Stamp | None]:
        nonlocal named
        with contextlib.suppress(WarpsmithError):  # the run tells it
            named = tuple(files())
        return _stamps(named)

    try:
        while True:
            seen = look()
            try:
                run()
            except WarpsmithError as error:
                for finding in error.findings:
                    click.echo(render_finding(finding), err=True)
            seen = look() | seen
            click.echo(f"watching {len(seen)} {'file' if len(seen) == 1 else 'files'}; Ctrl-C ends", err=True)
            while (now := look()) == seen:
                sleep(pause)
            changed = [path for path in {**seen, **now} if seen.get(path) != now.get(path)]
            click.echo(f"\n{strftime('%H:%M:%S')}  changed: {', '.join(changed)}", err=True)
    except KeyboardInterrupt:
        return INTERRUPTED


def _stamps(files: Iterable[str]) -> dict[str, Stamp | None]:
    """Return when each file was changed and how large it is; None for one that is not there."""
    found: dict[str, Stamp | None] = {}
    for path in files:
        try:
            state = Path(path).stat()
            found[path] = (state.st_mtime_ns, state.st_size)
        except OSError:
            found[path] = None
    return found
