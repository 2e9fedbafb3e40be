"""Offload regions that run on the device in place of some of the user's statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import BRANCH, DONOR, ONE_LINE, PLAIN, Words, parsed, printed
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.versioned import InsertedText, Versioned
from warpsmith.tree.nodes import (
    Launch,
    Update,
)
from warpsmith.tree.text.additions import remove_additions


@pytest.mark.parametrize("text", [BRANCH, PLAIN, ONE_LINE], ids=["branch", "plain", "one line"])
@pytest.mark.parametrize("updates", [False, True], ids=["alone", "with updates"])
@pytest.mark.parametrize("declares", [False, True], ids=["no names", "own names"])
def test_each_branch_runs_what_it_must(text: str, updates: bool, declares: bool, tmp_path: Path) -> None:
    unit, function, loop, declaration = parsed(text, tmp_path)
    launch = Launch(span=loop.span, kernel="k", arguments=(), region="r")
    # the declaration's own variable stands for one that a step has made: it is in scope where the kernel is launched
    before = (declaration,) if declares else ()
    version = Versioned(function, (loop,), (launch,), None, before)
    ends = [
        Update(span=loop.span, to_device=back, variable=None, address=None, bytes=None, cause=loop.span)
        for back in (False, True)
    ]
    inserted = (
        [
            InsertedText(function, "before", loop, (ends[0],)),
            InsertedText(function, "after", loop, (ends[1],)),
        ]
        if updates
        else []
    )
    made = in_place_text(unit, [version], inserted, Words(argument="m" if declares else "4"), Heads())
    assert remove_additions(made) == DONOR + text
    if declares:
        # `p` is what the declaration reads
        made = made.replace("void f(", "static const int three = 3, *p = &three;\nvoid f(", 1)
    around = ("update 0 ", "update 1 ") if updates else ("", "")
    assert printed(made, tmp_path) == [
        "57",
        f"{around[0]}{around[1]}01",
        "57",
        f"{around[0]}device 4 {around[1]}77",
    ]
