from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from tests.poly.programs import function, load, loop
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.sizes.extents import known_extent
from warpsmith.poly.facts import PolyOptions, Sections, reading
from warpsmith.poly.regions import sections as sections_module
from warpsmith.poly.regions.bounds import LinearBounds, linear_bounds
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.sections import covered_sections
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Binary, Block, Cast, Conditional, Expr, For, Literal, Name, SizeOf, Stmt
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import names, peel


def value(expr: Expr, env: Mapping[str, int]) -> int:
    """Evaluate a bound in unbounded integers."""
    expr = peel(expr)
    match expr:
        case Literal() | SizeOf():
            assert isinstance(expr.value, int)
            return expr.value
        case Name():
            return env[expr.symbol.name]
        case Cast():
            return value(expr.operand, env)
        case Conditional():
            return value(expr.then if value(expr.condition, env) else expr.other, env)
        case Binary():
            a = value(expr.left, env)
            if expr.op in ("&&", "||"):
                return (
                    int(bool(a) and bool(value(expr.right, env)))
                    if expr.op == "&&"
                    else int(bool(a) or bool(value(expr.right, env)))
                )
            b = value(expr.right, env)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if expr.op == "/" else 0
            known = {"+": a + b, "-": a - b, "*": a * b, "/": quotient, "<": a < b, "<=": a <= b}
            known |= {">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
            return int(known[expr.op])
        case _:
            raise AssertionError(type(expr))


def asked(program: Program, run: str, scope: str, *granted: Assumption) -> Sections:
    f = function(program, run.split("/")[0])
    options = PolyOptions(granted=granted)
    return covered_sections(program, f, (loop(program, run),), (loop(program, scope),), options)


def bounds(found: Sections, name: str, **env: int) -> tuple[int, int] | None:
    """Return the section of `name`, None where it is empty."""
    section = next(s for s in found.sections if s.symbol.name == name)
    low, high = value(section.lower, env), value(section.upper, env)
    return (low, high) if low < high else None


def test_lu_over_the_whole_time_loop(tmp_path: Path) -> None:
    text = """void lu(double *A, int N) { int i, j, k; for (k = 0; k < N - 1; k++) {
      for (i = k + 1; i < N; i++) A[i*N + k] /= A[k*N + k];
      for (i = k + 1; i < N; i++) for (j = k + 1; j < N; j++) A[i*N + j] -= A[i*N + k] * A[k*N + j]; } }"""
    program = load(text, tmp_path)
    for run, scope in product(("lu/k", "lu/k/i", "lu/k/i#2"), ("lu/k",)):
        found = asked(program, run, scope)
        assert not found.failures
        for n in range(-3, 6):
            touched = set()
            for k in range(n - 1):
                for i in range(k + 1, n):
                    if run != "lu/k/i#2":
                        touched |= {i * n + k, k * n + k}
                    if run != "lu/k/i":
                        touched |= {e for j in range(k + 1, n) for e in (i * n + j, i * n + k, k * n + j)}
            expected = (min(touched), max(touched) + 1) if touched else None
            assert bounds(found, "A", N=n) == expected, (run, n)


@pytest.mark.parametrize(
    ("body", "covers", "lower", "upper"),
    [
        ("for (i = 0; i < n; i++) a[i] = 0;", True, 0, 6),
        ("for (i = 0; i < n; i += 2) a[i] = 0;", False, 0, 5),
        ("for (i = 1; i < n - 1; i++) a[i] = a[i-1];", False, 0, 5),
        ("for (i = 0; i < n; i++) if (i != 3) a[i] = 0;", False, 0, 6),
        ("for (i = 0; i < n; i++) if (a[i] > 1) a[i] = 0;", False, 0, 6),
        ("for (i = 0; i < n; i++) { if (h[i]) continue; a[i] = 0; }", False, 0, 6),
        ("for (i = n - 1; i >= 0; i--) a[i] = 0;", True, 0, 6),
        ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i*m + j] = 0;", True, 0, 24),
        ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[j*n + i] = 0;", True, 0, 24),
        ("for (i = 0; i < n; i++) for (j = 0; j < m - 1; j++) a[i*m + j] = 0;", False, 0, 23),
        ("for (i = 0; i < n; i++) for (j = 0; j < i; j++) a[i*n + j] = 0;", False, 6, 35),
        ("for (i = 1; i < n; i++) for (j = 0; j < m; j++) a[i*m + j] = 0;", True, 4, 24),
        ("for (i = 0; i < n; i++) { a[i] = 0; a[i] += h[i]; }", True, 0, 6),
    ],
)
def test_cover_and_bounds(body: str, covers: bool, lower: int, upper: int, tmp_path: Path) -> None:
    program = load(f"void f(int n, int m, double *a, int *h) {{ int i, j; {body} }}", tmp_path)
    found = asked(program, "f/i", "f/i", Assumption("reachable(a)", "granted"))
    assert bounds(found, "a", n=6, m=4) == (lower, upper)
    assert next(s for s in found.sections if s.symbol.name == "a").covers == covers
    for n, m in product((-1, 0), (0, 3)):
        assert bounds(found, "a", n=n, m=m) is None


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("if (h[i]) a[i - 1] = 0;", False),
        ("{ if (h[i]) break; a[i] = 0; }", False),
        ("{ a[i] += 1; if (h[i]) a[i + 1] = 0; }", False),
        ("{ a[i] += 1; if (h[i]) a[i] = 0; }", True),
        ("if (a[i] > 0) a[i] = 0;", True),
        ("if (i < n - 3) a[i] = 0;", True),
    ],
)
def test_what_is_touched_only_under_a_condition_on_data_may_not_exist(body: str, known: bool, tmp_path: Path) -> None:
    program = load(f"void f(int n, double *a, int *h) {{ for (int i = 0; i < n; i++) {body} }}", tmp_path)
    found = asked(program, "f/i", "f/i")
    assert any(s.symbol.name == "a" for s in found.sections) == known
    assert {reason.rule for reason in found.failures} == (set() if known else {"POR005"})
    granted = [Assumption(f"reachable({name})", "granted") for name in ("a", "h")]
    assert not asked(program, "f/i", "f/i", *granted).failures


