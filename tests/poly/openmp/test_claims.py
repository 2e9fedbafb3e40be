"""Claims: what is confirmed never differs on any threads; what is refuted has a witness that really happens."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import msgspec.structs
import pytest
from msgspec import Struct

from tests.poly.openmp.claim_oracle import SIZES, complaints, differs, fixed, happens, judge_fixed, judged, named
from tests.poly.openmp.claim_programs import OPEN, RIGHT, WRONG, random_function
from warpsmith.base.verdict import Dependence, Proved, Refuted, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly import claimed
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.dependences import describe
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import claims, linear_lists
from warpsmith.poly.openmp import lists as claim_lists
from warpsmith.tree.claims import Claim
from warpsmith.tree.types import Symbol


@pytest.mark.parametrize("title", WRONG)
def test_a_wrong_pragma_is_refuted_with_a_witness_that_replays(title: str) -> None:
    one, facts = fixed()[named(title)]
    assert isinstance(facts.verdict, Refuted), [r.text for r in getattr(facts.verdict, "reasons", ())]
    assert any(WRONG[title][3] in reason.text for reason in facts.verdict.reasons), [
        r.text for r in facts.verdict.reasons
    ]
    for reason in facts.verdict.reasons:
        assert reason.rule == "CLM001"
        assert happens(one, facts, reason), reason.text


@pytest.mark.parametrize("title", RIGHT)
def test_a_right_pragma_is_confirmed(title: str) -> None:
    one, facts = fixed()[named(title)]
    assert not differs(one, facts, SIZES)
    assert isinstance(facts.verdict, Proved), [r.text for r in getattr(facts.verdict, "reasons", ())]


@pytest.mark.parametrize("title", OPEN)
def test_what_only_the_run_tells_is_left_open(title: str) -> None:
    _, facts = fixed()[named(title)]
    assert isinstance(facts.verdict, Unknown)
    assert facts.understood


def survey(seed: int, count: int, folder: Path) -> dict[str, int]:
    """Judge random pragmas, run each on threads, and return how many there were of each kind."""
    source = random.Random(seed)
    cases = judged("\n".join(random_function(f"f{k}", source) for k in range(count)), folder)
    counts = {"Proved": 0, "Refuted": 0, "Unknown": 0}
    for name, (one, facts) in cases.items():
        counts[type(facts.verdict).__name__] += 1
        shown = f"{name}: {one.span.text}"
        if isinstance(facts.verdict, Proved):
            # rows are long enough for the sizes at hand
            assert all(re.fullmatch(r"m <= 10\d", a.text) for a in facts.verdict.assumptions), shown
            assert not differs(one, facts, SIZES), shown
        elif isinstance(facts.verdict, Refuted):
            assert all(happens(one, facts, reason) for reason in facts.verdict.reasons), (
                shown,
                [r.text for r in facts.verdict.reasons],
            )
    return counts


def test_random_pragmas(tmp_path: Path) -> None:
    counts = survey(11, 60, tmp_path)
    assert min(counts["Proved"], counts["Refuted"]) > 5, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 30))
def test_many_random_pragmas(seed: int, tmp_path: Path) -> None:
    survey(seed, 150, tmp_path)


def _no_lists(*_: object) -> tuple[list[object], list[object]]:
    return [], []


def _shifted(original: Callable[..., Dependence | None]) -> Callable[..., Dependence | None]:
    """A witness whose first iteration is another one."""

    def describe(*given: object) -> Dependence | None:
        found = original(*given)
        return None if found is None else msgspec.structs.replace(found, witness=found.witness.replace("(0", "(3", 1))

    return describe


def _without(original: Callable[..., object], *names: str) -> Callable[..., object]:
    """A claim whose lists of these names are read as another list."""

    def claim(*given: object) -> object:
        made = original(*given)
        assert isinstance(made, Struct)
        return msgspec.structs.replace(made, **dict.fromkeys(names, frozenset()))

    return claim


def _moved_by(claim: Claim, symbol: Symbol) -> int:
    """The step of a linear variable, as its loop moves it."""
    site = linear_lists._only_site(claim, symbol)
    return 0 if site is None or site.moved is None else site.moved


BUGS: dict[str, tuple[object, str, object]] = {
    "threads own what is written": (
        claims._Question, "_find_owned", lambda self, loop: frozenset(self.roles.private) | self.claim.owned
    ),
    "inner counters are forgotten": (claims, "_counters", lambda *_: iter(())),
    "everything protected is apart": (claims, "_same_protection", lambda pair: any(p is not None for p in pair)),
    "nothing is protected": (claims, "_same_protection", lambda _: False),
    "every linear variable is right": (claim_lists, "judge_linear", lambda *_: None),
    "what is linear moves by any step": (linear_lists, "_step", _moved_by),
    "loops inside own nothing": (claimed, "_claim", _without(claimed._claim, "inner")),
    "lists are not judged": (claims, "owned_reasons", _no_lists),
    "a value is never used later": (claim_lists._Lists, "_value_after", lambda *_: iter(())),
    "counters are never used later": (claim_lists._Lists, "counters", lambda _: iter(())),
    "reductions are right": (claim_lists._Lists, "_reduction", lambda *_: iter(())),
    "other uses of a sum are right": (claim_lists._Lists, "_other_use", lambda *_: iter(())),
    "nothing is read first": (claim_lists, "certain_first_read", lambda *_: None),
    "private variables have a value": (claim_lists._Lists, "_value_inside", lambda *_a, **_k: iter(())),
    "another iteration is named": (claims, "describe", _shifted(describe)),
    "private is not read": (claimed, "_claim", _without(claimed._claim, "private")),
    "firstprivate is not read": (claimed, "_claim", _without(claimed._claim, "firstprivate")),
    "lastprivate is not read": (claimed, "_claim", _without(claimed._claim, "lastprivate")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, replacement = BUGS[bug]
    monkeypatch.setattr(owner, name, replacement)
    assert complaints(judge_fixed())


THREADS = """
int omp_get_thread_num(void);
void f(int n, int *restrict a, int *restrict b)
{
    int *from = a, *to = b;
#pragma omp parallel firstprivate(from, to)
    {
        int own = 3, *spare, number = omp_get_thread_num(), *mine = a + 100 * number;
        for (int t = 0; t < 4; t++) {
#pragma omp for
            for (int i = 0; i < n; i++)
                to[i] = from[i] + own;
            spare = from;
            from = to;
            to = spare;
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            own += a[i];
#pragma omp for
        for (int i = 0; i < n; i++)
            b[number] += i;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            mine[0] += i;
#pragma omp single
        b[1] = mine[0];
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] = omp_get_thread_num();
#pragma omp critical
        b[0] += own;
    }
}
"""


def test_what_threads_own_in_a_region_is_not_called_wrong(tmp_path: Path) -> None:
    path = tmp_path / "threads.c"
    path.write_text(THREADS)
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    ((_, one),) = program.functions()
    found = [claims.judge_claim(facts, one, claim) for claim in claimed.claims_of(one)]
    # pointers that are swapped behind the loop; a part of a sum that each thread makes for itself; an element of each
    assert len(found) == 5
    assert not any(isinstance(facts.verdict, Refuted) for facts in found)
    assert all(isinstance(facts.verdict, Unknown) for facts in found[1:4])
