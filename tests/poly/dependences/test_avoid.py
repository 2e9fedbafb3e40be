"""Conflicts that a guard on sizes can exclude, and those for which only short loops would be left."""

from __future__ import annotations

import itertools

import pytest

from tests.poly.analysis import assumed, facts_of
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.isl.formula import Formula, atoms_of, equal
from warpsmith.poly.isl.polynomial import ONE, atom
from warpsmith.poly.regions.state import State

GUARDED = {
    "a[i] = 0.5 * a[i + k];": "k + n <= 0 || k == 0 || n <= k",
    "a[i] = 0.5 * a[m];": "m + 1 <= 0 || n <= m",
    "a[i] += a[i - k - 1];": "k + 1 == 0 || k + n + 1 <= 0 || n <= k + 1",
}

REFUTED = (
    "a[i + 1] = 0.5 * a[i] * a[i];",
    "a[k] = i;",
    "a[i] = 0.5 * a[i + 100];",
    "a[i + k + 1] = a[i + k] * a[i + k];",
)


def loop(body: str) -> str:
    return f"void f(int n, int m, int k, double *restrict a) {{ for (int i = 0; i < n; i++) {body} }}"


@pytest.mark.parametrize("body", GUARDED)
def test_a_guard_keeps_the_conflict_away(body: str) -> None:
    facts = facts_of(loop(body))["f/i"]
    assert facts.category == "parallel" and isinstance(facts.verdict, Proved)
    assert assumed(facts) == [GUARDED[body]]
    assert facts_of(loop(body), guards=False)["f/i"].category == "sequential"


@pytest.mark.parametrize("body", REFUTED)
def test_no_guard_for_short_loops_only(body: str) -> None:
    facts = facts_of(loop(body))["f/i"]
    assert facts.category == "sequential" and isinstance(facts.verdict, Refuted)


@pytest.mark.parametrize("body", ["a[i ^ k] = a[i];", "if (i & k) a[i / m] += a[i];"])
def test_no_guard_about_values_that_are_only_bounded(body: str) -> None:
    assert not [text for text in assumed(facts_of(loop(body))["f/i"]) if "n" in text]
    assert not isinstance(facts_of(loop(body))["f/i"].verdict, Proved)


STRIDED = {
    "a[3 * i + k] = a[3 * i] + a[3 * i + 2 * k];": (3, (1,), (0, 2)),
    "{ double x = a[3 * i]; a[3 * i] = a[3 * i + k]; a[3 * i + k] = x; }": (3, (0, 1), (0, 1)),
    "{ double x = a[4 * i]; a[4 * i] = a[4 * i + 2 * k]; a[4 * i + 2 * k] = x; }": (4, (0, 2), (0, 2)),
    # with a distance of 1 the next iteration reads it
    "a[2 * i + k] = a[2 * i] + a[2 * i - k];": (2, (1,), (0, -1)),
}


LAST = next(reversed(STRIDED))


def find_meeting(body: str) -> tuple[int, int] | None:
    """Return sizes for which a loop's guard holds and two iterations meet."""
    (guard,) = assumed(facts_of(loop(body))["f/i"])
    step, writes, reads = STRIDED[body]
    allowed = guard.replace("||", "or").replace("&&", "and")
    for n, k in itertools.product(range(2, 9), range(-9, 10)):
        written = [{step * i + part * k for part in writes} for i in range(n)]
        touched = [one | {step * i + part * k for part in reads} for i, one in enumerate(written)]
        meets = any(written[i] & touched[j] for i in range(n) for j in range(n) if i != j)
        if eval(allowed, {"n": n, "k": k}) and meets:
            return n, k
    return None


@pytest.mark.parametrize("body", STRIDED)
def test_a_distance_of_1_is_let_in_where_it_is_right(body: str) -> None:
    (guard,) = assumed(facts_of(loop(body))["f/i"])
    assert find_meeting(body) is None
    assert eval(guard.replace("||", "or").replace("&&", "and"), {"n": 8, "k": 1}) == (body != LAST)


def test_a_distance_of_1_that_is_let_in_without_a_look_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def every(_: State, __: object, sides: tuple[Formula, Formula], ___: object) -> list[Formula]:
        return [equal(atom(name), ONE) for name in sorted(atoms_of(sides[0]))]

    monkeypatch.setattr(State, "_unit_values", every)
    assert find_meeting(LAST) is not None
