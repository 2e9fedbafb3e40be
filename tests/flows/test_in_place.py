"""PORT inside a project: the loops that are asked for, and what an earlier port has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.flows.in_place import _check_headers, _loops, project_of
from warpsmith.flows.porting.series import Earlier
from warpsmith.front.inputs import Source
from warpsmith.project.model import CompileCommand, Project

ADDED = "#ifdef WARPSMITH\nint more;\n#endif\n"


def test_files_that_were_named_are_a_project_below_the_folder_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path)
    found = project_of(["a/x.c", "b/y.c"], ("-DX",))
    assert found.root == str(tmp_path)
    assert [(one.file, one.directory, one.arguments) for one in found.commands] == [
        (str(tmp_path / "a/x.c"), str(tmp_path), ("-DX",)), (str(tmp_path / "b/y.c"), str(tmp_path), ("-DX",))
    ]  # fmt: skip
    assert project_of(["a/x.c"], ()).root == str(tmp_path / "a")


def test_loops_of_an_earlier_port_are_ported_anew_where_some_are_asked_for() -> None:
    earlier = Earlier({"a.c": ("f/i", "f/j")}, {})
    assert _loops((), [], earlier) == ()
    assert _loops(("f/j", "g/i"), [], earlier) == ("f/j", "g/i", "f/i")


def test_a_line_is_the_one_that_it_has_without_additions(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(f"one\n{ADDED}two\nthree\n")
    source = Source(str(path), text="one\ntwo\nthree\n")
    nothing = Earlier({}, {})
    assert _loops(("a.c:6", "a.c:1"), [source], nothing) == ("a.c:3", "a.c:1")
    # another file, no line, or a file without additions
    assert _loops(("b.c:6", "f/i", "a.c:x"), [source], nothing) == ("b.c:6", "f/i", "a.c:x")
    assert _loops(("a.c:6",), [Source(str(path))], nothing) == ("a.c:6",)


def test_a_header_that_an_earlier_port_has_changed_cannot_be_ported_anew(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(ADDED)
    (tmp_path / "a.c").write_text(ADDED)
    project = Project(str(tmp_path), (CompileCommand(str(tmp_path / "a.c"), str(tmp_path), "cc", ()),))
    with pytest.raises(UsageError, match=r"h\.h was changed by an earlier port"):
        _check_headers(str(tmp_path), Earlier({}, {"a.c": ("x",), "h.h": ("y",)}), project)
    # a file that is compiled is read without them; one that was taken back has none
    _check_headers(str(tmp_path), Earlier({}, {"a.c": ("x",)}), project)
    (tmp_path / "h.h").write_text("int x;\n")
    _check_headers(str(tmp_path), Earlier({}, {"h.h": ("y",), "gone.h": ("z",)}), project)
