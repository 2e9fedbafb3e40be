"""What two arms of a branch on data write at one point is written whichever runs: random branches, run for small sizes
with data that send each point into either arm, against the sections that are said to be written whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.poly.programs import load
from tests.poly.regions.test_sections import asked, bounds
from warpsmith.poly.isl.space import Map, prefix
from warpsmith.poly.regions import arms, covers
from warpsmith.poly.regions.region import RunsWhen
from warpsmith.tree.program import Program

COUNT = 48
SIZES = tuple((n, m) for n in range(-1, 5) for m in range(1, 4))
DATA = 24


class Branch(Struct, frozen=True):
    """for (i …) for (j …) if (x[…] > 0) STORES else STORES, where the stores of an arm may stand in another branch."""

    around: str
    width: str
    then: tuple[str, ...]
    other: tuple[str, ...]

    def c_text(self, name: str) -> str:
        loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < {self.width}; j++)"
        body = f"if (x[i] + x[j] > 0) {_arm(self.then)} else {_arm(self.other)}"
        text = f"{loops} {{ {body} }}" if not self.around else f"{loops} if ({self.around}) {{ {body} }}"
        return f"void {name}(int n, int m, double *restrict a, const double *restrict x) {{ {text} }}"

    def stored(self, n: int, m: int, chosen: random.Random) -> set[int]:
        """Return the elements that are stored at these sizes, where `chosen` decides as data do."""
        found = set()
        for i in range(n):
            for j in range(eval(self.width, {"m": m, "i": i})):
                known = {"i": i, "j": j, "n": n, "m": m}
                if not self.around or (eval(self.around, known) if "x" not in self.around else chosen.random() < 0.5):
                    arm = self.then if chosen.random() < 0.5 else self.other
                    if len(arm) == 2:
                        arm = arm[:1] if chosen.random() < 0.5 else arm[1:]
                    found |= {eval(store, known) for store in arm}
        return found


def _arm(stores: tuple[str, ...]) -> str:
    if len(stores) == 2:
        return f"{{ if (x[j] < 1) a[{stores[0]}] = 1; else a[{stores[1]}] = 2; }}"
    return f"{{ a[{stores[0]}] = x[i]; }}" if stores else ";"


def branches(seed: int) -> Iterator[Branch]:
    rng = random.Random(seed)
    for _ in range(COUNT):
        alike = rng.choice(("i*m + j", "i*m + j", "j", "i + j"))
        others = (alike, alike, alike, alike, "i*m + m - 1 - j", "i*m + j + 1", "(n - 1 - i)*m + j")
        arms = [tuple(rng.choice(others) for _ in range(rng.choice((1, 1, 2)))) for _ in range(2)]
        around = rng.choice(("", "", "", "j < m", "i > 0", "x[j] > 2"))
        yield Branch(around, rng.choice(("m", "m", "m", "1")), arms[0], arms[1] if rng.random() < 0.9 else ())


def written_whole(program: Program, made: list[Branch]) -> Iterator[tuple[Branch, bool, list[tuple[int, int]]]]:
    """Yield branches, whether their section is said to be written whole, and at which sizes data leave some of it."""
    for k, branch in enumerate(made):
        found = asked(program, f"f{k}/i", f"f{k}/i")
        section = next((s for s in found.sections if s.symbol.name == "a"), None)
        if section is None:
            continue
        missed = []
        for n, m in SIZES:
            ends = bounds(found, "a", n=n, m=m)
            whole = set(range(*ends)) if ends is not None else set()
            if any(not whole <= branch.stored(n, m, random.Random(seed)) for seed in range(DATA)):
                missed.append((n, m))
        yield branch, section.covers, missed


@pytest.fixture(scope="module")
def made() -> list[Branch]:
    return list(branches(20261127))


@pytest.fixture(scope="module")
def program(made: list[Branch], tmp_path_factory: pytest.TempPathFactory) -> Program:
    text = "\n".join(branch.c_text(f"f{k}") for k, branch in enumerate(made))
    return load(text, tmp_path_factory.mktemp("arms"))


def test_what_is_said_to_be_written_by_either_arm_is(made: list[Branch], program: Program) -> None:
    answers = list(written_whole(program, made))
    for branch, said, missed in answers:
        assert not (said and missed), (branch, missed[:3])
    assert 8 < sum(said for _, said, _ in answers) < len(answers), [(b, s) for b, s, _ in answers]


def _sets_in_place_of_relations(patch: pytest.MonkeyPatch) -> None:
    """What both arms write somewhere counts, not what both write at one point."""
    patch.setattr(covers, "prefix", lambda relation, length: prefix(relation, 0))


def _either_alone(patch: pytest.MonkeyPatch) -> None:
    """What one arm writes counts."""
    patch.setattr(Map, "intersect", lambda one, another: one.union(another))


def _any_condition(patch: pytest.MonkeyPatch) -> None:
    """A branch around that runs on data counts as one that runs."""
    real = arms.is_certain
    patch.setattr(arms, "is_certain", lambda state, runs, *rest: real(state, max(runs, RunsWhen.ALWAYS), *rest))


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_sets_in_place_of_relations, _either_alone, _any_condition])
def test_a_seeded_bug_is_seen(bug: object, made: list[Branch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(bug)
    text = "\n".join(branch.c_text(f"f{k}") for k, branch in enumerate(made))
    fresh = load(text, tmp_path)
    bug(monkeypatch)
    assert any(said and missed for _, said, missed in written_whole(fresh, made))
