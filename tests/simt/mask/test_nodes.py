"""Programs know their registers, instructions their destination, sources and targets."""

from __future__ import annotations

from tests.simt.mask.programs import program
from warpsmith.simt.mask.nodes import LaneRegister, sources_of


def test_what_an_instruction_writes_reads_and_leads_to() -> None:
    made = program("A:\nmad.u32 r3.x, r1.y, u(2), thread_id\nbr_push r7.x, A, B\nB:\nst u0, r0.x, r1.xy\nret\n")
    first, branch, store, _ = made.instructions
    assert first.destination == LaneRegister(3, (0,)) and len(sources_of(first)) == 3
    assert branch.destination is None and branch.targets == (0, 2)
    assert store.destination is None and len(sources_of(store)) == 2 and store.view("u").number == 0
    assert made.registers == 8
    assert program("ret\n").registers == 0
