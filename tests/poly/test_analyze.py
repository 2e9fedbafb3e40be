"""The verdicts on the loops that other tools get wrong, and on what users write."""

from __future__ import annotations

import re
import time
from contextlib import AbstractContextManager

import pytest
from msgspec.structs import replace

from tests.poly.analysis import assumed, facts_of, program_of
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.poly import analyze as analysis
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.dependences.judge import Judgement, Question, judge
from warpsmith.poly.facts import LoopFacts, PolyOptions, reading
from warpsmith.poly.isl import space
from warpsmith.poly.openmp import claims
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.nodes import Block

LU = """
void lu(double *A, int N) {
  int i, j, k;
  for (k = 0; k < N - 1; k++) {
    for (i = k + 1; i < N; i++) A[i*N+k] = A[i*N+k] / A[k*N+k];
    for (i = k + 1; i < N; i++)
      for (j = k + 1; j < N; j++) A[i*N+j] = A[i*N+j] - A[i*N+k] * A[k*N+j];
  }
}
"""


def one(text: str, *granted: str, guards: bool = True) -> LoopFacts:
    """Return the facts of the first loop."""
    return next(iter(facts_of(text, *granted, guards=guards).values()))


def test_linearized_lu() -> None:
    facts = facts_of(LU)
    assert {k: v.category for k, v in facts.items()} == {
        "lu/k": "sequential",
        "lu/k/i": "parallel",
        "lu/k/i#2": "parallel",
        "lu/k/i#2/j": "parallel",
    }
    assert not any(assumed(v) for v in facts.values())
    dependence = facts["lu/k"].reasons[0].dependence
    assert dependence is not None
    assert dependence.kind == "flow"
    assert dependence.distance[0] == 1
    assert dependence.carried_by == "lu/k"


def test_lu_strides_per_counter() -> None:
    inner = facts_of(LU)["lu/k/i#2/j"]
    written = next(a for a in inner.accesses if a.write)
    assert {s.name: n for s, n in written.strides.items()} == {"i": None, "j": 1}
    assert written.affine


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("void f(int n, double m[n][n]) { for (int i = 1; i < n; i++) m[i][i] = m[i][i] + m[i-1][i]; }", "parallel"),
        ("void f(int n, int *a) { for (int i = 0; i < n; i++) { int j = i + 1; a[j] = i; } }", "parallel"),
        ("void f(int *a) { for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) a[i+j] = i; }", "sequential"),
        ("void f(int n, double *a) { for (int i = 0; i < n; i++) a[2*i] = a[2*i+1]; }", "parallel"),
        ("void f(int n, double *a) { for (int i = 0; i < n; i += 2) a[i] = a[i+1]; }", "parallel"),
        ("void f(int n, double *a) { for (int i = 0; i < n; i += 3) a[i] = a[i+6]; }", "sequential"),
        ("void f(int n, double *a) { for (int i = n-1; i >= 0; i--) a[i] = a[i+1]*a[i+1]; }", "sequential"),
        ("void f(int n, double *a, double *restrict b) { for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i]; }", "scan"),
        ("double f(int n, double *a) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }", "reduction"),
        ("void f(int n, double *a) { int i = 0; while (a[i] > 0) { a[i] = 0; i++; } }", "unanalyzable"),
        ("int g(int); void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = g(i); }", "unanalyzable"),
        ("void f(int n, int *a) { for (int i = 0; i < n; i++) { if (a[i]) break; a[i] = 1; } }", "unanalyzable"),
        ("void f(int n, int *a) { for (int i = 0; i < n; i++) { if (i % 2) continue; a[i] = a[i+1]; } }", "parallel"),
        ("void f(int n, int **a) { for (int i = 0; i < n; i++) a[i][0] = 1; }", "unanalyzable"),
        ("struct P {double x, y;}; void f(int n, struct P *p) { for (int i = 0; i < n; i++) p[i].x = p[i+1].y; }",
         "parallel"),
        ("struct P {double x, y;}; void f(int n, struct P *p) { for (int i = 0; i < n; i++) p[i].x = p[i+1].x; }",
         "sequential"),
        ("struct P {double x; int n;}; void f(struct P *p, double *restrict a)"
         " { for (int i = 0; i < p->n; i++) a[i] = 1; }", "parallel"),
        ("void f(int n, double *a) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
         " a[i < j ? i : j] = 1; }", "sequential"),
        ("void f(int n, double *A) { for (int i = 0; i < n; i++) { double *r = A + i*n;"
         " for (int j = 0; j < n; j++) r[j] = j; } }", "parallel"),
        ("void f(int n, double *A) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
         " A[i*n + n - 1 - j] = 1; }", "parallel"),
        ("void f(int n, int m, int p, double *A) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
         " for (int k = 0; k < p; k++) A[(i*m + j)*p + k] = 1; }", "parallel"),
        ("void f(int n, int w, double *A) { for (int i = 0; i < n; i++) for (int j = 0; j <= w; j++)"
         " A[i*(w+1) + j] = 1; }", "parallel"),
    ],
)  # fmt: skip
def test_category_of_the_outer_loop(text: str, category: str) -> None:
    assert one(text).category == category


