"""No wrong program is accepted: its loop stays, or its kernel does not rest on the pragma that is wrong; and its right
twin is not called wrong."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import pytest

from tests.sampling import one_in
from tests.wrong_programs import is_meant, launched, outcome, port_program, programs, what_is_said, why_on_host
from warpsmith.flows.port import PortResult
from warpsmith.flows.porting.sources import sources_of
from warpsmith.poly.openmp import claims
from warpsmith.poly.openmp.concurrency.nowait import Answer
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.native.tools import run_limited
from warpsmith.run.referee.reference import runtime_files

PROGRAMS = programs()
WRONG = {"refused", "repaired", "guarded", "rejected"}
# what nothing is launched of needs no referee
RUN = [title for title, pair in PROGRAMS.items() if pair.wrong != "refused"]
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)")


def test_there_are_enough_of_many_kinds() -> None:
    assert len(PROGRAMS) >= 100
    assert len({title.partition(":")[0] for title in PROGRAMS}) >= 25
    assert {pair.wrong for pair in PROGRAMS.values()} == WRONG
    assert {pair.right for pair in PROGRAMS.values()} == {"ported", "host"}
    assert sum(pair.wrong == "refused" for pair in PROGRAMS.values()) >= 60
    assert sum(pair.right == "ported" for pair in PROGRAMS.values()) >= 60


@pytest.mark.parametrize("title", one_in(20, PROGRAMS))
def test_the_wrong_one_is_not_accepted_and_the_right_one_not_called_wrong(title: str, tmp_path: Path) -> None:
    pair = PROGRAMS[title]
    wrong = port_program(pair, tmp_path, wrong=True)
    assert outcome(wrong) in _before_the_referee(pair.wrong)
    if pair.wrong == "refused":
        assert _says_why(wrong)
    right = port_program(pair, tmp_path, wrong=False)
    assert ("ported" if launched(right) else "host") == pair.right
    assert "CLM001" not in what_is_said(right)


@pytest.mark.slow
@pytest.mark.parametrize("title", PROGRAMS)
def test_the_wrong_one_is_not_accepted_where_loops_must_gain(title: str, tmp_path: Path) -> None:
    found = outcome(port_program(PROGRAMS[title], tmp_path, wrong=True, everything=False))
    assert found in {"refused", *_before_the_referee(PROGRAMS[title].wrong)}


@pytest.mark.slow
@pytest.mark.parametrize("title", RUN)
def test_what_is_ported_of_a_wrong_one_is_what_it_does_on_one_thread(title: str, tmp_path: Path) -> None:
    pair = PROGRAMS[title]
    result = port_program(pair, tmp_path, wrong=True, verify=True)
    failed = result.verification is not None and result.verification.status == "fail"
    # a pragma's word is dropped, and the port made without it; no other word is
    dropped = any(finding.rule == "VER027" for finding in result.findings)
    assert (failed or dropped) is (pair.wrong == "rejected")
    if failed:
        return
    assert outcome(result) in WRONG
    if result.ported is not None and result.files:
        _compare(_run_port(result, tmp_path), _run_on_one_thread(tmp_path))


def _before_the_referee(word: str) -> set[str]:
    return {"trusted", "accepted"} if word == "rejected" else {word}


def _says_why(result: PortResult) -> bool:
    """Whether something is said of what is wrong, or the program has no loop of which anything could be said."""
    return bool(what_is_said(result).keys() - {"CLM004"} or why_on_host(result)) or not _has_loop(result)


def _has_loop(result: PortResult) -> bool:
    loops = (loop.id for f in result.facts.functions for loop in f.loops if f.function.symbol.name.endswith("_q"))
    return any(map(is_meant, loops))


def _run_on_one_thread(folder: Path) -> str:
    command = ["cc", "-O1", "-w", "-o", str(folder / "plain"), str(folder / "wrong.c"), "-lm"]
    threads = folder / "threads.c"
    asked = ("omp_get_thread_num", "omp_get_team_num", "omp_get_ancestor_thread_num")
    threads.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in asked) + "".join(
        f"int omp_get_{name}(void) {{ return 1; }}\n" for name in ("num_threads", "max_threads", "num_procs")
    ))  # fmt: skip
    subprocess.run([*command, str(threads)], check=True)
    return run_limited([str(folder / "plain")], folder).stdout.decode()


def _run_port(result: PortResult, folder: Path) -> str:
    assert result.ported is not None
    built = build_emulated(
        sources_of(result.ported.program, result.files, captured=False), folder / "port", extra_files=runtime_files()
    )
    assert built.finding is None, built.finding
    ran = run_limited([*built.command], folder, environment=schedule_environment(0, folder / "reports", folder / "n"))
    assert ran.exit_code == 0, ran
    return ran.stdout.decode()


def _compare(found: str, wanted: str) -> None:
    """Check that two texts are equal, numbers up to the order of sums."""
    assert _NUMBER.sub("#", found) == _NUMBER.sub("#", wanted) != ""
    for a, b in zip(_NUMBER.findall(found), _NUMBER.findall(wanted), strict=True):
        assert a == b or math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-9), (a, b)


def test_a_seeded_bug_accepts_a_wrong_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (title,) = (t for t in PROGRAMS if "through a macro" in t and t.startswith("barrier"))
    monkeypatch.setattr(claims, "find_overtaken", lambda _: Answer())
    assert outcome(port_program(PROGRAMS[title], tmp_path, wrong=True)) == "accepted"
