"""One operand of the mask ISA, read from its text; and which operands an operation takes."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, Literal, cast

from warpsmith.simt.mask.nodes import (
    BUILTINS,
    Immediate,
    LaneBuiltin,
    LaneRegister,
    MaskOperand,
    Target,
    ViewOperand,
)
from warpsmith.simt.mask.ops import MaskForm, MaskOp

__all__ = ["REGISTERS", "NotAnOperandError", "Slot", "check_counts", "read_operand", "slots_of"]

REGISTERS: Final = 256
"""A program names r0 to r255."""
_VIEWS: Final = 16

Slot = Literal["dest", "source", "t", "u", "s", "label"]
_TAKEN: Final[Mapping[MaskForm, tuple[Slot, ...]]] = {
    "length": ("dest", "source"),
    "normalize": ("dest", "source"),
    "load": ("dest", "t", "source"),
    "store": ("u", "source", "source"),
    "sample": ("dest", "t", "s", "source"),
    "push": ("label",),
    "pop": (),
    "nonzero": ("source",),
    "branch": ("source", "label", "label"),
    "jump": ("label",),
    "return": (),
}
_WORDS: Final[Mapping[Slot, str]] = {
    "dest": "a register to write, r0.x",
    "source": "a register, an immediate, u(1) or f(0.5), or one of " + ", ".join(BUILTINS),
    "t": "a view that is read, t0",
    "u": "a view that is written, u0",
    "s": "a sampler, s0",
    "label": "a label",
}
_REGISTER: Final = re.compile(r"r(\d+)(?:\.(\w+))?")
_VIEW: Final = re.compile(r"([tus])(\d+)(?:\.(\w+))?")
_IMMEDIATE: Final = re.compile(r"([uf])([234]?)\s*\((.*)\)", re.DOTALL)
_LABEL: Final = re.compile(r"[A-Za-z_]\w*")


class NotAnOperandError(Exception):
    """A text is not what an instruction takes at its place; `helps`: what was expected."""

    def __init__(self, message: str, *helps: str) -> None:
        super().__init__(message)
        self.helps = helps


def slots_of(op: MaskOp) -> tuple[Slot, ...]:
    """Return what an operation takes, in order."""
    sources: list[Slot] = ["source"] * op.sources
    return _TAKEN.get(op.form, ("dest", *sources))


def read_operand(text: str, slot: Slot, labels: Mapping[str, int]) -> MaskOperand:
    """Return the operand that a text is; raises NotAnOperandError."""
    match slot:
        case "label":
            return _label(text, labels)
        case "t" | "u" | "s":
            return _view(text, slot)
        case "dest":
            return _destination(text)
        case "source":
            return _source(text)


def _label(text: str, labels: Mapping[str, int]) -> Target:
    if text in labels:
        return Target(text, labels[text])
    if not _LABEL.fullmatch(text):
        raise NotAnOperandError(f"'{text}' is no label", f"expected {_WORDS['label']}")
    near = get_close_matches(text, labels, n=2)
    known = f"did you mean {' or '.join(near)}?" if near else f"put a line '{text}:' where it leads"
    raise NotAnOperandError(f"there is no label '{text}': this leads nowhere", known)


def _view(text: str, kind: Literal["t", "u", "s"]) -> ViewOperand:
    found = _VIEW.fullmatch(text)
    if not found or found[1] != kind:
        raise NotAnOperandError(f"'{text}' is no such view", f"expected {_WORDS[kind]}")
    if int(found[2]) >= _VIEWS:
        raise NotAnOperandError(f"there is no view '{text}'", f"views are {kind}0 to {kind}{_VIEWS - 1}")
    if kind == "s" and found[3]:
        raise NotAnOperandError("a sampler has no components", f"expected {_WORDS[kind]}")
    return ViewOperand(kind, int(found[2]), _components(found[3]) if found[3] else ())


def _destination(text: str) -> LaneRegister:
    register = _register(text)
    if register is None:
        raise NotAnOperandError(f"'{text}' cannot be written", f"expected {_WORDS['dest']}")
    if len(set(register.components)) < len(register.components):
        raise NotAnOperandError(f"'{text}' writes a component twice", "name each of x, y, z and w once")
    return register


def _register(text: str) -> LaneRegister | None:
    found = _REGISTER.fullmatch(text)
    if not found:
        return None
    if int(found[1]) >= REGISTERS:
        raise NotAnOperandError(f"there is no register '{text}'", f"registers are r0 to r{REGISTERS - 1}")
    return LaneRegister(int(found[1]), _components(found[2] or "xyzw"))


def _components(text: str) -> tuple[int, ...]:
    if not 1 <= len(text) <= 4 or set(text) - set("xyzw"):
        raise NotAnOperandError(f"'.{text}' names no components", "one to four of x, y, z and w: .x, .xy, .xxyy")
    return tuple("xyzw".index(letter) for letter in text)


def _source(text: str) -> MaskOperand:
    if text in BUILTINS:
        return LaneBuiltin(text)
    register = _register(text)
    if register is not None:
        return register
    found = _IMMEDIATE.fullmatch(text)
    if not found:
        raise NotAnOperandError(f"'{text}' is no value", f"expected {_WORDS['source']}")
    kind = cast("Literal['u', 'f']", found[1])
    numbers = [one.strip() for one in found[3].split(",")]
    wanted = int(found[2] or 1)
    if len(numbers) != wanted:
        raise NotAnOperandError(f"'{text}' has {len(numbers)} numbers", f"expected {wanted}: {kind}{found[2]}(…)")
    return Immediate(kind, tuple(_word(kind, number) for number in numbers))


def _word(kind: str, text: str) -> int:
    """Return the bits of a number; hexadecimal ones are bits as they stand."""
    try:
        if kind == "u" or text.lower().startswith("0x"):
            word = int(text, 16 if text.lower().startswith("0x") else 10)
        else:
            (word,) = struct.unpack("<I", struct.pack("<f", float(text)))
            if math.isnan(float(text)):
                word = 0x7FC00000
    except ValueError as error:
        what = "a whole number" if kind == "u" else "a number"
        raise NotAnOperandError(f"'{text}' is no number of {kind}(…)", f"expected {what}, 12 or 0x0c") from error
    except OverflowError as error:
        raise NotAnOperandError(f"{text} is too large for 32 bits", "the largest is 3.4028234e38") from error
    if not 0 <= word < 1 << 32:
        raise NotAnOperandError(f"{text} does not fit 32 bits without a sign", "expected 0 to 4294967295")
    return int(word)


def check_counts(op: MaskOp, operands: tuple[MaskOperand, ...]) -> tuple[int, str] | None:
    """Return which operand has a number of components that does not fit the others, and what was expected."""
    counts = [_count(one) for one in operands]
    match op.form:
        case "map":
            wrong = [n for n, count in enumerate(counts) if count not in (1, counts[0])]
            return (wrong[0], f"one component or as many as are written: {counts[0]}") if wrong else None
        case "length" | "nonzero" | "branch":
            return _expect(counts[0] == 1, 0, "one component, r0.x")
        case "normalize":
            return _expect(counts[0] == counts[1], 1, f"as many components as are written: {counts[0]}")
        case "load":
            wrong_address = _expect(counts[2] == 1, 2, "an address of one component")
            return wrong_address or _check_view(operands[1], counts[0], 1)
        case "sample":
            return _expect(counts[3] == 2, 3, "a place of two components, r0.xy") or _check_view(
                operands[1], counts[0], 1
            )
        case "store":
            places = "an address of one component (of a buffer) or two (x and y in an image)"
            return _expect(counts[1] <= 2, 1, places) or _check_view(operands[0], counts[2], 0)
        case "push" | "pop" | "jump" | "return":
            return None


def _expect(fits: bool, at: int, expected: str) -> tuple[int, str] | None:
    return None if fits else (at, expected)


def _check_view(view: MaskOperand, count: int, at: int) -> tuple[int, str] | None:
    """Where components of a view are named, there are as many as are moved."""
    named = len(view.components) if isinstance(view, ViewOperand) else 0
    return (at, f"as many components as are moved, {count}, or none named") if named not in (0, count) else None


def _count(operand: MaskOperand) -> int:
    match operand:
        case LaneRegister(components=components):
            return len(components)
        case Immediate(words=words):
            return len(words)
        case LaneBuiltin():
            return 1
        case ViewOperand() | Target():
            return 0
