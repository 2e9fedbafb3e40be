from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.tree.nodes import For, While
from warpsmith.tree.walk import loops

DECLARATIONS = """
#include <stdio.h>
#include <math.h>
#define STEP 3
enum { FOUR = 4 };
struct pair { int n; double x; };
int total; static int hidden;
extern void unseen(void), (*hook)(void);
static void raises(void) { total++; }
static void calls_raises(void) { raises(); }
static double square(double x) { return x * x; }
static void stores(int *p) { *p = 1; }
"""
PARAMETERS = "int n, int m, double *a, int *b, struct pair *p, float x, unsigned u, char c, double *q, int v[10]"


def loop_of(load: Load, text: str, before: str = "", after: str = "") -> For | While:
    body = f"int i, j; {before}\n{text}\n{after}"
    loaded = load(f"{DECLARATIONS}\nvoid f({PARAMETERS}) {{ {body} }}\nint main(void) {{ return 0; }}\n")
    return next(iter(loops(function(loaded).body)))[0]


@pytest.mark.parametrize(
    ("text", "relation", "bound", "step"),
    [
        ("for (i = 0; i < n; i++) a[i] = 0;", "<", "n", 1),
        ("for (int k = 0; k <= n; ++k) a[k] = 0;", "<=", "n", 1),
        ("for (i = n; i > 0; i--) a[i] = 0;", ">", "0", -1),
        ("for (i = n; i >= m; i -= 2) a[i] = 0;", ">=", "m", -2),
        ("for (i = 0; n > i; i += STEP) a[i] = 0;", "<", "n", 3),
        ("for (i = 0; n * 2 + m >= (i); i = i + FOUR) a[i] = 0;", "<=", "n * 2 + m", 4),
        ("for (i = 0; i < n; i = 2 + i) a[i] = 0;", "<", "n", 2),
        ("for (i = 9; i > n; i = i - 1) a[i] = 0;", ">", "n", -1),
        ("for (i = 0; i != n; i++) a[i] = 0;", "!=", "n", 1),
        ("for (u = 0; u < n - 1; u++) a[u] = 0;", "<", "n - 1", 1),
        ("for (c = 0; c < 10; c++) a[c] = 0;", "<", "10", 1),
        ("for (i = 0; i < n; i += sizeof(double)) a[i] = 0;", "<", "n", 8),
        ("for (i = 0; i < n; i++) { if (a[i] > 1) break; a[i] = square(sqrt(a[i])); }", "<", "n", 1),
        ("for (i = 0; i < b[n]; i++) a[i] = 0;", "<", "b[n]", 1),
        ("for (i = 0; i < p->n; i++) p->x += 1;", "<", "p->n", 1),
        ("for (i = 0; i < total; i++) a[i] = square(a[i]);", "<", "total", 1),
        ("for (i = 0; i < total; i++) b[i] = 0;", "<", "total", 1),
        ("for (i = 0; i < total; i++) printf(\"%d\", i);", "<", "total", 1),
    ],
)  # fmt: skip
def test_counted_loops(load: Load, text: str, relation: str, bound: str, step: int) -> None:
    loop = loop_of(load, text)
    assert isinstance(loop, For), loop
    assert (loop.relation, loop.bound.span.text, loop.step) == (relation, bound, step)
    assert loop.declares == ("int k" in text)
    assert loop.header.text == text[: len(loop.header.text)]
    assert loop.header.text.endswith(")")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("for (x = 0; x < 1; x += 0.1f) a[0] = 0;", "its counter x is a float"),
        ("for (q = a; q < a + n; q++) *q = 0;", "its counter q is a pointer"),
        ("for (i = 0, j = 0; i < n; i++, j++) a[i] = 0;", "it sets more than one counter"),
        ("for (int k = 0, l = n; k < l; k++) a[k] = 0;", "it declares more than its counter"),
        ("for (; i < n; i++) a[i] = 0;", "it does not set its counter"),
        ("for (i = 0; ; i++) a[i] = 0;", "it has no condition"),
        ("for (i = 0; i < n; ) a[i] = 0;", "it does not advance its counter i"),
        ("for (i = 0; i < n; i += m) a[i] = 0;", "its step m is not a constant"),
        ("for (i = 0; i < n; i *= 2) a[i] = 0;", "it does not advance its counter i by a constant step"),
        ("for (i = 0; i < n; i += 0) a[i] = 0;", "its step 0 does not fit its counter i"),
        ("for (i = 0; i < n; i--) a[i] = 0;", "its counter i runs away from its bound"),
        ("for (i = 0; i != n; i += 2) a[i] = 0;", "its step 2 may jump over the bound that != waits for"),
        ("for (i = 0; i < n && a[i]; i++) a[i] = 0;", "its condition is not a comparison of i with a bound"),
        ("for (i = 0; i < n + i; i++) a[i] = 0;", "its bound depends on its own counter i"),
        ("for (i = i + 1; i < n; i++) a[i] = 0;", "its first value depends on its own counter i"),
        ("for (i = 0; i < n; i++) n--;", "its bound n is written in the body"),
        ("for (i = 0; i < n; i++) { i += 2; }", "its counter i is written in the body"),
        ("for (i = 0; i < n; i++) for (i = 0; i < m; i++) a[i] = 0;", "its counter i is written in the body"),
        ("for (i = 0; i < n; i++) scanf(\"%d\", &n);", "its bound n may be written by scanf(\"%d\", &n) in line 15"),
        ("for (i = 0; i < n; i++) stores(&i);", "its counter i may be written by stores(&i) in line 15"),
        ("for (i = 0; i < (int)sqrt(n); i++) a[i] = 0;", "its bound calls sqrt"),
        ("for (i = 0; i < b[n]; i++) b[i] = 0;", "its bound b[n] may be written by b[i] in line 15"),
        ("for (i = 0; i < p->n; i++) *b = 0;", "its bound p->n may be written by *b in line 15"),
        ("for (i = 0; i < p->n; i++) unseen();", "its bound p->n may be changed by unseen, whose text is not given"),
        ("for (i = 0; i < total; i++) raises();", "its bound total is written by raises"),
        ("for (i = 0; i < total; i++) calls_raises();", "its bound total is written by calls_raises"),
        ("for (i = 0; i < total; i++) hook();",
            "its bound total may be changed by a call that is not known: hook() in line 15"),
        ("for (i = 0; i < total; i++) unseen();", "its bound total may be changed by unseen, whose text is not given"),
        ("for (i = 0; i < n; i++) __asm__ (\"\" : \"+r\"(i));",
         "what inline assembly in the body does with its counter i is not known"),
        ("while (n) n--;", "only running a while loop tells how often it runs"),
        ("do { n--; } while (n);", "only running a do loop tells how often it runs"),
    ],
)  # fmt: skip
def test_loops_that_are_not_counted_say_why(load: Load, text: str, reason: str) -> None:
    loop = loop_of(load, text)
    assert isinstance(loop, While)
    assert loop.reason == reason


