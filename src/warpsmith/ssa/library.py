"""The functions of the mathematics library that `lanewise` ops name, computed by the C library, rounded.

A GPU's own library may differ in the last bits; which lanes get the same number, it does not change. How near results
are is said in docs/explanation/numbers.md, and measured in tests/ssa/test_library_errors.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from warpsmith.ssa.nodes import Instruction, Text
from warpsmith.ssa.semantics.patterns import number_of, pattern_of, to_signed

__all__ = ["compute_lanewise", "is_function"]


def is_function(instruction: Instruction) -> bool:
    """Whether a `lanewise` op names a function that is known here."""
    name = instruction.detail.text if isinstance(instruction.detail, Text) else ""
    return len(instruction.results) == 1 and (name == "nextafter" or name in _FUNCTIONS)


def compute_lanewise(instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the results of a `lanewise` op; None where it is no function that is known here."""
    name = instruction.detail.text if isinstance(instruction.detail, Text) else ""
    if name == "printf":
        return ()
    if name == "nextafter":
        alike = [operand.type for operand in instruction.operands] == [instruction.result.type] * 2
        return (_next(operands, instruction),) if alike else None
    function = _FUNCTIONS.get(name)
    if function is None or len(instruction.results) != 1:
        return None
    given = [
        number_of(bits, operand.type) if operand.type.kind == "float" else to_signed(bits, operand.type)
        for bits, operand in zip(operands, instruction.operands, strict=True)
    ]
    type = instruction.result.type
    try:
        value = function(*given)
    except OverflowError:
        value = math.inf
    except (ValueError, ZeroDivisionError):
        value = math.nan
    except TypeError:
        return None
    if type.kind == "float":
        return (pattern_of(value, type),)
    return (int(value) & ((1 << type.bits) - 1),) if math.isfinite(value) else None


def _next(operands: tuple[int, ...], instruction: Instruction) -> int:
    """Return the bits of the number of its own type that comes next to the first operand towards the second."""
    type = instruction.result.type
    x, y = (number_of(bits, type) for bits in operands)
    if math.isnan(x) or math.isnan(y):
        return pattern_of(math.nan, type)
    if x == y:
        return operands[1]
    if x == 0:
        return 1 | (int(y < 0) << (type.bits - 1))
    return operands[0] + (1 if (x < y) == (x > 0) else -1)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = y == math.floor(y) and math.fmod(y, 2.0) != 0
        return -math.inf if x < 0 and odd else math.inf


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: -math.inf if x == 0 else function(x)


def _away(x: float) -> float:
    """Round half away from zero."""
    if not math.isfinite(x):
        return x
    return math.copysign(math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= 0.5), x)


def _sine_of_half_turns(x: float) -> float:
    """Return sin(πx); the part that is not whole is exact, and small before π, which is not, comes in."""
    rest = math.remainder(x, 2.0)
    near = math.remainder(rest, 0.5)
    quarters = round((rest - near) / 0.5) % 4
    made = math.cos(math.pi * near) if quarters % 2 else math.sin(math.pi * near)
    return (-made if quarters >= 2 else made) or math.copysign(0.0, x)


def _cosine_of_half_turns(x: float) -> float:
    """Return cos(πx) in the same way."""
    rest = math.remainder(x, 2.0)
    near = math.remainder(rest, 0.5)
    quarters = round((rest - near) / 0.5) % 4
    made = math.sin(math.pi * near) if quarters % 2 else math.cos(math.pi * near)
    return (-made if quarters in (1, 2) else made) or 0.0


def _normal_distribution(x: float) -> float:
    """Return erfc(-x / √2) / 2. What rounding takes from the argument is given back to the result along its slope,
    which is steep where x is far below zero."""
    if not math.isfinite(x):
        return 0.5 * math.erfc(-x)
    argument = -x / math.sqrt(2.0)
    missing = float(Fraction(-x) * _ROOT_OF_HALF - Fraction(argument))
    slope = 2.0 / math.sqrt(math.pi) * math.exp(-argument * argument)
    return 0.5 * (math.erfc(argument) - slope * missing)


_ROOT_OF_HALF: Final = Fraction(math.isqrt(2**255), 2**128)
"""√½ to 128 bits."""

_FUNCTIONS: Final[dict[str, Callable[..., float]]] = {
    **{name: getattr(math, name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt")},
    **{name: getattr(math, name) for name in ("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fmod", "hypot")},
    **{name: getattr(math, name) for name in ("lgamma", "remainder", "sin", "sinh", "tan", "tanh")},
    **{name: _logarithm(getattr(math, name)) for name in ("log", "log2", "log10", "log1p")},
    "log1p": math.log1p,
    "tgamma": math.gamma,
    "pow": _power,
    "pown": _power,
    "powi": _power,
    "powr": _power,
    "exp10": lambda x: _power(10.0, x),
    "fdim": lambda x, y: max(x - y, 0.0),
    "ldexp": lambda x, n: math.ldexp(x, int(n)),
    "scalbn": lambda x, n: math.ldexp(x, int(n)),
    "frexp": lambda x: math.frexp(x)[0],
    "frexp exponent": lambda x: math.frexp(x)[1],
    "modf": lambda x: math.modf(x)[0],
    "modf whole": lambda x: math.modf(x)[1],
    "logb": _logarithm(lambda x: float(math.frexp(x)[1] - 1)),
    "ilogb": lambda x: math.frexp(x)[1] - 1,
    "round": _away,
    **dict.fromkeys(("lround", "lroundf", "llround", "llroundf"), _away),
    "rcbrt": lambda x: 1.0 / math.cbrt(x),
    "rhypot": lambda x, y: 1.0 / math.hypot(x, y),
    "norm3d": math.hypot,
    "norm4d": math.hypot,
    "sinpi": _sine_of_half_turns,
    "cospi": _cosine_of_half_turns,
    "normcdf": _normal_distribution,
    "__expf": math.exp,
    "__exp10f": lambda x: _power(10.0, x),
    "__logf": _logarithm(math.log),
    "__log10f": _logarithm(math.log10),
    "__powf": _power,
    "__tanf": math.tan,
    "__tanhf": math.tanh,
    **{f"native_{name}": getattr(math, name) for name in ("exp", "tan")},
    **{f"native_{name}": _logarithm(getattr(math, name)) for name in ("log", "log10")},
    "native_exp10": lambda x: _power(10.0, x),
    "native_powr": _power,
    "degrees": math.degrees,
    "radians": math.radians,
}
