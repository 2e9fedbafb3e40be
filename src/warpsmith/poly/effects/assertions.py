"""User assertions in an effects file, where a verdict may rest on them.

Invariant: every verdict about a loop of a function that leads to a call of a described function names that description,
whether the loop itself calls it or only code around it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.poly.effects.library import make_granted
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Call, Function
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import walk

__all__ = ["resting_on", "used_descriptions", "user_assertions"]


def user_assertions(known: Summaries, function: Function) -> tuple[Assumption, ...]:
    """Return what the user says of functions that `function`, or a function that it calls, calls."""
    if not known.program.effects.find_granted():
        return ()
    return known.remember(("user_assertions", function), lambda: tuple(dict.fromkeys(_find_known(known, function))))


def _find_known(known: Summaries, function: Function) -> Iterable[Assumption]:
    seen, pending = {function}, [function]
    while pending:
        for call in (n for n in walk(pending.pop()) if isinstance(n, Call)):
            entry, name = known.library(call), direct_call(call)
            callee = known.definitions.get(name) if name is not None else None
            if entry is not None and entry.granted:
                yield make_granted(entry)
            if callee is not None and callee not in seen:
                seen.add(callee)
                pending.append(callee)


def used_descriptions(known: Summaries) -> tuple[Assumption, ...]:
    """Return what the user says of functions that the program calls."""
    return tuple(dict.fromkeys(a for function in known.definitions.values() for a in user_assertions(known, function)))


def resting_on(verdict: Verdict, assumptions: tuple[Assumption, ...]) -> Verdict:
    """Return a verdict with the assumptions that it rests on as well."""
    match verdict:
        case Proved() | Unknown() if assumptions:
            return replace(verdict, assumptions=tuple(dict.fromkeys((*verdict.assumptions, *assumptions))))
        case _:
            return verdict
