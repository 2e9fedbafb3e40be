"""Which nests go through all pairs, and which lvalues in them may be the same memory."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.loops.remedies.proposals import known
from warpsmith.loops.remedies.pairs import Pairs, find_accesses, find_element, find_memory, find_pairs, may_be_same
from warpsmith.tree.nodes import Expr, For
from warpsmith.tree.walk import walk

HEAD = """struct t { double x, y; double row[4]; double *away; struct { double deep; } part; };
void f(int n, double *a, double b[][3], struct t *s, struct t *r)
{
"""
OUTER, INNER = "int i = 0; i < n; i++", "int j = i + 1; j < n; j++"


def pairs_of(body: str, outer: str = OUTER, inner: str = INNER, prologue: str = "") -> Pairs | None:
    text = f"{HEAD}    for ({outer}) {{\n {prologue} for ({inner}) {{ {body} }}\n }}\n}}\n"
    loop = known(text, "f/i")[1].loop
    assert isinstance(loop, For)
    return find_pairs(loop)


def lvalues(pairs: Pairs, *texts: str) -> list[Expr]:
    found = {part.span.text: part for part in walk(pairs.inner.body) if part.span.text in texts}
    return [part for text in texts if isinstance(part := found[text], Expr)]


@pytest.mark.parametrize(
    ("outer", "inner", "prologue", "body"),
    [
        (OUTER, INNER, "", "a[i] += a[j];"),
        (OUTER, "int j = 1 + i; j < n; j++", "struct t *p = &s[i];", "p->x += a[j];"),
        ("int i = 3; i < n - 1; i++", INNER, "", "a[i] += a[j];"),
    ],
)
def test_loops_over_all_pairs(outer: str, inner: str, prologue: str, body: str) -> None:
    assert pairs_of(body, outer, inner, prologue) is not None


@pytest.mark.parametrize(
    ("outer", "inner", "prologue", "body"),
    [
        (OUTER, "int j = i; j < n; j++", "", "a[i] += a[j];"),
        (OUTER, "int j = i + 1; j <= n; j++", "", "a[i] += a[j];"),
        (OUTER, "int j = i + 1; j < n; j += 2", "", "a[i] += a[j];"),
        ("int i = 0; i < n - 2; i++", INNER, "", "a[i] += a[j];"),
        (OUTER, INNER, "a[i] = 0;", "a[i] += a[j];"),
        (OUTER, INNER, "", "for (int k = 0; k < 3; k++) a[i] += a[j];"),
        # the pointer does not stay where it starts
        (OUTER, INNER, "", "double *p = &a[i]; p = &a[j]; *p += 1;"),
        (OUTER, INNER, "double *p = a;", "*p++ = a[i];"),
    ],
)
def test_other_loops(outer: str, inner: str, prologue: str, body: str) -> None:
    assert pairs_of(body, outer, inner, prologue) is None


@pytest.mark.parametrize(
    ("text", "counter"),
    [
        ("a[i]", "i"),
        ("b[j][2]", "j"),
        ("s[j].row[1]", "j"),
        ("p->x", "i"),
        ("q->part.deep", "j"),
        ("b[i][j]", ""),
        ("a[i + 1]", ""),
        ("s->x", ""),
    ],
)
def test_the_counter_that_chooses_an_element(text: str, counter: str) -> None:
    pairs = pairs_of(f"struct t *q = s + j; {text} += 1;", prologue="struct t *p = &s[i];")
    assert pairs is not None
    (expr,) = lvalues(pairs, text)
    found = find_element(expr, pairs)
    assert ("" if found is None else found[2].name) == counter


SAME = [
    {"s->x", "(*s).x", "s[i].x", "p->x"},
    {"s->row[2]", "p->row[i]"},
    {"s->away[i]", "*p->away"},
    {"s->part.deep"},
    {"r->x"},
    {"a[i]", "*(a + j)"},
]


def test_members_tell_memory_of_one_variable_apart() -> None:
    every = [text for group in SAME for text in sorted(group)]
    pairs = pairs_of(" ".join(f"{text} += 1;" for text in every), prologue="struct t *p = &s[i];")
    assert pairs is not None
    memories = {text: find_memory(expr, pairs) for text, expr in zip(every, lvalues(pairs, *every), strict=True)}
    for one, other in combinations(every, 2):
        left, right = memories[one], memories[other]
        assert left is not None and right is not None
        assert may_be_same(left, right) == any({one, other} <= group for group in SAME), (one, other)


def test_a_part_and_the_whole_are_the_same_memory() -> None:
    pairs = pairs_of("struct t q = s[j]; s[i].part.deep += q.x; r->x = ((struct t *)a)->x;")
    assert pairs is not None
    whole, part = (find_memory(expr, pairs) for expr in lvalues(pairs, "s[j]", "s[i].part.deep"))
    assert whole is not None and part is not None and may_be_same(whole, part)
    (cast,) = lvalues(pairs, "((struct t *)a)->x")
    assert find_memory(cast, pairs) is None


def test_accesses_are_whole_lvalues_and_what_their_indices_mention() -> None:
    pairs = pairs_of("p->row[(int)a[j]] += *(r->away + i);", prologue="struct t *p = &s[i];")
    assert pairs is not None
    found = sorted(access.span.text for access in find_accesses(pairs.inner.body, pairs))
    assert found == ["*(r->away + i)", "a[j]", "i", "j", "p->row[(int)a[j]]"]
    assert not list(find_accesses(pairs.inner.body, pairs, {id(stmt) for stmt in walk(pairs.inner.body)}))
