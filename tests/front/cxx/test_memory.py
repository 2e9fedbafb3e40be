"""`new` and `delete` as calls that give and take memory: what they are in the tree; loops are judged as in C."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.effects import summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Expr, ExprStmt, VarDecl, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt

HEAD = """
#include <cstdio>
#include <new>
struct P { double x, y; };
struct Made { Made() : x(1) {} double x; };
struct Ends { ~Ends() { puts("end"); } double x; };
struct Told { Told() : x(1) { puts("made"); } double x; };
struct Pool { static void *operator new[](std::size_t); double x; };
struct Has { double x = 2; };
"""
WRITTEN = {
    "double *a = new double[n]": "new double[(size_t)n]",
    "double *a = new double[n]()": "new double[(size_t)n]()",
    "auto a = new float[n * 2]{}": "new float[(size_t)(n * 2)]()",
    "double **a = new double *[n]": "new double *[(size_t)n]",
    "P *a = new P[n]": "new P[(size_t)n]",
    "int *a = new int": "new int",
    "int *a = new int(n)": "new int{n}",
    "int *a = new int[3]{1, n}": "new int[(size_t)3]{1, n}",
    "auto a = ::new double[n][5]": "new double[(size_t)n][5]",
    "Made *a = new Made[n]": "new Made[(size_t)n]()",
    "Made *a = new Made": "new Made()",
}
OPAQUE = (
    "Told *a = new Told[n]",
    "Ends *a = new Ends[n]",
    "Pool *a = new Pool[n]",
    "Has *a = new Has[n]",
    "Has *a = new Has",
    "double *a = new (p) double[n]",
    "double *a = new (std::nothrow) double[n]",
    "double *a = new double[n++]",
    "int *a = new int(n++)",
)
PROGRAM = """
#include <cstdio>
struct P { double x, y; };
int main()
{
    int n = 5;
    double *a = new double[n](), (*m)[3] = new double[n][3];
    int *k = new int(n), *t = new int[4]{1, n};
    P *p = new P[n];
    double **rows = new double *[n];
    for (int i = 0; i < n; i++) rows[i] = new double[n]{};
    m[4][2] = 3;
    p[4].y = a[4] + *k + t[1] + t[3] + m[4][2] + rows[4][4];
    printf("%g", p[4].y);
    for (int i = 0; i < n; i++) delete[] rows[i];
    delete[] rows; delete[] a; delete[] m; delete k; delete[] t; delete[] p;
    return 0;
}
"""
TWIN = """
%s
void f(int n, double *x)
{
    double *a = %s, *b = %s;
    for (int i = 0; i < n; i++) a[i] = x[i];
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
    for (int i = 0; i < n; i++) x[i] = b[i] + a[i + n];
    %s
}
"""
REPLACED = (
    "#include <cstdlib>\nint total;\nvoid *operator new[](std::size_t n) { total += 1; return std::malloc(n); }\n"
)


def _made(load: Load, text: str) -> Expr:
    loaded = load(f"{HEAD}void f(int n, double *p) {{ {text}; }}", name="case.cpp")
    (one,) = found(function(loaded).body, VarDecl)
    assert isinstance(one, VarDecl) and one.init is not None
    assert one.init.intact and text.endswith(one.init.span.text)
    return one.init


@pytest.mark.parametrize("text", WRITTEN)
def test_memory_is_asked_for(load: Load, text: str) -> None:
    assert print_expr(_made(load, text), nothing) == WRITTEN[text]


@pytest.mark.parametrize("text", OPAQUE)
def test_what_runs_code_or_gives_no_memory_is_opaque(load: Load, text: str) -> None:
    made = _made(load, text)
    assert isinstance(made, VerbatimExpr) and made.reason == "new"


def test_what_ends_with_code_is_opaque(load: Load) -> None:
    text = "void f(double *a, P *p, Ends *e, Made *m, void *v) { delete[] a; delete p; delete[] e; delete v; }"
    loaded = load(f"{HEAD}{text}", name="case.cpp")
    statements = found(function(loaded).body, ExprStmt)
    assert [isinstance(s.expr, VerbatimExpr) for s in statements if isinstance(s, ExprStmt)] == [False] * 2 + [True] * 2


def test_what_is_printed_does_the_same(load: Load, tmp_path: Path) -> None:
    loaded = load(PROGRAM, name="case.cpp")
    printed = print_stmt(function(loaded, "main").body, "", nothing)
    assert "new" in printed
    head = PROGRAM.partition("{\n    int n")[0]
    answers = []
    for number, text in enumerate((PROGRAM, head + printed)):
        path = tmp_path / f"made{number}.cpp"
        path.write_text(text)
        subprocess.run(["g++", "-O1", "-w", str(path), "-o", str(path.with_suffix(""))], check=True)
        answers.append(subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True).stdout)
    assert answers == [b"13", b"13"]


PLAIN = "void g(int n, double *x) { double *a = new double[n]; for (int i = 0; i < n; i++) a[i] = x[i]; }"


def _verdicts(tmp_path: Path, *sources: tuple[str, str]) -> list[str]:
    for name, text in sources:
        (tmp_path / name).write_text(text)
    loaded = load_program([str(tmp_path / name) for name, _ in sources], FrontOptions())
    return [loop.category for f in analyze(loaded.program, PolyOptions()).functions for loop in f.loops]


def _cxx() -> str:
    return TWIN % ("", "new double[2 * n]", "new double[n]()", "delete[] a; delete[] b;")


def test_loops_are_judged_as_with_malloc(tmp_path: Path) -> None:
    allocated = "(double *)malloc(2 * n * sizeof(double))", "(double *)calloc(n, sizeof(double))"
    c = TWIN % ("#include <stdlib.h>", *allocated, "free(a); free(b);")
    ours = _verdicts(tmp_path, ("twin.c", c))
    assert ours == _verdicts(tmp_path, ("twin.cpp", _cxx())) == ["parallel"] * 3


def _assumptions(tmp_path: Path, *sources: tuple[str, str]) -> list[int]:
    """Return how many assumptions the verdicts of the loops rest on."""
    for name, text in sources:
        (tmp_path / name).write_text(text)
    loaded = load_program([str(tmp_path / name) for name, _ in sources], FrontOptions())
    loops = [loop for f in analyze(loaded.program, PolyOptions()).functions for loop in f.loops]
    return [len(getattr(loop.verdict, "assumptions", ())) for loop in loops]


def test_a_program_may_replace_what_gives_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, plain = ("own.cpp", REPLACED), ("plain.cpp", PLAIN)
    assert _assumptions(tmp_path, plain) == [0]
    assert _assumptions(tmp_path, own, plain) == [1]  # who knows what the program's own function returns
    # seeded: nobody looks for replacements
    monkeypatch.setattr(summaries, "is_replacement", lambda name: False)
    assert _assumptions(tmp_path, own, ("plain.cpp", f"{PLAIN} ")) == [0]
