"""README and the manual show what the program really prints and draws. `WARPSMITH_UPDATE=1` rewrites the pages; look at
the difference. A page with the comment `% slow` runs on demand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.console import Page, examples_in, matches, pictures_in, shown_again

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs"
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *MANUAL.rglob("*.md")]
    if "generated" not in path.parts and "_build" not in path.parts
)
SHOWING = [path for path in PAGES if "```console" in path.read_text("utf-8")]
PICTURES = MANUAL / "pictures"
UPDATE = bool(os.environ.get("WARPSMITH_UPDATE"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT).with_suffix(""))


def _is_slow(path: Path) -> bool:
    return "\n% slow\n" in path.read_text("utf-8")


def _pages() -> list[object]:
    return [pytest.param(path, id=_name(path), marks=[pytest.mark.slow] if _is_slow(path) else []) for path in SHOWING]


@pytest.mark.parametrize("path", _pages())
def test_a_page_shows_what_is_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = path.read_text("utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "benchmarks" / "polybench", tmp_path / "benchmarks" / "polybench")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    page = Page(tmp_path, capfd.readouterr)
    printed = [page.run(example.command) for example in examples_in(text)]
    assert not [output for output in printed if "internal error" in output]
    if UPDATE:
        text = shown_again(text, printed)
        path.write_text(text, "utf-8")
    for example, output in zip(examples_in(text), printed, strict=True):
        assert matches(example.shown, output), f"$ {example.command}\n{output}"
    for name in pictures_in(text):
        drawn = (tmp_path / name).read_text("utf-8")
        if UPDATE:
            (PICTURES / name).write_text(drawn, "utf-8")
        assert (PICTURES / name).read_text("utf-8") == drawn, name


def test_readme_is_short_and_shows_a_port_and_an_analysis() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    commands = [example.command for example in examples_in(text)]
    assert len(text.splitlines()) <= 200
    assert any(command.startswith("warpsmith port ") for command in commands)
    assert any(command.startswith("warpsmith analyze ") for command in commands)
    assert pictures_in(text)


@pytest.mark.slow
def test_the_readme_installs_what_it_says(tmp_path: Path) -> None:
    block = re.search(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert block is not None
    here = tmp_path / "checkout"
    shutil.copytree(ROOT, here, ignore=shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__"))
    done = subprocess.run(["bash", "-ec", block[1]], cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "verify  PASS" in done.stdout
    assert (here / "gpu" / "lu_kernels.cu").is_file()


def test_every_picture_is_shown_by_a_page_that_draws_it() -> None:
    shown = {name for path in PAGES for name in pictures_in(path.read_text("utf-8"))}
    assert {path.name for path in PICTURES.glob("*.svg")} == shown


def test_text_that_differs_is_noticed() -> None:
    assert matches("a\nb\n", "a\nb\n")
    assert not matches("a\nb\n", "a\nc\n")
    assert not matches("a\n", "a\nb\n")
    assert matches("a\n…\nd\n", "a\nb\nc\nd\n")
    assert not matches("a\n…\nd\n", "a\nb\nc\n")
    assert not matches("", "a\n")


def test_commands_are_found_with_what_stands_below_them() -> None:
    text = "# Title\n\n```console\n$ one \\\n  two\nshown\n$ three\n```\n\n```text\n$ four\n```\n"
    first, second = examples_in(text)
    assert (first.command, first.shown) == ("one \\\n  two", "shown\n")
    assert (second.command, second.shown) == ("three", "")
    assert shown_again(text, ["new\n", "x\n"]) == text.replace("shown\n", "new\n").replace("$ three\n", "$ three\nx\n")
