"""Texts of IL: what reads, what does not, and where it is said."""

from __future__ import annotations

import random
import time

import pytest

from tests.front.il.listings import PLAIN, SECTIONS, TRANSLATED
from tests.front.il.running import parse
from warpsmith.base.errors import InputError
from warpsmith.base.source import decode_text
from warpsmith.front.il.printing import print_il

HEAD = "il_ps_2_0\ndcl_output_generic o0\ndcl_input_position_interp(linear_noperspective) v0.xy__\n"


def wrong(text: str) -> list[tuple[int, int, str, str]]:
    """Return line, column, message and what was expected of all that is wrong."""
    with pytest.raises(InputError) as caught:
        parse(text)
    return [(f.span.line, f.span.column, f.message, f.help[0]) for f in caught.value.findings if f.span]


def test_both_listings_read() -> None:
    for text, constants, axes in ((PLAIN, 3, 1), (TRANSLATED, 4, 2)):
        program = parse(text)
        assert program.constants[0].size == constants and program.resources[0].axes == axes
        assert list(program.outputs) == [0] and program.kind == "ps"


@pytest.mark.parametrize(
    ("title", "line", "message"),
    [
        ("the literal is declared as l1", 11, "l0 is not declared: there is l1"),
        ("a constant is called cb03.x", 11, "'cb03.x' is no register"),
    ],
)
def test_what_the_sections_of_the_tutorial_print_is_told_with_its_line(title: str, line: int, message: str) -> None:
    right, printed = SECTIONS[title]
    found = wrong(PLAIN.replace(right, printed))
    assert (found[0][0], found[0][2]) == (line, message)


def test_all_that_is_wrong_is_told_at_once_with_its_place() -> None:
    body = "mov r0, r1.q\nadd r1, r2\nfoo r0\nmov v0, r0\nadd r0.yx, r1, r2\nendmain\nend\n"
    assert [(line, column, message) for line, column, message, _ in wrong(HEAD + body)] == [
        (4, 9, "'.q' is no swizzle"),
        (5, 1, "add has 2 operands"),
        (6, 1, "there is no instruction 'foo'"),
        (7, 5, "'v0' cannot be written"),
        (8, 5, "'.yx' is no mask"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "endmain"),
        ("mov o0, v0.x\n", "endmain and end behind it"),
        ("endmain\n", "endmain and end behind it"),
        ("endmain\nmov o0, v0.x\n", "expected end"),
        ("end\n", "expected endmain"),
        ("endmain\nend\nend\n", "expected nothing behind end"),
        ("mov o0, v0.x\ndcl_literal l0, 0, 0, 0, 0\nendmain\nend\n", "put it before them all"),
    ],
)
def test_a_program_that_is_not_whole_says_what_it_lacks(text: str, expected: str) -> None:
    assert expected in wrong(HEAD + text)[0][3]


def test_the_first_line_says_what_a_program_is() -> None:
    assert wrong("mov r0, r1\n")[0][2:] == (
        "the program does not say what it is",
        "expected il_ps_2_0 or il_cs_2_0 or il_cs in the first line",
    )


@pytest.mark.parametrize("letters", ["printable", "il", "brackets", "one line"])
def test_a_megabyte_of_noise_ends_in_a_second(letters: str) -> None:
    r = random.Random(7)
    alphabet = {
        "printable": "".join(map(chr, range(32, 127))) + "\n",
        "brackets": "()[]._,;\n",
        "il": "mov r01.xyz_(),\n",
    }
    noise = "(" * 1_000_000 if letters == "one line" else "".join(r.choices(alphabet[letters], k=1_000_000))
    before = time.process_time()
    for start in ("", "il_ps_2_0\n", HEAD + "mov r0, ", "il_cs_2_0\ndcl_raw_uav_id(0)\nuav_raw_load_id("):
        found = wrong(start + noise)
        assert 0 < len(found) <= 20
    assert time.process_time() - before < 4


def test_a_listing_from_a_web_page_reads_as_it_is() -> None:
    text = PLAIN.replace("\n", "\n\N{NO-BREAK SPACE}\N{NO-BREAK SPACE} ").replace(", ", ",\N{NO-BREAK SPACE}")
    assert print_il(parse(decode_text(text))) == print_il(parse(PLAIN))
