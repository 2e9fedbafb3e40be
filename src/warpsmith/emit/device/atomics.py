"""Indivisible updates for which CUDA has no function: products, minima and maxima of floating point, 64-bit integers
by the names that C gives them.

    do the place holds `expected`? then it gets combination(expected, value)        compare and swap, until nobody came
    while somebody was faster                                                       between

The first guess is zero: a plain read would not be ordered with the other threads' updates.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.emit.device.reduction import combination, type_text
from warpsmith.emit.words import Support
from warpsmith.tree.nodes import Name
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import FunctionType, Scalar, Symbol, is_float
from warpsmith.tree.walk import walk

__all__ = ["atomic_names", "atomic_texts"]

_KEY = "atomic:"
_WORDS = {"+": "add", "*": "multiply", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor"}
_NATIVE = {"+": "Add", "min": "Min", "max": "Max", "&": "And", "|": "Or", "^": "Xor"}


def atomic_names(kernels: Iterable[Kernel], support: Support) -> dict[Symbol, str]:
    """Return the name of every function of ours that the kernels call for an indivisible update."""
    found = dict.fromkeys(
        n.symbol for k in kernels for n in walk(k.body) if isinstance(n, Name) and n.symbol.key.startswith(_KEY)
    )
    return {symbol: f"{support.prefix}_atomic_{_WORDS[_operation(symbol)]}" for symbol in found}


def atomic_texts(names: dict[Symbol, str]) -> list[str]:
    """Return the definitions of these functions."""
    return [_text(name, _operation(symbol), _type(symbol)) for symbol, name in names.items()]


def _operation(symbol: Symbol) -> str:
    return symbol.key.removeprefix(_KEY).partition(":")[0]


def _type(symbol: Symbol) -> Scalar:
    signature = symbol.type
    assert isinstance(signature, FunctionType), "it is a function"
    value = signature.parameters[1]
    assert isinstance(value, Scalar), "of numbers"
    return value


def _text(name: str, op: str, type: Scalar) -> str:
    text = type_text(type)
    head = f"static __device__ void {name}({text} *place, {text} value)\n{{\n"
    if op != "*" and not is_float(type):
        word = "long long" if op in ("min", "max") and type.kind == "signed" else "unsigned long long"
        return f"{head}    atomic{_NATIVE[op]}(({word} *)place, ({word})value);\n}}"
    word = "unsigned long long" if type.bits == 64 else "unsigned int"
    out, back = _conversions(type)
    return f"""{head}\
    {word} expected, seen = 0;
    do {{
        expected = seen;
        const {text} old = {out.format("expected")};
        const {text} combined = {combination(op, type, "old", "value")};
        seen = atomicCAS(({word} *)place, expected, ({word}){back.format("combined")});
    }} while (seen != expected);
}}"""


def _conversions(type: Scalar) -> tuple[str, str]:
    """Return how the bits of a place become its value, and back."""
    if not is_float(type):
        return f"({type_text(type)}){{}}", "{}"
    return (
        ("__uint_as_float({})", "__float_as_uint({})")
        if type.bits == 32
        else ("__longlong_as_double({})", "__double_as_longlong({})")
    )
