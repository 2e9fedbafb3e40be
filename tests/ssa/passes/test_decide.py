"""Branches that arguments decide are gone; the function does what it did with such arguments."""

from __future__ import annotations

import struct

import pytest

from tests.analysis.kernels import random_module
from tests.ssa.passes.test_tidy import Stores, one
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Branch, Function, Module
from warpsmith.ssa.passes.decide import decide_branches
from warpsmith.ssa.verify import faults

TEXT = """
kernel @k(p 8 align 8 i64, n 4 align 4 i32, m 4 align 4 i32)
entry:
  %p:i64 = param [p+0]
  %n:i32 = param [n+0]
  %m:i32 = param [m+0]
  %x:f32 = load [global +0 align 4] %p
  %some:i1 = fune %x 0x0:f32
  %on:i1 = CONDITION
  %both:i1 = and %some %on
  branch if %both then after
then:
  store [global +0 align 4] %p %n
  jump after
after:
  %v:i32 = phi entry 1:i32 then 2:i32
  store [global +4 align 4] %p %v
  return
end
"""


def branches(function: Function) -> int:
    return sum(isinstance(block.terminator, Branch) for block in function.blocks)


def stores(function: Function) -> int:
    return sum(i.op == "store" for _, i in function.instructions())


@pytest.mark.parametrize(
    ("condition", "known", "left"),
    [
        ("ne %m 0:i32", {"m": {0}}, 1),
        ("ne %m 0:i32", {"m": {0, 1}}, 2),
        ("ne %m 0:i32", {"n": {0}}, 2),
        ("ne %m 0:i32", {}, 2),
        ("sgt %m 4:i32", {"m": {-1, 0, 4}}, 1),
        ("sgt %m 4:i32", {"m": {4, 5}}, 2),
        ("ne %m %n", {"m": {3}, "n": {3}}, 1),
        ("eq %m %n", {"m": {1, 2}, "n": {3, 4}}, 1),
    ],
)
def test_what_no_argument_leads_to_is_gone(condition: str, known: dict[str, set[int]], left: int) -> None:
    function = one(TEXT.replace("CONDITION", condition))
    made = decide_branches(function, {name: frozenset(numbers) for name, numbers in known.items()})
    assert stores(made) == left and not faults(made)
    assert (made is function) == (left == 2), "where nothing is decided, it is the same function"
    assert left == 2 or [i.detail for _, i in made.instructions() if i.op == "param"], "parameters stay"


LOOP = """
kernel @k(p 8 align 8 i64, n 4 align 4 i32)
entry:
  %p:i64 = param [p+0]
  %n:i32 = param [n+0]
  jump head
head:
  %i:i32 = phi entry 0:i32 body %next
  %go:i1 = slt %i %n
  branch for %go body after
body:
  store [global +0 align 4] %p %i
  %next:i32 = add %i 1:i32
  jump head
after:
  return
end
"""


@pytest.mark.parametrize(("n", "left"), [(0, 0), (-5, 0), (1, 1), (100, 1)])
def test_a_loop_that_never_begins_is_gone(n: int, left: int) -> None:
    made = decide_branches(one(LOOP), {"n": frozenset({n})})
    assert stores(made) == left and branches(made) == left and not faults(made)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("n", [0, 5])
def test_random_kernels_store_the_same(seed: int, n: int) -> None:
    module = random_module(seed, structured=seed % 3 != 0)
    launch = Launch((2, 1, 1), (8, 1, 1), {"n": struct.pack("<i", n)}, warp=4, max_steps=6000)
    (function,) = module.functions
    decided = decide_branches(function, {"n": frozenset({n})})
    assert not faults(decided)
    seen = []
    for made in (function, decided):
        observer = Stores()
        outcome = interpret(Module((made,), module.symbols), "k", launch, LaunchMemory(checks=False), observer)
        seen.append((outcome.complete, observer.seen))
    assert seen[0] == seen[1] or not seen[0][0]
