"""What stands in place of parameters in a body that is written out."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.analysis.led_to import find_object, find_value, with_objects
from warpsmith.tree.nodes import Call, Name
from warpsmith.tree.printing.printer import print_expr, print_stmt
from warpsmith.tree.walk import walk

HEAD = (
    "struct box { int x; }; void h(int *p, int v) { BODY } "
    "void f(int n, int *a, struct box *q) { int k, w[9], *z = &n; "
)


def given(body: str, call: str) -> tuple[str | None, str | None, str]:
    """Return what stands for p and for v, and the body with the first."""
    program = program_of(f"{HEAD.replace('BODY', body)} h({call}); *z = k; }}")
    callee, caller = (f for _, f in program.functions())
    found = next(n for n in walk(caller.body) if isinstance(n, Call) and isinstance(n.function, Name))
    pointer, number = callee.parameters
    led = find_object(pointer, found.arguments[0], callee, caller)
    value = find_value(number, found.arguments[1], callee)
    new = "" if led is None else " ".join(print_stmt(with_objects(callee.body, {pointer: led})).split())
    return None if led is None else print_expr(led), None if value is None else print_expr(value), new


def test_what_a_pointer_leads_to_stands_for_it() -> None:
    assert given("*p = v;", "&k, a[n]") == ("k", "a[n]", "{ k = v; }")
    assert given("*p += v; ++p[0];", "&w[k], k") == ("w[k]", "k", "{ w[k] += v; ++w[k]; }")
    assert given("(*p)++; *p = v;", "&a[3], 1")[2] == "{ a[3]++; a[3] = v; }"


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("*p++ = v;", "&k, 1"),
        ("p[1] = v;", "&a[k], 1"),
        ("int *r = p; *r = v;", "&k, 1"),
        ("*p = sizeof p;", "&k, 1"),
        ("*p = v;", "a, 1"),
        # what the pointer z leads to may change where the element lies
        ("*p = v;", "&a[n], 1"),
        ("*p = v;", "&a[k + 1], 1"),
        ("*p = v;", "&q->x, 1"),
    ],
)
def test_other_pointers_stay(body: str, call: str) -> None:
    assert given(body, call)[0] is None


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("*p = v + v;", "&k, a[n]"),
        ("*p = 1; *p = v;", "&k, a[n]"),
        ("p[v] = 1;", "&k, a[n]"),
        ("if (*p) *p = v;", "&k, a[n]"),
        ("*p = v;", "&k, k++"),
        ("*p = v;", "&k, 2.5"),
    ],
)
def test_other_values_stay(body: str, call: str) -> None:
    assert given(body, call)[1] is None
