"""Kernels from C text: parameters, names, launch ranges, bodies. Facts are written by hand (hand.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import build_all, load, request
from warpsmith.base.errors import RefusedError
from warpsmith.offload.mapping.kernels import BuiltKernel
from warpsmith.offload.selection.choice import choose
from warpsmith.tree.nodes import Launch
from warpsmith.tree.printing.printer import print_expr, print_stmt, print_type
from warpsmith.tree.program import Kernel

LU = """
void lu(int N, double *A)
{
    for (int k = 0; k < N; k++) {
        for (int i = k + 1; i < N; i++)
            A[i * N + k] /= A[k * N + k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
    }
}
"""


def built(directory: Path, text: str, function: str, *parallel: str) -> dict[str, BuiltKernel]:
    asked = request(load(text, directory), function, parallel)
    return build_all(asked, choose(asked, {}))


def only(directory: Path, text: str, function: str, *parallel: str) -> Kernel:
    (found,) = built(directory, text, function, *parallel).values()
    return found.fragment.kernel


def parameters(kernel: Kernel) -> list[tuple[str, str, bool]]:
    return [(p.symbol.name, p.kind, p.written) for p in kernel.parameters]


def ranges(kernel: Kernel) -> list[tuple[str, str]]:
    return [(print_expr(lower), print_expr(count)) for lower, count in kernel.launch]


def guards(kernel: Kernel) -> list[str]:
    return [print_expr(guard) for guard in kernel.guards]


def body(kernel: Kernel) -> str:
    return " ".join(print_stmt(kernel.body).split())


def test_lu_makes_two_kernels_with_j_on_x(tmp_path: Path) -> None:
    found = built(tmp_path, LU, "lu", "lu/k/i", "lu/k/i#2", "lu/k/i#2/j")
    scale, update = found["lu/k/i"].fragment, found["lu/k/i#2"].fragment
    assert parameters(update.kernel) == [("A_gpu", "buffer", True), ("N", "value", False), ("k", "value", False)]
    assert update.mapping == {"i": "y", "j": "x"}
    assert scale.kernel.block == (256, 1, 1)
    assert body(scale.kernel) == "A_gpu[i * N + k] /= A_gpu[k * N + k];"
    assert guards(update.kernel) == ["i < N", "j < N"]
    launch = found["lu/k/i#2"].launch[0]
    assert isinstance(launch, Launch)
    assert [print_expr(a) for a in launch.arguments] == ["A_gpu", "N", "k"]


def test_saxpy_has_the_shape_of_the_textbook(tmp_path: Path) -> None:
    text = """
    void saxpy(int n, float a, const float *restrict x, float *restrict y)
    {
        for (int i = 0; i < n; i++)
            y[i] = a * x[i] + y[i];
    }
    """
    kernel = only(tmp_path, text, "saxpy", "saxpy/i")
    assert (kernel.block, kernel.strided, kernel.sliced) == ((256, 1, 1), (), ())
    assert (ranges(kernel), guards(kernel)) == ([("0", "n")], ["i < n"])
    assert [p.symbol.name for p in kernel.parameters] == ["x_gpu", "y_gpu", "n", "a"]


def test_rows_of_constant_length_keep_their_subscripts_and_others_become_linear(tmp_path: Path) -> None:
    text = """
    void copy(int n, int m, double A[n][m], double B[20][30])
    {
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 30; j++)
                A[i][j] = B[i][j];
    }
    """
    (found,) = built(tmp_path, text, "copy", "copy/i", "copy/i/j").values()
    assert body(found.fragment.kernel) == "A_gpu[(Index)i * m + j] = B_gpu[i][j];"
    assert [print_expr(one) for one in found.fragment.kernel.narrow] == ["m >= 1", "(double)19 * m + 29 <= 2147483647"]
    assert [p.symbol.name for p in found.fragment.kernel.parameters] == ["A_gpu", "B_gpu", "m"]
    launch = found.launch[0]
    assert isinstance(launch, Launch)
    assert [print_expr(a) for a in launch.arguments] == ["A_gpu", "(double (*)[30])B_gpu", "m"]


def test_three_dimensional_rows(tmp_path: Path) -> None:
    text = """
    void set(int n, int m, int k, double A[n][m][k])
    {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                for (int l = 0; l < k; l++)
                    A[i][j][l] = 1.0;
    }
    """
    kernel = only(tmp_path, text, "set", "set/i", "set/i/j", "set/i/j/l")
    assert (kernel.index, len(kernel.narrow)) == ("Index", 3)
    assert body(kernel) == "A_gpu[(Index)i * m * k + (Index)j * k + l] = 1.0;"
    assert [m.axis for m in kernel.mapped] == ["z", "y", "x"]
    assert (set(kernel.sliced), kernel.strided) == ({"y", "z"}, ())


def test_a_row_without_its_last_subscript_is_refused(tmp_path: Path) -> None:
    text = """
    void f(int n, double A[n][n][n])
    {
        for (int i = 0; i < n; i++)
            (*(A + i))[0][0] = 1.0;
    }
    """
    with pytest.raises(RefusedError, match="variable length"):
        only(tmp_path, text, "f", "f/i")


def test_a_triangle_is_launched_over_its_extremes_and_guarded_exactly(tmp_path: Path) -> None:
    text = """
    void f(int n, double *A)
    {
        for (int i = 0; i < n; i++)
            for (int j = i; j < n - i; j++)
                A[i * n + j] = 1.0;
    }
    """
    kernel = only(tmp_path, text, "f", "f/i", "f/i/j")
    assert ranges(kernel) == [("0", "n"), ("0", "n")]
    assert guards(kernel) == ["i < n", "j >= i && j < n - i"]


def test_a_moving_start_with_a_step_stays_in_the_thread(tmp_path: Path) -> None:
    text = """
    void f(int n, double *A)
    {
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j += 2)
                A[i * n + j] = 1.0;
    }
    """
    kernel = only(tmp_path, text, "f", "f/i", "f/i/j")
    assert [m.id for m in kernel.mapped] == ["f/i"]
    assert body(kernel).startswith("for (long long j_at = (long long)i + 2 * lane; j_at < n; j_at += 2 * Lanes)")


def test_a_bound_that_cannot_be_covered_stays_in_the_thread(tmp_path: Path) -> None:
    text = """
    void f(int n, double *A)
    {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i * i; j++)
                A[i * n + j] = 1.0;
    }
    """
    assert [m.id for m in only(tmp_path, text, "f", "f/i", "f/i/j").mapped] == ["f/i"]


def test_counting_down_with_a_step(tmp_path: Path) -> None:
    text = "void f(int n, double *a) { for (int i = n - 1; i >= 2; i -= 3) a[i] = i; }"
    kernel = only(tmp_path, text, "f", "f/i")
    assert ranges(kernel) == [("n - 1", "((long long)(n - 1) - 1 + 2) / 3")]
    assert guards(kernel) == ["i >= 2"]


def test_an_unequal_test_becomes_the_comparison_that_a_partial_block_needs(tmp_path: Path) -> None:
    kernel = only(tmp_path, "void f(long n, short *a) { for (long i = 0; i != n; i++) a[i] = 1; }", "f", "f/i")
    assert guards(kernel) == ["i < n"]
    assert (kernel.sliced, kernel.strided) == (("x",), ())


def test_a_comparison_that_converts_is_asked_first(tmp_path: Path) -> None:
    text = "void f(unsigned n, int m, double *a) { for (int j = -m; j < n; j++) a[j + m] = 1.0; }"
    kernel = only(tmp_path, text, "f", "f/j")
    assert ranges(kernel) == [("-m", "-m < n ? (long long)n - (long long)-m : 0")]


def test_names_of_cuda_and_of_ours_are_avoided(tmp_path: Path) -> None:
    text = """
    int ws_class_k1 = 3;
    void class(int n, double *restrict A_gpu, const double *restrict A)
    {
        int threadIdx = n, new = 1;
        for (int this = 0; this < n; this++)
            A_gpu[this] = A[this] * new + threadIdx;
    }
    """
    kernel = only(tmp_path, text, "class", "class/this")
    assert body(kernel) == "A_gpu_gpu[this_arg] = A_gpu2[this_arg] * new_arg + threadIdx_arg;"
    assert kernel.mapped[0].loop.variable.name == "this_arg"
    assert guards(kernel) == ["this_arg < n"]


def test_sizeof_of_an_array_becomes_its_value(tmp_path: Path) -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = sizeof(a[0]) + sizeof(int); }"
    assert body(only(tmp_path, text, "f", "f/i")) == "a_gpu[i] = 8ul + sizeof(int);"


def test_continue_leaves_the_thread(tmp_path: Path) -> None:
    text = """
    void f(int n, double *a)
    {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++)
                if (k == 1)
                    continue;
            if (a[i] > 0)
                continue;
            a[i] = 1.0;
        }
    }
    """
    text_of = body(only(tmp_path, text, "f", "f/i"))
    assert "if (k == 1) continue;" in text_of
    assert "if (a_gpu[i] > 0) return;" in text_of


def test_pragmas_in_the_body_are_for_the_host(tmp_path: Path) -> None:
    text = """
    void f(int n, double *a)
    {
        for (int i = 0; i < n; i++) {
    #pragma GCC ivdep
            for (int k = 0; k < 3; k++)
                a[i * 3 + k] = 1.0;
        }
    }
    """
    assert "pragma" not in body(only(tmp_path, text, "f", "f/i"))


def test_helpers_are_listed_callees_first(tmp_path: Path) -> None:
    text = """
    static double square(double x) { return x * x; }
    static double norm(double x, double y) { return square(x) + square(y); }
    void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = norm(a[i], 1.0); }
    """
    assert [s.name for s in only(tmp_path, text, "f", "f/i").functions] == ["square", "norm"]


def test_a_constant_that_a_kernel_sets_is_no_constant_there(tmp_path: Path) -> None:
    text = """
    double half(const double *p) { return 0.5 * p[0]; }
    void f(int n, double a[n], int m) {
        for (int t = 0; t < m; t++) {
            for (int i = 0; i < n; i++) a[i] += i;
            const double shift = half(a);
            for (int i = 0; i < n; i++) a[i] -= shift;
        }
    }
    """
    found = built(tmp_path, text, "f", "f/t/i", "f/t/i#2")
    types = {
        (p.written, print_type(p.symbol.type))
        for one in found.values()
        for p in one.fragment.kernel.parameters
        if p.symbol.name == "shift_gpu"
    }
    assert types == {(True, "double *"), (False, "const double *")}
