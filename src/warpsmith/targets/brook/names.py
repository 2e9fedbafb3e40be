"""What functions and types of CUDA and OpenCL are called in Brook+, where both mean the same, bit for bit.

sinf, exp2f and the like are left out: Brook+ has those of the hardware, which __sinf is; fmodf, too, which is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.base.source import Span
from warpsmith.targets.brook.refused import refuse_brook
from warpsmith.tree.types import Scalar, Type

__all__ = ["FUNCTIONS", "RESERVED", "type_name"]

_SAME: Final = ("sqrt", "floor", "ceil", "trunc", "exp", "log", "pow", "tan", "asin", "acos", "atan", "atan2")
FUNCTIONS: Final[Mapping[str, str]] = {
    **{f"{name}{end}": name for name in _SAME for end in ("", "f")},
    **{f"f{name}{end}": name for name in ("abs", "min", "max") for end in ("", "f")},
    "abs": "abs", "min": "min", "max": "max", "__sinf": "sin", "__cosf": "cos", "__log2f": "log2", "__exp2f": "exp2",
    "native_sin": "sin", "native_cos": "cos", "native_exp2": "exp2", "native_log2": "log2",
}  # fmt: skip
RESERVED: Final = frozenset({
    "kernel", "reduce", "out", "iter", "vout", "instance", "indexof", "float2", "float3", "float4", "int2", "int3",
    "int4", "uint", "uint2", "uint3", "uint4", "double2", "width", "height", *FUNCTIONS.values(),
})  # fmt: skip
"""Names that mean something else in Brook+."""


def type_name(type: Type, span: Span | None, what: str) -> str:
    """Return the name of a type of numbers; raises InputError where Brook+ has none like it."""
    if isinstance(type, Scalar):
        match type.kind, type.bits:
            case "float", 32:
                return "float"
            case "float", 64:
                return "double"
            case "signed", 32:
                return "int"
            case "unsigned", 32:
                return "uint"
            case "bool", _:
                return "bool"
            case _:
                pass
    shown = getattr(type, "spelling", "") or getattr(type, "name", "") or getattr(type, "tag", "") or "such a type"
    raise refuse_brook(f"{what} is {shown}, and Brook+ has numbers of 32 bits, and double", span, "use int or float")