def test_tsvc_s2244_has_an_output_dependence_of_distance_one() -> None:
    facts = one(
        "void f(int n, double *restrict a, double *restrict b)"
        "{ for (int i = 0; i < n - 1; i++) { a[i+1] = b[i]; a[i] = b[i] + 1; } }"
    )
    dependence = facts.reasons[0].dependence
    assert isinstance(facts.verdict, Refuted)
    assert dependence is not None
    assert (dependence.kind, dependence.distance, dependence.direction) == ("output", (1,), ("<",))
    assert dependence.witness == "n = 3: S1(0) writes a[1], S2(1) writes it"


def test_trmm_rows_are_sequential_and_columns_parallel() -> None:
    facts = facts_of(
        "void t(int n, int m, double A[restrict n][n], double B[restrict n][m]) { for (int i = 0; i < n; i++)"
        " for (int j = 0; j < m; j++) for (int k = i + 1; k < n; k++) B[i][j] += A[k][i] * B[k][j]; }"
    )
    first = facts["t/i"].reasons[0].dependence
    assert facts["t/i"].category == "sequential"
    assert first is not None
    assert first.kind == "anti"
    assert isinstance(facts["t/i/j"].verdict, Proved)


def test_red_black_colors_are_parallel() -> None:
    facts = facts_of(
        "void r(double a[64][64], int k) { for (int i = 1; i < 63; i++) for (int j = 1; j < 63; j++)"
        " if ((i + j + k) % 2 == 0) a[i][j] = a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1]; }"
    )
    assert {v.category for v in facts.values()} == {"parallel"}


def test_time_loop_is_sequential_and_its_nests_parallel() -> None:
    facts = facts_of(
        "void h(int T, double a[restrict 64][64], double b[restrict 64][64]) { for (int t = 0; t < T; t++) {"
        " for (int i = 1; i < 63; i++) for (int j = 1; j < 63; j++) b[i][j] = a[i-1][j] + a[i+1][j];"
        " for (int i = 1; i < 63; i++) for (int j = 1; j < 63; j++) a[i][j] = b[i][j]; } }"
    )
    assert facts["h/t"].category == "sequential"
    assert [v.category for k, v in facts.items() if k != "h/t"] == ["parallel"] * 4


def test_escape_time_loop_does_not_block_the_loops_around_it() -> None:
    facts = facts_of(
        "static int g(int k) { return k + 1; }\n"
        "void f(int *out, int w, int h) { for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {"
        " double z = 0; int k = 0; while (k < 100 && z < 4) { z = z*z + x; k = g(k); } out[y*w+x] = k; } }"
    )
    assert facts["f/y"].category == "parallel"
    assert facts["f/y/x"].category == "parallel"
    assert facts["f/y/x/while"].category == "unanalyzable"


