"""What is not compiled: machine code asks Python, for all lanes of a warp at once (simt/library.py has the answers).

    ask(number, mask, operands, results)      number of the instruction; 64 bits for each lane of each operand, result

Whatever the interpreter knows has an answer, and the same one. Each costs some ten microseconds."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from warpsmith.simt.engine.here import Here
from warpsmith.simt.engine.lanes import I64, VOID, Ir, element
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.ssa.nodes import Instruction

__all__ = ["ask"]


def ask(k: Here, number: int, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    """Write: what do the active lanes get of the instruction that has a number?"""
    e = k.e
    given, made = (e.slot(ir.ArrayType(I64, e.lanes * max(1, count))) for count in (len(operands), len(i.results)))
    for at, operand in enumerate(operands):
        bits = resize_lanes(e, _bits(k, operand), I64)
        e.b.store(bits, e.b.gep(given, [I64(at * e.lanes)], source_etype=I64), align=8)
    type = ir.FunctionType(VOID, [I64] * 4)
    function = e.b.inttoptr(e.read(k.state, LaunchWords.ASK), type.as_pointer())
    mask = k.mask if e.lanes == 64 else e.b.zext(k.mask, I64)
    e.b.call(function, [I64(number), mask, *(e.b.ptrtoint(slot, I64) for slot in (given, made))])
    found = []
    for at, value in enumerate(i.results):
        bits = e.b.load(e.b.gep(made, [I64(at * e.lanes)], source_etype=I64), typ=e.vector(I64), align=8)
        narrow = resize_lanes(e, bits, ir.IntType(value.type.bits))
        found.append(
            narrow
            if narrow.type == e.vector(element(value.type))
            else e.b.bitcast(narrow, e.vector(element(value.type)))
        )
    return found


def _bits(k: Here, value: Ir) -> Ir:
    """Return the bits of a value."""
    scalar = value.type.element
    if isinstance(scalar, ir.IntType):
        return value
    return k.e.b.bitcast(value, k.e.vector(ir.IntType(32 if isinstance(scalar, ir.FloatType) else 64)))
