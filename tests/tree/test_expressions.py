"""Types compare by what they are; a changed node is not the user's text any more."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.expressions import (
    Array,
    FunctionType,
    Literal,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Symbol,
    TemplateArgument,
    replace,
)

INT = Scalar("int", 32, "signed")
HERE = Span(SourceFile("a.c", "1"), 0, 1)
ONE = Literal(span=HERE, intact=True, type=INT, text="1", value=1)


def test_types_compare_by_structure_without_how_they_were_written() -> None:
    assert Scalar("int", 32, "signed", const=True, spelling="number") == INT
    assert Scalar("int", 32, "signed", volatile=True) != INT and Scalar("int", 32, "unsigned") != INT
    assert Pointer(INT, restrict=True, reference=True) == Pointer(INT) and Pointer(INT) != Pointer(Pointer(INT))
    assert Array(INT, ONE, 3) == Array(INT, None, 3) and Array(INT, None, 3) != Array(INT, None, 4)
    assert Record("s", 8, const=True) == Record("s", 8) and Record("s", 8) != Record("s", 8, union=True)
    assert FunctionType(INT, (), method=True) == FunctionType(INT, ()) != FunctionType(INT, (), variadic=True)
    assert Opaque("a", "b") == Opaque("a") != Opaque("b")
    assert len({INT, Scalar("int", 32, "signed", const=True)}) == 1


def test_symbols_are_their_keys_and_nodes_themselves() -> None:
    assert Symbol("a", "k", INT, "local") == Symbol("a", "k", Pointer(INT), "global")
    assert Symbol("a", "k", INT, "local") != Symbol("a", "l", INT, "local")
    other = replace(ONE, text="2", value=2)
    assert ONE.intact and not other.intact and (other.text, other.span) == ("2", HERE)
    assert replace(ONE) != ONE and not replace(ONE).intact


@pytest.mark.parametrize(
    ("argument", "text", "condition"),
    [
        (TemplateArgument("T", "", "unsigned char"), "unsigned char", "std::is_same<T, unsigned char>::value"),
        (TemplateArgument("N", "int", "-3"), "-3", "N == -3"),
        # clang gives the value of `true` as -1, as a number of one bit
        (TemplateArgument("B", "bool", "-1"), "true", "B"),
        (TemplateArgument("B", "bool", "true"), "true", "B"),
        (TemplateArgument("B", "bool", "0"), "false", "!B"),
        (TemplateArgument("B", "bool", "false"), "false", "!B"),
    ],
)
def test_what_is_said_of_an_argument(argument: TemplateArgument, text: str, condition: str) -> None:
    assert (argument.text, argument.condition) == (text, condition)
