"""A kernel is run by the interpreter, and as the program of the mask ISA that it is exported to: same memory."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from tests.simt.engine.agree import Case
from warpsmith.base.source import SourceFile
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.mask.assembler import assemble
from warpsmith.simt.mask.disassembler import disassemble
from warpsmith.simt.mask.resources import BoundView, ViewKey, words_of
from warpsmith.simt.mask.run import Groups, run_masks
from warpsmith.targets.mask.export import Exported, export_kernel

__all__ = ["DEPTH", "DiffersError", "agree", "run_exported"]

DEPTH = 512


class DiffersError(AssertionError):
    """The two do not leave the same memory, or one of them does not end."""


class Left(Struct, frozen=True):
    """What a run of a program left: arrays by name, and the fault that ended it."""

    arrays: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.uint32]]]
    fault: str


def agree(case: Case, *, floats: bool = False) -> Exported:
    """Run a case twice; raises DiffersError. `floats`: all that is no number is the same."""
    function = case.module.function(case.name)
    assert function is not None
    exported = export_kernel(function)
    memory, launch = case.placed(checks=False)
    outcome = interpret(case.module, case.name, launch, memory)
    told = [problem.message for problem in outcome.problems if problem.kind not in ("overflow", "uninitialized")]
    if told or not outcome.complete:
        raise DiffersError(f"the interpreter finds {told}")
    left = run_exported(exported, case)
    if left.fault:
        raise DiffersError(f"the program: {left.fault}")
    for buffer in memory.buffers:
        if buffer.name in left.arrays:
            wanted, found = np.frombuffer(bytes(buffer.data), np.uint32), left.arrays[buffer.name]
            if floats:
                wanted, found = _one_nan(wanted), _one_nan(found)
            if not np.array_equal(wanted, found):
                at = int(np.flatnonzero(wanted != found)[0])
                raise DiffersError(f"{buffer.name}[{at}]: {found[at]:#x} is not {wanted[at]:#x}")
    return exported


def run_exported(exported: Exported, case: Case) -> Left:
    """Run the text of a kernel, read back by the assembler, in the launch of a case."""
    program = assemble(SourceFile("exported.mask", exported.text))
    again = disassemble(program)
    assert disassemble(assemble(SourceFile("again.mask", again))) == again
    views: dict[ViewKey, BoundView] = {}
    for name, number in exported.views.items():
        bound = words_of(np.frombuffer(case.arrays[name][0], np.uint32))
        views["t", number] = views["u", number] = bound
    sizes = {"ntid": case.launch.block, "nctaid": case.launch.grid}
    words = []
    for word in exported.words:
        name, _, axis = word.name.partition(".")
        if axis:
            words.append(sizes[name]["xyz".index(axis)])
        else:
            words.append(struct.unpack_from("<I", case.launch.arguments[name], word.offset)[0])
    if words:
        views["t", exported.word_view] = words_of(np.array(words, np.uint32))
    groups = Groups(case.launch.threads, case.launch.blocks)
    run = run_masks(program, views, groups, case.launch.warp, depth=DEPTH)
    fault = "" if run.fault is None else f"{run.fault.kind} at {program.instructions[run.fault.index].span}"
    return Left({name: run.views["t", number].words for name, number in exported.views.items()}, fault)


def _one_nan(
    words: np.ndarray[tuple[int, ...], np.dtype[np.uint32]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
    made = words.copy()
    made[(words & 0x7FFFFFFF) > 0x7F800000] = 0x7FC00000
    return made
