"""The uses of a host function's variables in its loops: one walk, for the analysis of copies.

    for (…) {
        cudaMemcpy(d_a, h_a, n, cudaMemcpyHostToDevice);      transferred d_a, transferred h_a, read n
        step<<<…>>>(d_a, d_b);                                 read by kernel d_a, launched d_b
        h_a[0] = 1;                                            changed h_a, through it
    }

Every mention of a variable is put down with its role and the loops around it. Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from warpsmith.front.clang import kinds
from warpsmith.front.clang.libclang import ClangType, Cursor, Library
from warpsmith.front.clang.places import FilePlaces

__all__ = ["Body", "HostArgument", "HostCall", "HostWalk", "Loops", "Mention"]

Role = Literal["read", "changed", "address", "passed", "launched", "read by kernel", "transferred"]
"""`launched`: a kernel gets it and may write through it; `transferred`: the CUDA run time gets it; `passed`: another
function does."""
Loops = tuple[int, ...]
"""Rows of `Body.loops`, the outermost first."""

_LOOPS: Final = frozenset({kinds.FOR, kinds.WHILE, kinds.DO, kinds.RANGE_FOR})
_MAY_SKIP: Final = frozenset({kinds.IF, kinds.SWITCH, kinds.CONDITIONAL, kinds.CATCH})
_LOST: Final = frozenset({kinds.LAMBDA, kinds.GOTO, kinds.INDIRECT_GOTO})
_ASSIGNMENTS: Final = frozenset(range(kinds.FIRST_ASSIGNMENT, kinds.LAST_ASSIGNMENT + 1))
_LOGICAL: Final = frozenset({20, 21})
_WRAPPERS: Final = frozenset({
    kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST, kinds.STATIC_CAST, kinds.REINTERPRET_CAST, kinds.CONST_CAST,
    kinds.FUNCTIONAL_CAST,
})  # fmt: skip
_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_HANDED_ON: Final = frozenset({"passed", "launched", "read by kernel", "transferred"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable, by the address of its declaration; `through`: what it leads to, not itself; `call`: the row of
    `Body.calls` that it is an argument of, or -1."""

    variable: int
    role: Role
    loops: Loops
    through: bool
    call: int


