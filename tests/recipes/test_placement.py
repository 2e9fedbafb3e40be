"""The planner's decisions, as steps that make the same port again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.cases import TWO, after, everything, mapping, port_text, prepared, written
from warpsmith.loops.step import step_text
from warpsmith.recipes.placement import placing_steps, recorded_steps
from warpsmith.recipes.replay import apply_steps
from warpsmith.recipes.transforms import transforms


def test_kernels_become_steps_in_the_plans_order(tmp_path: Path) -> None:
    made = prepared(tmp_path, TWO)
    plan = written(made).port.plan
    texts = [step_text(step) for step in placing_steps(plan)]
    assert len(texts) == len([f for f in plan.fragments if f.kind == "nest"]) >= 1
    assert all(text.startswith(("map=f/", "offload=f/")) for text in texts)
    assert all("axes=" in text and "block=" in text for text in texts if text.startswith("map="))


def test_they_make_the_same_port_again(tmp_path: Path) -> None:
    made = prepared(tmp_path, TWO)
    steps = recorded_steps([], written(made).port.plan)
    again = apply_steps(prepared(tmp_path, TWO), transforms(tuple(step_text(step) for step in steps)))
    assert mapping(again, only=True) == mapping(made)


PRODUCT = (
    "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n])\n{\n"
    "    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\n"
    "        for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];\n}\n"
)


def test_tiles_and_the_iterations_of_a_thread_are_steps(tmp_path: Path) -> None:
    texts = [step_text(step) for step in placing_steps(written(prepared(tmp_path, PRODUCT)).port.plan)]
    assert texts == [
        "map=f/i,axes=y:x,block=16:8",
        "shared-tile=f/i/j/k,arrays=A:B",
        "register-tile=f/i/j/k",
    ]
    (kernel,) = (f.kernel for f in written(after(tmp_path, PRODUCT, *texts)).port.plan.fragments)
    assert (kernel.block, kernel.elements) == ((16, 8, 1), (4, 8, 1))
    few = after(tmp_path, PRODUCT, "register-tile=f/i/j/k,rows=1,columns=1")
    recorded = recorded_steps([one.step for one in few.applied], written(few).port.plan)
    assert "register-tile" in [step.name for step in recorded]


CROSS = (
    "void f(int n, double B[restrict n][n], double A[restrict n][n])\n{\n"
    "    for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) B[i][j] = A[i][j] + A[i - 1][j] + A[i][j - 1];\n}\n"
)


def test_halos_are_steps(tmp_path: Path) -> None:
    made = after(tmp_path, CROSS, "halo-tile=f/i")
    recorded = recorded_steps([one.step for one in made.applied], written(made).port.plan)
    texts = [step_text(step) for step in recorded]
    assert texts == ["map=f/i,axes=y:x,block=32:8", "halo-tile=f/i,arrays=A"]
    again = written(after(tmp_path, CROSS, *texts)).port.plan
    assert again.fragments[0].halos == written(made).port.plan.fragments[0].halos != ()


def test_earlier_places_are_left_out_and_other_steps_stay(tmp_path: Path) -> None:
    made = after(tmp_path, TWO, "interchange=f/i", "map=f/j,axes=x", "keep=f/i")
    applied = [one.step for one in made.applied]
    assert [step.name for step in recorded_steps(applied, None)] == ["interchange", "map", "keep"]
    recorded = recorded_steps(applied, written(made).port.plan)
    assert [step.name for step in recorded] == ["interchange", "keep", "map"]
    assert recorded[:2] == (applied[0], applied[2])


SUMS = """
void f(int n, int m, double A[restrict n][m], double *restrict y, double *restrict z, const double *restrict x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += A[i][j] * x[j];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            z[j] += A[i][j] * x[i];
}
"""


@pytest.mark.parametrize(
    "options", [(), ("share-loop=f/i/j,by=none",), ("map=f/i,axes=x,block=64", "share-loop=f/i/j")]
)
def test_what_the_port_chooses_by_itself_is_chosen_again(options: tuple[str, ...], tmp_path: Path) -> None:
    made = after(tmp_path, SUMS, *options)
    kernels = [fragment.kernel for fragment in written(made).port.plan.fragments]
    assert [kernel.sharing is None for kernel in kernels] == ["by=none" in "".join(options), False]
    assert [bool(kernel.few) for kernel in kernels] == ["map=" not in "".join(options), True]
    texts = [step_text(step) for step in everything(made)]
    assert port_text(after(tmp_path, SUMS, *texts), only=True) == port_text(made)
