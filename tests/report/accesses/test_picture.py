"""Pictures of patterns."""

from __future__ import annotations

from tests.poly.patterns.test_nest import spaces
from warpsmith.report.accesses.picture import PatternPicture, draw_pattern

_NEST = """double t[4][9][6][6]; void f(int n, double a[n][n], double *x, const int *k) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) %s = 0; }"""


def _drawn(reference: str) -> PatternPicture | None:
    (space,) = spaces(_NEST % reference, "f/i")
    (found,) = (r for r in space.references if r.writes)
    return draw_pattern(found)


def _orders(picture: PatternPicture | None, columns: int) -> list[list[int]]:
    assert picture is not None
    orders = [cell.order for cell in picture.cells]
    return [orders[k : k + columns] for k in range(0, len(orders), columns)]


def test_the_order_of_the_elements() -> None:
    assert _orders(_drawn("a[i][j]"), 6) == [list(range(6 * k + 1, 6 * k + 7)) for k in range(6)]
    assert _orders(_drawn("a[j][i]"), 6) == [list(range(k + 1, 37, 6)) for k in range(6)]
    assert _orders(_drawn("x[2*j]"), 11) == [[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]]


def test_the_later_the_darker() -> None:
    picture = _drawn("x[j]")
    assert picture is not None and [cell.step for cell in picture.cells] == [1, 1, 2, 3, 3, 4]


def test_of_many_dimensions_the_last_two_are_drawn() -> None:
    assert _orders(_drawn("t[i][0][j][2]"), 3) == [[0, 0, k + 1] for k in range(6)]


def test_of_a_large_array_the_beginning_is_drawn() -> None:
    orders = _orders(_drawn("a[i][8 * j + i]"), 14)
    assert orders[0] == [1, *[0] * 7, 2, *[0] * 5] and orders[5][5::8] == [31, 32] and len(orders) == 6


def test_what_cannot_be_drawn() -> None:
    assert _drawn("x[k[j]]") is None and _drawn("x[9 * j]") is None
