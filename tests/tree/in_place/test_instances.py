"""Instances of one text are ported together, in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import Words
from warpsmith.base.errors import RefusedError
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.instances import by_text, instances
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.in_place.writer import InPlaceWriter
from warpsmith.tree.nodes import Call, For, Function
from warpsmith.tree.shared import conditions
from warpsmith.tree.walk import walk

TEXT = """
template <typename T> void twice(T *a) { for (int i = 0; i < 3; i++) a[i] *= 2; for (int j = 0; j < 3; j++) a[j] += 1; }
void plain(int *a) { for (int i = 0; i < 3; i++) a[i] = 0; }
void use(int *a, float *b) { twice(a); twice(b); plain(a); }
"""


def version(function: Function, number: int) -> Versioned:
    stmt = function.body.statements[number]
    return Versioned(function, (stmt,), (stmt,), None, (), conditions(function))


@pytest.fixture
def functions(tmp_path: Path) -> dict[str, Function]:
    path = tmp_path / "a.cpp"
    path.write_text(TEXT)
    program = load_program([str(path)], FrontOptions()).program
    return {f.symbol.label or f.symbol.name: f for _, f in program.functions()}


def test_versions_of_one_text_stand_together(functions: dict[str, Function]) -> None:
    one, other, plain = (functions[name] for name in ("twice<int>", "twice<float>", "plain"))
    made = [version(one, 0), version(plain, 0), version(other, 0), version(one, 1), version(plain, 0)]
    groups = by_text(made)
    assert [[made.index(v) for v in group] for group in groups] == [[0, 2], [1], [3], [4]]


def test_instances_in_different_parts_are_refused(functions: dict[str, Function]) -> None:
    one, other = functions["twice<int>"], functions["twice<float>"]
    both = Versioned(one, one.body.statements[:2], one.body.statements[:2], None, (), conditions(one))
    with pytest.raises(RefusedError, match="different parts"):
        by_text([both, version(other, 0)])


PLACES = """
int done(void);
template <typename T> void braces(T *a, int n) { done(); for (int i = 0; i < n; i++) a[i] = 0; }
template <typename T> void body(T *a, int n) { done(); if (n > 3) for (int i = 0; i < n; i++) a[i] = 0; }
template <typename T> void label(T *a, int n)
{
    done();
    switch (n) {
    case 1:
        for (int i = 0; i < n; i++) a[i] = 0;
        break;
    case 2:
        break;
    }
}
template <typename T> void jump(T *a, int n)
{
    done();
    if (n > 3) goto end;
    for (int i = 0; i < n; i++) a[i] = 0;
end:
    a[0] = 1;
}
void use(int *a) { braces(a, 1); body(a, 1); label(a, 1); jump(a, 1); }
"""


def test_a_flag_is_declared_only_where_a_declaration_may_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(PLACES)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    short = {}
    for function in unit.functions:
        loop = next((part for part in walk(function.body) if isinstance(part, For)), None)
        if loop is None:
            continue
        call = next(part for part in walk(function.body) if isinstance(part, Call))
        made = Versioned(function, (loop,), (loop,), None, (), conditions(function), call=call)
        # lines in front of the user's loop, or braces around it
        short[function.symbol.name] = len(instances(InPlaceWriter(unit, Words()), [made])) == 1
    assert short.pop("braces") and not any(short.values()) and {"body", "label"} <= short.keys()
