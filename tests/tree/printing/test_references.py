"""How C++ writes what the tree has as pointers."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.nodes import Call, Expr, MacroUse, Name, Unary
from warpsmith.tree.printing.references import (
    OBJECT_KEY,
    address_text,
    call_text,
    elements,
    initial,
    is_own_object,
    name_text,
    object_at,
    refers,
)
from warpsmith.tree.types import INT, Array, FunctionType, Pointer, Record, Symbol, Type

HERE = Span(SourceFile("a.cpp", ""), 0, 0)
REFERENCE, POINTER, ARRAY = Pointer(INT, reference=True), Pointer(INT), Array(INT, None, 3)
STD = Array(INT, None, 3, "std::array<int, 3>")
OBJECT = Record("S", 4)


def name(text: str, type: Type) -> Name:
    return Name(span=HERE, type=type, symbol=Symbol(text, text, type, "local"))


def address(of: Expr) -> Unary:
    return Unary(span=HERE, type=POINTER, op="&", operand=of)


R, P, X = name("r", REFERENCE), name("p", POINTER), name("x", INT)


def test_a_reference_alone_is_an_address() -> None:
    assert refers(R) and refers(MacroUse(span=HERE, type=REFERENCE, name="M", expansion=R))
    assert not refers(P) and not refers(X) and not refers(Unary(span=HERE, type=REFERENCE, op="&", operand=X))
    assert [name_text(n) for n in (R, P, X, name("t", ARRAY), name("s", STD))] == ["(&r)", "p", "x", "t", "s.data()"]
    texts = [address_text(n.symbol) for n in (R, P, X, name("t", ARRAY), name("s", STD))]
    assert texts == ["&r", "p", "&x", "t", "s.data()"] and elements(INT) == ""


@pytest.mark.parametrize(
    ("text", "object"),
    [
        ("(&r)", "r"),
        ("(&a)[(&b)]", "(&a)[(&b)]"),
        ("(&f(1))", "f(1)"),
        ("p", "p"),
        ("(&a) + (b)", "(&a) + (b)"),
        ("&r", "&r"),
    ],
)
def test_the_object_of_an_address(text: str, object: str) -> None:
    assert object_at(text) == object


def test_what_a_reference_is_made_from() -> None:
    assert initial(R, "(&r)") == "r" and initial(address(X), "&x") == "x"
    assert initial(P, "p") == "*(p)" and initial(X, "x") == "x"
    assert initial(MacroUse(span=HERE, type=POINTER, name="M", expansion=address(X)), "&x") == "x"


def test_calls_of_functions_and_methods() -> None:
    plain = FunctionType(INT, (REFERENCE, INT))
    method = FunctionType(INT, (Pointer(OBJECT), REFERENCE), method=True)
    given = REFERENCE
    returns = FunctionType(given, ())
    f, m, g = name("f", plain), name("S::m", method), name("g", returns)
    assert call_text(Call(span=HERE, type=INT, function=f, arguments=(address(X), X)), "f", ["&x", "x"]) == "f(x, x)"
    assert (
        call_text(Call(span=HERE, type=INT, function=m, arguments=(address(X), P)), "S::m", ["&x", "p"]) == "x.m(*(p))"
    )
    assert call_text(Call(span=HERE, type=INT, function=m, arguments=(P, R)), "S::m", ["p", "(&r)"]) == "p->m(r)"
    assert call_text(Call(span=HERE, type=INT, function=m, arguments=(R, R)), "S::m", ["(&r)", "(&r)"]) == "r.m(r)"
    assert call_text(Call(span=HERE, type=REFERENCE, function=g, arguments=()), "g", []) == "(&g())"
    pointed = name("h", Pointer(plain))
    assert call_text(Call(span=HERE, type=INT, function=pointed, arguments=(R, X)), "h", ["(&r)", "x"]) == "h(r, x)"
    unknown = name("k", INT)
    assert call_text(Call(span=HERE, type=INT, function=unknown, arguments=(R,)), "k", ["(&r)"]) == "k((&r))"


def test_the_object_of_a_method_is_told_by_its_key() -> None:
    assert is_own_object(Symbol("this", f"f{OBJECT_KEY}", POINTER, "parameter"))
    assert not is_own_object(Symbol("this", "a.c:3:this", POINTER, "parameter"))
