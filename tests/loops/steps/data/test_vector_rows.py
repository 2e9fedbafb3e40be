"""Rows of vectors of vectors: gathered where nothing changes a vector, and left where one is changed or used whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.loops.steps.data.vector_rows import VectorRows
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.allocations import is_vector_question
from warpsmith.tree.nodes import DeclStmt
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

HEAD = """#include <array>
#include <utility>
#include <vector>
struct P { float x, y; };
struct Grid { int n; std::vector<std::vector<double>> cells; };
using Matrix = std::vector<std::vector<double>>;
void look(const std::vector<double> &row); void grow(Matrix &m);
static double first(const std::vector<double> &row) { return row[0]; }
static double sum(const std::vector<double> &row) { double s = 0; for (double x : row) s += x; return s; }
static void add(Matrix &m) { m.push_back(std::vector<double>(3)); }
"""
PARAMETERS = (
    "int n, int m, Matrix &a, const Matrix &b, std::vector<double> &y, std::vector<std::vector<bool>> &bits, Grid &g, "
    "Grid *p, std::vector<std::vector<P>> &points, std::vector<std::vector<std::vector<int>>> &cube, "
    "std::vector<std::vector<int *>> &links, std::array<std::vector<double>, 9> &nine"
)


def _load(statements: str, folder: Path) -> Program:
    path = folder / "rows.cpp"
    path.write_text(f"{HEAD}std::vector<int> table[9];\nvoid f({PARAMETERS})\n{{\n{statements}\n}}\n")
    return load_program([str(path)], FrontOptions()).program


def _verdict(statements: str, folder: Path) -> Verdict:
    program = _load(statements, folder)
    return VectorRows("f/i").check(program, Facts.about(program, PolyOptions()))


def _gathered(statements: str, folder: Path) -> list[str]:
    """Return the declarations that the step makes, as text."""
    program = _load(statements, folder)
    assert isinstance(_verdict(statements, folder), Proved)
    function = next(f for _, f in VectorRows("f/i").apply(program).functions() if f.symbol.name == "f")
    made = (d for part in walk(function.body) if isinstance(part, DeclStmt) for d in part.declarations)
    calls = ((d.symbol.name, d.init) for d in made if d.init is not None and "_" in d.symbol.name)
    return [f"{name} = {print_expr(init, nothing)}" for name, init in calls]


LOOP = "for (int i = 0; i < n; i++) {{ {} }}"
TAKEN: dict[str, list[str]] = {
    "y[i] = a[i][0] + a[i][m];": ["a_rows = ws_vector_rows(a.data(), a.size())"],
    "a[i][m] = b[i + 1][0]; y[i] = a[0][i];": [
        "a_rows = ws_vector_rows(a.data(), a.size())",
        "b_rows = ws_vector_rows(b.data(), b.size())",
    ],
    "for (std::size_t j = 0; j < a[i].size(); j++) y[i] += a[i][j];": [
        "a_rows = ws_vector_rows(a.data(), a.size())",
        "a_sizes = ws_vector_sizes(a.data(), a.size())",
    ],
    "y[i] = a[i].size();": ["a_sizes = ws_vector_sizes(a.data(), a.size())"],
    # the size of one row is a number
    "for (std::size_t j = 0; j < a[0].size(); j++) y[i] += a[i][j];": ["a_rows = ws_vector_rows(a.data(), a.size())"],
    "const auto &row = a[i]; y[i] = row[0] + row.size();": [
        "a_rows = ws_vector_rows(a.data(), a.size())",
        "a_sizes = ws_vector_sizes(a.data(), a.size())",
    ],
    "double *row = a[i].data(); row[m] = 1;": ["a_rows = ws_vector_rows(a.data(), a.size())"],
    # what a short function returns stands there already
    "y[i] = first(a[i]) + a[i][1];": ["a_rows = ws_vector_rows(a.data(), a.size())"],
    "g.cells[i][m] = 2;": ["cells_rows = ws_vector_rows(g.cells.data(), g.cells.size())"],
    "points[i][m].x = points[i][0].y;": ["points_rows = ws_vector_rows(points.data(), points.size())"],
    "table[i][0] = i;": ["table_rows = ws_vector_rows(table, 9)"],
    "cube[2][i][m] = i;": [
        "cube_rows = ws_vector_rows(0 < n ? cube.data()[2].data() : 0, 0 < n ? cube.data()[2].size() : 0)",
    ],
    "p->cells[i][m] = 2;": [
        "cells_rows = ws_vector_rows(0 < n ? p->cells.data() : 0, 0 < n ? p->cells.size() : 0)",
    ],
}


@pytest.mark.parametrize("body", TAKEN)
def test_what_the_loop_goes_through_is_gathered(body: str, tmp_path: Path) -> None:
    assert _gathered(LOOP.format(body), tmp_path) == TAKEN[body]


LEFT: dict[str, str] = {
    "a[i].resize(m); a[i][0] = 1;": "may change in the loop",
    "a[i].push_back(m); a[i][0] = 1;": "may change in the loop",
    "a[i] = a[0]; a[i][0] = 1;": "may change in the loop",
    "a[i] = b[0]; a[i][0] = 1;": "may change in the loop",
    "std::swap(a[i], a[m]); a[i][0] = 1;": "may change in the loop",
    "a[i].swap(y); a[i][0] = 1;": "may change in the loop",
    "a.swap(g.cells); a[i][0] = 1;": "may change in the loop",
    "auto &row = a[i]; row.push_back(2); a[i][0] = 1;": "may change in the loop",
    "std::vector<double> *row = &a[i]; row->clear(); a[i][0] = 1;": "may change in the loop",
    "grow(a); a[i][0] = 1;": "may change in the loop",
    "add(a); a[i][0] = 1;": "may change in the loop",
    "p->cells.clear(); a[i][0] = 1;": "may change in the loop",
    "look(a[i]); a[i][0] = 1;": "",
    "y[i] = sum(a[i]) + a[i][1];": "is used as a whole",
    "y[i] = a[i].at(0);": "",
    "a.at(i)[0] = 1;": "checked: only subscripts are rows",
    "if (bits[i][0]) y[i] = 1;": "goes through no vectors",
    "cube[i][0][m] = 1;": "goes through no vectors",
    "links[i][0] = nullptr;": "goes through no vectors",
    "nine[i][0] = 1;": "goes through no vectors",
    "y[i] = a[2][i];": "goes through no vectors",
    "y[i] = a.size();": "goes through no vectors",
    "if (m > 3) p->cells[i][m] = 2;": "may never be read",
}


@pytest.mark.parametrize("body", LEFT)
def test_what_may_change_or_is_used_otherwise_is_left(body: str, tmp_path: Path) -> None:
    found = _verdict(LOOP.format(body), tmp_path)
    if body == "y[i] = a[i].at(0);":
        # the row is there whatever its own subscript is tested for
        assert isinstance(found, Proved)
        return
    assert isinstance(found, Unknown), found
    assert LEFT[body] in " ".join(reason.text for reason in found.reasons)


def test_arrays_serve_the_next_loop_where_nothing_changed_a_row(tmp_path: Path) -> None:
    def loops_of(between: str) -> int:
        program = _load(f"{LOOP.format('a[i][0] = 1;')} {between} {LOOP.format('a[i][0] += a[i][m];')}", tmp_path)
        for address in ("f/i", "f/i#2"):
            program = VectorRows(address).apply(program)
        function = next(f for _, f in program.functions() if f.symbol.name == "f")
        return sum(
            any(map(is_vector_question, walk(part))) for part in walk(function.body) if isinstance(part, DeclStmt)
        )

    assert [loops_of(text) for text in ("", "y[0] = a[0][1];", "a[1].push_back(2);", "std::swap(a[1], a[2]);")] == [
        1, 1, 2, 2,
    ]  # fmt: skip


def test_row_starts_go_on_from_there(tmp_path: Path) -> None:
    program = _load(LOOP.format("for (int j = 0; j < m; j++) a[i][j] = b[i][j];"), tmp_path)
    after = VectorRows("f/i").apply(program)
    assert isinstance(RowStarts("f/i").check(after, Facts.about(after, PolyOptions())), Proved)
    assert isinstance(RowStarts("f/i").check(program, Facts.about(program, PolyOptions())), Unknown)


def test_a_port_with_arrays_of_sizes_is_no_program_for_more(tmp_path: Path) -> None:
    text = "int ws_vector_sizes = 0; y[0] = ws_vector_sizes; "
    assert isinstance(_verdict(text + LOOP.format("y[i] = a[i].size();"), tmp_path), Unknown)
    assert isinstance(_verdict(text + LOOP.format("y[i] = a[i][0];"), tmp_path), Proved)
