"""Tiling: what is refused and why, and tiles at the edges of triangles."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, one, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.loops.steps.order.tile import Tile

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
WRONG: Misfits = {
    "no sizes": ("", (LOOP, lambda f: Tile(f"{f}/i", ()))),
    "a size of one": ("", (LOOP, lambda f: Tile(f"{f}/i", (1,)))),
    "a negative size": ("", (LOOP, lambda f: Tile(f"{f}/i", (-4,)))),
}
MISFITS: Misfits = {
    "more sizes than loops": ("2 sizes are given", (LOOP, lambda f: Tile(f"{f}/i", (4, 4)))),
    "a nest that is not perfect": (
        "2 sizes are given",
        (
            "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < m; j++) a[i][j] = 1; }",
            lambda f: Tile(f"{f}/i", (4, 4)),
        ),
    ),
}


def test_wrong_values_are_told(tmp_path: Path) -> None:
    assert wrongly_answered(WRONG, tmp_path, "STP003") == {}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


def test_a_dependence_that_would_turn_around_is_shown(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i - 1][j + 1];"
    verdict = one(body, tmp_path).check(Tile("F/i", (4, 4)))
    assert isinstance(verdict, Refuted), verdict
    assert verdict.reasons[0].rule == "STP001" and verdict.reasons[0].dependence is not None


def test_skewed_dependences_allow_tiles(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] = a[i - 1][j - 1] + a[i][j - 1];"
    assert isinstance(one(body, tmp_path).check(Tile("F/i", (4, 4))), Proved)


SAME: tuple[tuple[str, Steps], ...] = (
    (
        "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] = a[i - 1][j - 1] + a[i][j - 1];",
        lambda f: (Tile(f"{f}/i", (4, 3)),),
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = i; j <= i + k; j++) a[i][j & 31] += b[j & 7][i];",
        lambda f: (Tile(f"{f}/i", (3, 2)),),
    ),
)


def test_tiles_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
