"""An offload region that is not written twice: additions between the user's statements ask for the flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import DONOR, Words, parsed, printed
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import Block, For, If, Launch, Stmt, replace
from warpsmith.tree.text.additions import remove_additions

HEAD = "void f(int x, int n, int *a)\n{\n    int i = 0;\n    (void)i;\n"
LOOPS = {
    # inside a loop of the user's, in place of its inner one
    "braces": "    for (int k = 0; k < 1; k++) {\n        for (int j = 0; j < n; j++)\n            a[j] = j;\n    }\n",
    "bare": "    for (int k = 0; k < 1; k++)\n        for (int j = 0; j < n; j++)\n            a[j] = j;\n",
    "one line": "    for (int k = 0; k < 1; k++) { for (int j = 0; j < n; j++) a[j] = j; }\n",
}


def launched(stmt: Stmt) -> Launch:
    return Launch(span=stmt.span, kernel="k", arguments=(), region="r")


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_launch_in_place_of_an_inner_loop(loop: str, tmp_path: Path) -> None:
    text = f"{HEAD}{loop}}}\n"
    unit, function, outer, _ = parsed(text, tmp_path)
    assert isinstance(outer, For)
    body = outer.body
    inner = body.statements[0] if isinstance(body, Block) else body
    new = replace(body, statements=(launched(inner),)) if isinstance(body, Block) else launched(inner)
    version = Versioned(function, (outer,), (replace(outer, body=new),), None)
    made = in_place_text(unit, [version], [], Words(), Heads())
    assert remove_additions(made) == DONOR + text and "const int use = on();" in made
    assert made.count("a[j] = j;") == 1
    assert printed(made, tmp_path) == ["01", "01", "device 4 77", "device 4 77"]


def test_branches_of_the_users_stay(tmp_path: Path) -> None:
    text = (
        "void f(int x, int n, int *a)\n{\n    for (int k = 0; k < 1; k++) {\n        if (x)\n            a[0] = 1;\n"
        "        else\n            a[1] = 2;\n    }\n}\n"
    )
    unit, function, outer, _ = parsed(text, tmp_path)
    assert isinstance(outer, For) and isinstance(outer.body, Block)
    (branch,) = outer.body.statements
    assert isinstance(branch, If) and branch.other is not None
    changed = replace(branch, other=launched(branch.other))
    new = replace(outer, body=replace(outer.body, statements=(changed,)))
    made = in_place_text(unit, [Versioned(function, (outer,), (new,), None)], [], Words(), Heads())
    assert remove_additions(made) == DONOR + text
    assert printed(made, tmp_path) == ["72", "17", "device 4 77", "17"]
