"""An enumerator is a number, not a parameter."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.regions.sections import sections
from warpsmith.tree.nodes import Literal


def test_bounds_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text("enum { N = 40 };\nvoid f(double *a) { for (int i = 0; i < 3 * N; i++) a[i] = i; }\n")
    program = load_program([str(path)], FrontOptions()).program
    ((_, function),) = program.functions()
    body = function.body.statements
    (section,) = sections(program, function, body, body, PolyOptions()).sections
    assert isinstance(section.upper, Literal)
    assert section.upper.value == 120
