"""Integers with one value, in terms of others."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.values import definitions, globals_of

TEXT = "int g; int f(int n) { int m = 2 * n, k = m + 1, c = n, z = g; c++; return m + k + c + z; }"


def test_what_never_changes_has_a_value() -> None:
    program = program_of(TEXT)
    (function,) = (f for _, f in program.functions())
    found = definitions(Facts.about(program, PolyOptions()), function)
    assert {s.name: sorted(v.terms.values()) for s, v in found.items()} == {"m": [2], "k": [1, 2]}
    assert "g" in globals_of(program)
