"""The search finds the steps that let classic nests run on the device, the same ones every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import search
from warpsmith.loops.search.cost import Cost, cost_of
from warpsmith.loops.search.prepare import prepare
from warpsmith.loops.step import Step, check_step
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Program
from warpsmith.tree.walk import names

TRMM = """
void f(int m, int n, double A[restrict m][m], double B[restrict m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = 2 * B[i][j];
        }
}
"""
SYMM = """
void f(int m, int n, double alpha, double C[restrict m][n], double A[restrict m][m], double B[restrict m][n])
{
    double t;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            t = 0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                t += B[k][j] * A[i][k];
            }
            C[i][j] = C[i][j] + alpha * B[i][j] * A[i][i] + alpha * t;
        }
}
"""
CONTRACTION = """
#include <stdlib.h>
void f(int nr, int nq, int np, double A[restrict nr][nq][np], double C[restrict np][np], double sum[restrict np])
{
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[p] = 0;
                for (int s = 0; s < np; s++)
                    sum[p] += A[r][q][s] * C[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = sum[p];
        }
}
"""
ATAX = """
void f(int m, int n, double A[restrict m][n], double *restrict x, double *restrict y, double *restrict t)
{
    for (int i = 0; i < m; i++) {
        t[i] = 0;
        for (int j = 0; j < n; j++)
            t[i] += A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += A[i][j] * t[i];
    }
}
"""
PIVOT = """
void f(int n, int p[n][n])
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
}
"""
# the factor of a row and what it is subtracted from; a level is a kernel of two dimensions only where they are apart
ELIMINATION = """
#include <stdlib.h>
void f(int n, double *a)
{
    for (int k = 0; k < n - 1; k++)
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
}
"""
ROWS = """
static void subtract(int n, double f, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        y[j] -= f * x[j];
}
static void clear(int n, double *x)
{
    for (int j = 0; j < n; j++)
        x[j] = 0;
}
void f(int n, double *a, double *b)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            subtract(n, 0.5, a + k * n, a + i * n);
    for (int t = 0; t < n; t++)
        clear(n, b);
}
"""
# arrays that the iterations share, and a sum behind them
SHARED = """
unsigned f(int m, int n, unsigned c[n][n], unsigned s[n][n][n])
{
    unsigned sum = 0;
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < n - 1; i++)
            for (int j = i + 1; j < n; j++) {
                s[i][j][i] = 0;
                for (int k = i + 1; k < j; k++)
                    s[i][j][k] = s[i][j][k - 1] + c[i][k] + c[k][j];
                c[i][j] = s[i][j][j - 1];
            }
        sum += c[0][n - 1];
    }
    return sum;
}
"""
SWEEP = """
void f(int n, double a[n][n])
{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i][j] = 0.5 * (a[i - 1][j] + a[i][j - 1]);
}
"""
GEMM = """
void f(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            C[i][j] *= 3;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                C[i][j] += A[i][k] * B[k][j];
    }
}
"""
TEMPORARY = """
#include <stdlib.h>
void f(int n, int m, double A[restrict n][m], double *restrict w)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            w[j] = 2 * A[i][j];
        for (int j = 0; j < m; j++)
            A[i][j] = w[m - 1 - j];
    }
}
"""
SMALL = """
void f(int n, double *restrict a, const double *restrict b)
{
    double v[2];
    for (int i = 0; i < n; i++) {
        v[0] = b[i];
        a[i] = v[0] * v[0];
    }
}
"""
DIAGONALS = """
void f(int n, int t[n][n], const int *restrict s)
{
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            t[i][j] = t[i][j] < t[i][j - 1] ? t[i][j - 1] : t[i][j];
            t[i][j] = t[i][j] < t[i + 1][j - 1] + s[j] ? t[i + 1][j - 1] + s[j] : t[i][j];
            for (int k = i + 1; k < j; k++)
                t[i][j] = t[i][j] < t[i][k] + t[k + 1][j] ? t[i][k] + t[k + 1][j] : t[i][j];
        }
}
"""
RELAX = """
void f(int n, double *u)
{
    for (int i = 1; i < n - 1; i++)
        u[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
"""


def searched(folder: Path, text: str) -> Prepared:
    path = folder / "given.c"
    path.write_text(text)
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    return prepare(Prepared(facts, facts), None, frozenset())


def cost(prepared: Prepared) -> Cost:
    function = next(function for _, function in prepared.program.functions())
    return cost_of(prepared.facts, function, function.body.statements)


@pytest.mark.parametrize(
    ("text", "names", "depth"),
    [
        (TRMM, {"interchange"}, 0),
        (ATAX, {"distribute", "interchange", "fuse"}, 0),
        (SWEEP, {"wavefront"}, 1),
        (GEMM, {"distribute", "interchange", "fuse"}, 0),
        (TEMPORARY, {"distribute", "expand"}, 0),
        (SMALL, {"privatize"}, 0),
    ],
    ids=["trmm", "atax", "sweep", "gemm", "temporary", "small"],
)
def test_a_classic_nest_gets_its_step(tmp_path: Path, text: str, names: set[str], depth: int) -> None:
    found = searched(tmp_path, text)
    assert {applied.step.name for applied in found.applied} == names
    assert all(isinstance(applied.verdict, Proved) for applied in found.applied)
    assert (cost(found).stranded, cost(found).depth, cost(found).atomics) == (0, depth, 0)


def test_threads_that_go_through_loops_in_loops_get_another_order(tmp_path: Path) -> None:
    # as written, and after an interchange, there is a thread for each j; the order that is found has one for each
    # element, in two kernels, and needs no memory for t
    found = searched(tmp_path, SYMM)
    assert [applied.step.name for applied in found.applied] == ["reschedule"]
    assert (cost(found).depth, cost(found).narrow, cost(found).launches) == (0, 0, 2)


def test_loops_that_might_be_threads_come_out_of_threads(tmp_path: Path) -> None:
    # once each thread has a row of sums of its own, r and q are threads; p, with a loop over s inside, may be as well
    found = searched(tmp_path, CONTRACTION)
    assert [applied.step.name for applied in found.applied] == ["expand", "distribute", "distribute"]
    assert (cost(found).depth, cost(found).narrow, cost(found).buried) == (0, 0, 0)


def test_the_pivot_of_a_sweep_is_split_off(tmp_path: Path) -> None:
    found = searched(tmp_path, PIVOT)
    assert {applied.step.name for applied in found.applied} <= {"split", "interchange"}
    assert sum(applied.step.name == "split" for applied in found.applied) == 2
    assert (cost(found).stranded, cost(found).depth) == (0, 1)


def test_what_follows_an_interchange_that_betters_nothing_is_not_looked_at_where_another_order_runs_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def check(step: Step, program: Program, facts: Facts) -> Verdict:
        checked.append(step.name)
        return check_step(step, program, facts)

    monkeypatch.setattr(search, "check_step", check)
    found = searched(tmp_path, DIAGONALS)
    assert {applied.step.name for applied in found.applied} == {"wavefront"}
    assert checked[0] == "interchange" and checked[-1] == "wavefront"
    # of the nest as it is written; in the interchanged one there are many more
    assert checked.count("distribute") <= 2


@pytest.mark.slow
def test_no_step_is_refused_twice_for_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[tuple[Step, Program]] = []

    def check(step: Step, program: Program, facts: Facts) -> Verdict:
        verdict = check_step(step, program, facts)
        if not isinstance(verdict, Proved):
            refused.append((step, program))
        return verdict

    monkeypatch.setattr(search, "check_step", check)
    searched(tmp_path, SHARED)
    assert any(step.name == "expand" for step, _ in refused)
    asked = [(step, id(program)) for step, program in refused]
    assert len(asked) == len(set(asked))


def test_a_form_without_kernels_is_no_better_for_having_no_launches() -> None:
    nothing = Cost(stranded=6, small=True)
    assert not search._better(nothing, nothing)
    assert search._better(Cost(depth=1, launches=2), Cost(depth=1, launches=4))


def test_what_no_step_helps_stays_as_it_is(tmp_path: Path) -> None:
    found = searched(tmp_path, RELAX)
    assert found.applied == ()
    assert found.program is found.original.program


def test_the_search_has_no_moods(tmp_path: Path) -> None:
    texts = [[applied.text for applied in searched(tmp_path, PIVOT).applied] for _ in range(2)]
    assert texts[0] == texts[1]


def test_loops_that_were_not_asked_for_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(TRMM)
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    assert prepare(Prepared(facts, facts), frozenset(), frozenset()).applied == ()


def test_a_nest_that_is_to_be_left_is_left(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(TRMM)
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    left = frozenset({facts.functions[0].loops[0].loop.span})
    assert prepare(Prepared(facts, facts), None, left).applied == ()


BICG = """
void f(int m, int n, double A[n][m], double *s, double *q, double *p, double *r)
{
    for (int i = 0; i < n; i++) {
        q[i] = 0;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            q[i] += A[i][j] * p[j];
        }
    }
}
"""


def test_a_guard_of_an_inner_step_is_the_one_for_all_that_changed(tmp_path: Path) -> None:
    """Steps on an inner loop rest on what one of its runs touches; tested is what all of them touch together."""
    found = searched(tmp_path, BICG)
    assert len(found.applied) == 3
    assert found.untestable() == ()
    (change,) = found.changes()
    assert len({assumption.text for assumption in change.assumptions}) >= 6
    counters = {"i", "j"}
    for assumption in change.assumptions:
        assert assumption.condition is not None
        assert not counters & {name.symbol.name for name in names(assumption.condition)}


def test_a_level_of_an_elimination_gets_two_dimensions(tmp_path: Path) -> None:
    found = searched(tmp_path, ELIMINATION)
    assert [applied.text for applied in found.applied] == [
        "expand=f/k/i,variable=factor,above=1", "distribute=f/k/i,groups=1",
    ]  # fmt: skip
    function = next(f for _, f in found.program.functions())
    assert cost_of(found.facts, function, function.body.statements).narrow == 0


def test_a_function_with_a_loop_is_written_where_each_iteration_gives_it_a_row(tmp_path: Path) -> None:
    found = searched(tmp_path, ROWS)
    inlined = {a.step.function for a in found.applied if isinstance(a.step, Inline)}
    assert inlined == {"subtract"}
