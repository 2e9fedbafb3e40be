"""Calls become bodies; what cannot be followed stays a call."""

from __future__ import annotations

import struct

import pytest

from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Branch, Callee, Module
from warpsmith.ssa.passes import inline
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.inline import inline_calls
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.verify import faults

INLINE = """
function @f(x 4 align 4 i32, y 4 align 4 i32) -> i32
entry:
  %x:i32 = param [x+0]
  %y:i32 = param [y+0]
  %p:i1 = slt %x %y
  branch if %p less more
less:
  return %y
more:
  %d:i32 = sub %x %y
  return %d
end
function @loop(x 4 align 4 i32) -> i32
entry:
  %x:i32 = param [x+0]
  %r:i32 = call [@loop] %x
  return %r
end
kernel @k(out 8 align 8 i64)
entry:
  %t:i32 = query [tid.x]
  %a:i32 = call [@f] %t 3:i32
  %b:i32 = call [@f] 5:i32 %a
  %c:i32 = call [@f] 1:i32 2:i32
  %s:i32 = add %b %c
  %o:i64 = param [out+0]
  %at:i64 = smulwide %t 4:i32
  %p:i64 = add %o %at
  store [global +0 align 4] %p %s
  return
end
"""


def _ran(module: Module) -> bytes:
    memory = LaunchMemory(checks=False)
    out = memory.allocate("out", bytes(32))
    launch = Launch((1, 1, 1), (8, 1, 1), {"out": struct.pack("<q", out.address)})
    assert interpret(module, "k", launch, memory).complete
    return bytes(out.data)


def test_calls_become_bodies_and_recursion_stays() -> None:
    module = parse_module(INLINE)
    made, findings = inline_calls(module, fold_instruction)
    kernel = made.function("k")
    assert kernel is not None
    assert "call" not in {i.op for _, i in kernel.instructions()}
    assert faults(kernel) == ()
    assert _ran(made) == _ran(module)
    assert [f.message.split(":")[0] for f in findings] == ["loop calls itself"]
    # the third call is f(1, 2): its branch is decided
    assert sum(isinstance(block.terminator, Branch) for block in kernel.blocks) == 2


def test_a_function_that_takes_a_parameter_apart_stays_a_call() -> None:
    for read in ("param [x+4]", "param [x+0]"):
        text = f"""
function @f(x 8 align 8) -> i32
entry:
  %x:i32 = {read}
  return %x
end
kernel @k(n 8 align 8 i64)
entry:
  %n:i64 = param [n+0]
  %r:i32 = call [@f] %n
  %s:i32 = call [@elsewhere] %n
  store [global +0 align 4] %n %r
  return
end
"""
        made, findings = inline_calls(parse_module(text))
        kernel = made.function("k")
        assert kernel is not None and not findings
        assert [i.detail.name for _, i in kernel.instructions() if isinstance(i.detail, Callee)] == ["f", "elsewhere"]


def test_functions_in_a_circle_are_named_once_each() -> None:
    code = "entry:\n  %x:i32 = param [x+0]\n  %r:i32 = call [@{1}] %x\n  return %r\nend\n"
    body = "function @{0}(x 4 align 4 i32) -> i32\n" + code
    made, findings = inline_calls(parse_module(body.format("a", "b") + body.format("b", "a") + body.format("c", "a")))
    assert sorted(f.message.split()[0] for f in findings) == ["a", "b"]
    assert {f.rule for f in findings} == {"INP006"}
    calls = [[i.op for _, i in f.instructions()].count("call") for f in made.functions]
    assert calls == [1, 1, 1]


def test_a_function_that_would_grow_too_large_keeps_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(INLINE)
    monkeypatch.setattr(inline, "LARGEST", 16)
    kernel = inline_calls(module)[0].function("k")
    assert kernel is not None
    left = [i.op for _, i in kernel.instructions()].count("call")
    assert 0 < left < 3 and faults(kernel) == ()


def test_a_call_that_does_not_return_gives_nothing() -> None:
    text = """
function @f() -> i32
entry:
  trap
end
kernel @k(n 8 align 8 i64)
entry:
  %n:i64 = param [n+0]
  %r:i32 = call [@f]
  store [global +0 align 4] %n %r
  return
end
"""
    kernel = inline_calls(parse_module(text))[0].function("k")
    assert kernel is not None and faults(kernel) == ()
    assert {i.op for _, i in kernel.instructions()} <= {"param"}
