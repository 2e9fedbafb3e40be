"""Where what is kept for later runs lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.cache import cache_folder


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
