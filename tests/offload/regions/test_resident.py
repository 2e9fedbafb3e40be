"""Residency across functions: what is held, what is updated, what is refused, and what a run really copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.flows import port as flow
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.transfers import measured_copies
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.regions import needs
from warpsmith.report.timeline.events import timeline
from warpsmith.report.timeline.svg import timeline_svg
from warpsmith.report.timeline.text import timeline_text
from warpsmith.tree.nodes import Update
from warpsmith.tree.printing.printer import print_expr

_STEP = """\
void step(double *u, double *v, int n)
{
    for (int i = 1; i < n - 1; i++)
        v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
}
void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}
"""

_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
void step(double *u, double *v, int n);
void swap(double **a, double **b);
OTHER
int main(void)
{
    int n = 50;
    double *u = malloc(n * sizeof(double)), *v = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        u[i] = i % 7;
        v[i] = u[i];
    }
    for (int t = 0; t < STEPS; t++) {
        step(u, v, n);
        BODY
    }
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum = 0.5 * sum + u[i];
    printf("%.9f\\n", sum);
    free(u);
    free(v);
    return 0;
}
"""


Ported = Callable[..., PortResult]


@pytest.fixture
def ported(tmp_path: Path) -> Ported:
    """Port a program in two files whose time loop has `body` in it."""

    def make(body: str, other: str = "", steps: int = 20, *, verify: bool = False, parts: str = _STEP) -> PortResult:
        main = _MAIN.replace("BODY", body).replace("OTHER", other).replace("STEPS", str(steps))
        (tmp_path / "main.c").write_text(main)
        (tmp_path / "solver.c").write_text(parts)
        return port([str(tmp_path / "main.c"), str(tmp_path / "solver.c")], PortOptions(verify=verify))

    return make


def _text(result: PortResult, name: str = "main.c") -> str:
    return next(file.text for file in result.files if file.path == name)


def _updates(result: PortResult) -> list[str]:
    assert result.ported is not None
    found = [s for i in result.ported.inserted for s in i.statements if isinstance(s, Update)]
    return [
        f"{'device' if s.to_device else 'host'} {'all' if s.address is None else print_expr(s.address)}" for s in found
    ]


def _reasons(result: PortResult) -> list[str]:
    return [finding.message for finding in result.findings if finding.rule == "POR018"]


def test_one_value_is_copied_where_one_value_is_printed(ported: Ported) -> None:
    result = ported('swap(&u, &v); if (t % 10 == 0) printf("%g\\n", u[5]);')
    text = _text(result)
    # from the loop that fills the arrays on
    assert text.index("ws_data_begin(WS_HERE);") < text.index("ws_main_1(") < text.index("for (int t")
    assert "ws_update_host(&u[5], (long long)sizeof(double), WS_HERE);" in _text(result, "main_kernels.cu")
    assert _updates(result) == ["host &u[5]"]
    assert not _reasons(result)


def test_a_program_without_such_a_loop_is_ported_as_ever(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 2 * a[i]; }\n")
    result = port([str(tmp_path / "one.c")], PortOptions(verify=False))
    assert "double *a_gpu = (double *)ws_device_acquire" in _text(result, "one_kernels.cu")
    assert not any("ws_data_enter" in file.text for file in result.files)


@pytest.mark.parametrize(
    ("body", "updates"),
    [
        ("u[3] = t;", ["device &u[3]"]),
        ("u[3] += t;", ["host &u[3]", "device &u[3]"]),
        ("for (int i = 1; i < n; i++) u[i] = 0.5 * u[i - 1] * u[i - 1] + u[i];", ["host u", "device u"]),
        ("if (v[1] > 2.0) break;", ["host &v[1]"]),
        ("while (u[0] > 3.0) u[0] *= 0.5;", ["host u", "device u"]),
        ("while (v[0] > 9.0) step(u, v, n);", ["host &v[0]", "host &v[0]"]),
        ("if (u[2] > 1e9) return (int)u[1];", ["host &u[2]", "host &u[1]"]),
        ("u[t % 4] = v[(int)u[1]];", ["host &u[1]", "host &v[(int)u[1]]", "device &u[t % 4]"]),
        ("t % 2 ? (u[1] = 0.0) : 0.0;", ["host &u[1]", "device &u[1]"]),
    ],
)
def test_host_code_in_a_hold_gets_updates(ported: Ported, body: str, updates: list[str]) -> None:
    result = ported(body)
    assert "ws_data_begin" in _text(result), _reasons(result)
    found = _updates(result)
    # `host all`, `device all`: where the guard of the solver's kernel fails
    assert [u for u in found if "all" not in u] == updates, found


