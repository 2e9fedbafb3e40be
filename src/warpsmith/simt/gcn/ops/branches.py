"""Where a wave goes on: branches, forks, the end, barriers.

A fork goes on with the smaller part of the lanes; the other part waits on a stack, which is scalar registers from s0
on, four an entry: its mask in the lower two, where it goes on in the upper two. Since the part that goes on is at most
half of the lanes, six entries are enough for 64 lanes.

    pass, fail = exec & mask, exec & ~mask        fail is empty: go to the target     pass is empty: go on behind
    |fail| < |pass|     exec = fail, push (target, pass), go on behind
    else                exec = pass, push (behind, fail), go to the target
    join                the stack is as high as `saved`: go on; else exec, pc = pop

Source: AMD, "Vega" Instruction Set Architecture, 4.5 and chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.simt.gcn.memory import GcnFault
from warpsmith.simt.gcn.nodes import CODE_STEP, GcnInstruction, GcnOperand, GcnRegisters, GcnSymbol
from warpsmith.simt.gcn.ops.op import GcnOp, forms_of
from warpsmith.simt.gcn.wave import CODE, GcnWave

__all__ = ["BRANCHES", "FORK_DEPTH"]

FORK_DEPTH: Final = 6
_ENTRY: Final = 4
_TESTS: Final[Mapping[str, Callable[[GcnWave], bool]]] = {
    "s_branch": lambda wave: True,
    "s_cbranch_scc0": lambda wave: not wave.scc,
    "s_cbranch_scc1": lambda wave: wave.scc,
    "s_cbranch_vccz": lambda wave: not wave.vcc,
    "s_cbranch_vccnz": lambda wave: bool(wave.vcc),
    "s_cbranch_execz": lambda wave: not wave.mask,
    "s_cbranch_execnz": lambda wave: bool(wave.mask),
}


def _address_of(index: int) -> int:
    """Return where an instruction is, as code sees it."""
    return CODE + CODE_STEP * index


def _index_of(address: int) -> int:
    index, rest = divmod(address - CODE, CODE_STEP)
    if rest or not 0 <= index < 1 << 32:
        raise GcnFault(f"there is no code at {address:#x}")
    return index


def _target(wave: GcnWave, operand: GcnOperand) -> int:
    """Return the index of the instruction that a label stands for."""
    assert isinstance(operand, GcnSymbol)
    return _index_of(wave.symbols.addresses[operand.name])


def _branch(test: Callable[[GcnWave], bool]) -> GcnOp:
    def run(wave: GcnWave, i: GcnInstruction) -> None:
        if test(wave):
            wave.pc = _target(wave, i.operands[0])

    return GcnOp(forms_of("label"), run)


def _fork(wave: GcnWave, mask: GcnOperand, target: int) -> None:
    before, behind = wave.mask, wave.pc
    passed = wave.read_scalar(mask, wave.width) & before
    failed = before & ~passed
    if not failed:
        wave.pc = target
    elif passed:
        smaller_fails = failed.bit_count() < passed.bit_count()
        waits, goes_on = (passed, failed) if smaller_fails else (failed, passed)
        _push(wave, waits, target if smaller_fails else behind)
        wave.mask = goes_on
        wave.pc = behind if smaller_fails else target


def _push(wave: GcnWave, mask: int, pc: int) -> None:
    if wave.stack_pointer >= FORK_DEPTH:
        raise GcnFault(f"the stack of forks has {FORK_DEPTH} entries, and all are taken")
    wave.write_scalar(_ENTRY * wave.stack_pointer, _ENTRY, mask | _address_of(pc) << 64)
    wave.stack_pointer += 1


def _fork_to_label(wave: GcnWave, i: GcnInstruction) -> None:
    _fork(wave, i.operands[0], _target(wave, i.operands[1]))


def _fork_to_address(wave: GcnWave, i: GcnInstruction) -> None:
    _fork(wave, i.operands[0], _index_of(wave.read_scalar(i.operands[1], 64)))


def _join(wave: GcnWave, i: GcnInstruction) -> None:
    saved = wave.read_scalar(i.operands[0], 32)
    if wave.stack_pointer == saved:
        return
    if not wave.stack_pointer:
        raise GcnFault(f"the stack of forks is empty, and the join waits until it has {saved} entries")
    wave.stack_pointer -= 1
    first = _ENTRY * wave.stack_pointer
    entry = sum(word << 32 * n for n, word in enumerate(wave.s[first : first + _ENTRY]))
    wave.mask = entry & ((1 << 64) - 1)
    wave.pc = _index_of(entry >> 64)


def _end(wave: GcnWave, _: GcnInstruction) -> None:
    wave.ended = True


def _wait(wave: GcnWave, _: GcnInstruction) -> None:
    wave.waits = True


def _trap(_: GcnWave, __: GcnInstruction) -> None:
    raise GcnFault("the program traps")


def _get_pc(wave: GcnWave, i: GcnInstruction) -> None:
    _write(wave, i.operands[0], _address_of(wave.pc))


def _set_pc(wave: GcnWave, i: GcnInstruction) -> None:
    wave.pc = _index_of(wave.read_scalar(i.operands[-1], 64))


def _swap_pc(wave: GcnWave, i: GcnInstruction) -> None:
    behind = _address_of(wave.pc)
    _set_pc(wave, i)
    _write(wave, i.operands[0], behind)


def _write(wave: GcnWave, target: GcnOperand, value: int) -> None:
    assert isinstance(target, GcnRegisters)
    wave.write_scalar(target.first, 2, value)


BRANCHES: Final[Mapping[str, GcnOp]] = {
    **{name: _branch(test) for name, test in _TESTS.items()},
    "s_cbranch_i_fork": GcnOp(forms_of("s64 label"), _fork_to_label),
    "s_cbranch_g_fork": GcnOp(forms_of("s64 s64"), _fork_to_address),
    "s_cbranch_join": GcnOp(forms_of("s32"), _join),
    "s_endpgm": GcnOp(forms_of(""), _end),
    "s_barrier": GcnOp(forms_of(""), _wait),
    "s_trap": GcnOp(forms_of("number"), _trap),
    "s_getpc_b64": GcnOp(forms_of("s64 ="), _get_pc),
    "s_setpc_b64": GcnOp(forms_of("s64"), _set_pc),
    "s_swappc_b64": GcnOp(forms_of("s64 = s64"), _swap_pc),
}
