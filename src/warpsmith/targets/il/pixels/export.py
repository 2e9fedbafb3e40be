"""A kernel of Brook+ becomes a pixel shader of AMD IL, `il_ps_2_0`, in the manner of hand-written ones.

    in streams and gathers    resources 0, 1, …: g[] has one axis, all others two, of three axes layer below layer
    out streams               o0, o1, …
    constants                 words of cb0, four to a register, in the order of `words`
    the thread's place        v0, from 0.5 on

Of a place in layers the row is divided by the height of one, which is a constant: no other one is needed.

`translated`: streams of one axis lie in rows, and one more constant says how long these are: the place of a thread and
its subscripts are translated (address translation), for streams that are longer than hardware has rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.front.brook.nodes import BrookKernel
from warpsmith.front.il.nodes import WHOLE, IlConstants, IlDeclaration, IlInput, IlOutput, IlProgram, IlResource
from warpsmith.ssa.nodes import Function
from warpsmith.targets.il.pixels.flatten import flatten_branches
from warpsmith.targets.il.pixels.instructions import PixelInstructions, StreamNumbers
from warpsmith.targets.il.pixels.subscripts import PixelSubscripts
from warpsmith.targets.il.writing.code import IlCode
from warpsmith.targets.il.writing.control import IlBlockWriters, write_control
from warpsmith.targets.il.writing.empty import without_empty
from warpsmith.targets.il.writing.export import WrittenIl
from warpsmith.targets.il.writing.places import LaunchPlaces
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.mask.branches import without_switches
from warpsmith.targets.mask.code import LaunchWord
from warpsmith.tree.types import byte_size

__all__ = ["ROW", "write_pixels"]

ROW = "row"
"""What the width of rows in memory is called where addresses are translated."""
_MOST_OUTPUTS = 8


def write_pixels(function: Function, kernel: BrookKernel, *, translated: bool = False) -> WrittenIl:
    """Return a kernel that was made without a guard as a pixel shader; raises InputError with the line that cannot be
    in one."""
    resources, outputs = _number(kernel, translated=translated)
    if translated:
        _check_translated(kernel)
    function = flatten_branches(without_empty(without_switches(function)))
    code = IlCode()
    places = LaunchPlaces(code, None)
    instructions = PixelInstructions(
        function, code, places, (resources, outputs), (_subscripts(function, kernel), ROW if translated else "")
    )
    write_control(function, code, IlBlockWriters(instructions.block, instructions.word, instructions.phi))
    made = code.finish()
    asked = tuple(places.words)
    words = tuple(asked[number] for number in made.words)
    declarations = (*_declarations(resources, outputs, len(words)), *made.literals)
    program = IlProgram("ps", declarations, made.lines)
    return WrittenIl(program, tuple(_head(function.name, resources, outputs, words)), {}, words)


def _number(kernel: BrookKernel, *, translated: bool) -> tuple[StreamNumbers, StreamNumbers]:
    """Return the resources and the outputs of a kernel; raises InputError where it has too many, or scattered ones."""
    definition = kernel.definition
    resources: dict[str, tuple[int, int]] = {}
    outputs: dict[str, tuple[int, int]] = {}
    for one in definition.parameters:
        if one.kind in ("stream", "gather"):
            flat = one.kind == "gather" and one.axes == 1 and not translated
            resources[one.name] = len(resources), 1 if flat else 2
        elif one.kind in ("out", "reduce"):
            outputs[one.name] = len(outputs), 2
        elif one.kind == "scatter":
            message = f"{one.name} is written at any place, and a pixel shader writes to its own"
            raise refuse(message, one.span, f"out {one.name}<>")
    if len(outputs) > _MOST_OUTPUTS:
        message = f"{definition.name} has {len(outputs)} out streams, and pixel shaders {_MOST_OUTPUTS}"
        raise refuse(message, definition.span, "split the kernel")
    return resources, outputs


def _check_translated(kernel: BrookKernel) -> None:
    """Raise InputError where streams have two axes by themselves."""
    for one in kernel.definition.parameters:
        if one.axes > 1 or kernel.definition.form == "reduce":
            helps = "streams of two axes need none: write it without"
            raise refuse(f"{one.name} has rows of its own, and addresses are not translated", one.span, helps)


def _subscripts(function: Function, kernel: BrookKernel) -> PixelSubscripts:
    streams = [one for one in kernel.definition.parameters if one.kind != "constant"]
    sizes = {one.name: byte_size(one.type) or 4 for one in streams}
    widths = {name: few[0].name for name, few in kernel.sizes.items() if few}
    widths = {**{one.name: kernel.domain[0].name for one in streams if one.kind == "stream"}, **widths}
    layers = [kernel.domain[1].name] if kernel.definition.solid else []
    return PixelSubscripts(function, sizes, widths, [kernel.domain[0].name, *layers])


def _declarations(resources: StreamNumbers, outputs: StreamNumbers, words: int) -> Iterator[IlDeclaration]:
    yield from (IlOutput(number) for number, _ in outputs.values())
    yield from (IlResource(number, axes) for number, axes in resources.values())
    yield IlInput(0, "xy__")
    if words:
        yield IlConstants(0, -(-words // 4))


def _head(
    name: str, resources: StreamNumbers, outputs: Mapping[str, tuple[int, int]], words: tuple[LaunchWord, ...]
) -> Iterator[str]:
    yield name
    yield ", ".join([f"t{number}: {stream}" for stream, (number, _) in resources.items()]
                    + [f"o{number}: {stream}" for stream, (number, _) in outputs.items()])  # fmt: skip
    if words:
        names = [f"{one.name}+{one.offset}" if one.offset else one.name for one in words]
        yield ", ".join(f"cb0[{at // 4}].{WHOLE[at % 4]}: {one}" for at, one in enumerate(names))
