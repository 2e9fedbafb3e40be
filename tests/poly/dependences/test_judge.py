"""The verdict on one loop: as written, with what the user granted, with guards; nothing needless is assumed."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.judge import Judgement, Question, judge
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loop_names

PARAMETERS = (
    "int n, int m, double *restrict a, double *restrict b, double *c, double *d, int *restrict k, double **rows"
)
HEAD = "void take(double *); static void first(double *p) { p[0] = 1; } struct t { double *u; int n; };\n"
# what an iteration does, category, verdict, the assumptions, words of the first reason
CASES: list[tuple[str, str, str, int, str]] = [
    ("a[i] = b[i];", "parallel", "Proved", 0, "no carried dependence (proven)"),
    ("c[i] = d[i];", "parallel", "Proved", 1, "no carried dependence (if"),
    ("a[i] = a[i + m];", "parallel", "Proved", 1, "m == 0"),
    ("a[i] = a[i + 1];", "sequential", "Refuted", 0, "carries an anti dependence on a"),
    ("a[i] = a[i - 1]*a[i - 1];", "sequential", "Refuted", 0, "carries a flow dependence on a"),
    ("a[0] = i;", "sequential", "Refuted", 0, "carries an output dependence on a"),
    ("a[k[i]] = i;", "unanalyzable", "Unknown", 0, "is not affine"),
    ("first(a + i);", "unanalyzable", "Unknown", 0, "may touch any part of a"),
    ("if (k[i]) a[0] = i;", "sequential", "Unknown", 0, "may carry an output dependence on a"),
    ("rows[i][0] = 1;", "unanalyzable", "Unknown", 0, "any element of rows"),
    ("for (int j = 0; j < m; j++) a[i * m + j] = 0;", "parallel", "Proved", 0, ""),
    ("for (int j = 0; j < 9; j++) a[i * m + j] = 0;", "parallel", "Proved", 1, "m >= 9"),
    ("a[0] += b[i];", "reduction", "Refuted", 0, "an associative update (+: a) is the only carried dependence"),
    ("a[0] += b[i]; a[1] = a[0];", "sequential", "Refuted", 0, "dependence on a"),
    ("a[0] += b[i]; a[0] *= 2;", "sequential", "Refuted", 0, "dependence on a"),
    ("a[i] += 1; a[i + 1] += 2;", "reduction", "Refuted", 0, "an associative update (+: a)"),
    ("a[k[i]] += 1;", "reduction", "Unknown", 0, "an associative update (+: a)"),
    ("a[i + 1] = a[i] + b[i];", "scan", "Refuted", 0, "a running value (+: a)"),
    ("a[k[i]] = i; b[k[i] % 3] = 1;", "unanalyzable", "Unknown", 0, "is not affine"),
    ("a[i + 1] = a[i] && b[i];", "sequential", "Refuted", 0, "stays on the host"),
    ("for (int j = 0; j < 9; j++) a[i * m + j] += b[j];", "parallel", "Proved", 1, "m >= 9"),
    ("for (int j = 0; j < 9; j++) a[j] += b[i];", "reduction", "Refuted", 0, "an associative update (+: a)"),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}({PARAMETERS}) {{ for (int i = 1; i < n; i++) {{ {case[0]} }} }}"
        for number, case in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


def _judged(number: int, options: PolyOptions, *, brief: bool = False) -> Judgement:
    program, name = _program(), f"f{number}"
    one, node = function(program, name), loop(program, f"{name}/i")
    assert isinstance(node, For)
    ids = {n: text for n, text in loop_names(one).items() if isinstance(n, For)}
    roles = classify_scalars(program, one, node)
    with budget(options.max_operations):
        return judge(Question(Origin.of(program, one), node, (), roles, options, ids, brief))


def _texts(verdict: object) -> list[str]:
    return [a.text for a in verdict.assumptions] if isinstance(verdict, Proved) else []


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_verdicts(number: int) -> None:
    _, category, verdict, guards, words = CASES[number]
    found = _judged(number, PolyOptions())
    assert (found.category, type(found.verdict).__name__) == (category, verdict), found.reasons
    assert len(_texts(found.verdict)) == guards
    assert words in " ".join((found.reasons[0].text, *_texts(found.verdict)))
    if isinstance(found.verdict, Refuted):
        assert all(r.dependence is not None and r.dependence.witness for r in found.verdict.reasons)
    if category in ("sequential", "unanalyzable") and "stays on the host" not in words:
        assert found.blamed
    if guards:
        refused = _judged(number, PolyOptions(guards=False))
        assert not isinstance(refused.verdict, Proved)


def test_without_a_witness_a_refusal_is_unknown_and_as_certain() -> None:
    certain = {CASES[k][0]: _judged(k, PolyOptions(), brief=True) for k in (4, 5, 8, 12)}
    assert all(isinstance(one.verdict, Unknown) for one in certain.values())
    assert all(reason.dependence is None for one in certain.values() for reason in one.reasons)
    assert [one.certain for one in certain.values()] == [True, True, False, True]
    assert [one.category for one in certain.values()] == ["sequential", "sequential", "sequential", "reduction"]


def test_what_the_user_grants_is_tried_before_guards() -> None:
    def granted(number: int, text: str, *, guards: bool) -> Judgement:
        return _judged(number, PolyOptions(guards=guards, granted=(Assumption(text, "granted"),)))

    scatter = granted(6, "injective(k)", guards=False)
    assert isinstance(scatter.verdict, Proved) and _texts(scatter.verdict) == ["injective(k)"]
    both = granted(1, "noalias(c, d)", guards=True)
    assert _texts(both.verdict) == ["noalias(c, d)"], "no guard is asked for where the user's word is enough"
    needless = granted(0, "injective(k)", guards=True)
    assert _texts(needless.verdict) == []
    size = granted(11, "m >= 9", guards=False)
    assert isinstance(size.verdict, Proved) and _texts(size.verdict) == ["m >= 9"]
    partly = granted(18, "injective(k)", guards=False)
    assert [s.name for s in _judged(18, PolyOptions(guards=False)).blamed] == ["a", "b"]
    assert [s.name for s in partly.blamed] == ["b"], "what is granted counts, also where it is not enough"
    useless = granted(4, "n >= 5", guards=True)
    assert isinstance(useless.verdict, Refuted)


def test_updates_are_combined_where_nothing_else_meets_them() -> None:
    alone, scan = _judged(12, PolyOptions()), _judged(17, PolyOptions())
    assert isinstance(alone.combined, Proved) and isinstance(scan.combined, Proved)
    assert [(r.op, r.variable.name) for r in alone.reductions] == [("+", "a")]
    shared = "void g(int n, double *c, double *d) { for (int i = 0; i < n; i++) c[0] += d[i]; }"
    program = program_of(shared)
    one, node = function(program, "g"), loop(program, "g/i")
    assert isinstance(node, For)
    for guards, proved in ((True, True), (False, False)):
        options = PolyOptions(guards=guards)
        question = Question(
            Origin.of(program, one), node, (), classify_scalars(program, one, node), options, {node: "g/i"}
        )
        with budget(options.max_operations):
            found = judge(question)
        assert found.category == "reduction" and isinstance(found.combined, Proved) == proved


def test_a_counter_that_may_wrap_tells_no_iterations_apart() -> None:
    program = program_of("void g(double *a) { for (unsigned char i = 0; i < 300; i++) a[i] = 1; }")
    one, node = function(program, "g"), loop(program, "g/i")
    assert isinstance(node, For)
    question = Question(Origin.of(program, one), node, (), classify_scalars(program, one, node), PolyOptions(), {})
    with budget(10**7):
        found = judge(question)
    assert found.category == "unanalyzable" and found.reasons[0].rule == "POR008"


@pytest.mark.parametrize("start", ["struct t s = made();", "struct t s; fill(&s);"])
@pytest.mark.parametrize("call", ["bump(&s);", "copy(&s, &o);"])
def test_what_only_a_called_function_names_may_carry_a_dependence(start: str, call: str) -> None:
    program = program_of(
        "#include <stdlib.h>\n"
        "struct t { double *u; int n; };\n"
        "static struct t made(void) { struct t s; s.u = calloc(9, 8); s.n = 9; return s; }\n"
        "static void fill(struct t *s) { s->u = calloc(9, 8); s->n = 9; }\n"
        "static void bump(struct t *s) { s->u[0] = s->u[0] * 2 + 1; }\n"
        "static void copy(struct t *s, const struct t *o) { s->u[1] = o->u[0] + s->u[2]; s->u[2] = s->u[1]; }\n"
        f"void f(void) {{ struct t o = made(); {start} for (int i = 0; i < 4; i++) {{ {call} }} }}"
    )
    found = Facts.about(program, PolyOptions()).of(function(program, "f")).of(loop(program, "f/i"))
    assert found.category == "unanalyzable"
    assert found.reasons[0].text.startswith(call.rstrip(";")) and "may touch any part of" in found.reasons[0].text
