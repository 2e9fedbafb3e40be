"""Kernels of one C text, and what their threads read around their own elements."""

from __future__ import annotations

from pathlib import Path

from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.hand import build_all
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.fragments import OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.halo.neighbors import NeighborReads, find_neighbors
from warpsmith.offload.mapping.tiles import TileSearch
from warpsmith.offload.names import Names
from warpsmith.offload.plan import Fragment, OffloadOptions
from warpsmith.offload.selection.choice import choose
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision

__all__ = ["ROWS", "build", "find"]

HEAD = (
    "void f(int n, int m, double B[restrict n][m], double A[restrict n][m], double D[restrict n][m],"
    " double *restrict x, double *restrict y, const int *restrict q)\n"
)
ROWS = "for (int i = 1; i < n - 1; i++) for (int j = 2; j < m - 1; j++)"


def find(text: str, folder: Path) -> NeighborReads:
    """Return what the first kernel reads around the elements of its threads."""
    program = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    region = OffloadRegion((request.facts.function.body,), (draft,), (), ())
    return find_neighbors(TileSearch(request, region, draft, heads))


def build(text: str, folder: Path, *decisions: Decision, loop: str = "f/i", arrays: tuple[str, ...] = ()) -> Fragment:
    """Build the first kernel with tiles for `arrays`, and other decisions, whose loops are found by their addresses."""
    given: Analyzed = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    program = given.program
    place = LoopContext.of(program, loop)
    asked = Decision(loop, "f", "halo", place.loop, arrays=arrays)
    for one in (asked, *decisions):
        place = LoopContext.of(program, one.loop)
        fields = {name: getattr(one, name) for name in ("axes", "block", "width", "arrays", "elements")}
        program = decide(program, place, Decision(one.loop, "f", one.kind, place.loop, **fields))
    request = OffloadRequest(
        program, given.facts["f"], OffloadOptions(), PolyOptions(), Names(program).scope(), Summaries.of(program)
    )
    return next(iter(build_all(request, choose(request, {})).values())).fragment
