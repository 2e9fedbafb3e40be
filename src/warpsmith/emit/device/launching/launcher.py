"""The function that launches a kernel, as text: grid and block, what is passed, and the check of the launch."""

from __future__ import annotations

import re

from msgspec import Struct

from warpsmith.emit.device.definitions import is_standard
from warpsmith.emit.device.launching.grid import most_blocks
from warpsmith.emit.device.launching.threads import MappedThread, is_int_name, literal_of, wide_text
from warpsmith.emit.device.prototypes import kernel_type, launcher_type, launcher_words, plain
from warpsmith.emit.device.reduction import Accumulators
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import WARP, Kernel, KernelParameter, SharingThreads
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import Array, Pointer, Record, Scalar

__all__ = ["Launcher", "head_lines", "launcher_text", "passed_arguments"]

_UNIT = "    "
_NUMBERS = frozenset(["bool", "_Bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double"])


class Launcher(Struct, frozen=True):
    """What the text of a launcher is made of: the kernel and its `name`, the threads, names that are taken (`used`),
    what threads do `together`, whether the kernel `asserts`, and the names of the test for 32-bit indices (`narrow`)
    and of how many threads share an iteration (`sharing`)."""

    kernel: Kernel
    name: str
    threads: list[MappedThread]
    printer: Printer
    support: Support
    used: set[str]
    together: Accumulators
    asserts: bool
    narrow: str
    sharing: str


def launcher_text(launcher: Launcher) -> str:
    """Return the definition of a launcher."""
    kernel = launcher.kernel
    lines = head_lines(kernel, launcher.used, launcher.printer)
    lines += _sharing_lines(launcher)
    shape = _shape(launcher)
    lines += [_UNIT + line for line in shape.before]
    lines += [wrap(_UNIT + line) for line in _constant_copies(launcher)]
    together = launcher.together
    passed = passed_arguments(kernel, launcher.printer)
    arguments = [*(passed[p.symbol.name] for p in together.kernel_parameters()), *together.partials]
    lines += [_UNIT + line for line in together.allocations()]
    lines += [] if kernel.sharing is not None else _narrow_line(launcher)
    lines += _launch_lines(launcher, shape, arguments)
    if launcher.asserts:
        lines += [f"{_UNIT}if (cudaDeviceSynchronize() == cudaErrorAssert)", f"{_UNIT * 2}abort();"]
    lines += [wrap(_UNIT + line) for line in together.finishing(passed, shape.grid)]
    return "\n".join([*lines, "}"])


def head_lines(kernel: Kernel, used: set[str], printer: Printer) -> list[str]:
    """Return the first lines of a launcher, with those that unpack objects which are given by their address."""
    structs = {p.symbol: fresh(f"{p.symbol.name}_at", used) for p in kernel.parameters if _is_struct(p)}
    lines = [wrap(f'extern "C" {launcher_words(kernel, structs)}'), "{"]
    unpacked = (p for p in kernel.parameters if _is_struct(p))
    return [*lines, *(_UNIT + _unpack_struct(kernel, p, structs[p.symbol], printer) for p in unpacked)]


def passed_arguments(kernel: Kernel, printer: Printer) -> dict[str, str]:
    """Return what a launcher passes on for each of its parameters, by their names."""
    return {p.symbol.name: _pass_argument(kernel, at, printer) for at, p in enumerate(kernel.parameters)}


def _constant_copies(launcher: Launcher) -> list[str]:
    """Return the copies to constant memory: in the order of launches, so that no kernel before sees them."""
    check, pairs = launcher.support.check, ((v.name, p.name) for p, v in launcher.kernel.constants)
    kind = "cudaMemcpyDeviceToDevice"
    return [f"{check}(cudaMemcpyToSymbol({to}, {start}, sizeof({to}), 0, {kind}));" for to, start in pairs]


class _Slice(Struct, frozen=True):
    """An axis that is launched slice by slice: its thread, the number of its blocks, the name of
    what is left of them, how many a grid may have."""

    thread: MappedThread
    blocks: str
    left: str
    limit: int


