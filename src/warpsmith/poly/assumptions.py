"""Checks that each user assertion is of a known form and about names that exist: else nobody would ever heed it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.poly.granted import names_in
from warpsmith.tree.nodes import Name
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loop_names, walk

__all__ = ["check_forms", "check_names", "check_sizes", "find_heeded"]

_FORMS = (
    "conditions: 'n >= 1', 'n % 32 == 0 && n < 2*m'",
    "facts: full_teams(f), injective(idx), noalias(a, b), parallel(f/i), reachable(a), same_value(a)",
)


def check_forms(texts: Iterable[str]) -> None:
    """Raise UsageError for an assumption that cannot be read."""
    for text in texts:
        if names_in(text) is None:
            message = f"--assume: {text!r} is not of a form that is known"
            raise UsageError(Finding("INP000", "error", message, help=_FORMS))


def check_names(program: Program, assumptions: Sequence[Assumption]) -> None:
    """Raise UsageError for an assumption about a variable, an array, a loop or a function that there is not."""
    wanted = [(one.text, name) for one in assumptions for name in names_in(one.text) or ()]
    if not wanted:
        return
    known = _names(program)
    for text, name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            helps = (f"did you mean '{near[0]}'?",) if near else ("name a variable, an array, or a loop: f/i/j",)
            raise UsageError(Finding("INP000", "error", f"--assume {text!r}: no function has '{name}'", help=helps))


def find_heeded(program: Program, texts: Iterable[str]) -> tuple[Assumption, ...]:
    """Return what of a project's assumptions speaks of this program: those of which it has every name."""
    known = _names(program)
    return tuple(
        Assumption(text, "granted")
        for text in texts
        if (names := names_in(text)) is not None and all(name in known for name in names)
    )


def check_sizes(program: Program, sizes: Iterable[str]) -> None:
    """Raise UsageError for a size of --arg that no function has."""
    wanted = [*sizes]
    known = _names(program) if wanted else set[str]()
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            helps = (f"did you mean '{near[0]}'?",) if near else ("name a variable of the program",)
            raise UsageError(Finding("INP000", "error", f"--arg {name}: no function has '{name}'", help=helps))


def _names(program: Program) -> set[str]:
    known: set[str] = set()
    for _, function in program.functions():
        known |= {function.symbol.name, *(parameter.name for parameter in function.parameters)}
        known |= {node.symbol.name for node in walk(function) if isinstance(node, Name)}
        known |= set(loop_names(function).values())
    return known
