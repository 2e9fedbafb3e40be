"""svg=FILE and png=FILE."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.app.cli.commands.pictures import draw_experiment, picture_of
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.experiment import experiment_clocks
from warpsmith.flows.clocks.simulate import ClockOptions
from warpsmith.report.history.layout import HistoryDrawing


def test_a_picture_goes_to_its_file(tmp_path: Path) -> None:
    drawing = HistoryDrawing(20, 10, (), (), "empty")
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        place = tmp_path / f"a.{form}"
        draw = picture_of("--heat", f"{form}={place}")
        assert draw is not None
        draw(drawing)
        assert place.read_bytes().startswith(start)
    assert picture_of("--heat", None) is None


@pytest.mark.parametrize("said", ["svg", "svg=", "gif=a.gif", "a.png"])
def test_what_names_no_form_or_no_file_is_refused(said: str) -> None:
    with pytest.raises(UsageError, match=r"--heat is svg=FILE or png=FILE"):
        picture_of("--heat", said)


def test_an_experiment_has_a_row_for_each_run_that_ended() -> None:
    file = SourceFile.read(str(EXAMPLES / "counted.mask"))
    options = ClockOptions(
        "example,lanes_per_alu=width,alus=4,issue=4", 256, arguments=("u0=zeros:u32[256]", "t0=rand:u32[256]:below=64")
    )
    report = experiment_clocks(file, "width", options, ("1", "8", "64"))
    drawing = draw_experiment(report)
    assert [one.text for one in drawing.words if one.text.startswith("width")] == ["width 1", "width 8", "width 64"]
    lost = {point.value: sum(map(sum, point.threads)) - sum(row[0] for row in point.threads) for point in report.points}
    # the loss is there at 8 already
    assert lost["8"] > 3 * lost["1"] and lost["64"] < 1.5 * lost["8"]
