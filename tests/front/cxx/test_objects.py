"""Small pieces of trees that C++ implies."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.cxx.objects import (
    address,
    again,
    before,
    behind,
    dereference,
    is_lvalue,
    is_pure,
    is_value,
    member_of,
    qualify,
)
from warpsmith.tree.containers import DATA, SIZE
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
    SizeOf,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import DOUBLE, INT, Array, Field, FunctionType, Pointer, Record, Scalar, Symbol, Type

FILE = SourceFile("a.cpp", "static_cast<Ref>(x) (const double &)x (unsigned long)x")
HERE = Span(FILE, 0, 0)
ROW = Record("std::vector<int>", 24, (Field(DATA, Pointer(INT), 0), Field(SIZE, INT, 8)))


def name(text: str, type: Type = INT) -> Name:
    return Name(span=HERE, type=type, symbol=Symbol(text, text, type, "local"))


def unary(op: str, operand: Expr, type: Type = INT) -> Unary:
    return Unary(span=HERE, type=type, op=op, operand=operand)


def cast(start: int, end: int) -> Cast:
    x = Name(span=Span(FILE, end - 1, end), type=INT, symbol=name("x").symbol)
    return Cast(span=Span(FILE, start, end), type=DOUBLE, operand=x)


X, P, V = name("x"), name("p", Pointer(INT)), name("v", ROW)
ONE = Literal(span=HERE, type=INT, text="1", value=1)
HALF = Literal(span=HERE, type=DOUBLE, text=".5", value=0.5)
CALL = Call(span=HERE, type=ROW, function=name("f", FunctionType(ROW, ())), arguments=())
BOX = VerbatimExpr(span=HERE, type=INT, text="?", reads=(), writes=(), calls=True, reason="")
ASSIGN = Assign(span=HERE, type=INT, op="=", target=X, value=ONE)
INDEX = Index(span=HERE, type=INT, base=P, index=ONE)
COMMA = Binary(span=HERE, type=INT, op=",", left=ONE, right=X)
FIELD = Member(span=HERE, type=INT, base=CALL, field="k", arrow=False)


def choice(then: Expr, other: Expr) -> Conditional:
    return Conditional(span=HERE, type=INT, condition=X, then=then, other=other)


def some(*expressions: Expr) -> tuple[Expr, ...]:
    return expressions


def test_which_expressions_name_an_object() -> None:
    assert all(
        is_lvalue(e) for e in some(X, INDEX, unary("*", P), MacroUse(span=HERE, type=INT, name="M", expansion=X))
    )
    through = Member(span=HERE, type=INT, base=CALL, field="k", arrow=True)
    assert is_lvalue(through) and not is_lvalue(FIELD)
    assert not any(is_lvalue(e) for e in some(ONE, unary("-", X), ASSIGN, CALL, BOX))


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (ONE, True), (CALL, True), (SizeOf(span=HERE, type=INT, text="sizeof x", value=4), True), (unary("-", X), True),
        (unary("x++", X), True), (unary("++x", X), False), (unary("--x", X), False), (unary("*", P), False),
        (COMMA, False), (Binary(span=HERE, type=INT, op="+", left=X, right=X), True), (ASSIGN, False), (X, False),
        (INDEX, False), (BOX, False), (choice(X, X), False), (choice(X, ONE), True), (choice(ONE, X), True),
        (choice(X, name("d", DOUBLE)), True), (choice(P, name("q", Pointer(INT))), False), (FIELD, True),
        (Member(span=HERE, type=INT, base=V, field="k", arrow=False), False),
        (Member(span=HERE, type=INT, base=CALL, field="k", arrow=True), False),
        (InitList(span=HERE, type=INT, items=(ONE,)), True), (InitList(span=HERE, type=INT, items=(X,)), False),
        # a cast to a name that may stand for a reference, to a reference, to a number
        (cast(0, 18), False), (cast(20, 37), False), (cast(38, 54), True),
    ],
)  # fmt: skip
def test_which_expressions_are_values_of_their_own(expr: Expr, value: bool) -> None:
    assert is_value(expr) is value


def test_a_reference_is_an_address_and_its_use_what_lies_there() -> None:
    there = dereference(P, HERE, intact=True)
    assert isinstance(there, Unary) and (there.op, there.operand, there.type) == ("*", P, INT)
    assert dereference(unary("&", X, Pointer(INT)), HERE, intact=True) is X
    assert address(there) is P
    taken = address(INDEX)
    assert isinstance(taken, Unary) and (taken.op, taken.operand, taken.type) == ("&", INDEX, Pointer(INT))
    assert (before(Span(FILE, 3, 7)), behind(Span(FILE, 3, 7))) == (Span(FILE, 3, 3), Span(FILE, 7, 7))


def test_a_copy_shares_no_node() -> None:
    copied = again(CALL)
    assert copied is not CALL and copied.function is not CALL.function
    nested = again(choice(INDEX, ONE))
    assert isinstance(nested.then, Index) and nested.then is not INDEX and nested.then.base is not P


def test_members_of_const_objects_are_const() -> None:
    made = member_of(V, DATA, HERE, intact=False)
    assert made is not None and made.type == Pointer(INT) and not made.arrow
    fixed = Record(ROW.tag, ROW.bytes, ROW.fields, const=True)
    of_const = member_of(unary("*", name("r", Pointer(fixed)), fixed), DATA, HERE, intact=False)
    assert of_const is not None and of_const.arrow and isinstance(of_const.type, Pointer)
    assert isinstance(of_const.type.to, Scalar) and of_const.type.to.const
    assert member_of(V, "none", HERE, intact=False) is None and member_of(X, "k", HERE, intact=False) is None
    union = Record("u", 8, (Field("k", INT, 0),), union=True)
    assert member_of(name("u", union), "k", HERE, intact=False) is None
    row = qualify(Array(INT, None, 3), True)
    assert isinstance(row, Array) and isinstance(row.of, Scalar) and row.of.const
    assert qualify(INT, False) == INT


def test_what_may_be_evaluated_again() -> None:
    assert all(is_pure(e) for e in some(X, INDEX, unary("-", X), choice(X, ONE)))
    assert not any(
        is_pure(e) for e in some(ASSIGN, CALL, BOX, unary("x++", X), InitList(span=HERE, type=INT, items=()))
    )
