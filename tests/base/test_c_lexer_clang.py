"""The lexer against clang's own: the same tokens at the same places, in this project's files and in random texts."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.base.clang_tokens import clang_places, differences, our_places
from tests.sampling import one_in
from warpsmith.base.c_lexer import TEXTS, Token

_ROOT = Path(__file__).parents[2]
_LANGUAGE = {
    ".c": "c", ".h": "c++", "": "c++", ".hpp": "c++", ".cpp": "c++", ".cc": "c++", ".cu": "cuda", ".cuh": "cuda",
    ".cl": "opencl",
}  # fmt: skip
_FOLDERS = (_ROOT / "examples", _ROOT / "tests", Path(str(files("warpsmith.front") / "headers")))


@pytest.mark.parametrize("folder", one_in(3, _FOLDERS), ids=lambda folder: folder.name)
def test_files_have_the_tokens_that_clang_sees(folder: Path) -> None:
    headers = folder.name == "headers"
    found = [p for p in sorted(folder.rglob("*")) if p.is_file() and (p.suffix or headers) and p.suffix in _LANGUAGE]
    assert len(found) > 10
    for path in found:
        text = path.read_bytes().decode("latin-1")
        assert list(differences(text, _LANGUAGE[path.suffix])) == [], path


def test_the_check_sees_tokens_and_differences() -> None:
    assert clang_places("int a; // b\n/* c */ 'd'", "c") == [(0, 3), (4, 5), (5, 6), (7, 11), (12, 19), (20, 23)]
    assert [(t.start, t.end) for t in our_places("a\\\n+ 1'0", "c++")] == [(0, 1), (3, 4), (5, 8)]
    assert list(differences("a <: b", "c")) == []
    assert list(differences("1p+2", "c++")) == ["ours [('1p+2', 0)], clang's [('1p', 0), ('+', 2), ('2', 3)]"]


_PIECES = (
    "a", "k$a", "\\u00e4", "\xc3\xa4", "R", "u8", "L", "u", "LR", "1", "0x1p-3", "1e+5", "1'000", "'x'", "'", '"s"',
    '"', 'R"(\\\n)"', 'R"x(a)"b)x"', 'u8R"(c)"', "//c", "/*c*/", "/*", "*/", "\n", "\r\n", "\r", "\t", " ",
    "\\\n", "\\ \n", "\\\r\n", "\\", "#", "%:", "<:", "<::", "::", "<", "<<<", ">>>", ">", "=", "->*", ".",
    "...", "%>", "define", "include", "<a//b>", "_s", "sv", "&&", "|", "^", "~", "?", ",", "(", ")", "{", "@", "`", "+",
    "-", "e", "p", "0x", ".5", "\x0c",
)  # fmt: skip


_END = Token("blank", "", "", -1, -1, 0, 0, False)


def _is_read_otherwise(token: Token, following: Token) -> bool:
    """Whether clang's C++ reads a token in its own way, in what no program holds.

    `1p+2` is one number ([lex.ppnumber]), but two and a sign for clang; `R"` without a bracket is a word and a string
    here; a suffix may hold `$`, and `sv` may go on with letters beyond ASCII.
    """
    if token.kind == "number":
        return re.match(r"(?!0[xX]).*[pP][+-]", token.spelling) is not None
    if token.kind == "word":
        return following.spelling.startswith('"') and re.fullmatch("(u8|[uUL])?R", token.spelling) is not None
    if token.kind == "string" and following.start == token.end and following.spelling.startswith("sv"):
        return True
    return token.kind in TEXTS and re.search(r"[\"'][^\"']*\$[^\"']*\Z", token.spelling) is not None


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join), st.sampled_from(["c", "c23", "c++", "cuda"]))
def test_random_texts_have_the_tokens_that_clang_sees(text: str, language: str) -> None:
    if language in ("c++", "cuda"):
        assume(not any(_is_read_otherwise(*pair) for pair in pairwise([*our_places(text, language), _END])))
    assert list(differences(text, language)) == []
