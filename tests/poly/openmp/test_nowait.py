"""`nowait`: threads that go on meet those that still run the loop, or certainly do not."""

from __future__ import annotations

import functools
import re

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.nowait import find_overtaken
from warpsmith.tree.walk import loops

NOWAIT = """
void {name}(int n, int *restrict a, int *restrict b, int *restrict c)
{{
#pragma omp parallel
    {{
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            a[i] = b[i];
        {between}
    }}
}}
"""


CASES: list[tuple[str, str]] = [
    ("\n#pragma omp for\nfor (int i = 1; i < n; i++) c[i] = a[i - 1];", "nowait is wrong"),
    ("\n#pragma omp for schedule(dynamic)\nfor (int i = 1; i < n; i++) c[i] = a[i];", "nowait is wrong"),
    ("\n#pragma omp single\nc[0] = a[2];", "nowait is wrong"),
    ("\n#pragma omp master\n{ c[0] = a[2]; }", "nowait is wrong"),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = a[i];", ""),
    ("\n#pragma omp barrier\n#pragma omp for\nfor (int i = 1; i < n; i++) c[i] = a[i - 1];", ""),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = b[i];", ""),
    # a range of its own, and another schedule, give an element to another thread
    ("\n#pragma omp for\nfor (int i = 0; i < n - 1; i++) c[i] = a[i];", ""),
    (
        "\n#pragma omp for nowait\nfor (int i = 0; i < n; i++) c[i] = b[i];\n#pragma omp master\nc[0] = a[1];",
        "nowait is wrong",
    ),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = b[i];\n#pragma omp master\nc[0] = a[1];", ""),
    ("if (n) {\n#pragma omp barrier\n}\n#pragma omp master\nc[0] = a[1];", ""),
    ("\n#pragma omp critical\nc[0] = a[1];", ""),
    ("\n#pragma omp task\nc[0] = a[1];", ""),
    ("c[0] = a[n + 5];", ""),
]


@functools.cache
def _facts() -> Facts:
    texts = (NOWAIT.format(name=f"f{number}", between=between) for number, (between, _) in enumerate(CASES))
    return Facts.about(program_of("\n".join(texts)), PolyOptions())


def _overtaken(number: int) -> list[Reason]:
    facts = _facts()
    one = function(facts.program, f"f{number}")
    claim = claims_of(one)[0]
    with budget(facts.options.max_operations):
        return list(find_overtaken(facts, one, claim, dict(loops(one.body))[claim.marked], frozenset()))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_who_does_not_wait(number: int) -> None:
    found = _overtaken(number)
    if not CASES[number][1]:
        assert not found
        return
    (reason,) = found
    assert reason.rule == "CLM001" and CASES[number][1] in reason.text
    # the two accesses that it names are of one element
    reported = re.fullmatch(
        r".*iteration (\d+) of the loop writes a\[(\d+)\].* reads it(?: \(n = (\d+)\))?", reason.text
    )
    assert reported is not None and reported[1] == reported[2], reason.text
    assert reason.dependence is not None and reason.dependence.sink.text.startswith("a[")
    index = reason.dependence.sink.text[2:-1]
    other = re.search(r"iteration (\d+) in line", reason.text)
    assert eval(index, {"i": int(other[1]) if other is not None else 0}) == int(reported[2])


def test_a_loop_that_waits_is_not_asked() -> None:
    facts, one = _facts(), function(_facts().program, "f0")
    claim = claims_of(one)[0]
    around = dict(loops(one.body))[claim.marked]
    second = claims_of(one)[1]
    with budget(facts.options.max_operations):
        assert not list(find_overtaken(facts, one, second, around, frozenset())), "it has no nowait"
        assert not list(find_overtaken(facts, one, replace(claim, region=None), around, frozenset()))
        assert list(find_overtaken(facts, one, claim, around, frozenset()))
