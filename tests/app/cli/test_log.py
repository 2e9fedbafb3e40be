"""What -v and --log-file show, and that no other run loads what writes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_quiet_and_the_log(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "none.cu").write_text("int x;\n")
    words = ["analyze", "none.cu", "--isolated"]
    assert run_guarded(warpsmith, words) == 0
    assert "has no kernel" in capsys.readouterr().err
    assert run_guarded(warpsmith, [*words, "-q", "--log-file", "run.log"]) == 0
    assert capsys.readouterr().err == ""
    assert "has no kernel" in (here / "run.log").read_text()
    assert run_guarded(warpsmith, [*words, "--log-file", "no/run.log"]) == 2


def test_a_log_that_cannot_be_written_is_reported_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "none.cu").write_text("int x;\n")
    assert run_guarded(warpsmith, ["analyze", "none.cu", "--isolated", "-q", "--log-file", "/dev/full"]) == 2
    (line, *_) = capsys.readouterr().err.splitlines()
    assert line.startswith("error[OUT002]") and "no space left" in line


@pytest.mark.slow
@pytest.mark.parametrize(("options", "loaded"), [((), False), (("-v",), True), (("--log-file", "run.log"), True)])
def test_logging_is_loaded_where_it_is_read(here: Path, options: tuple[str, ...], loaded: bool) -> None:
    (here / "a.c").write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    words = ["port", "a.c", "--isolated", "--verify", "off", *options]
    code = (
        "import sys\nfrom warpsmith.app.cli.failure import run_guarded\nfrom warpsmith.app.cli.main import warpsmith\n"
        f"code = run_guarded(warpsmith, {words!r})\nsys.exit(code if code else 10 + ('logging' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, check=False)
    assert done.returncode == 10 + loaded, done.stderr
