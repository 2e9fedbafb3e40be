"""Facts about a function's variables: a value that nothing else ever writes, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions

HEAD = """#include <stdio.h>
#include <string.h>
struct box { int n; };
static void set(int *p, int v) { *p = v; }
static void deep(int *p, int v) { set(p, v); }
"""
# how a number gets another value after `int n = 0`, and whether it does
WRITES = {
    'scanf("%d", &n);': True,
    'sscanf("7", "%d", &n);': True,
    "fread(&n, sizeof n, 1, stdin);": True,
    "memcpy(&n, a, sizeof n);": True,
    "set(&n, m);": True,
    "deep(&n, m);": True,
    "if (m) set(&n, m);": True,
    "{ int *p = &n; *p = m; }": True,
    "{ int *p = &n; set(p, m); }": True,
    "n += m;": True,
    "n++;": True,
    "for (n = 0; n < m; n++) a[n] = 0;": True,
    'printf("%d", n);': False,
    "memcpy(a, &n, sizeof n);": False,
    "{ int n = m; a[0] = n; }": False,
    "": False,
}
CXX = {
    "set(n, m);": True,
    "[&] { n = m; }();": True,
    "{ int &r = n; r = m; }": True,
    "m += n;": False,
}


def known_in(folder: Path, name: str, head: str, bodies: list[str]) -> list[tuple[bool, bool]]:
    """Return for each body whether its `n` is a constant, and whether its last loop is proved parallel."""
    path = folder / name
    path.write_text(head + "".join(f"void f{k}(int *a, int m) {{ {body} }}\n" for k, body in enumerate(bodies)))
    program = load_program([str(path)], FrontOptions()).program
    facts = {f.function.symbol.name: f for f in analyze(program, PolyOptions()).functions}
    functions = {f.symbol.name: f for _, f in program.functions()}
    found = []
    for k in range(len(bodies)):
        constants = {symbol.name for symbol in Origin.of(program, functions[f"f{k}"]).constants}
        *_, last = facts[f"f{k}"].loops
        found.append(("n" in constants, isinstance(last.verdict, Proved)))
    return found


@pytest.mark.parametrize(
    ("name", "head", "cases"),
    [("a.c", HEAD, WRITES), ("a.cpp", "static void set(int &n, int v) { n = v; }\n", CXX)],
    ids=["c", "c++"],
)
def test_a_number_is_known_where_nothing_else_writes_it(
    name: str, head: str, cases: dict[str, bool], tmp_path: Path
) -> None:
    bodies = [f"int n = 0; {code} for (int i = 1; i < n; i++) a[i] = a[i - 1];" for code in cases]
    found = known_in(tmp_path, name, head, bodies)
    # a loop that never runs is parallel; one that runs is not
    assert dict(zip(cases, found, strict=True)) == {code: (not written,) * 2 for code, written in cases.items()}


def test_what_an_early_return_says_may_change_since(tmp_path: Path) -> None:
    codes = {"": True, 'scanf("%d", &n);': False, "set(&n, m);": False}
    loop = "for (int i = 0; i < 4; i++) a[i + n] = a[i];"
    found = known_in(tmp_path, "a.c", HEAD, [f"int n = m; if (n < 4) return; {code} {loop}" for code in codes])
    assert [proved for _, proved in found] == [*codes.values()]
