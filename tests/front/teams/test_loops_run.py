"""The loops that constructs are read as, run: they leave in memory what the constructs leave on full teams."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.front.teams.as_text import as_loops, read_text
from tests.front.teams.constructs import READ, program
from tests.front.teams.team_programs import THREADS, random_construct
from warpsmith.front.teams import own, phases, read, write
from warpsmith.tree.nodes import Index, Literal, Stmt, While
from warpsmith.tree.types import INT
from warpsmith.tree.walk import names

_TEAMS = 3
_RANDOM = 40


def leaves(bodies: list[str], folder: Path, *, loops: bool) -> list[str]:
    """Return what each construct leaves in its arrays: as it stands, on teams of 8 threads, or as loops."""
    text = "\n".join(program(body).replace("void work(", f"void work{k}(") for k, body in enumerate(bodies))
    if loops:
        before, found = read_text(text, folder)
        assert found.read == len(bodies), found.left
        text = as_loops(before, found)
    size = _TEAMS * THREADS
    shown = "\n".join(f"    fill(); work{k}({_TEAMS}, {size}, a, b); show();" for k in range(len(bodies)))
    (folder / "all.c").write_text(f"""{text}
#include <stdio.h>
static double a[{size}], b[{size}];
static void fill(void) {{ for (int k = 0; k < {size}; k++) {{ a[k] = k % 5; b[k] = (k * 7) % 11; }} }}
static void show(void)
{{
    for (int k = 0; k < {size}; k++) printf("%.17g %.17g ", a[k], b[k]);
    printf("\\n");
}}
int main(void)
{{
{shown}
    return 0;
}}
""")
    flags = () if loops else ("-fopenmp",)
    subprocess.run(["gcc", "-w", "-O0", *flags, "all.c", "-o", "run"], cwd=folder, check=True)
    told = {"OMP_NUM_THREADS": str(THREADS), "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "passive"}
    ran = subprocess.run(["./run"], cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, **told})
    return ran.stdout.splitlines()


def _differing(bodies: list[str], folder: Path) -> list[int]:
    (folder / "teams").mkdir()
    (folder / "loops").mkdir()
    one = leaves(bodies, folder / "teams", loops=False)
    other = leaves(bodies, folder / "loops", loops=True)
    return [k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]


def test_loops_leave_what_full_teams_leave(tmp_path: Path) -> None:
    bodies = [*READ.values(), *map(random_construct, range(8))]
    assert _differing(bodies, tmp_path) == []


@pytest.mark.slow
def test_many_random_constructs(tmp_path: Path) -> None:
    assert _differing([*map(random_construct, range(100, 100 + _RANDOM))], tmp_path) == []


def _no_barriers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a barrier stands in no loop, what is before and behind it is one phase."""
    real = phases._Maker.listed

    def listed(self: object, statements: tuple[Stmt, ...], same: object) -> object:
        kept = tuple(stmt for stmt in statements if not phases._is_barrier(stmt))
        return real(self, kept, same)  # type: ignore[arg-type]

    monkeypatch.setattr(phases._Maker, "listed", listed)
    monkeypatch.setattr(read, "check_meetings", lambda items, body, fixed: None)  # it would refuse some


def _one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """All threads have one copy of what is their own."""
    real = write.RegionWriter._element

    def element(self: write.RegionWriter, array: object, place: object) -> Index:
        made = real(self, array, place)  # type: ignore[arg-type]
        zero = Literal(span=made.span, type=INT, text="0", value=0)
        return Index(span=made.span, type=made.type, base=made.base, index=zero)

    monkeypatch.setattr(write.RegionWriter, "_element", element)


def _said_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What memory holds is taken for a number that follows from the thread's."""
    monkeypatch.setattr(
        phases, "is_pure", lambda expr, fixed: all(n.symbol in fixed or n.symbol.name in "abpq" for n in names(expr))
    )


def _never_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable is seen to change after its declaration."""
    real = own.changes_in
    monkeypatch.setattr(
        phases, "changes_in", lambda region, symbol: real(region, symbol) if isinstance(region, While) else iter(())
    )


def _one_thread_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last thread is left out."""
    real = write.counted_loop

    def counted_loop(counter: object, count: object, *rest: object) -> object:
        less = Literal(span=count.span, type=INT, text="7", value=7)  # type: ignore[attr-defined]
        return real(counter, less, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(write, "counted_loop", counted_loop)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_no_barriers, _one_for_all, _said_again_later, _never_changed, _one_thread_less])
def test_a_bug_in_the_reading_shows(
    bug: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    assert _differing([*map(random_construct, range(12))], tmp_path)
