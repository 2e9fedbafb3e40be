from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.poly.programs import function, load, loop
from warpsmith.base.source import Span
from warpsmith.poly.aliasing.aliasing import alias_pairs, relation
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import Set, budget, pieces
from warpsmith.poly.regions import bounds
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import names

PROGRAM = """
#include <stdlib.h>
double g1[10], g2[10]; double scalar, looked, stored, handed, passed, back;
struct rows { double m[4][10]; int n; } named, kept, row;
static double *own1, *own2, *lent; double *from_outside(void);
static void note(double *p) { (void)p; }
static double *same(double *p) { return p; }
struct box { double *x; };
static void store(struct box *b, double *p) { b->x = p; }
void init(int n, struct box *b) {
  own1 = malloc(n * 8); own2 = calloc(n, 8); lent = g1; note(&looked); store(b, &stored);
  store(b, kept.m[0]); b->x = row.m[n];
}
void f(int n, double *p, double *q, double *restrict r, struct box *s) {
  double l1[10], l2[10], *m1 = malloc(n * 8), *m2 = (double *)malloc(n * 8), *c = p + 1, *w = l1, *u = from_outside();
  double *both = n ? m1 : m2, *deep = s->x;
  l1[0] = l2[0] = m1[0] = m2[0] = c[0] = w[0] = u[0] = both[0] = deep[0] = g1[0] = g2[0] = p[0] = q[0] = r[0] = 0;
  own1[0] = own2[0] = lent[0] = scalar = looked = stored = handed = passed = back = 0;
  named.m[0][1] = kept.m[0][1] = row.m[0][1] = 0;
}
static void through(double *p) { f(1, g1, p, 0, 0); }
int main(void) {
  struct box b;
  init(3, &b); f(1, g1, &handed, 0, &b); through(&passed); f(1, same(&back), g2, 0, 0);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ("g1:g2 l1:l2 l1:p l1:g1 m1:m2 m1:p m1:g1 m1:q w:p w:l2 c:m1 own1:own2 own1:g1 own1:m1 both:p", "distinct"),
        ("r:p r:q r:g1 r:own1 r:deep l1:u l1:deep m1:u scalar:p scalar:lent looked:p looked:deep looked:u", "distinct"),
        ("p:q p:g1 c:q c:p w:l1 u:p u:g1 deep:p deep:g2 both:m1 both:m2 own1:p lent:g1 lent:p u:deep", "may"),
        ("named:p named:deep", "distinct"),
        ("kept:p kept:deep row:p row:u stored:p stored:deep stored:u handed:q passed:q back:p", "may"),
    ],
)
def test_relations(pairs: str, expected: str, tmp_path: Path) -> None:
    program = load(PROGRAM, tmp_path)
    f = function(program, "f")
    named = {n.symbol.name: n.symbol for n in names(f)}
    for pair in pairs.split():
        left, right = (named[name] for name in pair.split(":"))
        assert relation(program, f, left, right) == expected, pair
        assert relation(program, f, right, left) == expected, pair


def _guards(text: str, folder: Path, options: PolyOptions | None = None) -> dict[str, str | None]:
    program = load(text, folder)
    f = function(program, "f")
    run = (loop(program, "f/i"),)
    found = alias_pairs(program, f, run, options or PolyOptions())
    return {
        f"{p.left.name} {p.right.name}": print_expr(p.assumption.condition)
        if p.assumption is not None and p.assumption.condition is not None
        else None
        for p in found
    }


@pytest.mark.parametrize("chain", ["G = p = malloc(n);", "p = G = malloc(n);", "if ((p = G = malloc(n)) == 0) return;"])
def test_a_chain_of_assignments_gives_one_memory_two_names(chain: str, tmp_path: Path) -> None:
    text = f"""#include <stdlib.h>
    static char *G; static char *H;
    void f(int n) {{ char *p; {chain} H = malloc(n); p[0] = G[0] = H[0] = 1; }} int main(void) {{ f(9); return 0; }}"""
    program = load(text, tmp_path)
    f = function(program, "f")
    named = {n.symbol.name: n.symbol for n in names(f)}
    assert relation(program, f, named["p"], named["G"]) == "may"
    assert relation(program, f, named["H"], named["p"]) == "distinct"


def test_pairs_that_are_only_read_need_nothing(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b, double *c) { for (int i = 0; i < n; i++) c[i] = a[i] + b[i]; }"
    assert list(_guards(text, tmp_path)) == ["a c", "b c"]


def test_a_guard_tells_apart_what_overlaps(tmp_path: Path) -> None:
    """Compile the guard and ask it about real pointers, as C and as C++, without a warning."""
    text = "void f(int n, int m, float *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i + m]; }"
    (guard,) = _guards(text, tmp_path).values()
    assert guard is not None
    test = f"""
