"""A region whose host part only counts becomes one function; everything else of the host stays in the user's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.host.outline.programs import body_of, port_text, texts
from tests.sampling import one_in
from warpsmith.emit.host.outline.model import NotOutlinedError
from warpsmith.emit.host.outline.whole import check_order, is_movable, whole_region
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import DeclStmt, For, Stmt, Update, replace
from warpsmith.tree.printing.printer import nothing, print_stmt

_MAIN = """
#include <stdio.h>
#include <stdlib.h>
struct box { int n; } box = {3};
int f(int n, int m, double *x, double *y, struct box *s)
{
    int t = 0, i = 0, w = 7;
    double sum = 0;
    BODY
}
int main(void)
{
    double *data = malloc(600 * sizeof(double)), *more = calloc(100, sizeof(double));
    for (int i = 0; i < 600; i++)
        printf("%g", data[i] = i % 7);
    int left = f(100, 4, data, more, &box) + 3 * f(100, 5, data + 150, data + 200, &box);
    left += f(0, 2, data, data + 7, &box);
    for (int i = 0; i < 600; i++)
        printf(" %.12g", data[i]);
    printf(" %d\\n", left);
    return 0;
}
"""
_LOOPS = "for (i = 0; i < n; i++) x[i] += y[i] * 0.5; for (i = 1; i < n; i++) y[i] = x[i - 1] + x[i];"
_WHOLE = {
    "counters": f"for (t = 0; t < m; t++) {{ {_LOOPS} }} return n;",
    "a test": f"for (t = 0; t < m; t++) {{ if (t % 2 == 0) {{ {_LOOPS} }} }} return n;",
    "numbers": f"for (t = 0; t < m; t++) {{ w = 2 * t + 1; {_LOOPS} }} return w;",
    "its own numbers": f"for (t = 0; t < m; t++) {{ w = 2 * t + 1; if (w < 6) {{ {_LOOPS} }} }} w = 3; return w;",
    "powers of two": f"for (t = 1; t < 8 * m; t *= 2) {{ {_LOOPS} }} return n;",
}


def _ported(body: str, folder: Path, *, verify: bool) -> tuple[str, str]:
    """Port a program, and judge it; return its host text and its kernels'."""
    path = folder / "one.c"
    path.write_text(_MAIN.replace("BODY", body))
    result = port([str(path)], PortOptions(verify=verify))
    if verify:
        assert result.verification is not None and result.verification.status == "pass", result.verification
    files = texts(result)
    return files["one.c"], files["one_kernels.cu"]


@pytest.mark.parametrize("name", one_in(len(_WHOLE), _WHOLE))
def test_what_only_counts_leaves_the_users_text(name: str, tmp_path: Path) -> None:
    host, kernels = _ported(_WHOLE[name], tmp_path, verify=True)
    assert host.count("if (!ws_f_1(") == 1 and "ws_gpu" not in host and host.count("x[i] += y[i] * 0.5") == 1
    body = body_of(kernels, "ws_f_1")
    assert body.index("for (") < body.index("ws_f_k1(") and "only where" in body


def test_a_number_that_is_needed_is_passed_by_its_address(tmp_path: Path) -> None:
    host, kernels = _ported(_WHOLE["numbers"], tmp_path, verify=False)
    assert "&w" in host and "*w = 2 * t + 1;" in body_of(kernels, "ws_f_1")


@pytest.mark.parametrize("verify", one_in(2, [False, True]))
def test_the_ports_own_loops_leave_where_nothing_is_guarded(verify: bool, tmp_path: Path) -> None:
    text = """
void f(int n, int steps, double a[n][n])
{
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
}
"""
    result = port_text(text, tmp_path, verify=verify)
    assert result.verification is None or result.verification.status == "pass"
    host = texts(result)["one.c"]
    assert "    ws_f_1(n, steps, a);\n}\n" in host and "for (" not in host


