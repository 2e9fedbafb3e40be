"""Where what is kept for later runs lies, and tables that are kept there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec import Struct

from warpsmith.base.cache import cache_folder, is_kept, kept_bytes, kept_table


class Row(Struct, frozen=True):
    """A row."""

    name: str
    numbers: frozenset[int] = frozenset()


class Made:
    """Makes a table of a file, and counts."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "table.toml"
        self.source.write_text("a")
        self.count = 0

    def table(self) -> dict[str, Row]:
        """Return the table, from the cache where it is there."""
        return kept_table("rows", dict[str, Row], [self.source], self._make)

    def _make(self) -> dict[str, Row]:
        self.count += 1
        return {name: Row(name, frozenset({1, self.count})) for name in self.source.read_text()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tables"


def test_a_table_is_made_once(cache: Path, tmp_path: Path) -> None:
    made = Made(tmp_path)
    assert made.table() == made.table() == {"a": Row("a", frozenset({1}))}
    assert made.count == 1
    assert [path.name for path in cache.iterdir()] == ["rows"]


def test_another_text_of_the_same_length_makes_another_table(cache: Path, tmp_path: Path) -> None:
    made = Made(tmp_path)
    for text in "aba":
        made.source.write_text(text)
        assert list(made.table()) == [text]
    assert made.count == 3
    assert [path.name for path in cache.iterdir()] == ["rows"]


@pytest.mark.parametrize("cut", [0, 7, 17, -1])
def test_what_is_not_whole_is_made_again(cache: Path, tmp_path: Path, cut: int) -> None:
    made = Made(tmp_path)
    made.table()
    kept = cache / "rows"
    kept.write_bytes(kept.read_bytes()[:cut])
    assert made.table() == {"a": Row("a", frozenset({1, 2}))}
    assert made.table() == {"a": Row("a", frozenset({1, 2}))}


def test_a_changed_byte_is_noticed(cache: Path, tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.table()
    data = bytearray((cache / "rows").read_bytes())
    data[data.index(b"\x01", 16)] = 7
    (cache / "rows").write_bytes(data)
    assert made.table() == {"a": Row("a", frozenset({1, 2}))}


def test_without_a_cache_it_is_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "file"))
    made = Made(tmp_path)
    assert list(made.table()) == list(made.table()) == ["a"]
    assert made.count == 2


def test_nor_is_there_one_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("WARPSMITH_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", home)
    assert list(Made(tmp_path).table()) == ["a"]


@pytest.mark.parametrize(
    ("own", "users", "expected"),
    [
        ("/tmp/mine", "/tmp/all", "/tmp/mine"),
        ("/tmp/mine", "", "/tmp/mine"),
        ("", "/tmp/all", "/tmp/all/warpsmith"),
        ("", "", "/home/somebody/.cache/warpsmith"),
        (None, None, "/home/somebody/.cache/warpsmith"),
    ],
)
def test_the_nearer_variable_wins_and_an_empty_one_is_none(
    own: str | None, users: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for name, value in (("WARPSMITH_CACHE_DIR", own), ("XDG_CACHE_HOME", users)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


class Counted:
    """Makes bytes of a key, and counts."""

    def __init__(self) -> None:
        self.count = 0

    def get(self, key: bytes) -> bytes:
        """Return the bytes of a key, from the cache where they are there."""
        return kept_bytes("things", key, lambda: self._make(key))

    def _make(self, key: bytes) -> bytes:
        self.count += 1
        return key * 3


def test_bytes_are_made_once_a_key(cache: Path) -> None:
    made = Counted()
    assert [made.get(key) for key in (b"a", b"b", b"a", b"b")] == [b"aaa", b"bbb", b"aaa", b"bbb"]
    assert made.count == 2
    assert [is_kept("things", key) for key in (b"a", b"b", b"c")] == [True, True, False]
    assert len(list(cache.with_name("things").iterdir())) == 2


def test_bytes_that_others_may_have_written_are_made_again(cache: Path) -> None:
    made = Counted()
    made.get(b"a")
    (kept,) = cache.with_name("things").iterdir()
    kept.chmod(0o666)
    assert made.get(b"a") == b"aaa"
    assert made.count == 2
    assert kept.stat().st_mode & 0o777 == 0o600
    assert made.get(b"a") == b"aaa"
    assert made.count == 2


def test_bytes_that_nobody_asked_for_longest_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Counted()
    monkeypatch.setattr("warpsmith.base.cache._LARGEST", 3 * 64)
    keys = [bytes([n]) * 10 for n in range(4)]
    for age, key in enumerate(keys[:3]):
        made.get(key)
        newest = max(cache.with_name("things").iterdir(), key=lambda one: one.stat().st_mtime_ns)
        os.utime(newest, (1000 + age, 1000 + age))
    made.get(keys[0])
    made.get(keys[3])
    assert made.count == 4
    made.get(keys[0])
    assert made.count == 4
    made.get(keys[1])
    assert made.count == 5


def test_without_a_cache_bytes_are_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "file"))
    made = Counted()
    assert made.get(b"a") == made.get(b"a") == b"aaa"
    assert made.count == 2
