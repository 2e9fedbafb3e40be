"""The access patterns of a nest as text: S, then each reference with its matrix, its rank and its reuse.

A[i][k]     i  j  k    read, row-major
            1  0  0    rank 2 of 3
            0  0  1    used again along j (0, 1, 0): broadcast: the lanes of a warp read it together
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from warpsmith.base.source import readable
from warpsmith.poly.patterns.model import ArrayReference, Counter, MatrixRow, Space
from warpsmith.report.accesses.model import AccessReport, SpaceEntry, direction_words, figure_words, note_words

__all__ = ["accesses_text", "column_words", "matrix_table", "reference_words", "space_lines", "space_words"]

_PLACE = {"thread": "in each thread", "host": "on the host"}


def accesses_text(report: AccessReport) -> str:
    """Return the report as text."""
    nest = report.nest
    lines = [f"{nest.header}: accesses of loop {nest.loop}"]
    for entry in report.spaces:
        lines += ["", *space_lines(entry)]
    if not report.spaces:
        lines += ["", "no array is referenced in it"]
    if report.refused:
        lines += ["", f"nothing is said of where reuse lands: {report.refused}"]
    return "\n".join(readable(line).rstrip() for line in lines)


def space_lines(entry: SpaceEntry) -> Iterator[str]:
    """Yield one run of loops as text."""
    space = entry.space
    names = [counter.name for counter in space.counters]
    yield f"S  {space_words(entry)}"
    unit = [[str(int(k == place)) for k in range(len(names))] for place in range(len(names))]
    yield from (f"   {line}" for line in _align([names, *unit]))
    width = max(len(reference.text) for reference in space.references)
    for reference in space.references:
        yield ""
        yield from _reference(entry, reference, width)
    if notes := note_words(entry):
        yield ""
        yield from notes


def space_words(entry: SpaceEntry) -> str:
    """Return the loops of a space, and where they run: `loops i, j (outermost first), rank 2; kernel …`."""
    space = entry.space
    if entry.figures:
        return _kernel_words(entry)
    loops = f"loops {', '.join(c.name for c in space.counters)} (outermost first), rank {space.depth}"
    if len(space.counters) == 1:
        loops = f"loop {space.counters[0].name}, rank 1"
    if entry.place is None:
        return loops
    where = (
        f"{counter.name} {_PLACE.get(place) or f'on {place}'}"
        for counter, place in zip(space.counters, entry.place.loops, strict=True)
    )
    x, y, z = entry.place.block
    kernels = ", ".join(dict.fromkeys(filter(None, entry.kernels)))
    return f"{loops}; kernel {kernels}: {', '.join(where)}, blocks of {x} x {y} x {z}"


def _kernel_words(entry: SpaceEntry) -> str:
    assert entry.place is not None
    x, y, z = entry.place.block
    return f"{column_words(entry.space)}; kernel {entry.place.kernel}, blocks of {x} x {y} x {z}"


def column_words(space: Space) -> str:
    """Return the columns of a kernel's accesses: `indices blockIdx.x, threadIdx.x, loop k of line 7 (outermost
    first), rank 3`."""
    indices = [counter.name for counter in space.counters if not counter.loop]
    loops = [counter for counter in space.counters if counter.loop]
    named = [f"indices {', '.join(indices)}"] if indices else []
    named += [f"loop{'s' if len(loops) > 1 else ''} {', '.join(map(_loop_words, loops))}"] if loops else []
    return f"{', '.join(named) or 'one thread'} (outermost first), rank {space.depth}"


def _loop_words(counter: Counter) -> str:
    return f"{counter.name} of line {counter.header.line}" if counter.header is not None else counter.name


def reference_words(entry: SpaceEntry, reference: ArrayReference) -> list[str]:
    """Return what is said of a reference: what it does and its classes, its rank, each direction of reuse."""
    does = " and ".join(word for word, said in (("read", reference.reads), ("written", reference.writes)) if said)
    unknown = any(row.irregular for row in reference.rows)
    alone = ": it is not known to use an element again" if unknown else ": it uses no element again"
    figures = entry.figures[entry.space.references.index(reference)] if entry.figures else None
    said = figure_words(figures) if figures is not None else ""
    return [
        f"{does}, {', '.join(reference.classes)}",
        f"rank {reference.rank} of {entry.space.depth}{'' if reference.reuse else alone}",
        *(direction_words(entry, reference, direction) for direction in reference.reuse),
        *([said] if said else []),
    ]


def _reference(entry: SpaceEntry, reference: ArrayReference, width: int) -> Iterator[str]:
    matrix = list(_align(matrix_table(entry.space, reference)))
    wide = max(map(len, matrix))
    said = reference_words(entry, reference)
    for name, row, words in zip_longest([reference.text], matrix, said, fillvalue=""):
        yield f"  {name:<{width}}  {row:<{wide}}   {words}"


def matrix_table(space: Space, reference: ArrayReference) -> list[list[str]]:
    """Return the access matrix of a reference, a row of cells for its columns and one for each dimension; columns of
    parameters and of 1 only where they are not 0. A subscript that is no sum has `?` for each counter that may change
    it."""
    rows = reference.rows
    parameters = [k for k in range(len(space.parameters)) if any(row.parameters[k] for row in rows)]
    constant = any(row.constant for row in rows)
    head = [c.name for c in space.counters] + [space.parameters[k] for k in parameters] + ["1"] * constant
    return [head, *(_cells(row, parameters, constant=constant) for row in rows)]


def _cells(row: MatrixRow, parameters: Sequence[int], *, constant: bool) -> list[str]:
    if row.irregular:
        known = ["?" if k in row.follows else "0" for k in range(len(row.counters))]
        return known + ["?"] * (len(parameters) + constant)
    numbers = [*row.counters, *(row.parameters[k] for k in parameters), *([row.constant] if constant else [])]
    return [str(number) for number in numbers]


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
