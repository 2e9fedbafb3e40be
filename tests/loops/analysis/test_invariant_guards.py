"""The tests before a loop under which what it holds in variables is not changed by its stores."""

from __future__ import annotations

import pytest

from tests.loops.steps.same_results import rewritten
from tests.poly.analysis import program_of
from warpsmith.loops.analysis.invariant_guards import all_of, apart_from
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.poly.facts import Section
from warpsmith.tree.nodes import Literal
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE, INT, Array, Pointer, Symbol, Type

HEAD = """struct in { double *u; int *id, n, m; double dt, w; };
void f(struct in *s, struct in *t, int n, int *c, double *q, double **rows)
"""
ROWS = "struct grid { int n, **rows, *ends; }; "


def condition(body: str, loop: str = "f/for") -> str:
    """Return the condition before the loop of `f` with variables, "" where there is none."""
    after = " ".join(rewritten(f"{HEAD}{{ {body} }}", Localize(loop)).split())
    return after[after.index("if (") : after.index(" for (", after.index("if ("))] if "if (" in after else ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # the section that is stored to, beside the place that is held
        ("for (int i = 0; i < s->n; i++) c[i] = i;",
         ["&s->n + sizeof(s->n) <= (unsigned long)c", "<= (unsigned long)&s->n"]),
        # several numbers of a struct are one place
        ("for (int i = 0; i < s->n; i++) c[i] = s->m;", ["(unsigned long)s + sizeof(*s) <= (unsigned long)c"]),
        # where in c cannot be said: another block of memory
        ("for (int i = 0; i < s->n; i++) c[s->id[i] & 7] = i;", ["ws_allocations_apart(c, "]),
    ],
)  # fmt: skip
def test_what_is_tested(body: str, said: list[str]) -> None:
    found = condition(body)
    assert all(words in found for words in said), found


def test_stores_of_another_type_need_no_test() -> None:
    assert condition("for (int i = 0; i < s->n; i++) q[i] = i;", "f/i") == ""


def _number(value: int) -> Literal:
    span = program_of("int x;").units[0].items[0].span
    return Literal(span=span, type=INT, text=str(value), value=value)


@pytest.mark.parametrize(
    ("type", "lower", "text"),
    [
        (Pointer(DOUBLE), 0, "8 <= (unsigned long)a || (unsigned long)(a + 9) <= 4"),
        (Pointer(DOUBLE), 2, "8 <= (unsigned long)(a + 2) || (unsigned long)(a + 9) <= 4"),
        (
            Pointer(Array(DOUBLE, _number(3))),
            2,
            "8 <= (unsigned long)((double *)a + 2) || (unsigned long)((double *)a + 9) <= 4",
        ),
        (Array(DOUBLE, _number(9)), 0, "8 <= (unsigned long)a || (unsigned long)(a + 9) <= 4"),
        (DOUBLE, 0, "8 <= (unsigned long)&a || (unsigned long)&a <= 4"),
    ],
)
def test_a_place_lies_before_or_behind_a_section(type: Type, lower: int, text: str) -> None:
    section = Section(
        Symbol("a", "a", type, "parameter"), DOUBLE, _number(lower), _number(9), read=False, written=True, covers=False
    )
    assert print_expr(apart_from(_number(4), _number(8), section)) == text


def test_all_tests_hold() -> None:
    one, two, three = map(_number, (1, 2, 3))
    assert all_of((one,)) is one
    assert print_expr(all_of((one, two, three))) == "1 && 2 && 3"


def test_bounds_inside_are_tested_before_the_nest() -> None:
    text = (
        ROWS
        + """void f(struct grid *g, int *to) {
      for (int i = 0; i < g->n; i++)
        for (int k = g->ends[i]; k < g->ends[i + 1]; k++)
          to[g->ends[k]] = i; }"""
    )
    once = rewritten(text, Localize("f/for"))
    assert "ws_allocations_apart(to, &g->n) && ws_allocations_apart(to, ends)" in once.replace("\n", " ")
    twice = rewritten("int ws_allocations_apart(const void *p, const void *q);" + once, Localize("f/i/for"))
    # the test around it is all that it takes
    assert twice.count("ws_allocations_apart") == once.count("ws_allocations_apart") + 1
    assert "int ends2 = ends[i + 1];" in twice and "k < ends2" in twice
