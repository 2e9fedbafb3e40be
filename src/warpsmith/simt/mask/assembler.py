"""Text becomes a program of the mask ISA. All that is wrong is told at once, each with its line, a caret, and what was
expected there.

    LOOP:                               labels first: a jump may lead ahead
        add.u32 r0.x, r0.x, u(1)        op, then what the table says it takes (operands.py)
        jmp LOOP                        the end is reached by ret, jmp or pop_mask only
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import SourceFile, Span, plain_spaces
from warpsmith.simt.mask.nodes import BUILTINS, MaskInstruction, MaskOperand, MaskProgram
from warpsmith.simt.mask.operands import NotAnOperandError, Slot, check_counts, read_operand, slots_of
from warpsmith.simt.mask.ops import OPS

__all__ = ["assemble"]

_LABEL: Final = re.compile(r"\s*(\w+)\s*:")
_OP: Final = re.compile(r"[^\s,]+")
_WORDS_TAKEN: Final = re.compile(r"[rtus]\d+|[uf][234]?")
_ENDS: Final = ("return", "jump", "pop")
_LARGEST: Final = 1 << 20
_MOST_TOLD: Final = 20


class _Line(Struct, frozen=True):
    """The part of a line that is an instruction, from offset `start` of the file on."""

    start: int
    text: str


class _Wrong(Exception):
    def __init__(self, span: Span, message: str, *helps: str, related: tuple[Note, ...] = ()) -> None:
        super().__init__(message)
        self.finding = Finding("MSK001", "error", message, span, helps, related)


def assemble(file: SourceFile) -> MaskProgram:
    """Return the program that a file is; raises InputError with all that is wrong in it."""
    if len(file.text) > _LARGEST:
        raise InputError(Finding("INP003", "error", f"{file.path} has more than {_LARGEST:,} bytes"))
    wrong: list[Finding] = []
    labels: dict[str, int] = {}
    lines = list(_split_lines(file, labels, wrong))
    for name, index in list(labels.items()):
        if index == len(lines):
            labels[name] = -1
    instructions: list[MaskInstruction] = []
    for line in lines:
        try:
            instructions.append(_instruction(file, line, labels))
        except _Wrong as error:
            wrong.append(error.finding)
    if not lines and not wrong:
        wrong.append(
            Finding("MSK001", "error", f"{file.path} has no instruction", help=("the shortest program is ret",))
        )
    if not wrong and instructions[-1].op.form not in _ENDS:
        last, message = instructions[-1].span, "the program goes on behind its last instruction"
        wrong.append(Finding("MSK001", "error", message, last, ("end it with ret",)))
    if wrong:
        wrong.sort(key=lambda one: one.span.start if one.span else 0)
        raise InputError(*wrong[:_MOST_TOLD])
    return MaskProgram(tuple(instructions), labels)


def _split_lines(file: SourceFile, labels: dict[str, int], wrong: list[Finding]) -> Iterator[_Line]:
    """Yield the instructions, and note the labels before them."""
    count = 0
    places: dict[str, Span] = {}
    for number in range(1, file.line_count + 1):
        start, text = file.offset(number), plain_spaces(file.line(number)).partition(";")[0]
        while found := _LABEL.match(text):
            span = Span(file, start + found.start(1), start + found.end(1))
            try:
                _check_label(found[1], span, places)
            except _Wrong as error:
                wrong.append(error.finding)
            places.setdefault(found[1], span)
            labels.setdefault(found[1], count)
            start, text = start + found.end(), text[found.end() :]
        if text.strip():
            count += 1
            yield _Line(start + len(text) - len(text.lstrip()), text.strip())


def _check_label(name: str, span: Span, places: dict[str, Span]) -> None:
    if name in places:
        related = (Note(places[name], "it stands here as well"),)
        raise _Wrong(span, f"there are two labels '{name}'", "give one of them another name", related=related)
    if name in OPS or name in BUILTINS or _WORDS_TAKEN.fullmatch(name) or name[0].isdigit():
        raise _Wrong(span, f"'{name}' cannot be a label", "a label is a name that means nothing else: LOOP, ELSE")


def _instruction(file: SourceFile, line: _Line, labels: dict[str, int]) -> MaskInstruction:
    found = _OP.match(line.text)
    name = found[0] if found else line.text
    span = Span(file, line.start, line.start + len(name))
    op = OPS.get(name)
    if op is None:
        near = get_close_matches(name, OPS, n=3)
        known = f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(OPS)}"
        raise _Wrong(span, f"there is no instruction '{name}'", known)
    slots = slots_of(op)
    parts = list(_split_operands(line.text, len(name)))
    whole = Span(file, line.start, line.start + len(line.text))
    if len(parts) != len(slots):
        raise _Wrong(whole, f"{name} has {len(parts)} operands", f"expected {_form(name, slots)}")
    operands: list[MaskOperand] = []
    places = [Span(file, line.start + at, line.start + at + len(text)) for at, text in parts]
    for (_, text), slot, place in zip(parts, slots, places, strict=True):
        try:
            operands.append(read_operand(text, slot, labels))
        except NotAnOperandError as error:
            raise _Wrong(place, str(error), *error.helps) from error
        if slot == "label" and labels[text] < 0:
            message = f"there is no instruction behind the label '{text}': this leads nowhere"
            raise _Wrong(place, message, f"put an instruction behind '{text}:', ret for example")
    misfit = check_counts(op, tuple(operands))
    if misfit is not None:
        at, expected = misfit
        raise _Wrong(places[at], f"the components of '{parts[at][1]}' do not fit {name}", f"expected {expected}")
    return MaskInstruction(op, tuple(operands), whole)


def _form(name: str, slots: tuple[Slot, ...]) -> str:
    words = {"dest": "DEST", "source": "VALUE", "t": "t#", "u": "u#", "s": "s#", "label": "LABEL"}
    return f"{name} {', '.join(words[slot] for slot in slots)}".rstrip()


def _split_operands(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield the place and the text of each operand; commas in parentheses are no ends."""
    if not text[start:].strip():
        return
    depth, first = 0, start
    for at, letter in enumerate(text + ",", start=0):
        if at < start:
            continue
        depth += (letter == "(") - (letter == ")")
        if letter == "," and (depth <= 0 or at == len(text)):
            part = text[first:at]
            yield first + len(part) - len(part.lstrip()), part.strip()
            first = at + 1
