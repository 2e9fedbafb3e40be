"""One file of a survey: what it tells the others, and what it says once they are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.poly.effects.outside import OutsideFunction, encode_function
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.facts import PolyOptions
from warpsmith.survey import unit
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.unit import Desk
from warpsmith.tree.plain import Plain
from warpsmith.tree.types import DOUBLE, FunctionType, Symbol

TEXT = """int shared_one; int *taken_one;
void far(int *p);
static void near(int *p) { *p = 1; }
void f(int n, double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++)
        a[i] = b[i];
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] * a[i - 1];
    int k = 0;
    while (k < n)
        far(&shared_one), k++;
    #define EACH(v) for (int v = 0; v < n; v++)
    EACH(q)
        near(&shared_one);
}
int main(void) { taken_one = &shared_one; return 0; }
"""
NOTHING: Plain = {"functions": [], "shared": [], "taken": [], "mentioned": [], "closed": False}
SILENT: Plain = {"defined": [], "writes": {}, "escaped": [], "whole": False}
LIMITS = SurveyLimits(front=FrontOptions(), poly=PolyOptions(described=1))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("unit")
    (folder / "a.c").write_text(TEXT)
    (folder / "moved.c").write_text("\n\n" + TEXT)
    return Desk(LIMITS, [Source(str(folder / name)) for name in ("a.c", "moved.c", "missing.c")])


def _fields(plain: Plain) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", plain)


def test_what_a_file_tells_the_others(desk: Desk) -> None:
    (plain,) = desk.read([0])
    exports = _fields(plain)
    assert exports["main"] is True and exports["lines"] == len(TEXT.splitlines())
    assert [row[5][0] for row in exports["loops"]] == [5, 7, 10, 13]
    assert [row[3] for row in exports["loops"]][:3] == ["for", "for", "while"]
    assert set(exports["functions"]) >= {"f", "main"} and exports["outside"] == ["far"]
    assert "far" in exports["named"]["f"] and exports["named"]["main"] == []
    taken = {cast("list[Any]", row)[0] for row in exports["taken"]}
    assert "shared_one" in str(taken)


def test_a_file_that_cannot_be_read(desk: Desk) -> None:
    good, bad = desk.read([0, 2])
    assert "failed" not in _fields(good) and _fields(bad)["failed"][0][0].startswith("INP")


def test_who_calls_a_function_need_not_hear_that_it_has_moved(desk: Desk) -> None:
    first, second = (_fields(one) for one in desk.read([0, 1]))
    assert first["functions"]["f"] == second["functions"]["f"]
    assert first["loops"] != second["loops"]


def test_verdicts_at_the_places_of_loops(desk: Desk) -> None:
    found = _fields(desk.analyze(0, NOTHING, SILENT))
    verdicts = dict(found["verdicts"])
    assert [verdicts[n]["category"] for n in range(3)] == ["parallel", "sequential", "unanalyzable"]
    assert set(verdicts) == {0, 1, 2, 3}, "every place has one"
    assert (verdicts[0]["id"], verdicts[0]["label"], verdicts[0]["function"]) == ("f/i", "for i", "f")
    assert verdicts[1]["reasons"][0][0] == "POR003" and verdicts[1]["reasons"][0][3] is not None
    assert verdicts[3]["category"] == "unanalyzable"
    assert len(found["efforts"]) >= 2


def test_what_others_say_changes_what_functions_do(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "c.c"
    path.write_text("double far(double); void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = far(a[i]); }\n")
    one = Desk(LIMITS, [Source(str(path))])
    (exports,) = one.read([0])
    alone = _fields(one.summarize(0, NOTHING))["functions"]
    assert alone == _fields(exports)["functions"]
    unknown = _fields(one.analyze(0, NOTHING, SILENT))["verdicts"][0][1]
    assert unknown["category"] == "unanalyzable" and "far" in unknown["reasons"][0][1]
    far = Symbol("far", "far", FunctionType(DOUBLE, (DOUBLE,)), "function")
    silent = dict(_fields(NOTHING)) | {"functions": [encode_function(OutsideFunction(far, (), Summary()))]}
    told = _fields(one.summarize(0, silent))["functions"]
    assert told["g"] != alone["g"], "nothing unknown is called any more"
    known = _fields(one.analyze(0, silent, SILENT))["verdicts"][0][1]
    assert known["category"] != "unanalyzable"


def test_trees_are_kept_within_a_bound_and_answers_do_not_depend_on_it(desk: Desk) -> None:
    small = Desk(replace(LIMITS, kept_bytes=1), desk.sources)
    assert small.read([0, 1]) == desk.read([0, 1])
    assert len(small._kept) == 1
    assert small.analyze(0, NOTHING, SILENT) == desk.analyze(0, NOTHING, SILENT)


def test_a_text_outside_of_functions_is_no_loop(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "b.c"
    path.write_text("int x; /* for (;;) */\n")
    (plain,) = Desk(LIMITS, [Source(str(path))]).read([0])
    assert _fields(plain)["loops"] == [] and _fields(plain)["main"] is False


def _wait(*_: object, **__: object) -> None:
    ends = time.process_time() + 60
    while time.process_time() < ends:
        pass


@pytest.mark.parametrize(
    ("slow", "done"), [("_number_parameters", "summarized"), ("automatic", "analyzed"), ("_place", "read")]
)
def test_each_piece_of_work_on_a_file_has_its_time(
    slow: str, done: str, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.c").write_text("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n")
    one = Desk(LIMITS, [Source(str(tmp_path / "b.c"))])
    one.read([0])
    before = one.summarize(0, NOTHING), one.analyze(0, NOTHING, SILENT)
    ((parsed, _),) = one._kept.values()
    monkeypatch.setattr(unit, slow, _wait)
    monkeypatch.setattr(unit, "parse_separately", lambda *_: [parsed])
    one.limits = replace(LIMITS, front=FrontOptions(timeout_s=0.2))
    ask: dict[str, Callable[[], Plain]] = {
        "summarized": lambda: one.summarize(0, NOTHING),
        "analyzed": lambda: one.analyze(0, NOTHING, SILENT),
        "read": lambda: one.read([0])[0],
    }
    ((rule, severity, message, *_),) = _fields(ask[done]())["failed"]
    assert (rule, severity) == ("INP009", "error") and f"b.c was not {done} within 0.2 s" in message
    monkeypatch.undo()
    one.limits = LIMITS
    assert (one.summarize(0, NOTHING), one.analyze(0, NOTHING, SILENT)) == before, "nothing is left of it"
