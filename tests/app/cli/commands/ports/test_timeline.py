"""`port --timeline` and `--compare-transfers`: what may be written, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.commands.ports.timeline import _row, check_timeline
from warpsmith.base.errors import UsageError
from warpsmith.report.timeline.events import MovedBytes

SOURCE = "void f(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = 2 * a[i];\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("out", [None, "-", "copies.svg", "new/copies.txt"])
def test_what_can_be_written(out: str | None, here: Path) -> None:
    check_timeline(out, force=False)
    assert [path.name for path in here.iterdir()] == ["a.c"], "nothing is written before there is an answer"


@pytest.mark.parametrize("out", ["copies.png", "copies", "a.c", "svg"])
def test_other_forms_are_told_at_once(out: str, here: Path) -> None:
    with pytest.raises(UsageError, match=r"a timeline is a picture \(\.svg\) or text"):
        check_timeline(out, force=True)


def test_a_file_that_is_there_needs_force(here: Path) -> None:
    Path("copies.txt").write_text("mine")
    with pytest.raises(UsageError):
        check_timeline("copies.txt", force=False)
    check_timeline("copies.txt", force=True)


def test_the_same_copies_in_each_form(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "port", "a.c", "--verify", "off", "--timeline", "-", "--compare-transfers")
    assert code == 0
    shown = out[out.index("timeline\n") : out.index("transfers compared")]
    assert "-> device" in shown and "-> host" in shown and "measured" not in shown
    table = out[out.index("transfers compared") :]
    assert all(name in table for name in ("fragment", "host", "mixed", "optimized")) and "not run" in table
    code, out, _ = typed(capsys, "port", "a.c", "--verify", "off", "--timeline", "copies.txt")
    assert code == 0 and "wrote   copies.txt" in out and "transfers compared" not in out
    assert Path("copies.txt").read_text().strip() == shown.strip()
    code, _, err = typed(capsys, "port", "a.c", "--verify", "off", "--timeline", "copies.svg", "--json")
    assert code == 0 and "wrote   copies.svg" in err, "a document is not mixed with other text"
    assert "<svg" in Path("copies.svg").read_text() and "copies of a.c" in Path("copies.svg").read_text()


def test_what_was_not_run_is_not_counted() -> None:
    assert _row("host", 4, 2, None) == ("host", "4", "2", "not run", "not run")
    assert _row("host", 4, 0, (MovedBytes(2, 16), MovedBytes(0, 0))) == (
        "host",
        "4",
        "0",
        "2 x, 16 bytes",
        "0 x, 0 bytes",
    )
