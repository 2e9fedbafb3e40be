"""Whether two names of a run are one memory: what must be assumed so that they are not, and what cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.aliasing import AliasPair, alias_pairs, find_roots, may_overlap, relation
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.granted import grants
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance
from warpsmith.poly.regions.region import Region
from warpsmith.tree.memory.effective_types import apart
from warpsmith.tree.nodes import Stmt
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Array, Pointer, Symbol

__all__ = ["overlaps"]


def overlaps(
    origin: Origin,
    run: tuple[Stmt, ...],
    region: Region,
    options: PolyOptions,
    *,
    guards: bool,
    among: Callable[[Symbol, Symbol], bool] = lambda _a, _b: True,
    followed: Mapping[Symbol, Symbol] | None = None,
) -> tuple[tuple[Assumption, ...], tuple[Reason, ...]]:
    """Return what must be assumed (the region's part too) so that no two names are one memory, and what is in doubt;
    only pairs of names `among` which it matters are looked at. `followed`: pointers for which the region has what they
    were made from.

    Raises OutOfBudgetError inside a `budget`.
    """
    assumptions: list[Assumption] = list(region.assumptions)
    doubts: list[Reason] = []
    reached = {a.base for s in region.statements for a in s.accesses}
    for pair in alias_pairs(origin.program, origin.function, run, options, summaries=origin.summaries):
        if _is_renamed(pair.left, reached) or _is_renamed(pair.right, reached) or not among(pair.left, pair.right):
            continue
        if followed and _are_apart_as_followed(origin, pair, followed):
            continue
        chosen = grants(options.granted, "noalias", pair.left.name, pair.right.name) or pair.assumption
        if chosen is None or (chosen.kind == "guarded" and not guards):
            doubts.append(pair.reason)
        elif chosen not in assumptions:
            assumptions.append(chosen)
    return tuple(assumptions), (*doubts, *_indirect(origin, region, among))


def _is_renamed(symbol: Symbol, reached: set[Symbol]) -> bool:
    """Whether nothing is touched under a name: it only stands for an address that the model followed to its object, or
    is what a pointer of another name was made from."""
    return isinstance(symbol.type, Pointer | Array) and symbol not in reached


def _are_apart_as_followed(origin: Origin, pair: AliasPair, followed: Mapping[Symbol, Symbol]) -> bool:
    """Whether the region compares the elements of a pair by itself, or what they were made from is distinct."""
    left, right = (followed.get(symbol, symbol) for symbol in (pair.left, pair.right))
    if (left, right) == (pair.left, pair.right):
        return False
    return left == right or relation(origin.program, origin.function, left, right, origin.summaries) == "distinct"


def _indirect(origin: Origin, region: Region, among: Callable[[Symbol, Symbol], bool]) -> list[Reason]:
    """Pointers that are read from memory may point to anything of their type that is written, and whose address may be
    there: not to a local array that the function only subscripts."""
    where = origin.summaries.provenance(origin.function)
    touched = [a for s in region.statements for a in s.accesses if a.path or a.place or not a.known]
    found: dict[str, Reason] = {}
    for one in touched:
        for other in touched if one.place else ():
            same = (one.base, one.place) == (other.base, other.place)
            if same or not (one.write or other.write) or (other.known and apart(one.element, other.element)):
                continue
            if not among(one.base, other.base):
                continue
            # "?" is whatever pointer: it may be one of the function's own (`n > 2 ? p : q`)
            if "?" not in one.place and not other.place and _is_apart(origin, where, other.base):
                continue
            name = one.base.name if one.place == "?" else one.place
            text = f"{name} is a pointer read from memory: what it points to may overlap with {other.base.name}"
            help_text = ("copy the pointer to a local restrict pointer before the loop",)
            found.setdefault(name, Reason("POR004", text, one.expr.span, legal_if=help_text))
    return list(found.values())


def _is_apart(origin: Origin, where: Provenance, symbol: Symbol) -> bool:
    """Whether no pointer in memory leads to what an array or a pointer names."""
    return not may_overlap(origin.summaries, where, frozenset({UNKNOWN}), find_roots(where, symbol))
