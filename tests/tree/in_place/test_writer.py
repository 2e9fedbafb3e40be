"""Names that are free, places of statements, lines one step deeper."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import Words
from warpsmith.base.errors import RefusedError
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.nodes import replace

TEXT = """int use3, WARPSMITH_1;
void f(int n, int *a)
{
  n++;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = 0;
  a[0] = 1;
}
"""


@pytest.fixture
def writer(tmp_path: Path) -> InPlaceWriter:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    return InPlaceWriter(unit, Words())


def test_names_are_free(writer: InPlaceWriter) -> None:
    assert [writer.flag("f") for _ in range(3)] == ["use", "use2", "use4"] and writer.flag("g") == "use"
    assert writer.mark == "WARPSMITH_2" and writer.indentation == "  "


def test_places_and_lines(writer: InPlaceWriter) -> None:
    body = writer.unit.functions[0].body
    first, pragma, loop, last = body.statements
    assert writer.before((loop,), body).offset == TEXT.index("#pragma")
    assert writer.after((loop,)).offset == TEXT.index("  a[0] = 1;") and writer.indent((pragma, loop)) == "  "
    assert writer.indent((pragma,)) == "  " and writer.between(first.span.end, last, early=False).indent == "  "
    version = Versioned(writer.unit.functions[0], (loop,), (), None)
    assert writer.write_test(version) == "on()"
    condition = first.expr  # type: ignore[union-attr]
    assert writer.write_test(Versioned(version.function, (loop,), (), condition)) == "on() && (n++)"
    assert writer.texts((replace(last),), "    ") == ["    a[0] = 1;"]
    opened, closed = writer.opens(writer.before((loop,), body), (loop,), ["{"]), writer.closes((loop,), ["}"])
    assert (opened.closes, closed.closes, opened.start, closed.end) == (False, True, loop.span.start, loop.span.end)
    writer.check_place(version)
    writer.check_whole((loop,), writer.before((loop,), body))


def test_what_stands_in_parentheses_takes_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "b.c"
    path.write_text("#define DO(x) x\nvoid f(int n) { DO(n++;) }\n")
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    made = InPlaceWriter(unit, Words())
    (stmt,) = unit.functions[0].body.statements
    inside = replace(stmt, span=type(stmt.span)(stmt.span.file, stmt.span.start + 3, stmt.span.end - 1))
    with pytest.raises(RefusedError, match="inside parentheses"):
        made.check_place(Versioned(unit.functions[0], (inside,), (), None))


def test_deeper_lines() -> None:
    assert deeper(["a", "b\nc"], "  ") == ["  a", "  b\n  c"]
