"""Stencils in place and dynamic programs, walked along a sum of counters: all loops inside are parallel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.order.orders_run import applied, categories, outputs, text_of
from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

SEIDEL = """void f(int T, int n, double A[restrict n][n])
{
    for (int t = 0; t < T; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1] + A[i][j-1] + A[i][j] + A[i][j+1]
                           + A[i+1][j-1] + A[i+1][j] + A[i+1][j+1]) / 9.0;
}
"""

NUSSINOV = """#define max_score(a, b) ((a) >= (b) ? (a) : (b))
void f(int T, int n, int A[restrict n][n], const int seq[restrict n])
{
    int i, j, k;
    for (i = n - 1; i >= 0; i--)
        for (j = i + 1; j < n; j++) {
            if (j - 1 >= 0)
                A[i][j] = max_score(A[i][j], A[i][j - 1]);
            if (i + 1 < n)
                A[i][j] = max_score(A[i][j], A[i + 1][j]);
            if (i + 1 < n && i < j - 1)
                A[i][j] = max_score(A[i][j], A[i + 1][j - 1] + (seq[i] + seq[j] == 3));
            for (k = i + 1; k < j; k++)
                A[i][j] = max_score(A[i][j], A[i][k] + A[k + 1][j]);
        }
}
"""

DYNAMIC = """void f(int T, int n, int A[restrict n][n], const int seq[restrict n])
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int s = seq[i] - seq[j];
            for (int k = i + 1; k < j; k++)
                s += A[i][k] - A[k][j];
            A[i][j] += s;
        }
}
"""

STEPPED = """void f(int T, int n, double A[restrict n][n])
{
    for (int i = n - 2; i > 0; i -= 2)
        for (int j = n - 2; j > 0; j--)
            A[i][j] += 0.5 * A[i + 1][j] + 0.25 * A[i][j + 1] + A[i - 1][j] + (i + 2 < n ? A[i + 2][j] : 0.0);
}
"""

MAIN = """
int main(void)
{
    int sizes[] = {0, 1, 2, 7, 20};
    for (int s = 0; s < 5; s++)
        for (int T = -1; T < 6; T += 3) {
            int n = sizes[s];
            TYPE *A = calloc((size_t)n * n + 1, sizeof(TYPE));
            int *seq = calloc(n + 1, sizeof(int));
            for (int i = 0; i < n * n; i++)
                A[i] = 1000 * (i % 7) / (1 + i % 5);
            for (int i = 0; i < n; i++)
                seq[i] = i * i % 4;
            CALL;
            unsigned long long sum = 14695981039346656037ull;
            for (size_t k = 0; k < sizeof(TYPE) * n * n; k++)
                sum = (sum ^ ((unsigned char *)A)[k]) * 1099511628211ull;
            printf("%d %d %llx\\n", n, T, sum);
        }
    return 0;
}
"""

CASES = {
    "seidel": (SEIDEL, "f/t", (4, 2, 1), "double"),
    "nussinov": (NUSSINOV, "f/i", (-1, 1), "int"),
    "dynamic": (DYNAMIC, "f/i", (1, 1), "int"),
    "stepped": (STEPPED, "f/i", (-1, -1), "double"),
}


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, tmp_path: Path) -> None:
    text, loop, factors, element = CASES[name]
    program = load(text, tmp_path)
    facts = Facts.about(program, PolyOptions())
    step = Wavefront(loop).complete(program, facts)
    assert step.factors == factors
    after = applied(text, step, tmp_path)
    call = "f(T, n, (void *)A, seq)" if element == "int" else "f(T, n, (void *)A)"
    main = MAIN.replace("TYPE", element).replace("CALL", call)
    macros = "#define max_score(a, b) ((a) >= (b) ? (a) : (b))\n"
    before = outputs(text, main, tmp_path, "before")
    assert outputs(macros + text_of(after), main, tmp_path, "after") == before
    loops = categories(after, tmp_path, macros)
    waves = [address for address in loops if address.count("/") == 1]
    assert len(waves) == 1
    depth = len(factors) - 1
    inside = [facts for address, facts in loops.items() if 2 <= address.count("/") <= 1 + depth]
    assert len(inside) == depth
    assert all(facts.category == "parallel" and isinstance(facts.verdict, Proved) for facts in inside)


def test_a_sum_that_does_not_grow_is_refuted(tmp_path: Path) -> None:
    program = load(SEIDEL, tmp_path)
    facts = Facts.about(program, PolyOptions())
    assert isinstance(Wavefront("f/t", 3, (2, 2, 1)).check(program, facts), Refuted)
    assert isinstance(Wavefront("f/t", 3, (4, 1, 2)).check(program, facts), Refuted)
    assert isinstance(Wavefront("f/t", 3, (5, 3, 1)).check(program, facts), Proved)


@pytest.mark.parametrize("step", [Wavefront("f/t", 4), Wavefront("f/t", 3, (1, 1)), Wavefront("f/t", 2, (2, 2))])
def test_wrong_parameters_are_named(step: Wavefront, tmp_path: Path) -> None:
    program = load(SEIDEL, tmp_path)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].rule == "STP003"


def test_no_factors_no_wavefront(tmp_path: Path) -> None:
    text = "void f(int n, double s[1]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s[0] += 1.0; }"
    program = load(text, tmp_path)
    verdict = Wavefront("f/i").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].rule == "STP002"


EXTREMES = """
int main(void)
{
    static ELEMENT A[8][8];
    int values[] = {-2147483647 - 1, -2147483647, -1, 0, 1, 2}, last[] = {-2147483647 - 1, 0, 2147483647};
    for (int k = 0; k < 6; k++)
        for (int t = 0; t < 3; t++)
            f(last[t], values[k], A);
    printf("done\\n");
    return 0;
}
"""


@pytest.mark.parametrize("name", ["seidel", "dynamic", "stepped"])
def test_bounds_do_not_overflow_where_nothing_runs(name: str, tmp_path: Path) -> None:
    text, loop, _, element = CASES[name]
    text = text.replace("A[restrict n][n]", "A[8][8]").replace(", const int seq[restrict n]", "")
    text = text.replace("seq[i] - seq[j]", "i - j")
    after = applied(text, Wavefront(loop), tmp_path, guarded=True)
    assert outputs(text_of(after), EXTREMES.replace("ELEMENT", element), tmp_path, "after") == "done\n"


def test_a_wrong_order_would_be_seen(tmp_path: Path) -> None:
    """The comparison itself can fail: the loops turned inside out by hand give other numbers."""
    wrong = SEIDEL.replace("for (int i = 1; i < n - 1; i++)", "for (int i = n - 2; i > 0; i--)")
    main = MAIN.replace("TYPE", "double").replace("CALL", "f(T, n, (void *)A)")
    assert outputs(SEIDEL, main, tmp_path, "right") != outputs(wrong, main, tmp_path, "wrong")
