"""Passes keep what a function does, and leave the code that one would draw."""

from __future__ import annotations

import struct

import pytest

from tests.analysis.kernels import random_module
from warpsmith.base.source import SourceFile, Span
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import Memory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Function, Instruction, Module, Operand, Param, Parameter, Query, Return
from warpsmith.ssa.nodes import Memory as MemoryDetail
from warpsmith.ssa.passes.fold import folded
from warpsmith.ssa.passes.inline import inlined
from warpsmith.ssa.passes.promote import promoted
from warpsmith.ssa.passes.prune import pruned
from warpsmith.ssa.passes.rebuild import rebuilt
from warpsmith.ssa.passes.spaces import with_spaces
from warpsmith.ssa.passes.tidy import tidy
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.text import print_function
from warpsmith.ssa.types import I1, I32, I64
from warpsmith.ssa.verify import faults


class Stores(Silent):
    """What each thread stores, in its order."""

    def __init__(self) -> None:
        self.seen: dict[int, list[tuple[int, int]]] = {}

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[str, int, int]) -> None:
        if place.op == "store":
            self.seen.setdefault(lane.thread, []).append((where[1], where[2]))


def stored(module: Module) -> tuple[bool, dict[int, list[tuple[int, int]]]]:
    seen = Stores()
    launch = Launch((2, 1, 1), (8, 1, 1), {"n": struct.pack("<i", 5)}, warp=4, max_steps=6000)
    outcome = interpret(module, "k", launch, Memory(checks=False), seen)
    return outcome.complete, seen.seen


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels_do_the_same_when_they_are_rebuilt(seed: int) -> None:
    module = random_module(seed, structured=seed % 3 != 0)
    (function,) = module.functions
    for made in (rebuilt(function), rebuilt(function, folded), tidy(function)):
        assert faults(made) == ()
        complete, before = stored(module)
        assert (complete, before) == stored(Module((made,), module.symbols)) or not complete


def one(text: str) -> Function:
    return parse_module(text).functions[0]


INLINE = """
function @f(x 4 align 4 i32, y 4 align 4 i32) -> i32
entry:
  %x:i32 = param [x+0]
  %y:i32 = param [y+0]
  %p:i1 = slt %x %y
  branch if %p less more
less:
  return %y
more:
  %d:i32 = sub %x %y
  return %d
end
function @loop(x 4 align 4 i32) -> i32
entry:
  %x:i32 = param [x+0]
  %r:i32 = call [@loop] %x
  return %r
end
kernel @k(out 8 align 8 i64)
entry:
  %t:i32 = query [tid.x]
  %a:i32 = call [@f] %t 3:i32
  %b:i32 = call [@f] 5:i32 %a
  %c:i32 = call [@f] 1:i32 2:i32
  %s:i32 = add %b %c
  %o:i64 = param [out+0]
  %at:i64 = smulwide %t 4:i32
  %p:i64 = add %o %at
  store [global +0 align 4] %p %s
  return
end
"""


def _ran(module: Module) -> bytes:
    memory = Memory(checks=False)
    out = memory.allocate("out", bytes(32))
    launch = Launch((1, 1, 1), (8, 1, 1), {"out": struct.pack("<q", out.address)})
    assert interpret(module, "k", launch, memory).complete
    return bytes(out.data)


def test_calls_become_bodies_and_recursion_stays() -> None:
    module = parse_module(INLINE)
    made, findings = inlined(module, folded)
    kernel = made.function("k")
    assert kernel is not None
    assert "call" not in {i.op for _, i in kernel.instructions()}
    assert faults(kernel) == ()
    assert _ran(made) == _ran(module)
    assert [f.message.split(":")[0] for f in findings] == ["loop calls itself"]
    # the third call is f(1, 2): its branch is decided
    assert sum(isinstance(block.terminator, Branch) for block in kernel.blocks) == 2


def test_local_memory_becomes_values_where_its_address_stays() -> None:
    text = """
kernel @k(n 4 align 4 i32)
  local @x i32 x 1 align 4
  local @pair f32 x 2 align 8
  local @a i32 x 4 align 4
  local @kept i32 x 1 align 4
entry:
  %x:i64 = address [@x]
  %g:i64 = to_generic ['local'] %x
  %n:i32 = param [n+0]
  store [generic +0 align 4] %g 1:i32
  %p:i64 = address [@pair]
  store [local +0 align 8] %p 0x3f800000:f32 0x40000000:f32
  jump head
head:
  %v:i32 = load [local +0 align 4] %x
  %w:i32 = add %v %n
  store [generic +0 align 4] %g %w
  %c:i1 = slt %w 10:i32
  branch for %c head after
after:
  %second:i64 = add %p 4:i64
  %y:i32 = load [local +0 align 4] %second
  %a:i64 = address [@a]
  %i:i64 = sext %n
  %e:i64 = add %a %i
  store [local +0 align 4] %e %y
  %k:i64 = address [@kept]
  unmodeled ['it may do anything'] %k
  return
end
"""
    made = pruned(promoted(one(text)))
    assert faults(made) == ()
    assert {symbol.name for symbol in made.symbols} == {"a", "kept"}
    printed = print_function(made)
    assert "phi entry 1:i32 head" in printed
    assert "bitcast 0x40000000:f32" in printed or "1073741824:i32" in printed


