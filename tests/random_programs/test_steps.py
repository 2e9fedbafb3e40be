"""Random legal sequences of steps: the rewritten C does what the original does, and a bug in a step is noticed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.random_programs.steps_programs import make_source
from tests.random_programs.steps_sequences import differences, proposable, rewrite

BATCHES = 7
FUNCTIONS = 8

# how often each step must have been applied, at least; 1 for those not named
LEAST = {"interchange": 2, "tile": 5, "strip-mine": 8, "unroll": 8, "peel": 8, "split": 5, "distribute": 3}


@dataclass
class Survey:
    applied: Counter[str] = field(default_factory=Counter)
    longest: int = 0
    wrong: list[str] = field(default_factory=list)


def batch(rng: random.Random, folder: Path, steps: tuple[str, ...], survey: Survey) -> Iterator[str]:
    """Rewrite one unit of functions; yield what differs."""
    sources = [make_source(rng, f"f{k}") for k in range(FUNCTIONS)]
    outcome = rewrite(sources, rng, folder, steps)
    survey.applied += outcome.applied
    survey.longest = max(survey.longest, *(len(done) for done in outcome.steps.values()))
    yield from differences(sources, outcome, folder)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    rng, found = random.Random(20261121), Survey()
    for number in range(BATCHES):
        found.wrong += batch(rng, tmp_path_factory.mktemp(f"batch{number}"), proposable(), found)
    return found


def test_rewritten_programs_do_the_same(survey: Survey) -> None:
    assert not survey.wrong, survey.wrong[0]


def test_every_step_is_applied(survey: Survey) -> None:
    assert survey.longest == 5
    for name in proposable():
        assert survey.applied[name] >= LEAST.get(name, 1), survey.applied
