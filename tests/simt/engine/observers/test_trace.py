"""What is written down of requests: each sector once, of every kind and size, whatever space an address is in."""

from __future__ import annotations

import pytest

from warpsmith.flows.simulate import SimulateOptions, start_launch
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.memory import KINDS, Trace

PLAIN = Checks(lost=False, requests=False, uninitialized=False, races=False)
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def traced(body: str, arguments: tuple[str, ...], lanes: int = 32, room: int = 1 << 12) -> Trace:
    registers = ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;"
    text = f"{HEAD}.visible .entry k(.param .u64 a) {{ {registers} {body} ret; }}"
    unit = read_unit(KernelFile("k.ptx", "ptx", (), text))
    assert isinstance(unit, KernelUnit), unit
    kernel, _, started = start_launch(
        unit, "k.ptx", SimulateOptions(block=(lanes, 1, 1), grid=(1, 1, 1), arguments=arguments, checks=())
    )
    started.memory.trace = trace = Trace(room, room)
    assert run(unit.module, kernel.name, started.launch, started.memory, PLAIN).why == ""
    return trace


def requests(trace: Trace) -> list[tuple[str, list[int]]]:
    """Return kind and sectors of each request, from the first sector of all on."""
    records, sectors = trace.written()
    found, at, first = [], 0, min(sectors.tolist())
    for _, what in records.tolist():
        kind, count = KINDS[what >> 8 & 0xFF], what & 0xFF
        found.append((kind, [sector - first for sector in sectors[at : at + count].tolist()]))
        at += count
    return found


START = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x;"


def test_kinds_and_sizes() -> None:
    body = (
        START
        + """
        mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];
        mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2; st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};
        atom.global.add.u32 %r3, [%rd1], 1;"""
    )
    found = requests(traced(body, ("a=zeros:u32[128]",)))
    assert found == [("load", [0, 1, 2, 3]), ("store", list(range(16))), ("atomic", [0])]


def test_an_access_over_the_end_of_a_sector_touches_two() -> None:
    # packed structs: eight bytes at multiples of four
    body = (
        START
        + """
        mul.wide.u32 %rd2, %r1, 28; add.u64 %rd3, %rd1, %rd2; ld.global.v2.u32 {%r2, %r4}, [%rd3];"""
    )
    with pytest.raises(AssertionError, match="out of step"):
        traced(body, ("a=zeros:u32[64]",), lanes=2)
    body = START + "mul.wide.u32 %rd2, %r1, 24; add.u64 %rd3, %rd1, %rd2; ld.global.v2.u32 {%r2, %r4}, [%rd3];"
    # bytes 0-7, 24-31, 48-55, 72-79, 96-103
    assert requests(traced(body, ("a=zeros:u32[64]",), lanes=5)) == [("load", [0, 1, 2, 3])]


def test_lanes_that_are_not_there_ask_for_nothing() -> None:
    body = (
        START
        + """
        setp.lt.u32 %p1, %r1, 30; @%p1 bra $end;
        mul.wide.u32 %rd2, %r1, 64; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];
    $end:"""
    )
    assert requests(traced(body, ("a=zeros:u32[1024]",))) == [("load", [0, 2])]


def test_shared_and_local_memory_is_not_written_down() -> None:
    body = (
        """.shared .align 4 .b8 s[128]; .local .align 4 .b8 l[8];"""
        + START
        + """
        mov.u64 %rd4, s; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd5, %rd4, %rd2; st.shared.u32 [%rd5], %r1;
        cvta.shared.u64 %rd6, %rd5; st.u32 [%rd6], %r1;
        mov.u64 %rd7, l; st.local.u32 [%rd7], %r1;
        cvta.global.u64 %rd8, %rd1; ld.u32 %r2, [%rd8];"""
    )
    assert requests(traced(body, ("a=zeros:u32[1]",))) == [("load", [0])]


def test_what_has_no_room_is_left_out_and_told() -> None:
    body = START + "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;" + "ld.global.u32 %r2, [%rd3];" * 3
    full = traced(body, ("a=zeros:u32[32]",), room=2)
    assert full.cut and not len(full.written()[0])
    full.empty()
    assert not full.cut
    assert len(traced(body, ("a=zeros:u32[32]",)).written()[0]) == 3
