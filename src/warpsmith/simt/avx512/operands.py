"""Operands of AVX-512, read from their texts."""

from __future__ import annotations

import re
from typing import Final

from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.avx512.nodes import AvxLabel, AvxNumber, AvxOperand, AvxRegister

__all__ = ["GENERAL", "read_avx_operand"]

GENERAL: Final = ("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", *(f"r{n}d" for n in range(8, 16)))
"""Registers of 32 bits."""
_MASKED: Final = re.compile(r"(zmm|k)(\d{1,2})(?:\s*\{k(\d)\})?(?:\s*\{(z)\})?")
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_NAME: Final = re.compile(r"[A-Za-z_.][\w.$]*")
_COUNTS: Final = {"zmm": 32, "k": 8}


def read_avx_operand(word: AssemblyWord) -> AvxOperand:
    """Return the operand that a text is; raises AssemblyError."""
    text = word.text
    found = _MASKED.fullmatch(text)
    if found is not None:
        return _register(found, word)
    if text in GENERAL:
        return AvxRegister("r", GENERAL.index(text))
    if _INTEGER.fullmatch(text):
        return AvxNumber(int(text, 16 if "x" in text.lower() else 10))
    if _NAME.fullmatch(text):
        return AvxLabel(text)
    raise AssemblyError(word.span, f"'{text}' is no operand", "expected zmm1, zmm1 {k1}, k1, eax, a number or a label")


def _register(found: re.Match[str], word: AssemblyWord) -> AvxRegister:
    kind, number = found[1], int(found[2])
    if number >= _COUNTS[kind]:
        raise AssemblyError(word.span, f"there is no register {kind}{number}", f"{kind}0 to {kind}{_COUNTS[kind] - 1}")
    mask = -1 if found[3] is None else int(found[3])
    if mask == 0 or mask > 7:
        raise AssemblyError(word.span, f"k{mask} cannot mask", "expected k1 to k7: k0 stands for no mask")
    if found[4] and mask < 0:
        raise AssemblyError(word.span, "{z} stands behind no mask", "expected one, zmm0 {k1}{z}")
    return AvxRegister("zmm" if kind == "zmm" else "k", number, mask, bool(found[4]))