def test_an_external_bound_may_be_reached_by_pointers_unless_the_program_is_whole(load: Load) -> None:
    text = "int n; void f(int *b) { for (int i = 0; i < n; i++) b[i] = 0; }"
    assert isinstance(function(load(text)).body.statements[0], While)
    assert isinstance(function(load(f"{text} int main(void) {{ return 0; }}")).body.statements[0], For)


STRUCT = "struct pair s = {n, 1};"
WITH_ARRAY = "struct few { int n, v[2]; } s = {n};"


@pytest.mark.parametrize(("before", "body", "counted"), [
    (STRUCT, "*b = 3; stores(b);", True),
    (STRUCT, "hook(); unseen();", True),
    (STRUCT, "struct pair t = s; t.n = 3;", True),
    (STRUCT, "s.n = 3;", False),
    (STRUCT, "s.x = 3;", False),
    (STRUCT, "struct pair t = {1}; s = t;", False),
    (STRUCT, "stores(&s.n);", False),
    (STRUCT + " q = &s.x;", "*b = 3;", False),
    (STRUCT + " b = &s.n;", "*b = 3;", False),
    (WITH_ARRAY, "*b = 3;", False),
    (WITH_ARRAY + " b = s.v;", "stores(b);", False),
    ("static struct pair s;", "hook();", False),
])  # fmt: skip
def test_a_bound_in_a_struct_that_no_pointer_leads_to(load: Load, before: str, body: str, counted: bool) -> None:
    loop = loop_of(load, f"for (i = 0; i < s.n; i++) {{ {body} }}", before)
    assert isinstance(loop, For) is counted, loop


def test_an_assertion_changes_no_bound_in_memory(load: Load) -> None:
    head = "struct pair { int n; double x; };\nvoid f(struct pair *p, int *b) { "
    loop = "for (int i = 0; i < p->n; i++) { assert(b[i] >= 0); p->x += 1; } }"
    for before, kind in (("#include <assert.h>\n", For), ("void assert(int);\n", While)):
        assert isinstance(next(iter(loops(function(load(before + head + loop)).body)))[0], kind)
