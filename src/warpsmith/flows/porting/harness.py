"""The functions that the referee calls itself where the program has no `main`, with the extents of their arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.regions.sections import sections
from warpsmith.run.verification import HarnessFunction
from warpsmith.tree.nodes import Expr, Function
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol

__all__ = ["extents_of", "harness_functions"]


def harness_functions(facts: Facts, changed: Collection[Symbol]) -> tuple[HarnessFunction, ...]:
    """Return the user's functions among `changed`, with the extents of their pointers; none if there is a `main`."""
    program = facts.program
    if any(function.symbol.name == "main" for _, function in program.functions()):
        return ()
    chosen = [function for _, function in program.functions() if function.symbol in changed]
    return tuple(HarnessFunction(function, extents_of(program, function, facts.options)) for function in chosen)


def extents_of(program: Program, function: Function, options: PolyOptions) -> Mapping[Symbol, Expr]:
    """Return how many elements every array and pointer of `function` must have, as far as that can be bounded."""
    body = function.body.statements
    touched = sections(program, function, body, body, options) if body else None
    return {} if touched is None else {section.symbol: section.upper for section in touched.sections}
