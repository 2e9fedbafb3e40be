"""The summary of a port names the loop with the most work of its own, and says where it runs."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.report.model import LoopEntry
from warpsmith.report.port.hottest import hottest_json, hottest_loop, hottest_text
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names

TEXT = """
void light(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }
void heavy(int n, double *a) {
    for (int i = 0; i < n; i++) a[i] = 1;
    for (int i = 1; i < n; i++)
        for (int j = 0; j < 1000; j++)
            a[i] += a[i - 1] * j;
}
"""


def entries(program: Program, ported: str) -> tuple[LoopEntry, ...]:
    """Return an entry for every loop; the one called `ported` runs on the device."""
    found = []
    for _, function in program.functions():
        for loop, name in loop_names(function).items():
            kernel = "k" if name == ported else None
            own = LoopEntry(
                name, loop.header, function.symbol.name, "", "for", 1, "parallel", name == ported, kernel, (), ()
            )
            found.append(own)
    return tuple(found)


def test_the_loop_with_the_most_work_of_its_own_is_named() -> None:
    program = program_of(TEXT)
    functions = [function for _, function in program.functions()]
    stays = hottest_loop(functions, entries(program, "light/i"))
    assert stays is not None and stays.id == "heavy/i#2/j" and not stays.ported
    goes = hottest_loop(functions, entries(program, "heavy/i#2/j"))
    assert goes is not None and goes.ported
    told = f"{goes.id} (line {goes.span.line}, 100 %)"
    assert hottest_text(goes) == f", the hottest loop with it: {told}"
    assert hottest_text(goes, launched=False).endswith(f"never launched in the run: {told}")
    assert hottest_json(goes)["basis"] == "estimate"


def test_a_program_without_loops_has_none() -> None:
    program = program_of("int f(int n) { return n; }")
    assert hottest_loop([function for _, function in program.functions()], ()) is None
