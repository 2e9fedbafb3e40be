"""Races: what the compiled machine finds is what the interpreter finds, access by access."""

from __future__ import annotations

import random

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch

ONLY = Checks(lost=False, requests=False, uninitialized=False, races=True)


def _case(seed: int) -> Case:
    """Return a kernel of a few accesses to two words, by some threads each, with barriers between some of them."""
    chosen = random.Random(seed)
    lines = [".shared .align 4 .b8 s[8];"]
    for number in range(chosen.randint(2, 5)):
        low, few = chosen.randrange(12), chosen.choice((1, 1, 2, 12))
        place = f"[s+{chosen.choice((0, 0, 4))}]" if chosen.random() < 0.7 else f"[%rd1+{chosen.choice((0, 4))}]"
        space = "shared" if place.startswith("[s") else "global"
        what = chosen.choice((
            f"ld.{space}.u32 %r5, {place};",
            f"st.{space}.u32 {place}, 1;",
            f"atom.{space}.add.u32 %r5, {place}, 1;",
        ))  # fmt: skip
        lines.append(f"sub.u32 %r2, %r1, {low}; setp.ge.u32 %p1, %r2, {few}; @%p1 bra $n{number}; {what} $n{number}:")
        lines.append(chosen.choice(("", "", "bar.sync 0;", "bar.warp.sync -1;")))
    launch = Launch((chosen.choice((1, 1, 2)), 1, 1), (12, 1, 1), {"n": bytes(4)}, warp=chosen.choice((4, 12, 32)))
    return Case(kernel("\n".join([*lines, "ret;"])), "k", launch, {"out": (bytes(64), True)})


def _check(seed: int) -> None:
    case = _case(seed)
    memory, launch = case.placed(checks=True)
    outcome = interpret(case.module, "k", launch, memory)
    assert outcome.complete
    found = agree(case, ONLY)
    assert found.startswith("a data race") if outcome.conflicts else found == ""


@pytest.mark.parametrize("seed", range(5))
def test_a_race_is_found_where_there_is_one(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5, 405, 40))
def test_races_are_found_where_there_are_any(start: int) -> None:
    for seed in range(start, start + 40):
        _check(seed)
