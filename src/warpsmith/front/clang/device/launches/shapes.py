"""The shapes of `<<<…>>>` where host code computes them: its statements are followed with what its variables may be.

    int bs;   bs = N / 2;   dim3 t;   t.x = bs;                      t: (N / 2, 1, 1)
    if (n > 512) bs = 512;                                           bs: 512, or what it was before
    for (…) { k<<<grid, t>>>(…);  grid.x = …; }                      t: the same in every iteration, grid: not known
    static void run(int bs) { k<<<g, bs>>>(…); }   run(64);          bs: 64, where every call is seen
    if (n > 9) bs = 512; …   if (n > 9) k<<<grid, bs>>>(…);          bs: 512, by the condition that comes again

An abstract interpretation (Cousot and Cousot, POPL 1977) over sets of values. Variables of files are sets of all that
is written to them anywhere; a parameter is what the calls of its function give, where no other file can call it.
Invariant: the numbers that a launch may get are in its sets, or the set has None. Nothing is known of what memory holds
that pointers lead to, of variables whose address is taken, and in functions with jumps.
Limits: a variable of the file that no header declares is taken not to be written by other files; neither are functions
taken to be called by these where the file has `main` and no header declares them. Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.conditions import Conditions
from warpsmith.front.clang.device.launches.numbers import UNKNOWN, Number, Numbers, join, operate
from warpsmith.front.clang.device.launches.opencl import ENQUEUES, Enqueue, read_enqueue
from warpsmith.front.clang.device.launches.places import (
    AXES,
    CONFIGURES,
    LAUNCHERS,
    HostFacts,
    HostPlaces,
    Place,
    Shape,
    Values,
)
from warpsmith.front.clang.device.launches.scan import HostScan, scan_bodies
from warpsmith.front.clang.device.launches.states import States, collapse, merge, widen
from warpsmith.front.clang.device.launches.unread import Unread
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.places import FilePlaces

__all__ = ["LaunchShapes", "ShapeFinder"]

_LOOPS: Final = frozenset({kinds.FOR, kinds.WHILE, kinds.DO, kinds.RANGE_FOR})
_FOLLOWED: Final = 2
"""Loops around a statement in which it is followed until nothing changes; deeper, what they write is not known."""
_ROUNDS: Final = 3
_CALLS: Final = 6
"""How far numbers are followed through calls and variables of the file."""
_MOST_STEPS: Final = 100_000
"""Statements of one file, each as often as it is followed and in each state that is known there; 5 s or so. Large
public programs take 15,000."""
_ENDS: Final = frozenset({"exit", "abort", "_exit", "quick_exit", "terminate", "__assert_fail"})

_ZERO: Final[Numbers] = frozenset({0})

LaunchShapes = dict[int | None, tuple[Shape, Shape, Numbers, tuple[Numbers, ...]]]
"""Grid, block, bytes of shared memory and arguments of a launch, by its address."""


@dataclass(slots=True)
class _HostEffects:
    """What functions write to variables of the file, give to functions, and launch with; `enqueues`: the launches of
    OpenCL, by their addresses."""

    shared: Values = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    parameters: Values = field(default_factory=dict)
    launches: LaunchShapes = field(default_factory=dict)
    enqueues: dict[int | None, Enqueue] = field(default_factory=dict)


@dataclass(slots=True)
class _Steps:
    """How many steps were taken in a file."""

    taken: int = 0

    def count(self, states: int) -> None:
        """Take a step in so many states."""
        self.taken += max(1, states)
        if self.taken > _MOST_STEPS:
            raise _TooLongError


class ShapeFinder:
    """Follows the host code of one file; `constant` evaluates a constant expression, `outside` are functions that are
    named in no body."""

    def __init__(
        self,
        library: Library,
        places: FilePlaces,
        constant: Callable[[Cursor], Number | None],
        outside: Iterable[int],
        unread: Unread | None = None,
    ) -> None:
        self.library = library
        self.reader = HostPlaces(library, places, constant)
        self.outside = set(outside)
        self.unread = unread or Unread()
        self.functions: dict[int, Cursor] = {}
        self.scanned = HostScan()
        self.steps = _Steps()
        self.enqueues: dict[int | None, Enqueue] = {}

    def find(self, functions: Sequence[Cursor], launching: set[int]) -> LaunchShapes:
        """Return the shapes of the launches in the functions; `launching`: those with launches in them."""
        try:
            return self._find(functions, launching)
        except (RecursionError, _TooLongError):
            return {}

    def _find(self, functions: Sequence[Cursor], launching: set[int]) -> LaunchShapes:
        self.functions = {int(function.first or 0): function for function in functions}
        self.scanned = scan_bodies(self.reader, functions, self.unread)
        facts = self.reader.facts = HostFacts(self.scanned.escaped)
        wanted, asked, seen = set(launching), set[int](), _HostEffects()
        for _ in range(_CALLS):
            seen = _HostEffects()
            for number in wanted:
                if number in self.functions and number not in self.scanned.jumping:
                    _Follower(self.reader, self.scanned, seen, self.steps, self.functions[number]).run()
            fresh = {number: facts.asked[number] for number in facts.asked.keys() - asked}
            before = dict(facts.shared), dict(facts.parameters)
            self._learn(facts, seen, asked, wanted)
            if not fresh and before == (facts.shared, facts.parameters):
                break
            asked |= set(fresh)
            for number, variable in fresh.items():
                wanted |= self._sources(number, variable) & self.functions.keys()
        self.enqueues = seen.enqueues
        return seen.launches

    def _sources(self, number: int, variable: Cursor) -> set[int]:
        """Return the functions that decide what a variable is."""
        if variable.kind == kinds.PARM_DECL:
            function = self.library.getCursorSemanticParent(variable)
            return self.scanned.callers.get(int(function.first or 0), set())
        return self.scanned.writers.get(number, set())

    def _learn(self, facts: HostFacts, seen: _HostEffects, asked: set[int], wanted: set[int]) -> None:
        """Take over what the last round has seen of the variables that were asked for before it."""
        shared, parameters = Values(), Values()
        for number in asked:
            variable = facts.asked[number]
            sources = self._sources(number, variable)
            complete = sources <= wanted and not sources & self.scanned.jumping
            if variable.kind == kinds.PARM_DECL:
                if complete and sources and self._sees_all_calls(variable):
                    parameters |= {place: values for place, values in seen.parameters.items() if place[0] == number}
            elif complete and number not in seen.lost and self._is_own(variable):
                shared |= self._all_written(number, variable, seen)
        facts.shared, facts.parameters = shared, parameters

    def _all_written(self, number: int, variable: Cursor, seen: _HostEffects) -> Values:
        init = self.reader.init(variable)
        known = {(number, way): values for way, values in self.reader.first_values(variable, {})}
        if init is None and self.reader.type(variable).kind in kinds.ARITHMETIC:
            known[number, ""] = _ZERO
        made = init is None or init.kind == kinds.INIT_LIST or not self.reader.expressions(init)
        for place, values in seen.shared.items():
            if place[0] == number:
                known[place] = join(values, known.get(place, _ZERO if made else UNKNOWN))
        return known

    def _is_own(self, variable: Cursor) -> bool:
        """Whether no other file knows a variable, as far as its declarations tell."""
        if self._is_internal(variable):
            return True
        first = self.library.getCanonicalCursor(variable)
        return bool(self.library.isCursorDefinition(first))

    def _is_internal(self, declared: Cursor) -> bool:
        return int(self.library.getCursorLinkage(declared)) <= kinds.LINKAGE_UNIQUE

    def _sees_all_calls(self, parameter: Cursor) -> bool:
        """Whether a parameter's function is called by the functions of the file only, and by its name."""
        function = Cursor.from_buffer_copy(self.library.getCursorSemanticParent(parameter))
        number = int(function.first or 0)
        if number in self.scanned.named | self.outside or self.library.CXXMethod_isVirtual(function):
            return False
        if self._is_internal(function):
            return True
        main = any(self.reader.name(one) == "main" for one in self.functions.values())
        file, _ = self.reader.places.place(self.library.getCursorLocation(self.library.getCanonicalCursor(function)))
        return main and file == 0