class _Shape(Struct, frozen=True):
    """A launch: what is computed before it, and once a slice; the names or values of its grid and its block."""

    before: tuple[str, ...]
    inside: tuple[str, ...]
    grid: str
    block: str
    slices: tuple[_Slice, ...] = ()


def _launch_lines(launcher: Launcher, shape: _Shape, arguments: list[str]) -> list[str]:
    """Return the launch, in a loop over slices for each axis that has them, and over turns around all of it."""
    depth, lines = 1, list[str]()
    turn = launcher.kernel.turn
    if turn is not None:
        lines.append(f"{_UNIT}for (int {turn.name} = 0; {turn.name} < {launcher.kernel.turns}; {turn.name}++) {{")
        depth += 1
    for one in shape.slices:
        first, unit = one.thread.first, _UNIT * depth
        lines.append(f"{unit}for (long long {first} = 0; {first} < {one.blocks}; {first} += {one.limit}) {{")
        lines.append(f"{unit}{_UNIT}const long long {one.left} = {one.blocks} - {first};")
        depth += 1
    words = [*arguments, *([turn.name] if turn is not None else [])]
    for thread in (thread for thread in launcher.threads if thread.first):
        words.append(thread.first if thread.first_type == "long long" else f"(unsigned){thread.first}")
    lines += [wrap(_UNIT * depth + line) for line in shape.inside]
    lines += _launch_call(launcher, f"<<<{shape.grid}, {shape.block}>>>({', '.join(words)});", _UNIT * depth)
    lines.append(f"{_UNIT * depth}{launcher.support.check}(cudaGetLastError());")
    return [*lines, *(f"{_UNIT * inner}}}" for inner in range(depth - 1, 0, -1))]


def _launch_call(launcher: Launcher, launched: str, indent: str) -> list[str]:
    """Return the launch itself: of the kernel that computes indices in 32 bits where these are enough, and whose warps
    share loops where these are long."""
    ways = _instances(launcher)
    if len(ways) == 1:
        return [wrap(f"{indent}{launcher.name}{ways[0][1]}{launched}")]
    lines: list[str] = []
    for at, (condition, instance) in enumerate(ways):
        head = f"if ({condition})" if condition else ""
        lines.append(indent + " ".join(word for word in ("else" if at else "", head) if word))
        lines.append(wrap(f"{indent}{_UNIT}{launcher.name}{instance}{launched}"))
    return lines


def _instances(launcher: Launcher) -> list[tuple[str, str]]:
    """Return the instances of the kernel's template, each with the condition under which it is launched; the last one
    has none."""
    kernel = launcher.kernel
    types = [(launcher.narrow, "int"), ("", "long long")] if kernel.index else [("", "")]
    if kernel.sharing is None:
        return [(condition, f"<{type}>" if type else "") for condition, type in types]
    shared = f"{types[0][1]}, {kernel.sharing.width}".removeprefix(", ")
    if not kernel.sharing.long and not kernel.index:
        return [("", f"<{shared}>")]
    alone = [(condition, f"{type}, 1".removeprefix(", ")) for condition, type in types]
    return [(f"{launcher.sharing} > 1", f"<{shared}>"), *((condition, f"<{words}>") for condition, words in alone)]


def _sharing_lines(launcher: Launcher) -> list[str]:
    """Return the lines that say how many threads share an iteration, and what that depends on."""
    sharing = launcher.kernel.sharing
    if sharing is None:
        return []
    words = [launcher.narrow] if launcher.kernel.index else []
    words += [launcher.printer.expr(condition) for condition in sharing.long]
    chosen = f"{' && '.join(words)} ? {sharing.width} : 1" if words else str(sharing.width)
    why = f"// {'threads' if sharing.column else 'lanes of a warp'} share loops that are long"
    return [*_narrow_line(launcher), wrap(f"{_UNIT}const int {launcher.sharing} = {chosen}; {why}")]


