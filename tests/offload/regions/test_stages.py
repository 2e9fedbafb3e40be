"""Holds of straight-line code: what stays on the device from stage to stage, where a run is cut, and how it is left."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.transfers import measured_copies
from warpsmith.report.timeline.events import timeline
from warpsmith.report.timeline.text import timeline_text
from warpsmith.run.verification import VerifyOptions

_PARTS = """\
#include <stdio.h>
#include <stdlib.h>
static double A[64], B[64];
static void fill(double *a, int n, double s) { for (int i = 0; i < n; i++) a[i] = s * i; }
static void mix(double *restrict to, const double *restrict from, int n)
{
    for (int i = 1; i < n - 1; i++) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}
static void make(void) { for (int i = 0; i < 64; i++) { A[i] = i; B[i] = 1; } }
static void use(void) { for (int i = 0; i < 64; i++) B[i] += 0.5 * A[i]; }
OTHER
int run(double *a, double *b, int n, int k)
{
    BODY
    return 0;
}
int main(int argc, char **argv)
{
    double *a = malloc(64 * sizeof *a), *b = malloc(64 * sizeof *b);
    for (int i = 1; i < 64; i++) b[i] = a[i] = a[i - 1] = i;
    printf("%d ", run(a, b, 64, argc));
    for (int i = 0; i < 64; i++) printf("%g %g %g ", a[i], b[i], B[i]);
    return 0;
}
"""
_OBJECTS = """\
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>
class Row {
public:
    explicit Row(int n) : n_(n), data_(n) {}
    std::vector<float> &values() { return data_; }
    const std::vector<float> &values() const { return data_; }
private:
    int n_ = 0;
    std::vector<float> data_;
};
static void scale(Row &r)
{
    std::vector<float> &v = r.values();
    for (std::size_t i = 0; i < v.size(); i++) v[i] = 2 * v[i] + 1;
}
static Row half(const Row &in)
{
    Row out(8);
    const std::vector<float> &from = in.values();
    std::vector<float> &to = out.values();
    for (std::size_t i = 0; i < to.size(); i++) to[i] = 0.5f * from[i];
    return out;
}
OTHER
static int run(Row &r, int k)
{
    BODY
    return 0;
}
int main(int argc, char **)
{
    Row r(8);
    int left = -1;
    try { left = run(r, argc); } catch (const std::exception &e) { std::puts(e.what()); }
    for (float x : r.values()) std::printf("%g ", x);
    return left < 0;
}
"""

Ported = Callable[..., PortResult]


@pytest.fixture
def ported(tmp_path: Path) -> Ported:
    """Port a program whose function `run` has `body` in it."""

    def make(body: str, other: str = "", *, cxx: bool = False, verify: bool = False) -> PortResult:
        path = tmp_path / ("stages.cpp" if cxx else "stages.c")
        path.write_text((_OBJECTS if cxx else _PARTS).replace("BODY", body).replace("OTHER", other))
        return port([str(path)], PortOptions(verify=verify))

    return make


def _run(result: PortResult) -> str:
    """Return the text of `run`."""
    text = next(file.text for file in result.files if file.path.startswith("stages.c"))
    return text[text.index("int run(") : text.index("int main(")]


def _reasons(result: PortResult) -> list[str]:
    return [finding.message for finding in result.findings if finding.rule == "POR018"]


def test_data_are_entered_before_the_first_stage_and_left_behind_the_last(ported: Ported) -> None:
    text = _run(ported('puts("a"); fill(a, n, 2); puts("b"); mix(b, a, n); puts("c");'))
    words = ('puts("a")', "ws_data_begin", "fill(a", 'puts("b")', "mix(b", "ws_data_end", 'puts("c")')
    words = ('puts("a")', "ws_data_begin", "fill(a", 'puts("b")', "mix(b", "ws_data_end", 'puts("c")')
    places = [text.index(word) for word in words]
    assert places == sorted(places)
    assert text.count("ws_data_begin") + text.count("ws_data_end") == 2 and "_update" not in text


def test_host_code_between_stages_gets_updates(ported: Ported) -> None:
    result = ported('fill(a, n, 2); printf("%g", a[5]); a[7] = k; mix(b, a, n);')
    text = _run(result)
    calls = ["fill(a", "ws_run_update(a)", "printf", "a[7] = k", "ws_run_update2(a)", "mix(b"]
    assert [text.index(call) for call in calls] == sorted(text.index(call) for call in calls)
    kernels = next(file.text for file in result.files if file.path.endswith(".cu"))
    assert "ws_update_host(&a[5]" in kernels and "ws_update_device(&a[7]" in kernels


@pytest.mark.parametrize(
    "body",
    [
        "fill(a, n, 2);",
        "fill(a, n, 2); k = 3;",
        "static double u[64], v[64]; fill(u, n, 2); fill(v, n, 3);",
        "fill(a, n, 2); goto out; out: mix(b, a, n);",
        "switch (k) { case 1: fill(a, n, 2); mix(b, a, n); break; default: break; }",
    ],
)
def test_what_is_no_run_is_not_held(ported: Ported, body: str) -> None:
    assert "ws_data_region" not in _run(ported(body))


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("fill(a, n, 2); if (k) return (int)a[3]; mix(b, a, n);", 2),
        ("while (observe()) { fill(a, n, 2); if (k) break; if (n) continue; mix(b, a, n); }", 3),
        ("while (observe()) { fill(a, n, 2); for (;;) if (k++) break; mix(b, a, n); }", 1),
        ("while (observe()) { fill(a, n, 2); switch (k) { case 1: break; case 2: continue; } mix(b, a, n); }", 2),
    ],
)
def test_every_way_out_of_a_run_ends_it(ported: Ported, body: str, ends: int) -> None:
    # a condition that may do anything keeps the loop around the run from being a data region
    text = _run(ported(body, "int observe(void);"))
    assert text.count("ws_data_begin") == 1 and text.count("ws_data_end") == ends, text


def test_a_run_is_cut_where_nobody_knows_what_happens(ported: Ported) -> None:
    result = ported("fill(a, n, 2); mix(b, a, n); observe(a); mix(a, b, n); mix(b, a, n);", "void observe(double *);")
    text = _run(result)
    assert text.count("ws_data_begin") == 2 and "pause" not in text
    assert text.index("ws_data_end") < text.index("observe(a)") < text.rindex("ws_data_begin")
    assert any("do not stay on the device across line" in reason for reason in _reasons(result))


def test_freeing_memory_is_seen_and_suspends_nothing(ported: Ported) -> None:
    body = "double *c = malloc(n * sizeof *c); fill(c, n, 1); mix(a, c, n); free(c); a = realloc(a, 999); mix(b, a, n);"
    result = ported(body)
    text = _run(result)
    assert "suspend" not in text and text.count("ws_run_begin(WS_FRAME);") == text.count("ws_data_end") == 1
    assert "| WS_WATCH" in next(file.text for file in result.files if file.path == "stages_kernels.cu")


_FREED = (
    "double *c = malloc(n * sizeof *c), *d = malloc(n * sizeof *d); fill(c, n, 1); fill(a, n, 2); mix(a, c, n); "
    'free(c); fill(b, n, 3); fill(d, n, 2); mix(b, d, n); free(d); d = NULL; puts("end");'
)


def test_a_run_ends_behind_the_memory_that_is_freed_after_it(ported: Ported) -> None:
    text = _run(ported(_FREED))
    assert text.index("free(d)") < text.index("ws_data_end") < text.index('puts("end")')


@pytest.mark.slow
def test_memory_that_is_freed_behind_the_last_stage_does_not_come_back(ported: Ported) -> None:
    result = ported(_FREED, verify=True)
    assert is_accepted(result.verification), result.verification
    assert result.ported is not None
    counted = measured_copies(result.ported, result.files, VerifyOptions())
    assert counted is not None
    assert sum(moved.count for moved in counted.values()) == 2, counted  # a and b


def test_stages_of_main_share_what_has_static_storage(ported: Ported) -> None:
    text = _run(ported("make(); use(); use();"))
    assert text.index("ws_data_begin") < text.index("make()") < text.rindex("use()") < text.index("ws_data_end")


# --- objects


def test_objects_that_live_and_die_between_stages(ported: Ported) -> None:
    body = "scale(r); Row h = half(r); { Row inner(4); scale(inner); } std::swap(h, r); scale(h); r = half(h);"
    result = ported(body, cxx=True)
    text = _run(result)
    assert "ws_data_region ws_data(WS_HERE);\n    scale(r)" in text and text.count("ws_data.end(") == 1
    assert "pause" not in text and not _reasons(result)


def test_a_copy_reads_the_block_that_it_is_made_from(ported: Ported) -> None:
    text = _run(ported("scale(r); Row h(r); scale(h); Row other(9); scale(r);", cxx=True))
    assert text.count("ws_update_host_block") == 1


@pytest.mark.parametrize("host", ["r.values().resize(k);", "h = r;", "r.values().assign(3, 1.0f);"])
def test_what_may_write_elements_in_place_parts_a_run(ported: Ported, host: str) -> None:
    text = _run(ported(f"Row h(8); scale(r); scale(r); {host} scale(r); scale(r);", cxx=True))
    assert text.count("ws_data_region ws_data") == 2, text
    assert text.index("ws_data.end(") < text.index(host[:-1]) < text.rindex("ws_data_region ws_data")


@pytest.mark.parametrize(
    "other",
    [
        'struct Loud { ~Loud() { std::puts("end"); } }; static void loud() { Loud l; std::puts("in"); }',
        'static void jump(int k) { if (k) goto out; std::puts("no"); out: return; }',
    ],
)
def test_no_objects_where_an_exception_meets_the_program(ported: Ported, other: str) -> None:
    """A destructor could read what is newer on the device, before the data region has ended."""
    call = "loud();" if "Loud" in other else "jump(k);"
    text = _run(ported(f"scale(r); {call} scale(r);", other, cxx=True))
    assert "ws_data" not in text


def test_the_timeline_shows_the_run(ported: Ported) -> None:
    result = ported("fill(a, n, 2); mix(b, a, n);")
    assert result.ported is not None
    lines = timeline_text(timeline(result.ported.program))
    held = next(i for i, line in enumerate(lines.splitlines()) if "from here on data stay" in line)
    assert any("fill" in line for line in lines.splitlines()[held:])


@pytest.mark.slow
def test_stages_copy_what_leaves_the_device_and_nothing_else(ported: Ported) -> None:
    result = ported("fill(a, n, 2); fill(b, n, 3); mix(b, a, n); mix(a, b, n); mix(b, a, n);", verify=True)
    assert is_accepted(result.verification), result.verification
    assert result.ported is not None
    counted = measured_copies(result.ported, result.files, VerifyOptions())
    assert counted is not None
    assert sum(moved.count for moved in counted.values()) == 2, counted  # a and b come back once, when the run ends


def test_in_place_a_data_region_ends_inside_the_branch_that_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "stages.c"
    body = "fill(a, n, 2);\n    if (k)\n        return (int)a[3];\n    mix(b, a, n);"
    path.write_text(_PARTS.replace("BODY", body).replace("OTHER", ""))
    result = port([str(path)], PortOptions(verify=False, root=str(tmp_path)))
    assert result.in_place is not None
    (text,) = (file.text for file in result.in_place.files if file.path.endswith("stages.c"))
    branch = text[text.index("if (k)") : text.index("return (int)a[3]")]
    assert branch.index("{") < branch.index("ws_data_end")


def test_in_place_a_build_without_the_pragma_or_with_other_prints_stops(tmp_path: Path) -> None:
    # the port beside the pragma would be left out with it, and the loop would run on the host inside the data region;
    # what another build prints there would be what the host has
    path = tmp_path / "stages.c"
    loop = (
        "\n#ifndef SERIAL\n    k = 4;\n#pragma omp parallel for\n#endif\n    for (int i = 0; i < n; i++) a[i] += k;\n"
    )
    body = f'fill(a, n, 2);{loop}#ifdef DEBUG\n    printf("%g", a[3]);\n#endif\n    mix(b, a, n);'
    path.write_text(_PARTS.replace("BODY", body).replace("OTHER", ""))
    result = port([str(path)], PortOptions(verify=False, root=str(tmp_path)))
    assert result.in_place is not None and result.in_place.with_data_regions
    for file in result.in_place.files:
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_text(file.text)
    assert "if (!ws_run_1(" in path.read_text()
    for flags, said in ((), ""), (("-fopenmp",), ""), (("-DDEBUG",), "DEBUG"), (("-DSERIAL",), "SERIAL"):
        for macro in ((), ("-DWARPSMITH",)):
            command = ["gcc", "-w", "-fsyntax-only", *macro, *flags, "stages.c"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert (done.returncode != 0) == bool(macro and said)
            assert not macro or said in done.stderr
