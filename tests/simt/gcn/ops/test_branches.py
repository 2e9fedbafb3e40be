"""Branches, forks with their stack, joins, calls by address."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import masks, program, ran, wave_of
from warpsmith.simt.gcn.memory import GcnFault
from warpsmith.simt.gcn.run import step_gcn

# s24 holds how high the stack was; arms note their lanes in v1
FORK = """
    s_mov_b32 s24, 0
    v_cmp_gt_u32 s[26:27], {count}, v0
    s_cbranch_i_fork s[26:27], THEN
    v_mov_b32 v1, 2
    s_cbranch_join s24
    s_branch BEHIND
THEN:
    v_mov_b32 v1, 1
    s_cbranch_join s24
BEHIND:
"""


@pytest.mark.parametrize("count", [0, 1, 20, 32, 40, 63, 64])
def test_both_arms_of_a_fork_run_for_their_lanes(count: int) -> None:
    wave = ran(FORK.format(count=count))
    assert list(wave.v[1]) == [1 if lane < count else 2 for lane in range(64)]
    assert wave.stack_pointer == 0


@pytest.mark.parametrize(("count", "first"), [(20, 20), (40, 24)])
def test_the_smaller_part_goes_first(count: int, first: int) -> None:
    made = program(FORK.format(count=count) + "s_endpgm")
    wave = wave_of(made)
    for _ in range(3):
        step_gcn(wave, made.instructions[wave.pc])
    assert wave.mask.bit_count() == first
    assert wave.stack_pointer == 1
    assert wave.s[0] | wave.s[1] << 32 == ~wave.mask & (1 << 64) - 1


def test_nested_forks_need_no_more_than_six_entries() -> None:
    """Bit after bit of the lane's number: in the worst case each part is half of the one before."""
    text = []
    for bit in range(6):
        text += [
            f"s_getreg_b32 s{25 + bit}, hwreg(HW_REG_MODE, 29, 3)",
            f"v_and_b32 v2, {1 << bit}, v0",
            "v_cmp_ne_u32 s[40:41], 0, v2",
        ]
        text += [f"s_cbranch_i_fork s[40:41], L{bit}", f"L{bit}:"]
    text += ["v_mov_b32 v1, v0", *(f"s_cbranch_join s{25 + bit}" for bit in reversed(range(6)))]
    assert masks("\n".join([*text, "s_endpgm"]))[-1].bit_count() == 1
    wave = ran("\n".join(text))
    assert list(wave.v[1]) == list(range(64))


def test_a_fork_by_address() -> None:
    wave = ran("""
    s_mov_b32 s24, 0
    s_getpc_b64 s[30:31]
    s_add_u32 s30, s30, 48
    s_addc_u32 s31, s31, 0
    v_cmp_gt_u32 s[26:27], 4, v0
    s_cbranch_g_fork s[26:27], s[30:31]
    v_mov_b32 v1, 2
    s_branch JOIN
    v_mov_b32 v1, 1
JOIN:
    s_cbranch_join s24
    """)
    assert list(wave.v[1][:6]) == [1, 1, 1, 1, 2, 2]


def test_a_join_without_a_fork_is_told() -> None:
    with pytest.raises(GcnFault, match="is empty"):
        ran("s_mov_b32 s24, 3\ns_cbranch_join s24")
    loop = "L: s_mov_b64 exec, -1\nv_cmp_eq_u32 vcc, 0, v0\ns_cbranch_i_fork vcc, M\nM: s_branch L"
    with pytest.raises(GcnFault, match="6 entries"):
        ran(loop)


def test_branches_ask_scc_vcc_and_exec() -> None:
    for name, before in (
        ("scc1", "s_cmp_eq_u32 1, 1"), ("scc0", "s_cmp_eq_u32 1, 0"), ("vccnz", "s_mov_b64 vcc, 1"),
        ("vccz", "s_mov_b64 vcc, 0"), ("execz", "s_mov_b64 exec, 0"), ("execnz", "s_mov_b64 exec, 1"),
    ):  # fmt: skip
        wave = ran(f"{before}\ns_cbranch_{name} OVER\ns_mov_b32 s0, 1\nOVER:")
        assert wave.s[0] == 0
        other = {"1": "0", "0": "1"}.get(name[-1], name)
        turned = (
            f"scc{other}" if name.startswith("scc") else name.replace("nz", "z") if "nz" in name else name[:-1] + "nz"
        )
        assert ran(f"{before}\ns_cbranch_{turned} OVER\ns_mov_b32 s0, 1\nOVER:").s[0] == 1


def test_calls_by_address() -> None:
    wave = ran("""
    s_getpc_b64 s[0:1]
    s_add_u32 s0, s0, 32
    s_swappc_b64 s[2:3], s[0:1]
    s_mov_b32 s5, 1
    s_branch END
    s_mov_b32 s4, 1
    s_setpc_b64 s[2:3]
END:
    """)
    assert wave.s[4:6] == [1, 1]
    with pytest.raises(GcnFault, match="no code"):
        ran("s_mov_b64 s[0:1], 5\ns_setpc_b64 s[0:1]")


def test_a_trap_stops() -> None:
    with pytest.raises(GcnFault, match="traps"):
        ran("s_trap 2")
