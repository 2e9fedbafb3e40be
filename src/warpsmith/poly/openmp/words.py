"""Explanations of wrong claims in the user's words: the missing clause, and the two iterations that show it.

t needs private: iteration i = 0 writes t, iteration i = 1 writes it too (n = 2)
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.reductions import array_reductions
from warpsmith.poly.dependences.scalars import ScalarRoles
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.poly.regions.region import Region
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.types import Array, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["ClaimContext", "missing_clause", "word_witness"]

_WITNESS: Final = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\((?P<one>[^)]*)\) (?P<first>writes|reads) (?P<element>.+), "
    r"\w+\((?P<two>[^)]*)\) (?P<second>writes|reads) it"
)


def word_witness(witness: str, region: Region) -> str:
    """Return the witness of a dependence as a sentence about two iterations of the region's outermost loop."""
    found = _WITNESS.fullmatch(witness)
    loop = region.scope[0]
    if found is None or not isinstance(loop, For):
        return witness
    counters = [outer.variable.name for outer, _ in region.outer] + [loop.variable.name]
    one, two = (_iteration(counters, found[group]) for group in ("one", "two"))
    again = " too" if found["first"] == found["second"] else ""
    tail = f" ({found['head']})" if found["head"] else ""
    return f"iteration {one} {found['first']} {found['element']}, iteration {two} {found['second']} it{again}{tail}"


def _iteration(counters: list[str], values: str) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(counters, values.split(","), strict=False))


class ClaimContext(Struct, frozen=True):
    """What a claim is explained from."""

    facts: Facts
    function: Function
    claim: Claim
    roles: ScalarRoles


def missing_clause(context: ClaimContext, symbol: Symbol, level: int) -> str:
    """Return what the conflict of two iterations on `symbol` says about the claim."""
    facts, function, claim = context.facts, context.function, context.claim
    loop = claim.loops[0]
    name = symbol.name
    if isinstance(symbol.type, Scalar):
        role = _scalar(context, loop, symbol)
        if role:
            return f"{name} needs {role}"
    updated = next((r for r in array_reductions(loop) if r.variable == symbol), None)
    if updated is not None:
        return f"{name} needs reduction({updated.op}: {name}[…]) or atomic"
    private = isinstance(symbol.type, Array) and symbol.storage == "local"
    if private and isinstance(private_in(facts, function, loop, symbol), Proved):
        return f"{name} needs {'lastprivate' if read_after(facts, function, loop, symbol) else 'private'}"
    if level:
        inner = claim.loops[level].variable.name
        return f"collapse({len(claim.loops)}) covers the {inner} loop, which carries a dependence on {name}"
    return f"the iterations are not independent: the loop carries a dependence on {name}"


def _scalar(context: ClaimContext, loop: For, symbol: Symbol) -> str:
    """Return the clause that a scalar needs, or nothing where none would do."""
    roles = context.roles
    found = next((r for r in roles.reductions if r.variable == symbol), None)
    if found is not None:
        return f"reduction({found.op}: {symbol.name})"
    counts = any(isinstance(n, For) and n.variable == symbol for n in walk(loop.body))
    carried = any(c.symbol == symbol for c in roles.carried) or any(r.variable == symbol for r in roles.scans)
    if symbol not in roles.private and (carried or not counts):
        return ""
    live = symbol in context.facts.liveness(context.function).after[loop]
    return "lastprivate" if live else "private"
