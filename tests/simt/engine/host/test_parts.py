"""What kernels have alike is a part of its own, with the same text in each of them."""

from __future__ import annotations

from llvmlite import ir

from tests.simt.engine.agree import ALL
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.compile import write_kernel
from warpsmith.simt.engine.host.machine_code import link
from warpsmith.simt.engine.host.parts import split_module
from warpsmith.simt.engine.lanes import I64, VOID

ONE = "setp.lt.u32 %p1, %r1, 9; @%p1 bra $end; st.global.u32 [%rd3], %r1; $end: ret;"
OTHER = "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd3], %r2; ret;"


def _parts(body: str) -> tuple[str, ...]:
    function = kernel(body).function("k")
    assert function is not None
    return write_kernel(function, 32, ALL, gathers=False)[0]


def _defined(part: str) -> str:
    """Return the name of the last function that a part defines."""
    return part.rpartition("\ndefine ")[2].split("(")[0]


def test_a_kernel_shares_all_but_its_own_part_with_one_that_has_all_that_it_has() -> None:
    one, other = _parts(ONE), _parts(OTHER)
    named = {_defined(part): part for part in one}
    assert one[0] != other[0]
    alike = {part for part in other if _defined(part) in named}
    assert alike - {other[0]} <= set(one) and len(alike) > 5


def test_what_nobody_calls_is_in_no_part() -> None:
    module = ir.Module("m")
    made = {name: ir.Function(module, ir.FunctionType(VOID, []), name) for name in ("run", "called", "idle", "outside")}
    calls = {"run": "called", "called": "outside", "idle": "called"}
    for name, callee in calls.items():
        b = ir.IRBuilder(made[name].append_basic_block())
        b.call(made[callee], [])
        b.ret_void()
    run, called = split_module(module)
    assert 'define void @"run"' in run and 'declare void @"called"' in run
    assert 'define void @"called"' in called and 'declare void @"outside"' in called


def test_how_likely_branches_are_stays_with_them() -> None:
    module = ir.Module("m")
    for name, weights in (("run", (1, 2)), ("called", (3, 4))):
        function = ir.Function(module, ir.FunctionType(I64, [I64]), name)
        b = ir.IRBuilder(function.append_basic_block())
        other = function.append_basic_block()
        b.cbranch(b.icmp_unsigned("==", function.args[0], I64(0)), other, other).set_weights(weights)
        b.position_at_end(other)
        b.ret(b.call(module.globals["called"], [I64(1)]) if name == "called" else I64(0))
    b = ir.IRBuilder()
    b.position_before(module.globals["run"].basic_blocks[1].terminator)
    b.call(module.globals["called"], [I64(1)])
    run, called = split_module(module)
    assert "i32 1, i32 2" in run and "i32 3" not in run
    assert "!prof !0" in called and "i32 3, i32 4" in called
    assert link(run, called).entry
