"""The walk over a program in execution order that keeps, for every object, which copy of it is right (copies.py).

    b: stale on the host ─── for (i …) s += b[i]; ─── found: the host reads what only the device has

Each data directive does to the copies what OpenMP 5.2 (5.8) and OpenACC 3.3 (2.7) say; a construct on the device reads
and writes device copies, every other statement host copies. Calls of functions that have directives are followed.
Loops of the host are walked twice: what a second iteration meets is what a first one leaves. A loop around constructs
is taken to run at least once.

Invariant: where nothing is found, every value that is read is the one that the program without directives reads there.
"""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.mapped.accessed import READABLE
from warpsmith.poly.mapped.clauses import construct_of
from warpsmith.poly.mapped.copies import CopyPair, join_copies
from warpsmith.poly.mapped.device import DeviceSide
from warpsmith.poly.mapped.extents import polynomial
from warpsmith.poly.mapped.host import InlinedCall
from warpsmith.poly.mapped.objects import MappedObject, Objects
from warpsmith.poly.mapped.values import definitions, globals_of
from warpsmith.tree.nodes import (
    Block,
    Break,
    Call,
    Continue,
    DeclStmt,
    Expr,
    For,
    If,
    Name,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol, is_integer
from warpsmith.tree.walk import walk

__all__ = ["MappedWalk"]

_DEEPEST = 8


class MappedWalk(DeviceSide):
    """One walk: the order in which statements of the program run."""

    # --- statements

    def function(self, frame: InlinedCall) -> None:
        """MappedWalk the body of a function."""
        if frame.depth > _DEEPEST or frame.function.symbol in self.entered:
            self.words.doubt(frame.function.symbol.span, "", f"{frame.function.symbol.name} calls itself")
            return
        self.entered.append(frame.function.symbol)
        self.returned.append([])
        self.statement(frame, frame.function.body, ())
        ends = self.returned.pop()
        if frame.depth:
            self._meet_left(ends)
        self.entered.pop()

    def statement(self, frame: InlinedCall, stmt: Stmt, pragmas: tuple[Pragma, ...]) -> None:
        """MappedWalk a statement that these pragmas stand in front of."""
        if self.state is None:
            return
        mine = [(p, d) for p in pragmas if (d := p.directive) is not None and construct_of(d)]
        compute = next(((p, d) for p, d in mine if construct_of(d) == "compute"), None)
        data = next(((p, d) for p, d in mine if construct_of(d) == "data"), None)
        if data is not None:
            entered = self.enter(frame, *data)
            self.statement(frame, stmt, tuple(p for p in pragmas if p is not data[0]))
            self.exit(frame, *data, entered)
        elif compute is not None:
            self.compute(frame, *compute, stmt)
        elif isinstance(stmt, Block):
            self._block(frame, stmt.statements)
        elif not self._has_directives(stmt):
            self._plain(frame, stmt)
        else:
            self._compound(frame, stmt)

    def _block(self, frame: InlinedCall, statements: tuple[Stmt, ...]) -> None:
        hidden = dict(frame.visible)
        pragmas: tuple[Pragma, ...] = ()
        for stmt in statements:
            if isinstance(stmt, Pragma):
                if stmt.directive is not None and not stmt.left_out:
                    if construct_of(stmt.directive) in ("enter", "exit", "update", "wait"):
                        self.standalone(frame, stmt, stmt.directive)
                    else:
                        pragmas = (*pragmas, stmt)
                continue
            self.statement(frame, stmt, pragmas)
            if not (isinstance(stmt, Verbatim) and stmt.text.startswith("#")):
                pragmas = ()
        frame.visible.clear()
        frame.visible.update(hidden)

    def _compound(self, frame: InlinedCall, stmt: Stmt) -> None:
        match stmt:
            case For():
                self._loop(frame, stmt, stmt.body, (stmt.lower, stmt.bound), stmt.variable)
            case While():
                if stmt.init is not None:
                    self.statement(frame, stmt.init, ())
                self._loop(
                    frame, stmt, stmt.body, tuple(e for e in (stmt.condition, stmt.advance) if e is not None), None
                )
            case If():
                self.read_expressions(frame, stmt, (stmt.condition,))
                self._branch(frame, (stmt.then, stmt.other))
            case Switch():
                self.read_expressions(frame, stmt, (stmt.value,))
                bodies = [Block(span=case.span, statements=case.body) for case in stmt.cases if case.body]
                self._branch(frame, (*bodies, None))
            case _:
                self._calls(frame, stmt)

    def _loop(
        self, frame: InlinedCall, loop: For | While, body: Stmt, heads: tuple[Expr, ...], counter: Symbol | None
    ) -> None:
        for head in heads:
            self.read_expressions(frame, loop, (head,))
        self.left.append([])
        ends: list[dict[MappedObject, CopyPair]] = []
        for _ in range(3):
            if self.state is None:
                break
            if counter is not None:
                self.forget(counter)
                frame.visible[counter.name] = counter
            self.statement(frame, body, ())
            if isinstance(loop, While) and self.state is not None:
                self.forget_written(frame, loop, heads)
            if self.state is not None:
                ends.append(dict(self.state))
        if counter is not None:
            self.forget(counter)
        self._meet_left([*ends, *self.left.pop()])

    def _branch(self, frame: InlinedCall, ways: tuple[Stmt | None, ...]) -> None:
        before, certain = self.state, self.certain
        assert before is not None
        objects = frame.objects.copy()
        ends: list[dict[MappedObject, CopyPair]] = []
        places: list[Objects] = []
        self.certain = False
        for way in ways:
            self.state, frame.objects = dict(before), objects.copy()
            if way is not None:
                self.statement(frame, way, ())
            if self.state is not None:
                ends.append(self.state)
                places.append(frame.objects)
        self.certain = certain
        frame.objects = objects.join(places)
        self.state = None
        self._meet_left(ends)

    def _meet_left(self, ends: list[dict[MappedObject, CopyPair]]) -> None:
        """Go on with what holds after any of these ways, and after the one at hand."""
        ways = [*ends, *([self.state] if self.state is not None else [])]
        if not ways:
            return
        joined = dict(ways[0])
        for other in ways[1:]:
            for place in joined.keys() | other.keys():
                found = join_copies(joined.get(place, CopyPair()), other.get(place, CopyPair()))
                if found is None:
                    held = joined.get(place, CopyPair()).held or other.get(place, CopyPair()).held
                    self.words.doubt(held, place.name, f"{place.name} is on the device on one way to a place only")
                    found = replace(joined.get(place, CopyPair()), count=1)
                joined[place] = found
        self.state = joined

    def _calls(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Follow the calls of functions with directives that a statement makes; they are taken to come before the rest
        of the statement."""
        for call in [n for n in walk(stmt) if isinstance(n, Call) and isinstance(n.function, Name)]:
            assert isinstance(call.function, Name)
            callee = next((f for _, f in self.facts.program.functions() if f.symbol == call.function.symbol), None)
            if callee is None or callee.symbol not in self.has or self.state is None:
                continue
            given: dict[Symbol, Polynomial] = {}
            visible = {**globals_of(self.facts.program), **{p.name: p for p in callee.parameters}}
            objects = Objects()
            for parameter in callee.parameters:
                self.forget(parameter)
            for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
                if isinstance(parameter.type, Pointer):
                    objects.bind(parameter, *frame.objects.resolve(argument))
                elif is_integer(parameter.type) and _is_plain(argument):
                    given[parameter] = polynomial(argument, frame.values)
            values = {**frame.values, **definitions(self.facts, callee, given)}
            self.function(InlinedCall(callee, values, objects, visible, frame.depth + 1))
        self._jump(stmt)
        self._declare(frame, stmt)

    # --- the host

    def _plain(self, frame: InlinedCall, stmt: Stmt) -> None:
        """A statement without directives, calls included: it works on host copies."""
        self.touch_host(frame, stmt)
        self._declare(frame, stmt)
        for node in walk(stmt):
            fresh = frame.objects.assign(node)
            if fresh is not None and self.state is not None:
                self.renew(fresh, stmt.span)
        self._jump(stmt)

    def _jump(self, stmt: Stmt) -> None:
        if self.state is None:
            return
        match stmt:
            case Return():
                self.returned[-1].append(self.state)
                self.state = None
            case Break() | Continue():
                self.left[-1].append(self.state)
                self.state = None
            case _:
                pass

    def _declare(self, frame: InlinedCall, stmt: Stmt) -> None:
        if not isinstance(stmt, DeclStmt):
            return
        for declaration in stmt.declarations:
            frame.visible[declaration.symbol.name] = declaration.symbol
            self.forget(declaration.symbol)
            place = frame.objects.declare(declaration.symbol)
            if place is not None and self.state is not None:
                self.renew(place, stmt.span)

    # --- which statements have directives

    def _has_directives(self, stmt: Stmt) -> bool:
        return any(
            (isinstance(n, Pragma) and n.directive is not None and not n.left_out and bool(construct_of(n.directive)))
            or (isinstance(n, Name) and n.symbol in self.has)
            for n in walk(stmt)
        )


def _is_plain(expr: Expr) -> bool:
    """Whether an expression is arithmetic on variables: one that reads memory may have another value later."""
    return all(isinstance(part, READABLE) for part in walk(expr) if isinstance(part, Expr))
