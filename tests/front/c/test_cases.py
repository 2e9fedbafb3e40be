"""The cases of a switch."""

from __future__ import annotations

from tests.front.c.test_statements import kinds, statements
from tests.front.conftest import Load, function
from warpsmith.front.c.counted.canonical import constant_value
from warpsmith.tree.nodes import (
    Switch,
    Verbatim,
)


def test_switch_lists_its_cases(load: Load) -> None:
    (switch,) = statements(load, "switch (x) { case 1: case N: x++; break; default: x--; { x = 2; } }")
    assert isinstance(switch, Switch)
    assert [len(c.labels) for c in switch.cases] == [2, 1]
    assert switch.cases[1].labels == (None,)
    assert [kinds(c.body) for c in switch.cases] == [["ExprStmt", "Break"], ["ExprStmt", "Block"]]
    assert switch.cases[0].span.text == "case 1: case N: x++; break;"


LABELS: dict[str, list[list[int | None]] | None] = {
    "case 1: case 2: x++; break;": [[1, 2]],
    "case 1: default: x++; break;": [[1, None]],
    "case 1 ... 3: x++; break;": None,
    "ONE x++; break;": None,
    "case 1: { x++; case 2: x--; } break;": None,
    # a label of a switch further in is that one's
    "case 1: { switch (n) { case 2: x--; } } break;": [[1]],
}


def test_labels_before_a_statement(load: Load) -> None:
    for text, expected in LABELS.items():
        loaded = load(f"#define ONE case 1:\nvoid f(int x, int n) {{ switch (x) {{ {text} }} }}")
        (made,) = function(loaded).body.statements
        if expected is None:
            assert isinstance(made, Verbatim), text
            assert "case" in made.reason, made.reason
        else:
            assert isinstance(made, Switch), text
            values = [[None if label is None else constant_value(label) for label in c.labels] for c in made.cases]
            assert values == expected, text


PRAGMAS = """
void f(int x, int n, double *a)
{
    switch (x) {
    case 1:
#pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] = 0;
#pragma omp barrier
        break;
    case 2:
#pragma omp simd
    default:
        a[0] = 1;
#pragma omp flush
    }
again:
#pragma omp parallel
    { a[1] = n; }
    if (n--) goto again;
}
"""


def test_pragmas_of_a_case_and_behind_a_label_are_statements(load: Load) -> None:
    switch, label, pragma, block, _ = function(load(PRAGMAS)).body.statements
    assert isinstance(switch, Switch)
    assert [kinds(case.body) for case in switch.cases] == [
        ["Pragma", "For", "Pragma", "Break"], ["Pragma", "ExprStmt", "Pragma"],
    ]  # fmt: skip
    assert [case.span.text.splitlines()[-1].strip() for case in switch.cases] == ["break;", "#pragma omp flush"]
    assert label.span.text == "again:" and pragma.span.text == "#pragma omp parallel"
    assert block.span.text == "{ a[1] = n; }"
