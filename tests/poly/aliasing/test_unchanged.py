"""Does a load keep its value while statements run? By where addresses come from, by types, by members."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.expressions import expressions
from tests.poly.programs import function, shown
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance, disturbances, is_direct, loads
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Cast, Expr, ExprStmt, Function, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.walk import peel

HEAD = """#include <math.h>
#include <stdio.h>
struct s { double *u; int n, m; char name[8]; double w[3]; };
struct other { int n, k; };
union both { int i; float f; };
void elsewhere(void);
static void set(struct s *q) { q->m = 1; }
static void set_n(struct s *q) { q->n = 1; }
static void deep(struct s *q) { set(q); }
static double pure(double x) { return x * 2; }
static void logs(struct s *q) { printf("%d", q->n); }
int shared; double wide; static int own;
"""
PARAMETERS = (
    "int n, int i, double *a, int *k, char *c, struct s *s, struct s *r, struct other *o, union both *b, "
    "struct s t, double **m"
)
Case = tuple[str, str, bool, bool]

# the statement, the load, whether it may change, and whether it may where the rule of effective types is off
CASES: list[Case] = [
    ("s->u[0] = 0;", "s->u", False, True),
    ("s->u[0] = 0;", "s->n", False, True),
    ("a[i] = 0;", "n", False, False),
    ("a[i] = 0;", "k[i]", False, True),
    ("k[i] = 0;", "k[0]", True, True),
    ("k[i] = 0;", "s->n", True, True),
    ("c[i] = 0;", "s->n", True, True),
    ("c[i] = 0;", "s->u", True, True),
    ("c[i] = 0;", "n", False, False),
    # another member of a struct of the same type is another place
    ("r->m = 1;", "s->n", False, True),
    ("r->n = 1;", "s->n", True, True),
    ("s->m = 1;", "s->n", False, False),
    ("o->k = 1;", "s->n", True, True),
    ("s->w[0] = 1;", "a[0]", True, True),
    ("s->name[0] = 1;", "s->n", False, False),
    ("c[0] = 1;", "s->name[0]", True, True),
    ("b->f = 1;", "b->i", True, True),
    ("b->f = 1;", "k[0]", True, True),
    # whole structs change what they hold
    ("*r = t;", "s->n", True, True),
    ("*r = t;", "s->u", True, True),
    ("t.m = 3;", "t.n", False, False),
    ("t.n = 3;", "t.n", True, True),
    ("n = 2;", "n", True, True),
    ("n++;", "n", True, True),
    ("for (n = 0; n < 3; n++) i = 1;", "n", True, True),
    ("int x = 3;", "n", False, False),
    ("m[0] = a;", "s->u", True, True),
    ("a[0] = 1;", "m[0]", False, True),
    ("m[i][0] = 1;", "n", False, False),
    # calls: what they store, and what nobody knows
    ("elsewhere();", "shared", True, True),
    ("elsewhere();", "own", True, True),
    ("elsewhere();", "n", False, False),
    ("elsewhere();", "a[0]", True, True),
    ("set(r);", "s->n", False, True),
    ("set(r);", "s->m", True, True),
    ("set_n(s);", "s->n", True, True),
    ("deep(r);", "s->n", False, True),
    ("a[0] = pure(a[1]);", "k[0]", False, True),
    ("logs(s);", "s->n", False, False),
    ("n = (int)pure(2);", "s->n", False, False),
    ("a[0] = sqrt(a[1]);", "n", False, False),
    # text that is not modelled
    ('__asm__("nop");', "n", False, False),
    ("BOX(i);", "n", False, False),
    ("BOX(n);", "n", True, True),
    ("k[i];", "k[i]", False, False),
]  # fmt: skip


@functools.cache
def _program() -> Program:
    text = [HEAD, "#define BOX(x) do { x = 0; break; } while (1)"]
    for number, (stmt, load, _, _) in enumerate(CASES):
        text.append(f"void f{number}({PARAMETERS}) {{ {stmt}\n (void)({load}); }}")
    return program_of("\n".join(text))


def _case(number: int) -> tuple[Function, tuple[Stmt, ...], Expr]:
    one = function(_program(), f"f{number}")
    *run, last = one.body.statements
    assert isinstance(last, ExprStmt)
    cast = peel(last.expr)
    assert isinstance(cast, Cast)
    return one, tuple(run), peel(cast.operand)


def _changes(number: int, *, typed: bool) -> bool:
    one, run, load = _case(number)
    origin = Origin.of(_program(), one, Summaries.of(_program()))
    return disturbance(origin, run, load, typed=typed) is not None


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_what_may_change_a_load(number: int) -> None:
    _, _, typed, untyped = CASES[number]
    assert (_changes(number, typed=True), _changes(number, typed=False)) == (typed, untyped)


def test_every_disturbance_is_told_with_what_is_stored_to() -> None:
    text = "void g(int n, int *k) { k[0] = 1; n = 3; k[1] = 2; (void)(k[n]); }"
    program = program_of(text)
    one = function(program, "g")
    origin = Origin.of(program, one)
    run, last = one.body.statements[:-1], one.body.statements[-1]
    assert isinstance(last, ExprStmt)
    cast = peel(last.expr)
    assert isinstance(cast, Cast)
    element, _, index = loads(cast.operand)
    told = [(d.text, d.target is not None) for d in disturbances(origin, run, element, typed=True)]
    assert told == [("k[0] = 1 may write it", True), ("k[1] = 2 may write it", True)]
    assert [d.text for d in disturbances(origin, run, index, typed=True)] == ["n is written"]


LOADS: dict[str, str] = {
    "s->u[i + 1]": "s->u[i + 1] s->u s i",
    "t.w[i]": "t.w[i] i",
    "&s->w[n]": "s n",
    "t.w": "",
    "*k + n": "*k k n",
    "table[i]": "table[i] i",
    "table": "",
    "&n": "",
    "pure(a[0])": "a[0] a",
    "n ? i : *k": "n i *k k",
}
DIRECT: dict[str, str] = {"n": "n", "t.w[i]": "t", "table[i]": "table", "a[i]": "", "s->n": "", "*k": "", "t.u[0]": ""}


@functools.cache
def _expressions() -> dict[str, Expr]:
    texts = [*LOADS, *DIRECT]
    return dict(zip(texts, expressions(PARAMETERS, *texts, head=f"{HEAD} double table[9];"), strict=True))


def test_what_an_expression_reads() -> None:
    for text, expected in LOADS.items():
        assert "|".join(load.span.text for load in loads(_expressions()[text])) == expected.replace(" ", "|").replace(
            "|+|", " + "
        ), text


def test_the_variable_that_an_lvalue_is_a_part_of() -> None:
    assert {text: getattr(is_direct(_expressions()[text]), "name", "") for text in DIRECT} == DIRECT


def test_variables_declared_below() -> None:
    program = program_of(
        "void g(int n) { int x; { double y; for (int i = 0; i < n; i++) { int z; } } for (x = 0; x < n; x++); }"
    )
    assert shown(declared_below(function(program, "g").body)) == "i x y z"
