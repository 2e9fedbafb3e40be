"""Kernels of Brook+ are run as kernels and as the IL that is written of them; both must write the same, bit for bit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.front.brook.by_hand import BrookCase
from tests.front.brook.running import EXAMPLES, launch, module_of
from tests.front.il.running import IlRun, parse, run_program
from warpsmith.base.source import SourceFile
from warpsmith.front.brook.kinds import element_of
from warpsmith.front.brook.read import read_brook
from warpsmith.front.il.code import translate_il
from warpsmith.lower.program import lower
from warpsmith.targets.il.pixels.export import ROW, write_pixels
from warpsmith.targets.il.writing.export import WrittenIl
from warpsmith.tree.types import Type, is_float

__all__ = ["il_agrees", "written"]

Array = npt.NDArray[Any]


def written(text: str, kernel: str, *, translated: bool = False) -> WrittenIl:
    """Return a kernel of a text as IL."""
    read = read_brook(SourceFile("k.br", text), guarded=False)
    assert not read.findings, [one.message for one in read.findings]
    function = lower(read.program).module.function(kernel)
    assert function is not None
    return write_pixels(function, read.kernels[kernel], translated=translated)


def il_agrees(case: BrookCase, *, row: int = 0) -> bool:
    """Whether the program writes what the kernel does; `row`: the width of rows where addresses are translated."""
    text = _text(case)
    wanted = launch(module_of(text), case.kernel, case.arrays, case.numbers, case.shape)
    made = written(text, case.kernel, translated=bool(row))
    program = parse(made.text)
    assert program.kind == "ps"
    shape = (case.shape[1] // row, row) if row else case.shape
    streams = dict(part.split(": ")[::-1] for part in made.head[1].split(", "))
    sizes: dict[str, int] = {}
    for stream, name in streams.items():
        if name.startswith("t"):
            count = len(case.arrays[stream]) // _lanes(case, stream)
            width = row or int(case.numbers.get(f"{stream}_width", shape[1]))
            one_axis = program.resources[int(name[1:])].axes == 1
            sizes[f"{name}_width"] = count if one_axis else width
            if not one_axis:
                sizes[f"{name}_height"] = count // width
    arrays = {name: case.arrays[stream].view("u4").tolist() for stream, name in streams.items() if name[0] == "t"}
    constants = [_word(case, one.name, one.offset, row) for one in made.words]
    if constants:
        arrays["cb0"] = constants + [0] * (-len(constants) % 4)
    channels = {name: _lanes(case, stream) for stream, name in streams.items()}
    outputs = {name: count for name, count in channels.items() if name[0] == "o"}
    how = IlRun(arrays, shape[1], shape[0], sizes, outputs, (8, 2, 1))
    found = run_program(translate_il(program, channels), how)
    return all(found[name] == wanted[stream].view("u4").tolist() for stream, name in streams.items() if name[0] == "o")


def _lanes(case: BrookCase, stream: str) -> int:
    return max(1, getattr(_types(_text(case), case.kernel)[stream], "lanes", 0))


@cache
def _types(text: str, kernel: str) -> dict[str, Type]:
    """Return the types of a kernel's parameters, of the elements of streams."""
    definitions = read_brook(SourceFile("k.br", text)).definitions
    return {one.name: one.type for one in definitions[kernel].parameters}


def _text(case: BrookCase) -> str:
    return case.text or (EXAMPLES / case.example).read_text()


def _word(case: BrookCase, name: str, offset: int, row: int) -> int:
    """Return a word of the constants."""
    rows = case.shape[0] // int(case.numbers.get("depth", 1))
    value = {"width": case.shape[1], "height": rows, ROW: row, **case.numbers}[name]
    type = _types(_text(case), case.kernel).get(name)
    kind = "f4" if type is not None and is_float(element_of(type)) else "i4"
    return int(np.asarray(value, kind).view("u4").ravel()[offset // 4])
