"""Values used as addresses: also those by which a called function reads, and functions that call each other."""

from __future__ import annotations

from tests.corpus.addressing import addressing
from warpsmith.ssa.nodes import Function, Module
from warpsmith.ssa.reader import parse_module

KERNEL = """
kernel @k(a 8 align 8 i64, b 8 align 8 i64, n 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %b:i64 = param [b+0]
  %n:i64 = param [n+0]
  %r:i64 = call [@walk] %n %a
  store [global +0 align 8] %b %r
  return
end

function @walk(count 8 align 8 i64, at 8 align 8 i64) -> i64
start:
  %count:i64 = param [count+0]
  %at:i64 = param [at+0]
  %done:i1 = eq %count 0:i64
  branch %done last more
last:
  return %count
more:
  %r:i64 = call [@step] %at %count
  return %r
end

function @step(at 8 align 8 i64, count 8 align 8 i64) -> i64
start:
  %at:i64 = param [at+0]
  %count:i64 = param [count+0]
  %next:i64 = load [global +8 align 8] %at
  %less:i64 = sub %count 1:i64
  %r:i64 = call [@walk] %less %next
  return %r
end
"""


def _kernel() -> tuple[Module, Function]:
    module = parse_module(KERNEL)
    function = module.function("k")
    assert function is not None
    return module, function


def test_what_a_called_function_reads_by_is_an_address() -> None:
    module, function = _kernel()
    found = addressing(function, module.functions)
    assert found.parameters == {("a", 0), ("b", 0)}
    assert found.loads == {i for f in module.functions for _, i in f.instructions() if i.op == "load"}


def test_without_the_functions_only_the_own_addresses_are_known() -> None:
    assert addressing(_kernel()[1]).parameters == {("b", 0)}
