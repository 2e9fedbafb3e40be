"""The claims of a function: which loops a pragma covers, which variables are each thread's own, what is not read."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop, shown
from warpsmith.poly.claimed import (
    claims_of,
    find_covered_inside,
    find_protected_in,
    marked_statements,
    regions_of,
    threadprivate,
)
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Program

NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += s + t + u;"
ONE = "for (int i = 0; i < n; i++) a[i] += s + t + u;"
# the pragma and its loop: private, firstprivate, lastprivate, reductions, the loops
CLAIMS: list[tuple[str, str, str, str, str, str]] = [
    ("#pragma omp parallel for\n" + ONE, "", "", "", "", "i"),
    ("#pragma omp parallel for private(t) firstprivate(s) lastprivate(u)\n" + ONE, "t", "s", "u", "", "i"),
    ("#pragma omp parallel for reduction(+: s, t) reduction(-: u)\n" + ONE, "", "", "", "s+ t+ u+", "i"),
    ("#pragma omp parallel for collapse(2)\n" + NEST, "", "", "", "", "i j"),
    ("#pragma omp parallel for collapse(3)\n" + NEST, "", "", "", "", "i j"),
    ("#pragma omp parallel for collapse(n)\n" + NEST, "", "", "", "", "i"),
    (
        "#pragma omp parallel for collapse(2)\n" + NEST.replace("for (int j", "{ ; for (int j") + "}",
        "",
        "",
        "",
        "",
        "i j",
    ),
    ("#pragma omp parallel private(t)\n{\n#pragma omp for private(s)\n" + ONE + "\n}", "s t", "", "", "", "i"),
    # the loop's own clause decides, not the region's
    ("#pragma omp parallel private(t)\n{\n#pragma omp for firstprivate(t)\n" + ONE + "\n}", "", "t", "", "", "i"),
    ("#pragma omp parallel reduction(+: t)\n{\n#pragma omp for private(t)\n" + ONE + "\n}", "t", "", "", "", "i"),
    ("#pragma omp parallel\n{ double t = 0;\n#pragma omp for\n" + ONE + "\n}", "t", "", "", "", "i"),
    ("#pragma omp target teams distribute parallel for\n" + ONE, "", "s t u", "", "", "i"),
    ("#pragma omp target teams distribute parallel for shared(s) reduction(+: t)\n" + ONE, "", "u", "", "t+", "i"),
    ("#pragma acc parallel loop copyin(s)\n" + ONE, "", "t u", "", "", "i"),
    ("#pragma omp simd\n" + ONE, "", "", "", "", "i"),
    ("#pragma omp parallel for\nwhile (n) n--;", "", "", "", "", ""),
    # threads of a caller's region: each has called the function
    ("{ double t = 0;\n#pragma omp for\n" + ONE + "\n}", "t", "", "", "", "i"),
    ("s = 1;\n#pragma omp for\n" + ONE, "s", "", "", "", "i"),
    ("{ static double t;\n#pragma omp for\n" + ONE + "\n}", "", "", "", "", "i"),
    ("s = 1;\n#pragma omp parallel for\n" + ONE, "", "", "", "", "i"),
    ("s = 1;\n#pragma omp simd\n" + ONE, "", "", "", "", "i"),
]
PARAMETERS = "int n, double *a, double s, double t, double u"


@functools.cache
def _program() -> Program:
    return program_of("\n".join(f"void f{k}({PARAMETERS}) {{\n{text}\n}}" for k, (text, *_) in enumerate(CLAIMS)))


def _claim(number: int) -> Claim:
    (claim,) = claims_of(function(_program(), f"f{number}"))
    return claim


@pytest.mark.parametrize("number", range(len(CLAIMS)), ids=[case[0].partition("for (")[0] for case in CLAIMS])
def test_claims(number: int) -> None:
    claim = _claim(number)
    scalars = frozenset(s for s in claim.firstprivate if s.name in "stu")
    combined = " ".join(sorted(f"{s.name}{op}" for s, op in claim.reductions.items()))
    found = (shown(claim.private), shown(scalars), shown(claim.lastprivate), combined)
    assert (*found, " ".join(x.variable.name for x in claim.loops)) == CLAIMS[number][1:]


def test_kinds_and_regions() -> None:
    simd, plain, inside = (_claim(k) for k in (14, 0, 7))
    assert (simd.kind, plain.kind) == ("simd", "threads")
    assert plain.region is None and inside.region is not None and "parallel" in inside.region.text


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (4, "collapse(3): only 2 counted loops"),
        (5, "collapse(n): the number of loops is not a number"),
        (15, "the loop is not a counted one"),
    ],
)
def test_what_is_not_a_claim(number: int, words: str) -> None:
    assert words in _claim(number).unclaimed[0]
    assert not _claim(0).unclaimed and not _claim(3).unclaimed


@pytest.mark.parametrize(
    ("pragma", "inside", "words"),
    [
        ("parallel for unheard(of)", "a[i] = 0;", "is not understood"),
        ("parallel for private(a[0:2])", "a[i] = 0;", "names a part of a variable"),
        ("parallel for", "a[i] = omp_get_thread_num();", "omp_get_thread_num() inside the loop"),
        ("parallel for", "\n#pragma omp barrier\na[i] = 0;", "barrier inside the loop (line"),
        (
            "parallel for",
            "\n#pragma omp simd private(s)\nfor (int j = 0; j < n; j++) a[j] = s;",
            "",
        ),
        (
            "parallel for",
            "\nint s = 1;\n#pragma omp simd private(s)\nfor (int j = 0; j < n; j++) a[j] = s;\na[i] = s;",
            "s is used also outside of omp simd inside the loop (line",
        ),
        ("parallel for", "\n#pragma omp parallel private(s)\na[i] = s;", "the lists of omp parallel inside the loop"),
        ("parallel for", "\n#pragma omp simd\nfor (int j = 0; j < n; j++) a[j] = s;", ""),
        ("parallel for num_threads(4) schedule(static)", "a[i] = 0;", ""),
    ],
)
def test_what_is_not_understood(pragma: str, inside: str, words: str) -> None:
    body = f"#pragma omp {pragma}\nfor (int i = 0; i < n; i++) {{ {inside} }}"
    text = f"int omp_get_thread_num(void);\nvoid f({PARAMETERS}) {{\n{body} }}"
    (claim, *_) = claims_of(function(program_of(text), "f"))
    assert any(words in one for one in claim.unclaimed) if words else not claim.unclaimed, claim.unclaimed


REGION = f"""
static int own; int other;
#pragma omp threadprivate(own)
void f({PARAMETERS}) {{
#pragma omp parallel
  {{
#pragma omp critical(lock)
    own = 1;
#pragma omp for
    for (int i = 0; i < n; i++) {{
#pragma omp atomic
      a[0] += own;
#pragma omp simd
      for (int j = 0; j < n; j++) a[j] = other;
    }}
  }}
#pragma omp parallel for
#if 1
  for (int i = 0; i < n; i++) a[i] = 0;
#endif
#pragma omp barrier
  n = 2;
}}
"""


def test_regions_protection_and_what_each_thread_owns() -> None:
    program = program_of(REGION)
    one = function(program, "f")
    assert [r.directive.title for r in regions_of(one)] == ["omp parallel", "omp parallel for"]
    assert [(p.kind, p.name) for p in find_protected_in(one.body)] == [("critical", "lock"), ("atomic", "")]
    own = threadprivate(program)
    assert shown(own) == "own"
    claims = claims_of(one, own)
    assert [c.directive.title for c in claims] == ["omp parallel for", "omp for", "omp simd"]
    assert shown(claims[1].private) == "own" and shown(claims_of(one)[1].private) == ""
    assert [p.kind for p in claims[1].protected] == ["atomic"]
    outer = loop(program, "f/i")
    assert isinstance(outer, For)
    assert [x.variable.name for x in find_covered_inside(outer)] == ["j"]
    marked = [stmt for _, stmt in marked_statements(one.body)]
    assert not any(stmt.span.text == "n = 2" for stmt in marked), "a barrier stands alone"


def test_directives_that_a_build_leaves_out() -> None:
    program = program_of(f"void f({PARAMETERS}) {{\n#pragma omp parallel for\n{ONE}\n}}")
    body = function(program, "f").body
    assert len(list(marked_statements(body))) == len(list(marked_statements(body, any_build=True))) == 1
    assert threadprivate(program) == frozenset()
