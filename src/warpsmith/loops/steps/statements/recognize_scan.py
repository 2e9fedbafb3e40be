"""Recognition of a scan: see RecognizeScan.

    t = s + a[i];            s = s + a[i];
    b[i] = t;          →     b[i] = s;
    s = t;

Invariant: from where the temporary gets its value to where the running value gets the temporary's, nothing reads or
writes the running value; so it may get its new value at once, and be read in the temporary's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.running import running_value
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, peel, rebuild, statements_of, walk, written_symbols

__all__ = ["RecognizeScan"]


class RecognizeScan(Struct, frozen=True):
    """Claim that a loop computes running values, and write its update plainly.

    Legal where the loop carries nothing but one associative update, every iteration makes it, and what it combines does
    not depend on the running value (Blelloch: Prefix Sums and Their Applications, 1990). A loop that is written plainly
    stays as it is; the claim is checked all the same.

    Step: loop=f/i

    Before:
        double f(int n, const double *restrict a, double *restrict b)
        {
            double s = 0.0;
            for (int i = 0; i < n; i++) {
                double t = s + a[i];
                b[i] = t;
                s = t;
            }
            return s;
        }

    After:
        double f(int n, const double *restrict a, double *restrict b)
        {
            double s = 0.0;
            for (int i = 0; i < n; i++) {
                s = s + a[i];
                b[i] = s;
            }
            return s;
        }
    """

    name: ClassVar[str] = "recognize-scan"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Prove that the loop, written plainly, is a scan."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        detour = _detour(loop)
        known = facts.loop(loop)
        if detour is not None and known.category != "scan":
            live = facts.liveness(place.function).after[loop]
            if detour.temporary in live or not _is_own(detour.temporary) or not _is_own(detour.running):
                text = f"{detour.temporary.name} or {detour.running.name} may be read where the text does not tell"
                return Unknown((Reason("STP002", text, loop.header),))
            new = self.apply(program)
            known = facts.after(new).loop(LoopContext.of(new, self.loop).loop)
        return _verdict(known, facts.summaries)

    def apply(self, program: Program) -> Program:
        """Return the program with the running value updated before it is used."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        detour = _detour(loop)
        if detour is None:
            return program
        body = replace(detour.block, statements=tuple(_straight(detour)))
        return with_run(program, place.function, (loop,), (replace(loop, body=body),))


def _verdict(known: LoopFacts, summaries: Summaries) -> Verdict:
    loop = known.loop
    if known.category != "scan" or not isinstance(loop, For):
        why = known.reasons[0].text if known.reasons else f"it is {known.category}"
        return Unknown((Reason("STP002", f"the loop is not a scan: {why}", loop.header),))
    latest = frozenset(one.variable for one in known.reductions if one.op == "latest")
    for reduction in known.reductions:
        found = running_value(loop, reduction, summaries, latest)
        if isinstance(found, Reason):
            return Unknown((Reason("STP002", found.text, found.span),))
    return Proved()


def _is_own(symbol: Symbol) -> bool:
    return symbol.storage in ("local", "parameter")


class _Detour(Struct, frozen=True):
    """`temporary` gets the new value in statement `first` of the body, `running` gets it in statement `last`."""

    block: Block
    first: int
    last: int
    temporary: Symbol
    running: Symbol
    target: Expr
    value: Expr


def _detour(loop: For) -> _Detour | None:
    """Return the way that a running value takes through a temporary, if nothing else touches either of them."""
    block = loop.body
    if not isinstance(block, Block) or any(isinstance(n, Continue | Break | Return | Verbatim) for n in walk(block)):
        return None
    for last, stmt in enumerate(block.statements):
        target, value = _assignment(stmt)
        source = peel(value) if value is not None else None
        if not isinstance(target, Name) or not isinstance(source, Name) or source.type != target.type:
            continue
        made = [k for k, s in enumerate(block.statements[:last]) if _split_assignment(s)[0] == source.symbol]
        value = _split_assignment(block.statements[made[0]])[1] if len(made) == 1 else None
        if value is None or value.type != target.type:
            continue
        found = _Detour(block, made[0], last, source.symbol, target.symbol, target, value)
        if _is_clean(loop, found):
            return found
    return None


def _is_clean(loop: For, found: _Detour) -> bool:
    statements = found.block.statements
    inside = [n.symbol for s in statements[found.first : found.last + 1] for n in names(s)]
    between = [n.symbol for s in statements[found.first + 1 : found.last] for n in names(s)]
    everywhere = [n.symbol for n in names(loop)]
    reads = [n.symbol for n in names(found.value)]
    if found.temporary in reads or found.running not in reads or found.running in between:
        return False
    if any(isinstance(n, VerbatimExpr) or (isinstance(n, Unary) and n.op == "&") for n in walk(loop)):
        return False
    written = [s for s in statements if found.running in written_symbols(s)]
    changed = {s for k, stmt in enumerate(statements) if k != found.first for s in written_symbols(stmt)}
    alone = everywhere.count(found.temporary) == inside.count(found.temporary) and found.temporary not in changed
    return alone and len(written) == 1 and loop.variable not in (found.temporary, found.running)


def _assignment(stmt: Stmt) -> tuple[Expr | None, Expr | None]:
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return (peel(inner.target), inner.value) if isinstance(inner, Assign) and inner.op == "=" else (None, None)


def _split_assignment(stmt: Stmt) -> tuple[Symbol | None, Expr | None]:
    """Return the variable that a statement sets and its value."""
    if isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1:
        return stmt.declarations[0].symbol, stmt.declarations[0].init
    target, value = _assignment(stmt)
    return (target.symbol, value) if isinstance(target, Name) else (None, None)


def _straight(found: _Detour) -> Iterator[Stmt]:
    """Yield the body's statements without the detour."""

    def change(node: Node) -> Node:
        own = isinstance(node, Name) and node.symbol == found.temporary
        return replace(found.target) if own else node

    for place, stmt in enumerate(statements_of(found.block)):
        if place == found.first:
            target, span = found.target, stmt.span
            assigned = Assign(span=span, type=target.type, op="=", target=replace(target), value=found.value)
            yield ExprStmt(span=span, expr=assigned)
        elif place != found.last:
            yield rebuild(stmt, change)
