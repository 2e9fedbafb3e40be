"""The functions with which threads combine values of loops that they share."""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.emit.device.reduction import combination, type_text
from warpsmith.emit.parts import fill
from warpsmith.emit.words import Support
from warpsmith.tree.memory.shared_values import COLUMN_KEY, WARP_KEY
from warpsmith.tree.nodes import Name
from warpsmith.tree.program import Kernel
from warpsmith.tree.types import FunctionType, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["sharing_names", "sharing_texts"]

_PARTS = {WARP_KEY: ("warp", "warp_reduction.cu"), COLUMN_KEY: ("column", "column_reduction.cu")}

_WORDS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum", "&": "and", "|": "or", "^": "xor"}


def sharing_names(kernels: Iterable[Kernel], support: Support) -> dict[Symbol, str]:
    """Return the name of every function of ours with which threads combine values in the kernels."""
    named = (n.symbol for k in kernels for n in walk(k.body) if isinstance(n, Name))
    found = dict.fromkeys(symbol for symbol in named if symbol.key.startswith((WARP_KEY, COLUMN_KEY)))
    return {s: f"{support.prefix}_{_PARTS[_key(s)][0]}_{_WORDS[_operation(s)]}" for s in found}


def sharing_texts(names: dict[Symbol, str]) -> list[str]:
    """Return the definitions of these functions."""
    return [_text(symbol, name) for symbol, name in names.items()]


def _key(symbol: Symbol) -> str:
    return WARP_KEY if symbol.key.startswith(WARP_KEY) else COLUMN_KEY


def _operation(symbol: Symbol) -> str:
    return symbol.key.removeprefix(_key(symbol)).rpartition(":")[0]


def _type(symbol: Symbol) -> Scalar:
    signature = symbol.type
    assert isinstance(signature, FunctionType), "it is a function"
    value = signature.result
    assert isinstance(value, Scalar), "of numbers"
    return value


def _text(symbol: Symbol, name: str) -> str:
    op, type = _operation(symbol), _type(symbol)
    return fill(
        _PARTS[_key(symbol)][1],
        {
            "WS_WORD": _WORDS[op],
            "WS_TYPE": type_text(type),
            "WS_NAME": name,
            "WS_COMBINED": lambda left, right: combination(op, type, left, right),
        },
    )
