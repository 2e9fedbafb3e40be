"""What the last port wrote is found by its name: as it stands, in git, or in a small file; or it is not known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.flows.porting.generated import ARCHIVE, GeneratedFiles, read_archive, write_archive
from warpsmith.flows.porting.series import _run
from warpsmith.project.patches import name_content

STATE = "port.toml"
PATH = "warpsmith/a.cu"
TEXT = "a \xe9\nb\n"


def found(root: Path, current: str, archive: str | None = None) -> str | None:
    (root / STATE).write_text(f'[generated]\n"{PATH}" = "{name_content(TEXT)}"\n')
    files = GeneratedFiles.of(str(root), STATE, _run)
    return files.text(PATH, current, lambda path: archive if path == ARCHIVE else None)


def test_what_nobody_has_edited_is_what_was_written(tmp_path: Path) -> None:
    assert found(tmp_path, TEXT) == TEXT
    files = GeneratedFiles.of(str(tmp_path), STATE, _run)
    assert not files.is_edited(PATH, TEXT) and files.is_edited(PATH, "b\n") and files.is_edited("other", TEXT)
    assert files.text("other", TEXT, lambda _: None) is None


def test_what_was_committed_is_found_in_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert found(tmp_path, "edited\n") is None
    (tmp_path / "anywhere").write_bytes(TEXT.encode("latin-1"))
    subprocess.run(["git", "-C", str(tmp_path), "add", "anywhere"], check=True)
    assert found(tmp_path, "edited\n") == TEXT


def test_the_small_file_is_believed_where_it_has_what_was_written(tmp_path: Path) -> None:
    assert found(tmp_path, "edited\n") is None
    assert found(tmp_path, "edited\n", write_archive({PATH: TEXT})) == TEXT
    assert found(tmp_path, "edited\n", write_archive({PATH: TEXT + "c\n"})) is None


@pytest.mark.parametrize("change", ["cut", "not base64", "another head", "no texts"])
def test_a_small_file_that_is_damaged_has_nothing(change: str) -> None:
    texts = {f"{n}": "line\n" * n + TEXT for n in range(40)}
    text = write_archive(texts)
    assert read_archive(text) == texts and max(map(len, text.splitlines())) <= 120 and len(text) < 2000
    head, rest = text.split("\n", 1)
    damaged = {
        "cut": f"{head}\n{rest[: len(rest) // 2]}", "not base64": f"{head}\n!{rest}", "another head": f"x{text}",
        "no texts": write_archive(["a"]),  # type: ignore[arg-type]  # what somebody else may have written
    }  # fmt: skip
    assert read_archive(damaged[change]) == {} and read_archive(None) == {}


def test_a_record_that_is_none_names_nothing(tmp_path: Path) -> None:
    assert GeneratedFiles.of(str(tmp_path), STATE, _run).names == {}
    (tmp_path / STATE).write_text("not = [toml")
    assert GeneratedFiles.of(str(tmp_path), STATE, _run).names == {}
