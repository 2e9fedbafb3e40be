"""Launches: waves, barriers, waiting for others, how a run stops."""

from __future__ import annotations

import struct

from tests.simt.gcn.programs import program
from warpsmith.simt.gcn.run import GcnOutcome, run_gcn
from warpsmith.simt.gcn.start import GcnTask
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory


def _run(text: str, block: int = 64, grid: int = 1, steps: int = 1_000_000) -> tuple[GcnOutcome, list[int]]:
    """Run a program that finds an array of words at s[2:3], the block's number in s8; return what it leaves."""
    memory = LaunchMemory(checks=False)
    address = memory.allocate("a", bytes(4 * 256)).address
    launch = Launch((grid, 1, 1), (block, 1, 1), shared=1024, max_steps=steps)
    task = GcnTask(program(text), None, launch, {2: address & 0xFFFFFFFF, 3: address >> 32, 8: "x"})
    outcome = run_gcn(task, memory)
    return outcome, list(struct.unpack("<256I", memory.buffers[0].data))


def test_waves_wait_for_each_other() -> None:
    outcome, left = _run("""
        v_lshlrev_b32 v1, 2, v0
        ds_write_b32 v1, v0
        s_barrier
        v_sub_u32 v2, 508, v1
        ds_read_b32 v3, v2
        global_store_dword v1, v3, s[2:3]
        s_endpgm
    """, block=128)  # fmt: skip
    assert outcome.stop is None
    assert left[:128] == list(range(127, -1, -1))
    assert outcome.steps == 14


def test_blocks_may_wait_for_later_ones() -> None:
    """Block 0 turns until block 1 has written."""
    outcome, left = _run("""
        s_cmp_eq_u32 s8, 1
        v_mov_b32 v1, 0
        s_cbranch_scc1 WRITE
    WAIT:
        global_load_dword v2, v1, s[2:3]
        v_cmp_eq_u32 vcc, 0, v2
        s_cbranch_vccnz WAIT
        v_mov_b32 v3, 8
        global_store_dword v1, v3, s[2:3] offset:4
        s_endpgm
    WRITE:
        v_mov_b32 v3, 7
        global_store_dword v1, v3, s[2:3]
        s_endpgm
    """, grid=2)  # fmt: skip
    assert outcome.stop is None
    assert left[:2] == [7, 8]


def test_the_last_wave_of_a_block_may_have_fewer_lanes() -> None:
    outcome, left = _run("v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v0, s[2:3]\ns_endpgm", block=70)
    assert outcome.stop is None
    assert left[:72] == [*range(70), 0, 0]


def test_how_a_run_stops() -> None:
    endless, _ = _run("L: s_branch L\ns_endpgm", steps=50)
    assert endless.stop is not None
    assert (endless.stop.kind, endless.steps) == ("budget", 50)
    behind, _ = _run("s_nop 0")
    assert behind.stop is not None
    assert "behind its last instruction" in behind.stop.message
    outside, _ = _run("v_lshlrev_b32 v1, 5, v0\ns_nop 0\nglobal_load_dword v2, v1, s[2:3]\ns_endpgm")
    assert outside.stop is not None
    assert (outside.stop.index, outside.stop.lane, outside.stop.block) == (2, 32, 0)
    parted, _ = _run(
        "v_readfirstlane_b32 s0, v0\ns_cmp_eq_u32 s0, 0\ns_cbranch_scc1 E\ns_barrier\nE: s_barrier\ns_endpgm", block=128
    )
    assert parted.stop is None


def test_who_watches_sees_masks() -> None:
    seen: list[tuple[int, int, int, int]] = []
    text = program("s_mov_b64 exec, 3\ns_endpgm")
    run_gcn(
        GcnTask(text, None, Launch((2, 1, 1), (40, 1, 1))), LaunchMemory(checks=False), lambda *one: seen.append(one)
    )
    full = (1 << 40) - 1
    assert seen == [(0, 0, 0, full), (0, 0, 1, 3), (1, 0, 0, full), (1, 0, 1, 3)]