def test_every_way_out_ends_the_data_region(ported: Ported) -> None:
    text = _text(ported("if (t == 3) return 1; if (t == 4) break;"))
    assert text.count("ws_data_begin") == 1
    assert text.count("ws_data_end") == 2
    assert "ws_data_end(WS_HERE);\n            return 1;" in text


def test_an_unknown_function_suspends(ported: Ported) -> None:
    result = ported("observe(u);", "void observe(double *);")
    text = _text(result)
    assert text.index("ws_data_suspend") < text.index("observe(u);") < text.index("ws_data_resume")
    assert any("observe" in (f.help[0] if f.help else "") or "all data" in f.message for f in result.findings)


def test_memory_that_is_freed_is_seen_to_die(ported: Ported) -> None:
    result = ported("double *w = malloc(n * sizeof(double)); free(v); v = w; v[0] = v[n - 1] = u[0];")
    assert "ws_data_begin" in _text(result) and "ws_data_suspend" not in _text(result)
    assert "WS_KEEP | WS_WATCH" in _text(result, "solver_kernels.cu")


_TOTAL = "double total(double *u, int n) { double s = 0; for (int i = 0; i < n; i++) s += u[i]; return s; }\n"
_SCALED = """\
double scaled(double *u, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        u[i] *= 0.5;
        s += u[i];
    }
    return s;
}
double first(double *u, int n) { return scaled(u, n) + u[0]; }
"""


@pytest.mark.parametrize(
    ("body", "other", "why"),
    [
        ("u[1] = u[0] + scaled(u, n);", "double scaled(double *, int);", "make two statements"),
        ("u[1] = first(u, n);", "double first(double *, int);", "make two statements"),
        ("v[1] = (u[0] = 3.0) + total(u, n);", "double total(double *, int);", "make two statements"),
        ("if ((u[0] = 3.0) > 2.0) v[1] = 0.0;", "", "a condition writes"),
        ("if (observe(u)) break;", "int observe(double *);", "a condition calls"),
    ],
)
def test_what_no_update_can_serve_is_no_hold(ported: Ported, body: str, other: str, why: str) -> None:
    result = ported(body, other, parts=_STEP + _TOTAL + _SCALED)
    assert "ws_data_begin" not in _text(result) and "ws_data_enter" not in _text(result, "solver_kernels.cu")
    assert any(why in reason for reason in _reasons(result)), _reasons(result)


@pytest.mark.parametrize(
    ("body", "updates"),
    [
        ("u[1] = u[0] + total(u, n);", ["host &u[0]", "device &u[1]"]),
        ("if (total(u, n) > v[3] + total(v, n)) break;", ["host &v[3]"]),
        ("double *w[1] = {u}; sum = total(u, n) + w[0][2];", ["host &w[0][2]"]),
        ('printf("%g %g\\n", total(v, n), u[2]);', ["host &u[2]"]),
        ("sum += scaled(v, n);", []),
    ],
)
def test_kernels_that_store_nothing_stand_beside_reads(ported: Ported, body: str, updates: list[str]) -> None:
    """Whichever of the two C evaluates first, an update before the statement serves the read."""
    other = "double total(double *, int); double scaled(double *, int); static double sum;"
    result = ported(body, other, parts=_STEP + _TOTAL + _SCALED)
    assert "ws_data_begin" in _text(result), _reasons(result)
    assert [u for u in _updates(result) if "all" not in u] == updates


@pytest.mark.slow
def test_reads_beside_kernels_are_what_the_program_reads(ported: Ported) -> None:
    body = 'u[1] = u[0] + 0.01 * total(u, n); printf("%g %g\\n", total(v, n), u[2]); swap(&u, &v);'
    result = ported(body, "double total(double *, int);", verify=True, parts=_STEP + _TOTAL)
    assert "ws_data_begin" in _text(result), _reasons(result)
    assert result.verification is not None and result.verification.status == "pass"


