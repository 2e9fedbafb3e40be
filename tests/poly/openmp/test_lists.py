"""The lists of a claim's clauses: what is certainly wrong with them, what is in doubt, and what is right."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.lists import certainly_reads, owned_reasons
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops, names

# declarations, clauses, the loop's body and what follows it, words of what is wrong and of what is in doubt
CASES: list[tuple[str, str, str, str, str]] = [
    ("int t;", "private(t)", "t = a[i]; b[i] = t; }", "", ""),
    ("int t = 0;", "private(t)", "b[i] = t; t = a[i]; }", "reads t before writing it", ""),
    (
        "int t = 0;",
        "private(t)",
        "if (a[i]) t = 1; b[i] = t; }",
        "",
        "whether an iteration writes t before it reads it",
    ),
    ("int t = 0;", "private(t)", "t = a[i]; b[i] = t; } return t;", "t needs lastprivate", ""),
    ("int t = 0;", "private(t)", "t = a[i]; b[i] = t; } if (n) return t;", "", "t needs lastprivate"),
    ("int t = 0;", "private(t)", "t = a[i]; b[i] = t; } t = 2; return t;", "", ""),
    ("int t = 3;", "firstprivate(t)", "b[i] = t; }", "", ""),
    ("int t = 3;", "firstprivate(t)", "b[i] = t; t = a[i]; }", "the value passes from one iteration to another", ""),
    ("int t = 3;", "firstprivate(t)", "t = a[i]; b[i] = t; }", "", ""),
    ("int t = 3;", "lastprivate(t)", "t = a[i]; b[i] = t; } return t;", "", ""),
    ("int t = 3;", "lastprivate(t)", "if (a[i]) { t = a[i]; b[i] = t; } } return t;", "", "lastprivate(t)"),
    ("int t = 3;", "linear(t)", "t = a[i]; b[i] = t; }", "", "whether every iteration moves t by 1"),
    ("int s = 0;", "reduction(+: s)", "s += a[i]; } return s;", "", ""),
    ("int s = 0;", "reduction(*: s)", "s += a[i]; } return s;", "reduction(*: s) is wrong", ""),
    ("int s = 0;", "reduction(*: s)", "s += a[i]; }", "", ""),
    # an operator of the program's own: what it makes of two parts is not read
    ("int s = 0;", "reduction(joined: s)", "s += a[i]; } return s;", "", "what joined makes of two values of s"),
    ("int s = 0;", "reduction(joined: s)", "s = 2 * s + a[i]; } return s;", "", "what joined makes of two values of s"),
    ("int s = 0;", "reduction(+: s)", "s += a[i]; b[i] = s; } return s;", "the loop also reads s", ""),
    ("int s = 0;", "reduction(+: s)", "s += a[i]; s = 3; } return s;", "the loop also overwrites s", ""),
    ("int s = 0;", "reduction(+: s)", "s = 2 * s + a[i]; } return s;", "reduction(+: s) is wrong", ""),
    ("int t[4];", "private(t)", "for (int k = 0; k < 4; k++) t[k] = a[i]; b[i] = t[1]; }", "", ""),
    ("int t[4] = {0};", "private(t)", "b[i] = t[1]; t[1] = a[i]; }", "reads t before writing it", ""),
    ("int t = 1;", "shared(t)", "b[i] = t; }", "", ""),
]


@functools.cache
def _facts() -> Facts:
    texts = (
        f"int f{number}(int n, int *restrict a, int *restrict b) {{ {declarations}\n"
        f"#pragma omp parallel for {clauses}\nfor (int i = 0; i < n; i++) {{ {body} return 0; }}"
        for number, (declarations, clauses, body, _, _) in enumerate(CASES)
    )
    return Facts.about(program_of("\n".join(texts)), PolyOptions())


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[1]} {case[2]}" for case in CASES])
def test_lists(number: int) -> None:
    facts, one = _facts(), function(_facts().program, f"f{number}")
    (claim,) = claims_of(one)
    roles = classify_scalars(facts.program, one, claim.loops[0], facts.liveness(one), facts.summaries)
    with budget(facts.options.max_operations):
        wrong, doubts = owned_reasons(facts, one, claim, dict(loops(one.body))[claim.marked], roles)
    for found, said in ((wrong, CASES[number][3]), (doubts, CASES[number][4])):
        assert bool(found) == bool(said), [r.text for r in (*wrong, *doubts)]
        assert not said or any(said in reason.text for reason in found), [r.text for r in found]
    assert all(reason.rule == "CLM001" for reason in wrong)
    assert all(reason.span is not None for reason in (*wrong, *doubts))


def test_the_counter_of_a_loop_that_is_read_later() -> None:
    text = """int f(int n, int *a) { int i;
    #pragma omp parallel for
    for (i = 0; i < n; i++) a[i] = 0;
    return i; }"""
    program = program_of(text)
    facts, one = Facts.about(program, PolyOptions()), function(program, "f")
    (claim,) = claims_of(one)
    roles = classify_scalars(program, one, claim.loops[0])
    with budget(facts.options.max_operations):
        wrong, doubts = owned_reasons(facts, one, claim, (), roles)
    assert not doubts and "i needs lastprivate" in wrong[0].text


# what stands behind the loop, and whether it certainly reads t before it writes it
AFTER: list[tuple[str, bool]] = [
    ("return t;", True),
    ("b[0] = t + 1;", True),
    ("int u = t;", True),
    ("t += 2;", True),
    ("b[t] = 1;", True),
    ("t = t + 1;", True),
    ("b[0] = 1; return t;", True),
    ("t = 2; return t;", False),
    ("t++;", False),
    ("if (n) return t; return 0;", False),
    ("b[0] = n ? t : 1;", False),
    ("b[0] = n && t;", False),
    ("take(&t); return t;", False),
    ("return 0; b[0] = t;", False),
    ("b[0] = 1;", False),
]


@pytest.mark.parametrize("number", range(len(AFTER)), ids=[case[0] for case in AFTER])
def test_reads_behind_the_loop(number: int) -> None:
    one = function(_behind(), f"g{number}")
    around = next(iter(dict(loops(one.body))))
    symbol = next(n.symbol for n in names(one.body) if n.symbol.name == "t")
    assert any(certainly_reads(one, around, symbol)) == AFTER[number][1]


@functools.cache
def _behind() -> Program:
    texts = (
        f"int g{number}(int n, int *b) {{ int t = 0; for (int i = 0; i < n; i++) t = i; {after} return 0; }}"
        for number, (after, _) in enumerate(AFTER)
    )
    nested = "int h(int n, int *b) { int t = 0; { { for (int i = 0; i < n; i++) t = i; } } return t; }"
    branch = "int k(int n, int *b) { int t = 0; if (n) { for (int i = 0; i < n; i++) t = i; } return t; }"
    return program_of("void take(int *);\n" + "\n".join((*texts, nested, branch)))


@pytest.mark.parametrize(("name", "reads"), [("h", True), ("k", False)])
def test_blocks_are_left_and_branches_are_not(name: str, reads: bool) -> None:
    one = function(_behind(), name)
    symbol = next(n.symbol for n in names(one.body) if n.symbol.name == "t")
    assert any(certainly_reads(one, next(iter(dict(loops(one.body)))), symbol)) == reads
