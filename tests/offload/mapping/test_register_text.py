"""Bodies of several iterations a thread, as text; tests/random_programs/test_tiled.py judges what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.register_text import write_elements
from warpsmith.offload.mapping.tile_shape import TileBlock, TileShape
from warpsmith.offload.mapping.tiled_text import TiledBody
from warpsmith.offload.mapping.tiles import TileSearch, find_shared_reads
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import nothing, print_stmt

HEAD = (
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][m], double B[restrict m][n],"
    " double *restrict x, double alpha)\n"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
LOOP = "for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j];"


def write(text: str, folder: Path, elements: tuple[int, int, int] = (2, 2, 1), head: str = HEAD) -> TiledBody | Reason:
    """Write the body of the first nest, all that may be shared in tiles, elements of C in memory."""
    program = analyzed(f"{head}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    search = TileSearch(request, OffloadRegion((request.facts.function.body,), (draft,), (), ()), draft, heads)
    found = find_shared_reads(search)
    assert isinstance(found, tuple)
    chosen = {one.loop: one.reads for one in found if one.reads}
    block = TileBlock(heads, ("y", "x"), (8, 4, 1), elements)
    shape = TileShape(block, dict.fromkeys(chosen, 8), chosen)
    return write_elements(heads[-1].body, shape, found, OwnVariables(request, "ws_f_k1"), search)


def text_of(made: TiledBody | Reason) -> str:
    assert isinstance(made, TiledBody), made
    return " ".join(print_stmt(made.body, known=nothing).split())


EACH = "#pragma unroll for (int {0} = 0; {0} < 2; {0}++)"
ROW = f"{EACH.format('row')} {{ const int i_at = i_first + row;"
COLUMN = f"{EACH.format('column')} {{ const int j_at = j_first + column * 8;"


def test_a_product(tmp_path: Path) -> None:
    made = write(f"{ROWS} {LOOP}", tmp_path)
    text = text_of(made)
    assert text.startswith(
        "{ const int thread = i_in * 8 + j_in;"
        " const _Bool whole = (long long)(i_first - i_in * 2) + 7 < n && (long long)(j_first - j_in) + 15 < n;"
    )
    assert (
        "if (whole) { #pragma unroll 4 for (int k_in = 0; k_in < k_last; k_in++) {"
        f" double B_tile_read[2]; {EACH.format('column')} B_tile_read[column] = B_tile[k_in][j_in + column * 8];"
        f" {ROW} const double A_tile_read = A_tile[i_in * 2 + row][k_in];"
        f" {COLUMN} C[i_at][j_at] += A_tile_read * B_tile_read[column]; }} }} }} }}"
    ) in text
    assert (
        f"else for (int k_in = 0; k_in < k_last; k_in++) {{ {ROW} {COLUMN}"
        " if (i_at < n && j_at < n) C[i_at][j_at] += A_tile[i_in * 2 + row][k_in] * B_tile[k_in][j_in + column * 8];"
    ) in text
    assert isinstance(made, TiledBody) and made.inside is None and made.elements == (2, 2, 1)
    assert [(counter.name, first.name) for counter, first in made.firsts.items()] == [
        ("i", "i_first"),
        ("j", "j_first"),
    ]


def test_the_tile_covers_all_iterations(tmp_path: Path) -> None:
    made = write(f"{ROWS} {LOOP}", tmp_path, (4, 2, 1))
    text = text_of(made)
    assert "const int i_at = i_first - i_in * 2 + row" in text or "i_first - i_in * 2 + i_in" in text
    assert "B_tile[row][thread % 32]" in text and "j_first - j_in + thread % 32" in text


def test_each_iteration_has_its_own_variables(tmp_path: Path) -> None:
    body = "double s = x[i], t; for (int k = 0; k < m; k++) s += B[k][j]; t = s; C[i][j] = t;"
    text = text_of(write(f"{ROWS} {{ {body} }}", tmp_path, (2, 1, 1)))
    assert f"double s[2]; {COLUMN} s[column] = i < n && j_at < n ? x[i] : 0; }} double t[2];" in text
    assert f"{COLUMN} if (i < n && j_at < n) {{ t[column] = s[column]; C[i][j_at] = t[column]; }}" in text
    assert f"{EACH.format('column')} s[column] += B_tile_read[column];" in text


SUM = "{0} s = 0; for (int k = 0; k < m; k++) s += {1}; C[i][j] = s;"


def test_iterations_that_only_compute_are_not_tested(tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} {{ {SUM.format('double', 'A[i][k] * B[k][j] / alpha')} }}", tmp_path))
    assert "whole" not in text and "s[row][column] += A_tile_read * B_tile_read[column] / alpha;" in text
    # what nobody loads is read all the same
    assert "B_tile[row][thread % 16] = B[(int)k_at][j_at]; else B_tile[row][thread % 16] = 0;" in text
    assert f"{COLUMN} if (i_at < n && j_at < n) C[i_at][j_at] = s[row][column]; }}" in text


@pytest.mark.parametrize(
    "nest",
    [
        LOOP,
        f"{{ {SUM.format('int', 'A[i][k] * B[k][j]')} }}",
        f"{{ {SUM.format('double', 'A[i][k] * B[k][j] * (3 / m)')} }}",
        f"{{ {SUM.format('double', 'A[i][k] * B[k][j] * x[3 * j]')} }}",
        f"{{ {SUM.format('double', 'A[i][k] > 0 ? B[k][j] : 1')} }}",
        "{ double s = 0; if (j > 3) for (int k = 0; k < m; k++) s += A[i][k] * B[k][j]; C[i][j] = s; }",
    ],
)
def test_all_other_iterations_are_tested(nest: str, tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} {nest}", tmp_path))
    assert "if (whole" in text and "else A_tile" not in text and "else B_tile" not in text


def test_variables_of_the_function_are_each_iterations_own(tmp_path: Path) -> None:
    text = text_of(write(f"double s; int k; {ROWS} {{ s = 0; {LOOP.replace('int k', 'k')} C[i][j] += s; }}", tmp_path))
    assert f"double s[2][2]; {ROW} {COLUMN} if (i_at < n && j_at < n) s[row][column] = 0; }}" in text


def test_conditions_of_an_iteration_and_of_all(tmp_path: Path) -> None:
    own = text_of(write(f"{ROWS} if (j > 3) {LOOP}", tmp_path, (2, 1, 1)))
    assert (
        f"_Bool enters[2]; _Bool whole2 = 1; {COLUMN} enters[column] = i < n && j_at < n && j_at > 3;"
        " whole2 = whole2 && enters[column]; }"
    ) in own
    assert "if (whole2) {" in own and "if (enters[column]) C[i][j_at] +=" in own
    alike = text_of(write(f"{ROWS} if (m > 3) {LOOP}", tmp_path, (2, 1, 1)))
    assert "if (m > 3)" in alike and "enters" not in alike


def test_triangles_and_starts_elsewhere(tmp_path: Path) -> None:
    text = text_of(write(f"for (int i = m; i < n; i++) for (int j = 0; j <= i; j++) {LOOP}", tmp_path))
    assert "const int i_at = (int)((unsigned int)i_first + row);" in text
    assert "(long long)(j_first - j_in) + 15 <= (long long)(int)((unsigned int)i_first - i_in * 2);" in text
    assert "if (m <= i_at && i_at < n && j_at <= i_at) C[i_at][j_at] +=" in text


def test_products_with_a_value_are_in_the_tile(tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} {LOOP.replace('A[i][k] *', 'alpha * A[i][k] *')}", tmp_path))
    assert "= alpha * A[i_at][(int)k_at];" in text and "C[i_at][j_at] += A_tile_read * B_tile_read[column];" in text
    added = text_of(write(f"{ROWS} {LOOP.replace('A[i][k] *', 'alpha * A[i][k] +')}", tmp_path))
    assert "C[i_at][j_at] += alpha * A_tile_read + B_tile_read[column];" in added


@pytest.mark.parametrize(
    ("nest", "why"),
    [
        (
            f"{ROWS} for (int k = 0; k <= i; k++) C[i][j] += B[k][j];",
            "runs differently for the iterations of one thread",
        ),
        (f"for (int i = 0; i < n; i += 2) for (int j = 0; j < n; j++) {LOOP}", "does not count up by one"),
        (f"for (int i = 0; i < (unsigned)n; i++) for (int j = 0; j < n; j++) {LOOP}", "numbers of another kind"),
        (f"{ROWS} {{ double s[2]; {LOOP} s[0] = 1; C[i][j] += s[0]; }}", "s is more than a number"),
    ],
)
def test_what_cannot_be_written(nest: str, why: str, tmp_path: Path) -> None:
    made = write(nest, tmp_path)
    assert isinstance(made, Reason) and why in made.text