#include <stdio.h>
static int apart(int n, int m, float *a, double *b) {{ (void)n; (void)m; if ({guard}) {{ return 1; }} return 0; }}
int main(void) {{
  static double t[100];
  float *x = (float *)t;
  printf("%d%d%d%d%d%d", apart(10, 0, x, t), apart(10, 0, x, t + 5), apart(10, 0, x, t + 4), apart(10, -4, x, t + 8),
         apart(10, 0, x + 20, t), apart(10, 0, x + 19, t));
  return 0;
}}
"""
    for compiler, suffix in (("gcc", "c"), ("g++", "cpp")):
        source = tmp_path / f"guard.{suffix}"
        source.write_text(test)
        binary = tmp_path / f"guard_{suffix}"
        command = [compiler, "-Wall", "-Wextra", "-Werror", str(source), "-o", str(binary)]
        subprocess.run(command, check=True, capture_output=True)
        assert subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout == "010010"


def test_a_pointer_may_reach_a_global_variable(tmp_path: Path) -> None:
    text = "double alpha; void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = alpha; }"
    guards = _guards(text, tmp_path)
    assert list(guards) == ["a alpha"]
    assert "&alpha" in str(guards["a alpha"])
    assert not _guards("static " + text, tmp_path)


def test_what_the_user_grants_and_what_cannot_be_guarded(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b, int *k) { for (int i = 0; i < n; i++) a[k[i]] = b[i]; }"
    moving = load(text.replace("a[k[i]]", "a[*k++]"), tmp_path)
    pairs = alias_pairs(moving, function(moving, "f"), (loop(moving, "f/i"),), PolyOptions())
    assert {f"{p.left.name} {p.right.name}": p.assumption is None for p in pairs} == {"a b": False, "a k": True}
    program = load(text, tmp_path)
    f = function(program, "f")
    span = Span(f.span.file, 0, 1)
    granted = PolyOptions(granted=(Assumption("noalias(b, a)", "granted", None, span),))
    pairs = alias_pairs(program, f, (loop(program, "f/i"),), granted)
    kinds = {f"{p.left.name} {p.right.name}": p.assumption and p.assumption.kind for p in pairs}
    assert kinds == {"a b": "granted", "a k": "guarded"}
    assert all(p.reason.rule == "POR004" and p.reason.settled_by for p in pairs)


def test_a_pointer_made_inside_stands_for_what_it_points_to(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b) {
      for (int i = 0; i < n; i++) { double *row = a + i * n; const double *in = b; row[0] = in[i]; } }"""
    assert not _guards(text, tmp_path)
    assert list(_guards(text.replace("restrict", ""), tmp_path)) == ["a b"]


def test_a_local_pointer_is_also_told_by_what_it_points_to(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b) { double *p = a + 1; for (int i = 0; i < n; i++) p[i] = b[i]; }"
    guards = _guards(text, tmp_path)
    assert set(guards) == {"a b", "a p", "b p"}
    assert guards["a b"] is not None or guards["b p"] is not None


def test_only_what_may_overlap_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of their own beside two pointers cost nothing; where there are only such, nothing is bounded."""
    asked: list[bool] = []
    real = pieces

    def note(values: Set, *, greatest: bool) -> object:
        asked.append(greatest)
        return real(values, greatest=greatest)

    monkeypatch.setattr(bounds, "pieces", note)
    text = """void f(int n, double *p, double *q) { double x[100], y[100], z[100];
        for (int i = 0; i < n; i++) { x[i] = y[i] + z[i]; p[i] = q[i]; } }
    void g(int n) { double x[100], y[100], z[100]; for (int i = 0; i < n; i++) x[i] = y[i] + z[i]; }"""
    program = load(text, tmp_path)
    found = {}
    for name in "fg":
        run = (loop(program, f"{name}/i"),)
        with budget(10**6):
            found[name] = alias_pairs(program, function(program, name), run, PolyOptions())
    ((pair,), none) = found.values()
    assert (pair.left.name, pair.right.name, none) == ("p", "q", ()) and pair.assumption is not None
    assert asked == [False, True] * 2
