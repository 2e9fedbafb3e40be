"""Reductions that are recognized: what is claimed, what is rewritten, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.statements.recognition import recognized
from warpsmith.loops.steps.statements.recognize_reduction import RecognizeReduction


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = s; t = t + a[i]; s = t;", "{ s = s + a[i]; }"),
        ("double x = s * a[i]; s = x;", "{ s = s * a[i]; }"),
        ("b[i] = 1; t = s - a[i]; t -= 2; s = t;", "{ b[i] = 1; s = s - a[i] - 2; }"),
        ("s += a[i];", "{ s += a[i]; }"),
        ("t = s + a[i]; a[i] = 0; s = t;", "{ t = s + a[i]; a[i] = 0; s = t; }"),
    ],
)
def test_reductions_are_written_plainly(body: str, expected: str, tmp_path: Path) -> None:
    found = recognized(RecognizeReduction("f/i"), body, tmp_path)
    assert found is not None and expected in found


@pytest.mark.parametrize(
    "body", ["s = a[i] - s;", "s += a[i]; b[i] = s;", "b[i] = a[i];", "s += a[i]; if (s > 3) t += 1;"]
)
def test_what_is_no_reduction_is_refused(body: str, tmp_path: Path) -> None:
    assert recognized(RecognizeReduction("f/i"), body, tmp_path) is None


def test_a_temporary_that_is_read_later_stays(tmp_path: Path) -> None:
    assert recognized(RecognizeReduction("f/i"), "t = s; t = t + a[i]; s = t;", tmp_path, "s + t") is None
