"""The names that functions get in device code: their own, as far as one name stands for one function there.

level<0>(table, x)      level_0(table, x): device code has instances, and no templates
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from warpsmith.emit.words import Support, fresh, is_reserved
from warpsmith.tree.nodes import Function, Name, Node
from warpsmith.tree.types import FunctionType, Symbol
from warpsmith.tree.walk import walk

__all__ = ["helper_names"]


def helper_names(
    helpers: tuple[Function, ...], bodies: Iterable[Node], prefix: str, support: Support
) -> Mapping[Symbol, str]:
    """Return the names of the functions that device code has, which `bodies` call; `prefix` goes before them."""
    used = [n for body in bodies for n in walk(body) if isinstance(n, Name)]
    called = {n.symbol for n in used if "<" in n.span.text}
    found: dict[Symbol, str] = {}
    taken = {n.symbol.name for n in used} | {helper.symbol.name for helper in helpers}
    for helper in helpers:
        symbol = helper.symbol
        whole = _is_made(helper) and (symbol in called or any(_are_alike(helper, other) for other in helpers))
        text = re.sub(r"\W+", "_", symbol.label if whole else symbol.name)
        name = fresh(text.rstrip("_"), taken) if whole else text
        taken.add(name)
        found[symbol] = f"{prefix or support.prefix + '_'}{name}" if prefix or is_reserved(name) else name
    return found


def _is_made(helper: Function) -> bool:
    return bool(helper.instance) and bool(helper.symbol.label)


def _are_alike(one: Function, other: Function) -> bool:
    """Whether two instances have one name, and parameters that do not tell them apart."""
    a, b = one.symbol.type, other.symbol.type
    if one.symbol == other.symbol or one.symbol.name != other.symbol.name or not _is_made(other):
        return False
    return not isinstance(a, FunctionType) or not isinstance(b, FunctionType) or a.parameters == b.parameters