class _TooLongError(Exception):
    """Host code of too many steps."""


class _Follower:
    """Follows one function; `states` are what its variables may be, none behind what ends it."""

    def __init__(
        self, reader: HostPlaces, scanned: HostScan, seen: _HostEffects, steps: _Steps, function: Cursor
    ) -> None:
        self.reader = reader
        self.library = reader.library
        self.scanned = scanned
        self.seen = seen
        self.function = function
        self.conditions = Conditions(reader, function)
        self.states: States = []
        self.depth = 0
        self.steps = steps
        self.leaving: list[States] = []
        self.going_on: list[States] = []

    def run(self) -> None:
        """Follow the function's body."""
        function = self.function
        self.reader.decide = self.conditions.decide
        for part in self.reader.below(function):
            if part.kind == kinds.COMPOUND:
                given = self.reader.facts.parameters
                own = {int(one.first or 0) for one in self.reader.below(function) if one.kind == kinds.PARM_DECL}
                self.states = [{place: values for place, values in given.items() if place[0] in own}]
                self.statement(part)

    def _merge(self, states: Iterable[Values]) -> States:
        """Return what is known where several ways meet; deep in loops, conditions are not kept apart."""
        return (merge if self.depth < _FOLLOWED else collapse)(states)

    # --- statements

    def statement(self, cursor: Cursor) -> None:
        self.steps.count(len(self.states))
        if not self.states and cursor.kind not in (kinds.CASE, kinds.DEFAULT, kinds.COMPOUND):
            return
        kind, parts = cursor.kind, self.reader.below(cursor)
        if kind in _LOOPS:
            self._loop(cursor, parts)
        elif kind in (kinds.BREAK, kinds.CONTINUE, kinds.RETURN):
            self._leave(kind, parts)
        elif kind == kinds.VAR_DECL:
            self._declare(cursor)
        elif kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR and kind != kinds.LAMBDA:
            self._expression(cursor, parts)
        else:
            self._compound(kind, parts)

    def _compound(self, kind: int, parts: list[Cursor]) -> None:
        """Follow a statement of statements."""
        if kind == kinds.IF:
            self._branch(parts)
        elif kind == kinds.SWITCH:
            self._switch(parts)
        elif kind == kinds.TRY:
            self._try(parts)
        elif kind == kinds.LAMBDA:
            self._closure(parts)
        else:
            for part in parts:
                self.statement(part)

    def _leave(self, kind: int, parts: list[Cursor]) -> None:
        for part in parts:
            self.statement(part)
        stack = {kinds.BREAK: self.leaving, kinds.CONTINUE: self.going_on}.get(kind)
        if stack:
            stack[-1] += self.states
        self.states = []

    def _branch(self, parts: list[Cursor]) -> None:
        while parts and (parts[0].kind == kinds.DECL_STMT or parts[0].kind == kinds.VAR_DECL):
            self.statement(parts[0])
            parts = parts[1:]
        if len(parts) < 2 or not self.states:
            return
        self.statement(parts[0])
        after = States()
        arms = [parts[1], parts[2] if len(parts) > 2 else parts[0]]
        entries = [
            self._entries(parts[0], arm, arms, outcome) for arm, outcome in zip(arms, (True, False), strict=True)
        ]
        for arm, entry in zip(arms, entries, strict=True):
            self.states = entry
            if arm is not parts[0]:
                self.statement(arm)
            after += self.states
        self.states = self._merge(after)

    def _entries(self, condition: Cursor, arm: Cursor, arms: list[Cursor], outcome: bool) -> States:
        """Return what is known where an arm of a condition is entered."""
        learned = self.conditions.learn(condition, outcome)
        return self._merge(state | learned for state in self.states if arm in self.reader.taken(condition, arms, state))

    def _switch(self, parts: list[Cursor]) -> None:
        for part in parts[:-1]:
            self.statement(part)
        entry = self.states
        self.leaving.append([] if self._has_default(parts[-1]) else list(entry))
        self.states = []
        self._cases(parts[-1], entry)
        self.states = self._merge(self.states + self.leaving.pop())

    def _has_default(self, body: Cursor) -> bool:
        stack = [body]
        while stack:
            part = stack.pop()
            if part.kind == kinds.DEFAULT:
                return True
            if part.kind in (kinds.COMPOUND, kinds.CASE):
                stack += self.reader.below(part)
        return False

    def _cases(self, cursor: Cursor, entry: States) -> None:
        """Follow the body of a switch: each of its cases may be entered from outside."""
        if cursor.kind == kinds.COMPOUND:
            for part in self.reader.below(cursor):
                self._cases(part, entry)
        elif cursor.kind in (kinds.CASE, kinds.DEFAULT):
            self.states = self._merge(self.states + entry)
            self._cases(self.reader.below(cursor)[-1], entry)
        else:
            self.statement(cursor)

    def _try(self, parts: list[Cursor]) -> None:
        before, after = self.states, States()
        for part in parts:
            # what is caught: something in the block above has happened, or not
            self.states = [{}] if part.kind == kinds.CATCH else before
            self.statement(part)
            after += self.states
        self.states = self._merge(after)

    def _closure(self, parts: list[Cursor]) -> None:
        """A lambda runs at another time: of what it captures nothing is known."""
        outer, self.states = self.states, [{}]
        loops = self.leaving, self.going_on
        self.leaving, self.going_on = [], []
        for part in parts:
            self.statement(part)
        self.states, (self.leaving, self.going_on) = outer, loops

    # --- loops

    def _loop(self, loop: Cursor, parts: list[Cursor]) -> None:
        """Follow a loop until nothing changes; what its head writes is not known in it."""
        body = parts[0] if loop.kind == kinds.DO else parts[-1]
        head = [part for part in parts if part is not body]
        if loop.kind == kinds.FOR:
            for part in head:
                self.statement(part)
        every = self.scanned.loops.get(loop.second, set())
        self.depth += 1
        if self.states:
            self._iterate(loop, head, body, every)
        self.depth -= 1

    def _iterate(self, loop: Cursor, head: list[Cursor], body: Cursor, every: set[int]) -> None:
        once = loop.kind == kinds.DO and bool(head) and self.reader.constant(head[0]) == 0
        entry = self._forget(self.states, self._written_in(head) if loop.kind != kinds.DO else set())
        if not once:
            entry = collapse(entry)
        if self.depth > _FOLLOWED:
            entry = self._forget(entry, every)
        left = States()
        for number in count():
            self.states = entry
            ended, left = self._iteration(loop, head, body)
            joined = collapse(entry + ended)
            if joined == entry or once:
                break
            entry = joined if number < _ROUNDS else widen(entry, joined)
        skipped = [] if loop.kind == kinds.DO else entry
        self.states = self._merge(skipped + self.states + left)

    def _iteration(self, loop: Cursor, head: list[Cursor], body: Cursor) -> tuple[States, States]:
        """Follow one iteration; return what is known behind it, and where the loop is left."""
        self.leaving.append([])
        self.going_on.append([])
        if loop.kind == kinds.WHILE:
            for part in head:
                self.statement(part)
        self.statement(body)
        self.states = self._merge(self.states + self.going_on.pop())
        if loop.kind == kinds.DO:
            for part in head:
                self.statement(part)
        elif loop.kind in (kinds.FOR, kinds.RANGE_FOR):
            self.states = self._forget(self.states, self._written_in(head))
        return self.states, self.leaving.pop()

    def _written_in(self, parts: list[Cursor]) -> set[int]:
        """Return the variables that the head of a loop declares or changes."""
        found = set[int]()
        stack = list(parts)
        while stack:
            part = stack.pop()
            if part.kind == kinds.VAR_DECL:
                found.add(int(part.first or 0))
            elif part.kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN, kinds.UNARY, kinds.CALL):
                variable = self.reader.root(part)
                found |= {int(variable.first or 0)} if variable is not None else set()
            stack += self.reader.below(part)
        return found

    def _forget(self, states: States, variables: set[int]) -> States:
        return self._merge(self.conditions.forget(state, variables) for state in states)

    # --- variables

    def _declare(self, variable: Cursor) -> None:
        init = self.reader.init(variable)
        if init is not None:
            self.statement(init)
        if self.reader.is_shared(variable) or self.reader.is_reference(variable):
            return
        number, after = int(variable.first or 0), States()
        for state in self.states:
            rest = self.conditions.forget(state, {number})
            made = self.reader.first_values(variable, rest)
            after.append(rest | {(number, way): values for way, values in made})
        self.states = self._merge(after)

    def _assign(self, target: Cursor, compute: Callable[[Values], Iterable[tuple[str, Numbers]]]) -> None:
        """Give a place its values, of which nothing else is known then; `compute`: what they are in a state."""
        variable = self.reader.root(target)
        if variable is None:
            return
        if not self.reader.is_shared(variable):
            self.states = self._merge(
                [self._assigned(state, target, variable, dict(compute(state))) for state in self.states]
            )
            return
        for state in self.states:
            place = self.reader.place(target, state)
            if place is None:
                self.seen.lost.add(int(variable.first or 0))
            else:
                self._put_shared(place, dict(compute(state)))

    def _assigned(self, state: Values, target: Cursor, variable: Cursor, given: dict[str, Numbers]) -> Values:
        """Return what is known in a state behind an assignment to a variable of the function."""
        number, place = int(variable.first or 0), self.reader.place(target, state)
        if place is None:
            return self.conditions.forget(state, {number})
        gone = {(number, place[1] + way) for way in self.reader.ways(place, state)}
        kept = {old: values for old, values in self.conditions.drop(state, {number}).items() if old not in gone}
        return kept | {(number, place[1] + way): values for way, values in given.items()}

    def _put_shared(self, place: Place, given: Values | dict[str, Numbers]) -> None:
        if not given:
            self.seen.lost.add(place[0])
        for way, values in given.items():
            key = place[0], place[1] + str(way)
            self.seen.shared[key] = join(values, self.seen.shared.get(key, frozenset()))

    # --- expressions

    def _expression(self, cursor: Cursor, parts: list[Cursor]) -> None:
        kind = cursor.kind
        if kind == kinds.CALL:
            self._call(cursor, parts)
        elif kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN) and len(parts) == 2:
            self._binary(cursor, parts)
        elif kind == kinds.CONDITIONAL and len(parts) == 3:
            self._branch(parts)
        else:
            for part in parts:
                self.statement(part)
            if kind == kinds.UNARY and int(self.library.getCursorUnaryOperatorKind(cursor)) in kinds.INCREMENTS:
                self._assign(parts[0], lambda state: self._stepped(cursor, parts[0], state))

    def _stepped(self, cursor: Cursor, target: Cursor, state: Values) -> Iterator[tuple[str, Numbers]]:
        up = int(self.library.getCursorUnaryOperatorKind(cursor)) in (1, 3)
        old = self.reader.value(target, state)
        yield "", self.reader.fit(operate("+" if up else "-", old, frozenset({1})), self.reader.type(target))

    def _binary(self, cursor: Cursor, parts: list[Cursor]) -> None:
        symbol = kinds.BINARY_OPERATORS[int(self.library.getCursorBinaryOperatorKind(cursor))]
        if symbol in ("&&", "||"):
            self.statement(parts[0])
            before = self.states
            self.statement(parts[1])
            self.states = self._merge(before + self.states)
            return
        for part in reversed(parts):
            self.statement(part)
        if symbol == "=" or cursor.kind == kinds.COMPOUND_ASSIGN:
            self._assign(parts[0], lambda state: [("", self._new_value(symbol, parts, state))])

    def _new_value(self, symbol: str, parts: list[Cursor], state: Values) -> Numbers:
        """Return what an assignment writes."""
        if symbol == "=":
            return self.reader.fit(self.reader.value(parts[1], state), self.reader.type(parts[0]))
        both = [self.reader.value(part, state) for part in parts]
        return self.reader.fit(operate(symbol.removesuffix("="), *both), self.reader.type(parts[0]))

    def _call(self, call: Cursor, parts: list[Cursor]) -> None:
        called = self.reader.referenced(call)
        if len(parts) > 1 and parts[1].kind == kinds.CALL and self.reader.name(parts[1]) == CONFIGURES:
            self._launch(call, self.reader.below(parts[1])[1:], parts[2:])
        for part in parts:
            self.statement(part)
        if not self.states:
            return
        name = self.reader.name(called)
        if name == "operator=" and len(parts) > 1:
            dim3 = self.reader.is_dim3(parts[0])
            self._assign(
                parts[0],
                lambda state: zip(AXES, self.reader.shape(parts[-1], state), strict=True) if dim3 else (),
            )
        elif name in LAUNCHERS and len(parts) > 3:
            self._launch(call, [*parts[2:4], *parts[5:6]])
        elif name == ENQUEUES and len(parts) > 6:
            self.seen.enqueues[call.second] = self._join_enqueues(parts)
        elif name in _ENDS:
            self.states = []
        elif called.kind in kinds.FUNCTIONS:
            self._give(called, parts)

    def _give(self, called: Cursor, parts: list[Cursor]) -> None:
        """Put down what a function of the file gets."""
        definition = Cursor.from_buffer_copy(self.library.getCursorDefinition(called))
        if definition.kind != called.kind:
            return
        parameters = [part for part in self.reader.below(definition) if part.kind == kinds.PARM_DECL]
        arguments = parts[len(parts) - len(parameters) :]
        for parameter, argument in zip(parameters, arguments, strict=False):
            for state in self.states if not self.reader.is_reference(parameter) else ():
                for way, values in self._given(parameter, argument, state):
                    key = int(parameter.first or 0), way
                    self.seen.parameters[key] = join(values, self.seen.parameters.get(key, frozenset()))

    def _given(self, parameter: Cursor, argument: Cursor, state: Values) -> Iterator[tuple[str, Numbers]]:
        """Yield what a parameter gets in a state."""
        if self.reader.is_dim3(parameter):
            yield from zip(AXES, self.reader.shape(argument, state), strict=True)
        else:
            yield "", self.reader.fit(self.reader.value(argument, state), self.reader.type(parameter))

    def _launch(self, launch: Cursor, arguments: list[Cursor], given: Sequence[Cursor] = ()) -> None:
        if not self.states or len(arguments) < 2:
            return
        grid, block = (self._join_shapes(argument) for argument in arguments[:2])
        shared = [self.reader.value(arguments[2], state) for state in self.states] if len(arguments) > 2 else [_ZERO]
        passed = tuple(join(*(self.reader.value(one, state) for state in self.states)) for one in given)
        self.seen.launches[launch.second] = grid, block, join(*shared), passed

    def _join_enqueues(self, parts: list[Cursor]) -> Enqueue:
        """Return what a launch of OpenCL may get in any state."""
        found = [read_enqueue(self.reader, parts, state) for state in self.states]
        kernels, grids, blocks = zip(*found, strict=True)
        gx, gy, gz = (join(*sets) for sets in zip(*grids, strict=True))
        bx, by, bz = (join(*sets) for sets in zip(*blocks, strict=True))
        return join(*kernels), (gx, gy, gz), (bx, by, bz)

    def _join_shapes(self, argument: Cursor) -> Shape:
        """Return the three numbers that a shape may have in any state."""
        shapes = [self.reader.shape(argument, state) for state in self.states]
        x, y, z = (join(*sets) for sets in zip(*shapes, strict=True))
        return x, y, z
