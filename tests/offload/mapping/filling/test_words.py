"""What texts of kernels with tiles are made of."""

from __future__ import annotations

from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping.filling.words import assign, barrier, declare, unqualified, with_values
from warpsmith.tree.printing.printer import nothing, print_stmt
from warpsmith.tree.types import INT, Scalar, Symbol

SPAN = Span(SourceFile("a.c", "i"), 0, 1)
COUNTER = Symbol("i", "f:i", INT, "local", SPAN)
ROW = Symbol("row", "f:row", INT, "local", SPAN)


def test_statements() -> None:
    assert print_stmt(barrier(SPAN), known=nothing) == "__syncthreads();"
    assert print_stmt(declare(ROW, number(3, SPAN), SPAN), known=nothing) == "const int row = 3;"
    assert print_stmt(assign(name(ROW, SPAN), number(3, SPAN), INT), known=nothing) == "row = 3;"


def test_values_stand_in_place_of_variables() -> None:
    both = binary("+", name(COUNTER, SPAN), name(ROW, SPAN), INT)
    changed = assign(name(COUNTER, SPAN), with_values(both, {ROW: number(7, SPAN)}), INT)
    assert print_stmt(changed, known=nothing) == "i = i + 7;"
    assert print_stmt(assign(name(COUNTER, SPAN), both, INT), known=nothing) == "i = i + row;"


def test_a_variable_has_no_qualifiers() -> None:
    assert unqualified(Scalar("int", 32, "signed", const=True, spelling="const int")) == Scalar(
        "int", 32, "signed", spelling="int"
    )
