"""Patterns of file names: within a folder, across folders, by the name alone."""

from __future__ import annotations

import pytest

from warpsmith.settings.globs import path_matches


@pytest.mark.parametrize(
    ("path", "pattern", "matches"),
    [
        ("k.cu", "*.cu", True),
        ("a/b/k.cu", "*.cu", True),
        ("a/b/k.cu", "k.?u", True),
        ("a/b/k.cu", "a/*.cu", False),
        ("a/b/k.cu", "a/*/k.cu", True),
        ("a/b/k.cu", "a/?/k.cu", True),
        ("a/b/k.cu", "a/**/k.cu", True),
        ("a/k.cu", "a/**/k.cu", True),
        ("a/b/c/k.cu", "a/**", True),
        ("b/k.cu", "a/**", False),
        ("a/b/k.cu", "**/*.cu", True),
        ("k.cu", "**/*.cu", True),
        ("a/k.cu.bak", "*.cu", False),
        ("a/k.cut", "*.cu", False),
        ("a/kxcu", "k.cu", False),
        ("a/k[1].cu", "k[1].cu", True),
        ("a/k1.cu", "k[1].cu", False),
        ("xa/k.cu", "a/k.cu", False),
        ("", "*", True),
    ],
)
def test_patterns(path: str, pattern: str, matches: bool) -> None:
    assert path_matches(path, pattern) == matches
