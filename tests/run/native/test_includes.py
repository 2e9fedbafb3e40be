"""Where headers are looked for is said in absolute paths: builds stand elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.run.native.includes import include_arguments
from warpsmith.run.verification import Sources


@pytest.mark.parametrize("word", ["-I", "-isystem", "-iquote"])
def test_a_folder_beside_the_program_is_found_from_anywhere(word: str, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    found = include_arguments(Sources((), (word, "inc", "-O2"), str(tmp_path)))
    assert found == ("-iquote", str(tmp_path), word, str(tmp_path / "inc"), "-O2", f"-I{tmp_path}")


def test_a_folder_may_stand_in_the_same_word(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    assert include_arguments(Sources((), ("-Iinc",), str(tmp_path)))[2] == f"-I{tmp_path / 'inc'}"


def test_what_is_not_beside_the_program_is_below_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").mkdir()
    found = include_arguments(Sources((), ("-I", "inc"), str(tmp_path / "program")))
    assert found[2:] == ("-I", str(tmp_path / "inc"), f"-I{tmp_path / 'program'}")
