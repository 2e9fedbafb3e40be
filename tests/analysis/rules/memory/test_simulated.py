"""Findings of accesses that a run has counted, where the text leaves them open: what is scattered, what collides."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.memory.simulated import simulated_conflict, simulated_scatter
from warpsmith.analysis.uniformity.facts import AccessFact, Count, KernelFacts
from warpsmith.analysis.uniformity.simulated import AccessSums, Simulated, SimulatedAccess
from warpsmith.base.findings import Certainty

LOAD = "  %o:i64 = smulwide %i 4:i32\n  %p:i64 = add %a %o\n  %v:f32 = load [global +0 align 4] %p\n"
STORE = "  %e:i32 = shl %x 2:i32\n  %p:i32 = add %t %e\n  store [shared +0 align 4] %p %x\n"


def counted(body: str, *runs: AccessSums, certainty: Certainty = "witnessed") -> tuple[KernelFacts, AccessFact]:
    facts = told(body, ROW)
    (one,) = (a for a in facts.accesses if a.space in ("global", "shared"))
    open_ = replace(one, sectors=None, sectors_whole=None, bank_ways=None)
    said = () if certainty == "witnessed" else ("n is 8",)
    seen = SimulatedAccess(runs, certainty, said, "warpsmith simulate k.cu")
    return replace(facts, simulated=Simulated({one.instruction: seen})), open_


def scatter(*runs: AccessSums) -> KernelFinding | None:
    return simulated_scatter(*counted(LOAD, *runs))


def test_lanes_far_apart() -> None:
    one = scatter(AccessSums(10, 320, 173, 40, 0))
    assert one is not None and one.rule == "MEM001" and one.certainty == "witnessed"
    assert one.message == ("uncoalesced load of a: 17.3 sectors per warp request on average (simulated), 4.0 would do")
    assert one.estimate is not None
    assert one.estimate.text == "load traffic 4.33 times the minimum (simulated: 32-byte sectors of 10 requests)"
    assert one.evidence[-1].rows == (("1", "10", "320", "173", "40", "0"),)
    assert one.replay == "warpsmith simulate k.cu" and one.help[-1] == f"to see it: {one.replay}"


@pytest.mark.parametrize(
    ("runs", "told_"),
    [
        ([AccessSums(10, 320, 79, 40, 0)], False),
        ([AccessSums(10, 320, 80, 40, 0)], True),
        # one of two runs
        ([AccessSums(10, 320, 173, 40, 0), AccessSums(10, 320, 41, 40, 0)], False),
        # few lanes of a warp
        ([AccessSums(10, 70, 70, 10, 0)], False),
        ([AccessSums(10, 80, 80, 10, 0)], True),
        # side by side, from the middle of a sector on
        ([AccessSums(10, 80, 20, 10, 0)], False),
        ([AccessSums(10, 80, 21, 10, 0)], True),
        # what neighbors need counts for the lanes that asked
        ([AccessSums(10, 160, 39, 10, 0)], False),
        ([AccessSums(10, 160, 40, 10, 0)], True),
    ],
)
def test_which_are_told(runs: list[AccessSums], told_: bool) -> None:
    assert (scatter(*runs) is not None) is told_


def test_what_the_text_decides_is_not_asked() -> None:
    facts, access = counted(LOAD, AccessSums(10, 320, 320, 40, 0))
    assert simulated_scatter(facts, replace(access, sectors_whole=Count(4, 5))) is None
    assert simulated_scatter(replace(facts, simulated=Simulated()), access) is None
    facts, access = counted(STORE, AccessSums(2, 64, 0, 0, 62))
    assert simulated_conflict(facts, replace(access, bank_ways=Count(1, 1))) is None


def test_lanes_that_collide() -> None:
    one = simulated_conflict(*counted(STORE, AccessSums(2, 64, 0, 0, 5), certainty="conditional"))
    assert one is not None and (one.rule, one.certainty, one.assumptions) == ("MEM010", "conditional", ("n is 8",))
    assert one.message == "shared-memory bank conflict, 3.5-way on average (simulated): store to tile"
    assert one.estimate is not None and one.estimate.value == 3.5 and one.impact == 3.5
    assert simulated_conflict(*counted(STORE, AccessSums(2, 64, 0, 0, 1))) is None, "less than two passes"
    assert simulated_conflict(*counted(STORE, AccessSums(2, 64, 0, 0, 2), AccessSums(2, 64, 0, 0, 1))) is None
