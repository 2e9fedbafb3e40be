"""Variables that hold a row, taken out of a loop."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.row_pointers import hide_row_pointers
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_stmt

CASES = {
    "plain": (
        "double *row = a[i]; for (int j = 0; j < m; j++) row[j] += j;",
        "{ for (int j = 0; j < m; j++) a[i][j] += j; }",
    ),
    "two": ("double *row = a[i], *next = a[i + 1]; row[0] = next[0];", "{ a[i][0] = a[i + 1][0]; }"),
    "beside": ("double *row = a[m - 2], s = 1; row[i] = s;", "{ double s = 1; a[m - 2][i] = s; }"),
    # set twice, used as a whole, of a subscript that moves or is read from memory
    "moved": ("double *row = a[i]; row = a[0]; row[0] = 1;", None),
    "walked": ("double *row = a[i]; *row++ = 1;", None),
    "given": ("double *row = a[i]; sink(row);", None),
    "shifting": ("int k = i; double *row = a[k]; k = 2; row[0] = k;", None),
    "loaded": ("double *row = a[at[i]]; row[0] = 1;", None),
    "counter": ("double *row = a[w]; for (w = 0; w < 3; w++) row[w] = 1;", None),
    "static": ("double *row = a[shared]; row[0] = 1;", None),
    "inner": ("double *row = a[i]; double *other = row; other[0] = 1;", None),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    head = "void sink(double *);\nstatic int shared;\n"
    given = "int n, int m, int w, double **a, const int *at"
    parts = (
        f"void t_{name}({given}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}\n" for name, (body, _) in CASES.items()
    )
    return analyzed(head + "".join(parts), tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize("name", CASES)
def test_a_row_that_stays_the_same_is_written_out(name: str, program: Analyzed) -> None:
    loop = program.find("for", For, f"t_{name}")
    made = hide_row_pointers(loop, frozenset())
    text = " ".join(print_stmt(made).split()).partition("i++) ")[2]
    assert (None if made is loop else text) == CASES[name][1]


def test_what_something_else_may_change_is_left_alone(program: Analyzed) -> None:
    loop = program.find("for", For, "t_plain")
    assert hide_row_pointers(loop, frozenset({program.symbol("row", "t_plain")})) is loop
    assert hide_row_pointers(loop, frozenset({program.symbol("i", "t_plain")})) is loop
