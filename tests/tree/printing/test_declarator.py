"""Declarators of C."""

from __future__ import annotations

import pytest

from tests.tree.printing.test_printer import A, B, number
from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.nodes import (
    Literal,
)
from warpsmith.tree.printing.declarator import spell
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.types import (
    CHAR,
    DOUBLE,
    INT,
    VOID,
    Array,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Type,
)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Pointer(Array(DOUBLE, number(4), 4)), "double (*x)[4]"),
        (Array(Pointer(INT), None, 3), "int *x[3]"),
        (Array(Array(DOUBLE, A), B), "double x[b][a]"),
        (Pointer(FunctionType(VOID, (INT, Pointer(CHAR)))), "void (*x)(int, char *)"),
        (Array(Pointer(FunctionType(INT, ())), None, 2), "int (*x[2])(void)"),
        (Pointer(Scalar("double", 64, "float", const=True)), "const double *x"),
        (Pointer(DOUBLE, restrict=True), "double *restrict x"),
        (Pointer(Pointer(INT, const=True)), "int *const *x"),
        (Record("point", 8), "struct point x"),
        (Record("point", 8, const=True, spelling="point"), "const point x"),
        (Scalar("double", 64, "float", spelling="real"), "real x"),
        (Scalar("double", 64, "float", const=True, spelling="const real"), "const real x"),
        (Pointer(Array(INT, None, 4), spelling="row"), "row x"),
    ],
)
def test_declarators(type: Type, text: str) -> None:
    assert print_type(type, "x") == text


def test_an_unnamed_struct_cannot_be_declared_again() -> None:
    with pytest.raises(RefusedError):
        print_type(Record("", 8), "x")


ROW = Array(INT, None, 3)
F = FunctionType(INT, (Pointer(INT), DOUBLE), variadic=True)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (Pointer(ROW), "int (*x)[3]"), (Array(Pointer(INT), None, None), "int *x[]"),
        (Pointer(F), "int (*x)(int *, double, ...)"), (FunctionType(INT, ()), "int x(void)"),
        (Pointer(Pointer(INT, const=True), restrict=True), "int *const *restrict x"),
        (Pointer(INT, reference=True, const=True), "int &x"), (Pointer(ROW, reference=True), "int (&x)[3]"),
        (Pointer(Array(INT, None, 3, "row")), "row *x"), (Array(INT, None, 2, "int[2]"), "int x[2]"),
        (Array(Scalar("int", 32, "signed", const=True), None, 4, "std::array<int, 4>"), "const std::array<int, 4> x"),
        (Scalar("int", 32, "signed", const=True, volatile=True), "const volatile int x"),
        (Scalar("int", 32, "signed", const=True, spelling="const real"), "const real x"),
        (Record("s", 8, const=True), "const struct s x"), (Record("u", 8, union=True), "union u x"),
        (Record("s", 8, spelling="point_t"), "point_t x"), (Opaque("__int128"), "__int128 x"),
    ],
)  # fmt: skip
def test_layers_wrap_the_name(type: Type, text: str) -> None:
    assert spell(type, "x", lambda _: "n") == text


def test_extents_are_written_by_the_caller_and_abstract_ones_have_no_name() -> None:
    one = Literal(span=Span(SourceFile("a.c", ""), 0, 0), type=INT, text="1", value=1)
    assert spell(Array(INT, one, 3), "x", lambda e: f"<{e.text}>") == "int x[<1>]"  # type: ignore[union-attr]
    assert spell(Array(INT, None, 3), "", lambda _: "") == "int[3]" and spell(Pointer(INT), "", lambda _: "") == "int *"
    with pytest.raises(RefusedError, match="without a name"):
        spell(Record("", 8), "x", lambda _: "")
