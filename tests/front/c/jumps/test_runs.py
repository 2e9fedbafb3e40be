"""Where control goes between the statements of a run."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.front.c.jumps.runs import LabeledRun, NotNestedError, completes, find_marks, find_targets, read_run
from warpsmith.tree.nodes import Stmt


def _statements(load: Load, text: str) -> tuple[Stmt, ...]:
    return function(load(f"void f(int n, int *a) {{ {text} }}")).body.statements


def _read(load: Load, text: str) -> LabeledRun:
    return read_run(_statements(load, text), frozenset({"next"}))


def test_labels_belong_to_what_they_stand_before(load: Load) -> None:
    run = _read(load, "A: B: n++; if (n) goto A; C: n--; goto B; goto C; D: ;")
    assert [[mark.marks for mark in item.marks] for item in run.items] == [["A", "B"], [], ["C"], [], [], ["D"]]
    assert [run.position(label) for label in ("A", "B", "C", "D", "next")] == [0, 0, 2, 5, 6]
    assert run.behind(3).position("D") == 2
    with pytest.raises(NotNestedError, match="goto A, which leads back or into a block"):
        run.behind(1).position("A")


def test_what_comes_behind_a_run_has_its_last_labels(load: Load) -> None:
    first, second = _statements(load, "n++; A: n--; goto A;")[:2], _read(load, "n = 2; n = 3;")
    run = read_run(first, frozenset()).then(second.items)
    assert run.position("A") == 1 and run.end == 3 and not run.last
    assert read_run(first, frozenset()).then([]).position("A") == 1


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("n++;", True), ("goto A; A: ;", True), ("return;", False), ("n++; return; n--;", False),
        ("if (n) return;", True), ("if (n) return; else return;", False), ("{ n++; return; }", False),
        ("for (;;) { return; }", True), ("if (n) return; else { n++; }", True),
        ("switch (n) { case 1: return; }", True),
    ],
)  # fmt: skip
def test_whether_statements_end(load: Load, text: str, ends: bool) -> None:
    found = _statements(load, text)
    assert completes(found, frozenset(find_targets(found))) is ends


def test_a_label_behind_a_goto_is_reached_by_its_gotos_alone(load: Load) -> None:
    found = _statements(load, "if (n) goto A; return; A: n = 1; goto B; n = 2; B: ;")
    assert list(find_marks(found)) == ["A", "B"] and list(find_targets(found)) == ["A", "B"]
    assert completes(found[:5], frozenset({"A"})) is False
    assert completes(found[:4], frozenset({"A"})) is True
    assert completes(found[:4], frozenset()) is False
