"""Which fragments are chosen, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import build_all, draft, load, request
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import DraftChoice
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.selection.choice import choose, failure_key
from warpsmith.tree.nodes import Pragma
from warpsmith.tree.printing.printer import print_stmt

PIVOT = """
void f(int n, double *A)
{
    for (int k = 0; k < n; k++) {
        double p = A[k * n + k];
        for (int i = k + 1; i < n; i++)
            A[i * n + k] /= p;
    }
}
"""


def chosen(directory: Path, text: str, *parallel: str, live: tuple[str, ...] = ()) -> DraftChoice:
    return choose(request(load(text, directory), "f", parallel, live), {})


def refusal(directory: Path, text: str, *parallel: str, live: tuple[str, ...] = ()) -> str:
    choice = chosen(directory, text, *parallel, live=live)
    assert not choice.drafts
    return choice.refusals[0].reason.text


def test_a_statement_between_kernels_becomes_one_thread_and_its_scalar_a_cell(tmp_path: Path) -> None:
    choice = chosen(tmp_path, PIVOT, "f/k/i")
    assert [d.kind for d in choice.drafts] == ["single", "nest"]
    single, nest = choice.drafts
    (cell,) = [u for u in single.uses if u.kind == "cell"]
    assert (cell.written, cell.covers, cell.device_only) == (True, True, True)
    assert [(u.symbol.name, u.written) for u in nest.uses if u.kind == "cell"] == [("p", False)]


def test_the_cell_is_assigned_and_read_through_its_pointer(tmp_path: Path) -> None:
    asked = request(load(PIVOT, tmp_path), "f", ["f/k/i"])
    found = list(build_all(asked, choose(asked, {})).values())
    assert "*p_gpu = A_gpu[k * n + k];" in print_stmt(found[0].fragment.kernel.body)
    assert "A_gpu[i * n + k] /= *p_gpu;" in print_stmt(found[1].fragment.kernel.body)


def test_the_arms_of_a_branch_that_moves_are_no_fragments_of_their_own(tmp_path: Path) -> None:
    branch = "if (A[k] > 0) A[k] = 1; else { A[k] = 2; A[k + 1] = 3; }"
    choice = chosen(tmp_path, PIVOT.replace("double p = A[k * n + k];", branch).replace("/= p", "/= 2"), "f/k/i")
    assert [d.kind for d in choice.drafts] == ["single", "nest"]


@pytest.mark.parametrize("use", ["if (p > 3) break;", 'printf("%g", p);', "int m = p; if (m == 7) return;"])
def test_a_scalar_that_the_host_reads_in_the_loop_stays_there(use: str, tmp_path: Path) -> None:
    text = "#include <stdio.h>\n" + PIVOT.replace("/= p;", "/= p;\n        " + use)
    assert [d.kind for d in chosen(tmp_path, text, "f/k/i").drafts] == ["nest"]


def test_a_statement_in_a_host_loop_without_kernels_is_not_launched_each_time(tmp_path: Path) -> None:
    text = PIVOT.replace("double p", "for (int i = 1; i < n; i++) A[i] = A[i - 1];\n double p")
    assert [d.kind for d in chosen(tmp_path, text, "f/k/i#2").drafts] == ["single", "nest"]
    assert "A[k * n + k]" in print_stmt(chosen(tmp_path, text, "f/k/i#2").drafts[0].statements[0])


def test_what_failed_before_is_left_out(tmp_path: Path) -> None:
    asked = request(load(PIVOT, tmp_path), "f", ["f/k/i"])
    single, nest = choose(asked, {}).drafts
    why = Reason("POR008", "no offload region")
    assert [d.kind for d in choose(asked, {failure_key(single): why}).drafts] == ["nest"]
    without = choose(asked, {failure_key(nest): why})
    assert (without.drafts, [r.reason.text for r in without.refusals]) == ((), ["no offload region"])


def test_an_openmp_pragma_goes_with_its_loop(tmp_path: Path) -> None:
    text = """
    void f(int n, double *a)
    {
    #pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[i] = 1.0;
    }
    """
    (only,) = chosen(tmp_path, text, "f/i").drafts
    assert isinstance(only.statements[0], Pragma)
    assert len(only.statements) == 2


def test_a_loop_inside_a_host_parallel_loop_is_refused(tmp_path: Path) -> None:
    text = """
    void f(int n, double *a)
    {
    #pragma omp parallel for
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                a[k * n + i] = 1.0;
    }
    """
    assert "OpenMP" in refusal(tmp_path, text, "f/k/i")
    assert [d.region for d in chosen(tmp_path, text, "f/k", "f/k/i").drafts] == ["f/k"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("void f(int n, double **a) { for (int i = 0; i < n; i++) a[i][0] = 1; }", "pointer to pointers"),
        ("struct g { double *p; }; void f(int n, struct g *g) { for (int i = 0; i < n; i++) g->p[i] = 1; }", "'p' is"),
        ("struct s { int new; }; void f(int n, struct s *a) { for (int i = 0; i < n; i++) a[i].new = 1; }", "'new'"),
        ("void f(int *n, double *a) { for (int i = 0; i < n[0]; i++) a[i] = 1; }", "bound reads memory"),
        ("static double s; static double h(double x) { s = x; return x; }"
         " void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = h(a[i]); }", "'s'"),
        ("static int s; static double g(double x) { s++; return x; } static double h(double x) { return g(x); }"
         " void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = h(a[i]); }", "'s'"),
        ("struct v { int n, x[]; }; void f(int n, struct v *v) { for (int i = 0; i < n; i++) v->x[i] = 1; }", "'x'"),
        ("struct v { int n, x[1]; }; void f(int n, struct v *v) { for (int i = 0; i < n; i++) v->x[i] = 1; }", "'x'"),
        ("void f(int n, double *a) { if (n > 9) f(n / 2, a); for (int i = 0; i < n; i++) a[i] = 1; }", "recursive"),
        ("void f(int n, int m, double A[n][m]) { m = 3; for (int i = 0; i < n; i++) A[i][0] = 1; }", "row length"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_kernel_is_named(text: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, text, "f/i")


LIVE = """
int f(int n, int m, double *a)
{
    int i, j;
    double t;
    for (i = 0; i <= n; i += 2)
        for (j = 3; j < m; j++) {
            t = a[i * m + j];
            a[i * m + j] = 2 * t;
        }
    return i + j;
}
"""


def test_live_counters_get_their_final_values_on_the_host(tmp_path: Path) -> None:
    (only,) = chosen(tmp_path, LIVE, "f/i", "f/i/j", live=("i", "j")).drafts
    texts = [" ".join(print_stmt(s).split()) for s in only.finals]
    assert texts == ["i = 0 <= n ? (int)(((long long)n / 2 + 1) * 2) : 0;", "if (0 <= n) j = 3 < m ? m : 3;"]
    assert [s.name for s in only.locals] == ["t"]


def test_a_live_temporary_is_refused(tmp_path: Path) -> None:
    assert "'t' has after the loop" in refusal(tmp_path, LIVE, "f/i", live=("t",))


def test_a_live_counter_of_a_moving_inner_loop(tmp_path: Path) -> None:
    text = """
    int f(int n, double *a)
    {
        int i, j;
        for (i = 0; i < n; i++)
            for (j = 0; j < i + 2; j++)
                a[i * n + j] = 1.0;
        return j;
    }
    """
    (only,) = chosen(tmp_path, text, "f/i", "f/i/j", live=("j",)).drafts
    (final,) = only.finals
    assert "".join(print_stmt(final).split()) == "if(0<n)j=0<(int)((longlong)n-1)+2?(int)((longlong)n-1)+2:0;"


def test_only_what_was_selected(tmp_path: Path) -> None:
    program = load(
        "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] += 2; }",
        tmp_path,
    )
    plain = request(program, "f", ["f/i", "f/i#2"])
    wanted = plain.facts.loops[1].loop
    asked = request(program, "f", ["f/i", "f/i#2"], options=OffloadOptions(selected=(wanted,)))
    assert [d.region for d in choose(asked, {}).drafts] == ["f/i#2"]
    assert draft(choose(plain, {}), "f/i").kind == "nest"


def test_what_a_call_is_given_is_no_variable_of_the_function(tmp_path: Path) -> None:
    text = """
    static double *rows[9], seen[4];
    static double half(double x) { return x / 2; }
    void g(int n) { seen[n & 3] = n; }
    void f(int n, double *a, double *b)
    {
        for (int i = 0; i < n; i++)
            a[i] = half(b[i]);
    }
    """
    assert [d.region for d in chosen(tmp_path, text, "f/i").drafts] == ["f/i"]


SHORT = """
void f(int n, double *a)
{
    for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++)
            PRAGMA
            for (int i = 0; i < 8; i++)
                a[i] = 2 * a[i] + 1;
}
"""


@pytest.mark.parametrize(
    ("pragma", "launched"),
    [
        ("", 0),
        ("#pragma omp parallel for", 0),
        ("#pragma omp simd", 0),
        ("#pragma omp teams distribute parallel for", 1),
        ("#pragma omp teams distribute", 1),
    ],
)
def test_a_short_loop_is_launched_again_and_again_where_the_user_has_it_launched(
    pragma: str, launched: int, tmp_path: Path
) -> None:
    choice = chosen(tmp_path, SHORT.replace("PRAGMA", f"\n{pragma}\n"), "f/r/s/i")
    assert [d.kind for d in choice.drafts] == ["nest"] * launched
    assert all("2 loops of the host would launch it" in r.reason.text for r in choice.refusals if not launched)
