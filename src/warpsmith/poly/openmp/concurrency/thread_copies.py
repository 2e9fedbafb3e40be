"""Variables of which every thread has a copy of its own for the whole program, read where one thread has set its copy.

    static double f;
    #pragma omp threadprivate(f)
    f = 3;                              the first thread's f
    #pragma omp parallel for            copyin(f) is missing: the other threads still have the first value, 0
    for (i …) b[i] = f * a[i];

OpenMP 5.2, 5.2: a copy starts as the variable is initialized; what a thread stores afterwards stays its own. Invariant:
where nothing is said, every thread that runs an iteration finds there what the first one does, or what the claim's own
lists give it.
Limits: where threads set their copies alike before the loop it is said all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.verdict import Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import threadprivate
from warpsmith.poly.effects.effects import effects, find_changed_in
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Symbol

__all__ = ["find_other_copies"]


def find_other_copies(facts: Facts, function: Function, claim: Claim) -> Iterator[Reason]:
    """Yield the variables that the loop of a claim reads, itself or in what it calls, and of which a thread may have a
    copy with another value than the first one's."""
    own = facts.summaries.remember("threadprivate", lambda: threadprivate(facts.program))
    if not own:
        return
    # copyin, and what is firstprivate or reduced, starts from the first thread's value
    given = claim.firstprivate | claim.reductions.keys()
    read = (effects(facts.program, claim.loops[0], function, facts.summaries).reads & own) - given
    for symbol in sorted(read & _find_stored(facts), key=lambda s: s.key):
        text = f"each thread has a {symbol.name} of its own, which may differ from the first one's without copyin"
        yield Reason("CLM002", text, claim.span, legal_if=(f"copyin({symbol.name})",))


def _find_stored(facts: Facts) -> frozenset[Symbol]:
    """Return what the functions of the program may change."""
    every = (find_changed_in(function, facts.summaries) for _, function in facts.program.functions())
    return facts.summaries.remember("stored in the program", lambda: frozenset[Symbol]().union(*every))
