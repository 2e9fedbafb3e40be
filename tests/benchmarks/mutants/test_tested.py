"""Which tests a mutant is run with."""

from __future__ import annotations

import pytest
from benchmarks.mutants.operators import mutants
from benchmarks.mutants.tested import Measured, Test, changed_lines, executing

SOURCE = """LIMIT = 7

def f(
    a,
    most=3,
):
    if (
        a
        < most
    ):
        return 1
    match a:
        case 8 if a < 9:
            g(a,
              10)
    for b in range(11):
        a += b
"""


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("7", {1}),
        ("a\n        < most", {7, 8, 9, 10}),
        ("1", {11}),
        ("8", {12, 13}),
        ("9", {12, 13}),
        ("10", {14, 15}),
        ("11", {16}),
        ("a += b", {17}),
    ],
)
def test_a_change_is_executed_with_its_statement(before: str, lines: set[int]) -> None:
    found = [changed_lines(SOURCE, m) for m in mutants(SOURCE) if m.before == before]
    assert found and set(found) == {frozenset(lines)}


def test_tests_that_execute_a_line_the_fastest_first() -> None:
    slow = Test("slow", 3.0, {"a.py": frozenset({1, 2})})
    fast = Test("fast", 1.0, {"a.py": frozenset({2, 3})})
    other = Test("other", 2.0, {"a.py": frozenset({9}), "b.py": frozenset({2})})
    none = Test("none", 0.0, {})
    measured = Measured((slow, other, fast, none), {"a.py": frozenset({7})})
    assert executing(measured, "a.py", frozenset({2})) == [fast, slow]
    assert executing(measured, "a.py", frozenset({3, 4})) == [fast]
    assert executing(measured, "a.py", frozenset({5})) == []
    # what happens while the file is loaded may matter to all tests of the file
    assert executing(measured, "a.py", frozenset({7})) == [fast, other, slow]
