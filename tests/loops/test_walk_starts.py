"""Where walking variables start, and the places that pointers hold where a loop is reached."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.place import LoopContext
from warpsmith.loops.walk_starts import Starts, is_plain
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Assign, ExprStmt, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import names, peel, walk

HEAD = "int g(int); extern int o; int f(int n, int *a, int *b) { int k = 0, w; int *p, *q; "


def starts(text: str) -> tuple[Starts, dict[str, object]]:
    program = program_of(f"{HEAD}{text} return k; }}")
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    loop = next(n for n in walk(function.body) if isinstance(n, While))
    around = tuple(n for n in walk(function.body) if isinstance(n, While) and n is not loop and loop in walk(n))
    place = LoopContext(program.units[0], function, loop, around)
    hidden = Facts.about(program, PolyOptions()).origin(function).hidden
    return Starts(place, (), hidden), {n.symbol.name: n.symbol for n in names(function.body)}


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("p = a; while (p != b) p++;", "a"),
        ("p = a + n; k = 3; while (p != b) p++;", "a + n"),
        ("p = &a[3]; while (p != b) p++;", "&a[3]"),
        ("p = a; a = b; while (p != b) p++;", None),
        ("p = a; if (n) p = b; while (p != b) p++;", None),
        ("p = b + g(3); while (p != b) p++;", None),
        ("p = a + a[1]; while (p != b) p++;", None),
        ("p = a + o; while (p != b) p++;", None),
        ("int **r = &a; p = a; while (p != b) { p++; **r = 1; }", None),
        ("p = a; for (int j = 0; j < n; j++) k++; while (p != b) p++;", None),
        ("while (p != b) p++;", None),
    ],
)
def test_starts(text: str, start: str | None) -> None:
    known, symbols = starts(text)
    found = known.of(symbols["p"])  # type: ignore[arg-type]
    assert (None if found is None else print_expr(found)) == start


@pytest.mark.parametrize(
    ("text", "root", "far"),
    [
        ("int *z = a + n; while (p != z) p++;", "a", "n"),
        ("int *z = a + n; while (a != z) a++;", "a", "n"),
        ("int *y = a + n, *z = y; while (p != z) p++;", "a", "n"),
        ("int *z = a + n; n++; while (p != z) p++;", "z", None),
        ("int *z = a + n; a = b; while (p != z) p++;", "z", None),
        ("int *z = a + n; z++; while (p != z) p++;", "z", None),
        ("while (k) { int *z = a + n; while (a != z) a++; }", None, None),
    ],
)
def test_anchors(text: str, root: str | None, far: str | None) -> None:
    if root is None:
        text = text.replace("while (k) {", "for (k = 0; k < n; k++) {")
    known, symbols = starts(text)
    z = next(n for n in walk(known.place.function.body) if getattr(n, "symbol", None) is symbols["z"])
    use = next(n for n in names(known.place.loop) if n.symbol is symbols["z"])
    found = known.anchor(use)
    assert z is not None and found is not None
    if root is None:
        # in a loop around it a has moved before
        return
    assert found.root.name == root and (None if found.far is None else print_expr(found.far)) == far


def test_plain_expressions_read_no_memory() -> None:
    program = program_of(
        f"{HEAD} k = n + 2 * k; k = a[1]; p = &a[n]; k = *a; k = g(1); k = n++; k = (long)n; return k; }}"
    )
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    found = [peel(s.expr) for s in function.body.statements if isinstance(s, ExprStmt)]
    plain = [is_plain(assigned.value) for assigned in found if isinstance(assigned, Assign)]
    assert plain == [True, False, True, False, False, False, True]
