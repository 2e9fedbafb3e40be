"""Variables of `linear(j: 2)`: iteration t starts with what j held before the loop, moved t times by the step.

    #pragma omp simd linear(j: 2)
    for (i …) { a[j] = b[i]; a[j + 1] = c[i]; j += 2; }       iteration 3 has a[6] and a[7]

The clause is right where each iteration moves j by exactly the step: then the start of iteration t is what the
iterations before it leave, and the last value is the loop's. Elements that are named by j alone are then apart, as
those of a packed array are (dependences/packed.py).

Invariant: wrong is said only of a variable that the iterations move by another number, or not at all, and read.
Limits: the step is a number; one update stands in the body under no condition (sites.py); `collapse` is not judged.
"""

from __future__ import annotations

from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.packed import find_packed
from warpsmith.poly.dependences.sites import UpdateSite, find_sites
from warpsmith.poly.regions.region import Region
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Binary, Conditional, DeclStmt, ExprStmt, Stmt
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import names, statements_of, walk, written_symbols

__all__ = ["find_apart_by_linear", "judge_linear"]


def judge_linear(claim: Claim, symbol: Symbol) -> tuple[bool, Reason] | None:
    """Return what is wrong with a linear variable (True: certainly), None where it is right."""
    name, step = symbol.name, _step(claim, symbol)
    if step is None or len(claim.loops) > 1 or not isinstance(symbol.type, Scalar) or not is_integer(symbol.type):
        return False, Reason("CLM003", f"linear({name}) is not judged", claim.span)
    loop = claim.loops[0]
    site, moved = _only_site(claim, symbol), 0
    if site is not None:
        if site.moved is None:
            return False, _doubt(claim, symbol, step)
        moved = site.moved
    elif symbol in written_symbols(loop.body):
        return False, _doubt(claim, symbol, step)
    if moved == step:
        return None
    read = any(_certainly_reads(stmt, symbol) for stmt in statements_of(loop.body))
    how = f"each iteration moves {name} by {moved}" if moved else f"no iteration moves {name}"
    text = f"linear({name}) is wrong: {how}, and the next one is given a {name} that is moved by {step}"
    helps = (f"linear({name}: {moved})",) if moved else (f"share it, or firstprivate ({name})",)
    return read, Reason("CLM001", text, claim.span, legal_if=helps)


def find_apart_by_linear(claim: Claim, region: Region) -> frozenset[Symbol]:
    """Return the arrays of which two iterations of the claimed loop touch no common element, since all their subscripts
    are a linear variable's that is right."""
    right = [s for s in sorted(claim.linear, key=lambda s: s.key) if judge_linear(claim, s) is None]
    return find_packed(claim.loops[0], right, region, alike=True) if right else frozenset()


def _certainly_reads(stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a statement that every iteration runs uses the variable, and does not move it."""
    if not isinstance(stmt, ExprStmt | DeclStmt) or symbol in written_symbols(stmt):
        return False
    chosen = any(isinstance(n, Conditional) or (isinstance(n, Binary) and n.op in ("&&", "||")) for n in walk(stmt))
    return not chosen and any(n.symbol == symbol for n in names(stmt))


def _step(claim: Claim, symbol: Symbol) -> int | None:
    """Return the number by which the clause says that each iteration moves the variable."""
    for clause in claim.directive.clauses:
        if clause.name == "linear" and any(item.name == symbol.name for item in clause.variables):
            text = clause.argument.strip() or "1"
            return int(text) if text.removeprefix("-").isdecimal() else None
    return None


def _only_site(claim: Claim, symbol: Symbol) -> UpdateSite | None:
    """Return the one run of statements that moves the variable, in every iteration."""
    sites = find_sites(claim.loops[0], symbol)
    return sites[0] if len(sites) == 1 and not sites[0].conditions else None


def _doubt(claim: Claim, symbol: Symbol, step: int) -> Reason:
    text = f"whether every iteration moves {symbol.name} by {step}, as linear({symbol.name}) says, is not known"
    return Reason("CLM002", text, claim.span)
