"""The places in memory that host code reads and writes, as lvalues: what an update of data on the device must name.

    s->sum += u[i * m + j] * f(v)        reads s->sum, u[i * m + j] (and s, i, m, j, v by name); writes s->sum; calls f

Invariant: every read, write and call that evaluating the expression may do stands in the answer, in evaluation order as
far as C has one. `sure`: it happens whenever the expression is evaluated. `within`: the call of whose arguments it is a
part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct, field

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Return,
    SizeOf,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, FunctionType, Opaque, Symbol, lengths
from warpsmith.tree.walk import names, peel, walk

__all__ = ["Evaluated", "PlaceAccess", "evaluate_expressions", "find_loads_for", "find_names_for", "is_repeatable"]


class PlaceAccess(Struct, frozen=True, eq=False):
    """One access to the object that the lvalue `place` names."""

    place: Expr
    read: bool
    write: bool
    sure: bool
    within: Call | None


class Evaluated(Struct):
    """What evaluating something does. `opaque`: constructs that are not modelled; `changes`: it assigns something;
    `copies`: addresses in blocks of memory that are read as a whole."""

    accesses: list[PlaceAccess] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    opaque: list[Node] = field(default_factory=list)
    copies: list[Expr] = field(default_factory=list)
    changes: bool = False


def evaluate_expressions(*nodes: Node | None, objects: bool = False) -> Evaluated:
    """Return what evaluating expressions or simple statements, in this order, does. `objects`: where a text makes,
    moves and destroys objects, that alone does not matter."""
    done = Evaluated()
    reader = _Reader(done, objects)
    for node in nodes:
        for expr in _expressions(node, done):
            reader.value(expr, sure=True, within=None)
    return done


def _expressions(node: Node | None, done: Evaluated) -> Iterator[Expr]:
    match node:
        case ExprStmt():
            yield node.expr
        case Return(value=value) if value is not None:
            yield value
        case DeclStmt(declarations=declarations):
            done.opaque += [d for d in declarations if isinstance(d.symbol.type, Opaque)]
            for declaration in declarations:
                yield from lengths(declaration.symbol.type)
                if declaration.init is not None:
                    yield declaration.init
        case Verbatim():
            if not _is_idle(node):
                done.opaque.append(node)
        case _ if isinstance(node, Expr):
            yield node
        case _:
            return


def _is_idle(node: Verbatim) -> bool:
    """Whether a text is a preprocessor line that stands for nothing else."""
    return node.text.startswith("#") and not (node.calls or node.control or node.reads or node.writes)


_Compound = Binary | Cast | InitList | Literal | MacroUse | SizeOf | Unary | VerbatimExpr
"""What touches nothing itself, or is not modelled."""


class _Reader(Struct, frozen=True):
    done: Evaluated
    objects: bool

    def value(self, expr: Expr, *, sure: bool, within: Call | None) -> None:
        """Note what evaluating `expr` for its value does."""
        expr = peel(expr)
        match expr:
            case Name() | Index() | Member() | Unary(op="*"):
                self.place(expr, sure=sure, within=within)
                if not isinstance(expr.type, Array | FunctionType):
                    self.access(expr, sure=sure, within=within, read=True)
            case Unary(op="&"):
                self.place(expr.operand, sure=sure, within=within)
            case Unary() if "++" in expr.op or "--" in expr.op:
                self.place(expr.operand, sure=sure, within=within)
                self.access(expr.operand, sure=sure, within=within, read=True, write=True)
            case Assign():
                self.place(expr.target, sure=sure, within=within)
                self.value(expr.value, sure=sure, within=within)
                self.access(expr.target, sure=sure, within=within, read=expr.op != "=", write=True)
            case Binary(op="&&" | "||"):
                self.value(expr.left, sure=sure, within=within)
                self.value(expr.right, sure=False, within=within)
            case Conditional():
                self.value(expr.condition, sure=sure, within=within)
                self.value(expr.then, sure=False, within=within)
                self.value(expr.other, sure=False, within=within)
            case Call():
                self.call(expr, sure=sure, within=within)
            case Binary() | Cast() | InitList() | Literal() | MacroUse() | SizeOf() | Unary() | VerbatimExpr():
                self.parts(expr, sure=sure, within=within)

    def parts(self, expr: _Compound, *, sure: bool, within: Call | None) -> None:
        match expr:
            case Binary():
                self.value(expr.left, sure=sure, within=within)
                self.value(expr.right, sure=sure, within=within)
            case Unary():
                self.value(expr.operand, sure=sure, within=within)
            case Cast():
                self.every((*lengths(expr.type), expr.operand), sure=sure, within=within)
            case SizeOf():
                self.every(expr.operands, sure=sure, within=within)
            case InitList():
                self.every(expr.items, sure=sure, within=within)
            case MacroUse():
                self.value(expr.expansion, sure=sure, within=within)
            case VerbatimExpr():
                self.opaque(expr, sure=sure, within=within)
            case Literal():
                pass
            case _:
                assert_never(expr)

    def every(self, parts: tuple[Expr, ...], *, sure: bool, within: Call | None) -> None:
        for part in parts:
            self.value(part, sure=sure, within=within)

    def opaque(self, expr: VerbatimExpr, *, sure: bool, within: Call | None) -> None:
        if expr.doing is None or not self.objects:
            self.done.opaque.append(expr)
            return
        self.every(expr.doing.evaluates, sure=sure, within=within)
        self.done.copies += expr.doing.copies

    def call(self, call: Call, *, sure: bool, within: Call | None) -> None:
        self.done.calls.append(call)
        if not isinstance(peel(call.function), Name):
            self.value(call.function, sure=sure, within=within)
        for argument in call.arguments:
            self.value(argument, sure=sure, within=within or call)

    def place(self, expr: Expr, *, sure: bool, within: Call | None) -> None:
        """Note what finding the object that `expr` names does."""
        expr = peel(expr)
        match expr:
            case Name():
                pass
            case Index():
                self.value(expr.base, sure=sure, within=within)
                self.value(expr.index, sure=sure, within=within)
            case Member(arrow=False):
                self.place(expr.base, sure=sure, within=within)
            case Member():
                self.value(expr.base, sure=sure, within=within)
            case Unary(op="*"):
                self.value(expr.operand, sure=sure, within=within)
            case _:
                self.value(expr, sure=sure, within=within)

    def access(self, place: Expr, *, sure: bool, within: Call | None, read: bool = False, write: bool = False) -> None:
        self.done.changes |= write
        self.done.accesses.append(PlaceAccess(peel(place), read, write, sure, within))


def is_repeatable(place: Expr, *, sure: bool) -> bool:
    """Whether the address of `place` may be taken once more, beside the code that touches it: finding it changes
    nothing and, where that code may not run at all, loads nothing from memory but plain variables."""
    for part in walk(place):
        if isinstance(part, Assign | Call | Verbatim | VerbatimExpr):
            return False
        if isinstance(part, Unary) and ("++" in part.op or "--" in part.op):
            return False
    return sure or not find_loads_for(place)


def find_loads_for(place: Expr) -> list[PlaceAccess]:
    """Return what the address of `place` is loaded from, plain variables apart."""
    return [
        access for access in evaluate_expressions(*_address_parts(place)).accesses if not isinstance(access.place, Name)
    ]


def find_names_for(place: Expr) -> frozenset[Symbol]:
    """Return the variables whose values the address of `place` is made from: that of an object's own part rests on
    none, whatever is in the object."""
    place = peel(place)
    match place:
        case Name():
            return frozenset()
        case Member(arrow=False):
            return find_names_for(place.base)
        case Index() if isinstance(place.base.type, Array):
            return find_names_for(place.base) | {name.symbol for name in names(place.index)}
        case _:
            return frozenset(name.symbol for name in names(place))


def _address_parts(place: Expr) -> tuple[Expr, ...]:
    """Return the values that the address of `place` is made from."""
    place = peel(place)
    match place:
        case Index():
            return (place.base, place.index)
        case Member(arrow=True):
            return (place.base,)
        case Member():
            return _address_parts(place.base)
        case Unary(op="*"):
            return (place.operand,)
        case _:
            return ()
