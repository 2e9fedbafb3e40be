"""Rows of `T **` by where they start: which subscripts are exact, and what the guard on them asks for."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from tests.poly.regions.modelled import accesses, modelled
from warpsmith.poly.regions.apart_rows import row_guards
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import Symbol

HEAD = """const long long *ws_row_starts(const void *rows, unsigned long element);
void *ws_row_zero(const long long *starts);
"""


def text(body: str, parameters: str = "int n, int m, const int *at, double *restrict y, double **a") -> str:
    return f"""{HEAD}void f({parameters}) {{
    const long long *a_at = ws_row_starts(a, sizeof(double));
    double *a_flat = (double *)ws_row_zero(a_at);
    for (int i = 0; i < n; i++) {{ {body} }} }}"""


# what an iteration does, the elements of the rows, and the guard
CASES: list[tuple[str, list[str], list[str]]] = [
    ("y[i] = a_flat[a_at[i] + 1];", ["a_flat.@a_at[i].@[1]"], []),
    ("a_flat[a_at[i]] = 0;", ["a_flat.@a_at[i].@[0]="], ["no two rows of a_flat overlap in [0 .. 1)"]),
    (
        "for (int j = 2; j < m; j++) a_flat[a_at[i] + j] = 0;",
        ["a_flat.@a_at[i].@[j]="],
        ["no two rows of a_flat overlap in [2 .. m)"],
    ),
    (
        "a_flat[a_at[i] + at[i]] = 0;",
        ["a_flat.@a_at[i].@[?]="],
        ["no two rows of a_flat lie in one block of memory"],
    ),
    (
        "a_flat[a_at[i + 1] + 3] = a_flat[a_at[i] + 5];",
        ["a_flat.@a_at[i].@[5]", "a_flat.@a_at[i + 1].@[3]="],
        ["no two rows of a_flat overlap in [3 .. 6)"],
    ),
    # a row that is chosen by data is no row that is known
    ("y[i] = a_flat[a_at[at[i]]];", ["a_flat[?]"], []),
    ("a_flat[i] = 0;", ["a_flat[i]="], []),
]


@pytest.mark.parametrize(("body", "elements", "guards"), CASES, ids=[case[0] for case in CASES])
def test_elements_of_rows(body: str, elements: list[str], guards: list[str]) -> None:
    region, state = modelled(program_of(text(body)), "f/i")
    assert [a for a in accesses(region, state) if a.startswith("a_flat") and a != "a_flat"] == elements
    told = [a.text for a in region.assumptions if "rows" in a.text]
    assert told == guards
    assert all(a.condition is not None and a.kind == "guarded" for a in region.assumptions)


def test_without_guards_rows_that_are_written_may_be_one() -> None:
    region, state = modelled(program_of(text("a_flat[a_at[i]] = 0;")), "f/i", guards=False)
    assert "a_flat[?]=" in accesses(region, state) and not region.assumptions


def test_a_claim_is_worth_more_than_a_guard_on_whole_blocks() -> None:
    """Rows of one block would fail the guard: under a pragma they are no rows then."""
    body = "a_flat[a_at[i] + at[i]] = 0;"
    claimed = text(body).replace("for (int i", "\n#pragma omp parallel for\nfor (int i")
    region, state = modelled(program_of(claimed), "f/i")
    assert not [a for a in region.assumptions if "rows" in a.text]
    assert "a_flat[?]=" in accesses(region, state)
    known = text("a_flat[a_at[i]] = 0;").replace("for (int i", "\n#pragma omp parallel for\nfor (int i")
    assert len(modelled(program_of(known), "f/i")[0].assumptions) == 1


def test_guards_of_a_function() -> None:
    one = function(program_of(text("a_flat[a_at[i]] = 0;")), "f")
    (block,) = row_guards(one, frozenset(), one.span)
    starts, guard = row_guards(one, frozenset({block}), one.span)[block]
    assert (block.name, starts.name) == ("a_flat", "a_at")
    assert guard is not None and guard.condition is not None
    assert print_expr(guard.condition, nothing) == "ws_rows_distinct(a_at)"
    assert row_guards(one, frozenset(), one.span)[block] == (starts, None), "what nothing is stored to needs no guard"
    assert not row_guards(function(program_of("void g(void) { }"), "g"), frozenset[Symbol](), one.span)
