"""Bytes survive, places are right, edits do not disturb each other."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsmith.base.source import Edit, SourceFile, Span, apply_edits, decode_text, plain_spaces, readable


@given(st.binary(max_size=200))
def test_any_bytes_survive(data: bytes) -> None:
    file = SourceFile("a.c", data.decode("latin-1"))
    assert file.data() == data
    assert apply_edits(file, []).encode("latin-1") == data


@given(st.text(alphabet="ab\r\n\t", max_size=60))
def test_every_offset_has_its_place(text: str) -> None:
    file = SourceFile("a.c", text)
    for offset in range(len(text) + 1):
        line, column = file.location(offset)
        assert file.offset(line) + column - 1 == offset
        assert line == text[:offset].count("\n") + 1
    assert file.line_count == text.count("\n") + 1
    assert [file.line(n + 1) for n in range(file.line_count)] == [x.rstrip("\r") for x in text.split("\n")]


def test_reading_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"\xef\xbb\xbfint x; // \xe9\xff\r\n")
    assert SourceFile.read(str(path)).data() == path.read_bytes()
    with pytest.raises(OSError):
        SourceFile.read(str(tmp_path / "none.c"))


def test_readable_shows_utf8_and_survives_what_is_not() -> None:
    assert readable("é".encode().decode("latin-1")) == "é"
    assert readable("\xff") == "�"


FILE = SourceFile("a.c", "one\ntwo three\nfour\n")


def test_a_span_knows_its_place() -> None:
    span = Span(FILE, 8, 18)
    assert span.text == "three\nfour"
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 5, 3, 5)
    assert str(span) == "a.c:2:5"
    assert span.contains(Span(FILE, 8, 9)) and span.contains(span)
    assert not span.contains(Span(FILE, 7, 9))
    assert not span.contains(Span(SourceFile("a.c", FILE.text), 8, 9))
    empty = Span(FILE, 4, 4)
    assert (empty.end_line, empty.end_column) == (2, 1)


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19), st.sampled_from(["", "x", "yz"])), max_size=4))
def test_edits_change_their_span_and_nothing_else(raw: list[tuple[int, int, str]]) -> None:
    edits = [Edit(Span(FILE, min(a, b), max(a, b)), text) for a, b, text in raw]
    edits.sort(key=lambda e: (e.span.start, e.span.end))
    if any(a.span.end > b.span.start for a, b in pairwise(edits)):
        with pytest.raises(ValueError, match="overlapping"):
            apply_edits(FILE, edits)
        return
    expected = FILE.text
    for edit in reversed(edits):
        expected = expected[: edit.span.start] + edit.text + expected[edit.span.end :]
    assert apply_edits(FILE, edits) == expected


def test_spaces_of_web_pages_are_blanks_of_as_many_bytes() -> None:
    text = decode_text("a\N{NO-BREAK SPACE}b\N{IDEOGRAPHIC SPACE}c à")
    assert plain_spaces(text) == decode_text("a  b   c à") and len(plain_spaces(text)) == len(text)
