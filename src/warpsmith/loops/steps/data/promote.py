"""Scalar promotion: see Promote.

    *count = 0;                                    int count_value = *count;
    for (i …)                                      for (i …)
        if (x[i] > 0)                        →         if (x[i] > 0)
            out[(*count)++] = x[i];                        out[count_value++] = x[i];
                                                   *count = count_value;

Invariant: in every iteration the variable has what the place has in the user's loop; behind the loop so has the place
(loops/promotable.py).
"""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.invariant_guards import all_of, invariant_guards
from warpsmith.loops.analysis.invariants import Invariant, root_of
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.promotable import Promotion, judge_place, promotable_places
from warpsmith.loops.versions import can_version
from warpsmith.loops.writing.pragma_lines import pragma_in_the_way
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import own_writes
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.allocations import allocation_bytes
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Member,
    Node,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.printing.printer import print_type, show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, SIZE_T, Pointer, Scalar, Symbol, byte_size
from warpsmith.tree.walk import names, peel, rebuild, statements_of, walk

__all__ = ["Promote"]


class Promote(Struct, frozen=True):
    """Keep a number that a loop reads and writes in memory in a variable while the loop runs, and store it behind.

    Legal where its address does not change, and nothing else in the loop is there; where that is not known, a test
    before the loop chooses between the loop with the variable and the user's. The place is read before the loop only
    where the loop reads it anyway, or its block of memory is known; it is stored to behind the loop only where the loop
    stores to it too (S. Carr, K. Kennedy: Scalar replacement in the presence of conditional control flow, 1994).

    Step: loop=f/i place=*sum

    Before:
        void f(int n, const double *restrict x, double *restrict sum)
        {
            *sum = 0;
            for (int i = 0; i < n; i++)
                *sum += x[i];
        }

    After:
        void f(int n, const double *restrict x, double *restrict sum)
        {
            *sum = 0;
            double sum_value = *sum;
            for (int i = 0; i < n; i++)
                sum_value += x[i];
            *sum = sum_value;
        }
    """

    name: ClassVar[str] = "promote"

    loop: str
    place: str
    guards: bool = True

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the place can be a variable while the loop runs, and be stored behind it."""
        place = LoopContext.of(program, self.loop)
        found = self._promoted(program, facts)
        if isinstance(found, Reason):
            return Unknown((found,))
        if found.tests and not (self.guards and facts.options.guards):
            return does_not_fit("a test before the loop is not allowed", place.loop)
        if found.tests and not can_version((place.loop,)):
            return does_not_fit("the loop cannot stand twice, with a test before it", place.loop)
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the variable."""
        place = LoopContext.of(program, self.loop)
        found = self._promoted(program, Facts.about(program, PolyOptions()))
        assert not isinstance(found, Reason)
        if not found.tests:
            return found.trial
        span = place.loop.span
        fast = Block(span=span, statements=found.run)
        other = Block(span=span, statements=(copy_tree(place.loop, Fresh.of(found.trial)),))
        reasons = (f"nothing else that the loop uses is {self.place}",) * len(found.tests)
        arm = _find_arm(place, found.tests)
        if arm is not None:
            # one test for all places of a loop
            joined = _join_test(arm, place.loop, (found, reasons))
            return with_run(program, place.function, (arm,), (joined,))
        chosen = If(span=span, condition=all_of(found.tests), then=fast, other=other, reasons=reasons)
        return with_run(program, place.function, (place.loop,), (chosen,))

    def _promoted(self, program: Program, facts: Facts) -> _Promoted | Reason:
        """Return what takes the loop's place, or why nothing can."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        stop = pragma_in_the_way(place)
        if stop is not None:
            return stop
        wanted = next((p for p in promotable_places(loop) if show_expression(p) == self.place), None)
        if wanted is None:
            text = f"the loop does not store to {self.place}, a number in memory, at an address that stays"
            return Reason("STP002", text, loop.header)
        promotion = judge_place(facts, place, wanted)
        if isinstance(promotion, Reason):
            return promotion
        work = _Work.of(program, promotion)
        run = work.run(loop)
        trial = with_run(program, place.function, (loop,), run)
        tests = _find_tests(facts.after(trial), place, promotion, (work, run))
        return tests if isinstance(tests, Reason) else _Promoted(run, trial, tests)


class _Promoted(Struct, frozen=True):
    """A loop with a variable and what belongs to it, the program with that, and when it may stand there."""

    run: tuple[Stmt, ...]
    trial: Program
    tests: tuple[Expr, ...]


def _find_tests(
    facts: Facts, place: LoopContext, promotion: Promotion, made: tuple[_Work, tuple[Stmt, ...]]
) -> tuple[Expr, ...] | Reason:
    """Return what is to be tested before the loop; `facts` are those of the program with the variable."""
    work, run = made
    span = before(place.loop.span)
    tests: list[Expr] = []
    if promotion.known:
        found = copy_tree(promotion.place)
        where: Expr = Unary(span=span, type=Pointer(promotion.type), op="&", operand=found)
        if isinstance(found, Unary) and found.op == "*":
            where = found.operand
        size = SizeOf(
            span=span, type=SIZE_T, text=f"sizeof({print_type(work.value.type)})", value=byte_size(promotion.type)
        )
        tests.append(Binary(span=span, type=INT, op=">=", left=allocation_bytes(where, span), right=size))
    if promotion.others:
        function = next(f for _, f in facts.program.functions() if f.symbol == place.function.symbol)
        loop = next(part for part in run if isinstance(part, For))
        about = Invariant(promotion.nodes, promotion.type, (), promotion.others)
        apart = invariant_guards(facts, function, loop, ((about, work.value),))
        own = {work.value, work.start, work.note}
        if apart is None or any(n.symbol in own for test in apart for n in names(test)):
            met, text = promotion.others[0], show_expression(promotion.place)
            return Reason("STP002", f"{show_expression(met)} may be the same memory as {text}", met.span)
        tests += apart
    return tuple(tests)


def _find_arm(place: LoopContext, tests: tuple[Expr, ...]) -> If | None:
    """Return the test that an earlier step has put before the loop, where `tests` may be made with it: between the two
    variables are declared, which `tests` do not name, and where it fails the user's loop runs."""
    for node in walk(place.function.body):
        if not isinstance(node, If) or not node.reasons or not isinstance(node.then, Block):
            continue
        run = node.then.statements
        at = next((k for k, stmt in enumerate(run) if stmt is place.loop), None)
        other = statements_of(node.other) if node.other is not None else ()
        if at is None or len(other) != 1 or other[0].span != place.loop.span:
            continue
        front = [one for stmt in run[:at] if isinstance(stmt, DeclStmt) for one in stmt.declarations]
        declared = {one.symbol for one in front}
        plain = all(isinstance(stmt, DeclStmt) for stmt in run[:at])
        return node if plain and not any(n.symbol in declared for test in tests for n in names(test)) else None
    return None


