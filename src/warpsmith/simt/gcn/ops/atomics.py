"""What atomic operations make of a number: lane after lane in ascending order, each sees what those before it left."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from warpsmith.simt.gcn.ops.scalar import signed

__all__ = ["NAMED_BY_TYPE", "NAMED_BY_WORD", "UPDATES", "Update"]

Update = Callable[[int, int, int], int]
"""The number that is there, that of the lane, and bits of both; the new one."""


def _float(function: Callable[[float, float], float]) -> Update:
    def compute(old: int, value: int, bits: int) -> int:
        form, type = ("<f", np.float32) if bits == 32 else ("<d", np.float64)
        size = bits // 8
        one, other = (type(struct.unpack(form, number.to_bytes(size, "little"))[0]) for number in (old, value))
        with np.errstate(all="ignore"):
            made = type(function(float(one), float(other)))
        return int.from_bytes(made.tobytes(), "little")

    return compute


def _increment(old: int, value: int, _: int) -> int:
    return 0 if old >= value else old + 1


def _decrement(old: int, value: int, _: int) -> int:
    return value if old == 0 or old > value else old - 1


UPDATES: Final[Mapping[str, Update]] = {
    "add": lambda old, value, _: old + value,
    "sub": lambda old, value, _: old - value,
    "rsub": lambda old, value, _: value - old,
    "smin": lambda old, value, bits: old if signed(old, bits) <= signed(value, bits) else value,
    "smax": lambda old, value, bits: old if signed(old, bits) >= signed(value, bits) else value,
    "umin": lambda old, value, _: min(old, value),
    "umax": lambda old, value, _: max(old, value),
    "and": lambda old, value, _: old & value,
    "or": lambda old, value, _: old | value,
    "xor": lambda old, value, _: old ^ value,
    "inc": _increment,
    "dec": _decrement,
    "swap": lambda _, value, __: value,
    "fadd": _float(lambda old, value: old + value),
    "fmin": _float(lambda old, value: float(np.fmin(old, value))),
    "fmax": _float(lambda old, value: float(np.fmax(old, value))),
}
NAMED_BY_WORD: Final = {
    **{name: name for name in UPDATES if name not in ("rsub", "fadd")},
    "add_f32": "fadd",
    "add_f64": "fadd",
    "min_f64": "fmin",
    "max_f64": "fmax",
}
"""Names of atomics of global memory before GFX11, `_x2` behind those of 64 bits; `_f64` says so itself."""
_TYPED: Final = {
    "add": ("u", "add"), "sub": ("u", "sub"), "rsub": ("u", "rsub"), "min": ("u", "umin"), "max": ("u", "umax"),
    "inc": ("u", "inc"), "dec": ("u", "dec"), "and": ("b", "and"), "or": ("b", "or"), "xor": ("b", "xor"),
}  # fmt: skip
NAMED_BY_TYPE: Final[Mapping[str, tuple[str, int]]] = {
    **{f"{name}_{kind}{bits}": (update, bits) for name, (kind, update) in _TYPED.items() for bits in (32, 64)},
    **{f"{name}_i{bits}": (f"s{name}", bits) for name in ("min", "max") for bits in (32, 64)},
    **{f"{name}_f{bits}": (f"f{name}", bits) for name in ("add", "min", "max") for bits in (32, 64)},
    **{f"{name}_num_f32": (f"f{name}", 32) for name in ("min", "max")},
}
"""Names of those of shared memory, and of all since GFX11: the type says how many bits, and whether there is a sign."""
