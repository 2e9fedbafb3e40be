"""Breakpoints as they are written; what is answered is in test_step.py."""

from __future__ import annotations

import pytest

from warpsmith.flows.stepping.session import breakpoint_of


@pytest.mark.parametrize(
    ("said", "line", "text"),
    [("12", 12, ""), ("k.cu:12", 12, ""), ("12:x > 3", 12, "x > 3"), ("k.cu:12: x > 3", 12, "x > 3")],
)
def test_a_line_and_a_condition(said: str, line: int, text: str) -> None:
    found = breakpoint_of(said)
    assert (found.line, found.text, found.condition is not None) == (line, text, bool(text))


@pytest.mark.parametrize("said", ["", "k.cu", "k.cu:x", "x > 3", "3:", "12:x ="])
def test_what_is_no_breakpoint(said: str) -> None:
    if said == "3:":
        assert breakpoint_of(said).condition is None
        return
    with pytest.raises(ValueError, match=r"names no line|no expression"):
        breakpoint_of(said)
