"""Two names for one memory: what is assumed so that they are none, and what stays in doubt."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.program import Assumption, Program

FUNCTIONS: dict[str, str] = {
    "two": "void two(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
    "restricted": "void restricted(int n, double *restrict a, double *restrict b) {"
    " for (int i = 0; i < n; i++) a[i] = b[i]; }",
    "reading": "void reading(int n, double *a, double *b, double *restrict c) {"
    " for (int i = 0; i < n; i++) c[i] = a[i] + b[i]; }",
    "behind": "struct t { double *u, *v; }; void behind(int n, struct t *s) {"
    " for (int i = 0; i < n; i++) s->u[i] = s->v[i]; }",
    "rows": "void rows(int n, double **m, double *restrict a) { for (int i = 0; i < n; i++) m[0][i] = m[1][i]; }",
    "own": "double t[9]; void own(int n, double **m) { double r[9]; for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "kept": "void keep(double *); void kept(int n, double **m) { double r[9]; keep(r);"
    " for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "stored": "void stored(int n, double **m) { double r[9]; m[0] = r; for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "global": "void global(int n, double **m) { for (int i = 0; i < n; i++) t[i] = m[1][i]; }",
    "fresh": "void *malloc(unsigned long); void fresh(int n, double **m) { double *r = malloc(80);"
    " for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "handed": "void *malloc(unsigned long); void handed(int n, double **m) { double *r = malloc(80); m[0] = r;"
    " for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "chosen": "void chosen(int n, double *restrict p, double *restrict q) {"
    " for (int i = 0; i < n; i++) { double *r = n > 2 ? p : q; p[i] = r[i + 1]; } }",
    "held": "struct h { double *u; }; void held(int n) { double r[9]; struct h s; s.u = r;"
    " for (int i = 0; i < n; i++) r[i] = s.u[i + 1]; }",
    "listed": "struct l { double *u; }; void listed(int n) { double r[9]; struct l s = {r};"
    " for (int i = 0; i < n; i++) r[i] = s.u[i + 1]; }",
    "table": "void table(int n, int k) { double r[9], q[9]; double *t[2] = {r, q};"
    " for (int i = 0; i < n; i++) r[i] = t[k][i + 1]; }",
    "table of starts": "void table_of_starts(int n, int k) { double r[9]; double *t[2]; t[0] = r + 1; t[1] = r;"
    " for (int i = 0; i < n; i++) r[i] = t[k][i + 1]; }",
    "copied": "struct c2 { double *u; }; void copied(int n) { double r[9]; struct c2 s = {r}, t; t = s;"
    " for (int i = 0; i < n; i++) r[i] = t.u[i + 1]; }",
    "through": "void through(int n, double **m) { double r[9], *p = r; double **w = &p;"
    " for (int i = 0; i < n; i++) r[i] = w[0][i + 1]; }",
    "compound": "struct k { double *u; }; void compound(int n) { double r[9]; struct k *s = &(struct k){r};"
    " for (int i = 0; i < n; i++) r[i] = s->u[i + 1]; }",
    "given": "void given(int n, double **m, double *r) { for (int i = 0; i < n; i++) r[i] = m[1][i]; }",
    "counts": "struct c { double *u; int *k; }; void counts(int n, struct c *s) {"
    " for (int i = 0; i < n; i++) s->u[i] = s->k[i]; }",
    "made": "void made(int n, double *restrict a) { double *p = a + 1; for (int i = 0; i < n; i++) p[i] = 0; }",
    "three": "void three(int n, double *a, double *b, double *c) {"
    " for (int i = 0; i < n; i++) { a[i] = b[i]; a[i] += c[i]; } }",
}


@functools.cache
def _program() -> Program:
    return program_of("\n".join(FUNCTIONS.values()))


def _asked(name: str, *granted: str, guards: bool = True) -> tuple[list[str], list[str]]:
    """Return the texts of what is assumed and of what is in doubt for the loop of a function."""
    one = function(_program(), name.replace(" ", "_"))
    origin = Origin.of(_program(), one)
    run = (one.body.statements[-1],)
    options = PolyOptions(guards=guards, granted=tuple(Assumption(text, "granted") for text in granted))
    with budget(options.max_operations):
        region, _ = build_region(origin, run, (), guards=guards)
        assumptions, doubts = overlaps(origin, run, region, options, guards=guards)
    return [f"{a.kind}: {a.text}" for a in assumptions], [d.text for d in doubts]


@pytest.mark.parametrize("name", ["restricted", "reading", "made", "counts", "own", "fresh"])
def test_names_that_cannot_be_one_memory_need_nothing(name: str) -> None:
    assert _asked(name, guards=False) == ([], [])


def test_two_parameters_are_told_apart_by_a_guard() -> None:
    assumed, doubts = _asked("two")
    assert [a.split(":")[0] for a in assumed] == ["guarded"] and doubts == []


def test_without_guards_they_stay_in_doubt() -> None:
    assumed, (doubt,) = _asked("two", guards=False)
    assert assumed == [] and "a" in doubt and "b" in doubt


@pytest.mark.parametrize("text", ["noalias(a, b)", "noalias(b,a)"])
def test_what_the_user_grants_comes_first(text: str) -> None:
    assert _asked("two", text) == ([f"granted: {text}"], [])
    assert _asked("two", text, guards=False) == ([f"granted: {text}"], [])
    assert _asked("two", "noalias(a, c)", guards=False)[1] != []


def test_each_pair_is_told_apart_once() -> None:
    assumed, doubts = _asked("three")
    assert len(assumed) == len(set(assumed)) == 2 and doubts == []
    mixed, open_ones = _asked("three", "noalias(a, b)", guards=False)
    assert mixed == ["granted: noalias(a, b)"] and len(open_ones) == 1


@pytest.mark.parametrize("name", [
    "behind", "rows", "kept", "stored", "global", "handed", "given", "chosen", "held", "listed", "table", "copied",
    "table of starts", "through", "compound",
])  # fmt: skip
def test_pointers_read_from_memory_may_point_anywhere(name: str) -> None:
    for guards in (True, False):
        _, doubts = _asked(name, guards=guards)
        assert any("pointer read from memory" in doubt for doubt in doubts), doubts
        assert len(doubts) == len(set(doubts))
