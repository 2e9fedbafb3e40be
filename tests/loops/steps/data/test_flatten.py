"""Flattening: rows behind pointers as one block, wherever they lie, and only where they are one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.flows.port import PortOptions, port
from warpsmith.loops.analysis.extremes import wide_expr
from warpsmith.loops.linear import number
from warpsmith.loops.steps.data import flatten
from warpsmith.loops.steps.data.flatten import Flatten
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Expr, ExprStmt
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import loop_names

HEAD = "void use(double *row);\n"
BODIES = [
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i][j] * 2 + i;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += b[i][j];",
    "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i][j + 1] - a[i][j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[n - 1 - i][j] = b[i][m - 1 - j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { c[j] += a[i][j]; }",
    "for (int i = 0; i < n; i++) { c[i] = 0; for (int j = 0; j < m; j++) c[i] += a[i][j] * b[0][j]; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { a[i][j] -= 1; if (c[j] > 1) a[i][j] = c[i]; }",
    "for (int t = 0; t < 2; t++) for (int i = 2; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i - 2][j] + t;",
    "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) a[i][j] = i - j + c[j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double *r = a[i], *q = b[n - 1 - i]; r[j] += q[j]; }",
]
_DRIVER = """
#include <string.h>
enum { N = 6, M = 6 };
static double memory[4000];
static double *rows[2][N], *c;
static void fill(int how)
{
    for (int k = 0; k < 4000; k++)
        memory[k] = (k * 7) % 23;
    c = memory + 3000;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) {
            double *at = memory + 1000 * k + i * (how == 1 ? M + 2 : M);
            if (how == 2) at = memory + 1000 * k + (i * i + i) * M;            /* ragged */
            if (how == 3) at = memory + 1000 * k + (i ^ 1) * M;                /* swapped */
            if (how == 4) at = memory + 1000 * k + (i == 3 ? 1 : i) * M;       /* one row twice */
            if (how == 5) at = memory + (2 * i + k) * M;                       /* interleaved */
            if (how == 6) at = memory + 1000 * k + i * (M - 1);                /* they overlap */
            if (how == 7) at = memory + i * M;                                 /* both are one */
            if (how == 8) at = memory + 1000 * k + (N - i) * M;                /* downwards */
            if (how == 9) at = memory + 1000 * k + i * (M + 2), c = memory + M + 1;       /* another between them */
            rows[k][i] = at;
        }
}
typedef void function(double **a, double **b, double *c, int n, int m);
static int differs(function *one, function *two, int how, int n, int m)
{
    static double after[4000];
    int null = n <= 0 || m <= 0;
    fill(how);
    one(null ? 0 : rows[0], null ? 0 : rows[1], c, n, m);
    memcpy(after, memory, sizeof memory);
    fill(how);
    two(null ? 0 : rows[0], null ? 0 : rows[1], c, n, m);
    return memcmp(after, memory, sizeof memory) != 0;
}
"""


def _function(name: str, body: str) -> str:
    return f"void {name}(double **a, double **b, double *c, int n, int m)\n{{\n    {body}\n}}\n"


def _assert_same(bodies: Sequence[str], folder: Path) -> str:
    """Run every body before and after; the fast loop writes what it copies back as a device would: all of it."""
    program = start = program_of(HEAD + "".join(_function(f"after{k}", body) for k, body in enumerate(bodies)))
    facts = Facts.about(program, PolyOptions())
    for k in range(len(bodies)):
        function = next(f for _, f in program.functions() if f.symbol.name == f"after{k}")
        step = Flatten(next(iter(loop_names(function).values())))
        verdict = step.check(program, facts)
        assert isinstance(verdict, Proved), (bodies[k], verdict.reasons)
        program = step.apply(program)
        facts = facts.after(program)
    text = unit_text(start.units[0], program.units[0], NoWords())
    calls = [
        "for (int how = 0; how < 10; how++) for (int n = -1; n <= N; n++) for (int m = -1; m <= M; m++)"
        f" if (differs(before{k}, after{k}, how, n, m)) return {k} + 1;"
        for k in range(len(bodies))
    ]
    befores = "".join(_function(f"before{k}", body) for k, body in enumerate(bodies))
    source = folder / "both.c"
    source.write_text(f"{text}{_DRIVER}{befores}int main(void)\n{{\n{chr(10).join(calls)}\nreturn 0;\n}}\n")
    command = ["gcc", "-O1", "-w", "-fsanitize=address,undefined", str(source), "-o", str(folder / "both")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(folder / "both")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr[:1000])
    return text


def test_results_stay_the_same(tmp_path: Path) -> None:
    text = _assert_same(BODIES, tmp_path)
    assert text.count("_flat") >= len(BODIES)


REFUSED = [
    ("for (int i = 0; i < n; i++) { a[i][0] = 1; a[i] = b[i]; }", "a row of a is used as a whole"),
    ("for (int i = 0; i < n; i++) use(a[i]);", "a row of a is used as a whole"),
    ("for (int i = 0; i < n; i++) { a[i][0] = 2; a[i][(int)c[i]] = 1; }", "which columns of a"),
    ("for (int i = 0; i < n; i++) a[(int)c[i]][0] = 1;", "which rows of a"),
    ("for (int i = 0; i < n; i++) { a[i][0] = 1; use(c); }", "may change in the loop"),
    ("for (int i = 0; i < n; i++) c[i] = i;", "uses no pointer to pointers"),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (c[j] > 1) a[i][j] = 1;",
        "cannot be determined before it",
    ),
]


@pytest.mark.parametrize("body, reason", REFUSED)
def test_refusals_say_why(body: str, reason: str) -> None:
    program = program_of(HEAD + _function("f", body))
    verdict = Flatten("f/i").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text, verdict.reasons[0].text


def test_three_pointers_deep_is_refused_by_name() -> None:
    program = program_of("void f(int n, double ***t) { for (int i = 0; i < n; i++) t[i][0][0] = 1; }")
    verdict = Flatten("f/i").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert "three pointers deep" in verdict.reasons[0].text


def _certain(found: flatten._Rows, *_: object) -> Expr:
    """A test that always holds."""
    return number(1, found.uses[0].node.span)


BUGS: list[tuple[str, Callable[..., object]]] = [
    ("_even", _certain),
    ("_test", lambda flat, whole, counter, span: ExprStmt(span=span, expr=number(0, span))),
    ("_less", lambda value, *_: value),
    ("_start", lambda found, span: flatten._row(found, number(0, span), span)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name, bug", BUGS, ids=[name for name, _ in BUGS])
def test_seeded_bugs_are_caught(
    name: str, bug: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(flatten, name, bug)
    with pytest.raises((AssertionError, subprocess.TimeoutExpired)):
        _assert_same(BODIES, tmp_path)


OVERLAPPING = """
#include <stdio.h>
static double memory[4000], *rows[40];
static void scale(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = a[i][j] * 0.5 + i;
}
int main(void)
{
    for (int i = 0; i < 40; i++)
        rows[i] = memory + i * 15;
    scale(40, 20, rows);
    printf("%g %g\\n", memory[30], memory[599]);
    return 0;
}
"""


@pytest.mark.slow
def test_rows_that_overlap_unnoticed_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "overlapping.c"
    source.write_text(OVERLAPPING)
    good = port([str(source)], PortOptions())
    assert good.plan is not None and good.plan.fragments
    # the rows overlap: the guard fails, and nothing is launched
    assert good.verification is not None and good.verification.status == "undecided"
    assert {reason.rule for reason in good.verification.reasons} <= {"VER028", "VER034"}
    monkeypatch.setattr(flatten, "_test", lambda flat, whole, counter, span: flatten._declare(
        Symbol("unused", f"unused{whole.key}", INT, "local", whole.span), number(0, span), span))  # fmt: skip
    monkeypatch.setattr(flatten, "_step", lambda found, span: wide_expr(found.columns.size, span))
    bad = port([str(source)], PortOptions())
    assert bad.verification is not None and bad.verification.status == "fail"
