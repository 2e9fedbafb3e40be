"""Where a port stands whose pragmas share a conditional with other code, and what keeps a build from leaving it out.

    #ifdef THREADS
        omp_set_num_threads(4);
    #ifdef WARPSMITH                        ◄── the place: what was compiled here when the port was made
    #define WARPSMITH_1
        if (ws_on()) { …ported… } else {
    #endif
    #pragma omp parallel for
    #endif
    #ifdef WARPSMITH
    #ifndef WARPSMITH_1                     ◄── a build for the GPU without THREADS stops here
    #error "…"
    #endif
    #undef WARPSMITH_1
    #endif
        for (…) …

Where the build at hand left the pragmas out, the port stands under them, and `#error` beside them. A conditional that
the file decides itself (`#define THREADS` at its top) needs no such check.

Invariant: a build with WARPSMITH either has the port and what belongs to it in front of the statement, or stops.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warpsmith.base.source import SourceFile
from warpsmith.tree.in_place.versioned import Run
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.conditionals import OpenConditional, open_conditionals
from warpsmith.tree.text.fixed_macros import find_fixed
from warpsmith.tree.text.layout import indent_at
from warpsmith.tree.text.places import InsertionPoint, bound_pragmas, place_at

__all__ = ["beside"]


def beside(
    file: SourceFile, run: Run, lower: int, left_out: Sequence[tuple[int, int]], mark: str
) -> tuple[InsertionPoint, tuple[Addition, ...]] | None:
    """Return the place of what the statements `run` are preceded by, and what checks that the build compiles it; None
    where no pragma of theirs stands in a conditional. `lower`: where the construct around them starts; `left_out`: what
    the build at hand does not compile; `mark`: a macro's name that is free."""
    start, end = run[0].span.start, run[-1].span.end
    bound = bound_pragmas(file, lower, start, left_out)
    compiled = [p for p in bound if not any(low <= p.start < high for low, high in left_out)]
    if not bound:
        return None
    indent = indent_at(file, start)
    under = place_at(file, start, indent)
    decided = _is_decided(file, (compiled or bound)[0].start, start)
    if not compiled:
        hidden = place_at(file, bound[0].start, indent)
        stop = Addition(hidden, (_error(file, bound[0].start, start, "without"),), start, end, closes=False)
        return under, () if decided else (stop,)
    place = replace(place_at(file, compiled[0].start, indent), above=True, inside=True)
    if decided:
        return place, ()
    error = _error(file, compiled[0].start, start, "with")
    asked = (f"#ifndef {mark}", error, "#endif", f"#undef {mark}")
    return place, (
        Addition(place, (f"#define {mark}",), start, end + len(file.text), closes=False),
        Addition(under, asked, start, end + len(file.text), closes=False),
    )


def _is_decided(file: SourceFile, place: int, start: int) -> bool:
    """Whether the file itself decides whether what stands at `place` is compiled where the statement at `start` is."""
    asked = frozenset[str]().union(*(one.names for one in _around(file, place, start)))
    return asked <= find_fixed(file.text)


def _around(file: SourceFile, place: int, start: int) -> list[OpenConditional]:
    """Return the conditionals around a place that are not around the statement behind it."""
    staying = {one.start for one in open_conditionals(file.text, start)}
    return [one for one in open_conditionals(file.text, place) if one.start not in staying]


def _error(file: SourceFile, place: int, start: int, how: str) -> str:
    """Return the line that stops a build which compiles something else than the one at hand."""
    around = ", ".join(one.text for one in _around(file, place, start))
    words = around.replace('"', "'").replace("\\", "")
    return f'#error "ported as compiled {how} {words}: build it for the GPU with the same macros, or port it again"'
