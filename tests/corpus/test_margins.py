"""A margin has the sign of the way that a branch takes, whatever its condition is made of."""

from __future__ import annotations

import math
import random
import struct

import pytest

from tests.corpus.margins import Needed, Ruler
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Module
from warpsmith.ssa.reader import parse_module

KERNEL = """
kernel @k(a 4 align 4 i32, b 4 align 4 i32)
start:
  %a:TYPE = param [a+0]
  %b:TYPE = param [b+0]
  %x:i32 = query [tid.x]
  %odd:i1 = eq %x 1:i32
  branch %odd one two
one:
  jump both
two:
  jump both
both:
  %p:TYPE = phi one %a two %b
CONDITION
  branch %c then done
then:
  jump done
done:
  return
end
"""
_OF_NUMBERS = ("lt", "le", "gt", "ge")
COMPARED = (
    [("i32", f"  %c:i1 = {sign}{op} %p %a") for sign in "su" for op in _OF_NUMBERS]
    + [("i32", f"  %c:i1 = {op} %p %a") for op in ("eq", "ne")]
    + [("f32", f"  %c:i1 = fo{op} %p %a") for op in (*_OF_NUMBERS, "eq", "ne")]
)
_TWO = "  %l:i1 = slt %a %b\n  %m:i1 = ult %p 7:i32\n"
COMBINED = [("i32", f"{_TWO}  %c:i1 = {op} %l %m") for op in ("and", "or", "xor")]
NEGATED = [("i32", "  %l:i1 = sle %p %a\n  %c:i1 = not %l"), ("i32", "  %l:i1 = eq %p %a\n  %c:i1 = xor %l 1:i1")]


class _Ways(Silent):
    """Measures each branch of `both`, and compares the sign with the way taken."""

    def __init__(self, ruler: Ruler, block: BasicBlock) -> None:
        self.ruler, self.block = ruler, block
        self.margins: list[tuple[float, bool]] = []

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        self.ruler.value(lane, place, numbers)

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        self.ruler.near.clear()
        self.ruler.branch(lane, block, taken)
        if block is self.block and isinstance(block.terminator, Branch) and block.name in self.ruler.near:
            self.margins.append((self.ruler.near[block.name].margin, taken == block.terminator.then))


def _facts(type: str, condition: str) -> KernelFacts:
    module: Module = parse_module(KERNEL.replace("TYPE", type).replace("CONDITION", condition))
    return examine(module, "k", LaunchShape((32, 1, 1)), device("h100"))


def _number(type: str, chosen: random.Random) -> bytes:
    if type == "f32":
        return struct.pack("<f", chosen.choice((0.0, 1.5, -2.0, chosen.uniform(-3, 3))))
    return struct.pack("<I", chosen.choice((0, 1, 6, 7, 8, 2**31 - 1, 2**31, 2**32 - 1, chosen.randrange(1 << 32))))


@pytest.mark.parametrize(("type", "condition"), [*COMPARED, *COMBINED, *NEGATED])
def test_the_sign_of_a_margin_is_the_way_taken(type: str, condition: str) -> None:
    facts, chosen = _facts(type, condition), random.Random(condition)
    block = next(block for block in facts.function.blocks if block.name == "both")
    seen = []
    for _ in range(30):
        ways = _Ways(Ruler(Needed.at(facts.warp_level, [block])), block)
        given = {name: _number(type, chosen) for name in "ab"}
        launch = Launch((1, 1, 1), (32, 1, 1), given, lanes=(0, 1))
        interpret(facts.module, "k", launch, LaunchMemory(checks=False), ways)
        seen += ways.margins
    assert len(seen) == 60
    # of real numbers that are equal the margin is where it turns
    assert [(m, then) for m, then in seen if (m > 0) != then and not (type == "f32" and m == 0)] == []
    assert {then for _, then in seen} == {True, False}
    assert all(math.isfinite(m) for m, _ in seen)
