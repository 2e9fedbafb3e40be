"""All rules over one kernel: findings in the order of the text, what several instructions of one place share once."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import HEAD, ROW
from tests.flows.witness.kernels import text_of, unit_of
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.base.findings import Certainty, Severity
from warpsmith.base.source import SourceFile, Span
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Instruction
from warpsmith.ssa.reader import parse_module

FILE = SourceFile("k.cu", "one\ntwo\nthree\n")
LINES = {"one": Span(FILE, 0, 3), "two": Span(FILE, 4, 7), "three": Span(FILE, 8, 13)}


def judged(body: str, places: dict[str, str]) -> list[tuple[str, str, int]]:
    """Return rule, place and count of all that is said; `places`: the line of the instruction that makes a value."""
    (function,) = (module := parse_module(f"{HEAD}{body}\n  return\nend\n")).functions

    def of(i: Instruction) -> Instruction:
        names = [places[value.name] for value in i.results if value.name in places]
        return replace(i, span=LINES[names[0]]) if names else i

    blocks = tuple(replace(b, instructions=tuple(map(of, b.instructions))) for b in function.blocks)
    made = replace(module, functions=(replace(function, blocks=blocks),))
    found = judge(examine(made, "k", ROW, device("h100")))
    return [(one.rule, "" if one.span is None else one.span.text, one.times) for one in found]


STRIDED = """
  %e1:i32 = srem %i 8:i32
  %o:i64 = smulwide %i 256:i32
  %p:i64 = add %a %o
  %v:f32 = load [global +0 align 4] %p
  %u:f32 = load [global +64 align 4] %p"""


def test_findings_of_all_families_in_the_order_of_the_text() -> None:
    found = judged(STRIDED, {"v": "one", "u": "three", "e1": "two"})
    assert found == [("MEM002", "one", 1), ("ARI001", "two", 1), ("MEM002", "three", 1)]


def test_what_several_instructions_of_a_place_say_alike_is_one() -> None:
    assert judged(STRIDED, {"v": "one", "u": "one", "e1": "one"}) == [("ARI001", "one", 1), ("MEM002", "one", 2)]


def test_what_has_no_place_comes_first_each_by_itself() -> None:
    found = judged(STRIDED, {"v": "one"})
    assert found == [("ARI001", "", 1), ("MEM002", "", 1), ("MEM002", "one", 1)]


def test_a_kernel_that_does_nothing_wrong() -> None:
    assert judged("", {}) == []


@pytest.mark.parametrize("given", [True, False])
def test_what_rests_on_a_block_that_nobody_gives_is_no_error(given: bool, tmp_path: Path) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    block = (64, 1, 1)
    facts = examine(
        unit.module, "racy", LaunchShape(block) if given else LaunchShape(None, likely=block), device("h100")
    )
    assert bool(facts.block_assumed) is not given
    found = [one.at_most for one in judge(facts) if one.rule == "SYN002"]
    assert found == ["error" if given else "warning"]


@pytest.mark.parametrize(
    ("certainty", "most"), [("witnessed", "error"), ("conditional", "warning"), ("proven", "error")]
)
def test_what_was_seen_on_numbers_that_were_made_up_is_no_error(
    certainty: Certainty, most: Severity, tmp_path: Path
) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    facts = examine(unit.module, "racy", LaunchShape((64, 1, 1)), device("h100"))
    seen = [replace(race, certainty=certainty, replay="warpsmith simulate k.cu") for race in facts.races]
    found = [one.at_most for one in judge(replace(facts, races=tuple(seen))) if one.rule == "SYN002"]
    assert found and set(found) == {most}


@pytest.mark.parametrize(("tail", "most"), [("return;", "warning"), ("a[t] = 1;", "error")])
def test_what_lanes_that_have_ended_would_give_is_no_error(tail: str, most: Severity, tmp_path: Path) -> None:
    body = f"if (t >= 16) {{ {tail} }} else a[t] = __shfl_down_sync(~0u, a[t], 8); a[t + 64] = 2;"
    unit = unit_of(tmp_path, f"__global__ void k(int *a) {{ int t = threadIdx.x; {body} }}\n")
    facts = examine(unit.module, "k", LaunchShape((64, 1, 1)), device("h100"))
    assert [one.at_most for one in judge(facts) if one.rule == "SYN005"] == [most]
