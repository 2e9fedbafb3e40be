"""The walk over a program in execution order that keeps, for every object, which copy of it is right (copies.py).

    b: stale on the host ─── for (i …) s += b[i]; ─── found: the host reads what only the device has

Each data directive does to the copies what OpenMP 5.2 (5.8) and OpenACC 3.3 (2.7) say; a construct on the device reads
and writes device copies, every other statement host copies. Calls of functions that have directives are followed.
Loops of the host are walked until an iteration leaves what an earlier one has left: what the next one meets is known
then. A loop around constructs is taken to run at least once.

Invariant: where nothing is found, every value that is read is the one that the program without directives reads there.
"""

from __future__ import annotations

import re

from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.mapped.accessed import is_arithmetic
from warpsmith.poly.mapped.clauses import construct_of
from warpsmith.poly.mapped.device import DeviceSide
from warpsmith.poly.mapped.device_memory import is_of_runtime
from warpsmith.poly.mapped.extents import polynomial
from warpsmith.poly.mapped.host import InlinedCall
from warpsmith.poly.mapped.objects import Objects
from warpsmith.poly.mapped.rounds import ends_after, trips_of, turning
from warpsmith.poly.mapped.values import definitions, globals_of
from warpsmith.poly.mapped.ways import Jumps, Way, jumps_out, meet
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
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol, is_integer
from warpsmith.tree.walk import names, walk

__all__ = ["MappedWalk"]