def test_pieces_that_overlap_stay_in_memory() -> None:
    text = """
kernel @k(n 4 align 4 i32)
  local @x i32 x 2 align 8
entry:
  %x:i64 = address [@x]
  %n:i32 = param [n+0]
  store [local +0 align 4] %x %n
  %v:i64 = load [local +0 align 8] %x
  store [global +0 align 8] %v %v
  return
end
"""
    assert [symbol.name for symbol in promoted(one(text)).symbols] == ["x"]


def test_spaces_of_pointers_are_found_around_loops_and_not_where_two_meet() -> None:
    text = """
kernel @k(n 4 align 4 i32, g 8 align 8 i64)
  shared @s i32 x 8 align 4
entry:
  %s:i64 = address [@s]
  %p:i64 = to_generic ['shared'] %s
  %n:i64 = param [g+0]
  %g:i64 = to_generic ['global'] %n
  %c:i1 = slt 1:i32 2:i32
  jump head
head:
  %q:i64 = phi entry %p head %r
  %r:i64 = add %q 4:i64
  %v:i32 = load [generic +0 align 4] %r
  %t:i1 = slt %v 3:i32
  branch for %t head after
after:
  %either:i64 = select %t %p %g
  %w:i32 = load [generic +0 align 4] %either
  %only:i64 = select %t %g %n
  %x:i32 = load [generic +0 align 4] %g
  %number:i64 = bitcast %p
  %y:i32 = load [generic +0 align 4] %number
  return
end
"""
    made = with_spaces(one(text))
    assert faults(made) == ()
    found = [i.detail.space for _, i in made.instructions() if isinstance(i.detail, MemoryDetail)]
    assert found == ["shared", "generic", "global", "generic"]


def test_what_is_known_is_folded_and_what_is_loaded_twice_is_loaded_once() -> None:
    text = """
kernel @k(p 8 align 8 i64)
entry:
  %p:i64 = param [p+0]
  %a:i32 = mul 6:i32 7:i32
  %b:i1 = slt %a 50:i32
  %z:i8 = zext %b
  %c:i1 = ne %z 0:i8
  branch if %c yes no
yes:
  %q:i64 = add %p 8:i64
  %r:i64 = add %q 4:i64
  %v:i32 = load [global +4 align 4] %r
  %w:i32 = load [global +16 align 4] %p
  %x:i32 = add %v %w
  store [global +0 align 4] %p %x
  %y:i32 = load [global +16 align 4] %p
  store [global +4 align 4] %p %y
  return
no:
  trap
end
"""
    made = pruned(rebuilt(one(text), folded))
    assert [block.name for block in made.blocks] == ["entry", "yes"]
    loads = [i for _, i in made.instructions() if i.op == "load"]
    assert len(loads) == 2
    assert all(isinstance(i.detail, MemoryDetail) and i.detail.offset == 16 for i in loads)


def test_a_branch_that_is_decided_in_an_irreducible_part_loses_no_block() -> None:
    text = """
kernel @k(n 4 align 4 i32)
entry:
  %n:i32 = param [n+0]
  %no:i1 = slt 2:i32 1:i32
  branch if %no left right
left:
  %c:i1 = slt %n 7:i32
  branch if %c right after
right:
  %d:i1 = slt %n 9:i32
  branch if %d left after
after:
  return
end
"""
    made = rebuilt(one(text), folded)
    assert faults(made) == ()
    assert {block.name for block in made.blocks} == {"entry", "left", "right", "after"}


def test_a_query_keeps_the_words_that_it_was_written_with() -> None:
    source = SourceFile("k.cl", "get_global_id(0) get_local_id(0)")
    global_id, local_id = Span(source, 0, 16), Span(source, 17, 32)
    b = Builder("start")
    sums: list[Operand] = []
    for span in (global_id, local_id, global_id):
        b.span = span
        b.write(str(len(sums)), b.emit("query", (), I32, Query("tid.x")))
        sums.append(b.emit("add", (b.read(str(len(sums)), I32), b.emit("param", (), I32, Param("n"))), I32))
    test = b.emit("slt", (b.read("1", I32), constant(I32, 3)), I1)
    none = b.emit("sub", (b.read("0", I32), b.read("1", I32)), I32)
    b.emit_many("store", (b.emit("zext", (sums[0],), I64), sums[1], sums[2], none), (), MemoryDetail("global", 0, 4))
    b.end(Branch(test, "yes", "no"))
    for name in ("yes", "no"):
        b.start(name)
        b.end(Return())
    made = tidy(Function("k", True, (Parameter("n", 4, 4, I32),), (), b.finish()))
    queries = [i for _, i in made.instructions() if i.op == "query"]
    assert [i.span for i in queries] == [global_id, local_id]
    (asked,) = (i for _, i in made.instructions() if i.op == "slt")
    assert asked.operands[0] == queries[1].result
    # what is computed from them is one all the same, and their difference is known
    (store,) = (i for _, i in made.instructions() if i.op == "store")
    assert store.operands[1] == store.operands[2]
    assert store.operands[3] == constant(I32, 0)