def test_a_run_covers_its_section_in_every_round_of_the_scope(tmp_path: Path) -> None:
    text = """void f(int n, int T, double *a, double *b, double *c) { int t, i; for (t = 0; t < T; t++) {
      for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
      for (i = 1; i < n - 1; i++) a[i] = b[i];
      for (i = 0; i < t; i++) c[i] = 0; } }"""
    program = load(text, tmp_path)
    first, second, third = (asked(program, f"f/t/i{k}", "f/t") for k in ("", "#2", "#3"))
    by_name = {s.symbol.name: s for s in (*first.sections, *third.sections)}
    assert (by_name["b"].covers, by_name["b"].written, by_name["b"].read) == (True, True, False)
    assert (by_name["a"].covers, by_name["a"].written) == (False, False)
    assert not by_name["c"].covers
    assert bounds(first, "a", n=9, T=2) == (0, 9)
    assert bounds(second, "a", n=9, T=2) == (1, 8)
    assert bounds(third, "c", n=9, T=5) == (0, 4)


@pytest.mark.parametrize("other", ["a[j*n + i + 1]", "a[i*k + j]"])
def test_two_views_of_an_object_take_all_of_it(other: str, tmp_path: Path) -> None:
    text = f"""void f(int n, int m, int k, double *y) {{ double a[400];
      for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ a[i*m + j] = 1; {other} = 2; }} y[0] = a[0]; }}"""
    found = asked(load(text, tmp_path), "f/i", "f/i")
    assert not found.failures
    assert bounds(found, "a", n=3, m=4, k=7) == (0, 400)