def _run(body: str, tmp_path: Path) -> tuple[Stmt, ...]:
    path = tmp_path / "f.c"
    path.write_text(
        f"void take(void);\nint shared;\nint f(int n, int k, int m, int *p, double x)\n{{\n{body}\nreturn n;\n}}\n"
    )
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    return function.body.statements[:-1]


@pytest.mark.parametrize(
    "body",
    [
        "take();",
        "p[0] = 1;",
        "m = p[0]++;",
        "while (take(), k) ;",
        "for (k = 0; k < n; k++) m = p[k];",
        "if (n) m = *p;",
        "#pragma omp parallel for\nfor (k = 0; k < n; k++) ;",
        "switch (n) { case 1: m = 2; }",
        "for (shared = 0; shared < n; shared++) ;",
        "for (k = 0; k < n; k++) { x = 0.5 * x; }",
        "x += 1;",
        "while (x + 1 < n) k = 1;",
        "for (k = 0; k < n; k++) { if (k == m) break; }",
    ],
)
def test_statements_that_do_not_leave(body: str, tmp_path: Path) -> None:
    with pytest.raises(NotOutlinedError):
        whole_region(_run(body, tmp_path), (), lambda symbol: False)


def test_own_counters_are_declared_by_their_loops(tmp_path: Path) -> None:
    run = _run("for (k = 0; k < n; k++) ; for (m = 0; m < n; m++) ; m = 2;", tmp_path)
    made = whole_region(run, (), lambda symbol: False)
    assert isinstance(made[0], DeclStmt) and [d.symbol.name for d in made[0].declarations] == ["m"]
    loops = [stmt for stmt in made if isinstance(stmt, For)]
    assert [loop.declares for loop in loops] == [True, False]
    assert print_stmt(loops[0], known=nothing).startswith("for (int k = 0;")
    assert [is_movable(stmt) for stmt in run] == [False, False, False]
    assert is_movable(_run("for (int i = 0; i < n; i++) { int j = i; j += 1; }", tmp_path)[0])


def test_a_counter_that_is_needed_behind_stays_the_users(tmp_path: Path) -> None:
    run = _run("for (k = 0; k < n; k++) m = 2;", tmp_path)
    with pytest.raises(NotOutlinedError):
        whole_region(run, (), lambda symbol: symbol.name == "k")
    with pytest.raises(NotOutlinedError):
        whole_region(run, {run[0].variable} if isinstance(run[0], For) else (), lambda symbol: False)
    # a number is set by its address
    (loop,) = whole_region(run, (), lambda symbol: symbol.name == "m")
    assert isinstance(loop, For) and loop.declares


def test_numbers_of_floating_point_are_handed_on_and_compared(tmp_path: Path) -> None:
    assert whole_region(_run("for (k = 0; k < n; k++) { if (x < 1) x = k; }", tmp_path), (), lambda s: s.name == "x")


def test_what_is_read_behind_a_copy_back_is_read_there(tmp_path: Path) -> None:
    (stmt,) = _run("if (m > p[0]) k = 1;", tmp_path)
    copy = Update(span=stmt.span, to_device=False, variable=None, address=None, bytes=None, cause=stmt.span)
    assert whole_region((stmt, copy), (), lambda symbol: False)
    with pytest.raises(NotOutlinedError):
        whole_region((copy, stmt), (), lambda symbol: False)


def test_a_counter_that_is_read_first_stays_the_users(tmp_path: Path) -> None:
    with pytest.raises(NotOutlinedError):
        whole_region(_run("if (k > 0) m = k; for (k = 0; k < n; k++) ;", tmp_path), (), lambda symbol: False)


def test_what_is_read_behind_a_write_is_not_passed(tmp_path: Path) -> None:
    (read,) = _run("int first = p[0];", tmp_path)
    update = Update(span=read.span, to_device=False, variable=None, address=None, bytes=None, cause=read.span)
    check_order((read, update), ())
    with pytest.raises(NotOutlinedError):
        check_order((update, read), ())
    check_order((replace(update, to_device=True), read), ())
