"""A kernel is run by the interpreter, and as the program of AMD IL that is written for it: both leave the same memory.

read back      the text through our reader, run by the interpreter
by the letter  the text line by line (tests/front/il/groups.py), which knows nothing of the reader
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping

from msgspec.structs import replace

from tests.front.il.agree import same_word
from tests.front.il.groups import Groups
from tests.simt.engine.agree import Case
from tests.targets.llvm.agree import interpreted
from warpsmith.base.source import SourceFile
from warpsmith.front.il.code import KERNEL, translate_il
from warpsmith.front.il.read import parse_il
from warpsmith.simt.interpreter import interpret
from warpsmith.ssa.verify import faults
from warpsmith.targets.il.writing.export import WrittenIl, write_il

_WARP = 32

__all__ = ["DiffersError", "agree", "run_by_letter", "run_written", "written"]


class DiffersError(AssertionError):
    """The two do not leave the same memory, or one of them does not end."""


def written(case: Case) -> WrittenIl:
    """Return the program of a case's kernel."""
    function = case.module.function(case.name)
    assert function is not None
    return write_il(case.module, function)


def agree(case: Case, *, letter: bool = False, floats: bool = False) -> str:
    """Run a case twice, bit for bit; return "" where both leave the same, else why the run has no meaning. `letter`: by
    the letter; `floats`: all that is no number is the same. Raises DiffersError, and InputError where the kernel is
    refused."""
    expected = interpreted(case, _WARP)
    if expected is None:
        return "the interpreter reports it"
    found = (run_by_letter if letter else run_written)(written(case), case)
    for name, data in found.items():
        words, wanted = ([*struct.unpack(f"<{len(held) // 4}I", held)] for held in (data, expected[name]))
        for at, (one, other) in enumerate(zip(words, wanted, strict=True)):
            if one != other and not (floats and same_word(one, other)):
                raise DiffersError(f"{name}[{at}]: {one:08x} is not {other:08x}")
    return ""


def run_written(made: WrittenIl, case: Case) -> Mapping[str, bytes]:
    """Return what the text of a program, read back, leaves in the arrays of a case."""
    module = translate_il(parse_il(SourceFile("written.il", made.text)))
    assert not faults(module.functions[0])
    arrays = {f"uav{number}": case.arrays[name] for name, number in made.views.items()}
    if made.words:
        arrays["cb0"] = (array("I", _constants(made, case)).tobytes(), True)
    launch = replace(case.launch, warp=_WARP, arguments={}, shared=0, max_steps=20 * case.launch.max_steps)
    run = Case(module, KERNEL, launch, arrays)
    memory, placed = run.placed(checks=False)
    outcome = interpret(module, KERNEL, placed, memory)
    told = [one.message for one in outcome.problems if one.kind not in ("overflow", "uninitialized")]
    if told or not outcome.complete:
        raise DiffersError(f"the program: {told or 'does not end'}")
    held = {buffer.name: bytes(buffer.data) for buffer in memory.buffers}
    return {name: held[f"uav{number}"] for name, number in made.views.items()}


def run_by_letter(made: WrittenIl, case: Case) -> Mapping[str, bytes]:
    """Return what the text of a program leaves in the arrays of a case, line by line."""
    views = {number: bytearray(case.arrays[name][0]) for name, number in made.views.items()}
    Groups(made.text, views, _constants(made, case)).run_groups(case.launch.grid, case.launch.block)
    return {name: bytes(views[number]) for name, number in made.views.items()}


def _constants(made: WrittenIl, case: Case) -> list[int]:
    words = [_word(case, one.name, one.offset) for one in made.words]
    return words + [0] * (-len(words) % 4)


def _word(case: Case, name: str, offset: int) -> int:
    base, _, axis = name.partition(".")
    if base in ("ntid", "nctaid") and axis in ("x", "y", "z"):
        sizes = case.launch.block if base == "ntid" else case.launch.grid
        return sizes["xyz".index(axis)]
    (word,) = struct.unpack_from("<I", case.launch.arguments[name], offset)
    return int(word)
