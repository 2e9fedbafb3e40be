"""Numbers in memory that a loop reads and writes at one address: which there are, and what keeping them takes."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.loops.promotable import Promotion, judge_place, promotable_places
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.printer import print_expr, show_expression

HEAD = """
struct tally { int count; double total, *data; };
static struct tally all;
void f(int n, double *x, double *y, double *sum, int *count, struct tally *p)
"""
# a body, its places, and of the first one: how it is stored, what else may be there, under which conditions it is read
CASES = [
    ("for (int i = 0; i < n; i++) *sum += x[i];", ["*sum"], "always | x[i] | 0 < n | loaded"),
    ("*sum = 0; for (int i = 0; i < n; i++) if (x[i] > 0) *sum += 1;", ["*sum"], "always | x[i] | | loaded"),
    ("for (int i = 0; i < n; i++) if (x[i] > 0) *sum = i;", ["*sum"], "noted | x[i] | |"),
    ("for (int i = 0; i < n; i++) if (y[i] > 0) p->count++;", ["p->count"], "changed | | | loaded known"),
    ("for (int i = 0; i < n; i++) if (y[i] > 0) y[all.count++] = 1;", ["all.count"], "changed | | | loaded"),
    ("for (int i = 0; i < n; i++) { y[i] = 1; y[3] += 2; }", ["y[3]"], "always | y[i] | 0 < n | loaded"),
    ("for (int i = 0; i < n; i++) { *count = i; p->total = *count; }", ["*count", "p->total"],
     "always | | 0 < n | loaded"),
    ("for (int i = 0; i < n; i++) { double t = 0; t += i; y[i] = t; sum++; *sum = t; }", [], ""),
]  # fmt: skip


@pytest.mark.parametrize("body, places, first", CASES)
def test_places(body: str, places: list[str], first: str) -> None:
    program = program_of(f"{HEAD}{{ {body} }}")
    place = LoopContext.of(program, "f/i")
    found = promotable_places(place.require_counted())
    assert [show_expression(one) for one in found] == places
    if places:
        promotion = judge_place(Facts.about(program, PolyOptions()), place, found[0])
        assert isinstance(promotion, Promotion), promotion
        others, conditions = (
            ", ".join(dict.fromkeys(map(print_expr, group))) for group in (promotion.others, promotion.conditions)
        )
        flags = [word for word in ("loaded", "known") if getattr(promotion, word)]
        said = f"{promotion.stored} | {others} | {conditions} | {' '.join(flags)}"
        assert " ".join(said.split()) == first


def test_an_address_that_moves_with_a_store_is_refused() -> None:
    text = f"{HEAD}{{ for (int i = 0; i < n; i++) {{ *sum += 1; p->data[i] = 2; int **q = (int **)&sum; *q += 1; }} }}"
    program = program_of(text)
    place = LoopContext.of(program, "f/i")
    (wanted, *_) = promotable_places(place.require_counted())
    assert isinstance(judge_place(Facts.about(program, PolyOptions()), place, wanted), Reason)
