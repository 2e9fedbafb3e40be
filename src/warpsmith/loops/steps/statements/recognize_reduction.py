"""Recognition of a reduction: see RecognizeReduction.

    t = s;  t = t + a[i];  s = t;   →   s = s + a[i];

Invariant: the temporaries carry the accumulator's value from one statement to the next one and are used for nothing
else, so that the last statement may compute the same expression at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.reductions import scalar_reductions
from warpsmith.poly.dependences.updates import AssociativeUpdate, chained_updates
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Assign, Block, DeclStmt, ExprStmt, Loop, Name, Node, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = ["RecognizeReduction"]


class RecognizeReduction(Struct, frozen=True):
    """Claim that a loop is a reduction, and write its updates plainly.

    Legal where the loop carries nothing but associative updates: + * & | ^ && || min max, through temporaries, under
    conditions that do not read the accumulator, an extreme with its location. A loop that is written plainly stays as
    it is; the claim is checked all the same (Allen, Kennedy: Optimizing Compilers, 5.6).

    Step: loop=f/i

    Before:
        double f(int n, const double *a)
        {
            double s = 0.0, t;
            for (int i = 0; i < n; i++) {
                t = s;
                t = t + a[i];
                s = t;
            }
            return s;
        }

    After:
        double f(int n, const double *a)
        {
            double s = 0.0, t;
            for (int i = 0; i < n; i++) {
                s = s + a[i];
            }
            return s;
        }
    """

    name: ClassVar[str] = "recognize-reduction"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Prove that the loop is a reduction, and that its updates can be written plainly."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        known = facts.loop(loop)
        if known.category != "reduction":
            return Unknown((Reason("STP002", f"the loop is not a reduction: {_why(known)}", loop.header),))
        accumulators = {r.variable for r in known.reductions}
        for run, update in _chains(loop):
            if update.symbol not in accumulators:
                text = f"a temporary that carries {update.symbol.name} is used elsewhere"
                return Unknown((Reason("STP002", text, run[0].span),))
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with updates through temporaries written as one statement."""
        place = LoopContext.of(program, self.loop)
        runs = {id(run[0]): (run, update) for run, update in _chains(place.loop)}
        new = rebuild(place.loop, lambda node: _plain(node, runs))
        return program if new is place.loop else with_run(program, place.function, (place.loop,), (new,))


Run = tuple[Stmt, ...]


def _why(known: LoopFacts) -> str:
    return known.reasons[0].text if known.reasons else f"it is {known.category}"


def _chains(loop: Loop) -> Iterator[tuple[Run, AssociativeUpdate]]:
    """Yield the updates of reductions that go through temporaries, each with the consecutive statements that it is."""
    reduced = {r.variable for r in scalar_reductions(loop)}
    for block in (node for node in walk(loop.body) if isinstance(node, Block)):
        for update in chained_updates(block):
            run = _run(block, update)
            if update.symbol in reduced and run:
                yield run, update


def _run(block: Block, update: AssociativeUpdate) -> Run:
    """Return the statements of the update; () where others stand between them, which might change what it reads."""
    carriers = {n.symbol for n in update.passed} | {update.symbol}
    mine = {id(n) for n in (*update.passed, *update.nodes)}
    places = [k for k, stmt in enumerate(block.statements) if any(id(n) in mine for n in walk(stmt))]
    run = block.statements[places[0] : places[-1] + 1]
    return run if all(_target(stmt) in carriers for stmt in run) else ()


def _target(stmt: Stmt) -> Symbol | None:
    if isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1:
        return stmt.declarations[0].symbol
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(inner.target) if isinstance(inner, Assign) else None
    return target.symbol if isinstance(target, Name) else None


def _plain(node: Node, runs: dict[int, tuple[Run, AssociativeUpdate]]) -> Node:
    if not isinstance(node, Block):
        return node
    statements: list[Stmt] = []
    left = 0
    for stmt in node.statements:
        if left == 0 and id(stmt) in runs:
            run, update = runs[id(stmt)]
            left = len(run)
            statements.append(_statement(run[-1], update))
        if left > 0:
            left -= 1
        else:
            statements.append(stmt)
    return node if len(statements) == len(node.statements) else replace(node, statements=tuple(statements))


def _statement(last: Stmt, update: AssociativeUpdate) -> Stmt:
    assert isinstance(last, ExprStmt) and update.value is not None, "a chain ends in an assignment"
    span = last.span
    assigned = Assign(span=span, type=update.target.type, op="=", target=update.target, value=update.value)
    return ExprStmt(span=span, expr=assigned)
