"""A run of an AVX-512 program: registers, flags, and the mask k1 before each instruction.

zmm0 begins as the numbers of the lanes, k1 with the lanes that there are: so listings of the document have it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.simt.avx512.memory import AvxFault, access_memory
from warpsmith.simt.avx512.nodes import (
    LANES,
    AvxInstruction,
    AvxLabel,
    AvxMemory,
    AvxNumber,
    AvxOperand,
    AvxProgram,
    AvxRegister,
)
from warpsmith.simt.avx512.ops import AVX_OPERATIONS, AvxOp
from warpsmith.simt.memory import LaunchMemory

__all__ = ["AvxRun", "AvxState", "begin_avx512", "run_avx512"]

Array = npt.NDArray[Any]
_WORD: Final = 0xFFFFFFFF
_JUMPS: Final = {"je": True, "jz": True, "jne": False, "jnz": False}


class AvxState(Struct, eq=False):
    """Registers: `zmm` [number, lane], `k` of 16 bits, `r` of 64 bits, of which instructions but addresses have 32;
    `zero`: the flag of the last test; `memory`: what they reach."""

    zmm: Array
    k: list[int]
    r: list[int]
    zero: bool = False
    pc: int = 0
    memory: LaunchMemory | None = None


class AvxRun(Struct, frozen=True, eq=False):
    """`masks`: the instructions that were executed, with k1 before each; the state behind them; what is likely to be a
    mistake."""

    masks: tuple[tuple[int, int], ...]
    state: AvxState
    findings: tuple[Finding, ...]


def begin_avx512(first: int = 0, lanes: int = LANES) -> AvxState:
    """Return the state before a program: lanes are numbered from `first` on, and so many of them are there."""
    zmm = np.zeros((32, LANES), np.uint32)
    zmm[0] = np.arange(first, first + LANES)
    return AvxState(zmm, [0, (1 << lanes) - 1, *([0] * 6)], [0] * 16)


def run_avx512(program: AvxProgram, state: AvxState, most: int = 1_000_000) -> AvxRun:
    """Run a program to its `ret`, or behind its last instruction; so many instructions at most."""
    masks: list[tuple[int, int]] = []
    findings: list[Finding] = []
    with np.errstate(all="ignore"):
        while state.pc < len(program.instructions):
            i = program.instructions[state.pc]
            if len(masks) >= most:
                message = f"it is still running after {most:,} instructions"
                findings.append(Finding("ASM003", "error", message, i.span, ("does k1 ever become empty?",)))
                break
            masks.append((state.pc, state.k[1]))
            if i.name == "ret":
                break
            _note(state, i, findings)
            try:
                _step(program, state, i)
            except AvxFault as fault:
                who = f"lane {fault.lane}: " if fault.lane >= 0 else ""
                findings.append(Finding("ASM002", "error", f"{who}{fault.message}", i.span))
                break
    return AvxRun(tuple(masks), state, tuple(findings))


def _note(state: AvxState, i: AvxInstruction, findings: list[Finding]) -> None:
    """Note an andn whose result is empty only since the wrong operand is inverted."""
    if i.name != "andn" or any(one.span == i.span for one in findings):
        return
    first, second = (_word(state, one) for one in i.operands[1:])
    if second and not ~first & second and first & ~second:
        texts = [i.span.text.rpartition(",")[0].rpartition(",")[2].strip(), i.span.text.rpartition(",")[2].strip()]
        message = (
            f"andn inverts its first source: nothing of {texts[1]} is outside of {texts[0]}, so that no lane is left"
        )
        findings.append(Finding("ASM004", "warning", message, i.span, (f"swap them: {texts[1]}, {texts[0]}",)))


def _step(program: AvxProgram, state: AvxState, i: AvxInstruction) -> None:
    state.pc += 1
    if any(isinstance(operand, AvxMemory) for operand in i.operands):
        access_memory((state.zmm, state.k, state.r), state.memory, i)
        return
    op = AVX_OPERATIONS[i.name]
    if "label" in op.sources:
        target = i.operands[0]
        assert isinstance(target, AvxLabel)
        if i.name == "jmp" or state.zero == _JUMPS[i.name]:
            state.pc = program.labels[target.name]
    elif op.result == "flags":
        state.zero = not op.function(*_sources(state, op, i.operands))
    elif op.result:
        target = i.operands[0]
        assert isinstance(target, AvxRegister)
        values = _sources(state, op, i.operands[1:])
        if op.reads_result:
            values.insert(0, state.zmm[target.number].copy() if op.result == "zmm" else _word(state, target))
        _write(state, op, target, op.function(*values), i)


def _sources(state: AvxState, op: AvxOp, operands: tuple[AvxOperand, ...]) -> list[Any]:
    return [
        state.zmm[operand.number].copy()
        if isinstance(operand, AvxRegister) and kind == "zmm"
        else _word(state, operand)
        for operand, kind in zip(operands, op.sources, strict=True)
    ]


def _word(state: AvxState, operand: AvxOperand) -> int:
    """Return a mask, a general register or a constant."""
    if isinstance(operand, AvxNumber):
        return operand.value & _WORD
    assert isinstance(operand, AvxRegister)
    return state.k[operand.number] if operand.kind == "k" else state.r[operand.number] & _WORD


def _write(state: AvxState, op: AvxOp, target: AvxRegister, value: Any, i: AvxInstruction) -> None:
    """Write a result in the lanes that its mask has."""
    lanes = np.array([state.k[target.mask] >> n & 1 if target.mask >= 0 else 1 for n in range(LANES)], bool)
    if target.kind == "zmm":
        blends = i.name == "vpblendmd"
        first = i.operands[1]
        kept = state.zmm[first.number if blends and isinstance(first, AvxRegister) else target.number]
        state.zmm[target.number] = np.where(lanes, value, np.uint32(0) if target.zeroing else kept)
    elif target.kind == "k":
        if "zmm" in op.sources:
            value = sum(1 << n for n in np.flatnonzero(value & lanes).tolist())
        state.k[target.number] = value & 0xFFFF
    else:
        state.r[target.number] = value & _WORD
        if i.name in ("and", "or", "xor", "add", "sub", "inc", "dec", "andn"):
            state.zero = not value & _WORD
