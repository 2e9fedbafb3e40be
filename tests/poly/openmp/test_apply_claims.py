"""The additions of pragmas to the facts: proved ones nothing, refuted ones nothing, open ones a granted assumption."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.openmp import apply_claims as applying
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.poly.openmp.claims import judge_claim
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops

# declarations, clauses, an iteration and what follows; category; whether the claim is granted; words of why
CASES: list[tuple[str, str, str, str, bool, str]] = [
    ("", "", "a[i] = b[i]; }", "parallel", False, "no carried dependence (proven)"),
    ("", "", "a[i] = a[i - 1]*a[i - 1]; }", "sequential", False, "carries a flow dependence"),
    ("", "", "a[k[i]] = b[i]; }", "parallel", True, "taken from"),
    ("int t;", "private(t)", "if (k[i]) t = i; a[k[i]] = t; }", "parallel", True, "taken from"),
    ("int s = 0;", "reduction(+: s)", "s += a[i]; a[k[i]] = 1; } return s;", "reduction", True, "taken from"),
    ("int s = 0;", "reduction(*: s)", "s += a[i]; a[k[i]] = 1; }", "unanalyzable", False, "combined by +, not by *"),
    ("int s = 0;", "", "s = s * s + b[i]; a[k[i]] = s; }", "sequential", False, ""),
    ("", "", "a[k[i]] = elsewhere(i); }", "unanalyzable", False, "elsewhere"),
    (
        "int t[3] = {0};",
        "private(t)",
        "a[k[i]] = t[1]; t[k[i]] = i; }",
        "unanalyzable",
        False,
        "every iteration needs its own t",
    ),
    ("", "", "\n#pragma omp atomic\na[k[i]] += 1;\n }", "reduction", False, "associative update"),
    (
        "",
        "",
        "\n#pragma omp critical\n{ b[i] = a[k[i]]; a[k[i]] = i; }\n }",
        "unanalyzable",
        False,
        "what critical keeps apart",
    ),
    ("", "ordered", "\n#pragma omp ordered\n{ a[k[i]] = i; }\n }", "unanalyzable", False, ""),
    ("int s = 0;", "", "\n#pragma omp critical\ns += b[i];\na[k[i]] = 1; } return s;", "reduction", True, "taken from"),
    ("int s = 0;", "ordered", "\n#pragma omp ordered\ns += b[i];\na[k[i]] = 1; } return s;", "unanalyzable", False, ""),
    (
        "",
        "",
        "\n#pragma omp critical\n{ a[k[i]] = 1; int u = 2; b[i] = u; }\n }",
        "unanalyzable",
        False,
        "what critical",
    ),
    ("", "unheard(of)", "a[k[i]] = 1; }", "unanalyzable", False, ""),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"int f{number}(int n, int *restrict a, int *restrict b, int *restrict k) {{ {declarations}\n"
        f"#pragma omp parallel for {clauses}\nfor (int i = 1; i < n; i++) {{ {body} return 0; }}"
        for number, (declarations, clauses, body, *_) in enumerate(CASES)
    )
    return program_of("int elsewhere(int);\n" + "\n".join(texts))


@functools.cache
def _facts(claims: str = "trust", disbelieved: frozenset[tuple[str, int]] = frozenset()) -> dict[str, LoopFacts]:
    options = PolyOptions(claims="trust" if claims == "trust" else "check", disbelieved=disbelieved)
    return {f.function.symbol.name: f.loops[0] for f in analyze(_program(), options, apply_claims).functions}


def test_a_loop_that_is_too_much_work_has_its_own_variables() -> None:
    text = """int f(int n, int *restrict a, int *restrict b, int *restrict k) { int t, last;
#pragma omp parallel for private(t) lastprivate(last)
for (int i = 1; i < n; i++) { t = b[i]; a[k[i]] = t; last = t; } return last; }"""
    for operations, category in ((1, "unanalyzable"), (10**6, "unanalyzable")):
        options = PolyOptions(claims="trust", loop_operations=operations)
        (alone,) = analyze(program_of(text), options).functions[0].loops
        (granted,) = analyze(program_of(text), options, apply_claims).functions[0].loops
        assert (alone.category, granted.category) == (category, "parallel")
        assert bool(alone.private) == (operations > 1), "nothing is known of a loop that was too much"
        assert {s.name for s in granted.private} == {"t", "last"}
        assert {s.name for s in granted.live_out} == {"last"}


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[1]} {case[2]}" for case in CASES])
def test_what_a_claim_grants(number: int) -> None:
    *_, category, granted, words = CASES[number]
    found = _facts()[f"f{number}"]
    (claim,) = found.claims
    assert (found.category, claim.granted is not None) == (category, granted), [r.text for r in found.reasons]
    assert any(words in reason.text for reason in found.reasons), [r.text for r in found.reasons]
    if granted:
        rests = found.combined if category == "reduction" else found.verdict
        assert isinstance(rests, Proved)
        assert [a.kind for a in rests.assumptions] == ["granted"] and "the claim in line" in rests.assumptions[0].text
        assert isinstance(claim.verdict, Unknown)


def test_verdicts_on_claims() -> None:
    kinds = [type(_facts()[f"f{number}"].claims[0].verdict) for number in range(3)]
    assert kinds == [Proved, Refuted, Unknown]


def test_variables_that_the_claim_makes_each_threads_own() -> None:
    found = _facts()["f3"]
    assert [s.name for s in found.private] == ["t"] and found.live_out == ()
    reduced = _facts()["f4"]
    assert [(r.op, r.variable.name) for r in reduced.reductions] == [("+", "s")]


def test_claims_that_are_checked_grant_nothing() -> None:
    checked = _facts("check")
    for number, (*_, granted, _words) in enumerate(CASES):
        found = checked[f"f{number}"]
        assert found.claims[0].granted is None
        assert not granted or found.category == "unanalyzable"


def test_a_pragma_that_a_run_has_shown_to_be_wrong_grants_nothing() -> None:
    claim = _facts()["f2"].claims[0].claim
    found = _facts("trust", frozenset({(claim.span.file.path, claim.span.line)}))
    assert found["f2"].claims[0].granted is None and found["f2"].category == "unanalyzable"
    assert found["f3"].claims[0].granted is not None


def test_a_function_without_pragmas_is_left_as_it_is() -> None:
    program = program_of("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 0; }")
    with_claims, without = (analyze(program, PolyOptions(), *honor).functions for honor in ((apply_claims,), ()))
    assert [one.loops for one in with_claims] == [one.loops for one in without]


NESTS = """void f(int n, int *restrict a, int *restrict b, int *restrict k)
{
  #pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[k[i * n + j]] = b[i];
  for (int t = 0; t < n; t++) {
    #pragma omp parallel for
    for (int i = 1; i < n; i++) { b[i] = b[i - 1]; for (int j = 0; j < 3; j++) b[i] += j; }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
      #pragma omp simd
      for (int j = 0; j < 4; j++) a[k[4 * i + j]] = t;
    }
  }
}
"""


def _asked_in_turn(program: Program, order: int) -> dict[str, LoopFacts]:
    """Return the facts of loops that are asked for one by one, from the one of the number `order` on."""
    facts = Facts.about(program, PolyOptions(), apply_claims).briefly()
    found: dict[str, LoopFacts] = {}
    for _, function in program.functions():
        every = [loop for loop, _ in loops(function.body)]
        for loop in (*every[order:], *every[:order]):
            one = facts.of(function).of(loop)
            found[one.id] = one
    return found


def _asked_at_once(program: Program) -> dict[str, LoopFacts]:
    facts = Facts.about(program, PolyOptions(), apply_claims).briefly()
    return {one.id: one for known in facts.functions for one in known.loops}


@pytest.mark.parametrize("text", ["cases", "nests"])
def test_loops_that_are_asked_for_alone_have_the_facts_that_all_have(text: str) -> None:
    program = _program() if text == "cases" else program_of(NESTS)
    everything = _asked_at_once(program)
    assert any(claim.granted is not None for one in everything.values() for claim in one.claims)
    for order in range(1 if text == "cases" else len(everything)):
        assert {name: _said(one) for name, one in _asked_in_turn(program, order).items()} == {
            name: _said(one) for name, one in everything.items()
        }


def _said(one: LoopFacts) -> tuple[object, ...]:
    claims = [(c.claim.span.line, c.verdict, c.understood, c.granted, c.given_up) for c in one.claims]
    return one.category, one.verdict, one.combined, one.reasons, one.private, one.live_out, one.reductions, claims


def test_a_claim_that_is_not_applied_to_all_that_it_covers_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: the loops that a pragma covers besides the one behind it are forgotten."""
    program = program_of(NESTS)
    everything = analyze(program, PolyOptions(), apply_claims).functions[0].loops
    assert [len(one.claims) for one in everything] == [1, 1, 0, 1, 0, 1, 1]

    def forget(claim: Claim, loop: Loop) -> bool:
        return claim.marked is loop

    monkeypatch.setattr(applying, "_is_about", forget)
    without = {name: _said(one) for name, one in _asked_in_turn(program, 0).items()}
    assert without != {one.id: _said(one) for one in everything}


def test_of_one_loop_only_its_own_claims_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search asks of one nest of a function, again after each step: of the others nothing is worked out."""
    judged: list[int] = []
    judge = judge_claim

    def counted(facts: Facts, *rest: object) -> object:
        claim = rest[1]
        assert isinstance(claim, Claim)
        judged.append(claim.span.line)
        return judge(facts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(applying, "judge_claim", counted)
    program = program_of(NESTS)
    facts = Facts.about(program, PolyOptions(), apply_claims).briefly()
    ((_, function),) = program.functions()
    first, _inner, host, *_ = (loop for loop, _ in loops(function.body))
    facts.of(function).of(host)
    assert judged == []
    facts.of(function).of(first)
    assert judged == [3]
    facts.functions[0].judge_all()
    assert sorted(judged) == [3, 7, 9, 11]
    # who reads refusals gets all verdicts, in their order
    judged.clear()
    Facts.about(program, PolyOptions(), apply_claims).of(function)
    assert judged == [3, 7, 9, 11]
