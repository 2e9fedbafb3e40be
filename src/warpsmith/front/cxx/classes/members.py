"""Objects of small classes of numbers, member by member: what constructors and operators make, over the arguments.

    struct V { double x, y; V(double a, double b) : x(a), y(b) {} V operator+(const V &o) const; … };
    p[i] + q                   InitList(p[i].x + q.x, p[i].y + q.y)
    V(1, s)                    InitList(1.0, s)
    (p - q).norm2()            (p.x - q.x) * (p.x - q.x) + …        the member `x` of such a list is its item

Invariant: a list stands for an object only where every item may be evaluated any number of times, and where making the
object writes nothing that anybody else sees. What a body does with its own variables is followed in the order of its
statements; whatever is not followed makes the object opaque, as before.
Limits: bodies without branches and loops; members that are numbers; no class that says itself how it is copied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import VIRTUAL
from warpsmith.front.cxx.classes.bodies import ObjectBody
from warpsmith.front.cxx.classes.values import is_numbers
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import INCREMENTS, again, is_lvalue, is_pure, member_of
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Cast,
    Conditional,
    Expr,
    InitList,
    Name,
    Node,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import FunctionType, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["LARGEST_OBJECT", "MadeObjects", "is_known", "item_of", "keeps_objects", "object_type"]

LARGEST_OBJECT: Final = 400
"""How many nodes the items of an object may have."""

_MOST_NESTED: Final = 8


def item_of(value: Expr, field: str) -> Expr | None:
    """Return a member of an object that is known member by member; None for any other expression."""
    value = peel(value)
    if not isinstance(value, InitList) or not isinstance(value.type, Record):
        return None
    names = [part.name for part in value.type.fields]
    return again(value.items[names.index(field)]) if field in names and len(names) == len(value.items) else None


def object_type(type: Type) -> Record | None:
    """Return the class of an object, or of what a reference is bound to."""
    type = type.to if isinstance(type, Pointer) and type.reference else type
    return type if isinstance(type, Record) else None


def is_known(this: Expr) -> bool:
    """Whether a method's object is found without side effects, or known member by member."""
    held = this.operand if isinstance(this, Unary) and this.op == "&" else None
    return is_pure(this) or (
        isinstance(held, InitList) and all(is_pure(item) or _only_calls(item) for item in held.items)
    )


def _only_calls(expr: Expr) -> bool:
    """Whether an item of an object has a call, which is then one of a function of numbers: no other stands there."""
    return any(isinstance(part, Call) for part in walk(expr))


def keeps_objects(made: Expr, this: Expr | None, bound: Mapping[int, Expr], result: Type | None) -> bool:
    """Whether the value of a body only reads the objects that it is given as their members: these are values, no
    places. One that is changed, or that the value refers to, is another object than the one it was made from."""
    given = [this.operand if isinstance(this, Unary) and this.op == "&" else None, *bound.values()]
    if not any(isinstance(one, InitList) for one in given):
        return True
    return not isinstance(result, Pointer) and not any(_may_change(part) for part in walk(made))


def _may_change(part: Node) -> bool:
    """Whether a node changes a place, or hands on where it is."""
    if isinstance(part, Unary):
        return part.op in (*INCREMENTS, "&")
    by_address = isinstance(part, Call) and any(not isinstance(one.type, Scalar) for one in part.arguments)
    return by_address or isinstance(part, Assign | VerbatimExpr)


