"""Statements that set an iteration's own element, and what the loop may do with it besides."""

from __future__ import annotations

import pytest

from tests.poly.analysis import facts_of, program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences.in_place import OwnElement, find_in_place, hide_own, show_own
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.walk import names, walk

# the body of a loop that counts up by 1, and of each statement: the value, the element before, how far that is
CASES: list[tuple[str, list[str]]] = [
    ("a[i] = a[i - 1] + b[i];", ["a[i - 1] + b[i] after a[i - 1] at 1"]),
    ("a[i] += a[i - 1];", ["a[i] + a[i - 1] after a[i - 1] at 1 beside"]),
    ("a[i + 2] = a[i + 1] * 3;", ["a[i + 1] * 3 after a[i + 1] at 1"]),
    ("a[i] = a[i - 4] + b[i];", ["a[i - 4] + b[i] after a[i - 4] at 4"]),
    ("b[i] = a[i - 1]; a[i] = a[i] * 2; h[i] = a[i];", ["a[i] * 2 after a[i - 1] at 1 beside"]),
    ("a[i] = b[i]; h[i] = a[i - 1];", ["b[i] after a[i - 1] at 1 beside"]),
    ("a[i] = a[i - 1]; b[i] = b[i - 1] + 1;",
     ["a[i - 1] after a[i - 1] at 1", "b[i - 1] + 1 after b[i - 1] at 1"]),
    # another element, another write, or the array itself
    ("a[i] = a[i + 1];", []),
    ("a[i] = a[i - 1] + a[i - 2];", []),
    ("a[i] = a[i - 1] + a[0];", []),
    ("a[i] = a[i - 1]; a[i] = 2;", []),
    ("a[i] = a[i - 1]; a[i]++;", []),
    ("a[i] = a[i - 1]; touch(a);", []),
    ("a[i] = a[i - 1]; touch(&a[i]);", []),
    ("a[i] = a[i - 1]; b[0] = *a;", []),
    ("if (b[i]) a[i] = a[i - 1];", []),
    ("a[i] /= a[i - 1];", []),
    ("a[h[i]] = a[i - 1];", []),
    ("m[i][0] = m[i - 1][0];", []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[case[0] for case in CASES])
def test_own_elements(body: str, expected: list[str]) -> None:
    parameters = "int n, int *a, int *b, int *h, int (*m)[4]"
    program = program_of(f"void touch(int *); void f({parameters}) {{ for (int i = 4; i < n; i++) {{ {body} }} }}")
    loop = next(n for n in walk(function(program, "f").body) if isinstance(n, For))
    assert [_shown(place) for place in find_in_place(loop)] == expected
    for place in find_in_place(loop):
        hidden = hide_own(place.value, place.target)
        assert Printer().expr(show_own(hidden, place.target)) == Printer().expr(place.value)
        assert all(n.symbol.name == "own" for n in names(hidden) if n.span == place.target.span)


def _shown(place: OwnElement) -> str:
    value, before = Printer().expr(place.value), Printer().expr(place.before)
    return f"{value} after {before} at {place.distance}{' beside' * place.beside}"


HEAD = "static int a[99], b[99], o[99]; static void on(int i) { a[i + 1] = i; } void out(int);\n"
# what an iteration does, and the operation of its running value in a; "" where the loop stays in order
VERDICTS = [
    ("a[i] += a[i - 1];", "+"),
    ("a[i] -= a[i - 1];", "linear"),
    ("a[i] *= a[i - 1];", "*"),
    ("a[i] = a[i] + a[i - 1] * b[i];", "linear"),
    ("a[i] = a[i] > a[i - 1] ? a[i] : a[i - 1];", "max"),
    ("int t = a[i]; a[i] = a[i - 1] + t;", "+"),
    ("a[i] = a[i - 1] + b[i]; o[i] = a[i] * a[i - 1];", "+"),
    ("o[i] = a[i - 1] + a[i]; a[i] = a[i] * b[i] + 1;", "latest"),
    ("b[i] = a[i - 1]; a[i] = b[i] > 3;", ""),
    ("a[i] = a[i] * a[i - 1] * a[i - 1];", ""),
    ("a[i] = a[i] * (a[i - 1] + a[i]) + a[i - 1] % 3;", ""),
    ("int t = a[i - 1]; a[i] = t * t;", ""),
    ("a[i] = a[a[i - 1] & 3] + 1;", ""),
    ("a[i] += a[i - 2];", ""),
    ("a[i] += a[i - 1]; on(i);", ""),
    ("a[i] = a[i - 1] + b[i]; on(i);", ""),
    ("a[i] += a[i - 1]; b[i] = b[i - 1] + 1;", ""),
    ("static int s; a[i] += a[i - 1]; s += a[i]; o[i] = s;", ""),
    ("if (b[i] > 2) a[i] += a[i - 1];", ""),
]


@pytest.mark.parametrize(("body", "op"), VERDICTS, ids=[case[0] for case in VERDICTS])
def test_which_of_them_are_running_values(body: str, op: str) -> None:
    found = facts_of(f"{HEAD} void f(int n) {{ for (int i = 2; i < n; i++) {{ {body} }} }}")["f/i"]
    if op:
        assert found.category == "scan" and isinstance(found.combined, Proved)
        assert [(r.op, r.variable.name) for r in found.reductions] == [(op, "a")]
    else:
        assert found.category in ("sequential", "unanalyzable") and found.combined is None


def test_another_name_for_the_array_is_tested() -> None:
    text = "void f(int n, int *a, int *p) { for (int i = 1; i < n; i++) { a[i] += a[i - 1]; p[i] = i; } }"
    found = facts_of(text)["f/i"]
    assert found.category == "scan" and isinstance(found.combined, Proved) and found.combined.assumptions
    assert not isinstance(facts_of(text, guards=False)["f/i"].combined, Proved)
