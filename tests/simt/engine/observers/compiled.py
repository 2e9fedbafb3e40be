"""Functions of the compiled machine by themselves: built, compiled, and called with numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import llvmlite.binding as llvm
from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import I32, I64, VOID, Emit, Ir

Fill = Callable[[Emit, Ir, Ir, Ir], None]
"""Builds the body: given the results (64 bits each), the lanes' numbers, and the mask."""


class Compiled(Struct):
    """One function for warps of `width` lanes, which writes `results` numbers; the engine lives as long."""

    engine: llvm.ExecutionEngine
    width: int
    results: int

    def call(self, numbers: Sequence[int], mask: int) -> list[int]:
        """Return what it writes for a number of each lane."""
        results = (ctypes.c_int64 * self.results)()
        given = (ctypes.c_uint32 * max(64, len(numbers)))(*numbers)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
        function(self.engine.get_function_address("run"))(ctypes.addressof(results), ctypes.addressof(given), mask)
        return list(results)


def compiled(width: int, results: int, fill: Fill) -> Compiled:
    """Build and compile a function."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = ir.Module("test")
    e = Emit(module, width)
    pointer = ir.PointerType()
    made = ir.Function(module, ir.FunctionType(VOID, [pointer, pointer, I64]), "run")
    e.at(made.append_basic_block("entry"))
    out, at, mask = made.args
    numbers = e.b.load(at, typ=e.vector(I32), align=4)
    bits = mask if e.lanes == 64 else e.b.trunc(mask, e.mask_type)
    fill(e, out, numbers, bits)
    e.b.ret_void()
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return Compiled(llvm.create_mcjit_compiler(parsed, machine), width, results)