_DEEPEST = 8
# pointers that trade places come back after as many iterations as there are of them
_MOST_ROUNDS = 8
_GOTO = re.compile(r"\bgoto\b")


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
            self._meet(frame, [Way(end.state, frame.objects) for end in ends])
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
            self.leave_unread(frame, entered, stmt)
            self.statement(frame, stmt, tuple(p for p in pragmas if p is not data[0]))
            self.exit(frame, *data, entered)
        elif compute is not None:
            self.compute(frame, *compute, stmt)
        elif isinstance(stmt, Block):
            self._block(frame, stmt.statements)
        elif not self._has_directives(stmt) and not (isinstance(stmt, If | Switch) and jumps_out(stmt)):
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
                self._heads(frame, stmt, (stmt.condition,))
                self._branch(frame, (stmt.then, stmt.other))
            case Switch():
                self._switch(frame, stmt)
            case _:
                self._calls(frame, stmt)

    def _heads(self, frame: InlinedCall, stmt: Stmt, heads: tuple[Expr, ...]) -> None:
        """What the head of a loop or branch reads. Constructs that a call there runs are not followed."""
        self.read_expressions(frame, stmt, heads)
        for head in heads:
            self.end_unset(frame, head)
        for name in (name for head in heads for name in names(head)):
            if name.symbol in self.has or is_of_runtime(name.symbol):
                self.words.doubt(stmt.span, "", f"what {name.symbol.name} does in a condition is not followed")
        self.head_uses(frame, stmt, heads)
        for head in heads:
            self._follow(frame, head)

    def _loop(
        self, frame: InlinedCall, loop: For | While, body: Stmt, heads: tuple[Expr, ...], counter: Symbol | None
    ) -> None:
        self._heads(frame, loop, heads)
        jumps = Jumps(loop=True)
        self.jumps.append(jumps)
        ends: list[Way] = []
        again: int | None = None
        while self.state is not None and again is None and len(ends) < _MOST_ROUNDS:
            if counter is not None:
                frame.visible[counter.name] = counter
            self.statement(frame, body, ())
            self._meet(frame, jumps.continued)
            jumps.continued = []
            if isinstance(loop, While):
                self.forget_written(frame, loop, heads)
            if counter is not None:
                self.forget(counter)
            self.read_expressions(frame, loop, heads)
            for head in reversed(heads):
                self._follow(frame, head)
            if self.state is not None:
                again = next((k for k, e in enumerate(ends) if e == Way(self.state, frame.objects)), None)
                ends += [Way(dict(self.state), frame.objects.copy())] if again is None else []
        if self.state is not None and again is None:
            self.words.doubt(loop.span, "", f"what the loop in line {loop.span.line} leaves differs each time")
        self.jumps.pop()
        self.state = None
        last = ends if again is None or isinstance(loop, While) else self._last(frame, loop, ends, again)
        self._meet(frame, [*last, *jumps.broken])

    def _last(self, frame: InlinedCall, loop: For, ends: list[Way], again: int) -> list[Way]:
        """Return those ends of iterations at which a loop may be over; the last one is followed by what follows the one
        with number `again`."""
        trips = trips_of(self.facts, frame.function, loop, frame.values)
        possible = ends_after(trips, len(ends), again)
        if trips is None:
            decided = turning(self.facts, frame.function, loop, len(ends) - again)
            self.words.settled += [decided] if decided is not None else []
        elif trips.granted is not None and len(possible) < len(ends):
            self.words.granted.append(trips.granted)
        return [ends[k] for k in possible]

    def _branch(self, frame: InlinedCall, ways: tuple[Stmt | None, ...]) -> None:
        assert self.state is not None
        before, certain = Way(self.state, frame.objects), self.certain
        ends: list[Way] = []
        self.certain = False
        for way in ways:
            self._start(frame, before)
            if way is not None:
                self.statement(frame, way, ())
            if self.state is not None:
                ends.append(Way(self.state, frame.objects))
        self._finish(frame, before, ends, certain=certain)

    def _switch(self, frame: InlinedCall, switch: Switch) -> None:
        self._heads(frame, switch, (switch.value,))
        assert self.state is not None
        before, certain = Way(self.state, frame.objects), self.certain
        jumps = Jumps(loop=False)
        self.jumps.append(jumps)
        self.certain = False
        self.state = None
        for case in switch.cases:
            fallen: list[Way] = [Way(self.state, frame.objects)] if self.state is not None else []
            self._start(frame, before)
            self._meet(frame, fallen)
            self.statement(frame, Block(span=case.span, statements=case.body), ())
        self.jumps.pop()
        ends = [*jumps.broken, *([Way(self.state, frame.objects)] if self.state is not None else [])]
        chosen = any(label is None for case in switch.cases for label in case.labels)
        self._finish(frame, before, ends if chosen else [*ends, before], certain=certain)

    def _start(self, frame: InlinedCall, way: Way) -> None:
        """Go along one of several ways from here."""
        self.state, frame.objects = dict(way.state), way.objects.copy()

    def _finish(self, frame: InlinedCall, before: Way, ends: list[Way], *, certain: bool) -> None:
        """Go on behind all of them; where none comes there, nothing does."""
        self.certain, self.state, frame.objects = certain, None, before.objects
        self._meet(frame, ends)

    def _meet(self, frame: InlinedCall, ways: list[Way]) -> None:
        """Go on with what holds after any of these ways, and after the one at hand."""
        every = [*ways, *([Way(self.state, frame.objects)] if self.state is not None else [])]
        if not every:
            return
        found, apart = meet(every)
        for place in apart:
            self.words.doubt(
                found.state[place].held, place.name, f"{place.name} is on the device on one way to a place only"
            )
        self.state, frame.objects = found.state, found.objects

    def _calls(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Follow the calls of functions with directives that a statement makes; what it does itself may come before
        them or after."""
        self.touch_beside_calls(frame, stmt)
        self.beside_calls(frame, stmt)
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
                elif is_integer(parameter.type) and is_arithmetic(argument):
                    given[parameter] = polynomial(argument, frame.values)
            values = {**frame.values, **definitions(self.facts, callee, given)}
            self.function(InlinedCall(callee, values, objects, visible, frame.depth + 1))
        self.touch_beside_calls(frame, stmt)
        self._jump(frame, stmt)
        self._declare(frame, stmt)

    # --- the host

    def _plain(self, frame: InlinedCall, stmt: Stmt) -> None:
        """A statement without directives, calls included: it works on host copies."""
        self.touch_host(frame, stmt)
        self.host_uses(frame, stmt)
        self._declare(frame, stmt)
        for node in walk(stmt):
            if isinstance(node, Verbatim) and _GOTO.search(node.text):
                self.words.doubt(node.span, "", f"where line {node.span.line} goes on is not known")
        self._follow(frame, stmt)
        self.begin_unset(frame, stmt)
        self._jump(frame, stmt)

    def _follow(self, frame: InlinedCall, node: Node) -> None:
        """What a statement or an expression does with pointers."""
        for fresh in frame.objects.follow(node):
            if self.state is not None:
                self.renew(fresh, node.span)

    def _jump(self, frame: InlinedCall, stmt: Stmt) -> None:
        if self.state is None:
            return
        way = Way(dict(self.state), frame.objects.copy())
        match stmt:
            case Return():
                self.returned[-1].append(way)
                self.state = None
            case Break():
                self.jumps[-1].broken.append(way)
                self.state = None
            case Continue():
                next(jumps for jumps in reversed(self.jumps) if jumps.loop).continued.append(way)
                self.state = None
            case For() | While() if jumps_out(stmt):
                self.returned[-1].append(way)
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
            or (isinstance(stmt, For | While | If | Switch) and isinstance(n, Name) and is_of_runtime(n.symbol))
            for n in walk(stmt)
        )
