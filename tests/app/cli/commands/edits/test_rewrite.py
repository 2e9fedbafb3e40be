"""The user's files are written back whole or not at all; their bytes, permissions and links stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.app.cli.commands.edits.rewrite import edits_diff, rewrite_files
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile


def file(folder: Path, name: str, text: str = "one\n") -> SourceFile:
    path = folder / name
    path.write_bytes(text.encode("latin-1"))
    return SourceFile.read(str(path))


def test_bytes_modes_and_links_stay(tmp_path: Path) -> None:
    real = file(tmp_path, "real.c")
    (tmp_path / "real.c").chmod(0o751)
    (tmp_path / "link.c").symlink_to(tmp_path / "real.c")
    rewrite_files([(SourceFile(str(tmp_path / "link.c"), real.text), "caf\xe9\n")])
    assert (tmp_path / "link.c").is_symlink() and (tmp_path / "real.c").read_bytes() == b"caf\xe9\n"
    assert (tmp_path / "real.c").stat().st_mode & 0o777 == 0o751
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.c", "real.c"]


def test_a_file_that_has_changed_since_keeps_all_as_they_are(tmp_path: Path) -> None:
    first, second = file(tmp_path, "a.c"), file(tmp_path, "b.c")
    (tmp_path / "b.c").write_text("by hand\n")
    with pytest.raises(UsageError, match=r"b\.c has changed since it was read"):
        rewrite_files([(first, "new\n"), (second, "new\n")])
    assert (tmp_path / "a.c").read_text() == "one\n" and len(list(tmp_path.iterdir())) == 2


def test_a_file_that_cannot_be_written_keeps_all_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = file(tmp_path, "a.c"), file(tmp_path, "b.c")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "b.c")
    with pytest.raises(UsageError, match=r"b\.c cannot be written: permission denied"):
        rewrite_files([(first, "new\n"), (second, "new\n")])
    assert (tmp_path / "a.c").read_text() == "one\n" and len(list(tmp_path.iterdir())) == 2
    (tmp_path / "a.c").unlink()
    with pytest.raises(UsageError, match="no such file"):
        rewrite_files([(first, "new\n")])


def test_what_would_be_written_as_a_diff() -> None:
    # letters are bytes here: one of them looks like the end of a line
    made = edits_diff([(SourceFile("/src/a.c", "one\ncaf\xc3\x85\n"), "one\ncaf\xc3\x85s")])
    assert made.split("\n") == [
        "--- a/src/a.c", "+++ b/src/a.c", "@@ -1,2 +1,2 @@", " one", "-cafÅ", "+cafÅs",
        "\\ No newline at end of file", "",
    ]  # fmt: skip
    assert edits_diff([(SourceFile("a.c", "x\n"), "x\n")]) == ""
