"""What leaves the user's text together, and where a run ends: what a call passes is read before it writes."""

from __future__ import annotations

from pathlib import Path

from tests.emit.host.outline.programs import port_text, texts

_BEHIND = """
#include <stdio.h>
#include <stdlib.h>
double factor;
static void fill(int n, int *at, double *x)
{
    for (int i = 0; i < n; i++) {
        at[i] = n - 1 - i;
        x[i] = i;
    }
}
static void scale(int n, double *f, double *x)
{
    for (int i = 0; i < n; i++)
        *f += x[i];
    for (int i = 0; i < n; i++)
        x[i] *= factor;
}
int main(void)
{
    int n = 40, *at = malloc(n * sizeof *at);
    double *x = malloc(n * sizeof *x);
    for (int t = 0; t < 3; t++) {
        fill(n, at, x);
        printf("%g\\n", x[at[1]]);
        scale(n, &factor, x);
        printf("%g %g\\n", x[3], factor);
    }
    return 0;
}
"""


def test_what_a_statement_reads_behind_a_copy_is_read_behind_it(tmp_path: Path) -> None:
    result = port_text(_BEHIND, tmp_path, verify=True)
    assert result.verification is not None and result.verification.status == "pass", result.verification
    made = texts(result)
    host, kernels = made["one.c"], made["one_kernels.cu"]
    # where x[at[1]] lies is known when at[1] is back
    assert host.index("ws_main_update(at);") < host.index("ws_main_update2(x, at[1]);") < host.index('printf("%g\\n"')
    assert "ws_update_host(&at[1]" in kernels and "ws_update_host(&x[at]" in kernels


_COUNTERS = """
void f(int n, double *restrict a, double *b)
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < 7; j++)
            a[7 * i + j] = i;
    b[0] = i + j;
}
"""


def test_what_a_loop_leaves_in_its_counters_belongs_to_its_launch(tmp_path: Path) -> None:
    made = texts(port_text(_COUNTERS, tmp_path))
    assert "    ws_f_1(n, a, &i, &j);\n    b[0] = i + j;\n" in made["one.c"]
    assert "    *i = 0 < n ? n : 0;\n    if (0 < n)\n        *j = 7;\n" in made["one_kernels.cu"]


def test_what_a_step_declares_from_memory_is_read_by_the_caller(tmp_path: Path) -> None:
    text = "struct s { int n; float *w; };\nvoid f(struct s *g) { for (int i = 0; i < g->n; i++) g->w[i] = 2 * i; }\n"
    host = texts(port_text(text, tmp_path))["one.c"]
    assert "ws_f_1(g->n, g->w)" in host and "= g->" not in host
