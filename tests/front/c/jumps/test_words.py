"""Gotos and labels by their text."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.jumps.words import label_name, make_goto
from warpsmith.tree.nodes import Verbatim


@pytest.mark.parametrize(
    ("text", "goes", "marks"),
    [("goto L1;", "L1", ""), ("goto  next ;", "next", ""), ("L2:", "", "L2"), ("L2 :", "", "L2"), ("goto *p;", "", ""),
     ("L: /* on */ x", "", "")],
)  # fmt: skip
def test_names(text: str, goes: str, marks: str) -> None:
    span = Span(SourceFile("a.c", text), 0, len(text))
    assert (make_goto(span).goes, label_name(span)) == (goes, marks)


HEAD = "#define OUT goto A\nvoid f(int n, int *a) { for (int i = 0; i < n; i++) { "


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("if (i) goto A; a[i] = 1; A: ;", True),
        ("if (i) goto A; a[i] = 1; if (n) goto A; A: ;", True),
        ("if (i) goto A; a[i] = 1; if (n) OUT; A: ;", False),
        ("void *p = &&A; if (i) goto A; a[i] = 1; if (n) goto *p; A: ;", False),
    ],
)
def test_gotos_without_a_name_leave_all_as_it_is(load: Load, text: str, nested: bool) -> None:
    made = function(load(f"{HEAD}{text} }} }}"))
    assert nested != any(isinstance(p, Verbatim) and p.control for p in found(made, Verbatim))
