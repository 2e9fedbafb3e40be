"""Conversions between numbers in vectors. What does not fit an integer is the nearest one that does, NaN is 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from warpsmith.simt.gcn.memory import Array
from warpsmith.simt.gcn.ops.op import GcnOp, vector_op
from warpsmith.simt.gcn.wave import DTYPES

__all__ = ["CONVERSIONS"]


def _to_integer(type: str, rounded: Callable[[Array], Array] = np.trunc) -> Callable[[Array], Array]:
    info = np.iinfo(DTYPES[type])

    def compute(a: Array) -> Array:
        wide = rounded(a.astype(np.float64))
        return np.asarray(np.clip(np.nan_to_num(wide, nan=0.0), info.min, info.max), DTYPES[type])

    return compute


def _cast(type: str) -> Callable[[Array], Array]:
    return lambda a: a.astype(DTYPES[type])


def _byte(number: int) -> Callable[[Array], Array]:
    return lambda a: (a >> np.uint32(8 * number) & np.uint32(0xFF)).astype(np.float32)


def toward_zero(a: Array) -> Array:
    """Return f32 as f16, rounded toward zero."""
    near = a.astype(np.float16)
    beyond = np.abs(near.astype(np.float32)) > np.abs(a)
    return np.where(beyond & np.isfinite(a), np.nextafter(near, np.float16(0)), near)


def pack(low: Array, high: Array) -> Array:
    """Return two halves in one word."""
    return low.view(np.uint16).astype(np.uint32) | high.view(np.uint16).astype(np.uint32) << np.uint32(16)


_CASTS: Final = (
    *("f32_u32", "f32_i32", "f64_u32", "f64_i32", "f32_f64", "f64_f32", "f16_f32", "f32_f16", "f16_u16", "f16_i16"),
)
CONVERSIONS: Final[Mapping[str, GcnOp]] = {
    **{f"v_cvt_{name}": vector_op(f"{name[:3]} = {name[4:]}", _cast(name[:3])) for name in _CASTS},
    **{
        f"v_cvt_{to}_{of}": vector_op(f"{to} = {of}", _to_integer(to))
        for to, of in (
            *(("u32", "f32"), ("i32", "f32"), ("u32", "f64"), ("i32", "f64"), ("u16", "f16"), ("i16", "f16")),
        )
    },
    **{f"v_cvt_f32_ubyte{n}": vector_op("f32 = u32", _byte(n)) for n in range(4)},
    "v_cvt_flr_i32_f32": vector_op("i32 = f32", _to_integer("i32", np.floor)),
    "v_cvt_floor_i32_f32": vector_op("i32 = f32", _to_integer("i32", np.floor)),
    "v_cvt_rpi_i32_f32": vector_op("i32 = f32", _to_integer("i32", lambda a: np.floor(a + 0.5))),
    "v_cvt_nearest_i32_f32": vector_op("i32 = f32", _to_integer("i32", lambda a: np.floor(a + 0.5))),
    "v_cvt_pkrtz_f16_f32": vector_op("u32 = f32 f32", lambda a, b: pack(toward_zero(a), toward_zero(b))),
    "v_cvt_pk_rtz_f16_f32": vector_op("u32 = f32 f32", lambda a, b: pack(toward_zero(a), toward_zero(b))),
    "v_cvt_u32_u16": vector_op("u32 = u16", _cast("u32")),
    "v_cvt_i32_i16": vector_op("i32 = i16", _cast("i32")),
}
"""By their names: to, then of what."""
