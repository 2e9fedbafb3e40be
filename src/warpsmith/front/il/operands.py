"""One operand of IL, read from its text."""

from __future__ import annotations

import re
from typing import Final, cast

from warpsmith.front.il.nodes import (
    BUILTIN_INPUTS,
    WHOLE,
    IlDestination,
    IlIndex,
    IlRegister,
    IlSource,
    RegisterKind,
)
from warpsmith.front.il.tokens import IlTextError, IlWord

__all__ = ["read_destination", "read_register", "read_source"]

_MODIFIERS: Final = re.compile(r"(?:_[a-z]+(?:\(\w*\))?)*")
_HEAD: Final = re.compile(r"([A-Za-z]+)(\d*)\s*(?:\[([^\[\]]*)\])?\s*((?:_[a-z]+(?:\(\w*\))?)*)")
_MODIFIER: Final = re.compile(r"_([a-z]+)(?:\((\w*)\))?")
_INDEX: Final = re.compile(r"(?:r(\d+)\.([xyzw])\s*(?:\+\s*(\d+))?|(\d+))")
_SWIZZLE: Final = re.compile(r"[xyzw01]{1,4}")
_MASK: Final = re.compile(r"[x_01][y_01][z_01][w_01]")
_SHORT: Final = re.compile(r"x?y?z?w?")
_MOST: Final = 4096
_INDEXED: Final = ("cb", "x", "g")
_WHAT: Final = "a register: r0, v0, l0, o0, cb0[0], g[r0.x]"


def read_source(word: IlWord) -> IlSource:
    """Return the source that a text is; raises IlTextError."""
    register, components, modifiers = _split(word)
    if register.kind in ("o", "mem"):
        what = "an output" if register.kind == "o" else "memory that is written"
        raise IlTextError(word.span, f"'{word.text}' is {what} and cannot be read", "expected a source register")
    swizzle = components or WHOLE
    if not _SWIZZLE.fullmatch(swizzle):
        raise IlTextError(word.span, f"'.{swizzle}' is no swizzle", "expected one to four of x, y, z, w, 0 and 1")
    swizzle += swizzle[-1] * (4 - len(swizzle))
    absolute, negated = False, ""
    for found in _MODIFIER.finditer(modifiers):
        match found[1], found[2]:
            case "abs", None:
                absolute = True
            case "neg", str(letters) if letters and _SHORT.fullmatch(letters):
                negated = letters
            case _:
                expected = "expected _abs or _neg(xyzw), the places that are negated"
                raise IlTextError(word.span, f"'{found[0]}' is no modifier that is read", expected)
    return IlSource(register, swizzle, absolute, negated)


def read_destination(word: IlWord) -> IlDestination:
    """Return the destination that a text is; raises IlTextError."""
    register, components, modifiers = _split(word, masked=True)
    if register.kind not in ("r", "o", "x", "g", "mem"):
        raise IlTextError(word.span, f"'{word.text}' cannot be written", "expected a register to write: r0, o0, g[0]")
    if modifiers:
        raise IlTextError(word.span, "a destination has no modifier", "put _sat behind the opcode: add_sat")
    mask = WHOLE if components is None else components
    if len(mask) < 4 and _SHORT.fullmatch(mask):
        mask = "".join(letter if letter in mask else "_" for letter in WHOLE)
    if not _MASK.fullmatch(mask) or mask == "____":
        expected = "expected at each of four places its letter, _, 0 or 1: .x___, .xy__, .x0_1"
        raise IlTextError(word.span, f"'.{mask}' is no mask", expected)
    return IlDestination(register, mask)


def read_register(word: IlWord) -> tuple[IlRegister, str | None]:
    """Return the register that a text is and what stands behind its dot; raises IlTextError."""
    register, components, modifiers = _split(word, masked=True)
    if modifiers:
        raise IlTextError(word.span, "a declaration has no modifier", f"expected {_WHAT}")
    return register, components


def _split(word: IlWord, *, masked: bool = False) -> tuple[IlRegister, str | None, str]:
    """Return register, components and modifiers; of a mask `_` is a component."""
    text, modifiers = word.text, ""
    head, dot, tail = text.partition(".") if "[" not in text else _after_index(text)
    found = _HEAD.fullmatch(head)
    if found is None:
        raise IlTextError(word.span, f"'{text}' is no register", f"expected {_WHAT}")
    components: str | None = None
    modifiers = found[4]
    if dot:
        if masked:
            components = tail
        else:
            components, bar, rest = tail.partition("_")
            modifiers += bar + rest
            if not _MODIFIERS.fullmatch(modifiers):
                expected = "expected _abs or _neg(xyzw)"
                raise IlTextError(word.span, f"'{modifiers}' is no modifier that is read", expected)
        if not components:
            raise IlTextError(word.span, "nothing stands behind the dot", "expected components: .x, .xy00")
    return _register(word, found[1], found[2], found[3]), components, modifiers


def _after_index(text: str) -> tuple[str, str, str]:
    """Return what stands before and behind the dot that follows an index."""
    bracket = text.rfind("]") + 1
    head, dot, tail = text[bracket:].partition(".")
    return text[:bracket] + head, dot, tail


def _register(word: IlWord, name: str, number: str, index: str | None) -> IlRegister:
    if name == "vWinCoord":
        name = "v"
    kinds = ("r", "v", "o", "l", "cb", "x", "g", "mem", *BUILTIN_INPUTS)
    if name not in kinds:
        raise IlTextError(word.span, f"there is no register '{word.text}'", f"expected {_WHAT}")
    kind = cast("RegisterKind", name)
    if (kind in _INDEXED) != (index is not None):
        example = f"{kind}{number or ('' if kind == 'g' else '0')}[3]" if kind in _INDEXED else f"{kind}{number}"
        raise IlTextError(word.span, f"'{word.text}' is no register", f"expected {_said(example, kind)}")
    if len(number) > 5 or int(number or 0) >= _MOST or (not number and kind in ("r", "v", "o", "l", "cb", "x")):
        raise IlTextError(word.span, f"'{word.text}' has no number from 0 to {_MOST - 1}", f"expected {_WHAT}")
    if kind == "g" and number:
        raise IlTextError(word.span, "there is one global buffer", "expected g[…]")
    return IlRegister(kind, int(number or 0), None if index is None else _index(word, index))


def _said(example: str, kind: str) -> str:
    return f"{example}: {kind} has elements" if kind in _INDEXED else f"{example}: it has no elements"


def _index(word: IlWord, text: str) -> IlIndex:
    found = _INDEX.fullmatch(text.strip())
    if found is None:
        raise IlTextError(word.span, f"'[{text}]' is no index", "expected a number, r0.x or r0.x+1")
    if any(part and len(part) > 8 for part in (found[1], found[3], found[4])):
        raise IlTextError(word.span, f"the index {text.strip()} is too large", "expected at most eight digits")
    offset = int(found[3] or found[4] or 0)
    return IlIndex(offset) if found[1] is None else IlIndex(offset, int(found[1]), found[2])
