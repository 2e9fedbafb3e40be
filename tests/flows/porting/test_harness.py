"""The functions that the referee calls itself: those that changed, and how large their arrays must be."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.flows.porting.harness import extents_of, harness_functions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.printer import print_expr

LIBRARY = """
void f(int n, double *a, const double *b) { for (int i = 0; i < n; i++) a[i] = b[i + 2]; }
void g(int n, const int *p, double *a) { for (int i = 0; i < n; i++) a[p[i]] = 0; }
void h(int n) { }
"""


def test_functions_that_changed_with_the_extents_of_their_pointers() -> None:
    facts = analyze(program_of(LIBRARY), PolyOptions())
    symbols = {function.symbol.name: function.symbol for _, function in facts.program.functions()}
    found = harness_functions(facts, {symbols["f"], symbols["h"]})
    assert [one.function.symbol.name for one in found] == ["f", "h"]
    extents = {symbol.name: print_expr(size).replace("(long long)", "") for symbol, size in found[0].extents.items()}
    assert extents == {"a": "n >= 1 ? n : 0", "b": "n >= 1 ? n + 2 : 0"}
    assert found[1].extents == {}


def test_what_cannot_be_bounded_has_no_extent() -> None:
    program = program_of(LIBRARY)
    g = next(function for _, function in program.functions() if function.symbol.name == "g")
    assert {symbol.name for symbol in extents_of(program, g, PolyOptions())} == {"p"}


def test_a_program_with_a_main_is_called_by_that() -> None:
    facts = analyze(program_of(f"{LIBRARY}int main(void) {{ return 0; }}\n"), PolyOptions())
    assert harness_functions(facts, {function.symbol for _, function in facts.program.functions()}) == ()
