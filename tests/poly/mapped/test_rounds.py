"""After how many iterations loops end in which pointers trade places."""

from __future__ import annotations

import random
import re

import pytest

from tests.poly.analysis import program_of
from tests.poly.mapped.programs import HEAD, TAIL
from tests.poly.mapped.test_walk import SWAPPED
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped import rounds
from warpsmith.poly.mapped.judge import judge_mapped
from warpsmith.poly.mapped.rounds import Trips, ends_after
from warpsmith.report.port.mapped import mapped_findings
from warpsmith.tree.program import Assumption


def _verdict(body: str, *granted: str) -> tuple[Verdict, Facts]:
    options = PolyOptions(granted=tuple(Assumption(text, "granted") for text in granted))
    facts = Facts.about(program_of(HEAD + body + TAIL), options)
    (found,) = judge_mapped(facts)
    return found.verdict, facts


def test_ends_are_those_of_walks_of_any_length() -> None:
    rng = random.Random(3)
    for _ in range(400):
        again = rng.randrange(4)
        walked = again + rng.randrange(1, 5)
        modulus = rng.choice((0, 0, 1, 2, 3, 4))
        trips = Trips(rng.randrange(modulus) if modulus else rng.randrange(1, 20), modulus)
        reached, at = set[int](), -1
        for number in range(1, 200):
            at = at + 1 if at + 1 < walked else again
            if number == trips.number if not modulus else number % modulus == trips.number:
                reached.add(at)
        assert set(ends_after(trips, walked, again)) == reached, (trips, walked, again)


SUM_B_INSIDE = "for (int i = 0; i < n; i++) s += q[i];\n"
READ = "}\nfor (int i = 0; i < n; i++) s += p[i];"
PARITY = {
    "h % 2 == 0": ("k", "h", True),
    "n >= 1 && h % 2 == 0": ("k", "h", True),
    "h % 4 == 2": ("k", "h", True),
    "h % 3 == 0": ("k", "h", False),
    "h % 2 == 1": ("k", "h", False),
    "n % 2 == 0": ("k", "h", False),
    "t % 2 == 0": ("k", "t", False),
}


@pytest.mark.parametrize("given", PARITY)
def test_what_is_said_of_the_number_decides(given: str) -> None:
    _, bound, right = PARITY[given]
    found, facts = _verdict(SWAPPED.format(bound) + READ, given)
    assert isinstance(found, Proved) == right
    notes = [f for f in mapped_findings(facts) if f.assumptions]
    assert [f.assumptions for f in notes] == ([(given,)] if right else [])


def test_what_would_decide_is_named() -> None:
    found, facts = _verdict(SWAPPED.format("h") + READ)
    assert isinstance(found, Unknown) and {r.settled_by for r in found.reasons} == {("h % 2 == 0",)}
    (warning,) = mapped_findings(facts)
    assert warning.help[-1] == "the directives are right if h % 2 == 0: --assume 'h % 2 == 0'"
    other, facts = _verdict(SWAPPED.format("h") + SUM_B_INSIDE + READ)
    assert isinstance(other, Unknown) and not any("--assume" in h for f in mapped_findings(facts) for h in f.help)
    changed, _ = _verdict("h += argc;\n" + SWAPPED.format("h") + READ)
    assert isinstance(changed, Unknown) and not any(r.settled_by for r in changed.reasons)
    later, _ = _verdict("h += argc;\n" + SWAPPED.format("h") + READ, "h % 2 == 0")
    assert not isinstance(later, Proved)


def test_seeded_bug_another_remainder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_REMAINDER", re.compile(r"\s*(\w+)\s*%\s*(\d+)\s*==\s*(\d+).*"))
    found, _ = _verdict(SWAPPED.format("h") + READ, "h % 2 == 0 || n > 3")
    assert isinstance(found, Proved)
