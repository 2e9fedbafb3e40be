"""What the compiled machine refuses, and why."""

from __future__ import annotations

import pytest

from tests.analysis.kernels import random_module
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.ops.directed import DIRECTED
from warpsmith.simt.engine.ops.functions import FUNCTIONS
from warpsmith.simt.engine.reading.calls import called_functions
from warpsmith.simt.engine.support import _ROUNDED, order_matters, shares_order, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.library import _FUNCTIONS
from warpsmith.ssa.nodes import Function, Module
from warpsmith.ssa.reader import parse_module


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


def _calls(body: str, head: str = "n 4 align 4 i32", call: str = "call [@f] 3:i32", limits: str = "") -> Module:
    """Return a kernel that calls a function."""
    return parse_module(f"""
function @f({head}){limits}
start:
{body}
end
kernel @k(out 8 align 8 i64)
start:
  {call}
  return
end
""")


@pytest.mark.parametrize(
    ("body", "call", "why"),
    [
        ("  call [@f] 2:i32\n  return", "call [@f] 3:i32", ""),
        ("  barrier 0:i32\n  call [@f] 2:i32\n  return", "call [@f] 3:i32", "barrier in a function"),
        ("  %a:i1 = vote ['any' 0] 1:i1\n  return", "call [@f] 3:i32", "vote in a function"),
        ("  %a:i32 = active\n  return", "call [@f] 3:i32", "active in a function"),
        ("  %a:i64 = param [n+0]\n  return", "call [@f] 3:i32", "takes apart"),
        ("  %a:i8 = param [n+2]\n  return", "call [@f] 3:i32", "takes apart"),
        ("  %a:i32 = param [m+0]\n  return", "call [@f] 3:i32", "takes apart"),
        ("  return 3:i32", "call [@f] 3:i32", "a return from f"),
        ("  return", "call [@f] 3:i64", "other parameters or results"),
        ("  return", "%a:i32 = call [@f] 3:i32", "other parameters or results"),
        ("  call [@g] 2:i32\n  return", "call [@f] 3:i32", "g, which is not defined"),
        ("  call [@k] 2:i64\n  return", "call [@f] 3:i32", "a call of the kernel k"),
        ("  %a:i64 = query [clock64]\n  return", "call [@f] 3:i32", "clock64"),
        ("  jump a\na:\n  branch 1:i1 b c\nb:\n  branch 0:i1 c a\nc:\n  jump b", "call [@f] 3:i32", "several entries"),
    ],
)
def test_a_call_is_refused_for_what_the_machine_has_not(body: str, call: str, why: str) -> None:
    module = _calls(body, call=call)
    kernel_ = module.function("k")
    assert kernel_ is not None
    found = why_refused(module, kernel_, Launch(arguments={"out": bytes(8)}))
    assert why in found and bool(found) is bool(why), found


def test_calls_need_blocks_in_line_and_a_stack_that_there_is() -> None:
    module = _calls("  call [@f] 2:i32\n  return")
    large = _calls("  %a:i32 = param [n+0]\n" * 2000 + "  call [@f] 2:i32\n  return")
    plain = _calls("  %a:i32 = param [n+0]\n" * 2000 + "  return")
    given = Launch(arguments={"out": bytes(8)})
    found = [module.function("k"), large.function("k"), plain.function("k")]
    assert all(found)
    one, two, three = (function for function in found if function is not None)
    assert "one behind the other" in why_refused(module, one, given, "text")
    assert "too large" in why_refused(large, two, given)
    assert not why_refused(plain, three, given)


def test_the_order_of_threads_matters_in_functions_as_well() -> None:
    atomic = "  %a:i64 = param [n+0]\n  %b:i32 = atomic_add [global +0 align 4] %a 1:i32\n"
    for more, matters in (("  return", False), ("  return %b", True)):
        module = _calls(atomic + more, "n 8 align 8 i64", "%r:i32 = call [@f] 3:i64", " -> i32")
        function = module.function("k")
        assert function is not None
        assert bool(order_matters(function, called_functions(module, function))) is matters
        assert not order_matters(function)
        assert not shares_order(function) and shares_order(function, called_functions(module, function))
