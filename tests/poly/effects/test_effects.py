from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load, shown
from warpsmith.base.verdict import Unknown
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import effects, find_captured, find_escaped
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.judge import judge_mapped
from warpsmith.tree.nodes import Block
from warpsmith.tree.program import Program

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
struct vec { double *data; int n; };
double table[10]; int count; static double *own;
void unknown(double *);
static void scale(int n, double *x, double s) { for (int i = 0; i < n; i++) x[i] *= s; count++; }
static double total(int n, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += sqrt(x[i]); return s; }
static int even(int n); static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static double *kept; static void keep(double *p) { kept = p; }
static double *pick(double *p, double *q, int w) { return w ? p : q; }
static double *make(int n) { return malloc(n * sizeof(double)); }
void f(int n, double *a, double *b, struct vec *v, double **m, int (*op)(int)) {
  double local[8], other[8]; double *p; int k = 0; struct vec s;
  /*1*/ a[k] = b[n];
  /*2*/ scale(n, a + 1, 2.0);
  /*3*/ k = (int)total(n, local);
  /*4*/ printf("%d", k);
  /*5*/ memcpy(a, b, n * sizeof *a);
  /*6*/ unknown(other);
  /*7*/ p = n ? local : b;
  /*8*/ p[0] = 1;
  /*9*/ v->data[k] = 2;
  /*10*/ k = even(n);
  /*11*/ s.n = k;
  /*12*/ m[n][k] = 3;
  /*13*/ k = op(n);
  /*14*/ *pick(a, b, n) = 4;
  /*15*/ scanf("%d", &k);
  /*16*/ table[count++] += 1;
}
"""


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, ("a b k n", "", "b p", "a")),
        (2, ("a count n", "count", "a", "a")),
        (3, ("n", "k", "local p", "")),
        (5, ("a b n", "", "b p", "a")),
        (7, ("b n", "p", "", "")),
        (8, ("p", "", "", "b local p")),
        (10, ("n", "k", "", "")),
        (11, ("k", "s", "", "")),
        (14, ("a b n", "", "", "a b p")),
        (16, ("count", "count", "table", "table")),
    ],
)
def test_what_a_statement_touches(number: int, expected: tuple[str, str, str, str], tmp_path: Path) -> None:
    program = load(PROGRAM, tmp_path)
    f = function(program, "f")
    assert isinstance(f.body, Block)
    found = effects(program, f.body.statements[number + 3], f)
    # What m[n] and v->data point to is not known: it may be any memory that is known outside.
    unknown = {s for s in found.reads | found.writes if s.name in ("m", "v")}
    direct = shown(found.direct_reads), shown(found.direct_writes)
    assert (*direct, shown(found.element_reads - unknown), shown(found.element_writes - unknown)) == expected
    assert not found.calls_unknown


def test_calls_that_do_more(tmp_path: Path) -> None:
    program = load(PROGRAM, tmp_path)
    f = function(program, "f")
    line = dict(zip(range(-3, 99), f.body.statements, strict=False))
    shows = effects(program, line[4], f)
    assert shows.io
    assert shows.reason == "printf writes output"
    assert shows.span is not None
    unknown = effects(program, line[6], f)
    assert unknown.calls_unknown
    assert {"a", "b", "table", "other"} <= set(shown(unknown.element_writes).split())
    assert "local" not in shown(unknown.element_writes).split()
    assert {"count", "own", "kept"} <= set(shown(unknown.direct_writes).split())
    pointer = effects(program, line[13], f)
    assert pointer.calls_unknown
    deep = effects(program, line[12], f)
    assert {"m", "table", "v", "a"} <= set(shown(deep.element_writes).split())
    assert "local" not in shown(deep.element_writes).split()
    read = effects(program, line[15], f)
    assert "k" in shown(read.direct_writes)
    assert effects(program, function(program, "make")).allocates


def test_what_a_function_shows_to_its_callers(tmp_path: Path) -> None:
    program = load(PROGRAM, tmp_path)
    found = effects(program, function(program, "scale"))
    assert shown(found.element_writes) == "x"
    assert shown(found.direct_writes) == "count"


def test_escaped(tmp_path: Path) -> None:
    text = """void unknown(double *); static double *kept; static void keep(double *p) { kept = p; }
    static void use(double *p) { *p = 1; }
    void f(void) { double a[3], b[3], c[3], d[3], x, y, *q = d; unknown(a); keep(b); use(c); use(&x); q[0] = y; }"""
    program = load(text, tmp_path)
    assert shown(find_escaped(program, function(program, "f"))) == "a b d"


def test_writes_to_what_nothing_here_names_are_told_of(tmp_path: Path) -> None:
    program = load(
        "#include <stdlib.h>\n"
        "struct vec { double *data; };\n"
        "static struct vec made(void) { struct vec v; v.data = malloc(80); return v; }\n"
        "static void set(struct vec *v) { v->data[0] = 1; }\n"
        "static double get(const struct vec *v) { return v->data[0]; }\n"
        "static void name(struct vec *v) { v->data = 0; }\n"
        "void f(void) { struct vec v = made(); set(&v); get(&v); name(&v); }\n"
        "void g(struct vec v) { set(&v); v.data[1] = 2; }\n",
        tmp_path,
    )
    statements = [s for f in "fg" for s in function(program, f).body.statements]
    found = [
        effects(program, statement, function(program, "f" if n < 4 else "g")) for n, statement in enumerate(statements)
    ]
    assert [one.unnamed_writes for one in found] == [False, True, False, False, False, False]
    # there the object itself leads to it
    assert {s.name for s in found[4].element_writes} == {"v"}


# what a lambda has captured is touched by whoever calls it, in a function that has no name for it
CAPTURED = """
#include <cstdio>
#include <cstdlib>
template <typename F> void run(int n, F f)
{
    #pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        int k = i;
        if (k < n)
            f(k);
    }
}
template <typename T> void outer(T *b, int n)
{
    auto add = [=](int i) { T *q = b + i; q[0] += 3; };
    run(n, add);
}
int main()
{
    int n = 100;
    double *b = (double *)malloc(n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++)
        b[i] = 0;
    #pragma omp target data map(to: b[0:n])
    outer(b, n);
    for (int i = 0; i < n; i++)
        s += b[i];
    std::printf("%f\\n", s);
    free(b);
}
"""


def captured_program(folder: Path) -> Program:
    path = folder / "case.cpp"
    path.write_text(CAPTURED)
    return load_program([str(path)], FrontOptions()).program


def test_what_a_lambda_has_captured_is_found_where_it_is_called(tmp_path: Path) -> None:
    program = captured_program(tmp_path)
    functions = {function.symbol.name: function for _, function in program.functions()}
    run = next(function for name, function in functions.items() if name.startswith("run"))
    assert [symbol.name for symbol in find_captured(program, run, run.body, None)] == ["b"]
    assert find_captured(program, functions["main"], functions["main"].body, None) == []


def test_directives_around_such_a_call_are_not_proved(tmp_path: Path) -> None:
    """The device's sums are never copied back."""
    (found,) = judge_mapped(Facts.about(captured_program(tmp_path), PolyOptions()))
    assert isinstance(found.verdict, Unknown)


def test_a_loop_that_changes_nothing_else_says_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "case.cpp"
    path.write_text(
        CAPTURED.replace(" target teams distribute", "").replace("#pragma omp target data map(to: b[0:n])", "")
    )
    result = port([str(path)], PortOptions(verify=False))
    assert result.plan is not None
    (refused,) = (refusal for refusal in result.plan.refusals if refusal.loop.startswith("run"))
    assert refused.reason.text == "a lambda that it calls has captured b, a variable of another function"