class MadeObjects:
    """Finds the members of the objects that the expressions of one file make."""

    def __init__(self, expressions: ExpressionBuilder, library: CxxLibrary) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table
        self.library = library
        self._known: dict[int, InitList | None] = {}

    def value(self, row: int) -> InitList | None:
        """Return the object that an expression makes or names, as its members; None where they are not all known."""
        if not self.expressions.own:
            return self._find(row)
        if row not in self._known:  # it is asked for again at every call around it
            self._known[row] = self._find(row)
        found = self._known[row]
        return None if found is None else again(found)

    def _find(self, row: int) -> InitList | None:
        row = self._inner(row)
        table, kind = self.table, self.table.kind[row]
        type = self._type(row)
        if type is not None and not is_numbers(self.context, type):
            return None
        if kind == kinds.CONDITIONAL:
            return self._choose(row)
        if kind == kinds.INIT_LIST:
            return self._aggregate(row)
        callee = table.aux[row] if kind == kinds.CALL else -1
        if callee >= 0 and self.context.dump.declared[callee][0] == kinds.CONSTRUCTOR:
            return self._construct(row, callee)
        if callee >= 0 and not self.context.is_library(callee):
            made = self._call(row, callee)
            if made is not None:
                return made
        built = self.expressions.try_expression(row)
        return None if built is None else self.members_of(built)

    def _type(self, row: int) -> Record | None:
        """Return the class of an expression."""
        table = self.table
        if table.kind[row] in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR):
            return object_type(self.context.symbol(table.aux[row]).type) if table.aux[row] >= 0 else None
        return object_type(self.context.types.of(table.type[row])) if table.type[row] >= 0 else None

    def members_of(self, value: Expr) -> InitList | None:
        """Return the members of the object that an lvalue names, or that is known already."""
        inner = peel(value)
        if (
            isinstance(inner, Unary)
            and inner.op == "*"
            and isinstance(inner.operand, Unary)
            and inner.operand.op == "&"
        ):
            inner = inner.operand.operand  # *this
        if isinstance(inner, InitList):
            return again(inner) if isinstance(inner.type, Record) else None
        type = value.type
        if not is_lvalue(value) or not is_pure(value) or not isinstance(type, Record):
            return None
        if not is_numbers(self.context, type):
            return None
        items: list[Expr] = []
        for field in type.fields:
            if self.expressions.is_closed(type.tag, field.name):
                part: Expr | None = self.expressions.cxx.open_member(value, field.name, value.span)
            else:
                part = member_of(value, field.name, value.span, intact=False)
            if part is None:
                return None
            items.append(again(part))
        return self.list_of(type, items, value.span)

    def list_of(self, type: Record, items: list[Expr], span: Span) -> InitList | None:
        """Return an object of known members, each converted to its type; None where they are too many to write out."""
        if len(items) != len(type.fields) or sum(1 for item in items for _ in walk(item)) > LARGEST_OBJECT:
            return None
        converted = [self.library.convert(i, f.type, span) for i, f in zip(items, type.fields, strict=True)]
        if not all(self._is_repeatable(item) for item in converted):
            return None
        return InitList(span=span, type=type, items=tuple(converted))

    def _is_repeatable(self, expr: Expr) -> bool:
        """Whether an expression may be evaluated any number of times; a large one is one of several small ones."""
        return self.library.is_repeated(expr)

    def _inner(self, row: int) -> int:
        """Return the row below what only moves an object on: conversions, `Vec3{…}` around its constructor."""
        table = self.table
        while True:
            row = table.inner(row)
            below = table.expressions(row)
            if table.kind[row] not in (kinds.FUNCTIONAL_CAST, kinds.UNEXPOSED_EXPR, kinds.PAREN) or len(below) != 1:
                return row
            if table.kind[row] == kinds.FUNCTIONAL_CAST and table.kind[table.inner(below[0])] not in (
                kinds.CALL,
                kinds.INIT_LIST,
            ):
                return row
            row = below[0]

    def _place(self, row: int) -> Span:
        return self.expressions.site_of(row)

    def _choose(self, row: int) -> InitList | None:
        parts = self.table.expressions(row)
        if len(parts) != 3:
            return None
        test = self.expressions.try_expression(parts[0])
        then, other = self.value(parts[1]), self.value(parts[2])
        if test is None or then is None or other is None or not self.library.is_copied(test):
            return None
        place, type = self._place(row), then.type
        items: list[Expr] = [
            Conditional(span=place, type=a.type, condition=again(test), then=a, other=b)
            for a, b in zip(then.items, other.items, strict=True)
        ]
        return self.list_of(type, items, place) if isinstance(type, Record) else None

    def _aggregate(self, row: int) -> InitList | None:
        """Return the object of a class without constructors that a list makes."""
        type = self.context.types.of(self.table.type[row])
        parts = self.table.expressions(row)
        made = [self.expressions.try_expression(part) for part in parts]
        known = [one for one in made if one is not None]
        if not isinstance(type, Record) or len(known) != len(type.fields):
            return None
        return self.list_of(type, known, self._place(row))

    # --- constructors

    def _construct(self, row: int, callee: int) -> InitList | None:
        parts = self.table.expressions(row)
        type = self.context.types.of(self.table.type[row])
        if not isinstance(type, Record):
            return None
        symbol = self.context.symbol(callee).type
        given = symbol.parameters[1:] if isinstance(symbol, FunctionType) and symbol.method else ()
        copied = object_type(given[0]) if len(given) == 1 else None
        if copied is not None and copied.tag == type.tag and len(parts) == 1:
            return self.value(parts[0])
        found = self.context.bodies.get(callee)
        if found is None or self._is_too_deep(callee):
            return None
        bound = self.bind(row, found[0], parts)
        if bound is None:
            return None
        there = self.expressions.elsewhere(self._place(row), found[1], bound, None, callee)
        members = self._start_members(there, found[0], type)
        return None if members is None else self._body(there, type, members).run(found[0], made=True)

    def _start_members(self, there: ExpressionBuilder, row: int, type: Record) -> dict[str, Expr] | None:
        """Return what the members are that a constructor's list, or the class itself, gives a first value."""
        members: dict[str, Expr] = {}
        listed = ""
        for child in self.table.children(row):
            if self.table.kind[child] == kinds.MEMBER_REF:
                listed = self.context.dump.declared[self.table.aux[child]][1] if self.table.aux[child] >= 0 else ""
            elif kinds.UNEXPOSED_EXPR <= self.table.kind[child] <= kinds.LAST_EXPR:
                made = there.try_expression(self._unwrap_list(child)) if listed else None
                if made is None or listed in members:
                    return None  # another constructor, or what is no member
                members[listed], listed = made, ""
        for field in type.fields:
            if field.name not in members and (first := self._first_value(there, type, field.name)) is not None:
                members[field.name] = first
        return members

    def _unwrap_list(self, row: int) -> int:
        """Return the number in `x{a}`."""
        inner = self.table.inner(row)
        below = self.table.expressions(inner)
        return below[0] if self.table.kind[inner] == kinds.INIT_LIST and len(below) == 1 else row

    def _first_value(self, there: ExpressionBuilder, type: Record, field: str) -> Expr | None:
        """Return the constant that a class gives a member where no constructor does."""
        place, table = type.definition, self.table
        if place is None:
            return None
        rows = [
            row
            for row in self.context.field_rows
            if place.start <= table.start[row] < place.end
            and table.aux[row] >= 0
            and self.context.dump.declared[table.aux[row]][1] == field
        ]
        values = [table.expressions(row) for row in rows]
        if len(values) != 1 or len(values[0]) != 1:
            return None
        made = there.try_expression(self._unwrap_list(values[0][0]))
        return made if made is not None and not any(isinstance(part, Name) for part in walk(made)) else None

    # --- functions and operators

    def _call(self, row: int, callee: int) -> InitList | None:
        """Return the object that a function of the program's gives back."""
        found, type = self.context.bodies.get(callee), self.context.types.of(self.table.type[row])
        if found is None or self._is_too_deep(callee) or self.context.detail(callee)[3] & VIRTUAL:
            return None
        given, arguments = self.expressions.cxx.parts_of(row, callee)
        symbol = self.context.symbol(callee).type
        if not isinstance(symbol, FunctionType) or not isinstance(symbol.result, Record):
            return None
        bound = self.bind(row, found[0], arguments)
        this: Expr | None = None
        if symbol.method:
            held = self._object(given)
            if held is None:
                return None
            this = Unary(span=held.span, type=Pointer(held.type), op="&", operand=held)
        if bound is None or not isinstance(type, Record):
            return None
        there = self.expressions.elsewhere(self._place(row), found[1], bound, this, callee)
        return self._body(there, type, None).run(found[0], made=False)

    def _object(self, given: int | None) -> InitList | None:
        """Return the members of the object that a method is called of."""
        if given is None:
            return None
        if given >= 0:
            return self.value(given)
        this = self.expressions.this
        held = this.operand if isinstance(this, Unary) and this.op == "&" else None
        return None if held is None else self.members_of(held)

    def bind(self, row: int, function: int, rows: list[int]) -> dict[int, Expr] | None:
        """Return what the parameters of a function are in a call that writes nothing; None where one is not known."""
        parameters = [c for c in self.table.children(function) if self.table.kind[c] == kinds.PARM_DECL]
        if len(parameters) != len(rows):
            return None
        bound: dict[int, Expr] = {}
        for number, (parameter, argument) in enumerate(zip(parameters, rows, strict=True)):
            type = self.context.symbol(self.table.aux[parameter]).type
            made = self.argument(row, argument, number, type)
            if made is None:
                return None
            bound[self.table.aux[parameter]] = made
        return bound

    def argument(self, row: int, argument: int, number: int, type: Type) -> Expr | None:
        """Return an argument as what the parameter is in the body."""
        wanted = type.to if isinstance(type, Pointer) and type.reference else type
        if isinstance(wanted, Record):
            return self.value(argument)
        made = self.expressions.cxx.argument(row, argument, number)
        if made is None or not isinstance(wanted, Scalar) or not self.library.is_copied(made):
            return None
        return self.library.convert(made, wanted, self._place(row))

    def is_written_as_list(self, type: Record) -> bool:
        """Whether `{a, b}` makes the object whose members are a and b: there is no constructor, or one that says so."""
        place = type.definition
        if place is None:
            return False
        _, _, body = place.text.partition("{")
        if re.search(r"\binitializer_list\b|\btemplate\b|\bexplicit\b", body):
            return False
        declared, detail = self.context.dump.declared, self.context.detail
        making = [
            n for n, one in enumerate(declared) if one[0] == kinds.CONSTRUCTOR and self._owner(detail(n)[2]) == type.tag
        ]
        own = [n for n in making if n in self.context.bodies]
        if not own:
            return not making and not any(self.context.types.hides(type.tag, f.name) for f in type.fields)
        fitting = [
            n for n in own if self._parameters(n) is not None and len(self._parameters(n) or ()) == len(type.fields)
        ]
        return len(fitting) == 1 and self._sets_in_order(fitting[0], type)

    def _owner(self, row: int) -> str:
        owner = self.context.types.of(row) if row >= 0 else None
        return owner.tag if isinstance(owner, Record) else ""

    def _parameters(self, callee: int) -> list[int] | None:
        """Return the parameters of a function that takes numbers only; None for any other."""
        row = self.context.bodies[callee][0]
        found = [self.table.aux[c] for c in self.table.children(row) if self.table.kind[c] == kinds.PARM_DECL]
        return found if all(self._number(n) is not None for n in found) else None

    def _number(self, parameter: int) -> Scalar | None:
        """Return the type of the number that a parameter is, also where it is a reference that changes nothing."""
        type = self.context.symbol(parameter).type
        if isinstance(type, Pointer) and type.reference and isinstance(type.to, Scalar) and type.to.const:
            return type.to
        return type if isinstance(type, Scalar) else None

    def _sets_in_order(self, callee: int, type: Record) -> bool:
        """Whether the members of what a constructor makes are what it is given, one after the other."""
        row, number = self.context.bodies[callee]
        symbols = [self.context.symbol(n) for n in self._parameters(callee) or ()]
        assert type.definition is not None
        bound: dict[int, Expr] = {
            n: Name(span=type.definition, type=self._number(n) or s.type, symbol=s)
            for n, s in zip(self._parameters(callee) or (), symbols, strict=True)
        }
        there = self.expressions.elsewhere(type.definition, number, bound, None, callee)
        members = self._start_members(there, row, type)
        made = None if members is None else self._body(there, type, members).run(row, made=True)
        if made is None:
            return False
        plain = [part.operand if isinstance(part := peel(item), Cast) else part for item in made.items]
        return all(isinstance(p, Name) and p.symbol == s for p, s in zip(map(peel, plain), symbols, strict=True))

    def within(self, there: ExpressionBuilder) -> MadeObjects:
        """Return the reader of another body."""
        return MadeObjects(there, self.library)

    def _body(self, there: ExpressionBuilder, type: Record, members: dict[str, Expr] | None) -> ObjectBody:
        return ObjectBody(there, self.library, type, members, self.within(there))

    def _is_too_deep(self, callee: int) -> bool:
        return callee in self.expressions.open or len(self.expressions.open) >= _MOST_NESTED
