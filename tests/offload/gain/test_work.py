"""Counted work: what is inside which loop, what stays in a register, what a thread asks memory for."""

from __future__ import annotations

from pathlib import Path

from tests.offload.hand import load
from warpsmith.machine.time.coarse import KernelWork
from warpsmith.offload.gain.sizes import Sizes
from warpsmith.offload.gain.work import (
    count_operations,
    find_moving,
    footprint,
    has_loop,
    is_cached,
    kernel_work,
    references_of,
)
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import statements_of

PRODUCT = """
static double A[100][100], B[100][100], C[100][100];
static double twice(double x) { return x + x; }
void f(double alpha) {
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 50; j++)
            for (int k = 0; k < 20; k++)
                C[i][j] += alpha * A[i][k] * B[k][j] / 3.0;
    for (int i = 0; i < 100; i++)
        C[i][0] = twice(C[i][0]);
}
"""


def analyzed(text: str, tmp_path: Path) -> Facts:
    return analyze(load(text, tmp_path), PolyOptions())


def nest(facts: Facts, name: str) -> LoopFacts:
    return next(of for function in facts.functions for of in function.loops if of.id == name)


def heads(facts: Facts, *names: str) -> list[For]:
    return [loop for loop in (nest(facts, name).loop for name in names) if isinstance(loop, For)]


def test_what_no_iteration_changes_is_worked_out_once(tmp_path: Path) -> None:
    (inner,) = heads(analyzed(PRODUCT, tmp_path), "f/i/j/k")
    moving = find_moving(inner)
    assert {s.name for s in moving} == {"k", "C"}
    everything, each = count_operations(inner.body), count_operations(inner.body, moving)
    # C[i] of C[i][j], A[i] of A[i][k] and the like stay where they are
    assert everything.count > each.count > 5
    assert each.divisions == 1 and not each.calls


def test_inner_loops_are_left_out(tmp_path: Path) -> None:
    outer, _ = heads(analyzed(PRODUCT, tmp_path), "f/i", "f/i/j")
    assert count_operations(outer.body).count == 0 and has_loop(outer.body)
    assert statements_of(outer.body)


def test_a_footprint_has_the_loops_that_move_it(tmp_path: Path) -> None:
    facts = analyzed(PRODUCT, tmp_path)
    i, j, k = heads(facts, "f/i", "f/i/j", "f/i/j/k")
    around = [(i, 100.0), (j, 50.0), (k, 20.0)]
    sizes = {(a.base.name, a.write): footprint(a, around) for a in nest(facts, "f/i").accesses}
    assert sizes[("A", False)] == 100 * 20 * 8
    assert sizes[("B", False)] == 20 * 50 * 8
    assert sizes[("C", True)] == 100 * 50 * 8
    assert len(references_of(nest(facts, "f/i").accesses)) >= 3


def test_what_a_loop_comes_back_to_is_in_a_cache(tmp_path: Path) -> None:
    facts = analyzed(PRODUCT, tmp_path)
    i, j, k = heads(facts, "f/i", "f/i/j", "f/i/j/k")
    around = [(i, 100.0), (j, 50.0), (k, 20.0)]
    a, b = (next(x for x in nest(facts, "f/i").accesses if x.base.name == name) for name in "AB")
    # every j comes back to a row of A, every i to all of B
    assert is_cached(a, around, 20 * 8) and not is_cached(a, around, 20 * 8 - 1)
    assert is_cached(b, around, 20 * 50 * 8) and not is_cached(b, around, 20 * 50 * 8 - 1)
    assert not is_cached(b, around[1:], 1e9)


def test_a_thread_asks_for_what_moves_with_its_own_loops(tmp_path: Path) -> None:
    facts = analyzed(PRODUCT, tmp_path)
    work, certain = kernel_work(nest(facts, "f/i"), heads(facts, "f/i", "f/i/j"), 6.0, Sizes(), {})
    assert isinstance(work, KernelWork) and certain
    assert work.threads == 5000
    # A and B each time, C once: it stays in a register
    assert work.requests == 2 * 20 + 1
    assert work.bytes == 8 * (100 * 20 + 20 * 50 + 100 * 50)
    assert 20 * 8 < work.operations < 20 * 30


def test_one_thread_does_all_of_a_loop(tmp_path: Path) -> None:
    facts = analyzed(PRODUCT, tmp_path)
    work, certain = kernel_work(nest(facts, "f/i"), [], 1.0, Sizes(), {})
    assert certain and work.threads == 1
    assert 100 * 50 * 20 * 8 < work.operations < 100 * 50 * 20 * 30


def test_what_a_thread_calls_counts(tmp_path: Path) -> None:
    facts = analyzed(PRODUCT, tmp_path)
    functions = {f.symbol: f for _, f in facts.program.functions()}
    (loop,) = heads(facts, "f/i#2")
    known, _ = kernel_work(nest(facts, "f/i#2"), [loop], 8.0, Sizes(), functions)
    unknown, _ = kernel_work(nest(facts, "f/i#2"), [loop], 8.0, Sizes(), {})
    assert unknown.operations > known.operations > 1


def test_counts_that_nobody_knows_are_not_certain(tmp_path: Path) -> None:
    text = "void f(int n, double *restrict a) { for (int i = 0; i < 10; i++) for (int j = 0; j < n; j++) a[i] += j; }"
    facts = analyzed(text, tmp_path)
    (loop,) = heads(facts, "f/i")
    assert not kernel_work(nest(facts, "f/i"), [loop], 1.0, Sizes(), {})[1]
    assert kernel_work(nest(facts, "f/i"), [loop], 1.0, Sizes(given={"n": 9}), {})[1]
