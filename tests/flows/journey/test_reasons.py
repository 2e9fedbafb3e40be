"""A reason is one line, with the place that it is about."""

from __future__ import annotations

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.flows.journey.reasons import UnableError, reason_of


def test_the_place_comes_first_where_there_is_one() -> None:
    span = Span(SourceFile("k.cu", "int a;\n"), 0, 3)
    assert reason_of(InputError(Finding("TGT001", "error", "it has no atomics", span))) == "k.cu:1:1: it has no atomics"
    assert reason_of(InputError(Finding("INP001", "error", "no file"))) == "no file"
    assert reason_of(UnableError("it is too long")) == "it is too long"
