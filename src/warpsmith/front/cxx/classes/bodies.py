"""What a body does to an object of numbers that it works on, statement by statement; see members.py.

    V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }      x: x + o.x, y: y + o.y
    V operator*(double s) const { V r = *this; r.x *= s; … return r; }   follows r, a variable of the body's own

Invariant: a member stands for the last value that it was given. A store to anything but the object and the body's own
variables ends the reading; so do branches and loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import VIRTUAL
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import again
from warpsmith.tree.nodes import Binary, Expr, InitList, Literal, Unary
from warpsmith.tree.types import INT, FunctionType, Pointer, Record, Scalar, common_type
from warpsmith.tree.walk import peel

__all__ = ["ObjectBody", "Watch"]

_MOST_NESTED: Final = 8
_THIS: Final = -1
_OPERATORS: Final = {
    "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "&=": "&", "|=": "|", "^=": "^",
}  # fmt: skip


class ObjectReader(Protocol):
    """Finds the members of objects: `MadeObjects`."""

    def value(self, row: int) -> InitList | None:
        """Return the object that an expression makes or names, as its members."""
        ...

    def members_of(self, value: Expr) -> InitList | None:
        """Return the members of the object that an lvalue names, or that is known already."""
        ...

    def list_of(self, type: Record, items: list[Expr], span: Span) -> InitList | None:
        """Return an object of known members."""
        ...

    def bind(self, row: int, function: int, rows: list[int]) -> dict[int, Expr] | None:
        """Return what the parameters of a function are in a call that writes nothing."""
        ...

    def within(self, there: ExpressionBuilder) -> ObjectReader:
        """Return the reader of another body."""
        ...


class Watch:
    """What a body that changes an object in memory has written of it, by member: no expression that it evaluates later
    may read that through another name. `parameter` is the object's, by its declaration; None where it is `*this`."""

    def __init__(
        self, parameter: int | None, reads: Callable[[Expr, str], bool], written: list[str] | None = None
    ) -> None:
        self.parameter = parameter
        self.reads = reads
        self.written: list[str] = [] if written is None else written

    def allows(self, field: str, value: Expr) -> bool:
        """Note a store to a member; False where its value may be of a member after the store to that."""
        return self.allows_all([field], [value])

    def allows_all(self, fields: Sequence[str], values: Sequence[Expr]) -> bool:
        """Note a store to members whose values are all known before it."""
        if any(self.reads(value, written) for value in values for written in self.written):
            return False
        self.written += fields
        return True