@pytest.mark.slow
def test_a_read_beside_a_kernel_that_writes_it_would_be_stale(ported: Ported, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the look at what the kernels store the program prints something else."""
    monkeypatch.setattr(needs, "disturbs", lambda *asked: False)
    monkeypatch.setattr(flow, "_hangs_on_order", lambda *asked: False)
    result = ported('printf("%g\\n", first(u, n));', "double first(double *, int);", verify=True, parts=_STEP + _SCALED)
    assert "ws_data_begin" in _text(result), _reasons(result)
    assert result.verification is not None and result.verification.status == "fail"


_HEADER = """\
static inline double mixed(const double *a) { return 0.5 * (a[0] + a[1]); }
"""


@pytest.mark.parametrize(
    ("body", "held"), [("swap(&u, &v);", True), ("if (mixed(u) > 1e9) break;", False)], ids=["kernels", "host"]
)
def test_a_function_of_a_header_is_no_matter_where_only_kernels_call_it(
    ported: Ported, tmp_path: Path, body: str, held: bool
) -> None:
    (tmp_path / "mixed.h").write_text(_HEADER)
    include = '#include "mixed.h"\n'
    result = ported(body, include, parts=include + _STEP.replace("0.1 *", "0.1 * mixed(u) *"))
    assert ("ws_data_begin" in _text(result)) == held
    assert held or any("defined in a header" in reason for reason in _reasons(result))


@pytest.mark.parametrize("call", ["atexit(done)", "signal(2, 0)"])
def test_handlers_and_data_regions_do_not_go_together(ported: Ported, call: str) -> None:
    result = ported("swap(&u, &v);", f"#include <signal.h>\nvoid done(void);\nvoid late(void) {{ {call}; }}")
    assert "ws_data_begin" not in _text(result)


def test_memory_of_a_call_is_not_kept(ported: Ported) -> None:
    parts = _STEP + (
        "void twice(double *u, int n)\n{\n    double w[64];\n    for (int i = 0; i < n; i++) w[i] = u[i];\n"
        "    w[0] = 1.0;\n    step(w, u, n);\n}\n"
    )
    result = ported("twice(u, n);", "void twice(double *u, int n);", parts=parts)
    text = " ".join(_text(result, "solver_kernels.cu").split())
    # step is given w once, which dies with the call: what its u names may never be kept, v only names main's memory
    assert 'WS_COPY, "u"' in text and 'WS_KEEP, "v"' in text
    assert 'WS_KEEP, "w"' not in text


def test_copies_do_not_grow_with_the_steps(ported: Ported) -> None:
    counts = []
    for steps in (8, 16):
        result = ported("swap(&u, &v); if (t == 4) u[0] = u[7];", steps=steps)
        assert result.ported is not None
        measured = measured_copies(result.ported, result.files, PortOptions().run)
        assert measured is not None
        counts.append((sum(m.count for m in measured.values()), sum(m.bytes for m in measured.values())))
    assert counts[0] == counts[1], counts
    assert counts[0][1] < 6 * 50 * 8


_BRANCH = """\
#include <stdio.h>
#include <stdlib.h>
void renew(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + i;
}
void touch(double *x, int n, int c)
{
    if (c)
        x[n / 2] = 3.0;
    else
        renew(x, n);
}
int main(void)
{
    int n = 30;
    double *x = calloc(n, sizeof(double));
    for (int t = 0; t < 7; t++) {
        touch(x, n, t % 3 == 1);
        if (t % 2)
            printf("%g %g\\n", x[n / 2], x[1]);
    }
    printf("%g\\n", x[n - 1]);
    free(x);
    return 0;
}
"""


def test_one_arm_writes_on_the_host_and_the_other_on_the_device(tmp_path: Path) -> None:
    (tmp_path / "branch.c").write_text(_BRANCH)
    result = port([str(tmp_path / "branch.c")], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert "ws_update_device(&x[n / 2]" in _text(result, "branch_kernels.cu")


def test_the_other_schemes_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "branch.c").write_text(_BRANCH)
    result = port([str(tmp_path / "branch.c")], PortOptions(verify=False, offload=OffloadOptions(transfers="mixed")))
    assert "ws_copy_to_host(x" in _text(result, "branch_kernels.cu")
    assert "ws_data_region" not in _text(result, "branch.c")


def test_the_timeline_names_the_lines(tmp_path: Path) -> None:
    (tmp_path / "branch.c").write_text(_BRANCH)
    result = port([str(tmp_path / "branch.c")], PortOptions(verify=False))
    assert result.ported is not None
    events = timeline(result.ported.program)
    text = timeline_text(events)
    order = [
        "main (branch.c:15)",
        "data region: from here",
        "for t",
        "touch (branch.c:8)",
        "x[n / 2] -> device",
        "renew",
    ]
    order += ["x -> device", "ws_renew_k1", "x -> host", "x[1] -> host", "data region: what was written"]
    places = [text.index(part) for part in order]
    assert places == sorted(places), text
    assert "x[n / 2] -> device  for line 11, 8 bytes" in text
    picture = timeline_svg(events, "branch.c")
    assert picture.startswith("<svg") and picture.count("<rect") > 4 and "x[n / 2]" in picture
