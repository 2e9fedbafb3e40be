"""Where a loop uses a variable, and along which chains of loops."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.uses import chains, element_of, find_declared_in, mentions, uses, variable
from warpsmith.loops.place import LoopContext
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE, INT, VOID, Array, Pointer, Scalar, Type

TEXT = """
void sink(double *p);
double other;
void f(int n, double *x, double (*a)[8])
{
    double w, row[8], grid[4][8];
    int i, t;
    for (i = 0; i < n; i++) {
        double mine = 1;
        w = x[i] + mine;
        for (int j = 0; j < 8; j++) { w += a[i][j]; row[j] = w; grid[1][j] = row[j]; }
        for (int k = 0; k < 8; k++) { if (k > 2) for (int l = 0; l < 2; l++) row[l] = k; }
        sink(row);
        { double other = 2; x[i] = other; }
        x[i] += other;
    }
    for (t = 0; t < n; t++) { for (int j = 0; j < t; j++) w = j; for (int k = 0; k < 3; k++) x[k] = w; }
    for (int s = 0; s < n; s++) { w = s; for (int j = 0; j < w; j++) x[j] = 1; }
    { double *p = &w; x[0] = *p; }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("uses"))


def loop(program: Analyzed, address: str) -> For:
    return LoopContext.of(program.program, address).require_counted()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("w", "w"), ("x", "x"), ("row", "row"),
        ("mine", "each iteration already has its own mine"),
        ("j", "each iteration already has its own j"),
        ("other", "other names more than one variable in this loop"),
        ("z", "the loop uses no variable z (it uses a, grid, "),
        ("sink", "the loop uses no variable sink"),
    ],
)  # fmt: skip
def test_the_variable_of_a_name(name: str, found: str, program: Analyzed) -> None:
    answer = variable(LoopContext.of(program.program, "f/i"), name)
    assert (answer.text if isinstance(answer, Reason) else answer.name).startswith(found)


def test_what_each_iteration_makes_anew(program: Analyzed) -> None:
    assert {s.name for s in find_declared_in(loop(program, "f/i"))} == {"mine", "j", "k", "l", "other"}
    assert "s" in {s.name for s in find_declared_in(loop(program, "f/s"))}


@pytest.mark.parametrize(
    ("name", "rank", "texts"),
    [
        ("w", 0, ["w", "w", "w"]),
        ("x", 1, ["x[i]", "x[i]", "x[i]"]),
        ("grid", 2, ["grid[1][j]"]),
        ("a", 2, ["a[i][j]"]),
        # an array as an argument, and a counter
        ("row", 1, None), ("i", 0, None),
    ],
)  # fmt: skip
def test_every_use_of_a_whole_value(name: str, rank: int, texts: list[str] | None, program: Analyzed) -> None:
    found = uses(loop(program, "f/i"), program.symbol(name), rank)
    if texts is None:
        assert isinstance(found, Reason) and "is used as a whole, or its address is taken" in found.text
    else:
        assert not isinstance(found, Reason) and [print_expr(use.node) for use in found] == texts
        assert all(len(use.subscripts) == rank for use in found)


def test_an_address_is_no_use_of_a_value(program: Analyzed) -> None:
    assert isinstance(uses(program.statement("{ double *p"), program.symbol("w"), 0), Reason)


def shown(program: Analyzed, address: str, name: str, depth: int) -> str | list[tuple[str, bool]]:
    found = chains(loop(program, address), program.symbol(name), depth)
    if isinstance(found, Reason):
        return found.text
    return [(" ".join(one.variable.name for one in chain.loops), chain.straight) for chain in found]


def test_chains_of_loops_with_all_uses(program: Analyzed) -> None:
    assert shown(program, "f/i", "w", 1) == [("i", True)]
    assert shown(program, "f/t", "w", 2) == [("t j", True), ("t k", True)]
    assert shown(program, "f/i/k", "row", 2) == [("k l", False)]  # under a condition
    assert shown(program, "f/i", "w", 2) == "w is used outside the loops inside i"
    assert shown(program, "f/s", "w", 2) == "w is used outside the loops inside s"
    assert shown(program, "f/s", "n", 1) == "the loop's own bounds use n"


def test_what_names_a_variable(program: Analyzed) -> None:
    i = program.symbol("i")
    assert mentions(program.statement("for (i = 0"), i) and not mentions(program.statement("sink(row)"), i)


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (INT, (INT, 0)), (Array(Array(DOUBLE, None, 4), None, 4), (DOUBLE, 2)), (Pointer(DOUBLE), (DOUBLE, 1)),
        (Pointer(Array(DOUBLE, None, 4)), (DOUBLE, 2)), (Pointer(Pointer(DOUBLE)), None), (VOID, None),
        (Scalar("int", 32, "signed", volatile=True), None), (Array(Pointer(DOUBLE), None, 3), None),
    ],
)  # fmt: skip
def test_what_a_variable_holds(type: Type, expected: tuple[Scalar, int] | None) -> None:
    assert element_of(type) == expected
