"""What a file's host code does with its variables and functions anywhere: one look at every body, in any order.

    scanf("%d", &n); swap(n, m); int &r = n;          n may be changed by what is not seen
    void f() { n = 64; }                              f writes n
    f(64);     g(f);                                  a caller of f; f is called by others, too

Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.places import HostPlaces
from warpsmith.front.clang.device.launches.unread import Unread
from warpsmith.front.clang.libclang import Cursor

__all__ = ["HostScan", "scan_bodies"]

_ASSIGNMENTS: Final = frozenset(range(kinds.FIRST_ASSIGNMENT, kinds.LAST_ASSIGNMENT + 1))
_NAMES: Final = frozenset({kinds.DECL_REF, kinds.MEMBER_REF_EXPR})
_LOOPS: Final = frozenset({kinds.FOR, kinds.WHILE, kinds.DO, kinds.RANGE_FOR})
_JUMPS: Final = frozenset({kinds.GOTO, kinds.INDIRECT_GOTO, kinds.LABEL, kinds.ASM})
_HOLD_CASES: Final = frozenset({kinds.COMPOUND, kinds.CASE, kinds.DEFAULT})
_SAME: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST, kinds.UNARY})
_ARRAYS: Final = frozenset({kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY})


@dataclass(slots=True)
class HostScan:
    """What was seen, everything by the address of its declaration. `escaped`: variables that may be changed unseen;
    `writers` and `callers`: the functions that write a variable, or call a function; `loops`: the variables written in
    a loop, by its address; `named`: functions that are named without being called; `jumping`: functions with jumps."""

    escaped: set[int] = field(default_factory=set)
    writers: dict[int, set[int]] = field(default_factory=dict)
    callers: dict[int, set[int]] = field(default_factory=dict)
    loops: dict[int | None, set[int]] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    jumping: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be looked at. `kept`: it is handed to a function that promises to change nothing there."""

    cursor: Cursor
    parent: Cursor
    loops: tuple[int | None, ...] = ()
    closure: bool = False
    called: bool = False
    switched: bool = False
    kept: bool = False


def scan_bodies(reader: HostPlaces, functions: Iterable[Cursor], unread: Unread) -> HostScan:
    """Look through the functions; `unread`: what could not be read of the file."""
    scan = HostScan()
    for function in functions:
        number = int(function.first or 0)
        if reader.name(function) in unread.named:
            scan.named.add(number)
        _Scanner(reader, scan, number, unread.changed).scan(function)
    return scan


