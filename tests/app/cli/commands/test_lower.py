"""`warpsmith lower`: a program on standard output, or the line that cannot be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

EXAMPLES = Path(__file__).parents[4] / "examples"


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, ["lower", *words, "--to", "mask"])
    done = capsys.readouterr()
    return code, done.out, done.err


def test_a_kernel_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "countdown.cu"))
    assert (code, err) == (0, "")
    assert out.startswith("; countdown: a launch of 1 dimension\n; t0, u0: v, one buffer\n")
    assert out.endswith("    ret\n")


def test_a_kernel_that_cannot_be_is_refused_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "transpose.cu"), "--kernel", "tiled")
    assert (code, out) == (2, "")
    assert "transpose.cu:12:22: error[MSK007] the mask ISA has no shared memory: tile" in err
