"""`warpsmith simulate FILE.s`: masks and memory on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

EXAMPLE = str(Path(__file__).parents[5] / "examples" / "gcn" / "two_halves.s")
ARGUMENTS = ("--arg", "s12=x", "--arg", "s[2:3]=zeros:u32[64]")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(warpsmith, ["simulate", *arguments])


def test_masks_are_printed() -> None:
    done = _run(EXAMPLE, *ARGUMENTS)
    assert done.exit_code == 0
    assert f"{'1' * 16}{'.' * 48}  v_mov_b32 v4, 1" in done.output
    assert "64 changed: 1 1" in done.output


def test_json_has_them_too() -> None:
    found = json.loads(_run(EXAMPLE, *ARGUMENTS, "--format", "json").output)
    assert {step["mask"] for step in found["masks"]} == {"0xffffffffffffffff", "0xffff", "0xffffffffffff0000"}


@pytest.mark.parametrize(
    "options",
    [("--timeline", "svg"), ("-i",), ("--policy", "all"), ("--heat", "svg=x.svg"), ("--warps", "0-1"), ("--profile",)],
)
def test_what_is_for_others_is_told(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code = run_guarded(warpsmith, ["simulate", EXAMPLE, *options])
    assert code == 2
    assert "error[INP000]" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(warpsmith, ["simulate", "gone.s"]) == 2
    assert "cannot be read" in capsys.readouterr().err