def test_what_has_no_affine_bounds_takes_the_whole_object_or_fails(tmp_path: Path) -> None:
    text = """#include <stdlib.h>
    double table[30][4]; struct box { double *x; };
    void f(int n, int *k, double *p, struct box *s) {
      double *m = malloc(n * 3 * sizeof *m);
      for (int i = 0; i < n; i++) { table[k[i]][1] = 0; m[k[i]] = 1; p[k[i]] = 2; s->x[i] = 3; }
      double *a = p, *b = m, *t;
      for (int j = 0; j < n; j++) { for (int i = 0; i < n; i++) a[i] = b[i]; t = a; a = b; b = t; } }"""
    program = load(text, tmp_path)
    found = asked(program, "f/i", "f/i")
    assert bounds(found, "table", n=5) == (0, 120)
    assert bounds(found, "m", n=5) == (0, 15)
    assert bounds(found, "k", n=5) == (0, 5)
    words = " ".join(f.text for f in found.failures)
    assert len(found.failures) == 2
    assert "p" in words
    assert "s->x" in words
    assert all(f.legal_if or f.settled_by for f in found.failures)
    swapped = asked(program, "f/j/i", "f/j")
    assert {f.text for f in swapped.failures} == {f"pointer {p} is reassigned in the loop" for p in "ab"}
    assert {f.rule for f in swapped.failures} == {"POR008"}
    assert not asked(program, "f/j/i", "f/j/i").failures


@pytest.mark.parametrize("made", ["int", "unsigned char", "size_t"])
def test_a_bound_that_is_made_inside_is_not_all_that_its_type_holds(made: str, tmp_path: Path) -> None:
    text = f"""#include <stddef.h>
    void f(int n, int *a, const {made} *s) {{
      for (int t = 0; t < n; t++) {{ {made} d = s[t]; for ({made} i = 0; i < d; i++) a[i] += t; }} }}"""
    found = asked(load(text, tmp_path), "f/t/i", "f/t")
    assert [section.symbol.name for section in found.sections] == []
    assert "not bounded by anything that is known before the loop" in found.failures[0].text


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("double a[7];", 7),
        ("double a[3][5];", 15),
        ("double a[n][4];", 24),
        ("double a[n]; n = 3;", None),
        ("double *a = malloc(n * sizeof(double));", 6),
        ("double *a = (double *)malloc(sizeof(double) * (n + 2) * m);", 40),
        ("double *a = calloc(n, sizeof *a);", 6),
        ("double *a; a = malloc(n * 16);", 12),
        ("double *a = malloc(SIZE * sizeof(double));", 9),
        ("double (*a)[5] = malloc(n * sizeof *a);", 30),
        ("double *a = malloc(n * 8); n++;", None),
        ("double *a = malloc(n * 8); a++;", None),
        ("double *a = malloc(n * 4);", None),
        ("double *a = malloc(n * 8 + 64);", None),
        ("double *a = malloc((unsigned)n * (unsigned)m * 8);", None),
        ("double *a = 0; if (m) a = malloc(n * 8);", None),
        ("double *a = malloc(n * 8); if (m) a = malloc(8);", None),
        ("double *a = malloc(count() * 8);", None),
        ("double *a = malloc(n * 8); change(&n);", None),
        ("double *a = malloc(n * 8) + 8;", None),
    ],
)
def test_known_extents(made: str, expected: int | None, tmp_path: Path) -> None:
    text = f"""#include <stdlib.h>
#define SIZE (4 + 5)
int count(void); void change(int *);
void f(int n, int m) {{ {made}
  for (int i = 0; i < n; i++) {{ (void)a; }} }}"""
    program = load(text, tmp_path)
    f = function(program, "f")
    at = loop(program, "f/i")
    assert isinstance(at, For)
    assert isinstance(f.body, Block)
    symbol = next(n.symbol for n in names(at.body) if n.symbol.name == "a")
    found = known_extent(program, f, symbol, at)
    assert (None if found is None else value(found, {"n": 6, "m": 5})) == expected


