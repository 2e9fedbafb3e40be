"""The README shows what the program really prints. `WARPSMITH_UPDATE=1` rewrites the blocks; look at the difference."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

ROOT = Path(__file__).parent.parent
OUTPUT = re.compile(r"<!-- output of: warpsmith (?P<command>.*?) -->\n\n```text\n(?P<shown>.*?)```", re.DOTALL)
EXCERPT = re.compile(r"<!-- excerpt of: (?P<file>\S+) -->\n\n```c(\+\+)?\n(?P<shown>.*?)```", re.DOTALL)
RECIPE = re.compile(r"<!-- recipe of: warpsmith (?P<command>.*?) -->\n\n```toml\n(?P<shown>.*?)```", re.DOTALL)
EXCERPTS = {"gpu/lu.c": (r"void lu\(", r"^}"), "gpu/lu_kernels.cu": (r"// .*lu.c:18", r"^}")}


def _excerpt(path: str) -> str:
    first, last = EXCERPTS[path]
    lines = Path(path).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(first, line))
    end = next(i for i, line in enumerate(lines) if i > start and re.match(last, line.rstrip()))
    return "\n".join(lines[start : end + 1]) + "\n"


def test_the_readme_shows_the_real_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "README.md").read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    real = text
    for block in OUTPUT.finditer(text):
        run_guarded(warpsmith, shlex.split(block["command"]))
        printed = re.sub(r"\(\d+\.\d\d s\)", "(0.41 s)", capsys.readouterr().out)
        real = real.replace(block[0], block[0][: block.start("shown") - block.start()] + printed + "```")
    for block in RECIPE.finditer(text):
        words = shlex.split(block["command"])
        run_guarded(warpsmith, words)
        capsys.readouterr()
        saved = Path(words[-1]).read_text()
        real = real.replace(block[0], block[0][: block.start("shown") - block.start()] + saved + "```")
    for block in EXCERPT.finditer(text):
        real = real.replace(
            block[0], block[0][: block.start("shown") - block.start()] + _excerpt(block["file"]) + "```"
        )
    if os.environ.get("WARPSMITH_UPDATE"):
        (ROOT / "README.md").write_text(real)
        text = real
    assert len(OUTPUT.findall(text)) == 6
    assert len(EXCERPT.findall(text)) == 2
    assert len(RECIPE.findall(text)) == 1
    assert text == real
