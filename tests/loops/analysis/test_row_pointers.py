"""Variables that hold a row, taken out of a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.analysis.row_pointers import hide_row_pointers, hide_vector_references
from warpsmith.tree.nodes import Assign, For
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt
from warpsmith.tree.walk import walk

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


REFERENCES = {
    "plain": ("auto &row = a[i]; for (int j = 0; j < m; j++) row[j] += j;", "(&a.data()[i])->data()[j] += j"),
    "sizes": ("const auto &row = a[i + 1]; row_size = row.size();", "row_size = (&a.data()[i + 1])->size()"),
    "range": ("for (double &x : a[i]) x = 1;", "x = 1"),
    # given away, changed, of a subscript that moves, of no array, or checked
    "given": ("auto &row = a[i]; sink(row); row[0] = 1;", None),
    "changed": ("auto &row = a[i]; row.push_back(2); row[0] = 1;", None),
    "moved": ("auto *row = &a[i]; row = &a[0]; (*row)[0] = 1;", None),
    "shifting": ("int k = i; auto &row = a[k]; k = 2; row[0] = k;", None),
    "checked": ("auto &row = a.at(i); row[0] = 1;", None),
    "alone": ("auto &row = b; row[0] = 1;", None),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_the_vector(name: str, tmp_path: Path) -> None:
    body, wanted = REFERENCES[name]
    (tmp_path / "rows.cpp").write_text(
        "#include <vector>\nvoid sink(std::vector<double> &row);\n"
        "void f(int n, int m, unsigned long row_size, std::vector<std::vector<double>> &a, std::vector<double> &b)\n"
        f"{{ for (int i = 0; i < n; i++) {{ {body} }} }}\n"
    )
    program = load_program([str(tmp_path / "rows.cpp")], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    loop = next(part for part in walk(function.body) if isinstance(part, For))
    hidden = hide_vector_references(loop, frozenset(), lambda _: True)
    assert (hidden is not loop) == (wanted is not None and name != "range")
    assert hide_vector_references(loop, frozenset(), lambda _: False) is loop
    texts = [print_expr(part, nothing) for part in walk(hidden) if isinstance(part, Assign)]
    assert wanted is None or wanted in [text.replace("a->", "a.") for text in texts]
