"""Memory that a step adds: how much is asked for, what is tested, and what C and C++ write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.linear import Linear
from warpsmith.loops.writing.storage import Room, after, allocation, before, has_memory_functions, positive, release
from warpsmith.tree.printing.printer import print_expr, print_stmt
from warpsmith.tree.program import Unit
from warpsmith.tree.types import DOUBLE, INT, Pointer, Symbol

TEXT = "void f(int n, int m, unsigned k, unsigned l) { n = m; }"


class Names:
    """Forms over the parameters n and m (int), k and l (unsigned)."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        ((function),) = unit.functions
        self.span = function.body.span
        self.of = {s.name: s for s in function.parameters}

    def form(self, constant: int = 0, **factors: int) -> Linear:
        return Linear.make({self.of[name]: factor for name, factor in factors.items()}, constant)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Names:
    return Names(load(TEXT, tmp_path_factory.mktemp("storage")).units[0])


def test_places_beside_a_text_are_empty(names: Names) -> None:
    span = names.span
    assert (before(span).start, before(span).end) == (span.start, span.start)
    assert (after(span).start, after(span).end) == (span.end, span.end)


def test_every_count_that_is_not_surely_positive_is_tested(names: Names) -> None:
    form = names.form
    cases = [
        ((form(3),), ""),
        ((), ""),
        ((form(0),), "0 > 0"),
        ((form(n=1),), "n > 0"),
        ((form(-1, n=1),), "n > 1"),
        ((form(2, n=1),), "(long long)n + 2 > 0"),
        ((form(n=1, m=-1),), "n > m"),
        ((form(n=1), form(n=1), form(m=1)), "n > 0 && m > 0"),
    ]
    for counts, text in cases:
        test = positive(counts, names.span)
        assert ("" if test is None else print_expr(test)) == text
    # the difference of unsigned numbers is negative where they say so, too: it is worked out in a wider type
    (unsigned,) = (print_expr(t) for t in (positive((form(k=1, l=-1),), names.span),) if t is not None)
    assert unsigned != "k > l" and unsigned.endswith("> 0") and "long long" in unsigned


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ([{"constant": 8}], "8 * sizeof(double)"),
        ([{"constant": 1}], "1 * sizeof(double)"),
        ([{"n": 1}], "(n > 0 ? (size_t)n : 1) * sizeof(double)"),
        ([{"n": 1}, {"constant": 1}], "(n > 0 ? (size_t)n : 1) * sizeof(double)"),
        ([{"n": 1}, {"m": 1}], "(n > 0 && m > 0 ? (size_t)n * m : 1) * sizeof(double)"),
    ],
)
def test_at_least_one_element_is_asked_for(counts: list[dict[str, int]], text: str, names: Names) -> None:
    forms = tuple(names.form(**count) for count in counts)
    asked = Room(forms, forms, checked=False).bytes(DOUBLE, names.span)
    assert print_expr(asked) == text


def test_a_product_that_may_be_out_of_reach_is_tested(names: Names) -> None:
    n, m, nine = names.form(n=1), names.form(m=1), names.form(9)
    assert Room((n, m), (n, m), checked=False).too_large(names.span) is None
    assert Room((n, nine), (n,), checked=True).too_large(names.span) is None
    test = Room((n, m), (n, m), checked=True).too_large(names.span)
    assert test is not None and print_expr(test) == "n > 0 && m > 0 && (double)n * m > 1e15"
    certain = Room((n, m), (nine,), checked=True).too_large(names.span)
    assert certain is not None and print_expr(certain) == "(double)n * m > 1e15"


def test_memory_is_tested_and_given_back(names: Names, tmp_path: Path) -> None:
    symbol = Symbol("w", "w", Pointer(DOUBLE), "local")
    n, m = names.form(n=1), names.form(m=1)
    made = allocation(names.unit, symbol, Room((n,), (n,), checked=True), names.span)
    declared, test = (" ".join(print_stmt(s).split()) for s in made)
    assert declared == "double *w = malloc((n > 0 ? (size_t)n : 1) * sizeof(double));"
    assert test == "if (!w) abort();"
    _, large = allocation(names.unit, symbol, Room((n, m), (), checked=True), names.span)
    assert "if (!w || (double)n * m > 1e15)" in print_stmt(large)
    assert print_stmt(release(symbol, names.span)) == "free(w);"
    path = tmp_path / "a.cpp"
    path.write_text(TEXT)
    unit = load_program([str(path)], FrontOptions()).program.units[0]
    declared = print_stmt(allocation(unit, symbol, Room((names.form(2),), (), checked=False), names.span)[0])
    assert declared == "double *w = (double *)malloc(2 * sizeof(double));"
    with pytest.raises(AssertionError):
        allocation(unit, Symbol("w", "w", INT, "local"), Room((n,), (n,), checked=False), names.span)


@pytest.mark.parametrize(
    ("text", "header", "found"),
    [
        ("#include <stdlib.h>\n", "", True),
        ("#include <math.h>\n", "", False),
        ("// #include <stdlib.h>\n", "", False),
        ('#include "own.h"\n', "#include <stdlib.h>\n", True),
        ('#include "own.h"\n', "int one;\n", False),
    ],
)
def test_malloc_is_declared_where_its_header_is_included(text: str, header: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text(header)
    assert has_memory_functions(load(f"{text}{TEXT}", tmp_path).units[0]) == found
