"""Expressions of the user's text, said in the names of a function that stands in another file.

    a[2 * n + g->first]       a, n by value; what g->first says is evaluated where the function is called
    &sum                      the address of sum
    m + 1       double (*m)[100]      (char *)m + 1 * 800LL: the generated file need not know the type

Invariant: what is passed by value is not written by the function's own statements; what they write is passed by
address, and then read there as well. The types of parameters are numbers, pointers to numbers, and void *.

Limits: what has neither a name nor a type that the generated file may have is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final, assert_never

import msgspec.structs

from warpsmith.base.findings import Finding
from warpsmith.emit.device.prototypes import plain
from warpsmith.emit.host.outline.model import NotOutlinedError, PassedArgument
from warpsmith.emit.words import fresh
from warpsmith.tree.allocations import is_question, is_vector_question
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import CHAR, INT, LONG_LONG, VOID, Array, Pointer, Record, Scalar, Symbol, Type, byte_size
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = ["OwnNames", "passable", "refuse"]

_NUMBERS: Final = ("signed", "unsigned", "float")
_BUILT_IN = re.compile(r"sizeof ?\((?:(?:const|volatile|unsigned|signed|long|short|int|char|float|double) ?)+\)")


def refuse(text: str, node: Node) -> NotOutlinedError:
    """Return the error that says what only the user's text can say."""
    return NotOutlinedError(Finding("POR008", "error", text, node.span))


def passable(type: Type, at: Node) -> Type:
    """Return the type by which a function of a generated file takes what has `type` in the user's text."""
    match type:
        case Scalar(kind="bool"):
            return INT
        case Scalar(kind="signed" | "unsigned" | "float"):
            return plain(type)
        case Pointer(to=to):
            return Pointer(_target(to, deep=False))
        case Array(of=of):
            return Pointer(_target(of, deep=False))
        case _:
            raise refuse("a value of this type cannot be passed to generated code", at)


def _target(type: Type, *, deep: bool) -> Type:
    """Return what a parameter points to, for what the user's pointer points to."""
    const = isinstance(type, Scalar | Record | Pointer) and type.const
    volatile = isinstance(type, Scalar) and type.volatile
    if isinstance(type, Array):
        return _target(type.of, deep=True)
    if isinstance(type, Scalar) and type.kind in _NUMBERS and not deep:
        return msgspec.structs.replace(plain(type), const=const, volatile=volatile)
    return msgspec.structs.replace(VOID, const=const, volatile=volatile)


