"""Functions whose text is not theirs alone: those in headers, and what templates make of one text for several types.

    image.hpp   template <typename T> void invert(Image<T> &) { for … }     one text: invert<float>, invert<int>
    filter.cpp, main.cpp  include it                                        each has functions of that text

In a project, text is added to the file itself; each instance has a branch of its own there, behind a condition that
holds in it alone (`if constexpr`, C++17), and an instance without one runs the user's loop. By the rule of one
definition a function with external linkage is the same in every file, so that the first file's facts hold for all.
Apart from a project, instances of a function template have specializations (tree/specializations.py).

Invariant: a function with internal linkage is never shared in this sense: another file may mean another one by it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpsmith.tree.expressions import TemplateArgument
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.specializations import can_specialize

__all__ = ["conditions", "is_own", "is_shared", "restore_shared", "shared_functions"]

_STANDARD = re.compile(r"-?-std=(?:c|gnu)\+\+(\w+)")
_NEWEST = ("17", "1z", "20", "2a", "23", "2b", "26", "2c")


def is_own(unit: Unit, function: Function) -> bool:
    """Whether the function alone has its text, in a file of the program."""
    return any(item is function for item in unit.items)


def is_shared(unit: Unit, function: Function) -> bool:
    """Whether text can be added to a function that others share."""
    if function.static or function.instance is None or unit.language == "c" or is_own(unit, function):
        return False
    return not function.instance or _has_constexpr(unit.arguments)


def _has_constexpr(arguments: Sequence[str]) -> bool:
    """Whether a file is compiled as C++17 or newer, which compilers do by default."""
    said = [found[1] for found in map(_STANDARD.fullmatch, arguments) if found is not None]
    return not said or said[-1] in _NEWEST


def shared_functions(program: Program, root: str) -> Iterator[tuple[Unit, Function]]:
    """Yield the functions below the folder `root` to whose shared text can be added, each once, with its first unit."""
    seen: set[tuple[object, int, int, tuple[TemplateArgument, ...] | None]] = set()
    for unit, function in program.functions():
        span = function.span
        key = (span.file, span.start, span.end, function.instance)
        inside = Path(root) in Path(os.path.abspath(span.file.path)).parents  # noqa: PTH100
        if key not in seen and is_shared(unit, function) and inside:
            seen.add(key)
            yield unit, function


def conditions(function: Function) -> tuple[str, ...]:
    """Return what holds in a template's text for this instance alone."""
    return tuple(argument.condition for argument in function.instance or ())


def restore_shared(original: Program, changed: Program) -> Program:
    """Return a changed program with every function as it was that cannot have a text of its own."""
    for old_unit, new_unit in zip(original.units, changed.units, strict=True):
        new = [f for f in new_unit.functions if f.span.start != f.span.end]
        for before, after in zip(old_unit.functions, new, strict=True):
            own = is_own(old_unit, before) or can_specialize(old_unit, before)
            if before is not after and not own:
                changed = changed.with_function(after, before)
    return changed
