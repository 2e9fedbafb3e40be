"""Header removal: see RemoveHeader."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, jump, range_of, statements, trip_count
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Assign, Block, DeclStmt, ExprStmt, For, Stmt, VarDecl
from warpsmith.tree.program import Program

__all__ = ["RemoveHeader"]


class RemoveHeader(Struct, frozen=True):
    """Replace a loop that runs exactly once by its body.

    Legal where the bounds show that the body runs once. The counter becomes a variable of the body; one that is
    declared outside the loop gets the value that it has after the loop.

    Step: loop=f/j/i

    Before:
        void f(int n, double a[n])
        {
            for (int j = 0; j < n; j++)
                for (int i = j; i < j + 1; i++)
                    a[i] = 2.0 * a[i];
        }

    After:
        void f(int n, double a[n])
        {
            for (int j = 0; j < n; j++) {
                int i = j;
                a[i] = 2.0 * a[i];
            }
        }
    """

    name: ClassVar[str] = "remove-header"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop runs exactly once."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        if not _runs_once(loop):
            text = f"that the {loop.variable.name} loop runs exactly once does not follow from its bounds"
            return does_not_fit(text, loop, "its bounds differ by one step")
        left = jump(loop.body)
        if left is not None:
            return does_not_fit("the iteration may be left early", left)
        if find_marked(place.function, loop) is not None:
            return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
        stop = _volatile(loop)
        return stop if stop is not None else Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the body in the loop's place."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        span, counter = before(loop.span), loop.variable
        first: Stmt
        last: tuple[Stmt, ...] = ()
        if loop.declares:
            first = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=counter, init=loop.lower),))
        else:
            first = _assignment(loop, "=")
            last = (_assignment(loop, "+=" if loop.step > 0 else "-="),)
        body = statements(loop.body)
        if any(d.symbol.name == counter.name for s in body if isinstance(s, DeclStmt) for d in s.declarations):
            body = (loop.body,)
        block = Block(span=loop.span, statements=(first, *body, *last))
        return with_run(program, place.function, (loop,), (block,))


def _assignment(loop: For, op: str) -> Stmt:
    span = before(loop.span) if op == "=" else after(loop.span)
    value = loop.lower if op == "=" else number(abs(loop.step), span)
    target = use(loop.variable, span)
    return ExprStmt(span=span, expr=Assign(span=span, type=target.type, op=op, target=target, value=value))


def _runs_once(loop: For) -> bool:
    if trip_count(loop) == 1:
        return True
    found = range_of(loop)
    return found is not None and found.past.minus(found.low).number == 1


def _volatile(loop: For) -> Unknown | None:
    if getattr(loop.variable.type, "volatile", False):
        return does_not_fit(f"{loop.variable.name} is volatile", loop)
    return None