class OwnNames:
    """The names of one function, which grow as expressions are said in them. `local`: variables of the port's own,
    under the names and types that they have in the function; `written`: the user's variables that its statements
    write; `moved`: the pointers among them that are set themselves, not what they lead to; `taken`: names that it has
    otherwise; `given`: what variables of the port's own are, where the user's text can say it as well."""

    def __init__(
        self,
        local: Mapping[Symbol, Symbol],
        written: Collection[Symbol],
        taken: Collection[str] = (),
        moved: Collection[Symbol] = (),
        given: Mapping[Symbol, Expr] | None = None,
    ) -> None:
        self.local = dict(local)
        self._written = frozenset(written)
        self._shifted = frozenset(moved)
        self._given = dict(given or {})
        self._taken = {*taken, *(symbol.name for symbol in local.values())}
        self._arguments: dict[str, PassedArgument] = {}

    @property
    def arguments(self) -> tuple[PassedArgument, ...]:
        """The parameters that the expressions so far need."""
        return tuple(self._arguments.values())

    def value(self, expr: Expr) -> Expr:
        """Return `expr` in the function's names.

        Raises NotOutlinedError for what the function cannot know.
        """
        match expr:
            case Literal():
                return expr
            case SizeOf():
                return self._size(expr)
            case MacroUse():
                return self.value(expr.expansion)
            case Name():
                return self._name(expr)
            case Index(base=Name(symbol=symbol), index=index) if self._is_own_table(symbol):
                # where rows start: the run time's own, which no statement changes
                return replace(expr, base=self.value(expr.base), index=self.value(index))
            case Index() | Member():
                return self._passed(expr)
            case InitList() | VerbatimExpr():
                raise refuse("this expression cannot leave the user's text", expr)
            case Unary() | Binary() | Conditional() | Cast() | Call() | Assign():
                return self._operation(expr)
            case _:
                assert_never(expr)

    def _is_own_table(self, symbol: Symbol) -> bool:
        type = self.local[symbol].type if symbol in self.local else None
        return isinstance(type, Pointer) and isinstance(type.to, Scalar) and type.to.const

    def _operation(self, expr: Unary | Binary | Conditional | Cast | Call | Assign) -> Expr:
        match expr:
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Conditional(then=then, other=other) if _loads(then) or _loads(other):
                return self._passed(expr)
            case Conditional():
                parts = [self.value(part) for part in (expr.condition, expr.then, expr.other)]
                return replace(expr, condition=parts[0], then=parts[1], other=parts[2])
            case Cast():
                return replace(expr, type=passable(expr.type, expr), operand=self.value(expr.operand))
            case Call():
                if is_vector_question(expr):
                    return self._passed(expr)
                if not is_question(expr):
                    raise refuse("a call cannot leave the user's text", expr)
                return replace(expr, arguments=tuple(self.value(argument) for argument in expr.arguments))
            case Assign():
                return replace(expr, target=self.value(expr.target), value=self.value(expr.value))
            case _:
                assert_never(expr)

    def variable(self, symbol: Symbol, at: Node) -> Symbol:
        """Return the function's name for a variable of the user's whose address it needs: a pointer to what it holds,
        or the pointer itself."""
        if symbol in self.local:
            return self.local[symbol]
        name = self._place(Name(span=at.span, type=symbol.type, symbol=symbol))
        assert isinstance(name, Name)
        return name.symbol

    def passed(self, given: Expr, wanted: str, type: Type) -> Expr:
        """Return a parameter for the value of an expression of the user's text."""
        return self._parameter(given, wanted, type)

    def size(self, object: Name) -> Expr:
        """Return how many bytes a variable of the user's has."""
        known = byte_size(object.symbol.type)
        if known is not None:
            return _number(known, object)
        name = object.symbol.name
        size = SizeOf(span=object.span, type=LONG_LONG, text=f"sizeof {name}", value=None, named=(object.symbol,))
        return self._parameter(size, f"{name}_bytes", LONG_LONG)

    # --- the kinds of expressions

    def _size(self, expr: SizeOf) -> Expr:
        if _BUILT_IN.fullmatch(expr.text):
            return expr
        if expr.value is None:
            own = {symbol.name for symbol in self.local} & identifiers(expr.text)
            if own or expr.operands:
                raise refuse("a size that is known at run time cannot leave the user's text", expr)
            return self._parameter(expr, "size", LONG_LONG)
        return _number(expr.value, expr)

    def _name(self, expr: Name) -> Expr:
        symbol = expr.symbol
        if symbol in self.local:
            return _use(self.local[symbol], expr)
        if symbol.storage == "function":
            raise refuse("a function cannot leave the user's text", expr)
        if symbol.storage == "enumerator" and symbol.value is not None:
            return _number(symbol.value, expr)
        if isinstance(symbol.type, Record):
            return self._place(expr)
        if isinstance(symbol.type, Pointer) and symbol.type.reference:
            return self._place(expr)
        if symbol in self._shifted:
            return self._moved_pointer(expr)
        if symbol in self._written and isinstance(symbol.type, Scalar):
            return self._at(self._place(expr), expr)
        return self._parameter(expr, symbol.name)

    def _moved_pointer(self, expr: Name) -> Expr:
        """Return the value of a pointer that is set here, which is passed by address."""
        type = passable(expr.symbol.type, expr)
        if _is_untyped(type):
            raise refuse("a pointer that is set here leads to a type that generated code does not have", expr)
        address = Unary(span=expr.span, type=Pointer(expr.symbol.type), op="&", operand=expr)
        place = self._parameter(address, expr.symbol.name, Pointer(type))
        return Unary(span=expr.span, type=type, op="*", operand=place)

    @staticmethod
    def _at(place: Expr, expr: Expr) -> Expr:
        if _is_untyped(place.type):
            raise refuse("what is written has a type that generated code does not have", expr)
        return Unary(span=expr.span, type=expr.type, op="*", operand=place)

    def _unary(self, expr: Unary) -> Expr:
        if expr.op == "&":
            return self._address(expr)
        if expr.op == "*":
            operand = expr.operand
            shared = isinstance(operand, Name) and operand.symbol in self._written
            return self._at(self._place(operand), expr) if shared and isinstance(operand, Name) else self._passed(expr)
        if expr.op in ("+", "-", "~", "!"):
            return replace(expr, operand=self.value(expr.operand))
        raise refuse("this expression cannot leave the user's text", expr)

    def _binary(self, expr: Binary) -> Expr:
        if expr.op == ",":
            raise refuse("this expression cannot leave the user's text", expr)
        if expr.op in ("&&", "||") and _loads(expr.right):
            return self._passed(expr)
        left, right = self.value(expr.left), self.value(expr.right)
        pointed = _pointed(expr.left.type)
        if expr.op in ("+", "-") and pointed is not None and _pointed(expr.right.type) is None:
            return self._moved(expr, left, right, pointed)
        return replace(expr, left=left, right=right)

    def _moved(self, expr: Binary, pointer: Expr, count: Expr, pointed: Type) -> Expr:
        """Return `pointer op count` in elements of `pointed`."""
        if isinstance(none := peel(count), Literal) and none.value == 0:
            return pointer
        if not _is_untyped(pointer.type):
            return replace(expr, type=pointer.type, left=pointer, right=count)
        size = byte_size(pointed)
        if size is None:
            raise refuse("the size of what is pointed to is not known to generated code", expr)
        bytes = Cast(span=expr.span, type=Pointer(CHAR), operand=pointer)
        wide = Cast(span=expr.span, type=LONG_LONG, operand=count)
        offset = Binary(span=expr.span, type=LONG_LONG, op="*", left=wide, right=_number(size, expr))
        return replace(expr, type=Pointer(CHAR), left=bytes, right=offset)

    def _address(self, expr: Unary) -> Expr:
        operand = expr.operand
        while isinstance(operand, MacroUse):
            operand = operand.expansion
        if isinstance(operand, Name) and isinstance(operand.symbol.type, Scalar) and operand.symbol in self.local:
            return replace(expr, operand=self._name(operand))
        if isinstance(operand, Name):
            return self._name(operand) if operand.symbol in self.local else self._place(operand)
        if isinstance(operand, Unary) and operand.op == "*":
            return self.value(operand.operand)
        if isinstance(operand, Index) and not isinstance(operand.type, Array):
            base, index = self.value(operand.base), self.value(operand.index)
            if not _is_untyped(base.type):
                return replace(expr, type=base.type, operand=replace(operand, base=base, index=index))
            pointer = _decayed(operand.base.type)
            moved = Binary(span=expr.span, type=pointer, op="+", left=operand.base, right=operand.index)
            return self._moved(moved, base, index, operand.type)
        return self._passed(expr)

    # --- what the caller passes

    def _place(self, expr: Name) -> Expr:
        """Return a parameter that points to a variable: a pointer or an array does so by its value."""
        type = expr.symbol.type
        if expr.symbol in self._shifted:
            raise refuse("what a pointer leads to that is set here cannot leave the user's text", expr)
        if isinstance(type, Array) or (isinstance(type, Pointer) and not type.reference):
            return self._parameter(expr, expr.symbol.name)
        if isinstance(type, Pointer):
            return self._parameter(expr, expr.symbol.name, Pointer(_target(type.to, deep=False)))
        pointer = Pointer(type)
        address = Unary(span=expr.span, type=pointer, op="&", operand=expr)
        return self._parameter(address, expr.symbol.name, Pointer(_target(type, deep=False)))

    def _passed(self, expr: Expr) -> Expr:
        """Return a parameter for the value of an expression, which is evaluated where the function is called."""
        expr = self._as_called(expr)
        bound = next((part for part in walk(expr) if isinstance(part, Name) and part.symbol in self.local), None)
        if bound is not None:
            raise refuse("what is read with a variable of the port's own cannot leave the user's text", expr)
        if any(isinstance(part, Name) and self._is_set(part.symbol) for part in walk(expr)):
            raise refuse("what is read with a variable that is written here cannot leave the user's text", expr)
        if isinstance(expr.type, Record):
            address = Unary(span=expr.span, type=Pointer(expr.type), op="&", operand=expr)
            return self._parameter(address, _wanted(expr), Pointer(_target(expr.type, deep=False)))
        return self._parameter(expr, _wanted(expr))

    def _is_set(self, symbol: Symbol) -> bool:
        """Whether statements of the function set a variable itself: what they write in memory, none behind reads."""
        return symbol in self._shifted or (symbol in self._written and isinstance(symbol.type, Scalar))

    def _as_called(self, expr: Expr) -> Expr:
        """Return an expression with what variables of the port's own are in place of them."""

        def change(node: Node) -> Node:
            known = self._given.get(node.symbol) if isinstance(node, Name) else None
            return node if known is None else self._as_called(known)

        return rebuild(expr, change) if self._given else expr

    def _parameter(self, given: Expr, wanted: str, type: Type | None = None) -> Expr:
        key = print_expr(given, nothing)
        known = self._arguments.get(key)
        if known is None:
            name = fresh(wanted, self._taken)
            self._taken.add(name)
            type = passable(given.type, given) if type is None else type
            known = PassedArgument(Symbol(name, f"parameter:{key}", type, "parameter", given.span), given)
            self._arguments[key] = known
        return _use(known.parameter, given)


