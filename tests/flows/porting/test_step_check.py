"""The referee judges steps as C against C: a wrong one is caught whatever its check said."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.step_check import verify_steps
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import Loop
from warpsmith.tree.walk import loop_names

SKEWED = """
void f(int n, double a[n][n])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n - 1; j++)
            a[i][j] = a[i - 1][j + 1] + 1;
}
"""
FREE = """
void f(int n, double a[restrict n][n], double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j] + i;
}
"""


def forced(folder: Path, text: str, step: Step) -> Prepared:
    """Return the program after `step`, which nobody has checked."""
    path = folder / "given.c"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    function = next(function for _, function in program.functions())
    loop: Loop = next(loop for loop, name in loop_names(function).items() if name == "f/i")
    applied = Applied(step, Proved(), function.symbol, loop.span)
    return Prepared(facts, facts.after(step.apply(program)), (applied,))


@pytest.mark.parametrize("step", [Interchange("f/i"), Reverse("f/i")], ids=["interchange", "reverse"])
def test_a_wrong_step_is_caught(tmp_path: Path, step: Step) -> None:
    assert verify_steps(forced(tmp_path, SKEWED, step), VerifyOptions()).status == "fail"


@pytest.mark.parametrize("step", [Interchange("f/i"), Reverse("f/i")], ids=["interchange", "reverse"])
def test_a_right_step_passes(tmp_path: Path, step: Step) -> None:
    verdict = verify_steps(forced(tmp_path, FREE, step), VerifyOptions())
    assert verdict.status == "pass"
    assert {row.name for row in verdict.live_out} >= {"a"}


def test_a_guard_that_fails_runs_what_the_user_wrote(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(
        """
        #include <stdio.h>
        static void f(int m, int n, double *A, double *B)
        {
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++)
                    for (int k = i + 1; k < m; k++)
                        B[i * n + j] += A[k * m + i] * B[k * n + j];
        }
        static double x[200];
        int main(void)
        {
            for (int i = 0; i < 200; i++)
                x[i] = i % 7;
            f(5, 5, x, x + 100);
            f(5, 5, x, x + 3);
            for (int i = 0; i < 200; i++)
                printf("%g ", x[i]);
            return 0;
        }
        """
    )
    result = port([str(path)], PortOptions())
    assert any(applied.step.name == "interchange" for applied in result.prepared.applied)
    assert result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    host = next(file.text for file in result.files if file.path == "given.c")
    assert "if (!ws_f_1(" in host and host.count("B[i * n + j] += A[k * m + i] * B[k * n + j];") == 1


def test_what_is_compared_has_the_same_meaning_in_both_programs(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(
        """
        #include <stdio.h>
        #include <stdlib.h>
        struct data { double *x; int n; };
        static void pick(double **a, double **b, int rows, int columns, int n)
        {
            int i, j;
            for (i = 0; i < rows; i++) {
                for (j = 0; j < columns; j++)
                    a[i][j] = b[n][j];
                n++;
            }
        }
        static double next(unsigned *seed) { *seed = *seed * 1103515245u + 12345u; return *seed % 97u; }
        int main(void)
        {
            struct data d = {malloc(40 * sizeof(double)), 40};
            double **a = malloc(5 * sizeof *a), **b = malloc(9 * sizeof *b);
            int i;
            a[0] = malloc(20 * sizeof(double)), b[0] = malloc(36 * sizeof(double));
            for (i = 1; i < 5; i++)
                a[i] = a[i - 1] + 4;
            for (i = 1; i < 9; i++)
                b[i] = b[i - 1] + 4;
            for (i = 0; i < d.n; i++) {
                unsigned seed = 7 * i;
                d.x[i] = next(&seed);
            }
            for (i = 0; i < 36; i++)
                b[0][i] = d.x[i];
            pick(a, b, 5, 4, 2);
            for (i = 0; i < 20; i++)
                printf("%g ", a[0][i]);
            return 0;
        }
        """
    )
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    prepared = automatic(Prepared(facts, facts), None)
    assert {applied.step.name for applied in prepared.applied} >= {"eliminate-recurrence", "localize"}
    # `n` counts no longer inside the loop, `seed` is not in scope behind it
    verdict = verify_steps(prepared, VerifyOptions())
    assert verdict.status == "pass", verdict.reasons


def test_variables_that_are_out_of_scope_are_not_recorded_and_pointers_are_recorded_whole(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(
        """
        #include <stdio.h>
        static int first = 1, *marks[4] = {&first, &first}, *volatile held[2][3] = {{&first}};
        static int a[40], b[40];
        static void bump(int **at, int by) { **at += by; }
        int main(void)
        {
            int i, j, kept = 0, sum = 0, *table[2] = {&kept, &first};
            {
                int gone[8] = {0};
                table[0] = gone;
                for (i = 0; i < 8; i++)
                    gone[i] = i;
                sum += *table[0];
            }
            table[0] = &kept;
            for (j = 0; j < 3; j++) {
                bump(&table[j & 1], j);
                held[1][j] = &first;
                for (i = 0; i < 40; i++)
                    a[i] += marks[1] == table[1] ? i : b[i];
            }
            for (i = 0; i < 40; i++)
                sum += a[i] * (i % 5);
            printf("%d %d\\n", sum, kept);
            return 0;
        }
        """
    )
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    prepared = automatic(Prepared(facts, facts), None)
    assert "localize" in {applied.step.name for applied in prepared.applied}
    verdict = verify_steps(prepared, VerifyOptions())
    rows = {row.name: row for row in verdict.live_out}
    assert "gone" not in rows
    # of `table` both addresses differ from run to run, of `marks` two: the others are null
    assert (rows["table"].elements, rows["table"].compared, rows["table"].masked) == (2, 0, 0)
    assert (rows["marks"].elements, rows["marks"].compared, rows["marks"].masked) == (4, 2, 0)
    # of a type that is not modelled, the compiler tells the size
    assert (rows["held"].elements, rows["held"].compared, rows["held"].masked) == (6, 2, 0)
    assert {reason.rule for reason in verdict.reasons} <= {"VER022", "VER033"}


def test_what_only_another_file_can_name_is_not_recorded_here(tmp_path: Path) -> None:
    (tmp_path / "log.c").write_text(
        """
        #include <stdio.h>
        static double seen[8];
        void note(int t, double v) { seen[t % 8] = v; }
        void told(void) { for (int t = 0; t < 8; t++) printf("%g ", seen[t]); }
        """
    )
    (tmp_path / "main.c").write_text(
        """
        #include <stdlib.h>
        struct data { double *x; int n; };
        void note(int t, double v);
        void told(void);
        static void grow(struct data *d)
        {
            for (int t = 0; t < 5; t++) {
                for (int i = 0; i < d->n; i++)
                    d->x[i] = d->x[i] * 0.5 + t;
                note(t, d->x[3]);
            }
        }
        int main(void)
        {
            struct data d = {calloc(40, sizeof(double)), 40};
            grow(&d);
            told();
            return 0;
        }
        """
    )
    program = load_program([str(tmp_path / name) for name in ("log.c", "main.c")], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    prepared = automatic(Prepared(facts, facts), None)
    assert any(applied.function.name == "grow" for applied in prepared.applied)
    verdict = verify_steps(prepared, VerifyOptions())
    assert verdict.status == "pass", verdict.reasons
    assert verdict.output_equal


SHARED = """
#include <stdio.h>
#include <stdlib.h>
static int size[3];
static double rhs[14][14][14][5], lhs[14][14][14][5][5];
static void back(void)
{
    int i, j, k, m, n;
    for (i = size[0] - 2; i >= 0; i--) {
#pragma omp for
        for (j = 1; j < size[1] - 1; j++)
            for (k = 1; k < size[2] - 1; k++)
                for (m = 0; m < 5; m++)
                    for (n = 0; n < 5; n++)
                        rhs[i][j][k][m] = rhs[i][j][k][m] - lhs[i][j][k][m][n] * rhs[i + 1][j][k][n];
    }
}
static void multiply(double a[5][5], double v[5])
{
    int i;
    for (i = 0; i < 5; i++) v[i] -= a[i][0] * v[0] + a[i][1];
}
static void cell(void)
{
    int i, j, k, q = size[0] - 1;
    for (i = 1; i < q; i++) {
#pragma omp for
        for (j = 1; j < size[1] - 1; j++)
            for (k = 1; k < size[2] - 1; k++) multiply(lhs[i][j][k], rhs[i][j][k]);
    }
#pragma omp for
    for (j = 1; j < size[1] - 1; j++)
        for (k = 1; k < size[2] - 1; k++) { rhs[1][j][k][0] += 1; if (rhs[1][j][k][0] > 1e9) exit(3); }
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) size[i] = 8 + argc;
    for (int i = 0; i < 14; i++)
        for (int j = 0; j < 14; j++)
            for (int k = 0; k < 14; k++)
                for (int m = 0; m < 5; m++) {
                    rhs[i][j][k][m] = i + j;
                    for (int n = 0; n < 5; n++) lhs[i][j][k][m][n] = 0.01 * k;
                }
#pragma omp parallel
    {
        cell();
        back();
    }
    printf("%f\\n", rhs[3][3][3][2]);
}
"""


@pytest.mark.slow
def test_nothing_is_recorded_between_a_pragma_and_its_loop(tmp_path: Path) -> None:
    path = tmp_path / "shared.c"
    path.write_text(SHARED)
    result = port([str(path)], PortOptions(root=str(tmp_path), front=FrontOptions(arguments=("-fopenmp",))))
    assert result.verification is not None and result.verification.status == "pass"
    assert not [found for found in result.verification.reasons if found.rule == "VER020"]