def _narrow_line(launcher: Launcher) -> list[str]:
    """Return the test whether indices fit in 32 bits."""
    conditions = [launcher.printer.expr(condition) for condition in launcher.kernel.narrow]
    if not launcher.kernel.index:
        return []
    return [wrap(f"{_UNIT}const bool {launcher.narrow} = {' && '.join(conditions)};")]


def _shape(launcher: Launcher) -> _Shape:
    """Return the launch's shape."""
    threads = launcher.threads
    if not threads:
        return _Shape((), (), "1", "1")
    block = launcher.kernel.block
    if launcher.kernel.sharing is not None:
        return _sharing_shape(launcher, launcher.kernel.sharing)
    only = threads[0]
    plain = not only.strided and not only.first and only.elements == 1 and is_int_name(only.count)
    if len(threads) == 1 and only.axis == "x" and plain:
        name = launcher.printer.expr(only.count)
        empty = (f"if ({name} <= 0)", f"{_UNIT}return;")
        if launcher.kernel.few:
            line, width = _width(launcher, name)
            return _Shape((*empty, line), (), f"({name} + ({width} - 1)) / {width}", width)
        return _Shape(empty, (), f"({name} + {block[0] - 1}u) / {block[0]}", str(block[0]))
    return _general_shape(launcher, block)


def _width(launcher: Launcher, count: str) -> tuple[str, str]:
    """Return the line that chooses the threads of a block for so many in all, and the variable that it sets."""
    kernel, width = launcher.kernel, fresh("threads", launcher.used)
    why = "// few threads are spread over more multiprocessors"
    return f"const unsigned {width} = {count} < {kernel.few} ? {WARP} : {kernel.block[0]}; {why}", width


def _sharing_shape(launcher: Launcher, sharing: SharingThreads) -> _Shape:
    """Return the shape of a launch in which threads share an iteration of the one loop that is mapped."""
    (thread,) = launcher.threads
    kernel, wanted = launcher.kernel, (f"count_{thread.loop.variable.name}", "iterations", "blocks")
    count, covered, grid = (fresh(name, launcher.used) for name in wanted)
    lines = [
        f"const long long {count} = {wide_text(thread, launcher.printer)};",
        f"if ({count} <= 0)",
        f"{_UNIT}return;",
    ]
    width, shape = str(kernel.block[0]), ""
    if kernel.few:
        line, width = _width(launcher, count if sharing.column else f"{count} * {launcher.sharing}")
        lines.append(line)
    if sharing.column:
        lines.append(f"const unsigned {covered} = {launcher.sharing} > 1 ? {WARP} : {width}; // in a block")
        shape = fresh("block", launcher.used)
        lines.append(f"const dim3 {shape}({covered}, {launcher.sharing});")
    else:
        lines.append(f"const unsigned {covered} = {width} / {launcher.sharing}; // in a block")
    lines.append(f"const unsigned {grid} = (unsigned)(({count} + {covered} - 1) / {covered});")
    return _Shape(tuple(lines), (), grid, shape or width)


