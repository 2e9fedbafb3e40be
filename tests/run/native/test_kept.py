"""Folders that are made once for a content and a compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warpsmith.run.native.kept import kept_folder


class Maker:
    def __init__(self) -> None:
        self.made: list[Path] = []

    def __call__(self, folder: Path) -> None:
        self.made.append(folder)
        (folder / "part.o").write_text("made")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_folder_is_made_once(cache: Path, tmp_path: Path) -> None:
    make = Maker()
    found = [kept_folder("parts", sys.executable, (b"a", b"b"), tmp_path / build, make) for build in ("one", "two")]
    assert len(make.made) == 1 and found[0] == found[1]
    assert found[0].parent == cache and (found[0] / "part.o").read_text() == "made"
    assert [path.name.split("-")[0] for path in cache.iterdir()] == ["parts"]


def test_another_content_name_or_compiler_is_another_folder(cache: Path, tmp_path: Path) -> None:
    make = Maker()
    asked = [
        ("parts", sys.executable, (b"a", b"b")),
        ("parts", sys.executable, (b"ab",)),
        ("parts", sys.executable, (b"", b"ab")),
        ("others", sys.executable, (b"a", b"b")),
        ("parts", "/bin/echo", (b"a", b"b")),
    ]
    assert len({kept_folder(*one, tmp_path, make) for one in asked}) == len(make.made) == 5


def test_where_the_cache_cannot_be_written_it_is_the_builds_own(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file")
    make = Maker()
    found = kept_folder("parts", sys.executable, (b"a",), tmp_path / "build", make)
    assert found.parent == tmp_path / "build" and (found / "part.o").is_file()


def test_a_run_at_the_same_time_may_have_made_it(cache: Path, tmp_path: Path) -> None:
    inner = Maker()

    def slow(folder: Path) -> None:
        inner(folder)
        kept_folder("parts", sys.executable, (b"a",), tmp_path / "other", inner)

    found = kept_folder("parts", sys.executable, (b"a",), tmp_path / "build", slow)
    assert len(inner.made) == 2
    assert [path.name for path in cache.iterdir()] == [found.name]  # nothing is left behind
