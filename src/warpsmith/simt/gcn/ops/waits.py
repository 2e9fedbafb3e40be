"""What changes no register of this machine, whose instructions are done at once: waits, hints, caches; and the
registers of the hardware that are not its own.

What is written behind a wait is checked all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from warpsmith.simt.gcn.memory import GcnFault
from warpsmith.simt.gcn.nodes import GcnInstruction, GcnOperand, GcnRegisters, GcnWord
from warpsmith.simt.gcn.ops.op import GcnOp, Run, forms_of
from warpsmith.simt.gcn.wave import GcnWave
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW

__all__ = ["WAITS"]

_NUMBER: Final = r"(?:0[xX][0-9a-fA-F]+|\d+)"
_COUNTS: Final = rf"(?:(?:vmcnt|lgkmcnt|expcnt|vscnt)\({_NUMBER}\)(?:\s*[&,]?\s*))+|{_NUMBER}"
_DEPENDENCES: Final = rf"(?:depctr_\w+\({_NUMBER}\)(?:\s*[&,]?\s*))+|{_NUMBER}"
_DELAYS: Final = rf"(?:inst(?:id0|skip|id1)\(\w+\)(?:\s*\|\s*)?)+|{_NUMBER}"
_MESSAGE: Final = rf"sendmsg\(.+\)|{_NUMBER}"
_REGISTER: Final = re.compile(r"hwreg\(\s*(?:HW_REG_)?(\w+)\s*(?:,\s*(\d+)\s*,\s*(\d+)\s*)?\)")
_STACK_POINTER: Final = (29, 3)
"""Where the height of the stack of forks is in MODE."""
_FLOATS: Final = 0xFF


def _nothing(_: GcnWave, __: GcnInstruction) -> None:
    return


def _read_register(wave: GcnWave, i: GcnInstruction) -> None:
    name, start, size = _register(i.operands[1])
    values = {
        "MODE": wave.mode | wave.stack_pointer << _STACK_POINTER[0],
        "SH_MEM_BASES": LOCAL_WINDOW >> 48 | SHARED_WINDOW >> 48 << 16,
        "SHADER_CYCLES": wave.steps,
        "SHADER_CYCLES_LO": wave.steps,
        "SHADER_CYCLES_HI": 0,
    }
    if name not in values:
        raise GcnFault(f"the register {name} of the hardware is not modeled")
    _write(wave, i.operands[0], 1, values[name] >> start & ((1 << size) - 1))


def _write_register(wave: GcnWave, i: GcnInstruction) -> None:
    name, start, size = _register(i.operands[0])
    value = wave.read_scalar(i.operands[1], 32) & ((1 << size) - 1)
    if name.startswith("FLAT_SCR"):
        return  # where scratch memory is: its addresses are offsets here
    if name != "MODE":
        raise GcnFault(f"the register {name} of the hardware is not modeled")
    mask = ((1 << size) - 1) << start
    new = (wave.mode | wave.stack_pointer << _STACK_POINTER[0]) & ~mask | value << start
    if (new ^ wave.mode) & _FLOATS:
        raise GcnFault("other roundings, and subnormal numbers as zeros, are not modeled")
    wave.stack_pointer = new >> _STACK_POINTER[0]
    wave.mode = new & ((1 << _STACK_POINTER[0]) - 1)


def _register(operand: GcnOperand) -> tuple[str, int, int]:
    """Return the name of a register of the hardware, and which bits of it are meant."""
    found = _REGISTER.fullmatch(operand.text) if isinstance(operand, GcnWord) else None
    if found is None:
        raise GcnFault("which register of the hardware is meant is not known")
    return found[1].upper(), int(found[2] or 0), int(found[3] or 32)


def _write(wave: GcnWave, target: GcnOperand, words: int, value: int) -> None:
    assert isinstance(target, GcnRegisters)
    wave.write_scalar(target.first, words, value)


def _steps(words: int) -> Run:
    """Return what reads a clock: instructions that the wave has executed."""
    return lambda wave, i: _write(wave, i.operands[0], words, wave.steps)


def _mode_of_floats(wave: GcnWave, i: GcnInstruction) -> None:
    kept = wave.read_scalar(i.operands[0], 32)
    if kept & 0xF != (0xF if i.name == "s_denorm_mode" else 0):
        raise GcnFault("other roundings, and subnormal numbers as zeros, are not modeled")


WAITS: Final[Mapping[str, GcnOp]] = {
    **{
        name: GcnOp(forms_of("number"), _nothing)
        for name in ("s_nop", "s_sleep", "s_clause", "s_inst_prefetch", "s_set_inst_prefetch_distance", "s_setprio")
    },
    **{name: GcnOp(forms_of("s32 number"), _nothing) for name in ("s_waitcnt_vscnt", "s_waitcnt_vmcnt")},
    **{name: GcnOp(forms_of("s32 number"), _nothing) for name in ("s_waitcnt_lgkmcnt", "s_waitcnt_expcnt")},
    **{name: GcnOp(forms_of(""), _nothing) for name in ("s_dcache_inv", "s_dcache_wb", "s_icache_inv", "s_code_end")},
    **{name: GcnOp(forms_of(""), _nothing) for name in ("v_nop", "buffer_wbinvl1", "buffer_wbinvl1_vol")},
    **{name: GcnOp(forms_of(""), _nothing) for name in ("buffer_gl0_inv", "buffer_gl1_inv")},
    **{name: GcnOp(forms_of(""), _nothing, ("sc0", "sc1", "nt")) for name in ("buffer_inv", "buffer_wbl2")},
    "s_waitcnt": GcnOp((), _nothing, text=_COUNTS, expected="vmcnt(0) lgkmcnt(0)"),
    "s_waitcnt_depctr": GcnOp((), _nothing, text=_DEPENDENCES, expected="depctr_va_vdst(0)"),
    "s_delay_alu": GcnOp((), _nothing, text=_DELAYS, expected="instid0(VALU_DEP_1)"),
    "s_sendmsg": GcnOp((), _nothing, text=_MESSAGE, expected="sendmsg(MSG_DEALLOC_VGPRS)"),
    "s_getreg_b32": GcnOp(forms_of("s32 = hwreg"), _read_register),
    "s_setreg_b32": GcnOp(forms_of("hwreg s32"), _write_register),
    "s_setreg_imm32_b32": GcnOp(forms_of("hwreg s32"), _write_register),
    "s_memtime": GcnOp(forms_of("s64 ="), _steps(2)),
    "s_memrealtime": GcnOp(forms_of("s64 ="), _steps(2)),
    "s_denorm_mode": GcnOp(forms_of("s32"), _mode_of_floats),
    "s_round_mode": GcnOp(forms_of("s32"), _mode_of_floats),
}
