"""The configuration's nouns: values by their kind, and what is set for a kernel by its name."""

from __future__ import annotations

import pytest

from warpsmith.settings.model import KernelSettings, Settings, load_keys

SETTINGS = Settings(
    {"word": "auto", "list": ("a", "b"), "count": 3, "text": "4", "time": 2.5, "whole": 7},
    {},
    "/p",
    kernels=(
        KernelSettings("*", (32, 1, 1), (1, 1, 1), {"n": 1, "m": 2}, ("n >= 1",)),
        KernelSettings("trans*", None, (9, 1, 1), {"n": 8}, ("m >= 2",)),
        KernelSettings("transpose", (64, 2, 1)),
        KernelSettings("Copy", (8, 1, 1)),
    ),
)


def test_values_by_their_kind() -> None:
    assert SETTINGS.text("word") == "auto" and SETTINGS.text("count") == "3"
    assert SETTINGS.texts("list") == ("a", "b") and SETTINGS.texts("word") == ("auto",)
    assert (SETTINGS.number("count"), SETTINGS.number("text")) == (3, 4)
    assert (SETTINGS.seconds("time"), SETTINGS.seconds("whole")) == (2.5, 7.0)
    with pytest.raises(KeyError):
        SETTINGS.text("missing")


def test_the_later_pattern_wins_key_by_key() -> None:
    found = SETTINGS.of_kernel("transpose")
    assert (found.pattern, found.block, found.grid) == ("transpose", (64, 2, 1), (9, 1, 1))
    assert found.args == {"n": 8, "m": 2} and found.assume == ("n >= 1", "m >= 2")
    other = SETTINGS.of_kernel("transform")
    assert (other.block, other.grid) == ((32, 1, 1), (9, 1, 1))


def test_what_no_pattern_matches_is_not_set() -> None:
    assert SETTINGS.of_kernel("copy").block == (32, 1, 1), "capitals count"
    assert Settings({}, {}, "/p").of_kernel("copy") == KernelSettings("copy")


def test_keys_of_the_table() -> None:
    keys = load_keys()
    assert all(key.name == name and key.help and key.type for name, key in keys.items())
    assert all(isinstance(key.default, str | int | tuple) for key in keys.values())
    assert any(key.words for key in keys.values()) and any(key.variable for key in keys.values())
    assert all(not key.words or key.default in key.words for key in keys.values() if isinstance(key.default, str))
