"""How many pieces of memory lanes ask for: machine code against sets of numbers."""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from llvmlite import ir

from warpsmith.simt.engine.host.machine_code import link
from warpsmith.simt.engine.host.parts import split_module
from warpsmith.simt.engine.lanes import I32, I64, POINTER, VOID, Emit
from warpsmith.simt.engine.observers.different import different_function

SHIFT = 3


def _compiled(width: int) -> object:
    """Return `run(numbers, mask, results)` for warps of a width, and what keeps it alive."""
    module = ir.Module("m")
    e = Emit(module, width)
    run = ir.Function(module, ir.FunctionType(VOID, [POINTER, I64, POINTER]), "run")
    e.at(run.append_basic_block("entry"))
    numbers, mask, results = run.args
    lanes = mask if e.lanes == 64 else e.b.trunc(mask, e.mask_type)
    found = e.b.call(different_function(e, SHIFT), [e.b.load(numbers, typ=e.vector(I32), align=4), lanes])
    for at in range(2):
        e.write(results, at, e.b.extract_value(found, at))
    e.b.ret_void()
    return link(*split_module(module))


@pytest.mark.parametrize("width", [8, 32, 64])
def test_pieces_and_sectors_are_those_of_sets(width: int) -> None:
    code, chosen = _compiled(width), random.Random(width)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)(code.entry)  # type: ignore[attr-defined]
    for _ in range(200):
        start, spread = chosen.randrange(1 << 32), chosen.choice((1, 4, 40, 1 << 14, 1 << 20, 1 << 31))
        numbers = np.array([(start + chosen.randrange(spread)) % (1 << 32) for _ in range(width)], "<u4")
        mask = chosen.choice((0, chosen.getrandbits(width))) or (1 << width) - 1
        results = np.zeros(2, "<i8")
        call(numbers.ctypes.data, mask, results.ctypes.data)
        active = [int(number) for lane, number in enumerate(numbers) if mask >> lane & 1]
        assert results.tolist() == [len(set(active)), len({number >> SHIFT for number in active})]
