"""Functions of the mathematics library that no op of the hardware computes exactly: pure, lane by lane, by their name.

So a uniform argument gives a uniform result, and whoever knows the function can compute it (`ssa.library` does).
"""

from __future__ import annotations

from typing import Final

from warpsmith.lower.builtins.rows import Rule, is_number, lanewise, needs, place_argument
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import value_type
from warpsmith.lower.places import store
from warpsmith.ssa.nodes import Text
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["LIBRARY"]

_NAMES: Final = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "cospi", "erf", "erfc", "erfcx",
    "erfcinv", "erfinv", "exp", "exp10", "exp2", "expm1", "fdim", "fmod", "hypot", "j0", "j1", "ldexp", "lgamma", "log",
    "log10", "log1p", "log2", "logb", "nextafter", "norm3d", "norm4d", "normcdf", "normcdfinv", "pow", "powi", "rcbrt",
    "remainder", "rhypot", "rnorm3d", "rnorm4d", "round", "scalbn", "scalbln", "sin", "sinh", "sinpi", "tan", "tanh",
    "tgamma", "y0", "y1", "jn", "yn", "cyl_bessel_i0", "cyl_bessel_i1",
)  # fmt: skip
_OTHERS: Final = (
    "__expf", "__exp10f", "__logf", "__log10f", "__powf", "__tanf", "__tanhf", "ilogb", "ilogbf", "__hadd_rn",
    "__rhadd", "__urhadd", "__uhadd", "__hadd", "__hsub", "__hmul", "__hdiv", "__hfma", "__hlt", "__hgt", "__hle",
    "__hge", "__heq", "__hne", "__hneg", "__habs", "hsqrt", "hexp", "hlog", "hfloor", "hceil", "__hmax", "__hmin",
)  # fmt: skip

_BYTES_AND_HALVES: Final = tuple(
    f"__v{name}{size}"
    for size in (2, 4)
    for name in (
        "abs", "absss", "neg", "negss", "add", "addss", "addus", "sub", "subss", "subus", "absdiffs", "absdiffu",
        "sads", "sadu", "haddu", "avgs", "avgu", "maxs", "maxu", "mins", "minu",
        *(f"{test}{how}" for test in ("cmp", "set") for how in ("eq", "ne")),
        *(f"{test}{how}{sign}" for test in ("cmp", "set") for how in ("ge", "gt", "le", "lt") for sign in "su"),
    )
)  # fmt: skip
"""Functions of the bytes or halves of a word (CUDA Math API, SIMD intrinsics)."""


def _two(results: tuple[str, str]) -> Rule:
    """Return the rule of a function that writes two results through pointers (sincos), which also tell of which type
    it is."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        value, *pointers = needs(e, 3)[:3]
        to = frame.decay(pointers[0].type)
        type = to.to if isinstance(to, tree.Pointer) and is_number(to.to) else tree.DOUBLE
        number = frame.as_type(value, type)
        for pointer, function in zip(pointers, results, strict=True):
            place, kind = place_argument(frame, pointer)
            found = frame.builder.emit("lanewise", (number,), value_type(type), Text(function))
            store(frame.builder, place, kind, found)
        return None

    return rule


def _parts(name: str, extra: str) -> Rule:
    """Return the rule of frexp or modf: one result, and one through a pointer."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        value, pointer = needs(e, 2)[:2]
        number = frame.as_type(value, e.type if is_number(e.type) else tree.DOUBLE)
        place, kind = place_argument(frame, pointer)
        store(frame.builder, place, kind, frame.builder.emit("lanewise", (number,), value_type(kind), Text(extra)))
        return frame.builder.emit("lanewise", (number,), number.type, Text(name))

    return rule


LIBRARY: Final[dict[str, Rule]] = {
    **{f"{prefix}{name}{end}": lanewise(name) for name in _NAMES for end in ("", "f") for prefix in ("", "std::")},
    **{name: lanewise(name) for name in (*_OTHERS, *_BYTES_AND_HALVES)},
    **{name: _two(("sin", "cos")) for name in ("sincos", "sincosf", "__sincosf")},
    **{name: _two(("sinpi", "cospi")) for name in ("sincospi", "sincospif")},
    **{f"frexp{end}": _parts("frexp", "frexp exponent") for end in ("", "f")},
    **{f"modf{end}": _parts("modf", "modf whole") for end in ("", "f")},
}
