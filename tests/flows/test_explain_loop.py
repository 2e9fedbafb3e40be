"""A loop explained: sizes at which what its verdict assumes holds stand beside it."""

from __future__ import annotations

from pathlib import Path

from warpsmith.flows.explain_loop import explain_loop
from warpsmith.front.load import FrontOptions
from warpsmith.report.port.loop import loop_text


def test_sizes_at_which_the_guards_hold(tmp_path: Path) -> None:
    path = tmp_path / "rows.c"
    path.write_text(
        "void f(double *a, int n, int m, int k) {\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*k + j] = 1; }\n"
    )
    entry = explain_loop(str(path), "f/i", FrontOptions())
    assert entry.holds_at == {"k": 1000, "m": 1000, "n": 1000}
    assert "= holds, for example, for k = 1000, m = 1000, n = 1000" in loop_text(entry)
