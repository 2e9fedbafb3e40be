"""Which statements of a changed run are the user's."""

from __future__ import annotations

from pathlib import Path

from tests.tree.in_place.test_edits import DONOR, Words, parsed, printed
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import (
    DeclStmt,
    For,
    Name,
    replace,
)
from warpsmith.tree.text.additions import remove_additions


def test_a_loop_that_changes_takes_its_pragma_along(tmp_path: Path) -> None:
    text = (
        "void f(int x, int n, int *a)\n{\n#pragma omp parallel for\n"
        "    for (int i = 0; i < x; i++)\n        a[i] = i;\n    a[1] = n;\n}\n"
    )
    unit, function, loop, declaration = parsed(text, tmp_path)
    assert isinstance(loop, For) and isinstance(declaration, DeclStmt)
    (made_here,) = declaration.declarations
    bound = Name(span=loop.bound.span, type=made_here.symbol.type, symbol=made_here.symbol)
    pragma, _, last = function.body.statements
    changed = (declaration, pragma, replace(loop, bound=bound), last)
    version = Versioned(function, function.body.statements, changed, None)
    made = in_place_text(unit, [version], [], Words(), Heads())
    assert remove_additions(made) == DONOR + text
    assert made.count("#pragma omp parallel for") == 2
    made = made.replace("void f(", "static const int one = 1, *p = &one;\nvoid f(", 1)
    assert printed(made, tmp_path) == ["72", "02", "02", "02"]
