"""Which of its buffers a kernel changes: a store through one name changes that name's device copy, and no other's.

    double *u = g->u;  for (i …) out[i] = u[i];      host memory: u may be out, for all that the pointers tell
                                                     device: out's copy is written, u's is only read

    for (l …) { p = &out[at[l]]; p[0] = 1; }         a pointer that each iteration sets: out's copy is written

Whether two names may share memory at all is asked elsewhere, of every pair of which one is written: they have a guard,
one buffer, or no kernel. Invariant: what is left out here is the base of no store of the fragment, nor of its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpsmith.offload.fragments import OffloadRequest
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import node_accesses
from warpsmith.poly.pointers.derived import sources
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root
from warpsmith.tree.nodes import Stmt
from warpsmith.tree.types import Pointer, Symbol

__all__ = ["find_stored_through"]


def find_stored_through(
    request: OffloadRequest, statements: Sequence[Stmt], inside: Iterable[Symbol], candidates: frozenset[Symbol]
) -> frozenset[Symbol]:
    """Return those of `candidates` through which `statements`, which declare or assign `inside`, may store."""
    known = request.summaries if request.summaries is not None else Summaries.of(request.program)
    where = known.provenance(request.facts.function)
    named: set[Symbol] = set()
    for access in (t for s in statements for t in node_accesses(s)):
        if access.kind in ("call", "opaque") and known.effects_of((access,), where).stores:
            return candidates
        if access.kind != "store":
            continue
        if access.base is None or access.base.symbol is None or access.base.deep or access.base.call is not None:
            return candidates
        named.add(access.base.symbol)
    unknown: set[Symbol] = set()
    for symbol in named.intersection(inside):
        made_from = sources(tuple(statements), symbol)
        if made_from is None:
            unknown.add(symbol)
        else:
            named |= made_from
    made = frozenset(root for symbol in unknown for root in _roots(where, symbol))
    return frozenset(s for s in candidates if s in named or where.meet(_roots(where, s), made))


def _roots(where: Provenance, symbol: Symbol) -> frozenset[Root]:
    if not isinstance(symbol.type, Pointer):
        return frozenset({Root("object", symbol)})
    return where.roots.get(symbol, frozenset({UNKNOWN}))
