"""Ports by DPoMAP: what is in tiles is what the algorithm puts there, and what no step can do says why."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from warpsmith.flows.placing.dpomap import port_by_dpomap
from warpsmith.flows.port import PortOptions, PortResult
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.report.placed import ArrayRow
from warpsmith.run.verification import VerifyOptions

PRODUCT = """#define N 40
void product(double A[restrict N][N], double B[restrict N][N], double C[restrict N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
}
"""
NEIGHBORS = """void f(int n, double a[restrict n][n], double b[restrict n][n], double x[restrict n]) {
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) b[i][j] = a[i][j] + x[j]; }
"""
SUM = """double h(int n, double a[restrict n][n], double x[restrict n]) { double t = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t += a[i][j] * x[j];
  return t; }
"""


@cache
def ported(text: str, gpu: str, *transforms: str, verify: bool = False) -> PortResult:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(text)
        offload = OffloadOptions(device=gpu, gain=GainOptions(everything=True))
        options = PortOptions(offload=offload, verify=verify, transforms=transforms)
        return port_by_dpomap([str(path)], replace(options, run=VerifyOptions(device="a100")))


def rows(made: PortResult) -> dict[str, ArrayRow]:
    assert made.placement is not None
    return {row.placed.array.name: row for nest in made.placement.nests for row in nest.rows}


@pytest.mark.parametrize(("gpu", "of_c"), [("gts250", "register"), ("caicos", "shared row")])
def test_the_product_has_a_row_of_a_and_a_column_of_b_in_shared_memory(gpu: str, of_c: str) -> None:
    made = ported(PRODUCT, gpu)
    found = rows(made)
    assert {name: (row.placed.location, row.ported) for name, row in found.items()} == {
        "A": ("shared row", "shared tile"), "B": ("shared column", "shared tile"), "C": (of_c, "register"),
    }  # fmt: skip
    assert [row.placed.array.bytes for row in found.values()] == [320] * 3
    assert all(row.removes_redundant_access for row in found.values())
    assert ("no two threads of a block read the same element of C" in found["C"].why) == (gpu == "caicos")
    assert made.plan is not None and made.placement is not None
    (fragment,) = made.plan.fragments
    assert [(one.width, set(one.arrays)) for one in fragment.tiles] == [(16, {"A", "B"})]
    assert fragment.kernel.elements == (1, 1, 1)
    assert made.placement.platform == ("amd" if gpu == "caicos" else "nvidia")
    assert "register-tile=product/i/j/k,rows=1,columns=1" in made.placement.steps


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["gts250", "caicos"])
def test_the_product_by_it_is_right(gpu: str) -> None:
    made = ported(PRODUCT, gpu, verify=True)
    assert made.verification is not None and made.verification.status == "pass"


@pytest.mark.slow
def test_arrays_that_shared_memory_has_no_room_for_have_no_tile() -> None:
    wide = PRODUCT.replace("40", "4096")
    found = rows(ported(wide, "gts250"))
    assert [(n, r.placed.location, r.ported) for n, r in found.items()] == [
        ("A", "shared row", "shared tile"), ("B", "register", "global"), ("C", "register", "register"),
    ]  # fmt: skip
    assert found["A"].placed.overflows and found["B"].why, "of a column no element stays while k runs"


@pytest.mark.slow
def test_of_several_references_the_first_counts_and_arrays_keep_their_order() -> None:
    text = PRODUCT.replace("A[i][k] * B[k][j]", "A[i][k] * B[k][j] + A[k][j]")
    made = ported(text, "gts250")
    assert [(name, row.reference, row.more) for name, row in rows(made).items()] == [
        ("A", "A[i][k]", 1), ("B", "B[k][j]", 0), ("C", "C[i][j]", 0),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_nest_without_a_loop_in_its_threads_has_no_tiles() -> None:
    found = rows(ported(NEIGHBORS, "gts250"))
    assert (found["x"].placed.location, found["x"].ported) == ("shared row", "global")
    assert found["x"].why == "no thread goes through a loop, so that there are no tiles to go through one by one"
    assert found["a"].placed.location == found["b"].placed.location == "global" and not found["a"].why


@pytest.mark.slow
def test_sums_of_threads_keep_their_kernels() -> None:
    made = ported(SUM, "gts250")
    assert made.plan is not None and made.plan.fragments[0].kernel.reductions
    assert rows(made)["x"].ported == "global" and rows(made)["x"].why


@pytest.mark.slow
def test_a_nest_stays_a_kernel_where_only_a_loop_inside_could_have_the_tiles() -> None:
    """Threads on r and q share no element of A; were p on x, they would."""
    text = """void d(int n, double A[restrict n][n][n], double C[restrict n][n]) {
      for (int r = 0; r < n; r++) for (int q = 0; q < n; q++) { double sum[8];
        for (int p = 0; p < 8; p++) { sum[p] = 0; for (int s = 0; s < n; s++) sum[p] += A[r][q][s] * C[s][p]; }
        for (int p = 0; p < 8; p++) A[r][q][p] = sum[p]; } }"""
    made = ported(text, "gts250")
    assert made.plan is not None and [one.region for one in made.plan.fragments] == ["d/r"]
    found = rows(made)
    assert (found["A"].placed.location, found["A"].ported) == ("shared row", "global")
    assert "no two threads of a block read the same element of A" in found["A"].why
    assert found["sum"].ported == "private"


@pytest.mark.slow
def test_what_the_user_places_stays_so() -> None:
    made = ported(PRODUCT, "gts250", "shared-tile=product/i/j/k,width=8,arrays=B")
    assert made.plan is not None and made.placement is not None
    assert [(one.width, one.arrays) for one in made.plan.fragments[0].tiles] == [(8, ("B",))]
    assert made.placement.nests == ()


@pytest.mark.slow
def test_what_is_no_loop_of_kernels_has_no_placement() -> None:
    made = ported("void f(int n, double *a) { for (int i = 1; i < n; i++) a[i] = a[i-1] * a[i-1] + a[i]; }", "a100")
    assert made.placement is None and made.ported is None
