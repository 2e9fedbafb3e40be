"""Judges claims of C texts, runs them on threads, and says whether a witness really happens."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

from tests.poly.openmp.claim_programs import OPEN, RIGHT, WRONG, function
from tests.poly.openmp.threads import Cell, Machine
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import ClaimFacts, PolyOptions
from warpsmith.poly.openmp import claims
from warpsmith.tree.nodes import Function

SIZES = {"n": 6, "m": 4}
SCHEDULES = 12
EARLY = re.compile(r"iteration ((?:\w+ = -?\d+(?:, )?)+)(?: \([^)]*\))? reads (\w+) before writing it")

Judged = tuple[Function, ClaimFacts]


def judged(text: str, folder: Path) -> dict[str, Judged]:
    """Return every function of a C text with its claim, the outermost one."""
    path = folder / "claims.c"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    found: dict[str, Judged] = {}
    for _, one in program.functions():
        claim = claims_of(one)[0]
        found[one.symbol.name] = one, claims.judge_claim(facts, one, claim)
    return found


def named(title: str) -> str:
    """Return the function that a case is."""
    return re.sub(r"\W", "_", title)


@functools.cache
def fixed() -> dict[str, Judged]:
    """Return all cases, read and judged once."""
    return judge_fixed()


def judge_fixed() -> dict[str, Judged]:
    """Return all cases, read and judged now."""
    texts = [function(named(t), b, c, x) for t, (b, c, x, _) in WRONG.items()]
    texts += [function(named(t), b, c, x) for t, (b, c, x) in (RIGHT | OPEN).items()]
    with tempfile.TemporaryDirectory() as folder:
        return judged("\n".join(texts), Path(folder))


def differs(one: Function, facts: ClaimFacts, sizes: dict[str, int]) -> bool:
    """Whether some schedule computes something else than one thread does."""
    alone = Machine(one, facts.claim, sizes).run()
    for seed in range(SCHEDULES):
        threads = Machine(one, facts.claim, sizes, seed).run()
        keys = alone.keys() | threads.keys()
        plain = Machine(one, facts.claim, sizes)
        if any(alone.get(k, plain.load_now(k)) != threads.get(k, plain.load_now(k)) for k in keys):
            return True
    return False


def happens(one: Function, facts: ClaimFacts, reason: Reason) -> bool:
    """Whether the two iterations that a reason names really touch one element that threads share, one writing; or, for
    what a thread owns, whether the one that it names reads before it writes; else whether some schedule differs."""
    dependence = reason.dependence
    head = dependence.witness.partition(": ")[0] if dependence is not None else reason.text
    sizes = {**SIZES, **{k: int(v) for k, v in re.findall(r"\b([nm]) = (-?\d+)", head)}}
    machine = Machine(one, facts.claim, sizes)
    machine.run()
    depth = len(facts.claim.loops)
    early = EARLY.search(reason.text)
    if early is not None:
        at = tuple(int(v) for v in re.findall(r"-?\d+", early[1]))
        mine = [a for a in machine.trace if a.iteration[: len(at)] == at and _is(a.cell[0], early[2])]
        first: dict[Cell, bool] = {}
        for access in mine:
            first.setdefault(access.cell, access.write)
        return False in first.values()
    if dependence is None:
        return differs(one, facts, {**SIZES})
    found = re.findall(r"\w+\(([^)]*)\) (reads|writes)", dependence.witness)
    points = [(tuple(int(v) for v in values.split(","))[:depth], verb == "writes") for values, verb in found]
    element = re.search(r"(?:reads|writes) (\w+)", dependence.witness)
    assert element is not None and len(points) == 2
    touched = [
        {a.cell for a in machine.trace if a.iteration == at and a.write == write and _is(a.cell[0], element[1])}
        for at, write in points
    ]
    return points[0][0] != points[1][0] and (points[0][1] or points[1][1]) and bool(touched[0] & touched[1])


def _is(object_name: str, variable: str) -> bool:
    return object_name.partition("#")[0] == variable


def complaints(cases: dict[str, Judged]) -> list[str]:
    """Return the titles of the cases about which something wrong is said."""
    found: list[str] = []
    for title, (_, _, _, said) in WRONG.items():
        one, facts = cases[named(title)]
        reasons = facts.verdict.reasons if isinstance(facts.verdict, Refuted) else ()
        right = any(said in reason.text for reason in reasons) and all(happens(one, facts, r) for r in reasons)
        found += [] if right else [title]
    for title in RIGHT:
        one, facts = cases[named(title)]
        found += [] if isinstance(facts.verdict, Proved) and not differs(one, facts, SIZES) else [title]
    return found + [title for title in OPEN if not isinstance(cases[named(title)][1].verdict, Unknown)]
