"""The forms of all addresses and conditions."""

from __future__ import annotations

from tests.analysis.accesses import memory_module
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory.accesses import addresses
from warpsmith.analysis.memory.presence import conditions
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Value


def test_all_are_found() -> None:
    for seed in range(10):
        module = memory_module(seed)
        shape = LaunchShape(block=(8, 4, 1))
        facts = examine(module, "k", shape, device("a100"))
        forms = solved_forms(module, facts.block_level, shape)
        asked = [*addresses(forms), *conditions(forms)]
        assert asked
        assert all(value in forms.found for value in asked if isinstance(value, Value))