class _Scanner:
    """The look at one function."""

    def __init__(self, reader: HostPlaces, scan: HostScan, function: int, unread: Set[str]) -> None:
        self.reader = reader
        self.unread = unread
        self.library = reader.library
        self.result = scan
        self.function = function

    def scan(self, function: Cursor) -> None:
        stack = [_Task(part, function) for part in self.reader.below(function)]
        while stack:
            task = stack.pop()
            self._look(task)
            cursor = task.cursor
            loops = (*task.loops, cursor.second) if cursor.kind in _LOOPS else task.loops
            closure = task.closure or cursor.kind == kinds.LAMBDA
            for place, part in enumerate(self.reader.below(cursor)):
                called = (cursor.kind == kinds.CALL and place == 0) or (task.called and cursor.kind not in _NAMES)
                switched = cursor.kind == kinds.SWITCH or (task.switched and cursor.kind in _HOLD_CASES)
                kept = self._is_kept(task, place)
                stack.append(_Task(part, cursor, loops, closure, called, switched, kept))

    def _look(self, task: _Task) -> None:
        cursor, kind = task.cursor, task.cursor.kind
        enters = kind in (kinds.CASE, kinds.DEFAULT) and not task.switched
        if kind in _JUMPS or enters:
            self.result.jumping.add(self.function)
        elif kind == kinds.CALL:
            self._call(task)
        elif kind == kinds.VAR_DECL and self._may_be_changed(cursor):
            self.result.escaped.add(int(cursor.first or 0))
        elif kind == kinds.VAR_DECL and self.reader.is_reference(cursor):
            init = self.reader.init(cursor)
            self._escape(init)
        elif kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN, kinds.UNARY):
            self._operator(task)
        elif kind == kinds.UNEXPOSED_EXPR and task.parent.kind != kinds.SUBSCRIPT and not task.kept:
            self._decays(cursor)
        elif kind in _NAMES:
            self._name(task)

    def _operator(self, task: _Task) -> None:
        cursor = task.cursor
        if cursor.kind == kinds.UNARY:
            operator = int(self.library.getCursorUnaryOperatorKind(cursor))
            if operator == kinds.ADDRESS_OF:
                self._escape(cursor if not task.kept else None)
            elif operator in kinds.INCREMENTS:
                self._write(cursor, task)
        elif int(self.library.getCursorBinaryOperatorKind(cursor)) in _ASSIGNMENTS:
            self._write(cursor, task)

    def _decays(self, cursor: Cursor) -> None:
        """An array whose address is handed on may be changed there."""
        if self.reader.type(cursor).kind != kinds.T_POINTER:
            return
        parts = self.reader.below(cursor)
        if len(parts) == 1 and self.reader.type(parts[0]).kind in _ARRAYS:
            self._escape(parts[0])

    def _name(self, task: _Task) -> None:
        """A variable that a function gets by reference may be changed there; so may what a method belongs to."""
        cursor, parent = task.cursor, task.parent
        named = self.reader.referenced(cursor)
        if self._may_be_changed(named):
            self._escape(cursor)
        if named.kind in kinds.FUNCTIONS:
            if not task.called:
                self.result.named.add(self._definition(named))
            if named.kind == kinds.CXX_METHOD and not self.library.CXXMethod_isConst(named):
                self._escape(cursor)
        elif (
            (parent.kind == kinds.CALL and not self._copies(parent))
            or parent.kind == kinds.RANGE_FOR
            or (parent.kind == kinds.LAMBDA and self._is_array(cursor))
        ):
            self._escape(cursor)

    def _may_be_changed(self, variable: Cursor) -> bool:
        """Whether a statement that could not be read may change a variable: by its name, unless it is a constant."""
        if not self.unread or self.reader.name(variable) not in self.unread:
            return False
        return not self.library.isConstQualifiedType(self.reader.type(variable))

    def _is_array(self, cursor: Cursor) -> bool:
        return self.reader.type(cursor).kind in _ARRAYS

    def _copies(self, call: Cursor) -> bool:
        """Whether a call only reads a variable that it gets: it makes an object from it, or assigns."""
        called = self.reader.referenced(call)
        if self.reader.name(called) == "operator=":
            return True
        return (called.kind not in kinds.FUNCTIONS and self.reader.name(call) in ("", "dim3")) or (
            called.kind == kinds.CONSTRUCTOR and self._takes_constant(called)
        )

    def _takes_constant(self, made: Cursor) -> bool:
        type = self.library.getCursorType(made)
        if int(self.library.getNumArgTypes(type)) != 1:
            return self.reader.name(made) == "dim3"
        bare = self.library.getPointeeType(self.library.getCanonicalType(self.library.getArgType(type, 0)))
        return bool(self.library.isConstQualifiedType(bare))

    def _call(self, task: _Task) -> None:
        called = self.reader.referenced(task.cursor)
        if called.kind not in kinds.FUNCTIONS:
            return
        if self.reader.name(called) == "operator=":
            self._write(task.cursor, task)
        self.result.callers.setdefault(self._definition(called), set()).add(self.function)

    def _is_kept(self, task: _Task, place: int) -> bool:
        """Whether a part of an expression is handed to a function that changes nothing there."""
        if task.cursor.kind == kinds.CALL:
            return self._keeps(task.cursor, place - 1)
        return task.kept and task.cursor.kind in _SAME

    def _keeps(self, call: Cursor, number: int) -> bool:
        """Whether a function of OpenCL changes nothing where an argument points to, neither then nor later."""
        called = self.reader.referenced(call)
        if number < 0 or called.kind not in kinds.FUNCTIONS or not self.reader.is_of_opencl(called):
            return False
        type = self.library.getCanonicalType(self.library.getArgType(self.library.getCursorType(called), number))
        return type.kind == kinds.T_POINTER and bool(
            self.library.isConstQualifiedType(self.library.getPointeeType(type))
        )

    def _definition(self, function: Cursor) -> int:
        definition = self.library.getCursorDefinition(function)
        return int((definition if definition.kind == function.kind else function).first or 0)

    def _write(self, cursor: Cursor, task: _Task) -> None:
        variable = self.reader.root(cursor)
        if variable is None:
            return
        number = int(variable.first or 0)
        if task.closure:
            self.result.escaped.add(number)
        self.result.writers.setdefault(number, set()).add(self.function)
        for loop in task.loops:
            self.result.loops.setdefault(loop, set()).add(number)

    def _escape(self, cursor: Cursor | None) -> None:
        variable = self.reader.root(cursor) if cursor is not None else None
        if variable is not None:
            self.result.escaped.add(int(variable.first or 0))
