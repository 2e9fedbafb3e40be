"""The copies of a port in the order of its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.examples import saxpy
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.plan import OffloadOptions
from warpsmith.report.timeline.events import MovedBytes, TimelineEvent, timeline
from warpsmith.tree.nodes import Copy
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

LOOP = "for (int i = 0; i < n; i++) a[i] = {};"
TEXT = f"""
void once(int n, double *a) {{ {LOOP.format("2 * a[i]")} }}
void idle(int n) {{ n++; }}
void both(int n, double *a) {{ if (n > 3) once(n, a); else idle(n); }}
void again(int n, double *a) {{ once(n, a); if (n > 0) again(n - 1, a); }}
"""
MAIN = "int main(void) { static double a[9]; idle(3); for (int t = 0; t < 3; t++) both(9, a); return a[0] > 3; }"


def events(text: str, folder: Path) -> list[TimelineEvent]:
    path = folder / "a.c"
    path.write_text(text)
    made = port([str(path)], PortOptions(verify=False)).ported
    assert made is not None
    return list(timeline(made.program))


def functions(found: list[TimelineEvent]) -> list[str]:
    return [event.what for event in found if event.kind == "function"]


def test_one_kernel_in_its_function() -> None:
    found = timeline(saxpy().ported)
    assert [(e.kind, e.depth, e.what) for e in found] == [
        ("function", 0, "saxpy_serial"),
        ("to device", 1, "x"),
        ("to device", 1, "y"),
        ("kernel", 1, "ws_saxpy_serial_k1"),
        ("to host", 1, "y"),
    ]
    assert all(e.bytes == "4LL * n" and e.measured is None for e in found if e.kind.startswith("to "))
    assert timeline(saxpy().original) == ()


def test_what_was_not_run_moved_nothing() -> None:
    program: Program = saxpy().ported
    copies = [node for _, f in program.functions() for node in walk(f.body) if isinstance(node, Copy)]
    found = [e.measured for e in timeline(program, {copies[0]: MovedBytes(2, 16)}) if e.kind.startswith("to ")]
    assert found == [MovedBytes(2, 16), MovedBytes(0, 0), MovedBytes(0, 0)]


def test_from_main_down_and_only_what_matters(tmp_path: Path) -> None:
    found = events(TEXT + MAIN, tmp_path)
    assert functions(found) == ["main", "both", "once"]
    depths = [(e.what, e.depth) for e in found if e.kind in ("function", "loop", "branch", "kernel")]
    order = [what for what, _ in depths]
    assert order.index("for t") < order.index("both") < order.index("if (n > 3)") < order.index("once")
    assert [depth for what, depth in depths if what in ("main", "for t", "both", "if (n > 3)")] == sorted(
        depth for what, depth in depths if what in ("main", "for t", "both", "if (n > 3)")
    )
    assert not any(e.what.startswith("else of") for e in found)


def test_without_main_all_that_nobody_calls(tmp_path: Path) -> None:
    found = events(TEXT, tmp_path)
    assert functions(found) == ["both", "once", "again", "once", "again"]
    again = [e for e in found if e.what == "again"]
    assert [e.when for e in again] == ["", "as above: it calls itself"] and again[0].depth == 0


@pytest.mark.parametrize(("length", "short"), [(60, False), (90, True)])
def test_long_conditions_are_cut(length: int, short: bool, tmp_path: Path) -> None:
    condition = "n > 1" + " + 1" * ((length - 5) // 4)
    found = events(f"void f(int n, double *a) {{ if ({condition}) {{ {LOOP.format('1')} }} }}", tmp_path)
    heads = [e.what for e in found if e.kind == "branch" and e.what.startswith("if (n > 1")]
    assert heads and heads[0].endswith(" ...)") == short and len(heads[0]) <= 72 + len("if ()")


def test_copies_beside_other_work_say_beside_what(tmp_path: Path) -> None:
    text = (
        "void f(int n, double *restrict a, double *restrict b, double *restrict c)\n{\n"
        f"    {LOOP.format('2 * b[i]')}\n    for (int i = 0; i < n; i++) c[i] += a[i];\n}}\n"
    )
    path = tmp_path / "a.c"
    path.write_text(text)
    options = PortOptions(offload=OffloadOptions(pinned=True, overlap=True), verify=False)
    made = port([str(path)], options).ported
    assert made is not None
    found = [(e.kind, e.what, e.when or e.waiting, e.until) for e in timeline(made.program) if e.kind != "branch"]
    assert found[1:] == [
        ("to device", "b", "", 0),
        ("to device", "c", "beside ws_f_k1", 3),
        ("kernel", "ws_f_k1", "", 0),
        ("to host", "a", "beside ws_f_k2", 3),
        ("wait", "c", "kernels", 0),
        ("kernel", "ws_f_k2", "", 0),
        ("wait", "a", "host", 0),
        ("to host", "c", "", 0),
    ]
