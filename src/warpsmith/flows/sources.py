"""A program's emitted files as the referee takes them."""

from __future__ import annotations

from pathlib import Path

from warpsmith.emit.files import OutputFile
from warpsmith.run.verification import Sources
from warpsmith.tree.program import Program

__all__ = ["sources_of"]


def sources_of(program: Program, files: tuple[OutputFile, ...], *, captured: bool) -> Sources:
    """Return `files` with the options and the directory of the program that they came from."""
    first = program.units[0]
    arguments = tuple(dict.fromkeys(argument for unit in program.units for argument in unit.arguments))
    reordered = any(kernel.reordered for kernel in program.kernels)
    return Sources(files, arguments, str(Path(first.file.path).parent), captured, reordered)