# --- machine integers


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("void f(double *a, int n) { for (char c = 0; c < n; c++) a[c] = 1; }", ["n <= 127"]),
        ("void f(double *a, int n) { for (unsigned char c = 0; c < n; c++) a[c] = 1; }", ["n <= 255"]),
        ("void f(double *a, int n) { for (unsigned long i = 0; i < n; i++) a[i] = 1; }", ["n >= 0"]),
        ("void f(double *a, unsigned n) { for (unsigned i = 1; i < n; i++) a[i-1] = a[i-1] + 1; }", []),
        ("void f(double *A, int w, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i*w+j] = 1; }",
         ["n <= w"]),
        ("void f(double *A, unsigned n) { for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++)"
         " A[i*n+j] = 1; }", ["n*n <= 4294967296"]),
        ("void f(double a[][10], int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
         " a[i][j] = 1; }", ["m <= 10"]),
    ],
)  # fmt: skip
def test_guards_say_when_the_integers_behave(text: str, guards: list[str]) -> None:
    facts = one(text)
    assert isinstance(facts.verdict, Proved), facts.reasons
    assert assumed(facts) == guards
    assert all(a.condition is not None for a in facts.verdict.assumptions if hasattr(a, "condition"))
    if guards:
        assert not isinstance(one(text, guards=False).verdict, Proved)


def test_a_counter_that_certainly_wraps_is_no_counter() -> None:
    facts = one("void f(double *a) { for (unsigned char c = 0; c < 300; c++) a[c] = 1; }")
    assert isinstance(facts.verdict, Unknown)
    assert facts.reasons[0].rule == "POR008"


def test_unsigned_down_to_zero_never_ends() -> None:
    facts = one("void f(double *a, unsigned n) { for (unsigned i = n; i >= 0; i--) a[i] = 1; }")
    assert not isinstance(facts.verdict, Proved)


def test_inner_extents_are_linearized_where_they_are_overrun() -> None:
    facts = one("void f(double a[8][4]) { for (int i = 0; i < 3; i++) for (int j = 0; j < 8; j++) a[i][j] = i; }")
    assert isinstance(facts.verdict, Refuted), "a[0][4] is a[1][0]"


@pytest.mark.parametrize(
    "text",
    [
        "void f(double *restrict p, double *restrict q, int n) { for (int i = 0; i < n; i++)"
        " { double *r = n > 2 ? p : q; p[i] = r[i+1]; } }",
        "void f(double *restrict p, double *restrict q, int n) { for (int i = 0; i < n; i++) (i % 2 ? p : q)[0] = i; }",
        "void f(double *p, int n) { for (int i = 0; i < n; i++) *p++ = i; }",
        "void f(unsigned long p, int n) { for (int i = 0; i < n; i++) *(double *)p = i; }",
        # a number that is made an address may lead to any memory, also where it is only read
        "void f(long p, double *a, int n) { for (int i = 0; i < n; i++) a[i] = ((double *)p)[i + 1]; }",
        "struct S {double x;}; void f(long p, double *a, int n)"
        " { for (int i = 0; i < n; i++) a[i] = ((struct S *)p)->x; }",
        "struct S {int n;}; void f(struct S *s, int *a) { for (int i = 0; i < 9; i++) { s->n = i; a[s->n / 2] = i; } }",
        "int g; void h(void) { g = 5; }"
        "void f(double *a, int n) { if (g > 0) return; h(); for (int i = 0; i < n; i++) if (g > 0) a[0] = i; }",
        "void f(double *a, int n) { for (int i = 0; i < n; i++) { static double t; a[i] = t; t = i; } }",
        "union U {int i; float f;}; void f(union U *u, int n) { for (int i = 0; i < n; i++) u[0].i = i; }",
        "void f(int n, int *a, int *k) { for (int i = 0; i < n; i++) a[k[i]] = i; }",
        "void f(int n, int *a) { int k = 0; for (int i = 0; i < n; i++) { a[k] = i; k += i % 2; } }",
        "void f(int n, int *a) { for (int i = 0; i < n; i++) { int k = 0; while (a[k] > 0) k++; a[k] = i; } }",
        "void f(int n, double *a) { for (int i = 0; i < n; i++) ((float *)a)[i] = a[i]; }",
    ],
)
def test_what_cannot_be_followed_is_never_called_parallel(text: str) -> None:
    facts = next(iter(facts_of(text).values()))
    assert not isinstance(facts.verdict, Proved), facts.reasons
    assert facts.reasons


