"""ANALYZE of AMD IL: files go in, a report comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.programs import hand_cases
from tests.targets.r600.test_views import random_text
from warpsmith.base.errors import UsageError
from warpsmith.flows.analyze_il import analyze_il_files
from warpsmith.flows.lower import lower_to
from warpsmith.kernels.units import KernelFile


def test_both_listings_have_figures_and_what_is_to_be_said_of_them(tmp_path: Path) -> None:
    plain, translated = tmp_path / "plain.il", tmp_path / "translated.il"
    plain.write_text(PLAIN)
    translated.write_text(TRANSLATED)
    report = analyze_il_files([str(plain), str(translated)], ["hd3870"])
    assert (report.status, report.exit_code) == ("ok", 0)
    assert [len(row.findings) for row in report.rows] == [0, 2]
    figures = [row.figures for row in report.rows if row.figures is not None]
    assert [float(one.gpus[0].cycles) for one in figures] == [2.5, 5.5]
    assert report.rows[0].about == "pixel shader of 19 instructions, 1 resource, 3 constant registers; writes o0"


def test_files_that_cannot_be_had_and_control_flow_leave_it_incomplete(tmp_path: Path) -> None:
    loop, broken = tmp_path / "loop.il", tmp_path / "broken.il"
    loop.write_text(hand_cases()[-1].text)
    broken.write_text(PLAIN.replace("\nend\n", "\n"))
    report = analyze_il_files([str(loop), str(broken), str(tmp_path / "none.il")])
    assert [row.findings[-1].rule for row in report.rows] == ["ILT003", "ILT001", "INP001"]
    assert [row.figures for row in report.rows] == [None, None, None] and report.status == "incomplete"


def test_a_compute_shader_has_figures_where_there_are_views(tmp_path: Path) -> None:
    path = tmp_path / "k.il"
    path.write_text(random_text(1))
    (row,) = analyze_il_files([str(path)]).rows
    assert row.about.endswith("1 constant register; writes uav1")
    assert row.figures is not None and set(row.figures.codes) == {"evergreen", "cayman"}
    assert {gpu.generation for gpu in row.figures.without} == {"r600", "r700"}
    (old,) = analyze_il_files([str(path)], ["hd3870"]).rows
    assert old.figures is None and "r600 has no unordered access views" in old.findings[-1].message


def test_a_loop_has_its_runs_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "loop.il"
    path.write_text(hand_cases()[-1].text)
    (row,) = analyze_il_files([str(path)], ["hd3870", "hd5870"]).rows
    assert set(row.segments) == {"r600", "evergreen"}
    assert all(one.bundles >= one.bound > 0 for one in row.segments["r600"])


def test_a_gpu_that_there_is_not_is_told() -> None:
    with pytest.raises(UsageError):
        analyze_il_files([], ["h100"])


BROOK = Path(__file__).parents[2] / "examples" / "brook" / "bitonic.br"


def test_a_kernel_of_brook_is_counted_as_it_is_and_with_streams_in_rows(tmp_path: Path) -> None:
    plain, rows = analyze_il_files([str(BROOK)], ["hd3870"]).rows
    assert (plain.path, rows.path) == (f"{BROOK}: sort_pass", f"{BROOK}: sort_pass, streams in rows")
    for found, architectures in ((plain, ()), (rows, ("translated",))):
        (column,) = lower_to(KernelFile(str(BROOK)), "sort_pass", ("il",), architectures).columns
        assert column.listing is not None
        (tmp_path / "k.il").write_text(column.listing.text)
        (own,) = analyze_il_files([str(tmp_path / "k.il")], ["hd3870"]).rows
        assert own.figures is not None and found.figures is not None
        assert (own.figures.gpus, own.about) == (found.figures.gpus, found.about)


def test_kernels_of_cuda_are_counted_for_gpus_that_run_them(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void a(float *x) { x[threadIdx.x] *= 2; }\n__global__ void b(double *x) { x[threadIdx.x] *= 2; }\n"
    )
    one, other = analyze_il_files([str(path)], ["hd5870"]).rows
    assert one.path.endswith("k.cu: a") and one.figures is not None and one.about.startswith("compute shader")
    assert other.findings[0].rule == "TGT001" and other.figures is None
    path.write_text("__global__ void a(float *x) { x[threadIdx.x] *= ; }\n")
    (row,) = analyze_il_files([str(path)], ["hd5870"]).rows
    assert row.about == "" and row.findings[0].severity == "error"
