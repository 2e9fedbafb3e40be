"""The build file of a project learns of its ported files, in one line each; or the lines to add are reported.

A build that is not understood is left alone: nothing is guessed into anybody's build file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpsmith.project.buildfiles.cmake import edit_cmake
from warpsmith.project.buildfiles.makefile import LIBRARY, MakeEdit, Runner, edit_makefiles, makefile_in

__all__ = ["edit_build", "lines_to_add"]


def edit_build(copy: Path, sources: Sequence[str], rules_folder: str, run: Runner) -> MakeEdit | None:
    """Return the new texts of the build files of the project in `copy`, a throw-away in which they are tried; None
    where the build is not understood. `sources` are the ported files, below `copy`."""
    if (copy / "CMakeLists.txt").is_file():
        return edit_cmake(copy, sources, rules_folder, run)
    return edit_makefiles(copy, sources, rules_folder, run) if makefile_in(copy) is not None else None


def lines_to_add(sources: Sequence[str], rules_folder: str) -> tuple[str, ...]:
    """Return what a build must do for the ported files, in words and commands."""
    return (
        f"build the kernels: nvcc -O3 -shared -Xcompiler -fPIC -o {LIBRARY} {rules_folder}/*.cu",
        f"compile with -DWARPSMITH: {' '.join(sources)}",
        f"link the programs that hold them with {LIBRARY}",
    )