@pytest.mark.parametrize(
    ("body", "read", "written"),
    [("a[i] = i;", False, True), ("h[i] = a[i];", True, False), ("a[i] += i;", True, True)],
)
def test_what_is_read_and_what_is_written(body: str, read: bool, written: bool, tmp_path: Path) -> None:
    program = load(f"void f(int n, double *a, double *h) {{ for (int i = 0; i < n; i++) {{ {body} }} }}", tmp_path)
    section = next(s for s in asked(program, "f/i", "f/i").sections if s.symbol.name == "a")
    assert (section.read, section.written) == (read, written)


@pytest.mark.parametrize(
    ("limit", "index", "expected"),
    [
        ("n", "i", {6: (0, 6), 10: (0, 10), 20: (0, 10)}),
        ("n", "i - 2", {6: (0, 4), 20: (0, 10)}),
        ("6", "i", {0: (0, 6)}),
        ("20", "i", {0: (0, 10)}),
        ("20", "i - 4", {0: (0, 10)}),
    ],
)
def test_what_a_condition_on_data_lets_through_is_within_the_array(
    limit: str, index: str, expected: dict[int, tuple[int, int]], tmp_path: Path
) -> None:
    text = f"void f(int n, int *h) {{ double a[10]; for (int i = 0; i < {limit}; i++) if (h[i]) a[{index}] = 0; }}"
    found = asked(load(text, tmp_path), "f/i", "f/i")
    assert {n: bounds(found, "a", n=n) for n in expected} == expected


def test_a_pointer_that_moves_leads_into_no_block_of_its_own(tmp_path: Path) -> None:
    text = """void f(int n, double *a, double *b, int *h) {
      for (int i = 0; i < n; i++) { a[h[i]] = 0; b[i] = 1; b++; } }"""
    found = asked(load(text, tmp_path), "f/i", "f/i")
    assert {s.name for s in found.unbounded} == {"a"}
    assert len(found.failures) == 2


def test_statements_that_hold_too_much_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; for (int j = 0; j < n; j++) a[j] = 1; }"
    program = load(text, tmp_path)
    f = function(program, "f")
    both = f.body.statements
    size = reading(both[0])
    built: list[tuple[Stmt, ...]] = []
    real = build_region

    def build(origin: Origin, scope: tuple[Stmt, ...], around: tuple[Stmt, ...], **how: Any) -> tuple[Region, State]:
        built.append(scope)
        return real(origin, scope, around, **how)

    monkeypatch.setattr(sections_module, "build_region", build)
    options = PolyOptions(max_nodes=size * sections_module.SHARE)
    assert not covered_sections(program, f, both[:1], both[:1], options).failures and built
    built.clear()
    found = covered_sections(program, f, both[:1], both, options)
    assert found.given_up and not found.sections and not built
    assert f"too much together ({2 * size:,} of {size:,} terms)" in found.failures[0].text


def test_a_spent_budget_leaves_what_was_found_and_the_blocks_of_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """void f(int n, double *a, double *b, double *c, double *d) {
      for (int i = 0; i < n; i++) { a[i] = 0; b[i] = 1; c[i] = 2; d[i] = 3; d++; } }"""
    asked_of: list[str] = []
    real = linear_bounds

    def bound(state: State, references: Sequence[Any], span: Span) -> LinearBounds | Reason:
        name = references[0][1].base.name
        asked_of.append(name)
        while name == "b":
            isl.Set("{ [i] : 0 <= i < 9 }").coalesce()
        return real(state, references, span)

    monkeypatch.setattr(sections_module, "linear_bounds", bound)
    found = asked(load(text, tmp_path), "f/i", "f/i")
    assert found.given_up and bounds(found, "a", n=5) == (0, 5)
    assert {s.name for s in found.unbounded} == {"b", "c"}, "d leads elsewhere"
    assert {*asked_of} == {"a", "b"}, "isl can be asked nothing more"
    assert sum("within the work budget" in failure.text for failure in found.failures) == 2
