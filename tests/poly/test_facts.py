"""Facts of a function by its loops, and the span of a run of statements."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions, reading, statement_spans
from warpsmith.tree.nodes import Loop
from warpsmith.tree.walk import walk

TEXT = "void f(int n, double *a) { n = 1;\n for (int i = 0; i < n; i++) a[i] = 0; while (n) n--;\n a[0] = 2; }"


def test_facts_are_found_by_their_loop() -> None:
    program = program_of(TEXT)
    (facts,) = analyze(program, PolyOptions()).functions
    for address in ("f/i", "f/while"):
        assert facts.of(loop(program, address)).id == address
    with pytest.raises(KeyError):
        facts.of(loop(program_of(TEXT), "f/i"))


def test_the_span_of_a_run() -> None:
    one = function(program_of(TEXT), "f")
    first, last = one.body.statements[0], one.body.statements[-1]
    assert statement_spans((first,)) == first.span
    whole = statement_spans(one.body.statements)
    assert (whole.start, whole.end, whole.file) == (first.span.start, last.span.end, first.span.file)


def test_a_choice_is_as_much_to_read_as_many_terms() -> None:
    text = "void f(int n, double *a) {{ for (int i = 0; i < {}; i++) a[i] = 0; }}"
    plain, chosen = (loop(program_of(text.format(bound)), "f/i") for bound in ("n + 9", "(n < 9 ? n : 9)"))
    assert reading(plain) == sum(1 for _ in walk(plain)) < 20
    assert reading(chosen) > 5 * reading(plain)


def test_a_loop_is_judged_when_it_is_asked_about_and_only_once() -> None:
    program = program_of(TEXT)
    judged: list[Loop] = []

    def judge(one: Loop) -> LoopFacts:
        judged.append(one)
        return known.of(one)

    (known,) = analyze(program, PolyOptions()).functions
    facts = FunctionFacts(known.unit, known.function, judge)
    inner = loop(program, "f/while")
    assert not judged
    assert facts.of(inner) is facts.of(inner) is known.of(inner)
    assert judged == [inner]
    assert facts.loops == known.loops
    assert len(judged) == 2