def _general_shape(launcher: Launcher, block: tuple[int, int, int]) -> _Shape:
    known = {t.axis: None if t.first else literal_of(t.count) for t in launcher.threads}
    counts = {
        t.axis: fresh(f"count_{t.loop.variable.name}", launcher.used)
        for t in launcher.threads
        if not _is_positive(known[t.axis])
    }
    lines = [
        f"const long long {counts[t.axis]} = {wide_text(t, launcher.printer)};"
        for t in launcher.threads
        if t.axis in counts
    ]
    if counts:
        empty = " || ".join(f"{count} <= 0" for count in counts.values())
        lines += [f"if ({empty})", f"{_UNIT}return;"]
    parts: list[str] = []
    slices: list[_Slice] = []
    sizes = [str(size) for size in block]
    if launcher.kernel.few and "x" in counts:
        line, sizes[0] = _width(launcher, counts["x"])
        lines.append(line)
    elif launcher.kernel.few:
        sizes[0] = str(launcher.kernel.block_of(int(known["x"] or 0))[0])
    for axis, width, elements in zip("xyz", sizes, launcher.kernel.elements, strict=True):
        covered = str(int(width) * elements) if width.isdecimal() else width
        if axis in counts:
            parts.append(_grid_part(launcher, axis, (counts[axis], covered), lines, slices))
        else:
            count = known.get(axis)
            limit = most_blocks(launcher.kernel, axis)
            parts.append(str(min(limit, -(-int(count) // int(covered)))) if count is not None else "1")
    while len(parts) > 1 and parts[-1] == "1" and block[len(parts) - 1] == 1:
        parts.pop()
    sizes = sizes[: len(parts)]
    grid, shape = fresh("grid", launcher.used), fresh("block", launcher.used)
    made = f"const dim3 {grid}({', '.join(parts)});"
    lines += ([] if slices else [wrap(made)]) + [f"const dim3 {shape}({', '.join(sizes)});"]
    return _Shape(tuple(lines), (made,) if slices else (), grid, shape, tuple(slices))


def _is_positive(count: int | float | None) -> bool:
    return isinstance(count, int) and count > 0


def _grid_part(launcher: Launcher, axis: str, counted: tuple[str, str], lines: list[str], slices: list[_Slice]) -> str:
    """Return the number of blocks along one axis, of which the count and the block's size are given; where that may be
    more than a grid may have, it is cut off there."""
    count, size = counted
    more = str(int(size) - 1) if size.isdecimal() else f"({size} - 1)"
    blocks = f"({count} + {more}) / {size}" if size != "1" else count
    thread = next(t for t in launcher.threads if t.axis == axis)
    if not thread.strided and not thread.first:
        return f"(unsigned)({blocks})" if size != "1" else f"(unsigned){blocks}"
    if size != "1":
        variable = fresh(f"blocks_{axis}", launcher.used)
        lines.append(f"const long long {variable} = {blocks};")
        blocks = variable
    limit = most_blocks(launcher.kernel, axis)
    if thread.first:
        slices.append(_Slice(thread, blocks, fresh(f"left_{axis}", launcher.used), limit))
        blocks = slices[-1].left
    return f"(unsigned)({blocks} < {limit} ? {blocks} : {limit})"


def _in_cxx(type: str) -> str:
    """Return the text of a type with C's name of bool as C++ has it."""
    return re.sub(r"\b_Bool\b", "bool", type)


def _is_struct(parameter: KernelParameter) -> bool:
    return isinstance(parameter.symbol.type, Record)


def _unpack_struct(kernel: Kernel, parameter: KernelParameter, address: str, printer: Printer) -> str:
    """Return the line that gives the launcher the struct, whose address is all that C and C++ can agree on."""
    type = printer.type(kernel_type(kernel, parameter))
    return f"const {type} {parameter.symbol.name} = *(const {type} *){address};"


def _pass_argument(kernel: Kernel, index: int, printer: Printer) -> str:
    """Return one argument of the launch, cast from the launcher's type to the kernel's."""
    parameter = kernel.parameters[index]
    wanted, given = kernel_type(kernel, parameter), launcher_type(kernel, parameter)
    name = parameter.symbol.name
    if isinstance(wanted, Pointer) and isinstance(given, Pointer):
        same_element = plain(wanted.to) == plain(given.to) and not isinstance(wanted.to, Array)
        return name if same_element else f"({_in_cxx(printer.type(wanted))}){name}"
    return f"({wanted.spelling}){name}" if isinstance(wanted, Scalar) and _may_be_enum(wanted) else name


def _may_be_enum(type: Scalar) -> bool:
    """Whether C++ may want a cast from the type's integer type: it makes no enum of a number by itself."""
    words = type.spelling.split()
    return bool(words) and words[0] not in _NUMBERS and not is_standard(words[0])
