"""The category of a loop once steps were tried, and the kernel that serves it."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.report.port.after_steps import LoopWord, loop_word, unplanned_reasons
from warpsmith.report.port.served import Served

HEAD = "#include <stdio.h>\nvoid f(int n, double *restrict x, double *restrict y, double a[restrict n][n]) {\n"
SUMS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[j] += a[i][j];"
CHAIN = "for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1];"


def prepared(body: str, *, steps: bool = True) -> Prepared:
    facts = Facts.about(program_of(f"{HEAD}{body}\n}}\n"), PolyOptions(), apply_claims)
    start = Prepared(facts, facts)
    return automatic(start, None) if steps else start


def words(made: Prepared) -> dict[str, tuple[LoopFacts, LoopWord]]:
    served = Served.of(made, None)
    return {f.id: (f, loop_word(made, served, f)) for function in made.original.functions for f in function.loops}


def test_a_loop_that_is_parallel_as_written_takes_no_step() -> None:
    _, word = words(prepared(SUMS))["f/i/j"]
    assert word.category == "parallel" and not word.steps


TEMPORARY = "double t[2]; for (int i = 0; i < n; i++) { t[0] = x[i]; y[i] = t[0] * t[0]; }"


def test_a_step_is_named() -> None:
    facts, word = words(prepared(TEMPORARY))["f/i"]
    assert facts.category != "parallel" and word.category == "parallel-after"
    assert word.steps == ("privatize=f/i,variable=t",)
    assert word.reasons[0].text == "parallel after privatize=f/i,variable=t"
    assert [r.text for r in word.reasons[1:]] == [r.text for r in facts.reasons]


@pytest.mark.parametrize(("body", "category"), [(CHAIN, "sequential"), (CHAIN.replace("i - 1", "i"), "parallel")])
def test_what_no_step_changes_is_as_written(body: str, category: str) -> None:
    made = prepared(body)
    facts, word = words(made)["f/i"]
    assert (word.category, word.steps) == (category, ()) and facts.category == category
    assert all(reason.legal_if == () for reason in word.reasons)


def test_a_pragma_that_covers_a_loop_is_spoken_of() -> None:
    made = prepared(f"\n#pragma omp parallel for\n{CHAIN}")
    facts, word = words(made)["f/i"]
    told = unplanned_reasons(made, facts, word)
    assert told[: len(word.reasons)] == word.reasons and len(told) > len(word.reasons)


LAST = 'int k = -1; for (int i = 0; i < n; i++) if (x[i] < 0) k = i; printf("%d", k);'
RUNNING = "for (int i = 1; i < n; i++) { x[i] *= 2; y[i] = y[i - 1] + x[i]; }"


@pytest.mark.parametrize(
    ("body", "category", "step"),
    [
        (LAST, "reduction", "find-last=f/i"), (RUNNING, "scan", "distribute=f/i,groups=1"),
        (RUNNING.replace("y[i - 1] +", "y[i - 1] * y[i - 1] +"), "sequential", ""),
    ],
)  # fmt: skip
def test_a_sequential_loop_whose_pieces_are_combined_is_what_they_are(body: str, category: str, step: str) -> None:
    facts, word = words(prepared(body))["f/i"]
    assert (facts.category, word.category) == ("sequential", category)
    assert word.steps == ((step,) if step else ())
    assert not step or word.reasons[0].text.endswith(f", after {step}")
