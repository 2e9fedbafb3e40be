"""Code of PTX: labels, guards, branches, calls, ends."""

from __future__ import annotations

from tests.front.ptx.lines import HEADER, ops
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.ssa.nodes import Branch, Exit, Function, Switch
from warpsmith.ssa.verify import faults


def kernel(body: str) -> Function:
    registers = ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;"
    module, findings = read_ptx(
        SourceFile("k.ptx", f"{HEADER}.entry k() {{ {registers} mov.u32 %r1, %tid.x; {body} }}")
    )
    assert [f.message for f in findings] == [] and faults(module.functions[0]) == ()
    return module.functions[0]


def test_a_guard_is_a_branch_around_one_instruction() -> None:
    made = kernel("setp.lt.s32 %p1, %r1, 5; @!%p1 add.s32 %r1, %r1, 1; @%p1 bra.uni DONE; mov.u32 %r2, 3; DONE: ret;")
    first, second = (b.terminator for b in made.blocks if isinstance(b.terminator, Branch))
    assert (first.predicated, first.uniform) == (True, False) and (second.predicated, second.uniform) == (False, True)


def test_ends_of_a_thread() -> None:
    made = kernel("setp.lt.s32 %p1, %r1, 5; @%p1 exit; trap;")
    assert {b.terminator.fails for b in made.blocks if isinstance(b.terminator, Exit)} == {False, True}


def test_a_failed_assertion_ends_the_launch() -> None:
    made = kernel("{ call.uni __assertfail, (); } mov.u32 %r2, 7; add.s32 %r3, %r2, 1;")
    (block,) = made.blocks
    assert isinstance(block.terminator, Exit) and block.terminator.fails
    assert [i.op for i in block.instructions] == ["query"]


def test_a_branch_by_a_table() -> None:
    made = kernel("ts: .branchtargets A, B; brx.idx %r1, ts; A: mov.u32 %r2, 1; B: ret;")
    (switch,) = [b.terminator for b in made.blocks if isinstance(b.terminator, Switch)]
    assert [number for number, _ in switch.cases] == [0, 1] or len(switch.cases) == 1


def test_code_behind_an_end_without_a_label_is_not_reached() -> None:
    lines, told = ops("ret; st.global.u32 [%rd1], 5;")
    assert told == [] and not any(line.startswith("store") for line in lines)


def test_targets_of_a_table_may_stand_on_lines_of_their_own() -> None:
    made = kernel("ts: .branchtargets\n\t\tA,\n\t\tB;\n brx.idx %r1, ts; A: mov.u32 %r2, 1; B: ret;")
    switch = next(block.terminator for block in made.blocks if isinstance(block.terminator, Switch))
    assert ([target for _, target in switch.cases], switch.other) == (["A"], "B")
