"""One folder for all that is temporary: made, used by what is started, and taken away as a whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from warpsmith.base import scratch


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files of this test; what it changes is put back."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_made_used_and_removed(place: Path) -> None:
    folder = scratch.make_folder()
    assert folder is not None and Path(folder).parent == place
    scratch.use_folder(folder)
    assert os.environ["TMPDIR"] == folder == tempfile.gettempdir()
    Path(folder, "deep").mkdir()
    Path(folder, "deep", "file").write_text("x")
    assert scratch.lasting_folder() == str(place), "what outlives us does not lie in it"
    scratch.remove_folder(folder)
    assert not Path(folder).exists() and place.exists()


def test_without_a_folder_all_stays_where_it_is(place: Path) -> None:
    scratch.use_folder(None)
    assert os.environ["TMPDIR"] == str(place) and tempfile.gettempdir() == str(place)
    assert scratch.lasting_folder() == str(place)
    scratch.remove_folder(None)
    assert place.exists()


def test_a_machine_without_a_place_for_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "gone"))
    assert scratch.make_folder() is None


def test_what_is_written_while_it_is_removed_goes_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = scratch.make_folder()
    assert folder is not None
    tries: list[str] = []
    plainly = shutil.rmtree

    def late(path: str, *, ignore_errors: bool) -> None:
        tries.append(path)
        if len(tries) > 2:
            plainly(path, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", late)
    monkeypatch.setattr(scratch, "_PAUSE_S", 0.0)
    scratch.remove_folder(folder)
    assert len(tries) == 3 and not Path(folder).exists()


def test_work_says_that_it_puts_its_results_together(place: Path) -> None:
    folder = scratch.make_folder()
    assert folder is not None and not scratch.asks_for_time(folder)
    # elsewhere nobody would read it
    scratch.ask_for_time()
    assert list(place.iterdir()) == [Path(folder)]
    scratch.use_folder(folder)
    scratch.ask_for_time()
    scratch.ask_for_time()
    assert scratch.asks_for_time(folder) and not scratch.asks_for_time(None)
    scratch.remove_folder(folder)
    scratch.ask_for_time()
    assert not scratch.asks_for_time(folder)
