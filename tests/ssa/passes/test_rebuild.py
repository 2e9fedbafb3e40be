"""Functions written anew."""

from __future__ import annotations

from tests.ssa.passes.test_tidy import one
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Function, Instruction, Operand
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.rebuild import Rebuild, rebuild_function, reverse_postorder
from warpsmith.ssa.text import print_function
from warpsmith.ssa.types import I32
from warpsmith.ssa.verify import faults


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
    made = rebuild_function(one(text), fold_instruction)
    assert faults(made) == ()
    assert {block.name for block in made.blocks} == {"entry", "left", "right", "after"}


LOOP = """
kernel @k(n 4 align 4 i32)
entry:
  %n:i32 = param [n+0]
  jump first
first:
  jump head
head:
  %same:i32 = phi first %n head %same
  %i:i32 = phi first 0:i32 head %next
  %next:i32 = add %i 1:i32
  %c:i1 = slt %next %same
  branch for %c head after
after:
  %d:i1 = slt 1:i32 2:i32
  branch if %d yes no
yes:
  switch 2:i32 1 no 2 end1 no
no:
  trap
end1:
  return
end
"""


def test_what_is_decided_is_a_jump_and_what_nothing_leads_to_goes() -> None:
    made = rebuild_function(one(LOOP), fold_instruction)
    assert faults(made) == ()
    assert [block.name for block in made.blocks] == ["entry", "head", "after", "yes", "end1"]
    assert [phi.result.name for block in made.blocks for phi in block.phis] == ["i"]
    assert reverse_postorder(made) == ["entry", "head", "after", "yes", "end1"]


def test_the_first_change_that_answers_counts() -> None:
    seen: list[str] = []

    def first(_: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
        seen.append(i.op)
        return (constant(I32, 5),) if i.op == "param" else None

    def second(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
        assert i.op != "param"
        return work.emit(i)

    made = rebuild_function(one(LOOP), first, second)
    assert "param" in seen and "param" not in {i.op for _, i in made.instructions()}
    assert "slt %next 5:i32" in print_function(made)


def test_a_function_that_is_only_declared_stays_so() -> None:
    declared = Function("f", False, (), (), ())
    assert rebuild_function(declared, fold_instruction) is declared
