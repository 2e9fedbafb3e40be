"""Linear variables: which steps are right, and that what they keep apart is apart when the loop runs."""

from __future__ import annotations

import functools
import itertools
import random
import re

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import linear_lists
from warpsmith.poly.openmp.claims import judge_claim
from warpsmith.poly.openmp.linear_lists import judge_linear
from warpsmith.tree.claims import Claim
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol

# the clause, what an iteration does, whether the clause is certainly wrong (None: it is right), and words of it
CASES: list[tuple[str, str, bool | None, str]] = [
    ("linear(k)", "b[k] = i; k++;", None, ""),
    ("linear(k: 3)", "b[k] = i; k = k + 3;", None, ""),
    ("linear(k: -2)", "k -= 2; b[k] = i;", None, ""),
    ("linear(k: 2)", "b[k++] = i; b[k++] = 2;", None, ""),
    ("linear(k: 2)", "b[k] = i; k++;", True, "each iteration moves k by 1"),
    ("linear(k)", "b[i] = k;", True, "no iteration moves k"),
    ("linear(k)", "if (a[i]) b[i] = k;", False, "no iteration moves k"),
    ("linear(k: 2)", "b[k++] = i;", False, "each iteration moves k by 1"),
    ("linear(k)", "if (a[i]) k++;", False, "whether every iteration moves k by 1"),
    ("linear(k)", "k = a[i];", False, "whether every iteration moves k by 1"),
    ("linear(k)", "if (a[i]) continue; k++;", False, "whether every iteration moves k by 1"),
    ("linear(k)", "for (int j = 0; j < 1; j++) k++;", False, "whether every iteration moves k by 1"),
    ("linear(k)", "k += a[i];", False, "whether every iteration moves k by 1"),
    ("linear(k: n)", "k += n;", False, "is not judged"),
    ("linear(x)", "x += 1;", False, "is not judged"),
]
HEAD = "int n, int k, double x, int *restrict a, int *restrict b"


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}({HEAD}) {{\n#pragma omp parallel for {clause}\nfor (int i = 0; i < n; i++) {{ {body} }} }}"
        for number, (clause, body, _, _) in enumerate(CASES)
    )
    return program_of("\n".join(texts))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{clause} {body}" for clause, body, _, _ in CASES])
def test_steps(number: int) -> None:
    _, _, certain, words = CASES[number]
    (claim,) = claims_of(function(_program(), f"f{number}"))
    (symbol,) = claim.linear
    found = judge_linear(claim, symbol)
    assert (None if found is None else found[0]) == certain
    assert found is None or words in found[1].text


def _random_body(source: random.Random) -> tuple[str, int]:
    """Return what an iteration does, and the step that its clause names."""
    step = source.choice((1, 1, 2, 3))
    places = [source.randint(-1, step + (source.random() < 0.2)) for _ in range(source.randint(1, 3))]
    stores = [f"b[k + {place}] = i;" if place >= 0 else f"b[k - {-place}] = i;" for place in places]
    moved = step if source.random() < 0.9 else step + 1
    stores.insert(source.randint(0, len(stores)), f"k += {moved};")
    return " ".join(stores), step


def _meet(body: str) -> bool:
    """Whether two of five iterations, run one after the other, store to one element."""
    k, written = 10, list[set[int]]()
    for _ in range(5):
        mine = set[int]()
        for name, sign, number in re.findall(r"(b\[k|k) ([+-]=?) (\d+)", body):
            if name == "k":
                k += int(number)
            else:
                mine.add(k + int(number) * (-1 if sign == "-" else 1))
        written.append(mine)
    return any(one & other for one, other in itertools.combinations(written, 2))


def _wrongly_proved(seed: int, count: int) -> tuple[int, int]:
    """Return how many random linear loops are proved, and how many of those are not what they are alone."""
    source = random.Random(seed)
    bodies = [_random_body(source) for _ in range(count)]
    texts = (
        f"void f{n}({HEAD}) {{\n#pragma omp parallel for linear(k: {step})\nfor (int i = 0; i < n; i++) {{ {body} }} }}"
        for n, (body, step) in enumerate(bodies)
    )
    facts = Facts.about(program_of("\n".join(texts)), PolyOptions())
    proved = wrong = 0
    for (_, one), (body, step) in zip(facts.program.functions(), bodies, strict=True):
        (claim,) = claims_of(one)
        if isinstance(judge_claim(facts, one, claim).verdict, Proved):
            proved += 1
            wrong += _meet(body) or f"k += {step};" not in body
    return proved, wrong


def test_random_linear_loops() -> None:
    proved, wrong = _wrongly_proved(3, 80)
    assert proved > 15 and not wrong


def _moved_by(claim: Claim, symbol: Symbol) -> int:
    site = linear_lists._only_site(claim, symbol)
    return 0 if site is None or site.moved is None else site.moved


@pytest.mark.slow
def test_a_seeded_bug_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    named = frozenset({"b"})
    monkeypatch.setattr(
        "warpsmith.poly.openmp.claims.find_apart_by_linear",
        lambda _, region: frozenset(a.base for s in region.statements for a in s.accesses if a.base.name in named),
    )
    assert _wrongly_proved(3, 80)[1]
    monkeypatch.undo()
    monkeypatch.setattr(linear_lists, "_step", _moved_by)
    assert _wrongly_proved(3, 80)[1]
