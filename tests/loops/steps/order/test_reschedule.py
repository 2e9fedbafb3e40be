"""Classic programs that are not parallel as written do the same when rescheduled, with parallel inner loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from tests.loops.steps.order.orders_run import applied, categories, outputs, text_of
from tests.poly.programs import load
from warpsmith.base.verdict import Refuted, Unknown
from warpsmith.loops.steps.order.reschedule import Reschedule
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

FILL = """
static void fill(int n, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = i == j ? 2.0 * n + i : 1.0 / (1 + i + 2 * j) + (i < j ? 0.0 : 1.0 / (1 + j + 2 * i));
}
static void show(int n, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    unsigned long long sum = 14695981039346656037ull;
    for (size_t k = 0; k < size; k++)
        sum = (sum ^ bytes[k]) * 1099511628211ull;
    printf("%d %llx\\n", n, sum);
}
"""

MAIN = """
int main(void)
{
    int sizes[] = {0, 1, 2, 7, 20};
    for (int s = 0; s < 5; s++) {
        int n = sizes[s];
        double *A = calloc((size_t)n * n + 1, 8), *B = calloc((size_t)n * n + 1, 8), *x = calloc(n + 1, 8);
        fill(n, A);
        fill(n, B);
        for (int i = 0; i < n; i++)
            x[i] = 1.0 / (i + 1);
        f(n, (void *)A, (void *)B, x);
        show(n, A, 8 * (size_t)n * n);
        show(n, B, 8 * (size_t)n * n);
        show(n, x, 8 * (size_t)n);
    }
    return 0;
}
"""

ARGUMENTS = "int n, double A[restrict n][n], double B[restrict n][n], double x[restrict n]"


class Kernel(Struct, frozen=True):
    """`sequential`: the loops that stay so, all others must be parallel; `nests`: how many nests each has inside."""

    body: str
    sequential: tuple[str, ...]
    nests: int

    @property
    def text(self) -> str:
        return f"#include <math.h>\nvoid f({ARGUMENTS})\n{{\n{self.body}}}\n"


KERNELS = {
    "lu": Kernel(
        """    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
    }
""",
        ("f/k",),
        2,
    ),
    "cholesky": Kernel(
        """    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (int k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(A[i][i]);
    }
""",
        ("f/k",),
        2,
    ),
    "trisolv": Kernel(
        """    for (int i = 0; i < n; i++) {
        x[i] = B[0][i];
        for (int j = 0; j < i; j++)
            x[i] -= A[i][j] * x[j];
        x[i] = x[i] / A[i][i];
    }
""",
        ("f/j",),
        1,
    ),
    "factor phase of ludcmp": Kernel(
        """    int i, j, k;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            B[i][j] = A[i][j];
            for (k = 0; k < j; k++)
                B[i][j] -= A[i][k] * A[k][j];
            A[i][j] = B[i][j] / A[j][j];
        }
        for (j = i; j < n; j++) {
            B[i][j] = A[i][j];
            for (k = 0; k < i; k++)
                B[i][j] -= A[i][k] * A[k][j];
            A[i][j] = B[i][j];
        }
    }
""",
        ("f/k",),
        3,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    after = applied(kernel.text, Reschedule("f/i"), tmp_path)
    before = outputs(FILL + kernel.text, MAIN, tmp_path, "before")
    assert outputs(FILL + text_of(after), MAIN, tmp_path, "after") == before
    loops = categories(after, tmp_path)
    for address, facts in loops.items():
        assert (facts.category == "parallel") == (address not in kernel.sequential), (address, text_of(after))
    for address in kernel.sequential:
        assert len([a for a in loops if a.rpartition("/")[0] == address]) == kernel.nests


def test_completed_step_needs_no_search(tmp_path: Path) -> None:
    program = load(KERNELS["lu"].text, tmp_path)
    facts = Facts.about(program, PolyOptions())
    step = Reschedule("f/i").complete(program, facts)
    assert step == Reschedule("f/i", 1, ("k 2 i j", "j 0 i", "k 2 i j"))
    assert text_of(Reschedule("f/i").apply(program)) == text_of(step.apply(program))


def test_an_order_that_turns_a_dependence_is_refuted(tmp_path: Path) -> None:
    program = load(KERNELS["lu"].text, tmp_path)
    facts = Facts.about(program, PolyOptions())
    verdict = Reschedule("f/i", 1, ("k 0 i j", "j 2 i", "k 0 i j")).check(program, facts)
    assert isinstance(verdict, Refuted)
    assert verdict.reasons[0].dependence is not None


@pytest.mark.parametrize(
    ("times", "rule"),
    [(("k i j",), "STP003"), (("k q", "j", "k"), "STP003"), (("k*k", "j", "k"), "STP003"), (("", "j", "k"), "STP003")],
)
def test_wrong_times_are_named(times: tuple[str, ...], rule: str, tmp_path: Path) -> None:
    program = load(KERNELS["lu"].text, tmp_path)
    verdict = Reschedule("f/i", 1, times).check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].rule == rule


@pytest.mark.parametrize(
    "body",
    [
        "int i; for (i = 0; i < n; i++) x[i] = 1; x[0] = i;",
        "for (int i = 0; i < n; i++) { if (x[i] > 0) for (int j = 0; j < n; j++) A[i][j] = 0; }",
        "for (int i = 0; i < n; i++) { if (x[i] > 9) break; x[i] = 1; }",
    ],
)
def test_what_does_not_fit_is_unknown(body: str, tmp_path: Path) -> None:
    program = load(f"void f({ARGUMENTS}) {{ {body} }}", tmp_path)
    verdict = Reschedule("f/i", 1, ("i" if "j" not in body else "j i",)).check(
        program, Facts.about(program, PolyOptions())
    )
    assert isinstance(verdict, Unknown), verdict


def test_statements_behind_the_loop_move_with_it(tmp_path: Path) -> None:
    text = f"""void f({ARGUMENTS})
{{
    for (int i = 0; i < n; i++)
        A[0][i] = B[0][i];
    for (int j = 0; j < n; j++)
        x[j] = A[0][j];
}}
"""
    after = applied(text, Reschedule("f/i", 2, ("i 0", "j 1")), tmp_path)
    assert text_of(after).count("for (") == 1
    before = outputs(FILL + text, MAIN, tmp_path, "before")
    assert outputs(FILL + text_of(after), MAIN, tmp_path, "after") == before


def test_wavefront_is_not_needed_for_one_loop(tmp_path: Path) -> None:
    program = load(f"void f({ARGUMENTS}) {{ for (int i = 1; i < n; i++) x[i] += x[i - 1]; }}", tmp_path)
    assert isinstance(Wavefront("f/i").check(program, Facts.about(program, PolyOptions())), Unknown)
