"""Operations on scalar registers: integers of Python, and the bit SCC.

    (result, scc)    what a function gives; scc None: it stays as it is

Source: AMD, "Vega" Instruction Set Architecture, chapter 12 (SOP1, SOP2, SOPK, SOPC).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.simt.gcn.nodes import GcnInstruction, GcnRegisters
from warpsmith.simt.gcn.ops.op import GcnOp, forms_of
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["SCALAR", "signed"]

_ALL: Final = {32: 0xFFFF_FFFF, 64: 0xFFFF_FFFF_FFFF_FFFF}
Answer = tuple[int, bool | None]


def signed(value: int, bits: int) -> int:
    """Return bits as a number with a sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _op(text: str, function: Callable[..., Answer | int]) -> GcnOp:
    """Return an operation; a function that takes a wave as its first argument says so by its form."""
    forms = forms_of(text)
    (form,) = forms
    results, bits = len(form.results), [int(one[1:]) for one in form.all]

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        values = [wave.read_scalar(one, size) for one, size in zip(i.operands[results:], bits[results:], strict=True)]
        made = function(*values)
        value, scc = made if isinstance(made, tuple) else (made, None)
        _finish(wave, i, bits[0] if results else 0, (value, scc))

    return GcnOp(forms, run)


def _finish(wave: GcnWave, i: GcnInstruction, bits: int, made: Answer) -> None:
    if bits:
        target = i.operands[0]
        assert isinstance(target, GcnRegisters)
        wave.write_scalar(target.first, bits // 32, made[0])
    if made[1] is not None:
        wave.scc = made[1]


def _with_wave(text: str, function: Callable[..., Answer | int]) -> GcnOp:
    """Return an operation whose function takes the wave first, and all operands as they were before."""
    forms = forms_of(text)
    (form,) = forms
    bits = [int(one[1:]) if one != "number" else 32 for one in form.all]

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        values = [wave.read_scalar(one, size) for one, size in zip(i.operands, bits, strict=True)]
        made = function(wave, *values)
        value, scc = made if isinstance(made, tuple) else (made, None)
        _finish(wave, i, bits[0] if form.results else 0, (value, scc))

    return GcnOp(forms, run)


# --- arithmetic


def _add(a: int, b: int) -> Answer:
    return a + b, a + b > _ALL[32]


def _sub(a: int, b: int) -> Answer:
    return a - b, a < b


def _overflows(value: int) -> bool:
    return not -(1 << 31) <= value < 1 << 31


def _add_signed(a: int, b: int) -> Answer:
    return a + b, _overflows(signed(a, 32) + signed(b, 32))


def _sub_signed(a: int, b: int) -> Answer:
    return a - b, _overflows(signed(a, 32) - signed(b, 32))


def _add_carry(wave: GcnWave, _: int, a: int, b: int) -> Answer:
    return _add(a, b + wave.scc)


def _sub_borrow(wave: GcnWave, _: int, a: int, b: int) -> Answer:
    return a - b - wave.scc, a < b + wave.scc


def _first(chosen: bool, a: int, b: int) -> Answer:
    return (a if chosen else b), chosen


def _absolute_difference(a: int, b: int) -> Answer:
    value = abs(signed(a, 32) - signed(b, 32)) & _ALL[32]
    return value, value != 0


def _shift_and_add(by: int) -> Callable[[int, int], Answer]:
    return lambda a, b: ((a << by) + b, (a << by) + b > _ALL[32])


# --- bits


def _logic(bits: int, function: Callable[..., int]) -> Callable[..., Answer]:
    """Return a function of bits that says in SCC whether its result is not 0."""

    def compute(*values: int) -> Answer:
        value = function(*values) & _ALL[bits]
        return value, value != 0

    return compute


def _reverse(bits: int) -> Callable[[int], int]:
    return lambda a: int(f"{a:0{bits}b}"[::-1], 2)


def _trailing(a: int) -> int:
    return (a & -a).bit_length() - 1 if a else -1


def _leading(bits: int) -> Callable[[int], int]:
    return lambda a: bits - a.bit_length() if a else -1


def _leading_sign(bits: int) -> Callable[[int], int]:
    """Return how many upper bits are alike, -1 where all are."""

    def compute(a: int) -> int:
        other = a ^ _ALL[bits] if a >> (bits - 1) else a
        return bits - other.bit_length() if other else -1

    return compute


def _field(bits: int, a: int, b: int, *, sign: bool) -> int:
    start, width = b & (bits - 1), b >> 16 & 0x7F
    if not width:
        return 0
    value = (signed(a, bits) if sign else a) >> start
    return signed(value, width) if sign and width < bits else value & ((1 << width) - 1)


def _field_mask(bits: int) -> Callable[[int, int], int]:
    return lambda a, b: (((1 << (a & (bits - 1))) - 1) << (b & (bits - 1))) & _ALL[bits]


def _each_quad(a: int, bits: int, *, whole: bool) -> int:
    """Return a bit for each group of four that has one; `whole`: all four of the group."""
    groups = [n for n in range(bits // 4) if a >> 4 * n & 15]
    return sum(15 << 4 * n if whole else 1 << n for n in groups)


def _set_bit(size: int, to: int) -> Callable[..., int]:
    def compute(_: GcnWave, old: int, a: int) -> int:
        bit = 1 << (a & (size - 1))
        return old | bit if to else old & ~bit

    return compute


# --- masks of lanes


def _saved(function: Callable[[int, int], int], *, writes_result: bool = False) -> Callable[..., Answer]:
    """Return a function that changes exec, and gives what it was before (or is then)."""

    def compute(wave: GcnWave, _: int, a: int) -> Answer:
        before = wave.mask
        wave.mask = function(a, before) & ((1 << wave.width) - 1)
        return (wave.mask if writes_result else before), wave.mask != 0

    return compute


_SAVED: Final[Mapping[str, Callable[[int, int], int]]] = {
    "and": lambda a, e: a & e,
    "or": lambda a, e: a | e,
    "xor": lambda a, e: a ^ e,
    "andn1": lambda a, e: ~a & e,
    "andn2": lambda a, e: a & ~e,
    "orn1": lambda a, e: ~a | e,
    "orn2": lambda a, e: a | ~e,
    "nand": lambda a, e: ~(a & e),
    "nor": lambda a, e: ~(a | e),
    "xnor": lambda a, e: ~(a ^ e),
}
_NEWER: Final = {"andn1": "and_not0", "andn2": "and_not1", "orn1": "or_not0", "orn2": "or_not1"}
"""Names since GFX11."""
_LOGIC: Final[Mapping[str, Callable[[int, int], int]]] = {
    **{name: _SAVED[name] for name in ("and", "or", "xor", "nand", "nor", "xnor", "andn2", "orn2")},
    **{_NEWER[name]: _SAVED[name] for name in ("andn2", "orn2")},
}


# --- comparisons

_COMPARED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


def _compare(test: Callable[[int, int], bool], type: str) -> Callable[[int, int], Answer]:
    bits = int(type[1:])
    if type[0] == "i":
        return lambda a, b: (0, test(signed(a, bits), signed(b, bits)))
    return lambda a, b: (0, test(a, b))


def _compare_constant(test: Callable[[int, int], bool], type: str) -> Callable[[int, int], Answer]:
    """Return a comparison with 16 bits, which are extended as the type says."""
    if type == "i32":
        return lambda a, b: (0, test(signed(a, 32), signed(b, 16)))
    return lambda a, b: (0, test(a, b & 0xFFFF))


def _select(wave: GcnWave, _: int, a: int, b: int) -> int:
    return a if wave.scc else b


def _move_if(wave: GcnWave, old: int, a: int) -> int:
    return a if wave.scc else old


def _halves(first: int, second: int) -> Callable[[int, int], int]:
    return lambda a, b: (a >> first & 0xFFFF) | (b >> second & 0xFFFF) << 16


_TWO: Final[Mapping[str, Callable[..., Answer | int]]] = {
    "s_add_u32": _add,
    "s_add_i32": _add_signed,
    "s_sub_u32": _sub,
    "s_sub_i32": _sub_signed,
    "s_min_i32": lambda a, b: _first(signed(a, 32) < signed(b, 32), a, b),
    "s_min_u32": lambda a, b: _first(a < b, a, b),
    "s_max_i32": lambda a, b: _first(signed(a, 32) > signed(b, 32), a, b),
    "s_max_u32": lambda a, b: _first(a > b, a, b),
    "s_mul_i32": lambda a, b: a * b,
    "s_mul_hi_u32": lambda a, b: a * b >> 32,
    "s_mul_hi_i32": lambda a, b: signed(a, 32) * signed(b, 32) >> 32,
    "s_absdiff_i32": _absolute_difference,
    "s_bfm_b32": _field_mask(32),
    "s_bfe_u32": _logic(32, lambda a, b: _field(32, a, b, sign=False)),
    "s_bfe_i32": _logic(32, lambda a, b: _field(32, a, b, sign=True)),
    "s_lshl_b32": _logic(32, lambda a, b: a << (b & 31)),
    "s_lshr_b32": _logic(32, lambda a, b: a >> (b & 31)),
    "s_ashr_i32": _logic(32, lambda a, b: signed(a, 32) >> (b & 31)),
    "s_pack_ll_b32_b16": _halves(0, 0),
    "s_pack_lh_b32_b16": _halves(0, 16),
    "s_pack_hh_b32_b16": _halves(16, 16),
    "s_pack_hl_b32_b16": _halves(16, 0),
    **{f"s_lshl{n}_add_u32": _shift_and_add(n) for n in (1, 2, 3, 4)},
}
_ONE: Final[Mapping[str, Callable[..., Answer | int]]] = {
    "s_mov_b32": lambda a: a,
    "s_movk_i32": lambda a: signed(a, 16),
    "s_brev_b32": _reverse(32),
    "s_not_b32": _logic(32, lambda a: ~a),
    "s_abs_i32": _logic(32, lambda a: abs(signed(a, 32))),
    "s_bcnt0_i32_b32": _logic(32, lambda a: 32 - a.bit_count()),
    "s_bcnt1_i32_b32": _logic(32, int.bit_count),
    "s_ff0_i32_b32": lambda a: _trailing(~a & _ALL[32]),
    "s_ff1_i32_b32": _trailing,
    "s_ctz_i32_b32": _trailing,
    "s_flbit_i32_b32": _leading(32),
    "s_clz_i32_u32": _leading(32),
    "s_flbit_i32": _leading_sign(32),
    "s_cls_i32": _leading_sign(32),
    "s_sext_i32_i8": lambda a: signed(a, 8),
    "s_sext_i32_i16": lambda a: signed(a, 16),
    "s_quadmask_b32": _logic(32, lambda a: _each_quad(a, 32, whole=False)),
    "s_wqm_b32": _logic(32, lambda a: _each_quad(a, 32, whole=True)),
}
_OF_64: Final[Mapping[str, GcnOp]] = {
    "s_mov_b64": _op("s64 = s64", lambda a: a),
    "s_not_b64": _op("s64 = s64", _logic(64, lambda a: ~a)),
    "s_brev_b64": _op("s64 = s64", _reverse(64)),
    "s_bcnt0_i32_b64": _op("s32 = s64", _logic(32, lambda a: 64 - a.bit_count())),
    "s_bcnt1_i32_b64": _op("s32 = s64", _logic(32, int.bit_count)),
    "s_ff0_i32_b64": _op("s32 = s64", lambda a: _trailing(~a & _ALL[64])),
    "s_ff1_i32_b64": _op("s32 = s64", _trailing),
    "s_ctz_i32_b64": _op("s32 = s64", _trailing),
    "s_flbit_i32_b64": _op("s32 = s64", _leading(64)),
    "s_clz_i32_u64": _op("s32 = s64", _leading(64)),
    "s_flbit_i32_i64": _op("s32 = s64", _leading_sign(64)),
    "s_cls_i32_i64": _op("s32 = s64", _leading_sign(64)),
    "s_wqm_b64": _op("s64 = s64", _logic(64, lambda a: _each_quad(a, 64, whole=True))),
    "s_lshl_b64": _op("s64 = s64 s32", _logic(64, lambda a, b: a << (b & 63))),
    "s_lshr_b64": _op("s64 = s64 s32", _logic(64, lambda a, b: a >> (b & 63))),
    "s_ashr_i64": _op("s64 = s64 s32", _logic(64, lambda a, b: signed(a, 64) >> (b & 63))),
    "s_bfe_u64": _op("s64 = s64 s32", _logic(64, lambda a, b: _field(64, a, b, sign=False))),
    "s_bfe_i64": _op("s64 = s64 s32", _logic(64, lambda a, b: _field(64, a, b, sign=True))),
    "s_bfm_b64": _op("s64 = s32 s32", _field_mask(64)),
    "s_mul_u64": _op("s64 = s64 s64", lambda a, b: a * b),
    "s_add_u64": _op("s64 = s64 s64", lambda a, b: a + b),
    "s_cmp_eq_u64": _op("s64 s64", _compare(_COMPARED["eq"], "u64")),
    "s_cmp_lg_u64": _op("s64 s64", _compare(_COMPARED["lg"], "u64")),
    "s_bitcmp0_b32": _op("s32 s32", lambda a, b: (0, not a >> (b & 31) & 1)),
    "s_bitcmp1_b32": _op("s32 s32", lambda a, b: (0, bool(a >> (b & 31) & 1))),
    "s_bitcmp0_b64": _op("s64 s32", lambda a, b: (0, not a >> (b & 63) & 1)),
    "s_bitcmp1_b64": _op("s64 s32", lambda a, b: (0, bool(a >> (b & 63) & 1))),
}
SCALAR: Final[Mapping[str, GcnOp]] = {
    **{name: _op("s32 = s32 s32", function) for name, function in _TWO.items()},
    **{name: _op("s32 = s32", function) for name, function in _ONE.items()},
    **_OF_64,
    **{
        f"s_{name}_b{bits}": _op(f"s{bits} = s{bits} s{bits}", _logic(bits, function))
        for name, function in _LOGIC.items()
        for bits in (32, 64)
    },
    **{
        f"s_{name}_{kind}_b{bits}": _with_wave(
            f"s{bits} = s{bits}", _saved(_SAVED[old], writes_result=kind == "wrexec")
        )
        for old in _SAVED
        for name in {old, _NEWER.get(old, old)}
        for kind in ("saveexec", "wrexec")
        for bits in (32, 64)
    },
    **{
        f"s_cmp_{name}_{type}": _op("s32 s32", _compare(test, type))
        for name, test in _COMPARED.items()
        for type in ("i32", "u32")
    },
    **{
        f"s_cmpk_{name}_{type}": _op("s32 s32", _compare_constant(test, type))
        for name, test in _COMPARED.items()
        for type in ("i32", "u32")
    },
    "s_addc_u32": _with_wave("s32 = s32 s32", _add_carry),
    "s_subb_u32": _with_wave("s32 = s32 s32", _sub_borrow),
    **{f"s_cselect_b{bits}": _with_wave(f"s{bits} = s{bits} s{bits}", _select) for bits in (32, 64)},
    **{f"s_cmov_b{bits}": _with_wave(f"s{bits} = s{bits}", _move_if) for bits in (32, 64)},
    "s_cmovk_i32": _with_wave("s32 = s32", lambda wave, old, a: signed(a, 16) if wave.scc else old),
    "s_addk_i32": _with_wave("s32 = s32", lambda _, old, a: _add_signed(old, signed(a, 16))),
    "s_mulk_i32": _with_wave("s32 = s32", lambda _, old, a: old * signed(a, 16)),
    **{f"s_bitset{to}_b{bits}": _with_wave(f"s{bits} = s32", _set_bit(bits, to)) for to in (0, 1) for bits in (32, 64)},
}
