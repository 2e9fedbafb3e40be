"""Operands of AVX-512, read from their texts."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.avx512.nodes import AvxLabel, AvxMemory, AvxNumber, AvxOperand, AvxRegister

__all__ = ["ADDRESSES", "GENERAL", "read_avx_operand"]

GENERAL: Final = ("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", *(f"r{n}d" for n in range(8, 16)))
"""Registers of 32 bits."""
ADDRESSES: Final = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 16)))
"""The same ones with all 64 bits, in memory operands."""
_MEMORY: Final = re.compile(
    r"(?:(?:[xyz]mm|[dq])word\s+ptr\s*)?\[([^\[\]]*)\](?:\s*\{k(\d)\})?(?:\s*\{(z)\})?", re.IGNORECASE
)
_TERM: Final = re.compile(r"\s*([+-]?)\s*([^\s+-]+)\s*")
_SCALED: Final = re.compile(r"(?:(\d)\*)?([a-z]+\d*)(?:\*(\d))?")
_MASKED: Final = re.compile(r"(zmm|k)(\d{1,2})(?:\s*\{k(\d)\})?(?:\s*\{(z)\})?")
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_NAME: Final = re.compile(r"[A-Za-z_.][\w.$]*")
_COUNTS: Final = {"zmm": 32, "k": 8}


def read_avx_operand(word: AssemblyWord) -> AvxOperand:
    """Return the operand that a text is; raises AssemblyError."""
    text = word.text
    if "[" in text:
        return _memory(word)
    found = _MASKED.fullmatch(text)
    if found is not None:
        return _register(found, word)
    if text in GENERAL:
        return AvxRegister("r", GENERAL.index(text))
    if _INTEGER.fullmatch(text):
        return AvxNumber(int(text, 16 if "x" in text.lower() else 10))
    if _NAME.fullmatch(text):
        return AvxLabel(text)
    raise AssemblyError(
        word.span, f"'{text}' is no operand", "expected zmm1, zmm1 {k1}, k1, eax, [rdi], a number or a label"
    )


def _memory(word: AssemblyWord) -> AvxMemory:
    found = _MEMORY.fullmatch(word.text)
    if found is None or found[3]:
        raise AssemblyError(word.span, f"'{word.text}' is no place in memory", "expected [rdi + 4*zmm1 + 64], and {k1}")
    made = AvxMemory(mask=_mask(found[2], word))
    inside, at = found[1], 0
    while at < len(inside):
        term = _TERM.match(inside, at)
        if term is None or (at > 0 and not term[1]):
            break
        made, at = _with_term(made, term, word), term.end()
    if at < len(inside) or not inside.strip():
        raise AssemblyError(word.span, f"'{word.text}' is no place in memory", "expected [rdi + 4*zmm1 + 64]")
    return made


def _with_term(made: AvxMemory, term: re.Match[str], word: AssemblyWord) -> AvxMemory:
    """Return a place with one more term of its sum."""
    text = term[2]
    if _INTEGER.fullmatch(text):
        number = int(text, 16 if "x" in text.lower() else 10)
        return replace(made, displacement=made.displacement + (-number if term[1] == "-" else number))
    found = _SCALED.fullmatch(text)
    scale = 1 if found is None else int(found[1] or found[3] or 1)
    if found is not None and term[1] != "-" and scale in (1, 2, 4, 8) and not (found[1] and found[3]):
        name = found[2]
        if made.base < 0 and scale == 1 and name in ADDRESSES:
            return replace(made, base=ADDRESSES.index(name))
        index = AvxRegister("r", ADDRESSES.index(name)) if name in ADDRESSES else _vector(name)
        if made.index is None and index is not None:
            return replace(made, index=index, scale=scale)
    help = "expected one of rax to r15 and an index, 4*zmm1 or 4*rcx; scales are 1, 2, 4, 8"
    raise AssemblyError(word.span, f"'{text}' cannot stand in this place of memory", help)


def _vector(name: str) -> AvxRegister | None:
    found = _MASKED.fullmatch(name)
    known = found is not None and found[1] == "zmm" and int(found[2]) < _COUNTS["zmm"]
    return AvxRegister("zmm", int(name[3:])) if known else None


def _mask(digit: str | None, word: AssemblyWord) -> int:
    """Return the number of a mask register (-1: none)."""
    mask = -1 if digit is None else int(digit)
    if mask == 0 or mask > 7:
        raise AssemblyError(word.span, f"k{mask} cannot mask", "expected k1 to k7: k0 stands for no mask")
    return mask


def _register(found: re.Match[str], word: AssemblyWord) -> AvxRegister:
    kind, number = found[1], int(found[2])
    if number >= _COUNTS[kind]:
        raise AssemblyError(word.span, f"there is no register {kind}{number}", f"{kind}0 to {kind}{_COUNTS[kind] - 1}")
    mask = _mask(found[3], word)
    if found[4] and mask < 0:
        raise AssemblyError(word.span, "{z} stands behind no mask", "expected one, zmm0 {k1}{z}")
    return AvxRegister("zmm" if kind == "zmm" else "k", number, mask, bool(found[4]))
