"""Variables of other functions whose elements a part of a function touches by calling a lambda that has captured them.

template <typename F> void run(int n, F f) { for (i …) f(i); }       b: named in no part of run
auto f = [=](int i) { double *q = b + i; *q = 0; };
"""

from __future__ import annotations

from warpsmith.poly.effects.effects import effects
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import Function, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["find_captured"]

_LASTING = ("global", "static", "static local")


def find_captured(program: Program, function: Function, part: Stmt, summaries: Summaries | None) -> list[Symbol]:
    """Return them for a statement of a function."""
    done = effects(program, part, function, summaries)
    named = {symbol for node in walk(function.body) for symbol in find_named(node)}.union(function.parameters)
    touched = done.element_reads | done.element_writes
    return sorted((s for s in touched - named if s.storage not in _LASTING), key=lambda symbol: symbol.key)
