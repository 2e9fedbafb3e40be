"""Random legal sequences of steps: the rewritten C does what the original does, and a bug in a step is noticed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.random_programs.steps_programs import make_source
from tests.random_programs.steps_sequences import SANITIZED, differences, proposable, rewrite
from tests.sampling import one_in
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.analysis import orders
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.steps.data import expand, privatize
from warpsmith.loops.steps.order import distribute, interchange, peel, reverse, shift, split, strip_mine, tile, unroll
from warpsmith.loops.writing import pieces
from warpsmith.poly.legality import alone
from warpsmith.tree.nodes import Expr, For, Stmt

# batches with all steps, and as many more at most with those that were applied too seldom
BATCHES = 4
MORE = 8
FUNCTIONS = 8

# how often each step must have been applied, at least
LEAST = 2
# a bug that no batch of its own draw shows is not caught; most show in the first
SEEDED_BATCHES = 3


class Survey(Struct):
    applied: Counter[str] = field(default_factory=Counter)
    longest: int = 0
    wrong: list[str] = field(default_factory=list)


def batch(
    rng: random.Random, folder: Path, steps: tuple[str, ...], survey: Survey, options: tuple[str, ...] = SANITIZED
) -> Iterator[str]:
    """Rewrite one unit of functions; yield what differs."""
    sources = [make_source(rng, f"f{k}") for k in range(FUNCTIONS)]
    outcome = rewrite(sources, rng, folder, steps, survey.applied)
    survey.applied += outcome.applied
    survey.longest = max(survey.longest, *(len(done) for done in outcome.steps.values()))
    yield from differences(sources, outcome, folder, options)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    rng, found = random.Random(20261121), Survey()
    for number in range(BATCHES + MORE):
        seldom = tuple(name for name in proposable() if found.applied[name] < LEAST)
        steps = proposable() if number < BATCHES else seldom
        if steps:
            found.wrong += batch(rng, tmp_path_factory.mktemp(f"batch{number}"), steps, found)
    return found


def own_batches(bug: Bug, folder: Path) -> Iterator[str]:
    """Yield what differs in the programs that show a rare bug, which is not planted here."""
    rng = bug.source()
    for _ in range(bug.batches):
        yield from batch(rng, folder, (bug.step,), Survey())


def test_rewritten_programs_do_the_same(tmp_path: Path) -> None:
    survey = Survey()
    assert not list(batch(random.Random(20261121), tmp_path, proposable(), survey))
    assert survey.longest >= 3 and survey.applied.total() > FUNCTIONS


@pytest.mark.slow
def test_more_rewritten_programs_do_the_same(survey: Survey) -> None:
    assert not survey.wrong, survey.wrong[0]


@pytest.mark.slow
def test_every_step_is_applied(survey: Survey) -> None:
    assert survey.longest >= 4
    for name in proposable():
        assert survey.applied[name] >= LEAST, survey.applied


# --- seeded bugs


def always(*_: object, **__: object) -> Verdict:
    return Proved(())


def never(*_: object, **__: object) -> bool:
    return False


def no_test(condition: Expr | None, run: Sequence[Stmt]) -> Stmt:
    return GUARDED(None, run)


def first_choice(condition: Expr, then: Expr, other: Expr) -> Expr:
    return then


def second_choice(condition: Expr, then: Expr, other: Expr) -> Expr:
    return other


def one_further(expr: Expr, by: int) -> Expr:
    return PLUS(expr, by + 1)


def without_rest(loop: For, factor: int, fresh: Fresh) -> tuple[Stmt, ...]:
    return PARTLY(loop, factor, fresh)[:1]


def without_tests(*given: object) -> tuple[object, list[Expr]]:
    return NARROWED(*given)[0], []  # type: ignore[arg-type]


def unchanged(body: Stmt, *_: object) -> Stmt:
    return body


GUARDED, PLUS, PARTLY, NARROWED = pieces.guard_run, pieces.plus, unroll._partly, interchange._narrow_range


class Bug(Struct, frozen=True):
    """What is wrong, where it is seeded, and the step that does wrong then; `draw`: the random programs that show it
    soon; `batches`: how many of them show what the batches with all steps do not."""

    step: str
    name: str
    where: object
    what: str
    instead: object
    draw: str = ""
    batches: int = 0

    def source(self) -> random.Random:
        """Return where its programs come from."""
        return random.Random(f"{self.step}: {self.name}{self.draw}")


BUGS = (
    Bug("interchange", "dependences forgotten", interchange, "keeps_order", always),
    Bug("interchange", "tests of triangles forgotten", interchange, "_narrow_range", without_tests, " 4", 3),
    Bug("distribute", "dependences forgotten", distribute, "keeps_order", always),
    Bug("tile", "dependences forgotten", tile, "keeps_order", always, " 1"),
    Bug("tile", "tiles at the edge taken for whole", strip_mine, "choice", first_choice),
    Bug("reverse", "dependences forgotten", reverse, "keeps_order", always),
    Bug("reschedule", "dependences forgotten", orders, "keeps_order", always, " 3", 1),
    Bug("strip-mine", "the last strip taken for whole", strip_mine, "choice", first_choice),
    Bug("unroll", "iterations left over forgotten", unroll, "_partly", without_rest),
    Bug("unroll", "each copy one further", unroll, "plus", one_further),
    Bug("peel", "a loop without iterations forgotten", peel, "guard_run", no_test),
    Bug("split", "a cut outside the range forgotten", split, "choice", first_choice),
    Bug("split", "a cut inside the range forgotten", split, "choice", second_choice),
    Bug("shift", "the counter's old value forgotten", shift, "replace_values", unchanged),
    Bug("privatize", "a value that is read later forgotten", privatize, "read_after", never),
    Bug("privatize", "a value of an older iteration forgotten", privatize, "private_in", always),
    Bug("scalar-replace", "other references forgotten", alone, "overlap", lambda *_: None),
    Bug("expand", "a value of an older iteration forgotten", expand, "private_in", always),
)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.batches], ids=lambda bug: f"{bug.step}: {bug.name}")
def test_programs_that_show_rare_bugs_do_the_same(bug: Bug, tmp_path: Path) -> None:
    assert not list(own_batches(bug, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("bug", one_in(4, BUGS), ids=lambda bug: f"{bug.step}: {bug.name}")
def test_a_seeded_bug_is_caught(bug: Bug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bug.where, bug.what, bug.instead)
    rng = bug.source()
    for _ in range(bug.batches or SEEDED_BATCHES):
        if next(batch(rng, tmp_path, (bug.step,), Survey(), ("-O0",)), ""):
            return
    pytest.fail("nothing differs")
