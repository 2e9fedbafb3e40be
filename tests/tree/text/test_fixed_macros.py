"""Which macros a text decides itself; the compiler is asked what it makes of them under other options."""

from __future__ import annotations

import subprocess

import pytest

from warpsmith.tree.text.fixed_macros import condition_words, find_conditionals, find_fixed

TEXTS = {
    "#define A\n#ifdef A\nint yes;\n#endif\n": {"A"},
    "#undef A\n#ifdef A\nint yes;\n#endif\n": {"A"},
    "#ifndef A\n#define A\n#endif\n#if A + 1 > 2\nint yes;\n#endif\n": set(),
    "#ifdef B\n#define A\n#endif\n#ifdef A\nint yes;\n#endif\n": set(),
    "#ifdef A\nint yes;\n#endif\n#define A\n": set(),
    "/*\n#define A\n*/\n#ifdef A\nint yes;\n#endif\n": set(),
    "#ifndef H\n#define H\n#define A\n#ifdef A\nint yes;\n#endif\n#endif\n": {"A", "H"},
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_fixed(text: str) -> None:
    assert find_fixed(text) == TEXTS[text]


@pytest.mark.parametrize("text", TEXTS)
def test_the_compiler_reads_the_same_under_all_options_where_all_is_fixed(text: str) -> None:
    read = {
        "yes" in subprocess.run(["gcc", "-E", "-P", *options, "-"], input=text, capture_output=True, text=True).stdout
        for options in ([], ["-DA"], ["-DA=5"], ["-DB"])
    }
    assert (len(read) == 1) == ("A" in TEXTS[text])


def test_conditionals_and_the_words_of_conditions() -> None:
    text = "#if defined(A) && B\n#elif C\n#ifdef D\n#endif\n#else\n#endif\n"
    found = [[text[line.start : line.end] for line in lines] for _, _, lines in find_conditionals(text)]
    assert [[list(condition_words(line)) for line in lines] for lines in found] == [
        [["D"]],
        [["defined", "A", "B"], ["C"]],
    ]
