"""Requests that can be refused before anything is worked out are."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

C = "void f(int n, int *idx, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[idx[i]] = i;\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(C)
    return tmp_path


@pytest.mark.parametrize(
    ("present", "words"),
    [
        ("gpu/a.c", ("-o", "gpu")),
        ("gpu/a_kernels.h", ("-o", "gpu")),
        ("gpu", ("-o", "gpu")),
        ("p.patch", ("--patch", "p.patch")),
        ("p/0001-old.patch", ("--patch", "p")),
    ],
)
def test_an_output_that_exists(
    present: str,
    words: tuple[str, ...],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the port was begun")

    monkeypatch.setattr("warpsmith.app.cli.commands.port.port", never)
    monkeypatch.setattr("warpsmith.app.cli.commands.port.ported_project", never)
    (here / present).parent.mkdir(exist_ok=True)
    (here / present).write_text("mine")
    assert run_guarded(warpsmith, ["port", "a.c", *words]) == 2
    err = capsys.readouterr().err
    assert "OUT00" in err
    assert (here / present).read_text() == "mine"
    if present != "gpu":
        assert "--force overwrites" in err
        assert run_guarded(warpsmith, ["port", "a.c", *words, "--force"]) == 70


def test_a_survey_overwrites_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.html").write_text("mine")
    words = ["survey", "-j1", "a.c", "--format", "html", "-o", "s.html"]
    assert run_guarded(warpsmith, words) == 2
    assert "already exists" in capsys.readouterr().err
    assert run_guarded(warpsmith, [*words, "--force"]) == 0
    assert (here / "s.html").read_text() != "mine"


@pytest.mark.parametrize(
    ("assumption", "words"),
    [
        ("garbage((", "not of a form that is known"),
        ("injektive(idx)", "not of a form that is known"),
        ("noalias(a)", "not of a form that is known"),
        ("n", "not of a form that is known"),
        ("n >= f(3)", "not of a form that is known"),
        ("injective(idy)", "did you mean 'idx'?"),
        ("m >= 1", "no function has 'm'"),
        ("parallel(f/j)", "did you mean 'f/i'?"),
    ],
)
def test_an_assumption_that_nobody_would_heed(
    assumption: str, words: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_guarded(warpsmith, ["port", "--survey", "a.c", "--assume", assumption]) == 2
    assert words in capsys.readouterr().err


def test_an_assumption_that_is_heeded(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--assume", "injective(idx)", "--assume", "n >= 1 && n % 2 == 0"]
    assert run_guarded(warpsmith, ["port", "--survey", "a.c", *given]) == 0
    assert "n % 2 == 0; injective(idx); a and idx" in " ".join(capsys.readouterr().out.split())
