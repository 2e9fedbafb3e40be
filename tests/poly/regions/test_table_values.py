"""Subscripts that a table gives: the verdicts on loops are those of counting through the table."""

from __future__ import annotations

import random

import pytest

from tests.poly.analysis import assumed, facts_of, program_of
from tests.poly.regions.modelled import accesses, modelled
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.regions.tables import runs_of

TABLE = "static int t[6] = {0, 2, 4, 9, 10, 11};"


@pytest.mark.parametrize(
    ("loop", "shown"),
    [
        ("for (int i = 0; i < 6; i++) a[t[i]] = 0;", "a[t[i]]="),
        ("for (int i = 0; i < 6; i++) a[t[i] + i] = 0;", "a[t[i] + i]="),
        ("for (int i = 0; i < 6; i++) a[t[4]] = 0;", "a[10]="),
        ("for (int i = 0; i < 6; i++) { int k = t[i]; a[k] = 0; }", "a[t[i]]="),
        # a subscript that may lie outside of the table
        ("for (int i = 0; i < 7; i++) a[t[i]] = 0;", "a[?]="),
        ("for (int i = 0; i < n; i++) a[t[i]] = 0;", "a[?]="),
        ("for (int i = 0; i < 6; i++) a[t[(i * i) & 3]] = 0;", "a[?]="),
    ],
)
def test_what_stands_in_a_table(loop: str, shown: str) -> None:
    region, model = modelled(program_of(f"{TABLE} void f(int n, int *a) {{ {loop} }}"), "f/i")
    assert shown in {text.replace("i + t[i]", "t[i] + i") for text in accesses(region, model)}
    assert not region.assumptions


def _random_loops(source: random.Random, count: int) -> list[tuple[list[int], str, int]]:
    found: list[tuple[list[int], str, int]] = []
    for _ in range(count):
        base, step = source.randint(0, 5), source.randint(0, 3)
        numbers = [base + step * k for k in range(source.randint(2, 5))]
        numbers += [source.randint(0, 20) for _ in range(source.randint(0, 4))]
        add, factor = source.randint(0, 4), source.randint(0, 2)
        found.append(
            (numbers, source.choice(("a[t{n}[i]] = a[t{n}[i] + {add}];", "a[{factor} * i + t{n}[i]] = {add};")), add)
        )
        found[-1] = (numbers, found[-1][1].replace("{factor}", str(factor)).replace("{add}", str(add)), add)
    return found


def _carries(numbers: list[int], body: str, add: int) -> bool:
    """Whether two iterations touch one element, one of them writing."""
    if body.startswith("a[t"):
        written, read = [{v} for v in numbers], [{v + add} for v in numbers]
    else:
        factor = int(body[2])
        written, read = [{factor * k + v} for k, v in enumerate(numbers)], [set[int]() for _ in numbers]
    pairs = ((i, j) for i in range(len(numbers)) for j in range(len(numbers)) if i != j)
    return any(written[i] & (written[j] | read[j]) for i, j in pairs)


def _differing(seed: int, count: int) -> tuple[int, int, int]:
    """Return how many loops are proved, how many refuted, and how many of these verdicts are wrong."""
    loops = _random_loops(random.Random(seed), count)
    texts = [
        f"static int t{n}[{len(numbers)}] = {{{', '.join(map(str, numbers))}}};\n"
        f"void f{n}(int *a) {{ for (int i = 0; i < {len(numbers)}; i++) {body.replace('{n}', str(n))} }}"
        for n, (numbers, body, _) in enumerate(loops)
    ]
    facts = facts_of("\n".join(texts))
    verdicts = [facts[f"f{n}/i"].verdict for n in range(count)]
    wrong = sum(
        (isinstance(v, Proved) and _carries(*one)) or (isinstance(v, Refuted) and not _carries(*one))
        for v, one in zip(verdicts, loops, strict=True)
    )
    return sum(isinstance(v, Proved) for v in verdicts), sum(isinstance(v, Refuted) for v in verdicts), wrong


def test_random_tables() -> None:
    proved, refuted, wrong = _differing(5, 24)
    assert min(proved, refuted) > 3 and not wrong


def test_a_seeded_bug_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "warpsmith.poly.regions.table_values.runs_of"
    monkeypatch.setattr(place, lambda numbers: runs_of([k * 3 for k in range(len(numbers))]))
    assert _differing(5, 24)[2]


def test_a_table_needs_no_guard() -> None:
    text = (
        f"{TABLE} void f(int n, int *restrict a, int *restrict b) {{ for (int i = 0; i < n; i++) a[i] = b[i] + t[i]; }}"
    )
    assert not assumed(facts_of(text)["f/i"])
