"""Passes keep what a function does, and leave the code that one would draw."""

from __future__ import annotations

import struct

import pytest

from tests.analysis.kernels import random_module
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import Function, Instruction, Module
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.rebuild import rebuild_function
from warpsmith.ssa.passes.tidy import tidy
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.verify import faults


class Stores(Silent):
    """What each thread stores, in its order."""

    def __init__(self) -> None:
        self.seen: dict[int, list[tuple[int, int]]] = {}

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[str, int, int]) -> None:
        if place.op == "store":
            self.seen.setdefault(lane.thread, []).append((where[1], where[2]))


def stored(module: Module) -> tuple[bool, dict[int, list[tuple[int, int]]]]:
    seen = Stores()
    launch = Launch((2, 1, 1), (8, 1, 1), {"n": struct.pack("<i", 5)}, warp=4, max_steps=6000)
    outcome = interpret(module, "k", launch, LaunchMemory(checks=False), seen)
    return outcome.complete, seen.seen


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels_do_the_same_when_they_are_rebuilt(seed: int) -> None:
    module = random_module(seed, structured=seed % 3 != 0)
    (function,) = module.functions
    for made in (rebuild_function(function), rebuild_function(function, fold_instruction), tidy(function)):
        assert faults(made) == ()
        complete, before = stored(module)
        assert (complete, before) == stored(Module((made,), module.symbols)) or not complete


def one(text: str) -> Function:
    return parse_module(text).functions[0]
