"""The user's text calls one function for each run of device statements, and has his own statements once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.examples import Maker, saxpy
from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.host.cuda import emit_cuda, outlined_program
from warpsmith.flows.port import PortOptions, port
from warpsmith.tree.nodes import Copy, Literal, replace
from warpsmith.tree.types import INT
from warpsmith.tree.walk import rebuild

_LU = """
void lu(int n, double *a)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++)
            a[i * n + k] /= a[k * n + k];
        if (a[k] > 9)
            return;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
"""


def test_where_nothing_is_guarded_the_calls_stand_in_place_of_the_loops(tmp_path: Path) -> None:
    host = texts(port_text(_LU, tmp_path))["one.c"]
    assert host == '#include "one_kernels.h"\n' + _LU.replace(
        "{\n    for (int k", "{\n    struct ws_lu_data ws_gpu = ws_lu_begin(n, a);\n    for (int k"
    ).replace(
        "        for (int i = k + 1; i < n; i++)\n            a[i * n + k] /= a[k * n + k];\n",
        "        ws_lu_1(ws_gpu, n, a, k);\n",
    ).replace(
        "        if (a[k] > 9)\n            return;\n",
        "        if (a[k] > 9) {\n            ws_lu_end(ws_gpu);\n            return;\n        }\n",
    ).replace(
        "        for (int i = k + 1; i < n; i++)\n            for (int j = k + 1; j < n; j++)\n"
        "                a[i * n + j] -= a[i * n + k] * a[k * n + j];\n    }\n",
        "        ws_lu_2(ws_gpu, n, k);\n    }\n    ws_lu_end2(ws_gpu, a);\n",
    )


_GUARDED = """
#include <stdio.h>
double data[300];
int steps(int n, int m, double *x, double *y)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = 2 * y[i];
    for (int t = 0; t < m; t++) {
        for (i = 0; i < n; i++)
            x[i] += y[i];
        y[0] += 1;
        if (y[0] > 103.5)
            return i;
        switch (t) {
        case 1:
            for (int j = 0; j < n; j++)
                y[j] *= 0.5;
            break;
        default:
            y[1] = t;
        }
    }
    return n;
}
int main(void)
{
    for (int i = 0; i < 300; i++)
        data[i] = i;
    int left = steps(100, 4, data, data + 100) + steps(100, 4, data + 150, data + 200) + steps(0, 2, data, data + 7);
    double all = 0;
    for (int i = 0; i < 300; i++)
        all = 0.5 * all + data[i];
    printf("%d %.12g\\n", left, all);
    return 0;
}
"""


def test_where_a_guard_fails_the_users_own_statements_run(tmp_path: Path) -> None:
    result = port_text(_GUARDED, tmp_path, verify=True, transfers="mixed")
    assert result.verification is not None and result.verification.status == "pass", result.verification
    host = texts(result)["one.c"]
    written = host[host.index("int steps(") : host.index("int main(")]
    assert written.count("x[i] = 2 * y[i];") == written.count("x[i] += y[i];") == written.count("y[j] *= 0.5;") == 1
    assert written.count("if (!ws_gpu.on)") == 1 and written.count("if (!ws_steps_") == 2
    assert max(map(len, host.splitlines())) <= 120
    # the guards stand in one place, each with its reason
    kernels = texts(result)["one_kernels.cu"]
    assert kernels.count("// only where what is touched of x and of y does not overlap") == 1
    assert body_of(kernels, "ws_steps_1").startswith("{ struct ws_steps_data ws_gpu = {}; const long long extent = ")
    for number in (2, 3):
        assert body_of(kernels, f"ws_steps_{number}").startswith("{ if (!ws_gpu.on) return 0; ")


_SPLIT = """
#include <stdio.h>
void f(int n, double *a, double *b, double *restrict c)
{
    for (int i = 2; i < n; i++) {
        a[i] = a[i - 1] * a[i - 2] + 1.0;
        c[i] = a[i] + b[i];
    }
}
int main(void)
{
    double memory[12] = {1, 1, 2, 0, 1, 0, 1, 0, 2, 0, 0, 1}, c[10] = {0};
    f(10, memory + 2, memory, c);
    f(8, memory, memory + 1, c);
    for (int i = 0; i < 10; i++)
        printf("%g %g\\n", memory[i], c[i]);
    return 0;
}
"""


def test_what_a_host_loop_does_only_where_a_guard_fails_stands_under_its_test(tmp_path: Path) -> None:
    result = port_text(_SPLIT, tmp_path, verify=True)
    assert "if (!ws_gpu.on) c[i] = a[i] + b[i];" in body_of(texts(result)["one.c"], "f")
    assert result.verification is not None and result.verification.status in ("pass", "undecided")


def test_what_only_the_users_text_can_say_leaves_a_function_as_it_was_planned() -> None:
    made = saxpy()
    three = Literal(span=Maker("3").span("3"), type=INT, text="3", value=3)
    (function,) = made.ported.units[0].functions
    moved = rebuild(function, lambda node: replace(node, offset=three) if isinstance(node, Copy) else node)
    ported = made.ported.with_function(function, moved)
    outlined = outlined_program(made.original, ported)
    assert outlined.program is ported and not outlined.functions
    assert "    ws_copy_to_device(x_gpu + 3, x, 4LL * n, WS_HERE);\n" in emit_cuda(made.original, ported)[0].text


@pytest.mark.parametrize("used", ["printf", "other"])
def test_functions_of_one_name_get_others(used: str, tmp_path: Path) -> None:
    names = ("one.c", "two.c")
    for name in names:
        text = "static void fill(int n, double *a) { for (int i = 0; i < n; i++) a[i] = n; }\n"
        (tmp_path / name).write_text(f"{text}void {used}_{name[:3]}(double *a) {{ fill(9, a); }}\n")
    result = port([str(tmp_path / name) for name in names], PortOptions(verify=False))
    made = texts(result)
    assert "ws_fill_1(n, a);" in made["one.c"] and "ws_fill_1_(n, a);" in made["two.c"]
    assert " ws_fill_1_(" in made["two_kernels.cu"] and " ws_fill_1_(" not in made["one_kernels.cu"]
