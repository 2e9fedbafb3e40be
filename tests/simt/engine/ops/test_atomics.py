"""Each atomic op, on a place of its own for each thread: the order of threads does not matter then."""

from __future__ import annotations

import random
import struct

import pytest

from tests.simt.engine.agree import Case, agree
from warpsmith.simt.engine.ops.atomics import COMBINED
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Function, Memory, Module, Param, Parameter, Query, Return
from warpsmith.ssa.types import F32, I32, I64


def _module(names: list[str]) -> Module:
    """Return a kernel that does several ops one after the other, each on its own array, with a number of the thread."""
    b = Builder("start")
    thread = b.emit("query", (), I32, Query("tid.x"))
    for name in names:
        type = F32 if name == "atomic_fadd" else I32
        base = b.emit("param", (), I64, Param(name))
        at = b.emit("add", (base, b.emit("umulwide", (thread, constant(I32, 4)), I64)), I64)
        more = b.emit("load", (at,), type, Memory("global", 400, 4))
        given = (at, more, b.emit("load", (at,), type, Memory("global", 800, 4)))
        count = 3 if name == "atomic_compare" else 2
        old = b.emit(name, given[:count], type, Memory("global", 0, 4))
        b.emit_many("store", (at, old), (), Memory("global", 1200, 4))
    b.end(Return())
    parameters = tuple(Parameter(name, 8, 8, I64) for name in names)
    return Module((Function("k", True, parameters, (), b.finish()),))


@pytest.mark.parametrize("seed", range(1))
def test_every_atomic_op_does_what_the_interpreter_does(seed: int) -> None:
    chosen = random.Random(seed)
    arrays = {}
    for name in COMBINED:
        if name == "atomic_fadd":
            arrays[name] = (struct.pack("<400f", *(chosen.choice((0.1, -2.5, 1e30)) for _ in range(400))), True)
        else:
            numbers = (chosen.choice((0, 1, 2, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)) for _ in range(400))
            arrays[name] = (struct.pack("<400I", *numbers), True)
    launch = Launch((1, 1, 1), (100, 1, 1), warp=chosen.choice((8, 32, 64)))
    assert agree(Case(_module(list(COMBINED)), "k", launch, arrays)) == ""