# --- assumptions


def test_granted_injectivity_makes_a_scatter_parallel() -> None:
    text = "void f(double *restrict a, int *restrict idx, int n) { for (int i = 0; i < n; i++) a[idx[i]] = i; }"
    assert one(text).category == "unanalyzable"
    assert one(text).reasons[0].rule == "POR005"
    assert assumed(one(text, "injective(idx)")) == ["injective(idx)"]


TABLES = "double *a, int *restrict p, int *restrict q, int n"


@pytest.mark.parametrize(
    "body",
    [
        "a[p[i]] = a[q[i]] + 1;",
        "a[p[i]] = 1; a[q[i]] = 2;",
        "a[p[i]] = a[q[i + 1]];",
    ],
)
def test_two_injective_tables_may_lead_to_the_same_element(body: str) -> None:
    facts = one(f"void f({TABLES}) {{ for (int i = 0; i < n; i++) {{ {body} }} }}", "injective(p)", "injective(q)")
    assert not isinstance(facts.verdict, Proved)
    assert "dependence on a" in facts.reasons[0].text


def test_one_injective_table_leads_to_another_element_in_each_iteration() -> None:
    facts = one(f"void f({TABLES}) {{ for (int i = 0; i < n; i++) a[p[i]] = a[p[i]] + 1; }}", "injective(p)")
    assert isinstance(facts.verdict, Proved)
    shifted = one(f"void f({TABLES}) {{ for (int i = 0; i < n; i++) a[p[i]] = a[p[i + 1]] + 1; }}", "injective(p)")
    assert not isinstance(shifted.verdict, Proved)


def test_granted_comparison_is_used_and_recorded() -> None:
    text = "void f(double *a, int n) { for (int i = 0; i < n; i++) a[i % 32] = i; }"
    assert one(text).category == "sequential"
    assert assumed(one(text, "n <= 32")) == ["n <= 32"]


def test_forced_loop_is_recorded() -> None:
    text = "void f(double *a, int n) { for (int i = 1; i < n; i++) a[i] = 2 * a[i-1]; }"
    assert isinstance(one(text).verdict, Refuted)
    assert assumed(one(text, "parallel(f/i)")) == ["parallel(f/i)"]


def test_pointers_that_may_overlap_need_a_guard() -> None:
    text = "void f(double *a, double *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    assert isinstance(one(text).verdict, Proved)
    assert assumed(one(text))
    refused = one(text, guards=False)
    assert isinstance(refused.verdict, Unknown)
    assert refused.reasons[0].rule == "POR004"


def test_work_budget_ends_in_unknown() -> None:
    facts = analyze(program_of(LU), PolyOptions(max_operations=50))
    assert {x.category for f in facts.functions for x in f.loops} == {"unanalyzable"}
    again = analyze(program_of(LU), PolyOptions())
    assert any(x.category == "parallel" for f in again.functions for x in f.loops)


def test_every_loop_stands_exactly_once() -> None:
    facts = facts_of(LU + "void g(float *x) { for (float t = 0; t < 1; t += 0.5f) *x = t; do { } while (*x > 2); }")
    assert list(facts) == ["lu/k", "lu/k/i", "lu/k/i#2", "lu/k/i#2/j", "g/for", "g/do"]


# --- bounded work


