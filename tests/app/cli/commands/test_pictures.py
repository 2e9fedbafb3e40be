"""svg=FILE and png=FILE."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.app.cli.commands.pictures import draw_experiment, picture_of
from warpsmith.base.errors import UsageError
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