def _join_test(arm: If, loop: Stmt, made: tuple[_Promoted, tuple[str, ...]]) -> If:
    """Return the test with those of a further promotion, and what that has made of the loop behind it."""
    promoted, reasons = made
    run = tuple(t for stmt in statements_of(arm.then) for t in (promoted.run if stmt is loop else (stmt,)))
    condition = all_of((arm.condition, *promoted.tests))
    then = Block(span=arm.then.span, statements=run)
    return replace(arm, condition=condition, then=then, reasons=(*arm.reasons, *reasons))


class _Work(Struct, frozen=True):
    """The variables of a promotion: `value` is the place, `start` what it was before the loop, `note` whether the loop
    has stored to it."""

    promotion: Promotion
    value: Symbol
    start: Symbol
    note: Symbol

    @classmethod
    def of(cls, program: Program, promotion: Promotion) -> _Work:
        """Make the variables, whether they are needed or not."""
        supply, near = Fresh.of(program), root_of(promotion.place)
        assert near is not None, "a place begins with a variable"
        place = promotion.place
        while isinstance(place, Index):
            place = peel(place.base)
        word = place.field if isinstance(place, Member) else near.name
        type = msgspec.structs.replace(promotion.type, const=False)
        types: tuple[tuple[str, Scalar], ...] = (("value", type), ("start", type), ("stored", INT))
        return cls(promotion, *(supply.variable(f"{word}_{ending}", type, near) for ending, type in types))

    def run(self, loop: For) -> tuple[Stmt, ...]:
        """Return the loop with the variable, what sets it in front and the store behind."""
        span = before(loop.span)
        front = [_declare(self.value, self.first(loop))]
        if self.promotion.stored == "changed":
            front.append(_declare(self.start, use(self.value, span)))
        elif self.promotion.stored == "noted":
            front.append(_declare(self.note, number(0, span)))
        return (*front, self.rewrite(loop), self.store(loop))

    def first(self, loop: For) -> Expr:
        """Return the variable's first value: what is in memory, where it may be read and is needed."""
        span = before(loop.span)
        load, zero = copy_tree(self.promotion.place), number(0, span)
        if not self.promotion.loaded:
            return zero
        test = self.test()
        if test is None:
            return load
        return Conditional(span=span, type=self.value.type, condition=test, then=load, other=zero)

    def test(self) -> Expr | None:
        """Return the condition under which the place is touched at all; None where it certainly is."""
        tests = [copy_tree(c) for c in self.promotion.conditions]
        return reduce(lambda a, b: Binary(span=b.span, type=INT, op="&&", left=a, right=b), tests) if tests else None

    def store(self, loop: For) -> Stmt:
        """Return the store behind the loop."""
        span = after(loop.span)
        target = copy_tree(self.promotion.place)
        assigned = Assign(span=span, type=self.value.type, op="=", target=target, value=use(self.value, span))
        stored: Stmt = ExprStmt(span=span, expr=assigned)
        match self.promotion.stored:
            case "always":
                test = self.test()
            case "changed":
                test = Binary(span=span, type=INT, op="!=", left=use(self.value, span), right=use(self.start, span))
            case "noted":
                test = use(self.note, span)
        return stored if test is None else If(span=span, condition=test, then=stored, other=None)

    def rewrite(self, loop: For) -> For:
        """Return the loop with the variable in place of the nodes, and with notes of stores where they are needed."""
        places = {id(node) for node in self.promotion.nodes}
        blocks: set[int] = set()
        noted = self.promotion.stored == "noted"

        def change(part: Node) -> Node:
            if id(part) in places:
                return use(self.value, part.span)
            if noted and isinstance(part, ExprStmt) and self.value in own_writes(peel(part.expr)):
                span = after(part.span)
                one = Assign(span=span, type=INT, op="=", target=use(self.note, span), value=number(1, span))
                made = Block(span=part.span, statements=(part, ExprStmt(span=span, expr=one)))
                blocks.add(id(made))
                kept.append(made)
                return made
            if isinstance(part, Block) and any(id(s) in blocks for s in part.statements):
                inner = tuple(t for s in part.statements for t in (_inside(s) if id(s) in blocks else (s,)))
                return replace(part, statements=inner)
            return part

        # what is told by its identity must live
        kept: list[Block] = []
        return rebuild(loop, change)


def _inside(stmt: Stmt) -> tuple[Stmt, ...]:
    return stmt.statements if isinstance(stmt, Block) else (stmt,)


def _declare(symbol: Symbol, value: Expr) -> Stmt:
    return DeclStmt(span=value.span, declarations=(VarDecl(span=value.span, symbol=symbol, init=value),))
