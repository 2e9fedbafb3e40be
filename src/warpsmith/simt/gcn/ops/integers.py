"""Operations on vectors of integers. Names say the type; `rev` has its operands the other way round.

Source: AMD, "Vega" Instruction Set Architecture, chapter 12 (VOP1, VOP2, VOP3); newer names are those of RDNA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from warpsmith.simt.gcn.memory import Array
from warpsmith.simt.gcn.ops.op import GcnOp, vector_op

__all__ = ["INTEGERS"]

_U32, _U64, _I64 = np.uint32, np.uint64, np.int64
_24: Final = np.uint32(0xFFFFFF)


def _wide(a: Array) -> Array:
    return a.astype(_I64 if a.dtype.kind == "i" else _U64)


def _shift(count: Array, bits: int, like: Any) -> Array:
    return np.asarray(count & count.dtype.type(bits - 1), like)


def _left(count: Array, a: Array) -> Array:
    return a << _shift(count, 8 * a.dtype.itemsize, a.dtype)


def _right(count: Array, a: Array) -> Array:
    return a >> _shift(count, 8 * a.dtype.itemsize, a.dtype)


def _signed_24(a: Array) -> Array:
    moved: Array = a.view(np.int32) << np.int32(8)
    return moved >> np.int32(8)


def _mul_u24(a: Array, b: Array) -> Array:
    return (a & _24) * (b & _24)


def _mul_i24(a: Array, b: Array) -> Array:
    return (_signed_24(a) * _signed_24(b)).view(_U32)


def _high(a: Array, b: Array) -> Array:
    return np.asarray((_wide(a) * _wide(b)) >> _wide(a).dtype.type(32)).astype(a.dtype)


def _add_carry(a: Array, b: Array, carry: Array | None = None) -> tuple[Array, Array]:
    whole = _wide(a) + _wide(b) + (np.uint64(0) if carry is None else carry.astype(_U64))
    return whole.astype(_U32), whole > np.uint64(0xFFFFFFFF)


def _sub_borrow(a: Array, b: Array, borrow: Array | None = None) -> tuple[Array, Array]:
    whole = a.astype(_I64) - b.astype(_I64) - (np.int64(0) if borrow is None else borrow.astype(_I64))
    return whole.astype(_U32), whole < 0


def _field(a: Array, start: Array, width: Array) -> Array:
    start, width = start & _U32(31), width & _U32(31)
    return np.asarray((a >> start) & ((_U32(1) << width) - _U32(1)))


def _signed_field(a: Array, start: Array, width: Array) -> Array:
    start, width = (start & _U32(31)).astype(_I64), (width & _U32(31)).astype(_I64)
    value = (a.astype(_I64) >> start) & ((np.int64(1) << width) - np.int64(1))
    sign = np.int64(1) << np.maximum(width - 1, 0)
    found = np.where(width == 0, 0, (value ^ sign) - sign)
    return found.astype(np.int32)


def _insert(mask: Array, a: Array, b: Array) -> Array:
    return (mask & a) | (~mask & b)


def _align(a: Array, b: Array, count: Array) -> Array:
    """Return 32 of the 64 bits of two registers, from bit `count` on."""
    return (((_wide(a) << _U64(32)) | _wide(b)) >> (count & _U32(31)).astype(_U64)).astype(_U32)


def _permute(a: Array, b: Array, selector: Array) -> Array:
    """Return four bytes, each one of the eight of two registers, of a sign, or constant."""
    whole = (_wide(a) << _U64(32)) | _wide(b)
    found = np.zeros_like(a)
    for byte in range(4):
        which = (selector >> _U32(8 * byte)) & _U32(0xFF)
        value = (whole >> (np.minimum(which, _U32(7)) * _U32(8)).astype(_U64)) & _U64(0xFF)
        signs = (whole >> (((np.clip(which, 8, 11) - _U32(8)) * _U32(16)) + _U32(15)).astype(_U64)) & _U64(1)
        value = np.where(which >= 8, signs * _U64(0xFF), value)
        value = np.where(which == 12, _U64(0), np.where(which > 12, _U64(0xFF), value))
        found |= value.astype(_U32) << _U32(8 * byte)
    return found


def _count_bits(a: Array) -> Array:
    return np.bitwise_count(a).astype(_U32)


def _leading(a: Array) -> Array:
    """Return how many zeros come first; -1 where there are no others."""
    spread = a.copy()
    for step in (1, 2, 4, 8, 16):
        spread |= spread >> _U32(step)
    return np.where(a == 0, _U32(0xFFFFFFFF), _U32(32) - _count_bits(spread))


def _trailing(a: Array) -> Array:
    return np.where(a == 0, _U32(0xFFFFFFFF), _count_bits((a & (~a + _U32(1))) - _U32(1)))


def _leading_sign(a: Array) -> Array:
    return _leading(np.where(a >> _U32(31), ~a, a))


def _reverse(a: Array) -> Array:
    raw = np.ascontiguousarray(a).view(np.uint8)
    turned = np.packbits(np.unpackbits(raw, bitorder="little"), bitorder="big")
    return np.ascontiguousarray(turned).view(">u4").astype(_U32)


def _median(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def _multiply_add_wide(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    product = _wide(a) * _wide(b)
    whole = product + c
    return whole, whole < c if c.dtype.kind == "u" else np.zeros(len(c), bool)


def _difference(a: Array, b: Array) -> Array:
    return np.maximum(a, b) - np.minimum(a, b)


_TWO: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "add": ("u32", lambda a, b: a + b),
    "sub": ("u32", lambda a, b: a - b),
    "subrev": ("u32", lambda a, b: b - a),
}
_BITS: Final[Mapping[str, Callable[..., Any]]] = {
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": _left,
    "v_lshrrev_b32": _right,
    "v_lshl_b32": lambda a, b: _left(b, a),
    "v_lshr_b32": lambda a, b: _right(b, a),
    "v_bfm_b32": lambda a, b: ((_U32(1) << (a & _U32(31))) - _U32(1)) << (b & _U32(31)),
    "v_mul_u32_u24": _mul_u24,
    "v_mul_hi_u32_u24": lambda a, b: _high(a & _24, b & _24),
    "v_mul_i32_i24": _mul_i24,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": _high,
    "v_bcnt_u32_b32": lambda a, b: _count_bits(a) + b,
    "v_min_u32": np.minimum,
    "v_max_u32": np.maximum,
}
_THREE: Final[Mapping[str, Callable[..., Any]]] = {
    "v_bfe_u32": _field,
    "v_bfi_b32": _insert,
    "v_alignbit_b32": _align,
    "v_alignbyte_b32": lambda a, b, c: _align(a, b, (c & _U32(3)) << _U32(3)),
    "v_perm_b32": _permute,
    "v_and_or_b32": lambda a, b, c: (a & b) | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_or_b32": lambda a, b, c: _left(b, a) | c,
    "v_lshl_add_u32": lambda a, b, c: _left(b, a) + c,
    "v_add_lshl_u32": lambda a, b, c: _left(c, a + b),
    "v_mad_u32_u24": lambda a, b, c: _mul_u24(a, b) + c,
    "v_mad_i32_i24": lambda a, b, c: _mul_i24(a, b) + c,
    "v_min3_u32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
    "v_max3_u32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
    "v_med3_u32": _median,
    "v_maxmin_u32": lambda a, b, c: np.minimum(np.maximum(a, b), c),
    "v_minmax_u32": lambda a, b, c: np.maximum(np.minimum(a, b), c),
    "v_sad_u32": lambda a, b, c: _difference(a, b) + c,
}
_ONE: Final[Mapping[str, Callable[..., Any]]] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": _reverse,
    "v_ffbh_u32": _leading,
    "v_clz_i32_u32": _leading,
    "v_ffbl_b32": _trailing,
    "v_ctz_i32_b32": _trailing,
    "v_ffbh_i32": _leading_sign,
    "v_cls_i32": _leading_sign,
    "v_accvgpr_read_b32": lambda a: a,
    "v_accvgpr_write_b32": lambda a: a,
    "v_accvgpr_mov_b32": lambda a: a,
}
_SIGNED: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "v_ashrrev_i32": ("i32 = u32 i32", _right),
    "v_ashr_i32": ("i32 = i32 u32", lambda a, b: _right(b, a)),
    "v_min_i32": ("i32 = i32 i32", np.minimum),
    "v_max_i32": ("i32 = i32 i32", np.maximum),
    "v_mul_hi_i32": ("i32 = i32 i32", _high),
    "v_min3_i32": ("i32 = i32 i32 i32", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_max3_i32": ("i32 = i32 i32 i32", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_med3_i32": ("i32 = i32 i32 i32", _median),
    "v_maxmin_i32": ("i32 = i32 i32 i32", lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    "v_minmax_i32": ("i32 = i32 i32 i32", lambda a, b, c: np.maximum(np.minimum(a, b), c)),
    "v_bfe_i32": ("i32 = i32 u32 u32", _signed_field),
    "v_add_i32": ("i32 = i32 i32", lambda a, b: a + b),
    "v_sub_i32": ("i32 = i32 i32", lambda a, b: a - b),
    "v_add_nc_i32": ("i32 = i32 i32", lambda a, b: a + b),
    "v_sub_nc_i32": ("i32 = i32 i32", lambda a, b: a - b),
}
_WIDE: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "v_mov_b64": ("u64 = u64", lambda a: a),
    "v_lshlrev_b64": ("u64 = u32 u64", _left),
    "v_lshrrev_b64": ("u64 = u32 u64", _right),
    "v_ashrrev_i64": ("i64 = u32 i64", _right),
    "v_lshl_add_u64": ("u64 = u64 u32 u64", lambda a, b, c: _left(b, a) + c),
    "v_mad_u64_u32": ("u64 mask = u32 u32 u64", _multiply_add_wide),
    "v_mad_i64_i32": ("i64 mask = i32 i32 i64", _multiply_add_wide),
    "v_mad_u32_u16": ("u32 = u16 u16 u32", lambda a, b, c: a.astype(_U32) * b.astype(_U32) + c),
}
_NARROW: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "add_u16": ("u16 = u16 u16", lambda a, b: a + b),
    "sub_u16": ("u16 = u16 u16", lambda a, b: a - b),
    "subrev_u16": ("u16 = u16 u16", lambda a, b: b - a),
    "mul_lo_u16": ("u16 = u16 u16", lambda a, b: a * b),
    "min_u16": ("u16 = u16 u16", np.minimum),
    "max_u16": ("u16 = u16 u16", np.maximum),
    "min_i16": ("i16 = i16 i16", np.minimum),
    "max_i16": ("i16 = i16 i16", np.maximum),
    "lshlrev_b16": ("u16 = u16 u16", _left),
    "lshrrev_b16": ("u16 = u16 u16", _right),
    "ashrrev_i16": ("i16 = u16 i16", _right),
    "mad_u16": ("u16 = u16 u16 u16", lambda a, b, c: a * b + c),
    "mad_i16": ("i16 = i16 i16 i16", lambda a, b, c: a * b + c),
    "and_b16": ("u16 = u16 u16", lambda a, b: a & b),
    "or_b16": ("u16 = u16 u16", lambda a, b: a | b),
    "xor_b16": ("u16 = u16 u16", lambda a, b: a ^ b),
    "not_b16": ("u16 = u16", lambda a: ~a),
    "mov_b16": ("u16 = u16", lambda a: a),
    "min3_u16": ("u16 = u16 u16 u16", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "max3_u16": ("u16 = u16 u16 u16", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "min3_i16": ("i16 = i16 i16 i16", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "max3_i16": ("i16 = i16 i16 i16", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "med3_i16": ("i16 = i16 i16 i16", _median),
    "med3_u16": ("u16 = u16 u16 u16", _median),
}
_CARRIES: Final[Mapping[str, tuple[Callable[..., Any], bool]]] = {
    "v_add_co_u32": (_add_carry, False),
    "v_sub_co_u32": (_sub_borrow, False),
    "v_subrev_co_u32": (lambda a, b: _sub_borrow(b, a), False),
    "v_addc_co_u32": (_add_carry, True),
    "v_subb_co_u32": (_sub_borrow, True),
    "v_subbrev_co_u32": (lambda a, b, c: _sub_borrow(b, a, c), True),
    "v_add_co_ci_u32": (_add_carry, True),
    "v_sub_co_ci_u32": (_sub_borrow, True),
    "v_subrev_co_ci_u32": (lambda a, b, c: _sub_borrow(b, a, c), True),
}
_OTHER: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    **_SIGNED,
    **_WIDE,
    **{f"v_{name}": row for name, row in _NARROW.items()},
    **{f"v_{name.replace('_', '_nc_', 1)}": _NARROW[name] for name in ("add_u16", "sub_u16")},
    **{f"v_{name}{infix}_u32": ("u32 = u32 u32", row[1]) for name, row in _TWO.items() for infix in ("", "_nc")},
    "v_cndmask_b32": ("u32 = u32 u32 mask", lambda a, b, c: np.where(c, b, a)),
    "v_cndmask_b16": ("u16 = u16 u16 mask", lambda a, b, c: np.where(c, b, a)),
}
INTEGERS: Final[Mapping[str, GcnOp]] = {
    **{name: vector_op("u32 = u32", function) for name, function in _ONE.items()},
    **{name: vector_op("u32 = u32 u32", function) for name, function in _BITS.items()},
    **{name: vector_op("u32 = u32 u32 u32", function) for name, function in _THREE.items()},
    **{name: vector_op(form, function) for name, (form, function) in _OTHER.items()},
    **{
        name: vector_op(f"u32 mask = u32 u32{' mask' if takes else ''}", function)
        for name, (function, takes) in _CARRIES.items()
    },
}
