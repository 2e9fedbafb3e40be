"""Pointers that are one from a loop's second round on: what is found holds when the rounds are run."""

from __future__ import annotations

import random

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import same_pointers
from warpsmith.poly.openmp.claims import judge_claim
from warpsmith.poly.openmp.same_pointers import find_same_pointers
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names, loops

LOOP = "for (int i = 1; i < n; i++) { p[i] = q[i - 1]; r[i] = 0; }"
STATEMENTS = (
    "p = q;",
    "q = p;",
    "r = p;",
    "p = r;",
    "q = r;",
    "r = q;",
    "if (n > 3) p = r;",
    "{ p = r; }",
    "if (n > 3) q = r;",
)


def _programs(bodies: list[tuple[list[str], list[str]]]) -> Program:
    texts = (
        f"void f{k}(int n, double *p, double *q, double *r) {{\n"
        f"for (int t = 0; t < n; t++) {{ {' '.join(before)}\n#pragma omp parallel for\n{LOOP} {' '.join(after)} }} }}"
        for k, (before, after) in enumerate(bodies)
    )
    return program_of("\n".join(texts))


def _found(program: Program, number: int) -> set[tuple[str, str]]:
    one = function(program, f"f{number}")
    inner = next(n for n, name in loop_names(one).items() if name.endswith("/t/i") and isinstance(n, For))
    pairs = find_same_pointers(Origin.of(program, one), inner, dict(loops(one.body))[inner])
    return {(pair.pointer.name, pair.value.span.text) for pair in pairs}


def _always_same(before: list[str], after: list[str], pair: tuple[str, str]) -> bool:
    """Whether two pointers are one at the shared loop in every round but the first, whatever n is."""
    for large in (False, True):
        held = {"p": 1, "q": 2, "r": 3}
        for round_number in range(6):
            for position, text in enumerate([*before, "", *after]):
                if position == len(before) and round_number and held[pair[0]] != held[pair[1]]:
                    return False
                if text and (large or not text.startswith("if")):
                    target, _, value = text.strip("{} ;").rpartition(")")[2].strip().partition(" = ")
                    held[target] = held[value]
    return True


def _wrong(seed: int, count: int) -> tuple[int, int]:
    """Return how many pairs are found in random bodies, and how many of them are two in some later round."""
    source = random.Random(seed)
    some = [[source.choice(STATEMENTS) for _ in range(source.randint(0, 2))] for _ in range(2 * count)]
    bodies = list(zip(some[:count], some[count:], strict=True))
    program = _programs(bodies)
    found = [(body, pair) for k, body in enumerate(bodies) for pair in _found(program, k)]
    return len(found), sum(not _always_same(*body, pair) for body, pair in found)


def test_what_is_found_holds_in_every_later_round() -> None:
    found, wrong = _wrong(2, 60)
    assert found > 5 and not wrong


def test_a_seeded_bug_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_pointers, "_changes", lambda *_: False)
    assert _wrong(2, 60)[1]


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ("p = q;", Refuted),
        ("double *s = q; q = p; (void)s;", Refuted),
        ("double *s = q; q = p; p = s;", Proved),
        ("if (n > 3) q = p;", Proved),
    ],
)
def test_claims(after: str, kind: type) -> None:
    program = _programs([([], [after])])
    one, facts = function(program, "f0"), Facts.about(program, PolyOptions())
    (claim,) = claims_of(one)
    verdict = judge_claim(facts, one, claim).verdict
    assert isinstance(verdict, kind)
    assert not isinstance(verdict, Refuted) or all("iteration t = 1" in reason.text for reason in verdict.reasons)
