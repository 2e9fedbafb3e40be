"""Which figures are open, and what is said of branches that a run has counted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.divergence import divergence
from warpsmith.analysis.rules.figures import is_open, open_figures, simulated_parting
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import AccessFact, Count, KernelFacts
from warpsmith.analysis.uniformity.simulated import Simulated, SimulatedBranch

LOAD = "  %o:i64 = smulwide %i 4:i32\n  %p:i64 = add %a %o\n  %v:f32 = load [global +0 align 4] %p\n"


def access() -> AccessFact:
    """Return an access whose ideal is 4 sectors."""
    (one,) = (a for a in told(LOAD, ROW).accesses if a.space == "global")
    return replace(one, ideal_sectors=4)


@pytest.mark.parametrize(
    ("count", "open_"),
    [(None, True), ((4, 5), False), ((4, 32), True), ((7, 8), True), ((8, 32), False), ((32, 32), False)],
)
def test_which_accesses_are_open(count: tuple[int, int] | None, open_: bool) -> None:
    given = None if count is None else Count(*count)
    assert is_open(replace(access(), sectors_whole=given)) is open_
    assert not is_open(replace(access(), space="local", sectors_whole=given))


@pytest.mark.parametrize(("count", "open_"), [(None, True), ((1, 1), False), ((1, 2), True), ((2, 4), False)])
def test_which_requests_to_banks_are_open(count: tuple[int, int] | None, open_: bool) -> None:
    given = None if count is None else Count(*count)
    assert is_open(replace(access(), space="shared", bank_ways=given)) is open_


LOOP = """  jump head
head:
  %k:i32 = phi start 0:i32 body %k2
  %go:i1 = slt %k %m
  branch %go body done
body:
  %k2:i32 = add %k 1:i32
  jump head
done:
"""


def branch_of(certainty: str = "conditional") -> tuple[KernelFacts, list[KernelFinding]]:
    facts = told(f"  %m:i32 = xor %x %n\n{LOOP}", ROW)
    return facts, [replace(one, certainty=certainty) for one in divergence(facts)]


def with_runs(*runs: tuple[int, int, int]) -> KernelFinding:
    facts, found = branch_of()
    seen = SimulatedBranch(runs, "conditional", ("n is 8",), "warpsmith simulate k.cu")
    facts = replace(facts, simulated=Simulated(branches={"head": seen}))
    (one,) = simulated_parting(facts, found)
    return one


def test_which_branches_are_open() -> None:
    facts, found = branch_of()
    assert [one.rule for one in found] == ["DIV003"]
    assert [block.name for block in open_figures(facts, found).branches] == ["head"]
    assert not open_figures(*branch_of("proven")).branches
    assert not open_figures(facts, ())


def test_what_a_run_says_of_a_branch() -> None:
    one = with_runs((10, 4, 200), (20, 5, 640))
    assert one.message.endswith("simulated: warps come 10 times, with 20.0 lanes on average, and part 4 times")
    assert (one.certainty, one.assumptions) == ("conditional", ("n is 8",))
    assert one.evidence[-1].rows == (("1", "10", "4", "200", "20.0"), ("2", "20", "5", "640", "32.0"))
    assert one.help[-1] == "to see it: warpsmith simulate k.cu" and one.replay
    never = with_runs((10, 0, 320), (20, 0, 640))
    assert never.certainty == "heuristic" and "simulated" not in never.message
    edge = with_runs((10, 1, 320), (20, 4, 640))
    assert edge.certainty == "heuristic", "the edge of something"
    once = with_runs((10, 0, 320), (20, 5, 640))
    assert once.certainty == "conditional" and "simulated" not in once.message


def test_what_no_run_has_counted_stays_as_it_is() -> None:
    facts, found = branch_of()
    assert list(simulated_parting(facts, found)) == found
