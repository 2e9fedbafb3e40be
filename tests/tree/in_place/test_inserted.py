"""Additions between the user's statements outside of every offload region."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import DONOR, Words, printed
from warpsmith.base.errors import RefusedError
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.versioned import InsertedText
from warpsmith.tree.nodes import (
    If,
    Update,
)
from warpsmith.tree.text.additions import remove_additions
from warpsmith.tree.walk import walk


def test_what_stands_beside_the_start_of_a_conditional(tmp_path: Path) -> None:
    text = "void f(int x, int n, int *a)\n{\n#ifdef NEVER\n    never();\n#else\n    a[0] = 5;\n#endif\n}\n"
    path = tmp_path / "a.c"
    path.write_text(DONOR + text)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    function = unit.functions[1]
    opens = function.body.statements[0]
    assert opens.span.text == "#ifdef NEVER"
    update = Update(span=opens.span, to_device=False, variable=None, address=None, bytes=None, cause=opens.span)
    made = in_place_text(unit, [], [InsertedText(function, "before", opens, (update,))], Words(), Heads())
    assert remove_additions(made) == DONOR + text
    assert printed(made, tmp_path) == ["update 0 57"] * 4
    with pytest.raises(RefusedError, match="a branch of the preprocessor starts here"):
        in_place_text(unit, [], [InsertedText(function, "after", opens, (update,))], Words(), Heads())


def test_an_else_is_added_to_the_right_if(tmp_path: Path) -> None:
    text = "void f(int x, int n, int *a)\n{\n    if (x)\n        if (n > 5)\n            a[0] = 1;\n    a[1] = 2;\n}\n"
    path = tmp_path / "a.c"
    path.write_text(DONOR + text)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    function = unit.functions[1]
    outer = next(node for node in walk(function) if isinstance(node, If))
    update = Update(span=outer.span, to_device=False, variable=None, address=None, bytes=None, cause=outer.span)
    made = in_place_text(unit, [], [InsertedText(function, "else", outer, (update,))], Words(), Heads())
    assert remove_additions(made) == DONOR + text
    assert printed(made, tmp_path) == ["update 0 72", "72", "update 0 72", "72"]
