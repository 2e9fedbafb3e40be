"""Statements that change an object of a small class of numbers, as the assignments to its members that they do.

    f += d * s;                    { f.x += d.x * s; f.y += d.y * s; f.z += d.z * s; }
    p = V(p.y, p.x);               { double made_x = p.y; double made_y = p.x; p.x = made_x; p.y = made_y; }
    p[i] += p[j];                  where i may be j, no member is read after it was written

Invariant: every value is computed from what memory held before the statement, and each member is assigned once. An
operator that reads a member through another name after it has written that member is left as it is. The block prints as
the user's statement while nothing in it has changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.c.counted.writes import is_direct, may_name_same_object
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import VIRTUAL
from warpsmith.front.cxx.classes.bodies import ObjectBody, Watch
from warpsmith.front.cxx.classes.members import MadeObjects
from warpsmith.front.cxx.classes.values import is_numbers
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import again, dereference, is_lvalue, is_pure, member_of, unwritten
from warpsmith.tree.containers import is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    Index,
    InitList,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
)
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import peel, rebuild, root_symbol, same, walk

__all__ = ["ObjectChanges"]

_BEFORE = ":before:"


class ObjectChanges:
    """Finds such statements in the rows of one function."""

    def __init__(self, statements: StatementBuilder) -> None:
        self.statements = statements
        self.context = statements.context
        self.table = statements.table
        self.expressions = statements.expressions
        self.library = CxxLibrary(self.expressions)
        self.objects = MadeObjects(self.expressions, self.library)

    def statement(self, row: int, span: Span) -> Block | None:
        """Return the block of an expression statement; None where it is no such change, or needs no block."""
        row = self.table.inner(row)
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        if callee < 0 or self.context.is_library(callee) or self.context.detail(callee)[3] & VIRTUAL:
            return None
        given, arguments = self.expressions.cxx.parts_of(row, callee)
        symbol = self.context.symbol(callee).type
        if not isinstance(symbol, FunctionType):
            return None
        method = symbol.method
        target = self._target(given if method else arguments[0] if arguments else None)
        if target is None or not self._is_opaque(row):
            return None
        if method and callee not in self.context.bodies and self.context.dump.declared[callee][1] == "operator=":
            made = self.objects.value(arguments[0]) if len(arguments) == 1 else None
        else:
            made = self._run(row, callee, target, arguments)
        return None if made is None else self._write(target, made, span)

    def _is_opaque(self, row: int) -> bool:
        """Whether an expression is not modelled, or calls a function of the program's."""
        built = self.expressions.try_expression(row)
        return built is None or any(isinstance(part, VerbatimExpr | Call) for part in walk(built))

    def _target(self, row: int | None) -> Expr | None:
        """Return the object in memory that is changed."""
        if row is None:
            return None
        if row >= 0:
            built = self.expressions.try_expression(row)
        else:
            this = self.expressions.this
            built = this and dereference(self.expressions.this_at(this.span), this.span, intact=False)
        if built is not None and isinstance(built.type, Pointer):
            built = dereference(built, built.span, intact=False)
        if built is None or not is_lvalue(built) or not is_pure(built) or getattr(built.type, "const", False):
            return None
        return built if is_numbers(self.context, built.type) else None

    def _run(self, row: int, callee: int, target: Expr, rows: list[int]) -> InitList | None:
        """Return what the target is after a function has run that changes nothing else."""
        found, type = self.context.bodies.get(callee), target.type
        symbol = self.context.symbol(callee).type
        if found is None or not isinstance(type, Record) or not isinstance(symbol, FunctionType):
            return None
        parameters = [self.table.aux[c] for c in self.table.children(found[0]) if self.table.kind[c] == kinds.PARM_DECL]
        held, known = self._before(target), dict[str, Expr]()
        if held is None or len(parameters) != len(rows):
            return None
        bound: dict[int, Expr] = {}
        for number, (parameter, argument) in enumerate(zip(parameters, rows, strict=True)):
            wanted = self.context.symbol(parameter).type
            if number == 0 and not symbol.method:
                if not isinstance(wanted, Pointer) or not wanted.reference or getattr(wanted.to, "const", True):
                    return None
                bound[parameter] = held
                continue
            made = self.objects.argument(row, argument, number, wanted)
            if made is None:
                return None
            stands = isinstance(wanted, Pointer) and self._stands_in_memory(argument)
            bound[parameter] = made if stands else self._keep(made, parameter, known)
        subject = None if symbol.method else parameters[0]
        this = Unary(span=held.span, type=Pointer(type), op="&", operand=held) if symbol.method else None
        there = self.expressions.elsewhere(self.expressions.site_of(row), found[1], bound, this, callee)
        names = [field.name for field in type.fields]
        members = dict(zip(names, map(again, held.items), strict=True)) if symbol.method else None
        body = ObjectBody(there, self.library, type, members, self.objects.within(there))
        if subject is not None:
            body.own.add(subject)
        places = dict(zip(names, self._places(target) or (), strict=True))
        body.watch = Watch(subject, lambda value, field: self._may_read(value, places[field]))
        result = body.run(found[0], made=True)
        if result is None or not body.watch.written:
            return None
        known |= {
            item.symbol.key: p for item, p in zip(held.items, places.values(), strict=True) if isinstance(item, Name)
        }
        return rebuild(result, lambda part: _put_back(part, known))

    def _stands_in_memory(self, argument: int) -> bool:
        """Whether what a reference is bound to is no object or number that is made for the call."""
        built = self.expressions.try_expression(argument)
        return built is None or is_lvalue(built)

    def _keep(self, value: Expr, parameter: int, known: dict[str, Expr]) -> Expr:
        """Return names for a value that is computed before the function runs."""
        if isinstance(value, InitList):
            items = tuple(self._keep(item, parameter, known) for item in value.items)
            return InitList(span=value.span, type=value.type, items=items)
        key = f"{parameter}{_BEFORE}{len(known)}"
        known[key] = value
        return Name(span=value.span, type=value.type, symbol=Symbol("before", key, value.type, "local", value.span))

    def _before(self, target: Expr) -> InitList | None:
        """Return the object as it was, by names for its members."""
        places = self._places(target)
        if places is None:
            return None
        named = [
            Name(
                span=place.span, type=place.type,
                symbol=Symbol(place.field, f"this{_BEFORE}{place.field}", place.type, "local", place.span),
            )
            for place in places
        ]  # fmt: skip
        return InitList(span=target.span, type=target.type, items=tuple(named))

    def _places(self, target: Expr) -> list[Member] | None:
        """Return the members of the target; None where one of them cannot be named here."""
        assert isinstance(target.type, Record)
        found: list[Member] = []
        for field in target.type.fields:
            if self.expressions.is_closed(target.type.tag, field.name):
                made = self.expressions.cxx.open_member(target, field.name, target.span)
            else:
                made = member_of(target, field.name, target.span, intact=False)
            if not isinstance(made, Member):
                return None
            found.append(unwritten(made))
        return found

    def _may_read(self, value: Expr, place: Expr) -> bool:
        """Whether evaluating a value may read what an lvalue names."""
        return any(not self._are_apart(part, place) for part in _reads(value))

    def _moves(self, places: list[Member]) -> bool:
        """Whether finding a member of the object may read another one, which the statement writes: `c[c[0].k] = …`."""
        read = (part for place in places for part in _reads(place) if part is not place)
        return any(not self._are_apart(part, place) for part in read for place in places)

    def _are_apart(self, read: Expr, place: Expr) -> bool:
        """Whether two lvalues certainly name different objects; the second is a member of an object of a class."""
        if not may_name_same_object(read.type, place.type):
            return True
        if isinstance(read, Name) or is_held_by_container(read):
            return True  # a variable that is a number or a pointer, or what a container holds: in no object of a class
        if isinstance(read, Member) and isinstance(place, Member) and read.field != place.field:
            holders = [_holder(one) for one in (read, place)]
            if holders[0] is not None and holders[0] == holders[1]:
                return True  # of one object, or of two: members of another name lie elsewhere
        roots = [root_symbol(one) for one in (read, place)]
        own = [is_direct(one) and self._is_own(root) for one, root in zip((read, place), roots, strict=True)]
        return roots[0] != roots[1] and None not in roots and any(own)

    def _is_own(self, symbol: Symbol | None) -> bool:
        """Whether a variable is the function's own, and no pointer or reference leads to it."""
        if symbol is None or isinstance(symbol.type, Pointer):
            return False
        return symbol.storage in ("local", "parameter") and symbol.key not in self.expressions.escaped

    # --- writing

    def _write(self, target: Expr, made: InitList, span: Span) -> Block | None:
        """Return the assignments to the members; through variables where one is read after it was written."""
        places = self._places(target)
        if places is None or len(places) != len(made.items) or self._moves(places):
            return None
        pairs = [(p, unwritten(v)) for p, v in zip(places, made.items, strict=True) if not same(p, v)]
        late = any(self._may_read(v, p) for n, (_, v) in enumerate(pairs) for p, _ in pairs[:n])
        start = Span(span.file, span.start, span.start)
        written = list(self._through_variables(pairs, start) if late else self._direct(pairs, start))
        return Block(span=span, intact=True, statements=tuple(written)) if written else None

    def _direct(self, pairs: list[tuple[Member, Expr]], place: Span) -> Iterator[Stmt]:
        for target, value in pairs:
            op, rest = "=", value
            if (
                isinstance(value, Binary)
                and value.op in "+-*/"
                and value.type == target.type
                and same(value.left, target)
            ):
                op, rest = f"{value.op}=", value.right
            if op != "=" and not isinstance(rest.type, Scalar):
                op, rest = "=", value
            made = Assign(span=place, type=target.type, op=op, target=target, value=rest)
            yield ExprStmt(span=place, expr=made)

    def _through_variables(self, pairs: list[tuple[Member, Expr]], place: Span) -> Iterator[Stmt]:
        words = identifiers(self.statements.text.file.text)
        kept: list[Name] = []
        for target, value in pairs:
            name = f"made_{target.field}"
            while name in words:
                name += "_"
            key = f"{place.file.path}:{place.start}:{name}"
            symbol = Symbol(name, key, _plain(target.type), "local", place)
            kept.append(Name(span=place, type=symbol.type, symbol=symbol))
            yield DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=value),))
        for (target, _), was in zip(pairs, kept, strict=True):
            made = Assign(span=place, type=target.type, op="=", target=target, value=was)
            yield ExprStmt(span=place, expr=made)


def _plain(type: Node | object) -> Scalar:
    assert isinstance(type, Scalar)
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)


def _is_kept(part: Node) -> bool:
    return isinstance(part, Name) and _BEFORE in part.symbol.key


def _put_back(part: Node, known: dict[str, Expr]) -> Node:
    """Return what a name for a value before the statement stands for; any other node as it is."""
    return again(known[part.symbol.key]) if isinstance(part, Name) and _is_kept(part) else part


def _reads(value: Expr) -> Iterator[Expr]:
    """Yield the lvalues that evaluating an expression reads, those in it that find others among them."""
    for part in walk(value):
        read = isinstance(part, Name | Member | Index) or (isinstance(part, Unary) and part.op == "*")
        if not read or not isinstance(part, Name | Member | Index | Unary) or _is_kept(part):
            continue
        if not isinstance(part.type, Record | Array):  # of an object, a member is read
            yield part


def _holder(member: Member) -> str | None:
    """Return the class whose member an lvalue names."""
    type = peel(member.base).type
    type = type.to if member.arrow and isinstance(type, Pointer) else type
    return type.tag if isinstance(type, Record) and not type.union else None
