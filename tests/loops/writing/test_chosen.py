"""Loops that do something only where a condition holds: their parts, and the search for the first or last iteration."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import loop
from warpsmith.base.verdict import Reason
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.writing.chosen import can_number, find_chosen, write_chosen
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr, print_stmt

HEAD = "int f(int n, long m, unsigned u, unsigned long w, const int *x) { int k = 0; "


def parts(body: str) -> tuple[str, str, str] | str:
    program = program_of(f"{HEAD} for (int i = 0; i < n; i++) {{ {body} }} return k; }}")
    found = find_chosen(_loop(program, "f/i"), Summaries.of(program))
    if isinstance(found, Reason):
        return found.text
    texts = [" ".join(print_stmt(s).split()) for s in (*found.temporaries, *found.run)]
    return print_expr(found.condition), str(len(found.temporaries)), " ".join(texts)


def _loop(program: object, address: str) -> For:
    found = loop(program, address)  # type: ignore[arg-type]
    assert isinstance(found, For)
    return found


def test_the_parts_of_a_body() -> None:
    assert parts("if (x[i]) k = i;") == ("x[i]", "0", "k = i;")
    assert parts("int t = x[i]; if (t) { k = i; k = t; }") == ("t", "1", "int t = x[i]; k = i; k = t;")
    assert parts("if (x[i] > 1) if (x[i] < 5) k = i;") == ("x[i] > 1 && x[i] < 5", "0", "k = i;")
    assert parts("if (x[i] > 1) continue; k = i;") == ("!(x[i] > 1)", "0", "k = i;")
    assert "no number" in parts("int t[2] = {i}; if (t[0]) k = i;")


@pytest.mark.parametrize(
    ("header", "first", "last"),
    [
        ("int i = 0; i < n; i++", True, True),
        ("int i = n; i >= 3; i -= 2", True, True),
        ("unsigned i = 0; i < u; i++", True, True),
        ("long i = 0; i < m; i++", True, True),
        ("long i = n; i < m; i++", True, False),
        ("long i = m; i > 0; i--", True, False),
        ("long i = 0; i <= m; i++", False, True),
        ("unsigned long i = 0; i < w; i++", True, True),
        ("int i = 0; i != n; i++", False, False),
        ("int i = 0; i < m; i++", True, True),
        ("unsigned i = 0; i < n; i++", False, False),
    ],
)
def test_which_iterations_can_be_numbered(header: str, first: bool, last: bool) -> None:
    found = _loop(program_of(f"{HEAD} for ({header}) if (x[i]) k = i; return k; }}"), "f/i")
    assert (can_number(found, last=False), can_number(found, last=True)) == (first, last)


def test_the_search_and_what_is_done_there() -> None:
    program = program_of(f"{HEAD} unsigned long i; for (i = 0; i < w; i++) if (x[i]) k = i; return k + i; }}")
    found = _loop(program, "f/i")
    chosen = find_chosen(found, Summaries.of(program))
    assert not isinstance(chosen, Reason)
    declared, search, done = (
        " ".join(print_stmt(s).split()) for s in write_chosen(found, chosen, Fresh.of(program), last=False)
    )
    assert declared == "long long i_first = (long long)w;"
    assert search == "for (i = 0; i < w; i++) if (x[i] && (long long)i < i_first) i_first = (long long)i;"
    assert done == "if (i_first != (long long)w) { i = i_first; k = i; }"


@pytest.mark.parametrize(
    ("body", "done"),
    [
        ("int v = x[i]; if (v) return 1;", "return 1;"),
        ("int v = x[i]; if (v) return i;", "int i = i_first; return i;"),
        (
            "int v = x[i], w = v; int y = w; int z = y; if (z) return y;",
            "int i = i_first; int v = x[i], w = v; int y = w; return y;",
        ),
    ],
)
def test_only_what_is_used_is_declared_again(body: str, done: str) -> None:
    program = program_of(f"{HEAD} for (int i = 0; i < n; i++) {{ {body} }} return k; }}")
    found = _loop(program, "f/i")
    chosen = find_chosen(found, Summaries.of(program))
    assert not isinstance(chosen, Reason)
    *_, last = write_chosen(found, chosen, Fresh.of(program), last=False)
    text = " ".join(print_stmt(last).split())
    assert text == f"if (i_first != n) {{ {done} }}"
