"""How many elements callers hand over at least: in every call, whoever calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects.sizes.handed import handed_elements
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.regions.sections import sections
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import loops

TEXT = """
static double a[4], b[2][5];
void f(int n, const int *c, const double *k, double *y)
{
    for (int i = 0; i < n; i++)
        if (c[i] < 0)
            y[i] = k[1] * k[2];
}
"""
MAIN = "int main(void) { int c[9] = {-1}; double y[9]; f(9, c, a, y); return 0; }"


def handed(text: str, folder: Path) -> tuple[int | None, list[str]]:
    """Return what is handed over for k, and the bounds of its section."""
    path = folder / "a.c"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    symbol = next(s for s in function.parameters if s.name == "k")
    known = Summaries.of(program)
    ((loop, _),) = loops(function.body)
    answer = sections(program, function, (loop,), (loop,), PolyOptions(), summaries=known, wanted=symbol)
    bounds = [print_expr(bound) for s in answer.sections for bound in (s.lower, s.upper)]
    return handed_elements(known, function, symbol), bounds


@pytest.mark.parametrize(
    ("more", "least"),
    [
        ("", 4),
        ("void g(int *c, double *y) { f(9, c, &b[0][0], y); }", None),
        ("void g(int *c, double *y) { f(9, c, (double *)b, y); }", None),
        ("static double few[3]; void g(int *c, double *y) { f(9, c, few, y); }", 3),
        ("void g(int *c, double *y) { double few[3] = {1}; f(9, c, few, y); }", 3),
        ("void g(int *c, double *y) { f(9, c, y, y); }", None),
        ("void g(int *c, double *y) { f(9, c, a + 1, y); }", None),
        ("void g(int n, int *c, double *y) { double v[n]; f(9, c, v, y); }", None),
        ("static float s[9]; void g(int *c, double *y) { f(9, c, (double *)s, y); }", None),
        ("void (*p)(int, const int *, const double *, double *) = f;", None),
        ("void h(void *); void g(void) { h((void *)f); }", None),
        ("void g(int *c, double *y) { (*f)(9, c, a, y); }", 4),
        ('void g(void) { __asm__("call f"); }', None),
    ],
)
def test_every_call_counts(more: str, least: int | None, tmp_path: Path) -> None:
    assert handed(TEXT + more + MAIN, tmp_path)[0] == least


def test_a_section_needs_no_known_block_where_all_of_it_is_handed_over(tmp_path: Path) -> None:
    assert handed(TEXT + MAIN, tmp_path)[1] == ["n >= 1 ? 1 : 0", "n >= 1 ? 3 : 0"]
    small = MAIN.replace("int c[9]", "double few[2] = {1}; int c[9]").replace("c, a, y", "c, few, y")
    assert handed(TEXT + small, tmp_path) == (2, [])


def test_without_a_main_there_may_be_other_callers(tmp_path: Path) -> None:
    assert handed(TEXT + MAIN.replace("main", "g"), tmp_path) == (None, [])


@pytest.mark.parametrize("change", ["k++;", "if (n > 5) k = y;", "const double **p = &k; *p = y;"])
def test_a_parameter_that_moves_has_no_size(change: str, tmp_path: Path) -> None:
    text = TEXT.replace("    for (int i = 0", f"    {change}\n    for (int i = 0")
    assert handed(text + MAIN, tmp_path)[0] is None
