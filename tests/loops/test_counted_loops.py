"""Loops that are counted once their bound is a variable."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.counted_loops import counted_header, make_counted
from warpsmith.tree.nodes import While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

# each body keeps its loop from being counted as it is written: it may change the bound
HEADERS = {
    "member": ("int i = 0; i < g->n; i++", "i = 0; i < g->n; 1"),
    "mirrored": ("i = 0; g->n >= i; i += 2", "i = 0; i <= g->n; 2"),
    "down": ("i = g->n; i > k[0]; --i", "i = g->n; i > k[0]; -1"),
    "sum": ("int i = 0; i != g->n; i = 1 + i", "i = 0; i != g->n; 1"),
    "difference": ("i = 9; i >= k[0]; i = i - 4", "i = 9; i >= k[0]; -4"),
    "minus": ("i = 9; i > k[0]; i -= 4", "i = 9; i > k[0]; -4"),
    "away": ("int i = 0; i < g->n; i--", None),
    "past": ("int i = 0; i != g->n; i += 2", None),
    "still": ("int i = 0; i < g->n; i += 0", None),
    "unknown": ("int i = 0; i < g->n; i += m", None),
    "own": ("int i = 0; i < g->n - i; i++", None),
    "two": ("int i = 0, j = 0; i < g->n; i++", None),
    "real": ("double i = 0; i < g->n; i++", None),
    "other": ("int i = 0; m < g->n; i++", None),
    "equal": ("int i = 0; i == g->n; i++", None),
    "endless": ("int i = 0; ; i++", None),
    "unset": ("; i < g->n; i++", None),
    "narrow": ("unsigned char i = 0; i < g->n; i += 300", None),
    "busy": ("volatile int i = 0; i < g->n; i++", None),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    head = "struct grid { int n; };\nvoid unknown(int *);\n"
    given = "struct grid *g, int *k, int m, int h"
    parts = (
        f"void t_{name}({given}) {{ int i = 0; unknown(&h); for ({header}) {{ k[(int)i] = h; }} }}\n"
        for name, (header, _) in HEADERS.items()
    )
    more = """void f(struct grid *g, int *k, int m, int h) { int i, w = 2; unknown(&h); volatile int v = 3;
        for (i = 0; i < m * 2 + 1; i++) { k[i] = 1; if (k[0]) break; }
        for (i = 0; i < w; i++) { w = k[i]; }
        for (i = 0; i < h; i++) { k[i] = 1; unknown(k); }
        for (i = 0; i < v; i++) k[i] = 1;
        for (i = 0; i < k[1]; i++) k[i] = 1;
        for (i = 0; i < m; i++) { i += k[i]; }
        while (i < m) i++; }"""
    return analyzed(head + "".join(parts) + more, tmp_path_factory.mktemp("counted"))


def whiles(program: Analyzed, name: str) -> list[While]:
    return [n for n in walk(program.function(f"t_{name}" if name != "f" else name).body) if isinstance(n, While)]


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_look_counted(name: str, program: Analyzed) -> None:
    (loop,) = whiles(program, name)
    found = counted_header(loop)
    shown = None
    if found is not None:
        i = found.variable.name
        shown = f"{i} = {print_expr(found.lower)}; {i} {found.relation} {print_expr(found.bound)}; {found.step}"
    assert shown == HEADERS[name][1]
    assert found is None or found.declares == HEADERS[name][0].startswith("int")
    # its bound is no variable yet
    assert make_counted(loop, frozenset()) is None


def test_a_bound_made_of_variables_that_the_body_leaves_alone(program: Analyzed) -> None:
    loops = {loop.span.text.split("{")[0].strip(): loop for loop in whiles(program, "f")}
    answers = {text: make_counted(loop, frozenset({program.symbol("h")})) is not None for text, loop in loops.items()}
    assert {text for text, is_counted in answers.items() if is_counted} <= {"for (i = 0; i < m * 2 + 1; i++)"}
    assert not any(is_counted for text, is_counted in answers.items() if "w;" in text or "h;" in text or "v;" in text)
    plain = next((loop for text, loop in loops.items() if "m * 2" in text), None)
    if plain is not None:
        made = make_counted(plain, frozenset())
        assert made is not None and (made.relation, made.step, made.body) == ("<", 1, plain.body)
        assert make_counted(plain, frozenset({program.symbol("m")})) is None