def test_a_function_with_too_much_text_is_judged_from_its_smallest_loops_on() -> None:
    program = program_of(
        "void f(int n, double *a) { for (int i = 0; i < n; i++) for (int j = 0; j < 9; j++) a[9*i+j] = 0; }"
    )
    inner = analyze(program, PolyOptions(max_nodes=25)).functions[0].loops
    assert [loop.category for loop in inner] == ["unanalyzable", "parallel"]
    assert "the loops of f hold too much together" in inner[0].reasons[0].text
    assert [loop.category for loop in analyze(program, PolyOptions()).functions[0].loops] == ["parallel", "parallel"]


def test_choices_count_as_many_terms_and_pragmas_of_large_loops_are_not_judged() -> None:
    pragma = "\n#pragma omp parallel for\n"
    loop = "for (int i = 0; i < {}; i++) a[i] = i;"
    text = f"void f(int n, double *a) {{ {pragma}{loop.format('(n < 9 ? n : 9)')}{pragma}{loop.format('n + n + n')} }}"
    options = PolyOptions(max_nodes=100, claims="check")
    chosen, plain = analyze(program_of(text), options, apply_claims).functions[0].loops
    assert "hold too much together (this one 1" in chosen.reasons[0].text and plain.reasons[0].rule == "POR001"
    assert [c.given_up for one in (chosen, plain) for c in one.claims] == [True, False]
    open_claim = chosen.claims[0].verdict
    assert isinstance(open_claim, Unknown) and "within the work budget" in open_claim.reasons[0].text
    assert reading(chosen.loop) > 100 > reading(plain.loop)


def test_after_many_loops_that_were_too_much_none_is_unbounded() -> None:
    """Each loop that is given up halves the budget; isl takes a budget of nothing for none."""
    nest = "for (int i = 1; i < n; i++) a[2*i] = a[i-1] + a[3*i];"
    program = program_of(f"void f(int n, double *a) {{ {nest * 12} }}")
    loops = analyze(program, PolyOptions(max_operations=50)).functions[0].loops
    assert [loop.category for loop in loops] == ["unanalyzable"] * 12


def test_claims_that_were_too_much_halve_the_budget_of_those_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    granted = space.budget

    def counted(operations: int) -> AbstractContextManager[None]:
        spent.append(operations)
        return granted(operations)

    monkeypatch.setattr(claims, "budget", counted)
    nest = "\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = a[2*i] + a[3*i];"
    program = program_of(f"void f(int n, double *a) {{ {nest * 6} }}")
    loops = analyze(program, PolyOptions(max_operations=200), apply_claims).functions[0].loops
    assert all(claim.given_up for loop in loops for claim in loop.claims)
    assert spent == [100, 50, 25, 12, 6, 3]


SKEWED = """void f(int t, int n, double *restrict a, double *restrict b)
{
  for (int p = 0; p <= (n + 2*t) / 8; p++)
    for (int k = (8*p - n < 0 ? 0 : (8*p - n) / 2); k <= (t - 1 < 4*p + 3 ? t - 1 : 4*p + 3); k++)
      for (int i = (8*p > 2*k + 1 ? 8*p : 2*k + 1); i <= (8*p + 7 < 2*k + n - 2 ? 8*p + 7 : 2*k + n - 2); i++) {
        b[i - 2*k] = a[i - 2*k - 1] + a[i - 2*k + 1];
        a[i - 2*k - 1] = b[i - 2*k - 1];
      }
  for (int i = 0; i < n; i++)
    a[2*i] = a[i] + b[3*i];
}
"""


def test_a_nest_of_tiles_in_skewed_time_is_given_up_by_counts() -> None:
    """A loop has a quarter of the steps that a loop in it had; one beside them keeps its verdict."""
    program = program_of(SKEWED)
    least = PolyOptions(loop_operations=3200)
    found = analyze(program, least).functions[0].loops
    steps = [re.findall(r"too complicated \(([0-9,]+) steps\)", loop.reasons[0].text) for loop in found]
    assert steps == [["200"], ["800"], ["3,200"], []]
    again = analyze(program_of(SKEWED), least).functions[0].loops
    assert [loop.reasons[0].text for loop in again] == [loop.reasons[0].text for loop in found]
    whole = analyze(program, PolyOptions()).functions[0].loops
    assert [loop.category for loop in whole] == ["sequential"] * 4


