"""Included files, words, masked and stripped text."""

from __future__ import annotations

from warpsmith.base.c_text import find_includes, mask_code, strip_code, words_anywhere


def test_words_anywhere_and_text_on_one_line() -> None:
    text = 'k$a /* in */ "x\\n" ab\\\ncd 1e5 + \\\n// last\n y'
    assert words_anywhere(text) == ["k$a", "in", "x", "n", "abcd", "e5", "last", "y"]
    assert strip_code(text) == 'k$a   "x\\n" abcd 1e5 +    y'


def test_masked_text_keeps_its_places() -> None:
    text = 'f("a\\\nb", \'c\', R"(\n)") // d\n#include <e>\n'
    assert mask_code(text) == "f(   \n  ,    ,    \n  )     \n#include    \n"


def test_what_is_included() -> None:
    text = '#include <a//b.h> // x\n /* # */ %: inc\\\nlude /* c */ "d.h"\n/*\n#include <e>\n*/\n#include MACRO(1)\n'
    assert list(find_includes(text + '#define include <f>\n#include\n#include_next <g>\nR"(\n#include <h>\n)"')) == [
        "<a//b.h>", '"d.h"', "MACRO",
    ]  # fmt: skip
