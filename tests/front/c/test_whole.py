"""Macros that are whole parts of an expression, and those that hide some of its form."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.tree.nodes import VerbatimExpr

MACROS = """
#define PLUS_ONE + 1
#define ADD(x) x +
#define LIMIT 100
#define TWICE(x) ((x) + (x))
#define AT(p, i) p[i]
#define NEGATED -
#define CHOOSE ? 1 :
#define COMMA ,
struct S { int k; };
int g(int a, int b);
void f(int *p, struct S *s, int a, int b) { *p = EXPRESSION; }
"""


@pytest.mark.parametrize(
    ("expression", "whole"),
    [
        ("a + LIMIT", True),
        ("TWICE(a) * b", True),
        ("AT(p, 2) + LIMIT", True),
        ("-LIMIT", True),
        ("p[LIMIT]", True),
        ("g(LIMIT, b)", True),
        ("LIMIT ? a : TWICE(b)", True),
        ("(int)LIMIT", True),
        ("a PLUS_ONE", False),
        ("ADD(a) b", False),
        ("NEGATED a", False),
        ("a CHOOSE LIMIT", False),
        ("g(a COMMA LIMIT)", False),
    ],
)
def test_an_expression_with_macros_is_its_parts_or_opaque(load: Load, expression: str, whole: bool) -> None:
    made = found(function(load(MACROS.replace("EXPRESSION", expression))), VerbatimExpr)
    assert (not made) is whole
    assert all(
        isinstance(one, VerbatimExpr) and one.reason == "a macro that is not one whole expression" for one in made
    )
