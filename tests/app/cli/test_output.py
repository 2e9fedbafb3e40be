"""Writing results: all files or none, never over an existing one without leave, never half of one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.app.cli.output import (
    check_free,
    holds,
    refuse_dash,
    unified_diff,
    write_files,
    write_result,
)
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.emit.files import OutputFile

FILES = (OutputFile("a.c", "a\n"), OutputFile("sub/b.c", "caf\xe9\n"))


def test_files_are_written_below_a_folder_with_the_modes_of_any_file(tmp_path: Path) -> None:
    found = write_files(str(tmp_path / "new"), FILES, force=False)
    assert [Path(path).read_bytes() for path in found] == [b"a\n", b"caf\xe9\n"]
    umask = os.umask(0)
    os.umask(umask)
    assert Path(found[0]).stat().st_mode & 0o777 == 0o666 & ~umask
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.c", "sub"]


def test_nothing_is_written_where_one_is_there(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.c").write_text("mine")
    with pytest.raises(UsageError, match=r"sub/b\.c already exists; nothing was written"):
        write_files(str(tmp_path), FILES, force=False)
    assert not (tmp_path / "a.c").exists() and (tmp_path / "sub" / "b.c").read_text() == "mine"
    write_files(str(tmp_path), FILES, force=True)
    assert (tmp_path / "sub" / "b.c").read_bytes() == b"caf\xe9\n"


def test_nothing_is_left_where_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "sub").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        write_files(str(tmp_path), FILES, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["sub"]


def test_places_are_looked_at_before_anything_is_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_free(str(tmp_path / "not" / "yet"), ["a"], force=False)
    (tmp_path / "a").write_text("")
    (tmp_path / "b").write_text("")
    with pytest.raises(UsageError, match=r"a, .*b already exist; nothing"):
        check_free(str(tmp_path), ["a", "b", "c"], force=False)
    check_free(str(tmp_path), ["a"], force=True)
    with pytest.raises(UsageError, match="is no folder"):
        check_free(str(tmp_path / "a" / "below"), ["x"], force=True)
    monkeypatch.setattr(os, "access", lambda *given: False)
    with pytest.raises(UsageError, match="permission denied"):
        check_free(str(tmp_path), ["x"], force=True)


def test_one_result(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.txt"
    write_result(str(path), "x\udcff")
    assert path.read_bytes() == b"x\\udcff"
    link = tmp_path / "link"
    link.symlink_to(path)
    write_result(str(link), b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
    with pytest.raises(UsageError, match="cannot be written"):
        write_result(str(path / "below"), "x")


def test_a_dash_is_no_name() -> None:
    refuse_dash("file", "--timeline")
    refuse_dash(None, "--timeline")
    with pytest.raises(UsageError, match="--timeline: - is standard output"):
        refuse_dash("-", "--timeline")


def test_what_a_file_holds(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\xff")
    assert holds(str(tmp_path / "a"), "x\udcff") and not holds(str(tmp_path / "a"), "x")
    assert not holds(str(tmp_path / "none"), "x")


def test_changes_as_a_diff() -> None:
    made = unified_diff([SourceFile("src/a.c", "one\ntwo")], [OutputFile("a.c", "one\n2"), OutputFile("k.cu", "new\n")])
    assert made.split("\n") == [
        "--- a/a.c", "+++ b/a.c", "@@ -1,2 +1,2 @@", " one", "-two", "\\ No newline at end of file", "+2",
        "\\ No newline at end of file", "--- /dev/null", "+++ b/k.cu", "@@ -0,0 +1 @@", "+new", "",
    ]  # fmt: skip
    assert unified_diff([SourceFile("a.c", "x\n")], [OutputFile("a.c", "x\n")]) == ""
