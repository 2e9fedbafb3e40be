"""A program's emitted files as the referee takes them: each with the options of its own unit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import output_paths, place_beside
from warpsmith.run.native.includes import include_arguments
from warpsmith.run.verification import Sources
from warpsmith.tree.program import Kernel, Program, Unit
from warpsmith.tree.types import Scalar, is_float

__all__ = [
    "kernel_arguments",
    "meaningful",
    "project_headers",
    "sources_of",
    "unit_arguments",
    "with_own_folders",
]

_DOUBLE_BITS: Final = 64
_WITH_VALUE = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "--std", "-std")
_OF_TEXT = ("-I", "-D", "-U", "-std", "--std", "-ansi", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
# what changes the meaning of a program; how fast and how talkative its build is says nothing to a referee
_OF_MEANING = (
    "-fopenmp", "-fopenacc", "-fwrapv", "-fno-strict-aliasing", "-fsigned-char", "-funsigned-char", "-fshort-enums",
    "-fgnu89-inline", "-fcommon", "-fno-common", "-fpermissive", "-fms-extensions", "-fexceptions", "-pthread",
)  # fmt: skip


def sources_of(program: Program, files: tuple[OutputFile, ...], *, captured: bool) -> Sources:
    """Return `files` with the options and the directory of the program that they came from."""
    first = program.units[0]
    arguments = tuple(dict.fromkeys(a for unit in program.units for a in meaningful(unit.arguments)))
    own = {str(path): unit_arguments(unit) for path, unit in zip(output_paths(program), program.units, strict=True)}
    own |= kernel_arguments(files, own)
    beside = zip(output_paths(program), program.units, strict=True)
    included = frozenset(str(p.parent / place_beside(unit, file)) for p, unit in beside for file in unit.sources)
    bits = _reordered_bits(program.kernels)
    return Sources(files, arguments, str(Path(first.file.path).parent), captured, bits, own, included=included)


def _reordered_bits(kernels: Iterable[Kernel]) -> int:
    """Return how wide the numbers are that are combined in another order. Those of type float count as such only where
    they run through a loop: sums are reordered by builds of the original as well, which tell what that costs."""
    changed = [kernel for kernel in kernels if kernel.reordered]
    types = [scan.variable.type for kernel in changed for scan in kernel.scans]
    widths = [type.bits for type in types if isinstance(type, Scalar) and is_float(type)]
    return min([*widths, _DOUBLE_BITS]) if changed else 0


def kernel_arguments(files: tuple[OutputFile, ...], own: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the options of the generated kernels among `files`: none. What they need of the user's they have in their
    text; a macro that two units define differently must not reach them."""
    return {file.path: () for file in files if file.path.endswith(".cu") and file.path not in own}


def unit_arguments(unit: Unit) -> tuple[str, ...]:
    """Return the options that the text of a unit needs, folders absolute; its own folder is the last of them."""
    directory = str(Path(unit.file.path).parent)
    return include_arguments(Sources((), meaningful(unit.arguments), directory))


def project_headers(program: Program, root: str) -> Iterator[OutputFile]:
    """Yield the project's own headers: a port may change some, and one that stays must include those."""
    named = {os.path.relpath(os.path.realpath(header), root) for unit in program.units for header in unit.headers}
    for path in sorted(named):
        if not path.startswith(".."):
            yield OutputFile(path, Path(root, path).read_bytes().decode("latin-1"))


def with_own_folders(arguments: tuple[str, ...], root: str, copy: str = "") -> tuple[str, ...]:
    """Return options that look for headers among the files of a copy of the project before they look into its own
    folders; `copy`: where that is, nothing for the folder of the build."""
    folders = (a[2:] for a in arguments if a.startswith("-I"))
    inside = [os.path.relpath(os.path.realpath(folder), root) for folder in folders]
    return (*(f"-I{Path(copy, folder)}" for folder in inside if not folder.startswith("..")), *arguments)


def meaningful(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the compiler's options that say what a program means: neither optimization nor warnings."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _WITH_VALUE:
            kept += [word, next(words, "")]
        elif word.startswith(_OF_TEXT) or word in _OF_MEANING:
            kept.append(word)
    return tuple(kept)