def _loads(expr: Expr) -> bool:
    """Whether an expression may read what is there only where it is evaluated."""
    return any(
        isinstance(part, Index)
        or (isinstance(part, Member) and (part.arrow or not isinstance(peel(part.base), Name | Member)))
        or (isinstance(part, Unary) and part.op == "*")
        for part in walk(expr)
    )


def _wanted(expr: Expr) -> str:
    """Return a name for what an expression says."""
    while not isinstance(expr, Name | Member):
        match expr:
            case Unary():
                expr = expr.operand
            case Index():
                expr = expr.base
            case MacroUse():
                expr = expr.expansion
            case Cast():
                expr = expr.operand
            case _:
                return "value"
    return expr.symbol.name if isinstance(expr, Name) else expr.field


def _use(symbol: Symbol, at: Expr) -> Name:
    return Name(span=at.span, type=symbol.type, symbol=symbol)


def _number(value: int, at: Expr) -> Expr:
    if value < 0:
        return Unary(span=at.span, type=INT, op="-", operand=_number(-value, at))
    wide = value >= 2**31
    return Literal(span=at.span, type=LONG_LONG if wide else INT, text=str(value), value=value)


def _decayed(type: Type) -> Type:
    return Pointer(type.of) if isinstance(type, Array) else type


def _pointed(type: Type) -> Type | None:
    """Return what a pointer points to, or an array is made of."""
    if isinstance(type, Pointer):
        return type.to
    return type.of if isinstance(type, Array) else None


def _is_untyped(type: Type) -> bool:
    return isinstance(type, Pointer) and isinstance(type.to, Scalar) and type.to.kind == "void"
