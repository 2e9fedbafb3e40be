"""The resources that a thread holds while it runs, and that a block of such threads takes of a multiprocessor."""

from __future__ import annotations

import pytest

from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.uniformity.facts import ResourceFact
from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import most_registers, occupancy
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.reader import parse_module

MODULE = """
shared @tile f32 x 100 align 4
shared @bytes i8 x 3 align 1
shared @other f32 x 1000 align 4
global @g f32 x 1000 align 4
kernel @k(n 4 align 4 i32)
  local @mine i32 x 8 align 4
start:
  %n:i32 = param [n+0]
  %b:i32 = address [@bytes]
  %t:i32 = address [@tile]
  %m:i64 = address [@mine]
  %h:i64 = address [@g]
  %r:i32 = call [@f] %n
  return
end
function @f(n 4 align 4 i32) -> i32
  shared @inside i32 x 2 align 8
start:
  %n:i32 = param [n+0]
  %i:i32 = address [@inside]
  %r:i32 = call [@f] %n
  return %r
end
"""


def held(compiled: CompilerFigures | None = None, name: str = "h100", dynamic: int = 0) -> ResourceFact:
    module = parse_module(MODULE)
    kernel = module.functions[0]
    return resources((module, kernel, Graph.of(kernel)), device(name), (64, 2, 1), dynamic, compiled)


def test_shared_memory_of_all_that_is_called_is_laid_out_in_order() -> None:
    fact = held(dynamic=512)
    # 400 of tile, 3 of bytes, up to 408, 8 of what the function has; `other` is not named
    assert (fact.shared_bytes, fact.dynamic_shared_bytes, fact.local_bytes, fact.threads) == (416, 512, 32, 128)
    assert (fact.registers, fact.source, fact.spill_bytes) == (8, "estimate", 0)
    assert fact.occupancy is not None and held(dynamic=100_000).occupancy != fact.occupancy


def test_what_a_compiler_says_counts() -> None:
    fact = held(CompilerFigures(200, 16))
    assert (fact.registers, fact.source, fact.shared_bytes, fact.spill_bytes) == (200, "ptxas", 416, 16)
    assert held(CompilerFigures(200, 0, 64)).shared_bytes == 64
    assert held(CompilerFigures(4, 0)).registers == 4
    assert held(CompilerFigures(64, 0)).occupancy == occupancy(device("h100"), 128, 64, 416)
    occupied, estimated = held(CompilerFigures(200, 0)).occupancy, held().occupancy
    assert occupied is not None and estimated is not None and occupied.warps < estimated.warps


def test_occupancy_is_known_of_nvidia_alone() -> None:
    assert held(name="mi250x").occupancy is None


def test_an_estimate_is_no_more_than_what_a_block_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.analysis.resources.resources.estimate_registers", lambda *_: 200)
    module = parse_module(MODULE)
    kernel = module.functions[0]
    for threads, most in ((64, 200), (256, 200), (320, 168), (384, 168), (1000, 64), (1024, 64)):
        fact = resources((module, kernel, Graph.of(kernel)), device("h100"), (threads, 1, 1), 0)
        assert fact.registers == most == min(200, most_registers(device("h100"), threads))
        assert fact.occupancy is not None and fact.occupancy.blocks
    assert held(CompilerFigures(200, 0)).registers == 200
