"""Effective types: which two objects cannot be one, and which types a statement stores to."""

from __future__ import annotations

import itertools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.tree.memory.effective_types import apart, stored_types
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UNSIGNED, Array, Opaque, Pointer, Record, Type

# each pair of different classes is apart; those in one class may be one object
CLASSES: list[list[Type]] = [
    [INT, UNSIGNED],
    [LONG],
    [FLOAT],
    [DOUBLE],
    [Pointer(INT), Pointer(DOUBLE)],
]
ANYTHING: list[Type] = [CHAR, BOOL, Record("s", 8), Opaque("auto"), Array(INT, None, 4)]


def test_objects_of_different_classes_are_apart() -> None:
    for (i, left), (j, right) in itertools.product(enumerate(CLASSES), repeat=2):
        for one, other in itertools.product(left, right):
            assert apart(one, other) == (i != j), (one, other)


@pytest.mark.parametrize("one", ANYTHING)
def test_characters_and_structs_may_be_anything(one: Type) -> None:
    for other in (*ANYTHING, *itertools.chain(*CLASSES)):
        assert not apart(one, other) and not apart(other, one)


TEXT = """struct p { int n; double w; };
void g(void);
void f(int i, double *a, int *k, struct p *q, struct p *r) {
  i = 3;
  a[i] = 0;
  { q->n += 1; if (i) (*k)++; else --a[1]; }
  *q = *r;
  a[i] = k[i];
  g();
  a[0] = (g(), 1);
}
"""


def test_types_of_stores() -> None:
    stored = [stored_types(stmt) for stmt in function(program_of(TEXT), "f").body.statements]
    shown = [None if types is None else [print_type(t) for t in types] for types in stored]
    assert shown == [[], ["double"], ["int", "int", "double"], ["struct p"], ["double"], None, None]
