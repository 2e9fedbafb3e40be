"""Whether operands are what an operation takes at their places, and what it takes where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.gcn.nodes import NULL, GcnNumber, GcnOperand, GcnRegisters, GcnSymbol, GcnWord
from warpsmith.simt.gcn.ops.op import GcnForm, GcnOp

__all__ = ["check_operands"]

_WORDS: Final = {
    "mask": "a mask (vcc, s[0:1])", "label": "a label", "number": "a number", "off": "off", "hwreg": "hwreg(NAME)",
}  # fmt: skip
_BITWISE: Final = ("v_cndmask_b32", "v_mov_b32", "v_cndmask_b16")
"""Operations without a type that take signs of floats all the same."""


def check_operands(
    name: str, op: GcnOp, operands: Sequence[GcnOperand], words: Sequence[AssemblyWord], wave: int
) -> None:
    """Raise AssemblyError where operands fit no form of an operation; `wave`: lanes of a mask, 0
    where that is not known."""
    fitting = [form for form in op.forms if len(form.all) == len(operands)]
    if not fitting:
        counts = " or ".join(map(str, sorted({len(form.all) for form in op.forms})))
        raise AssemblyError(words[-1].span, f"{name} has {len(words)} operands", f"expected {counts}")
    wrong = [_first_misfit(name, form, operands, wave) for form in fitting]
    if None in wrong:
        return
    at = max(place for place in wrong if place is not None)
    near = [form for form, place in zip(fitting, wrong, strict=True) if place == at]
    expected = " or ".join(dict.fromkeys(_described(form, at, wave) for form in near))
    raise AssemblyError(words[at].span, f"'{words[at].text}' is not what {name} takes there", f"expected {expected}")


def _first_misfit(name: str, form: GcnForm, operands: Sequence[GcnOperand], wave: int) -> int | None:
    for at, (type, operand) in enumerate(zip(form.all, operands, strict=True)):
        written = at < len(form.results)
        if not _fits(type, operand, wave, written=written) or not _may_be_signed(name, type, operand, written=written):
            return at
    return None


def _may_be_signed(name: str, type: str, operand: GcnOperand, *, written: bool) -> bool:
    signed = getattr(operand, "negative", False) or getattr(operand, "absolute", False)
    return not signed or (not written and (type.startswith("f") or name in _BITWISE))


def _fits(type: str, operand: GcnOperand, wave: int, *, written: bool) -> bool:
    match type:
        case "label":
            return isinstance(operand, GcnSymbol) and not operand.part
        case "number":
            return isinstance(operand, GcnNumber)
        case "off":
            return isinstance(operand, GcnWord) and operand.text == "off"
        case "hwreg":
            return isinstance(operand, GcnWord) and operand.text.startswith("hwreg")
        case "mask":
            counts = (wave // 32,) if wave else (1, 2)
            constant = not written and operand in (GcnNumber(0), GcnNumber(-1))
            return constant or any(_is_scalar(operand, count) for count in counts)
        case _:
            return _fits_size(type[0], int(type[1:]), operand, written=written)


def _fits_size(kind: str, bits: int, operand: GcnOperand, *, written: bool) -> bool:
    count = max(1, bits // 32)
    if kind == "v" or (kind != "s" and written):
        return isinstance(operand, GcnRegisters) and operand.kind != "s" and operand.count == count
    if kind == "s" and written:
        return _is_scalar(operand, count)
    if isinstance(operand, GcnRegisters):
        return _is_scalar(operand, count) if kind == "s" else operand.count == count
    constant = isinstance(operand, GcnNumber) or (isinstance(operand, GcnSymbol) and bool(operand.part))
    return (constant and bits <= 64) or (isinstance(operand, GcnWord) and _is_value(operand.text))


def _is_scalar(operand: GcnOperand, count: int) -> bool:
    if not isinstance(operand, GcnRegisters) or operand.kind != "s":
        return False
    return operand.count == count or operand.first == NULL


def _is_value(text: str) -> bool:
    return text in ("scc", "vccz", "execz") or text.startswith("src_")


def _described(form: GcnForm, at: int, wave: int) -> str:
    """Return what stands at a place, in words."""
    type, written = form.all[at], at < len(form.results)
    if type in _WORDS:
        return "a mask (vcc_lo, s0)" if type == "mask" and wave == 32 else _WORDS[type]
    kind, count = type[0], max(1, int(type[1:]) // 32)
    registers = {
        "v": "a vector register, v0" if count == 1 else f"{count} vector registers, v[0:{count - 1}]",
        "s": "a scalar register, s0" if count == 1 else f"{count} scalar registers, s[0:{count - 1}]",
    }
    if kind == "v" or (kind != "s" and written):
        return registers["v"]
    if kind == "s":
        return registers["s"] if written or count > 2 else f"{registers['s']}, or a constant"
    return f"{registers['v']}, {registers['s'].removeprefix('a ')}, or a constant"
