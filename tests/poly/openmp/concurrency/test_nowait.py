"""`nowait`: threads that go on meet those that still run the loop, or certainly do not."""

from __future__ import annotations

import functools
import re

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.concurrency.concurrent import Asked
from warpsmith.poly.openmp.concurrency.nowait import Answer, find_overtaken

NOWAIT = """
void {name}(int n, int m, int *restrict a, int *restrict b, int *restrict c)
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


OPEN = "open"
ALIKE = "for (int i = 0; i < n; i++) c[i] = a[i];"

# what stands behind the loop, and what is said: a part of the reason that it is wrong, that it is open, or nothing
CASES: list[tuple[str, str]] = [
    ("\n#pragma omp for\nfor (int i = 1; i < n; i++) c[i] = a[i - 1];", "nowait is wrong"),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = a[n - 1 - i];", "nowait is wrong"),
    ("\n#pragma omp for schedule(dynamic)\nfor (int i = 1; i < n; i++) c[i] = a[i];", "nowait is wrong"),
    ("\n#pragma omp single\nc[0] = a[2];", "nowait is wrong"),
    ("\n#pragma omp master\n{ c[0] = a[2]; }", "nowait is wrong"),
    # the first iteration is the first thread's
    ("\n#pragma omp master\n{ c[0] = a[0]; }", ""),
    ("\n#pragma omp single\n{ c[0] = a[0]; }", "nowait is wrong"),
    (f"\n#pragma omp for\n{ALIKE}", ""),
    (f"\n#pragma omp for simd\n{ALIKE}", OPEN),
    ("\n#pragma omp barrier\n#pragma omp for\nfor (int i = 1; i < n; i++) c[i] = a[i - 1];", ""),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = b[i];", ""),
    # one thread has the iterations of one number, whatever the counter is, where there are equally many
    ("\n#pragma omp for\nfor (int i = n - 1; i >= 0; i--) c[i] = a[i];", "nowait is wrong"),
    ("\n#pragma omp for\nfor (int i = 2; i <= n + 1; i++) c[i] = a[i - 2];", ""),
    ("\n#pragma omp for\nfor (int i = 0; i < 2 * n; i += 2) c[i] = a[i / 2];", ""),
    ("\n#pragma omp for\nfor (int i = 0; i < n - 1; i++) c[i] = a[i];", "nowait is wrong"),
    ("\n#pragma omp for\nfor (int i = 0; i < m; i++) c[i] = a[i];", OPEN),
    (
        "\n#pragma omp for nowait\nfor (int i = 0; i < n; i++) c[i] = b[i];\n#pragma omp master\nc[0] = a[1];",
        "nowait is wrong",
    ),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = b[i];\n#pragma omp master\nc[0] = a[1];", ""),
    # where not all that decides is known
    ("if (n) {\n#pragma omp barrier\n}\n#pragma omp master\nc[0] = a[1];", OPEN),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) if (b[i]) c[i] = a[n - 1 - i];", OPEN),
    ("\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = a[b[i]];", OPEN),
    ("\n#pragma omp task\nc[0] = a[1];", OPEN),
    ("\n#pragma omp critical\nc[0] = a[1];", "nowait is wrong"),
    # into a loop whose rounds wait, and past a wait that is jumped over
    ("for (int t = 0; t < 3; t++) {\n#pragma omp for\nfor (int i = 0; i < n; i++) c[i] = a[n - 1 - i];\n}", OPEN),
    ("for (int t = 0; t < 3; t++) {\n#pragma omp barrier\n}\n#pragma omp master\nc[0] = a[1];", ""),
    ("for (int t = 0; t < n; t++) {\n#pragma omp barrier\n}\n#pragma omp master\nc[0] = a[1];", OPEN),
    # a wait in a branch, which may always be taken
    ("if (b[0]) {\n#pragma omp barrier\n}\n#pragma omp for\nfor (int i = 1; i < n; i++) c[i] = a[i - 1];", OPEN),
    ("c[0] = a[n + 5];", ""),
]

# a loop whose rounds end early: past the barrier, or behind it
ROUNDS = """
void {name}(int n, int *restrict a, int *restrict b, int *restrict c)
{{
#pragma omp parallel
    {{
        for (int t = 0; t < n; t++) {{
            if (c[0]) {{
#pragma omp for nowait
                for (int i = 0; i < n; i++)
                    a[i] = t;
                {inside}
            }}
#pragma omp barrier
            {behind}
        }}
#pragma omp critical
        b[0] = a[2];
    }}
}}
"""


@functools.cache
def _facts() -> Facts:
    texts = (NOWAIT.format(name=f"f{number}", between=between) for number, (between, _) in enumerate(CASES))
    return Facts.about(program_of("\n".join(texts)), PolyOptions())


def _overtaken(number: int) -> Answer:
    facts = _facts()
    one = function(facts.program, f"f{number}")
    claim = claims_of(one)[0]
    with budget(facts.options.max_operations):
        return find_overtaken(Asked(facts, one, claim, frozenset()))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_who_does_not_wait(number: int) -> None:
    found, said = _overtaken(number), CASES[number][1]
    if said in ("", OPEN):
        assert not found.wrong and bool(found.doubts) == (said == OPEN)
        assert all(reason.rule == "CLM002" for reason in found.doubts)
        return
    (reason,) = found.wrong
    assert reason.rule == "CLM001" and said in reason.text
    # the two accesses that it names are of one element
    reported = re.fullmatch(
        r".*iteration (\d+) of the loop writes a\[(\d+)\].* reads it(?: \(n = (\d+)\))?", reason.text
    )
    assert reported is not None and reported[1] == reported[2], reason.text
    assert reason.dependence is not None and reason.dependence.sink.text.startswith("a[")
    index = reason.dependence.sink.text[2:-1]
    other = re.search(r"iteration (\d+) in line", reason.text)
    assert eval(index, {"i": int(other[1]) if other is not None else 0, "n": int(reported[3] or 0)}) == int(reported[2])


def test_a_loop_that_waits_is_not_asked() -> None:
    facts, one = _facts(), function(_facts().program, "f0")
    claim, second = claims_of(one)
    with budget(facts.options.max_operations):
        waits = find_overtaken(Asked(facts, one, second, frozenset()))
        assert not waits.wrong and not waits.doubts, "it has no nowait"
        assert find_overtaken(Asked(facts, one, claim, frozenset())).wrong


def test_a_jump_goes_past_the_waits_behind_it() -> None:
    jump = "if (c[1]) break;"
    texts = [ROUNDS.format(name="past", inside=jump, behind=""), ROUNDS.format(name="behind", inside="", behind=jump)]
    facts = Facts.about(program_of("\n".join(texts)), PolyOptions())
    for name in ("past", "behind"):
        one = function(facts.program, name)
        with budget(facts.options.max_operations):
            found = find_overtaken(Asked(facts, one, claims_of(one)[0], frozenset()))
        assert not found.wrong and bool(found.doubts) == (name == "past")


def test_what_callers_do_behind_the_function_is_open() -> None:
    facts = _facts()
    one = function(facts.program, f"f{len(CASES) - 1}")
    claim = replace(claims_of(one)[0], region=None)
    with budget(facts.options.max_operations):
        found = find_overtaken(Asked(facts, one, claim, frozenset()))
    assert not found.wrong and "without waiting" in found.doubts[0].text
