"""Scans that are recognized: what is claimed, what is rewritten, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.statements.recognition import recognized
from warpsmith.loops.steps.statements.recognize_scan import RecognizeScan


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = s + a[i]; b[i] = t; s = t;", "{ s = s + a[i]; b[i] = s; }"),
        ("double x = s * a[i]; b[i] = 2 * x; s = x;", "{ s = s * a[i]; b[i] = 2 * s; }"),
        ("b[i] = s; s += a[i];", "{ b[i] = s; s += a[i]; }"),
    ],
)
def test_scans_are_written_plainly(body: str, expected: str, tmp_path: Path) -> None:
    found = recognized(RecognizeScan("f/i"), body, tmp_path)
    assert found is not None and expected in found


@pytest.mark.parametrize(
    "body",
    [
        "t = s + a[i]; b[i] = s; s = t;",
        "t = s + a[i]; b[i] = t; s = t; t = 0;",
        "t = s + a[i]; if (a[i] < 0) continue; s = t;",
        "s += a[i];",
        "t = s * s; b[i] = t; s = t;",
        "a[i] = 2; s += a[i]; b[i] = s;",
    ],
)
def test_what_is_no_scan_is_refused(body: str, tmp_path: Path) -> None:
    assert recognized(RecognizeScan("f/i"), body, tmp_path) is None


def test_a_temporary_that_is_read_later_stays(tmp_path: Path) -> None:
    assert recognized(RecognizeScan("f/i"), "t = s + a[i]; b[i] = t; s = t;", tmp_path, "s + t") is None
