"""Where a program's headers are looked for: the user's options, wherever a build of it stands."""

from __future__ import annotations

from pathlib import Path

from warpsmith.run.verification import Sources

__all__ = ["include_arguments"]


def include_arguments(sources: Sources) -> tuple[str, ...]:
    """Return the user's options with include directories made absolute, and the user's directory added last; for
    `#include "…"` it comes first, as the folder of the file that says so does."""
    directory = Path(sources.directory).resolve()
    found: list[str] = []
    pending = list(sources.arguments)
    while pending:
        argument = pending.pop(0)
        if argument in ("-I", "-isystem", "-iquote") and pending:
            found += [argument, _absolute(pending.pop(0), directory)]
        elif argument.startswith("-I"):
            found.append("-I" + _absolute(argument[2:], directory))
        else:
            found.append(argument)
    return ("-iquote", str(directory), *found, "-I" + str(directory))


def _absolute(path: str, directory: Path) -> str:
    beside = directory / path
    return str(beside if beside.is_dir() else Path(path).resolve())