@dataclass(frozen=True, slots=True)
class HostArgument:
    """An argument of a call: the variable at its bottom, all that it names; `plain`: nothing in it reads memory or
    calls a function; `value` where it is constant."""

    root: int | None
    names: frozenset[int]
    plain: bool
    value: int | None


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of the CUDA run time; `steady`: every iteration of the innermost loop comes to it."""

    callee: str
    arguments: tuple[HostArgument, ...]
    loops: Loops
    steady: bool
    cursor: Cursor


@dataclass(slots=True)
class Body:
    """What a function does; `strangers` are functions of the user's that it calls; `lost`: it has jumps or closures,
    and what it does in which loop is not known."""

    loops: list[Cursor] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    calls: list[HostCall] = field(default_factory=list)
    strangers: list[tuple[str, Loops]] = field(default_factory=list)
    variables: dict[int, Cursor] = field(default_factory=dict)
    declared: dict[int, Loops] = field(default_factory=dict)
    lost: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    """A cursor that is to be looked at, and how; `above` is the kind of what it stands in."""

    cursor: Cursor
    loops: Loops = ()
    steady: bool = True
    role: Role = "read"
    through: bool = False
    call: int = -1
    above: int = 0


class HostWalk:
    """The walk over one body; `number` evaluates a constant expression."""

    def __init__(self, library: Library, places: FilePlaces, number: Callable[[Cursor], int | None]) -> None:
        self.library = library
        self.places = places
        self.number = number
        self.body = Body()
        self._skipping: set[Loops] = set()

    def walk_body(self, body: Cursor) -> Body:
        """Return what the body does; it is not entered by recursion, since it may be nested deeply."""
        stack = [_Task(body)]
        while stack:
            task = stack.pop()
            stack += reversed([*self._below(task)])
        return self.body

    def _below(self, task: _Task) -> Iterator[_Task]:
        """Put down what a cursor does by itself, and yield what is below it."""
        cursor, kind = task.cursor, task.cursor.kind
        parts = self.places.children(cursor) if kind != kinds.SIZEOF else []
        plain = _Task(cursor, task.loops, task.steady, above=kind)
        if kind in _LOST:
            self.body.lost = True
        elif kind == kinds.CONTINUE:
            self._skipping.add(task.loops)
        elif kind in _LOOPS:
            yield from self._loop(plain, parts)
            return
        elif kind in range(kinds.UNEXPOSED_EXPR, kinds.LAST_EXPR + 1):
            yield from self._expression(task, parts)
            return
        elif kind == kinds.VAR_DECL:
            self.body.declared[self._number_variable(cursor)] = task.loops
        may_skip = kind in _MAY_SKIP
        for place, part in enumerate(parts):
            yield replace(plain, cursor=part, steady=task.steady and not (may_skip and place > 0))

    def _loop(self, plain: _Task, parts: list[Cursor]) -> Iterator[_Task]:
        """Yield the parts of a loop; `do … while (0)` is none, but the way to write a macro."""
        once = plain.above == kinds.DO and len(parts) == 2 and self.number(parts[1]) == 0
        loops = plain.loops
        if not once:
            loops = (*loops, len(self.body.loops))
            self.body.loops.append(plain.cursor)
        body = parts[0] if plain.above == kinds.DO else parts[-1] if parts else None
        for part in parts:
            yield replace(plain, cursor=part, loops=loops, steady=part is body and (plain.steady or not once))

    # --- expressions

    def _expression(self, task: _Task, parts: list[Cursor]) -> Iterator[_Task]:
        cursor, kind = task.cursor, task.cursor.kind
        below = replace(task, above=kind)
        plain = _Task(cursor, task.loops, task.steady, above=kind)
        if kind == kinds.DECL_REF or (kind == kinds.MEMBER_REF_EXPR and not parts):
            self._mention(task)
        elif kind == kinds.CALL:
            yield from self._call(plain, parts)
        elif kind in _WRAPPERS:
            for part in parts:
                yield replace(below, cursor=part)
        elif kind in (kinds.SUBSCRIPT, kinds.MEMBER_REF_EXPR):
            followed = kind == kinds.SUBSCRIPT or self._is_pointer(self.library.getCursorType(parts[0]))
            yield replace(below, cursor=parts[0], through=task.through or followed)
            for part in parts[1:]:
                yield replace(plain, cursor=part)
        elif kind in (kinds.UNARY, kinds.BINARY, kinds.COMPOUND_ASSIGN):
            yield from self._operator(task, parts)
        else:
            for place, part in enumerate(parts):
                yield replace(plain, cursor=part, steady=task.steady and not (kind in _MAY_SKIP and place > 0))

    def _operator(self, task: _Task, parts: list[Cursor]) -> Iterator[_Task]:
        kind = task.cursor.kind
        below = replace(task, above=kind)
        plain = _Task(task.cursor, task.loops, task.steady, above=kind)
        if kind == kinds.UNARY:
            operator = int(self.library.getCursorUnaryOperatorKind(task.cursor))
            for part in parts:
                if operator in kinds.INCREMENTS:
                    yield replace(plain, cursor=part, role="changed")
                elif operator == kinds.ADDRESS_OF:
                    yield replace(below, cursor=part, role=task.role if task.role in _HANDED_ON else "address")
                elif operator == kinds.DEREFERENCE:
                    yield replace(below, cursor=part, through=True)
                else:
                    yield replace(plain, cursor=part)
            return
        operator = int(self.library.getCursorBinaryOperatorKind(task.cursor))
        assigns = kind == kinds.COMPOUND_ASSIGN or operator in _ASSIGNMENTS
        for place, part in enumerate(parts):
            steady = task.steady and not (operator in _LOGICAL and place > 0)
            if assigns:
                yield replace(plain, cursor=part, role="read" if place else "changed")
            else:
                handed = below if task.role in _HANDED_ON else plain
                yield replace(handed, cursor=part, steady=steady)

    def _mention(self, task: _Task) -> None:
        referenced = self.library.getCursorReferenced(task.cursor)
        if referenced.kind not in _VARIABLES and referenced.kind != kinds.FIELD_DECL:
            return
        role = task.role
        through = task.through or self._is_reference(referenced)
        if task.above in (kinds.CALL, kinds.VAR_DECL) and role in ("read", "passed"):
            # bound to a reference: its value is not read here
            role = "changed" if task.above == kinds.CALL else "address"
        elif role in ("passed", "launched") and self._is_number(referenced):
            role = "read"
        self.body.mentions.append(Mention(self._number_variable(referenced), role, task.loops, through, task.call))

    def _number_variable(self, variable: Cursor) -> int:
        number = int(variable.first or 0)
        if number not in self.body.variables:
            self.body.variables[number] = Cursor.from_buffer_copy(variable)
        return number

    # --- calls

    def _call(self, plain: _Task, parts: list[Cursor]) -> Iterator[_Task]:
        launch = len(parts) > 1 and parts[1].kind == kinds.CALL and self._name(parts[1]) == "cudaConfigureCall"
        if launch:
            yield replace(plain, cursor=parts[1])
            yield from self._walk_arguments(plain, parts[2:], "launched", "read by kernel")
            return
        name = self._name(plain.cursor)
        if name.startswith("cuda") and name != "cudaConfigureCall":
            yield from self._run_time(plain, name, parts[1:])
            return
        referenced = self.library.getCursorReferenced(plain.cursor)
        if not self._is_library(referenced):
            self.body.strangers.append((name, plain.loops))
        arguments = len(parts) - (1 if parts and parts[0].kind in (*_WRAPPERS, kinds.MEMBER_REF_EXPR) else 0)
        yield from (replace(plain, cursor=part, role="passed") for part in parts[: len(parts) - arguments])
        yield from self._walk_arguments(plain, parts[len(parts) - arguments :], "passed", "read")

    def _run_time(self, plain: _Task, name: str, arguments: list[Cursor]) -> Iterator[_Task]:
        read = tuple(self._argument(argument) for argument in arguments)
        steady = plain.steady and plain.loops not in self._skipping
        row = len(self.body.calls)
        self.body.calls.append(HostCall(name, read, plain.loops, steady, Cursor.from_buffer_copy(plain.cursor)))
        for part in arguments:
            yield replace(plain, cursor=part, role="transferred", call=row)

    def _walk_arguments(self, plain: _Task, arguments: list[Cursor], role: Role, kept: Role) -> Iterator[_Task]:
        """Yield the arguments of a call: `kept` is the role of what the function promises not to write through."""
        function = self.library.getCursorType(self.library.getCursorReferenced(plain.cursor))
        count = int(self.library.getNumArgTypes(function))
        for place, part in enumerate(arguments):
            promised = place < count and self._keeps(self.library.getArgType(function, place))
            yield replace(plain, cursor=part, role=kept if promised else role, through=promised)

    def _argument(self, cursor: Cursor) -> HostArgument:
        names: set[int] = set()
        root: int | None = None
        plain, under_address = True, False
        stack = [cursor]
        while stack:
            part = stack.pop()
            kind = part.kind
            if kind == kinds.SIZEOF:
                continue
            if kind == kinds.DECL_REF:
                referenced = self.library.getCursorReferenced(part)
                if referenced.kind in _VARIABLES:
                    names.add(self._number_variable(referenced))
                    if root is None and (under_address or not self._is_number(referenced)):
                        root = self._number_variable(referenced)
            elif kind == kinds.UNARY:
                operator = int(self.library.getCursorUnaryOperatorKind(part))
                under_address = under_address or operator == kinds.ADDRESS_OF
                plain = plain and operator != kinds.DEREFERENCE and operator not in kinds.INCREMENTS
            below = self.places.children(part)
            if kind == kinds.MEMBER_REF_EXPR:
                plain = plain and bool(below) and not self._is_pointer(self.library.getCursorType(below[0]))
            plain = plain and kind not in (kinds.CALL, kinds.LAMBDA)
            plain = plain and (kind != kinds.SUBSCRIPT or under_address)
            stack += reversed(below)
        return HostArgument(root, frozenset(names), plain, self.number(cursor))

    # --- what clang knows

    def _name(self, cursor: Cursor) -> str:
        return self.library.text(self.library.getCursorSpelling(cursor))

    def _is_library(self, function: Cursor) -> bool:
        """Whether a function is none of the user's."""
        file, _ = self.places.place(self.library.getCursorLocation(function))
        return function.kind in (*kinds.FUNCTIONS, kinds.CONSTRUCTOR) and (file < 0 or not self.places.user[file])

    def _keeps(self, type: ClangType) -> bool:
        """Whether nothing is written through a parameter of this type."""
        bare = self.library.getCanonicalType(type)
        if not self._is_pointer(bare):
            return False
        return bool(self.library.isConstQualifiedType(self.library.getPointeeType(bare)))

    def _is_pointer(self, type: ClangType) -> bool:
        return int(self.library.getCanonicalType(type).kind) == kinds.T_POINTER

    def _is_reference(self, variable: Cursor) -> bool:
        kind = self.library.getCanonicalType(self.library.getCursorType(variable)).kind
        return kind in (kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE)

    def _is_number(self, variable: Cursor) -> bool:
        return self.library.getCanonicalType(self.library.getCursorType(variable)).kind in kinds.ARITHMETIC
