"""Which functions a kernel calls, what each call has for itself, and the stack that they need."""

from __future__ import annotations

from warpsmith.simt.engine.reading.calls import called_functions, calls_of, own_arrays, stack_of
from warpsmith.simt.thread import DEEPEST
from warpsmith.ssa.nodes import Function, Module
from warpsmith.ssa.reader import parse_module

TEXT = """
function @other()
start:
  return
end
function @f(n 4 align 4 i32)
  local @mine i32 x 4 align 4
  local @none i32 x 4 align 4
start:
  %n:i32 = param [n+0]
  %a:i64 = address [@mine]
  store [local +0 align 4] %a %n
  call [@g] %n
  return
end
function @g(n 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  call [@f] %n
  call [@gone] %n
  return
end
kernel @k(n 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  call [@f] %n
  call [@f] %n
  return
end
"""


def _named(module: Module, name: str) -> Function:
    found = module.function(name)
    assert found is not None
    return found


def test_functions_are_those_that_are_reached_once_each() -> None:
    module = parse_module(TEXT)
    kernel = _named(module, "k")
    assert calls_of(kernel) == ("f",)
    assert [one.name for one in called_functions(module, kernel)] == ["f", "g"]
    assert called_functions(module, _named(module, "other")) == ()


def test_arrays_are_those_that_somebody_names() -> None:
    module = parse_module(TEXT)
    assert own_arrays(_named(module, "f"), module.functions) == ("mine",)
    assert own_arrays(_named(module, "g"), module.functions) == ()


def test_what_is_in_a_circle_needs_its_stack_for_each_call() -> None:
    module = parse_module(TEXT)
    kernel, f, g = (_named(module, name) for name in "kfg")
    alone = stack_of(kernel, ())
    assert stack_of(kernel, (_named(module, "other"),)) < 2 * alone
    assert stack_of(kernel, (f, g)) > DEEPEST * 4 * 1024 * 5
