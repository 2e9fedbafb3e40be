"""Remembered answers are used exactly as long as nothing that they were found from has changed."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from tests.flows.survey_projects import by_place, compiled, surveyed, written
from warpsmith.survey import cache as survey_cache

LOOP = "    for (int i = 1; i < n; i++)\n        a[i] = "
FILES = {
    "size.h": "#define STEP 0\n",
    "one.c": '#include "size.h"\nvoid f(int n, double *a) {\n' + LOOP + "a[i - STEP] * a[i - STEP];\n}\n",
    "use.c": "double part(double);\nvoid g(int n, double *a) {\n" + LOOP + "part(i);\n}\n",
    "part.c": "double part(double x) { return x; }\n",
    "far.c": "int h(int n) { int d = 0; while (n) { n /= 2; d++; } return d; }\n",
}
UNITS = ("one.c", "use.c", "part.c", "far.c")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that has been surveyed once; its files are older than that."""
    written(tmp_path / "p", FILES)
    _age(tmp_path / "p")
    first = surveyed(compiled(tmp_path / "p", *UNITS), tmp_path / "cache")
    assert first.read == 4
    assert by_place(first) == {
        "one.c:3": "parallel", "use.c:3": "parallel", "far.c:1": "unanalyzable",
    }  # fmt: skip
    return tmp_path / "p"


def _age(folder: Path) -> None:
    past = time.time() - 10
    for path in folder.iterdir():
        os.utime(path, (past, past))


def _again(folder: Path, *units: str | tuple[str, ...]) -> tuple[int, dict[str, str]]:
    _age(folder)
    report = surveyed(compiled(folder, *(units or UNITS)), folder.parent / "cache")
    fresh = surveyed(compiled(folder, *(units or UNITS)))
    # what is remembered is what would be found
    assert report.loops == fresh.loops
    return report.read, by_place(report)


def test_nothing_has_changed(folder: Path) -> None:
    assert _again(folder)[0] == 0


def test_one_edit_reads_one_file(folder: Path) -> None:
    (folder / "far.c").write_text(FILES["far.c"].replace("n /= 2", "n /= 3"))
    assert _again(folder)[0] == 1


def test_an_edit_that_keeps_length_and_time_is_seen(folder: Path) -> None:
    (folder / "one.c").write_text(FILES["one.c"].replace("[i - STEP]", "[i - 0001]"))
    assert _again(folder) == (1, {"one.c:3": "sequential", "use.c:3": "parallel", "far.c:1": "unanalyzable"})


def test_a_header_is_a_part_of_its_files(folder: Path) -> None:
    (folder / "size.h").write_text("#define STEP 1\n")
    read, found = _again(folder)
    assert (read, found["one.c:3"]) == (1, "sequential")


def test_options_are_a_part_of_the_question(folder: Path) -> None:
    (folder / "size.h").write_text("#ifndef STEP\n#define STEP 0\n#endif\n")
    _again(folder)
    read, found = _again(folder, ("one.c", "-DSTEP=1"), *UNITS[1:])
    assert (read, found["one.c:3"]) == (1, "sequential")


def test_what_another_files_function_does_is_a_part_of_the_question(folder: Path) -> None:
    (folder / "part.c").write_text("static double s; double part(double x) { return s += x; }\n")
    read, found = _again(folder)
    assert (read, found["use.c:3"] != "parallel") == (2, True)
    (folder / "part.c").write_text("double part(double x) { return x + 1; }\n")
    read, found = _again(folder)
    assert (read, found["use.c:3"]) == (1, "parallel")


def test_what_another_files_function_prints_is_a_part_of_the_question(folder: Path) -> None:
    (folder / "part.c").write_text('int puts(const char *);\ndouble part(double x) { puts("x"); return x; }\n')
    read, found = _again(folder)
    assert (read, found["use.c:3"] != "parallel") == (2, True)


def test_who_calls_a_function_need_not_hear_that_it_has_moved(folder: Path) -> None:
    (folder / "part.c").write_text("/* the same, further down */\n" + FILES["part.c"])
    assert _again(folder) == (1, {"one.c:3": "parallel", "use.c:3": "parallel", "far.c:1": "unanalyzable"})


def test_a_file_that_is_no_longer_there_takes_its_functions_along(folder: Path) -> None:
    read, found = _again(folder, "one.c", "use.c", "far.c")
    assert (read, found["use.c:3"]) == (1, "unanalyzable")


def test_another_warpsmith_asks_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_cache, "own_version", lambda: "another")
    assert _again(folder)[0] == 4


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[" * 50_000,
        lambda text: "{}",
        lambda text: _headed(text, {"exports": {"functions": 3}}),
        lambda text: "\n".join([*text.split("\n")[:3], "7", "7"]),
    ],
    ids=["empty", "cut", "deep", "bare", "wrong-exports", "wrong-answers"],
)
def test_a_damaged_record_counts_as_none(folder: Path, damage: object) -> None:
    assert callable(damage)
    for path in (folder.parent / "cache").glob("*.json"):
        seal, _, text = path.read_text().partition("\n")
        path.write_text(f"{seal}\n{damage(text)}")
    assert _again(folder)[0] == 4


@pytest.mark.parametrize("change", [{"key": "foreign"}, {"files": {}}, {"found": 3}, {"exports": {"files": []}}])
def test_a_whole_record_of_another_question_counts_as_none(folder: Path, change: dict[str, object]) -> None:
    for path in (folder.parent / "cache").glob("*.json"):
        _sealed(path, _headed(path.read_text().partition("\n")[2], change))
    assert _again(folder)[0] == 4


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_whole_record_with_lines_of_another_kind_counts_as_none(folder: Path, line: int) -> None:
    for path in (folder.parent / "cache").glob("*.json"):
        lines = path.read_text().split("\n")[1:]
        _sealed(path, "\n".join([*lines[:line], "[", *lines[line + 1 :]]))
    assert _again(folder)[0] == 4


def _headed(text: str, change: dict[str, object]) -> str:
    """Return the lines of a record with another head."""
    head, *lines = text.split("\n")
    return "\n".join([json.dumps({**json.loads(head), **change}), *lines])


def _sealed(path: Path, text: str) -> None:
    path.write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")


def test_a_record_of_another_file_under_its_name_is_not_believed(folder: Path) -> None:
    records = sorted((folder.parent / "cache").glob("*.json"))
    for path, other in zip(records, [*records[1:], records[0]], strict=True):
        path.with_suffix(".held").write_text(other.read_text())
    for path in records:
        path.with_suffix(".held").replace(path)
    assert _again(folder)[0] == 4


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    written(tmp_path / "p", FILES)
    (tmp_path / "cache").write_text("a file\n")
    assert surveyed(compiled(tmp_path / "p", *UNITS), tmp_path / "cache").status == "ok"


def test_a_file_that_changes_while_it_is_read_is_not_remembered(tmp_path: Path) -> None:
    written(tmp_path / "p", FILES)
    ahead = time.time() + 100
    for path in (tmp_path / "p").iterdir():
        os.utime(path, (ahead, ahead))
    for _ in range(2):
        assert surveyed(compiled(tmp_path / "p", *UNITS), tmp_path / "cache").read == 4
