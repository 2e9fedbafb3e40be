"""Variables that a fragment uses, and blockers of kernels. The words of refusals: see test_choice.py."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.selection.uses import find_accessed, obstacle, uses_only_scalars

TEXT = """
#include <stdio.h>
#include <math.h>
enum { FOUR = 4 };
struct open { int n; int data[]; };
struct old { int n; int data[1]; };
struct closed { int data[1]; int n; };
struct both { double x; double *p; };
static const double weights[4] = {1, 2, 3, 4};
static double bias;
static double weighted(double x) { return x * weights[1]; }
static double biased(double x) { return x + bias; }
static double inner(double x) { return biased(x); }
void f(int n, int m, int k, double *restrict u, const double *v, double (*rows)[m], struct open *o, struct old *d,
       struct closed *c, struct both *b, struct both own, double (*call)(double), double **pp, volatile int *busy)
{
    double s = 0, t = 2;
    volatile int flag = 0;
    u[0] = v[1] + s + FOUR;
    s = s + u[k];
    { double x = v[0]; s = x; for (int i = 0; i < n; i++) u[i] = x * t; }
    rows[k][1] = 1;
    t = weighted(t);
    t = biased(t);
    t = inner(t) + bias;
    t = inner(t);
    t = call(t);
    o->data[k] = 1;
    d->data[k] = 2;
    c->data[0] = 3;
    b->p[0] = 4;
    b->x = 5;
    own.x = 6;
    { struct both mine; mine.x = 1; s = mine.x; }
    pp[0] = 0;
    flag = 1;
    { static int times; times++; }
    { double part[n]; part[0] = 1; }
    { double part[4]; part[0] = 1; }
    { double (*row)[m] = rows; row[0][0] = 2; }
    k = sizeof(rows[0]);
    k = sizeof(double[4]);
    { const double **address = &v; }
    printf("%d", k);
    k = n * own.x + sin(t) + (int)s;
    k = n * FOUR - m;
    k = u[0];
    k = b->x;
    k = own.x;
    k = u == v;
}
void g(int m, double (*rows)[m]) { rows[0][0] = 1; m = 3; }
void h(int m, double (*rows)[m + 1]) { rows[0][0] = 1; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("uses"))


def uses(program: Analyzed, text: str, *owned: str) -> list[str]:
    found = find_accessed(program.request(), (program.statement(text),))
    mine = frozenset(program.symbol(name) for name in owned)
    return [f"{u.kind} {u.symbol.name} {'r' * u.read}{'w' * u.written}" for u in found.uses(mine)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("u[0] = v[1] + s + FOUR", ["buffer u rw", "buffer v r", "value s r"]),
        ("s = s + u[k]", ["buffer u r", "value k r", "cell s rw"]),
        ("{ double x", ["buffer u rw", "buffer v r", "value n r", "cell s rw", "value t r"]),
        # the length of a row is needed to find one
        ("rows[k][1] = 1", ["buffer rows w", "value m r", "value k r"]),
    ],
)
def test_how_each_variable_is_used(statement: str, expected: list[str], program: Analyzed) -> None:
    assert sorted(uses(program, statement)) == sorted(expected)
    kinds = [one.split()[0] == "buffer" for one in uses(program, statement)]
    assert kinds == sorted(kinds, reverse=True)


def test_what_every_iteration_owns_is_no_use(program: Analyzed) -> None:
    assert uses(program, "{ double x", "s", "n") == ["buffer u rw", "buffer v r", "value t r"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("u[0] = v", ""),
        ("t = weighted", ""),
        ("t = biased", "a function called here uses the file-scope variable 'bias'"),
        ("t = inner(t);", "'bias'"),
        ("t = inner(t) + bias", ""),  # the fragment names it as well: it has a copy
        ("t = call", "calls a function through a pointer"),
        ("o->data", "'data' goes on behind the end of its struct"),
        ("d->data", "'data' goes on behind the end of its struct"),
        ("c->data", ""),
        ("b->p", "'p' is a pointer inside a struct"),
        ("b->x", "'b' is a struct with pointers: copy 'x' to a variable before the loop"),
        ("own.x", "'own' is a struct with pointers"),
        ("{ struct both mine", ""),
        ("pp[0]", "'pp' is a pointer to pointers"),
        ("flag = 1", "'flag' is volatile"),
        ("{ static int", "'times' is a static variable"),
        ("{ double part[n]", "the length of the local array 'part' is not a constant"),
        ("{ double part[4]", ""),
        ("{ double (*row)", "'row' points to rows of variable length"),
        ("k = sizeof(rows[0])", "sizeof(rows[0]) depends on a variable length"),
        ("k = sizeof(double[4])", ""),
        ("{ const double **address", "the address of 'v' itself is taken"),
        ("printf", "printf"),
        ("rows[k][1] = 1", ""),
    ],
)
def test_what_keeps_a_statement_out_of_a_kernel(statement: str, said: str, program: Analyzed) -> None:
    found = obstacle(program.request(), (program.statement(statement),))
    assert (found is None) == (said == "")
    assert found is None or said in found.text


@pytest.mark.parametrize("function", ["g", "h"])
def test_a_row_length_that_may_change_or_is_no_plain_variable(function: str, program: Analyzed) -> None:
    found = obstacle(program.request(function), (program.statement("rows[0]", function),))
    if function == "h":
        assert found is None
    else:
        assert found is not None and found.text == "the row length of 'rows' may change"


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("n * FOUR - m", True), ("own.x", True), ("u[0]", False), ("b->x", False), ("sin(t)", False),
        ("n * own.x + sin(t) + (int)s", False), ("u == v", False),
    ],
)  # fmt: skip
def test_what_the_host_can_evaluate_at_a_launch(expr: str, expected: bool, program: Analyzed) -> None:
    assert uses_only_scalars(program.expr(expr)) == expected
