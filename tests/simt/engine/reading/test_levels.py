"""Kernels that are made of levels, and near misses; what a level says of lanes is held against the interpreter's."""

from __future__ import annotations

import pytest

from tests.sampling import one_in
from tests.simt.engine.kernels import random_case
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.reading.levels import Levels
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.tally import Tally, WarpPiece
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Function

MADE = {
    "an arm": "if (t & 1) r = 5; out[t] = r;",
    "two arms": "if (t & 1) r = 5; else r = t * 3; out[t] = r;",
    "a loop": "for (int i = 0; i < t; i++) r += i; out[t] = r;",
    "arms in loops in arms": "if (t > 3) for (int i = 0; i < t; i++) { if (r & 1) r += i; else r *= 3; } out[t] = r;",
    "two loops": "for (int i = 0; i < t; i++) for (int j = i; j < t; j++) r += j; out[t] = r;",
    "a test at the end": "do { r += t + 1; } while (r < 40); out[t] = r;",
    "both at once": "if (t > 1 && r < 9) r = t; out[t] = r;",
    "a guard": "if (t >= 20) return; for (int i = 0; i < t; i++) r += i; out[t] = r;",
    "iterations cut short": "for (int i = 0; i < t; i++) { if (i & 1) continue; r += i; } out[t] = r;",
    "a switch": "switch (t & 3) { case 0: r = 1; break; case 1: r = 7; break; default: r = t; } out[t] = r;",
}
NOT_MADE = {
    # who takes the arm may have come from either test
    "one of two": "if (t > 20 || out[t] == 3) r = t * 2; out[t] = r;",
    # lanes that leave are last together with some of those that stay only
    "a way out of an arm": "for (int i = 0; i < t; i++) { if (i & 1) { r += i; if (r > 9) break; } } out[t] = r;",
    "an end in a loop": "for (int i = 0; i < t; i++) { if (i == 7) { out[t] = 3; return; } r += i; } out[t] = r;",
    "a way out of two loops": "for (int i = 0; i < t; i++) for (int j = 0; j < t; j++) { r += j; if (r > 40) goto e; }"
    " e: out[t] = r;",
    "an end in an arm": "if (t & 1) { if (t & 2) return; r = 3; } out[t] = r;",
}


def function_of(body: str) -> Function:
    text = f'extern "C" __global__ void k(int *out) {{ int t = threadIdx.x, r = blockIdx.x; {body} }}'
    unit = read_unit(KernelFile("k.cu", "cuda", (), text))
    assert isinstance(unit, KernelUnit)
    found = unit.module.function("k")
    assert found is not None
    return found


@pytest.mark.parametrize("what", MADE)
def test_what_is_made_of_levels(what: str) -> None:
    graph = Graph.of(function_of(MADE[what]))
    levels = Levels.find(graph)
    assert levels is not None
    assert set(levels.of) == set(graph.order)


@pytest.mark.parametrize("what", NOT_MADE)
def test_what_is_not(what: str) -> None:
    assert Levels.find(Graph.of(function_of(NOT_MADE[what]))) is None


def test_arms_are_in_the_loop_that_they_are_in_and_end_with_their_last_block() -> None:
    graph = Graph.of(function_of(MADE["arms in loops in arms"]))
    levels = Levels.find(graph)
    assert levels is not None
    depths = [len(list(levels.of[name].chain())) for name in graph.order]
    assert (min(depths), max(depths)) == (0, 3)  # all lanes; an arm, a loop in it, an arm in that
    ((outer, loop),) = {tuple(reversed(list(levels.of[c.header].chain()))) for c in graph.cycles}
    assert outer.branch and not loop.branch and loop.start == graph.cycles[0].header
    assert loop.exits == (loop.start,)
    ended = [level for found in levels.ended.values() for level in found]
    assert len(ended) == len(set(ended)) == 3
    assert all(levels.arm(level.branch, level.start) is level for level in ended)


@pytest.mark.parametrize("seed", one_in(4, range(120)))
def test_lanes_that_are_away_were_last_with_all_at_one_branch(seed: int) -> None:
    """All lanes that are there were last together with one that is away at the same branch, that of a level."""
    case = random_case(seed)
    function = case.module.function("k")
    assert function is not None
    levels = Levels.find(Graph.of(function))
    if levels is None:
        return
    memory, launch = case.placed(checks=False)
    tally = Tally()
    interpret(case.module, "k", launch, memory, tally)
    for _, pieces in tally.warps():
        _check(pieces, levels)


def _check(pieces: list[WarpPiece], levels: Levels) -> None:
    everyone = 0
    for piece in pieces:
        everyone |= piece.mask
    met: dict[tuple[int, int], int] = {}
    for number, piece in enumerate(pieces):
        lanes = [n for n in range(64) if piece.mask >> n & 1]
        takers = _takers(levels, piece.block)
        for away in (n for n in range(64) if everyone & ~piece.mask & 1 << n):
            last = {met.get((away, n), -1) for n in lanes}
            assert len({pieces[at].block.name for at in last}) == 1
            assert pieces[last.pop()].block.name in takers
        met.update({(a, b): number for a in lanes for b in lanes})


def _takers(levels: Levels, block: BasicBlock) -> set[str]:
    """Return the blocks whose branches may be charged for what a block executes."""
    return {name for one in levels.of[block.name].chain() for name in ((one.branch,) if one.branch else one.exits)}
