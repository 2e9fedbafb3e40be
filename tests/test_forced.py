"""A loop that is wrongly forced parallel is caught by the referee, with array, index and threads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

PREFIX_SUM = "void f(int n, double *a, const double *b) { for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i]; }"
S2244 = """void f(int n, double *restrict a, const double *restrict b, const double *restrict e)
{ for (int i = 0; i < n - 1; i++) { a[i + 1] = b[i] + e[i]; a[i] = b[i] * e[i]; } }"""
PLAIN_SUM = "double f(int n, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }"


@pytest.mark.parametrize(("text", "array"), [(PREFIX_SUM, "a"), (S2244, "a"), (PLAIN_SUM, "s")])
def test_a_forced_loop_is_caught(text: str, array: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "forced.c"
    path.write_text(text)
    gpu = tmp_path / "gpu"
    assert run_guarded(warpsmith, ["port", str(path), "--assume", "parallel(f/i)", "-o", str(gpu), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verify"]["status"] == "fail"
    races = document["verify"]["races"]
    assert races
    for race in races:
        assert race["variable"] == array
        assert isinstance(race["index"], int)
        assert len(race["threads"]) == 2
        assert race["spans"]
    (loop,) = document["loops"]
    assert {"text": "parallel(f/i)", "kind": "granted"} in loop["assumptions"]
    assert not gpu.exists()
