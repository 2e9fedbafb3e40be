"""ANALYZE of AMD IL: files go in, a report comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.programs import hand_cases
from tests.targets.r600.test_views import random_text
from warpsmith.base.errors import UsageError
from warpsmith.flows.analyze_il import analyze_il_files


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
