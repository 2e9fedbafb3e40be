"""The parser's diagnostics, in the user's words and at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.clang.wire import Diagnostic
from warpsmith.front.diagnostics import diagnostic_findings

FILE = SourceFile("a.c", "int f(int n) { return value + ; }\n")


def read(path: str) -> SourceFile:
    if path != "a.c":
        raise FileNotFoundError(path)
    return FILE


def said(*diagnostics: Diagnostic) -> list[tuple[str, str, str | None]]:
    found = diagnostic_findings("a.c", diagnostics, read)
    return [(f.rule, f.message, f.span.text if f.span else None) for f in found]


@pytest.mark.parametrize(
    ("message", "rule", "words"),
    [
        ("expected ')'", "INP001", "a `)` is missing here"),
        ("expected ';' after expression", "INP001", "a `;` is missing after expression"),
        ("expected expression", "INP001", "a value is missing here, or something here does not belong"),
        ("use of undeclared identifier 'x'; did you mean 'y'?", "INP001", "`x` is not declared"),
        ("unknown type name 'real'", "INP001", "`real` is not a type that is known here"),
        ("redefinition of 'f'", "INP001", "`f` is defined twice"),
        ("bracket nesting level exceeded maximum of 256", "INP003", "brackets are nested more than 256 deep"),
        ("invalid value 'c99x' in '-std='", "INP001", "the option `-std=c99x` is not known"),
        ("cannot assign to 'int'", "INP001", "cannot assign to `int`"),
    ],
)
def test_the_parsers_words_become_plain(message: str, rule: str, words: str) -> None:
    assert said((3, message, "a.c", 1, 22)) == [(rule, words, "value")]


def test_places_are_words_of_the_file() -> None:
    assert said((3, "m", "a.c", 1, 28)) == [("INP001", "m", "+")]
    assert said((3, "m", "a.c", 1, 29)) == [("INP001", "m", "")]  # a blank is no word
    assert said((3, "m", "a.c", 1, 999)) == [("INP001", "m", "")]
    assert said((3, "m", "", 0, 0)) == said((3, "m", "gone.h", 1, 0)) == [("INP001", "m", None)]


def test_a_missing_header_hides_what_follows_from_it(tmp_path: Path) -> None:
    missing = (4, "'own.h' file not found", "a.c", 1, 0)
    assert said((3, "unknown type name 'real'", "a.c", 1, 0), missing) == [
        ("INP002", "the header own.h is not found", "int"),
    ]  # fmt: skip
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "own.h").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "own.h").touch()
    (finding,) = diagnostic_findings(str(tmp_path / "src" / "a.c"), [(4, "'own.h' file not found", "", 1, 0)], read)
    assert finding.help == (f"it is in {tmp_path / 'inc'}: add -I {tmp_path / 'inc'}",)
    (finding,) = diagnostic_findings(str(tmp_path / "a.c"), [(4, "'none.h' file not found", "", 1, 0)], read)
    assert finding.help == ("name the folder that holds none.h with -I DIR",)
    # the folder above is searched as well: what other tests leave there must not count
    (tmp_path / "alone" / "below").mkdir(parents=True)
    alone = str(tmp_path / "alone" / "below" / "a.c")
    (finding,) = diagnostic_findings(alone, [(4, "'stddef.h' file not found", "", 1, 0)], read)
    assert "install gcc" in finding.help[0]


def test_each_is_said_once_and_not_too_many() -> None:
    again = (3, "expected expression", "a.c", 1, 30)
    assert len(said(again, again, (3, "too many errors emitted, stopping now", "a.c", 1, 0))) == 1
    assert len(said(*((3, f"m{n}", "a.c", 1, 0) for n in range(30)))) == 20
