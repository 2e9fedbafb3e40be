"""Verdicts of files joined by the places of their loops: each once, the one that promises least, the heaviest first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.project.profile.model import LoopProfile, profile_of
from warpsmith.report.survey.model import SurveyLoop
from warpsmith.survey.places import FileAnswers, joined_loops
from warpsmith.survey.plain import encode_effort
from warpsmith.tree.plain import Plain

ROOT = os.path.realpath("/") + "p"


def place(file: str, line: int, function: str = "f", number: int = 0) -> list[Plain]:
    return [file, 10 * line, number, "for", function, [line, 5, line, 30], f"for (line {line})"]


def verdict(
    category: str, *, assumptions: list[Plain] | None = None, steps: list[Plain] | None = None
) -> dict[str, Plain]:
    reason: list[Plain] = ["POR003", f"because it is {category}", [f"{ROOT}/a.c", 3, 5, 3, 9], None, ["try"]]
    return {
        "id": "f/i", "label": "for i", "variable": "i", "function": "f", "depth": 1, "category": category,
        "reasons": [reason], "assumptions": assumptions or [], "steps": steps or [],
    }  # fmt: skip


def answers(
    unit: str, places: list[list[Plain]], verdicts: Mapping[int, Mapping[str, Plain]], operations: tuple[int, ...] = ()
) -> FileAnswers:
    loops = tuple(LoopEffort(-1, 10, True, n, (), ()) for n in operations)
    efforts: list[Plain] = (
        [[encode_effort(FunctionEffort("f", 1, (), loops)), list(range(len(loops)))]] if loops else []
    )
    exports: dict[str, Plain] = {"files": [unit], "loops": list(places)}
    found: dict[str, Plain] = {"verdicts": [[n, dict(v)] for n, v in verdicts.items()], "efforts": efforts}
    return FileAnswers(exports, found)


def shown(loops: tuple[SurveyLoop, ...]) -> list[tuple[str, int, str]]:
    return [(loop.spot.file, loop.spot.line, loop.category) for loop in loops]


def test_a_headers_loop_is_the_one_that_promises_least() -> None:
    header = f"{ROOT}/inc/h.h"
    one = answers(f"{ROOT}/a.c", [place(header, 3)], {0: verdict("parallel")})
    other = answers(f"{ROOT}/b.c", [place(header, 3)], {0: verdict("sequential")})
    for given in ((one, other), (other, one)):
        (loop,) = joined_loops(given, ROOT, None)
        assert loop.category == "sequential" and loop.spot.file == "inc/h.h"
        assert set(loop.units) == {"a.c", "b.c"}


def test_a_place_without_a_verdict_is_unanalyzable() -> None:
    (loop,) = joined_loops([answers(f"{ROOT}/a.c", [place(f"{ROOT}/a.c", 3)], {})], ROOT, None)
    assert loop.category == "unanalyzable" and loop.reasons[0].rule == "INT070" and loop.id == "f/for"


def test_the_heaviest_loop_comes_first() -> None:
    places = [place(f"{ROOT}/a.c", 3), place(f"{ROOT}/a.c", 9)]
    given = answers(f"{ROOT}/a.c", places, {0: verdict("parallel"), 1: verdict("parallel")}, (5, 500))
    loops = joined_loops([given], ROOT, None)
    assert [loop.spot.line for loop in loops] == [9, 3]
    assert 0 < loops[1].share < loops[0].share <= 1 and loops[0].own <= loops[0].share
    assert not loops[0].measured


def test_reasons_and_assumptions_as_the_user_reads_them() -> None:
    word = verdict("parallel", assumptions=[["n >= 1", "guarded"]], steps=["tile=f/i"])
    (loop,) = joined_loops([answers(f"{ROOT}/a.c", [place(f"{ROOT}/a.c", 3)], {0: word})], ROOT, None)
    assert loop.assumptions == (("n >= 1", "guarded"),) and loop.steps == ("tile=f/i",)
    (reason,) = loop.reasons
    assert (reason.rule, reason.legal_if) == ("POR003", ("try",)) and reason.spot is not None
    assert reason.spot.file == "a.c" and loop.head == "for (line 3)" and (loop.variable, loop.depth) == ("i", 1)


def test_a_dependence_has_both_places() -> None:
    spot: Plain = [f"{ROOT}/a.c", 3, 5, 3, 9]
    detail: list[Plain] = ["flow", "a", spot, spot, [1, None], ["<", "*"], "f/i", "S(0) writes a[0]"]
    word = dict(verdict("sequential"))
    word["reasons"] = [["POR003", "carries", None, detail, []]]
    (loop,) = joined_loops([answers(f"{ROOT}/a.c", [place(f"{ROOT}/a.c", 3)], {0: word})], ROOT, None)
    found = loop.reasons[0].dependence
    assert found is not None and (found.kind, found.distance, found.direction) == ("flow", (1, None), ("<", "*"))
    assert found.source.file == found.sink.file == "a.c" and loop.reasons[0].spot is None


def test_a_run_decides_what_is_heavy() -> None:
    places = [place(f"{ROOT}/a.c", 3), place(f"{ROOT}/a.c", 9), place(f"{ROOT}/a.c", 12)]
    given = answers(f"{ROOT}/a.c", places, {n: verdict("parallel") for n in range(3)}, (500, 5, 5))
    run = [
        LoopProfile(f"{ROOT}/a.c", 3, 2, 20, 1.0, 0, 1.0, 5),
        LoopProfile(f"{ROOT}/a.c", 9, 1, 10, 3.0, 0, 2.0, 5),
    ]
    loops = joined_loops([given], ROOT, profile_of(run, 4.0))
    assert [loop.spot.line for loop in sorted(loops, key=lambda x: -x.share)] == [9, 3, 12]
    by_line = {loop.spot.line: loop for loop in loops}
    assert (by_line[9].share, by_line[9].own, by_line[9].iterations) == (0.75, 0.5, 10.0)
    assert by_line[3].entries == 2.0 and all(loop.measured for loop in loops)
    assert by_line[12].share == 0 and by_line[12].entries is None
    assert by_line[3].gain_kept is not None and by_line[12].gain_kept is None


def test_paths_beyond_the_project_are_whole_and_links_are_named(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "p", tmp_path / "lib"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "h.h").write_text("")
    (root / "link").symlink_to(elsewhere)
    inside = answers(f"{root}/a.c", [place(f"{root}/sub/../a.c", 3)], {0: verdict("parallel")})
    linked = answers(f"{root}/a.c", [place(f"{root}/link/h.h", 3)], {0: verdict("parallel")})
    outside = answers(f"{root}/a.c", [place(f"{tmp_path}/q.h", 3)], {0: verdict("parallel")})
    assert joined_loops([inside], str(root), None)[0].spot.file == "a.c"
    assert joined_loops([linked], str(root), None)[0].spot.file == "link/h.h"
    assert joined_loops([outside], str(root), None)[0].spot.file == f"{tmp_path}/q.h"
    assert shown(joined_loops([inside], "", None))[0][0] == f"{root}/a.c"
