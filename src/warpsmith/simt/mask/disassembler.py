"""A program of the mask ISA becomes text again, which assembles to the same program."""

from __future__ import annotations

import math
import struct

import numpy as np

from warpsmith.simt.mask.nodes import (
    Immediate,
    LaneBuiltin,
    LaneRegister,
    MaskInstruction,
    MaskOperand,
    MaskProgram,
    Target,
    ViewOperand,
)

__all__ = ["disassemble", "instruction_text"]


def disassemble(program: MaskProgram) -> str:
    """Return the text of a program, its labels included."""
    lines: list[str] = []
    for index, instruction in enumerate(program.instructions):
        lines += [f"{name}:" for name, at in program.labels.items() if at == index]
        lines.append(f"    {instruction_text(instruction)}")
    # labels that nothing leads to may stand at the end
    lines += [f"{name}:" for name, at in program.labels.items() if at < 0]
    return "\n".join(lines) + "\n"


def instruction_text(instruction: MaskInstruction) -> str:
    """Return the text of one instruction."""
    return f"{instruction.op.name} {', '.join(_text(one) for one in instruction.operands)}".rstrip()


def _text(operand: MaskOperand) -> str:
    match operand:
        case LaneRegister(number=number, components=components):
            return f"r{number}.{_letters(components)}"
        case Immediate(kind=kind, words=words):
            count = "" if len(words) == 1 else str(len(words))
            return f"{kind}{count}({', '.join(_number(kind, word) for word in words)})"
        case LaneBuiltin(name=name):
            return name
        case ViewOperand(kind=kind, number=number, components=components):
            return f"{kind}{number}.{_letters(components)}" if components else f"{kind}{number}"
        case Target(name=name):
            return name


def _letters(components: tuple[int, ...]) -> str:
    return "".join("xyzw"[one] for one in components)


def _number(kind: str, word: int) -> str:
    if kind == "u":
        return str(word)
    (value,) = struct.unpack("<f", struct.pack("<I", word))
    # what is no number keeps its bits
    return str(np.float32(value)) if math.isfinite(value) else f"0x{word:08x}"
