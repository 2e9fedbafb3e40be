"""What the compiled machine refuses, and why."""

from __future__ import annotations

import pytest

from tests.analysis.kernels import random_module
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.ops.directed import DIRECTED
from warpsmith.simt.engine.ops.functions import FUNCTIONS
from warpsmith.simt.engine.support import _ROUNDED, order_matters, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.library import _FUNCTIONS
from warpsmith.ssa.nodes import Function, Module


def of(body: str) -> tuple[Module, Function]:
    module = kernel(body)
    function = module.function("k")
    assert function is not None
    return module, function


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("add.rz.f32 %f1, %f2, %f3; st.global.f32 [%rd3], %f1; ret;", ""),
        ("bar.sync 0, 64; ret;", "some threads"),
        ("bar.sync 1; ret;", ""),
        ("bar.sync 0; bar.sync 0; ret;", ""),
        ("bar.sync 1; bar.sync 2; ret;", "several numbers"),
        ("bar.sync %r1; ret;", "some threads"),
        ("bar.arrive 0, 64; ret;", "some threads"),
        ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; ret;", "tex"),
        ("mov.u64 %rd5, %clock64; st.global.u64 [%rd3], %rd5; ret;", "clock64"),
        ("st.global.u32 [%rd3], %r1; ret;", ""),
    ],
)
def test_a_kernel_is_refused_for_what_the_machine_has_not(body: str, why: str) -> None:
    given = Launch(arguments={"out": bytes(8), "n": bytes(4)})
    try:
        module, function = of(body)
    except AssertionError:
        pytest.skip("the reader does not take it")
    found = why_refused(module, function, given)
    assert why in found and bool(found) is bool(why), found


def test_a_launch_may_be_refused_too() -> None:
    module, function = of("ld.param.u32 %r2, [n]; st.global.u32 [%rd3], %r2; ret;")
    assert "the argument" in why_refused(module, function, Launch(arguments={"out": bytes(8)}))
    whole = {"out": bytes(8), "n": bytes(4)}
    assert why_refused(module, function, Launch(arguments=whole, lanes=(0,))) == "a part of a grid"
    assert "65 lanes" in why_refused(module, function, Launch(arguments=whole, warp=65))


def test_a_loop_with_several_entries_is_refused() -> None:
    for seed in range(30):
        module = random_module(seed, structured=False)
        (function,) = module.functions
        given = Launch(arguments={"n": bytes(4)})
        assert ("entries" in why_refused(module, function, given)) is bool(Graph.of(function).irreducible)


@pytest.mark.parametrize(
    ("body", "matters"),
    [
        ("atom.global.add.u32 %r2, [%rd1], 3; ret;", False),
        ("atom.global.add.u32 %r2, [%rd1], 3; st.global.u32 [%rd3], %r2; ret;", True),
        ("atom.global.exch.b32 %r2, [%rd1], 3; ret;", True),
        ("atom.global.add.u32 %r2, [%rd1], 3; atom.global.max.u32 %r3, [%rd1], 3; ret;", True),
        ("atom.global.add.u32 %r2, [%rd1], 3; setp.eq.u32 %p1, %r2, 0; @%p1 trap; ret;", True),
    ],
)
def test_the_order_of_threads_matters_where_an_atomic_tells_it(body: str, matters: bool) -> None:
    assert bool(order_matters(of(body)[1])) is matters


def test_the_ops_that_round_are_those_that_there_are() -> None:
    assert DIRECTED == _ROUNDED


def test_functions_that_are_called_are_known_to_the_interpreter() -> None:
    assert set(_FUNCTIONS) >= set(FUNCTIONS)
