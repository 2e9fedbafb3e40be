"""What is likely to be a mistake, told with its line."""

from __future__ import annotations

from tests.front.il.listings import PLAIN, SECTIONS, TRANSLATED
from tests.front.il.running import parse
from tests.front.il.test_read import HEAD
from warpsmith.front.il.defects import find_defects


def told(text: str) -> list[tuple[int, str, str]]:
    return [(one.span.line if one.span else 0, one.severity, one.message) for one in find_defects(parse(text))]


def test_the_first_listing_has_none() -> None:
    assert told(PLAIN) == []


def test_the_second_listing_negates_an_integer_and_converts_what_nothing_wrote() -> None:
    negated = "_neg of an integer is 0 - x: imul has it subtracted, as hardware negates floats only"
    assert told(TRANSLATED) == [
        (29, "note", negated),
        (31, "note", "r2.z is read and never written; nothing depends on it"),
    ]


def test_a_resource_of_two_axes_that_is_read_along_one() -> None:
    right, printed = SECTIONS["the resource is declared 2d"]
    message = "resource 0 has two axes and is read in one row only: its place along y is constant"
    assert told(PLAIN.replace(right, printed)) == [(8, "warning", message), (25, "warning", message)]


def test_what_is_not_used_and_not_written() -> None:
    resource = "dcl_resource_id(1)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    text = HEAD + "dcl_output_generic o1\ndcl_literal l3, 0, 0, 0, 0\n" + resource + "mov o0, r7.y\nendmain\nend\n"
    assert told(text) == [
        (4, "warning", "o1 is declared and never written"),
        (5, "note", "l3 is declared and not used"),
        (6, "note", "resource 1 is declared and not read"),
        (7, "warning", "r7.y is read and may not have been written: what is stored may depend on it"),
    ]
