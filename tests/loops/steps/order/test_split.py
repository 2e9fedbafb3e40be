"""Index-set splitting: clamps only where needed, parameters checked, pieces that become parallel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import Asked, one, verdicts
from tests.loops.steps.twins import function_text, joined
from warpsmith.loops.steps.order.split import Split

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
REFUSALS: dict[str, Asked] = {
    "an unknown name": (f"int pivot = m; {LOOP} x[pivot] = 1;", lambda f: Split(f"{f}/i", "pivto")),
    "its own counter": (LOOP, lambda f: Split(f"{f}/i", "i")),
    "a product of variables": (LOOP, lambda f: Split(f"{f}/i", "n*m")),
    "a broken expression": (LOOP, lambda f: Split(f"{f}/i", "(k + 1")),
    "what the loop writes": (
        "int q = 1; for (int i = 0; i < n; i++) { x[i] = q; q = 2; }",
        lambda f: Split(f"{f}/i", "q"),
    ),
    "a value that may overflow": (LOOP, lambda f: Split(f"{f}/i", "k + 1")),
    "a name declared later": (f"{LOOP} int late = n; x[late] = 1;", lambda f: Split(f"{f}/i", "late")),
}
STEPPED: dict[str, Asked] = {
    "another step": ("for (int i = 0; i < n; i += 2) x[i] += 1;", lambda f: Split(f"{f}/i", "k")),
    "a loop left early": (
        "for (int i = 0; i < n; i++) { x[i] = 1; if (x[i] > y[i]) return; }",
        lambda f: Split(f"{f}/i", "k"),
    ),
    "a static variable": ("for (int i = 0; i < n; i++) { static int c; x[i] = c++; }", lambda f: Split(f"{f}/i", "k")),
}


def test_parameters_are_checked(tmp_path: Path) -> None:
    found = verdicts(REFUSALS, tmp_path)
    assert {rule for rule, _, _ in found.values()} == {"STP003"}, found
    assert "did you mean pivot?" in found["an unknown name"][1]
    assert "is missing" in found["a broken expression"][1]
    assert {rule for rule, _, _ in verdicts(STEPPED, tmp_path).values()} == {"STP002"}


@pytest.mark.parametrize(
    ("at", "single", "expected"),
    [
        (
            "k",
            False,
            "for (int i = 0; i < (k < n ? k : n); i++) x[i] += 1; for (int i = k < 0 ? 0 : k; i < n; i++) x[i]",
        ),
        ("3", False, "for (int i = 0; i < (3 < n ? 3 : n); i++) x[i] += 1; for (int i = 3; i < n; i++) x[i] += 1;"),
        ("3", True, "if (3 < n) x[3] += 1; for (int i = 3 < n ? 4 : n; i < n; i++) x[i] += 1;"),
    ],
)
def test_bounds_are_clamped_where_the_value_may_lie_outside(
    at: str, single: bool, expected: str, tmp_path: Path
) -> None:
    original = one(LOOP + "\n", tmp_path)
    after = original.proved(Split("F/i", at, single))
    text = " ".join(joined(function_text("F", LOOP + "\n"), [after], {"F": original}).split())
    assert expected in text, text


def test_the_pivot_row_and_column_leave_parallel_pieces(tmp_path: Path) -> None:
    body = (
        "for (int l = 0; l < n; l++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " a[i][j] = a[i][j] < a[i][l] + a[l][j] ? a[i][j] : a[i][l] + a[l][j];"
    )
    stand = one(body, tmp_path)
    assert stand.loops()["F/l/i"].category != "parallel"
    after = stand.proved(Split("F/l/i/j", "l", single=True), Split("F/l/i", "l", single=True))
    categories = {name: facts.category for name, facts in after.loops().items()}
    assert categories.pop("F/l") != "parallel"
    assert set(categories.values()) == {"parallel"}, categories
