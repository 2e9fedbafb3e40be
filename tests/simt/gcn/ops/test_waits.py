"""Waits and hints change nothing, and what is written behind them is read all the same."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import program, ran
from warpsmith.base.errors import InputError
from warpsmith.simt.gcn.memory import GcnFault


@pytest.mark.parametrize(
    "text",
    [
        "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt vmcnt(1) & lgkmcnt(15)", "s_waitcnt 0x70", "s_nop 3",
        "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)", "s_waitcnt_vscnt null, 0x0",
        "s_waitcnt_depctr depctr_va_vdst(0)", "buffer_wbl2 sc1", "buffer_gl0_inv",
        "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
        "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0", "s_denorm_mode 15",
    ],
)  # fmt: skip
def test_a_wait_changes_nothing(text: str) -> None:
    wave = ran(text)
    assert wave.mask == (1 << 64) - 1
    assert not any(wave.s[:100])


@pytest.mark.parametrize("text", ["s_waitcnt vmcnt", "s_waitcnt vmcnt(x)", "s_delay_alu 1 | 2", "s_nop", "s_nop s0"])
def test_what_is_no_wait_is_told(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        program(f"{text}\ns_endpgm")


def test_registers_of_the_hardware() -> None:
    assert ran("s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 16, 16)").s[0] == 0x100
    assert ran("s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)").s[0] == 15
    assert ran("s_memtime s[0:1]").s[0] == 1
    wave = ran(
        "s_mov_b32 s0, 2\ns_setreg_b32 hwreg(HW_REG_MODE, 29, 3), s0\ns_getreg_b32 s1, hwreg(HW_REG_MODE, 29, 3)"
    )
    assert (wave.stack_pointer, wave.s[1]) == (2, 2)


@pytest.mark.parametrize(
    "text",
    ["s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", "s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS)", "s_round_mode 1"],
)
def test_what_is_not_modeled_stops(text: str) -> None:
    with pytest.raises(GcnFault, match="not modeled"):
        ran(text)
