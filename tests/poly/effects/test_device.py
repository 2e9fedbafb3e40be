"""Constructs that may not run in a kernel: each with its rule, in called functions as well."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.effects.device import device_blocker, host_call
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Program

CASES: list[tuple[str, str, str]] = [
    ("a[i] = sin(a[i]) + fminf(1, 2) + abs(i);", "", ""),
    ("a[i] = helper(a[i]);", "", ""),
    ("double t[4]; t[0] = a[i]; a[i] = t[0];", "", ""),
    ('printf("%f", a[i]);', "POR006", "printf"),
    ("a[i] = outside(i);", "POR006", "outside"),
    ("a[i] = (long)malloc(3);", "POR006", "malloc"),
    ("a[i] = rand();", "POR006", "rand"),
    ("a[i] = even(i);", "POR008", "recursive"),
    ("a[i] = logged(a[i]);", "POR006", "logged: calls puts"),
    ("static int s; a[i] = s++;", "POR008", "static"),
    ("long double t = a[i]; a[i] = t;", "POR008", "long double"),
    ("__int128 t = i; a[i] = t;", "POR008", "__int128"),
    ("_Complex double t = a[i]; a[i] = t;", "POR008", ""),
    ("double t[n]; t[0] = 1; a[i] = t[0];", "POR008", "variable length"),
    ("volatile int t = i; a[i] = t;", "POR008", "volatile"),
    ("if (i > 2) goto out; a[i] = 0;", "POR008", "goto"),
    ("union both t; t.i = i; a[i] = t.f;", "POR008", "union"),
    ("a[i] = op(i);", "POR008", "pointer"),
    ("m[i][0] = 1;", "POR008", "kept in memory"),
    ("v->data[i] = 1;", "POR008", "kept in memory"),
    ("struct wide t = { 0 }; a[i] = t.w;", "POR008", "long double"),
    ("double t[2][n]; t[0][0] = 1; a[i] = t[0][0];", "POR008", "variable length"),
    ("struct vec t; t.n = i; a[i] = t.n;", "", ""),
    ("struct vec t; t.data = a; a[i] = t.data[0];", "POR008", "kept in memory"),
    ("double *p = a + i; *p = 0;", "", ""),
    ("a[i] = ((double *)(long)n)[i];", "POR008", "made from a number"),
    ("a[i] = *(double *)(long)a;", "POR008", "made from a number"),
    ("float *p = 0; if (!p) a[i] = ((float *)a)[i];", "", ""),
    ("a[i] = twice(i);", "POR006", "twice: calls logged: calls puts"),
    ("a[i] = apply(helper, i);", "POR008", "pointer"),
    ('__asm__("nop"); a[i] = 0;', "POR008", ""),
]
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
struct vec { double *data; int n; };
struct wide { long double w; };
double outside(int);
union both { int i; float f; };
static double helper(double x) { return x > 0 ? x : -x; }
static double logged(double x) { puts("x"); return x; }
static double twice(double x) { return logged(x) + logged(x); }
static int even(int n); static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static double apply(double (*g)(double), double x) { return g(x); }
"""


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{k}(int n, double *a, double **m, struct vec *v, int (*op)(int)) {{"
        f" for (int i = 0; i < n; i++) {{ {body} }} a[0] = n; out: return; }}"
        for k, (body, _, _) in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


def _loop(number: int) -> For:
    loop = function(_program(), f"f{number}").body.statements[0]
    assert isinstance(loop, For)
    return loop


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_what_may_not_run_on_the_device(number: int) -> None:
    _, rule, words = CASES[number]
    found = device_blocker(_program(), _loop(number).body)
    assert (found.rule if found is not None else "") == rule, found
    assert words in (found.text if found is not None else "")


def test_a_function_is_judged_by_its_body() -> None:
    assert device_blocker(_program(), function(_program(), "helper")) is None
    found = device_blocker(_program(), function(_program(), "twice"))
    assert found is not None and found.text.startswith("calls logged: calls puts")


def test_calls_that_no_step_helps() -> None:
    """A call of a library's function that the device lacks, wherever it stands; what is only unknown may be given."""
    known = Summaries.of(_program())
    found = {body: host_call(known, _loop(number)) for number, (body, _, _) in enumerate(CASES)}
    told = {body: reason.text for body, reason in found.items() if reason is not None}
    assert "printf" in told['printf("%f", a[i]);'] and "puts" in told["a[i] = logged(a[i]);"]
    assert "rand" in told["a[i] = rand();"] and "malloc" in told["a[i] = (long)malloc(3);"]
    assert all(reason is None or reason.rule == "POR006" for reason in found.values())
    for body in (
        "a[i] = outside(i);",
        "a[i] = even(i);",
        "a[i] = op(i);",
        "a[i] = helper(a[i]);",
        "static int s; a[i] = s++;",
    ):
        assert body not in told
