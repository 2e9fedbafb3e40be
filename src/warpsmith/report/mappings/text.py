"""The mappings of a nest as text: a row for each, with what the count of lines and the printed tables say of it.

p  c  block    sectors  r1  r2  lines   tables  r1               r2
y  x  4 x 64   4        4   4   0.0625  1.12    1 t32! (0.0312)  0.125 t22! (0.0312)    chosen by lines; the port's
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.base.source import readable
from warpsmith.offload.mapping.candidates import ReferenceScore, ScoredMapping
from warpsmith.report.mappings.model import MappingsReport, MappingWinner, NestMappings

__all__ = ["mappings_text"]

_ROWS: Final = 18
"""Rows of a nest; of two loops, in blocks of 256 threads, these are all."""


def mappings_text(report: MappingsReport) -> str:
    """Return the report as text."""
    lines = [f"{report.header}: mappings of loop {report.loop}"]
    for nest in report.nests:
        lines += ["", *_nest_lines(nest)]
    if report.refused:
        lines += ["", f"nothing is mapped: {report.refused}"]
    return "\n".join(readable(line).rstrip() for line in lines)


def _nest_lines(nest: NestMappings) -> Iterator[str]:
    shown = _list_shown(nest)
    count, axes = len(nest.mappings), ", ".join("xyz"[: len(nest.counters)])
    ways = f"{count} way{'s' if count > 1 else ''} to lay {', '.join(nest.counters)} on {axes}"
    yield f"kernel {nest.kernel}, line {nest.header.line}: {ways}"
    width = max(len(reference.text) for reference in nest.references) if nest.references else 0
    for number, reference in enumerate(nest.references, 1):
        does = " and ".join(word for word, said in (("read", reference.reads), ("written", reference.writes)) if said)
        times = f", {reference.weight} times a thread" if reference.weight > 1 else ""
        yield f"  r{number}  {reference.text:<{width}}  {does}{times}"
    yield ""
    yield from _align([_head(nest), *(_row(nest, place) for place in shown)])
    if len(shown) < count:
        yield f"and {count - len(shown)} more, which --json has"
    yield ""
    yield from _notes(nest, shown)


def _list_shown(nest: NestMappings) -> list[int]:
    """Return the places of the rows: the first ones, and what a model or the port has chosen."""
    places = [(one.axes, one.block) for one in nest.mappings]
    chosen = {winner.place for winner in nest.winners} | ({places.index(nest.port)} if nest.port in places else set())
    return sorted({*range(min(_ROWS, len(places))), *chosen})


def _head(nest: NestMappings) -> list[str]:
    names = [f"r{number}" for number in range(1, len(nest.references) + 1)]
    tables = ["tables", *names] if _has_tables(nest) else []
    return [*nest.counters, "block", "sectors", *names, "lines", *tables, *(["time"] if any(nest.seconds) else []), ""]


def _has_tables(nest: NestMappings) -> bool:
    return nest.mappings[0].printed is not None


def _row(nest: NestMappings, place: int) -> list[str]:
    one = nest.mappings[place]
    scores = [one.scores[reference.score] for reference in nest.references]
    cells = [*one.axes, _block(one, len(nest.counters)), f"{one.sectors:.3g}", *(str(s.sectors) for s in scores)]
    cells += [f"{one.lines:.3g}" + ("" if one.counted else " -")]
    if one.printed is not None:
        cells += [f"{one.printed:.3g}", *map(_table_cell, scores)]
    if any(nest.seconds):
        seconds = nest.seconds[place]
        cells.append("" if seconds is None else f"{seconds * 1e6:.4g} us")
    chosen = [winner.chooser for winner in nest.winners if winner.place == place]
    said = [f"chosen by {' and '.join(chosen)}"] if chosen else []
    return [*cells, "; ".join([*said, *(["the port's"] if (one.axes, one.block) == nest.port else [])])]


def _block(one: ScoredMapping, loops: int) -> str:
    return " x ".join(map(str, one.block[:loops]))


def _table_cell(score: ReferenceScore) -> str:
    """Return a number of the tables, with its entry; the right one behind it where that is another."""
    table = score.table
    assert table is not None, "the column is there"
    restored = "*" if table.entry.restored else ""
    mistaken = "!" if score.is_mistaken else ""
    right = f" ({table.right:.3g})" if table.is_off else ""
    return f"{table.lines:.3g} {table.entry.name}{restored}{mistaken}{right}"


def _notes(nest: NestMappings, shown: Sequence[int]) -> Iterator[str]:
    yield "sectors: 32 bytes each, a request of a warp; lines: 128 bytes each, brought in by a block, a thread"
    rows = [score for place in shown for score in nest.mappings[place].scores]
    if not all(nest.mappings[place].counted for place in shown):
        yield "-: fewer threads than a warp are on x, or more than a loop has iterations; not chosen by lines"
    if _has_tables(nest):
        yield "tables: lines, by the printed tables of the static profiler; the entry behind each number"
    found = [score.table for score in rows if score.table is not None]
    if any(table.is_off for table in found):
        yield "(in brackets): the right number, where the printed one is another; !: a mistake of the tables"
    if any(table.entry.restored for table in found):
        yield "*: the scan has lost a part of the entry, which is restored by symmetry"
    if not _has_tables(nest):
        yield "the printed tables are of two and three loops"
    yield from (f"assumed: {text}" for text in nest.assumed)
    yield from _verdicts(nest)


def _verdicts(nest: NestMappings) -> Iterator[str]:
    """Yield what the models choose, and where they do not agree."""
    first = nest.mappings[0]
    for winner in nest.winners:
        if winner.chooser != "lines":
            yield _compare(nest, first, winner)
    if nest.tiled:
        block = " x ".join(map(str, nest.port[1][: len(nest.counters)]))
        yield f"the port reads tiles of shared memory, and has the block that these want: {block}"


def _compare(nest: NestMappings, first: ScoredMapping, winner: MappingWinner) -> str:
    one = nest.mappings[winner.place]
    ties = f" ({winner.ties} others are as good)" if winner.ties > 1 else " (another is as good)" if winner.ties else ""
    if one is first:
        return f"{winner.chooser} and lines agree: {_words(nest, one)}{ties}"
    text = f"by {winner.chooser} {_words(nest, one)}{ties}; by lines {_words(nest, first)}"
    if one.sectors != first.sectors:
        return f"{text}, where a request has {first.sectors:.3g} sectors in place of {one.sectors:.3g}"
    return text


def _words(nest: NestMappings, one: ScoredMapping) -> str:
    axes = ", ".join(f"{name} on {axis}" for name, axis in zip(nest.counters, one.axes, strict=True))
    return f"{axes} in {_block(one, len(nest.counters))}"


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
