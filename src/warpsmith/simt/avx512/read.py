"""Text becomes a program of AVX-512. All that is wrong is told at once, each with its line, a caret, and what was
expected.

    vpcmpltud k1 {k1}, zmm0, zmm2    op, then what the table says it takes
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.simt.assembly import AssemblyError, AssemblyLine, AssemblyWord, split_assembly, split_operands
from warpsmith.simt.avx512.memory import ACCESSES, wrong_access
from warpsmith.simt.avx512.nodes import (
    AvxInstruction,
    AvxLabel,
    AvxMemory,
    AvxNumber,
    AvxOperand,
    AvxProgram,
    AvxRegister,
)
from warpsmith.simt.avx512.operands import read_avx_operand
from warpsmith.simt.avx512.ops import AVX_OPERATIONS

__all__ = ["read_avx512"]

_COMMENTS: Final = (";", "#")
_LARGEST: Final = 16 << 20
_MOST_TOLD: Final = 20
_WORDS: Final = {
    "zmm": "a vector register, zmm1", "k": "a mask register, k1", "r": "a general register, eax", "imm": "a number",
    "word": "a general register or a number", "label": "a label", "any": "k1 or eax",
}  # fmt: skip


def read_avx512(file: SourceFile) -> AvxProgram:
    """Return the program that a file is; raises InputError with what is wrong in it."""
    if len(file.text) > _LARGEST:
        raise InputError(Finding("INP003", "error", f"{file.path} has more than {_LARGEST:,} bytes"))
    made: list[AvxInstruction] = []
    labels: dict[str, int] = {}
    wrong: list[Finding] = []
    for line in split_assembly(file, _COMMENTS):
        try:
            _line(line, made, labels)
        except AssemblyError as error:
            wrong.append(error.finding)
            if len(wrong) >= _MOST_TOLD:
                break
    if not wrong:
        wrong = _wrong_labels(made, labels)
    if not made and not wrong:
        wrong = [Finding("ASM001", "error", f"{file.path} has no instruction", help=("the shortest program is ret",))]
    if wrong:
        raise InputError(*wrong[:_MOST_TOLD])
    return AvxProgram(tuple(made), labels)


def _line(line: AssemblyLine, made: list[AvxInstruction], labels: dict[str, int]) -> None:
    for label in line.labels:
        if label.text in labels:
            raise AssemblyError(label.span, f"there are two labels '{label.text}'", "give one of them another name")
        labels[label.text] = len(made)
    word = line.operation
    if word is None or word.text.startswith("."):
        return
    if "[" in line.rest.text and word.text in ACCESSES:
        made.append(_access(line, word))
        return
    op = AVX_OPERATIONS.get(word.text)
    if op is None:
        near = get_close_matches(word.text[:40], [*AVX_OPERATIONS, *ACCESSES], n=3)
        remedy = f"did you mean {' or '.join(near)}?" if near else "expected an instruction such as vpaddd or kmovw"
        raise AssemblyError(word.span, f"there is no instruction '{word.text}' that is modeled", remedy)
    words = list(split_operands(line.rest))
    kinds = (*(() if op.result in ("", "flags") else (op.result,)), *op.sources)
    if len(words) != len(kinds):
        expected = ", ".join(_WORDS[kind] for kind in kinds) or "none"
        raise AssemblyError(line.whole, f"{word.text} has {len(words)} operands", f"expected {expected}")
    operands = [read_avx_operand(one) for one in words]
    for at, (operand, kind, place) in enumerate(zip(operands, kinds, words, strict=True)):
        _check(word.text, operand, kind, place, masked=at == 0 and op.takes_mask)
    made.append(AvxInstruction(word.text, tuple(operands), line.whole))


def _access(line: AssemblyLine, word: AssemblyWord) -> AvxInstruction:
    """Return an instruction that reaches memory."""
    operands = tuple(read_avx_operand(one) for one in split_operands(line.rest))
    wrong = wrong_access(word.text, operands)
    if wrong:
        raise AssemblyError(line.whole, f"this is no form of {word.text}", wrong)
    return AvxInstruction(word.text, operands, line.whole)


def _check(name: str, operand: AvxOperand, kind: str, place: AssemblyWord, *, masked: bool) -> None:
    if not _fits(operand, kind):
        raise AssemblyError(place.span, f"'{place.text}' is not what {name} takes there", f"expected {_WORDS[kind]}")
    if isinstance(operand, AvxRegister) and operand.mask >= 0 and not masked:
        raise AssemblyError(place.span, f"{name} has no mask there", "masks stand behind what lanes write")
    if isinstance(operand, AvxRegister) and operand.zeroing and operand.kind == "k":
        raise AssemblyError(place.span, "{z} is not for masks", "lanes that are masked off are 0 in them anyway")


def _fits(operand: AvxOperand, kind: str) -> bool:
    match operand:
        case AvxRegister():
            return (
                kind == operand.kind
                or (kind == "any" and operand.kind != "zmm")
                or (kind == "word" and operand.kind == "r")
            )
        case AvxNumber():
            return kind in ("imm", "word")
        case AvxLabel():
            return kind == "label"
        case AvxMemory():
            return False


def _wrong_labels(made: Sequence[AvxInstruction], labels: dict[str, int]) -> list[Finding]:
    found = []
    for i in made:
        for operand in i.operands:
            if isinstance(operand, AvxLabel) and labels.get(operand.name, len(made)) >= len(made):
                near = get_close_matches(operand.name, labels, n=2)
                there = operand.name in labels
                message = f"there is no instruction behind the label '{operand.name}'" if there else (
                    f"there is no label '{operand.name}': this leads nowhere")  # fmt: skip
                remedy = (
                    f"did you mean {' or '.join(near)}?" if near and not there else f"put code behind '{operand.name}:'"
                )
                end = i.span.end
                span = Span(i.span.file, end - len(operand.name), end)
                found.append(Finding("ASM001", "error", message, span, (remedy,)))
    return found
