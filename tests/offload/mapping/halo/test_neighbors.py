"""Which references are neighbors of a thread's own element."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.halo.made import ROWS, find
from warpsmith.tree.printing.printer import print_expr, show_expression


def reach(text: str, folder: Path) -> dict[str, dict[str, tuple[int, int]]]:
    """Return how far each array is read along each counter."""
    found = find(text, folder)
    return {read.array: {loop.variable.name: ends for loop, ends in read.reach.items()} for read in found.reads}


def test_a_cross(tmp_path: Path) -> None:
    text = f"{ROWS} B[i][j] = A[i][j] + A[i - 1][j] + A[1 + i][j] + A[i][j - 2] + A[i][j + 1];"
    (read,) = find(text, tmp_path).reads
    assert reach(text, tmp_path) == {"A": {"i": (-1, 1), "j": (-2, 1)}}
    assert [loop.variable.name for loop in read.by] == ["i", "j"] and read.narrow and len(read.nodes) == 5
    assert read.condition is not None
    pieces = {frozenset(piece.strip("()").split(" && ")) for piece in print_expr(read.condition).split(" || ")}
    assert pieces == {
        frozenset({"i >= 0", "i < n", "j >= 2", "j <= m - 2"}),
        frozenset({"i >= 1", "i <= n - 2", "j >= 0", "j < m"}),
    }


def test_a_square_is_one_piece(tmp_path: Path) -> None:
    terms = " + ".join(f"A[i + {a} - 1][j - {b}]" for a in range(3) for b in range(3))
    (read,) = find(f"{ROWS} B[i][j] = {terms};", tmp_path).reads
    assert read.condition is not None and "||" not in print_expr(read.condition)


def test_several_arrays_and_several_groups_of_one(tmp_path: Path) -> None:
    text = (
        f"{ROWS} B[i][j] = A[i][j] + A[i][j - 1] + D[i - 1][j] + D[i][j] + y[2 * j] + y[2 * j - 1] + x[j] + x[j - 2];"
    )
    found = reach(text, tmp_path)
    # elements of y that lie between those of one reference belong to no other
    assert found == {"A": {"i": (0, 0), "j": (-1, 0)}, "D": {"i": (-1, 0), "j": (0, 0)}, "x": {"j": (-2, 0)}}


def test_rows_in_one_subscript(tmp_path: Path) -> None:
    text = f"{ROWS} B[i][j] = y[(i - 1) * m + j] + y[i * m + j + 1] + y[i * m + j - m];"
    found = find(text, tmp_path)
    (read,) = found.reads
    assert reach(text, tmp_path) == {"y": {"i": (-1, 0), "j": (0, 1)}} and not read.narrow
    at = dict.fromkeys(read.by, read.nodes[0])
    assert show_expression(read.write(at)).startswith("y[")


def test_windows_of_loops_inside(tmp_path: Path) -> None:
    text = (
        f"{ROWS} {{ double s = 0; for (int a = -1; a <= 1; a++) for (int b = 0; b < 3; b++)"
        " s += A[i - a][j - b]; B[i][j] = s; }"
    )
    assert reach(text, tmp_path) == {"A": {"i": (-1, 1), "j": (-2, 0)}}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("A[i][j] = A[i - 1][j - 1] * 2;", None),
        ("B[i][j] = A[q[i]][j] + A[q[i]][j - 1];", "no sum of counters and parameters"),
        ("B[i][j] = A[i][i] + A[i][i - 1];", "one counter in two subscripts"),
        ("for (int a = 0; a < n; a++) B[i][j] = B[i][j] + x[j + a] + x[j + 1];", "is not a number"),
        ("if (D[i][j] > 0) B[i][j] = A[i][j] + A[i][j - 1];", "depends on data"),
    ],
)
def test_what_has_no_tile_says_why(body: str, why: str | None, tmp_path: Path) -> None:
    nest = ROWS if why is not None else "for (int i = 1; i < n - 1; i++) for (int j = 2; j < 3; j++)"
    text = body if why is not None else "A[i][2] = A[i][1] + A[i][0] + B[i][1] + B[i - 1][1];"
    found = find(f"{nest} {text}", tmp_path)
    if why is None:
        assert {read.array for read in found.reads} <= {"A", "B"}
    else:
        assert any(why in reason.text for reason in found.refused), found.refused


def test_what_is_written_meanwhile_is_refused_with_the_iteration(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < m - 9; j++) y[i * m + j] = y[i * m + m - 1 - j] + A[i][j];"
    found = find(text, tmp_path)
    assert not any(read.array == "y" for read in found.reads)


def test_one_place_is_no_neighborhood(tmp_path: Path) -> None:
    found = find(f"{ROWS} B[i][j] = A[i - 1][j] * A[i - 1][j] + x[i];", tmp_path)
    assert not found.reads and not found.refused
