"""The changes of a mutation run: one thing at a time, described, in code that can be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from benchmarks.mutants.operators import mutants
from benchmarks.mutation import ROOT, Known, Result, drawn, groups, judged, key, table

SOURCE = '''"""Text of a module: 1 < 2."""


class C:
    def f(self, a: int | None, b: set[int]) -> bool:
        """Text."""
        if a is None or not b:
            return False
        # a comment
        self.kept = a
        x = {c for c in b if c < 7}
        return x.issuperset(b | {a}) and g(a, b)
'''
LAST = "x.issuperset(b | {a}) and g(a, b)"


def _changes(operator: str) -> set[tuple[str, str]]:
    return {(m.before, m.after) for m in mutants(SOURCE) if m.operator == operator}


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("comparison", {("a is None", "(a is not None)"), ("c < 7", "(c <= 7)"), ("c < 7", "(c > 7)")}),
        (
            "logic",
            {
                ("a is None or not b", "(a is None and (not b))"),
                ("not b", "(b)"),
                (LAST, "(x.issuperset(b | {a}) or g(a, b))"),
            },
        ),
        ("number", {("7", "(8)"), ("7", "(6)")}),
        (
            "returned",
            {("return False", "return True"), (f"return {LAST}", "return True"), (f"return {LAST}", "return False")},
        ),
        ("statement", {("self.kept = a", "pass")}),
        ("sets", {("b | {a}", "(b & {a})"), ("x.issuperset", "x.issubset")}),
        ("arguments", {("g(a, b)", "g(b, a)")}),
        ("condition", {(test, word) for test in ("a is None or not b", "c < 7") for word in ("True", "False")}),
    ],
)
def test_each_operator_changes_what_it_says(operator: str, expected: set[tuple[str, str]]) -> None:
    assert _changes(operator) == expected


def test_a_mutant_differs_in_one_place_and_keeps_the_rest() -> None:
    for mutant in mutants(SOURCE):
        ast.parse(mutant.text)
        assert mutant.function == "C.f"
        assert len(mutant.text) - len(SOURCE) == len(mutant.after) - len(mutant.before)
        assert "# a comment" in mutant.text
    assert len({mutant.key for mutant in mutants(SOURCE)}) == len(mutants(SOURCE))


def test_a_larger_draw_begins_with_a_smaller_one() -> None:
    group = groups()[0]
    few, many = drawn(group, 5, 1), drawn(group, 50, 1)
    assert many[:5] == few
    assert drawn(group, 5, 2) != few


def test_all_that_is_listed_exists() -> None:
    for group in groups():
        assert all((ROOT / "src/warpsmith" / source).is_file() for source in group.sources)
        assert all((ROOT / "tests" / test.partition("::")[0]).exists() for test in group.tests)
    assert len(groups()) == 8


def test_what_was_judged_is_still_a_mutant() -> None:
    sources = [source for group in groups() for source in group.sources]
    known = {(s, *m.key) for s in sources for m in mutants((ROOT / "src/warpsmith" / s).read_text())}
    assert not [one for one in judged() if one not in known]
    assert all(len(reason) > 10 for reason in judged().values())


def test_the_table_counts_survivors_and_those_that_were_judged() -> None:
    one, two = (Result("g", "a.py", m, "survived") for m in mutants(SOURCE)[:2])
    dead, late = Result("g", "b.py", one.mutant, "killed"), Result("g", "b.py", two.mutant, "time")
    lines = list(table([one, two, dead, late], {key(one): "only a message"}))
    assert [line.split() for line in lines[1:4]] == [
        ["a.py", "2", "0", "0", "1", "1"],
        ["b.py", "2", "2", "1", "0", "0"],
        ["in", "all", "4", "2", "1", "1", "1"],
    ]
    assert "only a message" in "\n".join(lines)
    assert "not judged" in "\n".join(lines)


def test_results_are_lines_that_a_later_run_goes_on_from(tmp_path: Path) -> None:
    path = tmp_path / "results"
    one, two, three = mutants(SOURCE)[:3]
    first = Known(path, "c1", keep_killed=False)
    assert first.result("g", "a.py", one) is None
    dead, alive = Result("g", "a.py", one, "killed", 4), Result("g", "a.py", two, "survived", 2)
    first.add(dead)
    first.add(alive)
    again = Known(path, "c1", keep_killed=False)
    assert again.result("g", "a.py", one) == dead
    assert again.result("g", "a.py", two) == alive
    # another file, another mutant
    assert again.result("g", "b.py", one) is again.result("g", "a.py", three) is None
    # another commit: its tests may kill what survived
    assert Known(path, "c2", keep_killed=False).result("g", "a.py", one) is None
    later = Known(path, "c2", keep_killed=True)
    assert later.result("g", "a.py", one) == dead
    assert later.result("g", "a.py", two) is None
