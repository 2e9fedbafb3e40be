"""Where updates stand: in front of what reads, behind what writes, on every way through loops and branches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import looped, shown
from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.regions.coherence import Coherent
from warpsmith.offload.transfers.flow import ProgramPoint


def placed(body: str, folder: Path) -> list[str]:
    return [one for one in shown(looped(body, folder)) if not one.endswith((": begin", ": end"))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (u[2] > 1) { u[3] = 2; } else k = v[1];",
         ["before if: host &u[2]", "after u[3] = 2;: device &u[3]", "before k = v[1];: host &v[1]"]),
        ("switch ((int)u[2]) { case 1: u[3] = 2; break; default: k = v[1]; }",
         ["before switch: host &u[2]", "after u[3] = 2;: device &u[3]", "before k = v[1];: host &v[1]"]),
        # a loop's condition is asked again behind its body, and by each continue of its own
        ("while (u[0] > 3) { if (k) continue; for (int i = 0; i < 3; i++) if (i) continue; step(u, v, n); }",
         ["before while: host &u[0]", "after step: host &u[0]", "before continue;: host &u[0]"]),
        ("for (int i = 0; i < (int)v[2]; i++) step(u, v, n);",
         ["before for: host &v[2]", "after step: host &v[2]"]),
        # one that returns from the middle is no one statement where it writes
        ("for (;;) { u[2] = 1; if (k) return 2; }", ["after u[2] = 1;: device &u[2]"]),
        # the same range twice, and all of it
        ("k = u[1] + u[1] * v[2];", ["before k = u[1] + u[1] * v[2];: host &u[1]",
                                     "before k = u[1] + u[1] * v[2];: host &v[2]"]),
        ("k = u[k++] + v[2];", ["before k = u[k++] + v[2];: host all"]),
        ("double x = u[2]; u[3] = x;", ["before double x = u[2];: host &u[2]", "after u[3] = x;: device &u[3]"]),
        (";", []),
        ("{ { u[3] = 1; } }", ["after u[3] = 1;: device &u[3]"]),
    ],
)  # fmt: skip
def test_where_updates_stand(body: str, expected: list[str], tmp_path: Path) -> None:
    assert sorted(placed(body, tmp_path)) == sorted(expected)


def test_an_update_stands_in_front_of_the_pragmas_of_a_statement(tmp_path: Path) -> None:
    body = (
        "\n#pragma GCC ivdep\n#pragma omp simd\n for (int i = 2; i < n; i++) { if (v[i] > 3) break; u[i] = u[i - 1]; }"
    )
    assert any(one.startswith("before #pragma") or one.startswith("before for") for one in placed(body, tmp_path))


@pytest.mark.parametrize(("pragma", "held"), [("omp parallel for", False), ("GCC ivdep", True)])
def test_threads_of_the_host_run_no_kernels(pragma: str, held: bool, tmp_path: Path) -> None:
    port = looped(f"\n#pragma {pragma}\n    for (int i = 0; i < 2; i++) step(u, v, n);", tmp_path)
    assert any("begin" in one for one in shown(port)) == held


def test_where_a_guard_fails_everything_is_brought_and_sent(tmp_path: Path) -> None:
    """step's u and v may overlap: its own loop runs on the host then."""
    port = looped("", tmp_path)
    assert shown(port, "step") == []
    (fallback,) = [v.fallback for v in port.versions if v.fallback[0]]
    (before,), (after,) = fallback
    assert not getattr(before, "to_device", True) and getattr(after, "to_device", False)


def test_sending_comes_before_the_end_of_a_data_region(tmp_path: Path) -> None:
    p = Program()
    node, update, end = p.host(), p.host(), p.host()
    at = ProgramPoint("after", node)
    made = Coherent({at: [update]}, {at: [end], ProgramPoint("before", node): [end]})
    assert made.all() == {at: [update, end], ProgramPoint("before", node): [end]}
    assert made.is_needed() and not Coherent({}, {at: [end]}).is_needed()
    assert made.around(p.offload_region((node,))) == ((), ())