class ObjectBody:
    """Follows the statements of one body, which change its own variables only, or the object `members` of a class."""

    def __init__(
        self,
        there: ExpressionBuilder,
        library: CxxLibrary,
        type: Record,
        members: dict[str, Expr] | None,
        objects: ObjectReader,
    ) -> None:
        self.there = there
        self.library = library
        self.context = there.context
        self.table = there.table
        self.type = type
        self.members = members
        self.bound = dict(there.bound)
        self.own: set[int] = set()
        self.watch: Watch | None = None
        there.bound = self.bound
        self.objects = objects

    def run(self, function: int, *, made: bool) -> InitList | None:
        """Return the object that the body gives back, or with `made` the one that it works on."""
        body = self.table.body(function)
        if body is None:
            return None
        for child in self.table.children(function):
            if self.table.kind[child] == kinds.PARM_DECL and not self._is_reference(self.table.aux[child]):
                self.own.add(self.table.aux[child])
        returned = self._follow(self.table.parts(body), made=made)
        if returned is None:
            return None
        if made and self.watch is not None and self.watch.parameter is not None:
            return self.objects.members_of(self.bound[self.watch.parameter])
        return self._finish() if made else returned

    def _finish(self) -> InitList | None:
        assert self.members is not None
        items = [self.members.get(field.name) for field in self.type.fields]
        known = [item for item in items if item is not None]
        return self.objects.list_of(self.type, known, self._place) if len(known) == len(items) else None

    def _follow(self, rows: list[int], *, made: bool) -> InitList | None:
        """Follow statements; return what the last one gives back, an empty list where nothing is to be given."""
        nothing = InitList(span=self._place, type=self.type, items=())
        for number, row in enumerate(rows):
            kind = self.table.kind[row]
            if kind == kinds.RETURN:
                if number + 1 != len(rows):
                    return None
                parts = self.table.expressions(row)
                if made:
                    return nothing if not parts or self._is_subject(parts[0]) else None
                return self._returned(parts[0]) if parts else None
            if kind == kinds.NULL_STMT:
                continue
            if not self.step(row):
                return None
        return nothing if made else None

    def _returned(self, row: int) -> InitList | None:
        """Return the object of a `return`: also of `return a += b`, where a is the body's own."""
        inner = self.table.inner(row)
        below = self.table.expressions(inner)
        if self.table.kind[inner] == kinds.CALL and len(below) == 1:
            inner = self.table.inner(below[0])  # the copy of what the operator refers to
        target = self._change(inner)
        return self.objects.value(row) if target is None else self._object(target)

    def step(self, row: int) -> bool:
        """Follow one statement; False where it is more than a change of the body's own."""
        kind = self.table.kind[row]
        if kind == kinds.COMPOUND:
            return all(self.step(part) for part in self.table.parts(row))
        if kind == kinds.DECL_STMT:
            return all(self._declare(child) for child in self.table.children(row))
        inner = self.table.inner(row)
        if self.table.kind[inner] in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
            return self._assign(inner)
        if self.table.kind[inner] == kinds.UNARY and self.table.aux[inner] in kinds.INCREMENTS:
            return self._increment(inner)
        return self._change(inner) is not None

    def _declare(self, row: int) -> bool:
        inits = self.table.expressions(row)
        number = self.table.aux[row]
        if self.table.kind[row] != kinds.VAR_DECL or self.context.symbol(number).storage != "local" or not inits:
            return False
        type = self.context.symbol(number).type
        made: Expr | None
        if isinstance(type, Record):
            made = self.objects.value(inits[-1])
        elif isinstance(type, Scalar) and not type.volatile:
            made = self.there.try_expression(inits[-1])
            made = self.library.convert(made, type, self._place) if made is not None else None
            made = made if made is not None and self.library.is_copied(made) else None
        else:
            return False
        if made is None:
            return False
        self.own.add(number)
        self.bound[number] = made
        return True

    def _assign(self, row: int) -> bool:
        """Follow `x = …`, `x += …` of a member of the object, of a variable of the body's own or of a member of one."""
        operator = kinds.BINARY_OPERATORS[self.table.aux[row]]
        parts = self.table.expressions(row)
        if len(parts) != 2 or (operator != "=" and operator not in _OPERATORS):
            return False
        value, target = self.there.try_expression(parts[1]), self._type_of(parts[0])
        if value is None or target is None:
            return False
        if operator != "=":
            before = self.there.try_expression(parts[0])
            if before is None:
                return False
            type = common_type(before.type, value.type)
            value = Binary(span=self._place, type=type, op=_OPERATORS[operator], left=before, right=value)
        value = self.library.convert(value, target, self._place)
        return self.library.is_repeated(value) and self._store(parts[0], value)

    def _increment(self, row: int) -> bool:
        """Follow `x++;` and its like."""
        (operand,) = self.table.expressions(row)
        before, target = self.there.try_expression(operand), self._type_of(operand)
        if before is None or target is None or target.kind == "bool":
            return False
        op = "+" if "+" in kinds.UNARY_OPERATORS[self.table.aux[row]] else "-"
        one = Literal(span=self._place, type=INT, text="1", value=1)
        value = Binary(span=self._place, type=common_type(before.type, INT), op=op, left=before, right=one)
        return self._store(operand, self.library.convert(value, target, self._place))

    def _type_of(self, row: int) -> Scalar | None:
        """Return the type of the number that a row names."""
        row = self.table.inner(row)
        named = self.table.kind[row] in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR) and self.table.aux[row] >= 0
        type = self.context.symbol(self.table.aux[row]).type if named else None
        return replace(type, const=False) if isinstance(type, Scalar) and not type.volatile else None

    def _store(self, row: int, value: Expr) -> bool:
        row = self.table.inner(row)
        if self.table.kind[row] == kinds.DECL_REF:
            number = self.table.aux[row]
            if number not in self.own:
                return False
            self.bound[number] = value
            return True
        if self.table.kind[row] != kinds.MEMBER_REF_EXPR or self.table.aux[row] < 0:
            return False
        field, base = self.context.dump.declared[self.table.aux[row]][1], self.table.expressions(row)
        if not base or self._is_this(base[0]):
            return self._store_member(field, value)
        holder = self.table.inner(base[0])
        number = self.table.aux[holder]
        if self.table.kind[holder] != kinds.DECL_REF or number not in self.own:
            return False
        watched = self.watch is not None and self.watch.parameter == number
        if watched and self.watch is not None and not self.watch.allows(field, value):
            return False
        changed = _with_item(self.bound[number], field, value)
        if changed is None:
            return False
        self.bound[number] = changed
        return True

    def _store_member(self, field: str, value: Expr) -> bool:
        """Store to a member of the object that the body works on."""
        if self.members is None or field not in {part.name for part in self.type.fields}:
            return False
        if self.watch is not None and self.watch.parameter is None and not self.watch.allows(field, value):
            return False
        self.members[field] = value
        return self._show_object()

    def _show_object(self) -> bool:
        """Let expressions of the body read the members as they are now; False where these are too large to follow."""
        assert self.members is not None
        if len(self.members) < len(self.type.fields):
            return True  # no expression can name it yet
        held = self._finish()
        if held is not None:
            self.there.this = Unary(span=self._place, type=Pointer(self.type), op="&", operand=held)
        return held is not None

    # --- methods that change an object of the body's own, or the object that it works on

    def _change(self, row: int) -> int | None:
        """Follow `a = b`, `a += b`, `a.turn(b)` where a is an object of the body's own or `*this`; return a."""
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        symbol = self.context.symbol(callee).type if callee >= 0 else None
        if not isinstance(symbol, FunctionType) or not symbol.method or self.context.is_library(callee):
            return None
        given, arguments = self.there.cxx.parts_of(row, callee)
        target = self._find_target(given)
        held = self._object(target) if target is not None else None
        if target is None or held is None or self.context.detail(callee)[3] & VIRTUAL:
            return None
        if callee not in self.context.bodies and self.context.dump.declared[callee][1] == "operator=":
            made = self.objects.value(arguments[0]) if len(arguments) == 1 else None
            known = made is not None and self._allows_all(target, made)
        else:
            made = self._run_method(row, target, held, arguments)
            known = made is not None
        if made is None or not known:
            return None
        return target if self._take(target, made) else None

    def _find_target(self, given: int | None) -> int | None:
        """Return the declaration of the body's own object that a row names, or that it is `*this`; None for others."""
        if given is None:
            return None
        if given < 0 or self._is_this(given):
            return _THIS
        row = self.table.inner(given)
        number = self.table.aux[row]
        return number if self.table.kind[row] == kinds.DECL_REF and number in self.own else None

    def _object(self, target: int) -> InitList | None:
        """Return the members of an object as they are now."""
        if target == _THIS:
            return None if self.members is None else self._finish()
        held = peel(self.bound[target])
        return held if isinstance(held, InitList) and isinstance(held.type, Record) else None

    def _is_watched(self, target: int) -> bool:
        return self.watch is not None and self.watch.parameter == (None if target == _THIS else target)

    def _allows_all(self, target: int, made: InitList) -> bool:
        """Whether a whole object may be stored; its values were all made before."""
        if self.watch is None or not self._is_watched(target):
            return True
        return self.watch.allows_all([field.name for field in self.type.fields], made.items)

    def _take(self, target: int, made: InitList) -> bool:
        """Let an object be another one."""
        if target != _THIS:
            self.bound[target] = made
            return True
        assert self.members is not None
        self.members.update(zip((field.name for field in self.type.fields), map(again, made.items), strict=True))
        return self._show_object()

    def _run_method(self, row: int, target: int, held: InitList, arguments: list[int]) -> InitList | None:
        """Return an object after a method of it has run that changes nothing else."""
        callee, type = self.table.aux[row], held.type
        found = self.context.bodies.get(callee)
        if found is None or callee in self.there.open or len(self.there.open) >= _MOST_NESTED:
            return None
        if any(self._names(argument, target) for argument in arguments if not self._is_temporary(argument)):
            return None  # `a += a`: the argument changes on the way
        bound = self.objects.bind(row, found[0], arguments)
        if bound is None or not isinstance(type, Record):
            return None
        this = Unary(span=held.span, type=Pointer(type), op="&", operand=held)
        there = self.there.elsewhere(held.span, found[1], bound, this, callee)
        members = {field.name: again(item) for field, item in zip(type.fields, held.items, strict=True)}
        body = ObjectBody(there, self.library, type, members, self.objects.within(there))
        if self.watch is not None and self._is_watched(target):
            body.watch = Watch(None, self.watch.reads, self.watch.written)
        return body.run(found[0], made=True)

    def _names(self, row: int, target: int) -> bool:
        """Whether a row mentions an object."""
        table = self.table
        for part in range(row, table.after[row]):
            if target != _THIS and table.kind[part] == kinds.DECL_REF and table.aux[part] == target:
                return True
            member = table.kind[part] == kinds.MEMBER_REF_EXPR and not table.expressions(part)
            if target == _THIS and (member or table.kind[part] == kinds.THIS):
                return True
        return False

    def _is_temporary(self, row: int) -> bool:
        """Whether an expression makes a value of its own, whose parts are as they are before a function is called."""
        row = self.table.inner(row)
        kind, number = self.table.kind[row], self.table.aux[row]
        if kind == kinds.CALL and number >= 0:
            type = self.context.symbol(number).type
            return isinstance(type, FunctionType) and not isinstance(type.result, Pointer)
        return kind in (kinds.FUNCTIONAL_CAST, kinds.INIT_LIST, kinds.INTEGER, kinds.FLOATING) or (
            kind == kinds.BINARY and not kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT
        )

    def _is_subject(self, row: int) -> bool:
        """Whether a row names the object that the body works on."""
        row = self.table.inner(row)
        subject = self.watch.parameter if self.watch is not None else None
        if subject is not None:
            return self.table.kind[row] == kinds.DECL_REF and self.table.aux[row] == subject
        return self._is_this(row)

    def _is_this(self, row: int) -> bool:
        """Whether a row is `*this`, `this`, or what stands for a member's object without being written."""
        row = self.table.inner(row)
        below = self.table.expressions(row)
        if self.table.kind[row] == kinds.UNARY and len(below) == 1:
            row = self.table.inner(below[0])
        return self.table.kind[row] == kinds.THIS

    def _is_reference(self, number: int) -> bool:
        type = self.context.symbol(number).type
        return not isinstance(type, Scalar | Record)

    @property
    def _place(self) -> Span:
        assert self.there.site is not None
        return self.there.site


def _with_item(value: Expr, field: str, item: Expr) -> InitList | None:
    """Return an object with another value of one member."""
    value = peel(value)
    if not isinstance(value, InitList) or not isinstance(value.type, Record):
        return None
    names = [part.name for part in value.type.fields]
    if field not in names or len(names) != len(value.items):
        return None
    items = [item if name == field else again(old) for name, old in zip(names, value.items, strict=True)]
    return InitList(span=value.span, type=value.type, items=tuple(items))