EASY = "void easy(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }"
SLOW = """void slow(int n, double *a) {
#pragma omp parallel for
for (int i = 0; i < n; i++) { a[i] = i * (double)n; }
for (int j = 0; j < n; j++) { a[j + n] = a[j] * 2; a[j] = 0; } }"""


def test_what_is_judged_when_the_time_is_up_keeps_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:

    def judge_slowly(question: Question) -> Judgement:
        if question.loop.variable.name == "j":
            ends = time.process_time() + 60
            while time.process_time() < ends:
                pass
        return judge(question)

    program = program_of(SLOW + EASY)
    everything = {f.function.symbol.name: f.loops for f in analyze(program, PolyOptions(), apply_claims).functions}
    monkeypatch.setattr(analysis, "judge", judge_slowly)
    started = time.process_time()
    facts = analyze(program, PolyOptions(), apply_claims, 2)
    assert time.process_time() - started < 30
    slow, easy = (f.loops for f in facts.functions)
    assert [loop.verdict for loop in easy] == [loop.verdict for loop in everything["easy"]]
    assert slow[0].verdict == everything["slow"][0].verdict and isinstance(slow[0].verdict, Proved)
    assert isinstance(slow[1].verdict, Unknown) and not slow[1].claims
    (reason,) = slow[1].reasons
    assert reason.rule == "POR005" and "raise --timeout" in reason.legal_if
    assert "2 s of processor time were up" in reason.text
    assert {symbol.name for symbol in facts.late} == {"slow"}
    assert facts.after(program).late == facts.late and facts.after(program).stopped is None


def test_in_time_no_function_is_late() -> None:
    facts = analyze(program_of(SLOW + EASY), PolyOptions(), apply_claims, 1000)
    assert not facts.late and facts.functions[0].loops[0].claims


def test_a_loop_of_too_many_accesses_is_given_up_with_their_number() -> None:
    body = " ".join(f"a[i + {k}] = {k};" for k in range(111))
    program = program_of(f"void f(int n, double *a) {{ for (int i = 0; i < n; i++) {{ {body} }} }}")
    (loop,) = analyze(program, PolyOptions()).functions[0].loops
    assert loop.category == "unanalyzable"
    assert "12,210 pairs of accesses" in loop.reasons[0].text


def test_a_function_that_was_not_touched_is_judged_once_for_all_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def judge_noted(question: Question) -> Judgement:
        asked.append(question.loop.variable.name)
        return judge(question)

    monkeypatch.setattr(analysis, "judge", judge_noted)
    program = program_of(SLOW + EASY)
    slow, easy = (function for _, function in program.functions())
    facts = Facts.about(program, PolyOptions(), apply_claims)
    later = facts.after(program.with_function(easy, replace(easy, body=Block(span=easy.body.span, statements=()))))
    last = later.after(later.program)
    found = [one.of(slow).loops for one in (last, later, facts)]
    assert sorted(asked) == ["i", "j"] and found[0] == found[1] == found[2]
    assert found[0][0].claims
    assert len(last.functions[1].loops) == 0 and len(facts.of(easy).loops) == 1


def test_what_was_refused_briefly_is_judged_again_for_a_reader() -> None:
    program = program_of("void f(int n, double *a) { for (int i = 1; i < n; i++) a[i] = 0.5 * a[i - 1] * a[i - 1]; }")
    facts = Facts.about(program, PolyOptions(), apply_claims)
    (brief,) = facts.briefly().functions[0].loops
    assert isinstance(brief.verdict, Unknown)
    (loop,) = facts.functions[0].loops
    assert isinstance(loop.verdict, Refuted) and loop.reasons[0].dependence is not None
    assert facts.briefly().functions[0].loops[0].verdict == loop.verdict, "what is known is not forgotten"
