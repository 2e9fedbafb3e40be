"""The changes of a port in place to headers, whose text several functions share, in one file or in many.

    main.cpp       launches k1 in its own text, k2 in that of image.hpp
    filter.cpp     launches k3 in that of image.hpp
                   image.hpp is changed once, and has kernels of its own: k2, k3

Invariant: a kernel belongs to the file whose text launches it; of an instance that several files have, the first file's
version counts, which is as good as the others' by the rule of one definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath, PurePosixPath

import msgspec.structs

from warpsmith.base.source import SourceFile
from warpsmith.emit.file_names import kernel_stem
from warpsmith.emit.host.cuda import UnitJob
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import Function, Launch
from warpsmith.tree.program import Program
from warpsmith.tree.shared import conditions
from warpsmith.tree.walk import walk

__all__ = ["by_file", "once"]


def by_file(job: UnitJob) -> Iterator[UnitJob]:
    """Yield a job for the unit's own file, and one for each header whose text launches kernels."""
    launched: dict[int, tuple[SourceFile, set[str]]] = {id(job.original.file): (job.original.file, set())}
    for made in job.functions:
        launched.setdefault(id(made.place.file), (made.place.file, set()))[1].update(made.kernels)
    for function in job.rewritten.functions:
        names = {node.kernel for node in walk(function) if isinstance(node, Launch)}
        if names:
            launched.setdefault(id(function.span.file), (function.span.file, set()))[1].update(names)
    for file, names in launched.values():
        kernels = tuple(kernel for kernel in job.kernels if kernel.name in names)
        functions = tuple(made for made in job.functions if made.place.file is file)
        if file is job.original.file:
            yield msgspec.structs.replace(job, kernels=kernels, functions=functions)
            continue
        items = tuple(f for f in job.original.functions if f.span.file is file)
        path = PurePosixPath(PurePath(file.path).name)  # several files may launch in one header
        unit = msgspec.structs.replace(job.original, file=file, items=items)
        yield msgspec.structs.replace(
            job, original=unit, kernels=kernels, path=path, stem=kernel_stem(path), pool=False, functions=functions
        )


def once(program: Program, versions: Iterable[Versioned]) -> list[Versioned]:
    """Return the versions without repetitions, those in shared text with what tells the instances apart."""
    own = {item.span for unit in program.units for item in unit.items if isinstance(item, Function)}
    seen: dict[tuple[int, int, tuple[str, ...]], Versioned] = {}
    for version in versions:
        instance = () if version.function.span in own else conditions(version.function)
        key = (version.written[0].span.start, version.written[-1].span.end, instance)
        seen.setdefault(key, msgspec.structs.replace(version, instance=instance))
    return [*seen.values()]
