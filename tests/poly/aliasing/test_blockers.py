"""Constructs that make a whole loop unanalyzable, with rule and words; and others that only look like it."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.blockers import blocker, find_unmodeled
from warpsmith.poly.effects.origin import Origin
from warpsmith.tree.nodes import For, While
from warpsmith.tree.program import Program

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
double elsewhere(double); static double twice(double x) { return 2 * x; }
static int odd(int n); static int even(int n) { return n ? odd(n - 1) : 1; }
static int odd(int n) { return n ? even(n - 1) : 0; }
volatile int flag;
static double positive(double x) { assert(x > 0); return x; }
"""

# the body of the loop, the rule, words of the reason; "": nothing stands in the way
CASES: list[tuple[str, str, str]] = [
    ("a[i] = twice(a[i]) + sqrt(a[i]);", "", ""),
    ("if (a[i]) continue; a[i] = 1;", "", ""),
    ("switch (i) { case 1: a[i] = 0; break; default: break; }", "", ""),
    ("for (int j = 0; j < i; j++) if (a[j]) break;", "", ""),
    ("while (a[i] > 1) { a[i] /= 2; if (i) break; }", "", ""),
    ("if (a[i]) break;", "POR008", "left early by break"),
    ("switch (i) { default: if (a[i]) goto out; }", "POR008", "not modelled"),
    ("if (a[i]) return;", "POR008", "left early by return"),
    ("{ { if (i) { a[i] = 1; break; } } }", "POR008", "left early by break"),
    ("if (i) a[i] = 2; else break;", "POR008", "left early by break"),
    ("a[i] = flag;", "POR008", "volatile"),
    ("__asm__(\"nop\");", "POR008", "not modelled"),
    ("a[i] = even(i);", "POR008", "even is recursive"),
    ("a[i] = elsewhere(a[i]);", "POR006", "elsewhere"),
    ("a[i] = op(i);", "POR006", "function pointer"),
    ("printf(\"%d\", i);", "POR006", "printf writes output"),
    ("a[i] = (long)malloc(8);", "POR006", "malloc"),
    ("assert(a[i] > 0); a[i] = 1;", "", ""),
    ("a[i] = positive(a[i]);", "", ""),
    ("assert(a[i] > 0); exit(1);", "POR006", "exit may end the program"),
    ("assert(a[i] > 0); printf(\"%d\", i);", "POR006", "printf writes output"),
    ("a[i] = positive(a[i]); __assert_fail(\"\", \"\", i, \"\");", "POR006", "__assert_fail may end"),
]  # fmt: skip
WHILE = "void w(int n, double *a) { int i = 0; while (a[i] > 0) i++; }\n"
READS_ERRNO = (
    "#include <errno.h>\nint e(int n, double *a) { for (int i = 0; i < n; i++) a[i] = log(a[i]); return errno; }"
)


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{k}(int n, double *a, double (*op)(int)) {{ for (int i = 0; i < n; i++) {{ {body} }} out: return; }}"
        for k, (body, _, _) in enumerate(CASES)
    )
    return program_of(HEAD + WHILE + "\n".join(texts) + "\n" + READS_ERRNO)


def _blocker(name: str) -> Reason | None:
    one = function(_program(), name)
    loop = next(s for s in one.body.statements if isinstance(s, For | While))
    return blocker(Origin.of(_program(), one), loop)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_what_stands_in_the_way(number: int) -> None:
    _, rule, words = CASES[number]
    found = _blocker(f"f{number}")
    assert ("" if found is None else found.rule) == rule, found
    assert found is None or words in found.text


def test_a_loop_that_is_not_counted() -> None:
    found = _blocker("w")
    assert found is not None and found.rule == "POR008" and found.text.startswith("not a counted loop: ")


def test_errno_counts_where_the_function_reads_it() -> None:
    found = _blocker("e")
    assert found is not None and "errno" in found.text and found.legal_if == ("read errno in another function",)


def test_what_to_do_about_a_call() -> None:
    remedies = {text: _blocker(f"f{k}") for k, (_, _, text) in enumerate(CASES) if text}
    unknown, output, pointer = (remedies[x] for x in ("elsewhere", "printf writes output", "function pointer"))
    assert unknown is not None and len(unknown.legal_if) == 2 and "--effects" in unknown.legal_if[1]
    assert pointer is not None and len(pointer.legal_if) == 1 and "source" in pointer.legal_if[0]
    assert output is not None and output.legal_if == ("move the call out of the loop",)


def test_leaving_a_loop_early_is_modelled() -> None:
    """A statement run may contain a loop with a break; a return, a jump or an unknown call it may not."""
    found: dict[str, str] = {}
    for k, (body, _, _) in enumerate(CASES):
        one = function(_program(), f"f{k}")
        reason = find_unmodeled(Origin.of(_program(), one), one.body.statements[0])
        found[body] = "" if reason is None else reason.rule
    assert found["if (a[i]) break;"] == "" and found["if (a[i]) return;"] == "POR008"
    assert found["a[i] = elsewhere(a[i]);"] == "POR006"


def test_no_other_order_around_an_assertion() -> None:
    """What stands behind it may be valid only where it holds."""
    for body in ("assert(a[i] > 0); a[i] = 1;", "a[i] = positive(a[i]);"):
        one = function(_program(), f"f{[case[0] for case in CASES].index(body)}")
        reason = find_unmodeled(Origin.of(_program(), one), one.body.statements[0])
        assert reason is not None and reason.text == "an assertion in it may end the program"
