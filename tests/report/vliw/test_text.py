"""The report on programs of IL as text."""

from __future__ import annotations

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.running import parse
from tests.targets.r600.test_views import random_text
from warpsmith.machine.vliw.gpus import vliw_gpu
from warpsmith.report.vliw.model import VliwReport, VliwRow
from warpsmith.report.vliw.text import vliw_text
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.r600.analyze import analyze_il
from warpsmith.targets.r600.segments import IlSegment


def text(program: str, *gpus: str, code: bool = False) -> str:
    figures = analyze_il(parse(program), [vliw_gpu(name) for name in gpus])
    return vliw_text(VliwReport((VliwRow("p.il", "about it", (), figures),)), code=code)


def test_a_row_for_each_gpu() -> None:
    lines = text(PLAIN, "hd3870").splitlines()
    assert lines[0] == "p.il: about it"
    assert lines[2].split() == ["Radeon", "HD", "3870", "RV670", "10", "2", "2.50", "4,960"]
    assert lines[3:] == [
        "  no schedule has fewer bundles",
        "  a model: what the units could do at best; memory, latency and registers are not in it",
    ]


def test_fetches_may_take_longer() -> None:
    few = PLAIN[: PLAIN.index("ftoi")] + "sample_resource(0)_sampler(0) r6, v0.y\nadd o0.x___, r5, r6\nendmain\nend\n"
    assert "fetches take longer than bundles: Radeon HD 3870" in text(few, "hd3870", "hd4870")
    assert "take longer" not in text(PLAIN, "hd3870")


def test_how_it_divides_and_what_is_not_known_is_said() -> None:
    shown = text(TRANSLATED, "hd3870", "hd6970")
    assert "26*" in shown and "* cayman: 26 bundles were found, and none has fewer than 24" in shown
    assert "one-sided, corrected upwards" in shown and "two-sided, corrected both ways" in shown
    assert "Cayman?" in shown and "? units and clock of this GPU are from memory" in shown


def test_bundles_are_printed_where_they_are_asked_for() -> None:
    assert "END_OF_PROGRAM" in text(PLAIN, "hd3870", code=True) and "END_OF" not in text(PLAIN, "hd3870")


def test_what_makes_it_shorter_has_its_condition() -> None:
    program = parse(TRANSLATED)
    figures, gained = analyze_il(program, [vliw_gpu("hd3870")]), optimize_il(program)
    shown = vliw_text(VliwReport((VliwRow("p.il", "about it", (), figures, gained),)), code=True)
    offer = "line 28 could be shorter: a division by a power of two is a shift: 22 → 16 bundles, with --assume"
    assert f"{offer} 'cb0[3].x is a power of two'" in shown
    assert "line 36 can be shorter: a comparison and a choice are min: 22 → 22 bundles" in shown
    assert "min r8, r5, r6" in shown


def test_runs_of_lines_are_a_table_and_gpus_without_views_are_named() -> None:
    segments = {"evergreen": (IlSegment(7, 9, 3, 3, 1), IlSegment(11, 11, 2, 1, 0))}
    lines = vliw_text(VliwReport((VliwRow("p.il", "about it", (), segments=segments),))).splitlines()  # type: ignore[arg-type]
    assert [line.split() for line in lines[1:4]] == [
        ["lines", "bundles", "evergreen", "fetches"], ["7-9", "3", "1"], ["11", "2*", "0"],
    ]  # fmt: skip
    assert "group memory" in lines[4]
    shown = text(random_text(1), "hd3870", "hd5870")
    assert "without unordered access views, so not counted: Radeon HD 3870" in shown and "HD 5870" in shown


def test_a_file_that_was_not_read() -> None:
    assert vliw_text(VliwReport((VliwRow("p.il", "", ()),))) == "p.il: not read"
