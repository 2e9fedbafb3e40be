"""The mappings of a nest explained: those of the port's loops, its own among them, with times where sizes are known."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.flows.placing.mappings import explain_mappings
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.offload.plan import MappingModel, OffloadOptions
from warpsmith.report.mappings.model import MappingsReport

LU = """void lu(int n, double *A) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) A[i * n + k] /= A[k * n + k];
    for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
  }
}
"""
PIXELS = """void f(int n, float *restrict pixel, const float *restrict plane) {
  for (int p = 0; p < n; p++) for (int c = 0; c < 4; c++) pixel[4 * p + c] = plane[n * c + p];
}
"""
SIZED = """static double A[600][500], B[500][600];
void turn(void) { for (int i = 0; i < 600; i++) for (int j = 0; j < 500; j++) A[i][j] = 0.5 * B[j][i]; }
"""


@cache
def explained(text: str, subject: str) -> MappingsReport:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(text)
        return explain_mappings(str(path), subject, FrontOptions())


def test_lu_has_its_columns_on_x_by_both_and_reads_and_writes_are_one_reference() -> None:
    (nest,) = explained(LU, "lu/k/i#2").nests
    assert nest.counters == ("i", "j") and nest.port == (("y", "x"), (64, 4, 1)) and not nest.tiled
    assert [(r.text, r.reads, r.writes, r.weight) for r in nest.references] == [
        ("A[i * n + k]", True, False, 1), ("A[k * n + j]", True, False, 1), ("A[i * n + j]", True, True, 2),
    ]  # fmt: skip
    for chooser in ("lines", "tables"):
        found = nest.winner(chooser)
        assert found is not None and (found.axes, found.block) == nest.port
    assert nest.winner("time") is None and set(nest.seconds) == {None}


@pytest.mark.parametrize("model", ["lines", "tables"])
def test_a_port_of_lu_has_its_columns_on_x(model: MappingModel, tmp_path: Path) -> None:
    (tmp_path / "lu.c").write_text(LU)
    options = PortOptions(verify=False, offload=OffloadOptions(model=model))
    plan = port([str(tmp_path / "lu.c")], options).plan
    assert plan is not None
    assert [fragment.mapping for fragment in plan.fragments] == [{"i": "x"}, {"i": "y", "j": "x"}]


def test_the_models_disagree_where_a_small_stride_lies_behind_a_large_one(tmp_path: Path) -> None:
    (nest,) = explained(PIXELS, "f/p").nests
    lines, tables = nest.winner("lines"), nest.winner("tables")
    assert lines is not None and tables is not None
    assert (lines.axes, tables.axes) == (("y", "x"), ("x", "y")) and tables.sectors > 2 * lines.sectors
    plane = next(r.score for r in nest.references if r.text.startswith("plane"))
    wrong = lines.scores[plane]
    assert wrong.is_mistaken and wrong.table is not None
    assert (wrong.table.entry.name, wrong.table.lines, wrong.table.right) == ("t32", 1.0, 1 / 32)
    (tmp_path / "f.c").write_text(PIXELS)
    options = PortOptions(verify=False, offload=OffloadOptions(model="tables"))
    plan = port([str(tmp_path / "f.c")], options).plan
    assert plan is not None
    assert [(f.mapping, f.kernel.block) for f in plan.fragments] == [({"p": "x", "c": "y"}, tables.block)]


@pytest.mark.slow
def test_times_are_those_of_the_ports_mappings_where_sizes_are_known() -> None:
    (nest,) = explained(SIZED, "turn/i").nests
    timed = [seconds for seconds in nest.seconds if seconds is not None]
    found = nest.winner("time")
    assert len(timed) == len(nest.mappings) and found is not None
    best = nest.seconds[nest.mappings.index(found)]
    assert best is not None and best <= 1.1 * min(timed)


@pytest.mark.slow
def test_tiles_have_a_block_of_their_own() -> None:
    text = """void mm(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n]) {
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
    }"""
    (nest,) = explained(text, "mm/i").nests
    assert nest.tiled and nest.assumed == ("the loop over k (line 2) runs 64 times",)


def test_what_makes_no_kernel_says_why() -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) { double x = a[i-1]; a[i] = x * x + a[i]; } }"
    report = explained(text, "f/i")
    assert not report.nests and report.refused.startswith("it makes no kernel: ")
    with pytest.raises(UsageError, match="not a counted one"):
        explained("void f(int n, int *a) { while (n > a[0]) n -= a[n]; }", "f/while")
