"""A copy of a project to look at and to build in, and paths that lead into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.project import tree
from warpsmith.project.tree import copy_of, relocate


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("a.c", "src/b.c", ".git/HEAD", "src/.svn/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"old \xe9")
    (folder / "link.c").symlink_to("a.c")
    return folder


def test_a_copy_with_changes(root: Path) -> None:
    with copy_of(str(root), {"a.c": "new \xe9", "made/c.c": "c", "src/b.c": None, "never.c": None}) as copy:
        assert copy.name == "project" and copy != root
        assert (copy / "a.c").read_bytes() == b"new \xe9" and (copy / "made/c.c").read_text() == "c"
        assert not (copy / "src/b.c").exists() and not (copy / "never.c").exists()
        assert (copy / "link.c").is_symlink() and (copy / "link.c").readlink() == Path("a.c")
        assert not (copy / ".git").exists() and not (copy / "src" / ".svn").exists()
    assert not copy.exists()
    assert (root / "a.c").read_bytes() == b"old \xe9" and (root / "src/b.c").exists()


def test_a_folder_beyond_the_limit_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(path.lstat().st_size for path in (root / "a.c", root / "src/b.c", root / "link.c"))
    monkeypatch.setattr(tree, "_LIMIT", size)
    with copy_of(str(root)) as copy:
        assert (copy / "a.c").exists(), "what is not copied does not count"
    monkeypatch.setattr(tree, "_LIMIT", size - 1)
    with pytest.raises(RefusedError, match="too much to build in a copy"), copy_of(str(root)):
        pass


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("-I/p/inc", "-I/new/inc"),
        ("/p", "/new"),
        ("-I/p", "-I/new"),
        ("-DX=/p/a:/p/b", "-DX=/new/a:/new/b"),
        ("/pp/a", "/pp/a"),
        ("-I/other", "-I/other"),
        ("/p2", "/p2"),
    ],
)
def test_words_that_name_the_folder(word: str, expected: str) -> None:
    assert relocate(word, "/p", "/new") == expected
