"""Array sections in reduction lists: are all elements that the loop touches among those that it reduces?

    reduction(+: h[:4])         each thread has its own h[0] to h[3]; an update of h[7] is one of shared memory, unless
                                the loop certainly stays inside

OpenMP 5.2, 5.5.8: what a loop does with elements outside of a section that it reduces is unspecified.
"""

from __future__ import annotations

from warpsmith.base.verdict import Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.mapped.accessed import touched_by
from warpsmith.poly.mapped.extents import Extent, named_extent
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names

__all__ = ["find_unreduced"]


def find_unreduced(facts: Facts, function: Function, claim: Claim, symbol: Symbol) -> Reason | None:
    """Return the doubt whether a loop leaves the section of `symbol` that its reduction names, None where it does not.

    Raises OutOfBudgetError.
    """
    section = _section_of(claim, symbol.name)
    if not section:
        return None
    used = {n.symbol.name: n.symbol for n in names(function.body)} | {p.name: p for p in function.parameters}
    named = named_extent(section, symbol.type, {}, used.get)
    text = f"whether the loop stays inside {symbol.name}{section}, which is all that it reduces, is not known"
    doubt = Reason("CLM002", text, claim.span, legal_if=(f"reduce all of {symbol.name}",))
    if named is None:
        return doubt
    whole = named_extent("", symbol.type, {}, used.get)
    if whole is not None and _holds(named, whole):
        return None
    found = touched_by(facts, function, claim.loops[0], {}, lambda one: one == symbol)
    extents = [one.extent for one in found]
    return None if all(one is not None and _holds(named, one) for one in extents) and extents else doubt


def _section_of(claim: Claim, name: str) -> str:
    """Return the section that a reduction clause of the loop's pragma names of a variable, or nothing."""
    clauses = [c for c in claim.directive.clauses if c.name == "reduction"]
    region = claim.region.directive if claim.region is not None else None
    clauses += [c for c in region.clauses if c.name == "reduction"] if region is not None else []
    return next((v.section for c in clauses for v in c.variables if v.name == name), "")


def _holds(outer: Extent, inner: Extent) -> bool:
    """Whether the elements of `inner` are among those of `outer` whatever the sizes are: also where these are 0."""
    before, behind = (inner.lower - outer.lower).number, (outer.upper - inner.upper).number
    return before is not None and behind is not None and before >= 0 and behind >= 0
