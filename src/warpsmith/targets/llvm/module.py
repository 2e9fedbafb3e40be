"""LLVM IR while it is written: code of one lane, and which line of the user's text it is of."""

from __future__ import annotations

import math
import os
import struct

from llvmlite import ir
from msgspec import Struct

from warpsmith.base.source import SourceFile, Span, one_line
from warpsmith.simt.engine.lanes import I1, Emit, Ir
from warpsmith.ssa.nodes import Function

__all__ = ["Lines", "LlvmModule", "OneLane", "pointer_type"]


class LlvmModule(Struct, frozen=True, eq=False):
    """A module of LLVM IR, and the files of its debug information, by their numbers there."""

    module: Ir
    files: tuple[SourceFile, ...]


def pointer_type(space: int) -> Ir:
    """Return the type of pointers into an address space."""
    return ir.PointerType(None, space)


class OneLane(Emit):
    """A builder for one lane: what others write of vectors, it writes of single values; a mask is an i1."""

    def __init__(self, module: Ir) -> None:
        super().__init__(module, 1)
        self.lanes = 1
        self.mask_type: Ir = I1

    def again(self) -> OneLane:
        """Return a builder for another function."""
        return OneLane(self.module)

    def vector(self, scalar: Ir) -> Ir:
        """Return the type of a value: that of its only lane."""
        return scalar

    def splat_constant(self, scalar: Ir, number: int) -> Ir:
        """Return an integer."""
        return ir.Constant(scalar, number)

    def real(self, scalar: Ir, number: float) -> Ir:
        """Return a floating-point number."""
        return ir.Constant(scalar, number)

    def pattern(self, scalar: Ir, bits: int) -> Ir:
        """Return the number that a bit pattern is; what is not finite keeps its bits."""
        if isinstance(scalar, ir.IntType):
            return ir.Constant(scalar, bits)
        single = isinstance(scalar, ir.FloatType)
        (value,) = struct.unpack("<f" if single else "<d", bits.to_bytes(4 if single else 8, "little"))
        if math.isfinite(value):
            return ir.Constant(scalar, value)
        return ir.Constant(ir.IntType(32 if single else 64), bits).bitcast(scalar)

    def splat(self, value: Ir) -> Ir:
        """Return a value as it is."""
        return value

    def unpack_mask(self, mask: Ir) -> Ir:
        """Return a mask as it is."""
        return mask

    def bits(self, predicate: Ir) -> Ir:
        """Return a predicate as it is."""
        return predicate


class Lines:
    """The debug information of a module with one function that was made of `kernel`: scopes are made when first asked
    for, one for each file that its lines are in."""

    def __init__(self, module: Ir, kernel: Function, function: Ir) -> None:
        self.module = module
        self.files: dict[str, tuple[SourceFile, Ir]] = {}
        self.scopes: dict[str, Ir] = {}
        span = kernel.span or next((i.span for _, i in kernel.instructions() if i.span is not None), None)
        self.start = span
        if span is None:
            return
        file = self._file(span.file)
        unit = module.add_debug_info(
            "DICompileUnit",
            {
                "language": ir.DIToken("DW_LANG_C99"),
                "file": file,
                "producer": "warpsmith",
                "runtimeVersion": 0,
                "isOptimized": True,
                "emissionKind": ir.DIToken("LineTablesOnly"),
            },
            is_distinct=True,
        )
        none = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([])})
        facts = {"name": kernel.name, "scope": file, "file": file, "line": span.line, "type": none, "unit": unit}
        self.own = module.add_debug_info("DISubprogram", facts, is_distinct=True)
        self.scopes[span.file.path] = self.own
        function.set_metadata("dbg", self.own)
        flags = module.add_named_metadata("llvm.module.flags")
        flags.add(module.add_metadata([ir.IntType(32)(2), "Debug Info Version", ir.IntType(32)(3)]))
        module.add_named_metadata("llvm.dbg.cu").add(unit)

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """The files that lines are in, by their numbers."""
        return tuple(file for file, _ in self.files.values())

    def at(self, e: Emit, span: Span | None) -> None:
        """What is written from now on is of this line."""
        span = span or self.start
        if span is not None:
            line, column = span.file.location(span.start)
            scope = self._scope(span.file)
            e.b.debug_metadata = self.module.add_debug_info(
                "DILocation", {"line": line, "column": column, "scope": scope}
            )

    def _scope(self, file: SourceFile) -> Ir:
        if file.path not in self.scopes:
            facts = {"scope": self.own, "file": self._file(file), "discriminator": 0}
            self.scopes[file.path] = self.module.add_debug_info("DILexicalBlockFile", facts)
        return self.scopes[file.path]

    def _file(self, file: SourceFile) -> Ir:
        if file.path not in self.files:
            folder, name = os.path.split(one_line(file.path).encode("utf-8", "replace").decode("latin-1"))
            facts = {"filename": f"{len(self.files)}/{name}", "directory": folder or "."}
            self.files[file.path] = file, self.module.add_debug_info("DIFile", facts)
        return self.files[file.path][1]
