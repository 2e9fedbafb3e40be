"""The functions with which the lanes of a warp combine values of loops that they share."""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.emit.device.reduction import combination, type_text
from warpsmith.emit.parts import fill
from warpsmith.emit.words import Support
from warpsmith.tree.memory.warp_values import WARP_KEY
from warpsmith.tree.nodes import Name
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import FunctionType, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["warp_names", "warp_texts"]

_WORDS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum", "&": "and", "|": "or", "^": "xor"}


def warp_names(kernels: Iterable[Kernel], support: Support) -> dict[Symbol, str]:
    """Return the name of every function of ours with which lanes combine values in the kernels."""
    found = dict.fromkeys(
        n.symbol for k in kernels for n in walk(k.body) if isinstance(n, Name) and n.symbol.key.startswith(WARP_KEY)
    )
    return {symbol: f"{support.prefix}_warp_{_WORDS[_operation(symbol)]}" for symbol in found}


def warp_texts(names: dict[Symbol, str]) -> list[str]:
    """Return the definitions of these functions."""
    return [_text(name, _operation(symbol), _type(symbol)) for symbol, name in names.items()]


def _operation(symbol: Symbol) -> str:
    return symbol.key.removeprefix(WARP_KEY).rpartition(":")[0]


def _type(symbol: Symbol) -> Scalar:
    signature = symbol.type
    assert isinstance(signature, FunctionType), "it is a function"
    value = signature.result
    assert isinstance(value, Scalar), "of numbers"
    return value


def _text(name: str, op: str, type: Scalar) -> str:
    return fill(
        "warp_reduction.cu",
        {
            "WS_WORD": _WORDS[op],
            "WS_TYPE": type_text(type),
            "WS_NAME": name,
            "WS_COMBINED": lambda left, right: combination(op, type, left, right),
        },
    )
