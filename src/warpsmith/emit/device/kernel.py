"""One kernel and its launcher as CUDA text.

    __global__ void ws_lu_k2_kernel(double *A_gpu, int N, int k)
    {
        int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
        int i = k + 1 + (first_y + blockIdx.y) * blockDim.y + threadIdx.y;
        if (k + 1 <= i && i < N && k + 1 <= j && j < N)
            A_gpu[i * N + j] -= …
    }

An axis that may need more blocks than a grid has is launched slice by slice (`first_y`: the first block of the slice);
where threads combine values they walk on in steps of the grid in place of that.

Invariant: each value that a mapped counter takes belongs to exactly one thread (and one turn of a walking loop), at any
size. A 32-bit counter with step 1 is computed modulo 2^32; blocks are powers of two, so the threads past the last
iteration stay below 2^31 when the counter starts at 0; where it starts elsewhere they may wrap around, always to values
below the start, so the start is tested too. Narrow counters and other steps are computed and compared in 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from msgspec import Struct

from warpsmith.emit.device.definitions import is_standard
from warpsmith.emit.device.grid import most_blocks
from warpsmith.emit.device.prototypes import declared_type, kernel_type, launcher_type, launcher_words, plain
from warpsmith.emit.device.reduction import Accumulators
from warpsmith.emit.device.scan import ScanShape, scan_kernels, scan_launcher
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.nodes import Binary, Block, Cast, Expr, For, Literal, Name, Stmt
from warpsmith.tree.printing.precedence import level
from warpsmith.tree.printing.printer import Printer, join_lines
from warpsmith.tree.program import WARP, Kernel, KernelParameter, MappedLoop
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import INT, LONG_LONG, Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, peel, same, statements_of

__all__ = ["KernelText", "kernel_text"]

_UNIT = "    "
_NUMBERS = frozenset(["bool", "_Bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double"])


class KernelText(Struct, frozen=True):
    """The texts of one kernel: device function, launcher definition, launcher declaration (for the header)."""

    device: str
    launcher: str
    declaration: str


class _Thread(Struct, frozen=True):
    """One mapped loop with its launch expressions; `index` names the 64-bit thread index where there is one, `first`
    the first block of a slice where the axis is launched in slices ("": it is not)."""

    mapped: MappedLoop
    lower: Expr
    count: Expr
    guard: Expr | None
    strided: bool
    index: str
    first: str = ""
    elements: int = 1

    @property
    def loop(self) -> For:
        return self.mapped.loop

    @property
    def axis(self) -> str:
        return self.mapped.axis

    @property
    def first_type(self) -> str:
        """The type that counts the blocks before a slice: with as many bits as the counter has."""
        type = self.loop.variable.type
        return "unsigned" if isinstance(type, Scalar) and type.bits <= 32 else "long long"


def kernel_text(
    kernel: Kernel, printer: Printer, support: Support, taken: set[str], *, asserts: bool = False
) -> KernelText:
    """Return the text of `kernel`, which is already in device words; `taken` are names that its file uses; `asserts`:
    it may fail an assertion, which ends the program before the host goes on."""
    used = taken | _identifiers(kernel, printer)
    name = fresh(f"{kernel.name}_kernel", used)
    threads = [
        _Thread(
            m,
            lower,
            count,
            guard,
            m.axis in kernel.strided,
            fresh(f"t_{m.loop.variable.name}", used),
            fresh(f"first_{m.axis}", used) if m.axis in kernel.sliced else "",
            kernel.elements["xyz".index(m.axis)],
        )
        for m, (lower, count), guard in zip(kernel.mapped, kernel.launch, _guards(kernel), strict=True)
    ]
    if kernel.scans:
        return _scan_text(kernel, name, threads[0], _Frame(printer, support, used))
    together = Accumulators(kernel, printer, support, used)
    device = _device_text(kernel, name, threads, printer, together)
    narrow = fresh("narrow", used)
    launcher = _launcher_text(_Launcher(kernel, name, threads, printer, support, used, together, asserts, narrow))
    return KernelText(device, launcher, wrap(f"{launcher_words(kernel, {})};"))


class _Frame(Struct, frozen=True):
    """What every text of one kernel is written with."""

    printer: Printer
    support: Support
    used: set[str]


def _scan_text(kernel: Kernel, name: str, thread: _Thread, frame: _Frame) -> KernelText:
    """Return the texts of a kernel with a running value."""
    printer = frame.printer
    passed = {p.symbol.name: _pass_argument(kernel, i, printer) for i, p in enumerate(kernel.parameters)}
    counter, count = _from_index(thread, printer), _wide(thread, printer)
    shape = ScanShape(name, thread.index, counter, count, passed, frame.used)
    structs = {p.symbol: fresh(f"{p.symbol.name}_at", frame.used) for p in kernel.parameters if _is_struct(p)}
    lines = [wrap(f'extern "C" {launcher_words(kernel, structs)}'), "{"]
    lines += [_UNIT + _unpack_struct(kernel, p, structs[p.symbol], printer) for p in kernel.parameters if _is_struct(p)]
    lines += scan_launcher(kernel, shape, printer, frame.support)
    device = scan_kernels(kernel, shape, printer, frame.support)
    return KernelText(device, "\n".join([*lines, "}"]), wrap(f"{launcher_words(kernel, {})};"))


def _guards(kernel: Kernel) -> Sequence[Expr | None]:
    return kernel.guards or [None] * len(kernel.mapped)


def _identifiers(kernel: Kernel, printer: Printer) -> set[str]:
    text = join_lines(printer.stmt(kernel.body))
    words = identifiers(text) | {p.symbol.name for p in kernel.parameters} | {s.name for s in kernel.locals}
    words |= {s.name for c in kernel.reductions for s in (c.variable, *(s for s, _ in c.companions))}
    words |= {c.when.name for c in kernel.reductions if c.when is not None}
    for scan in kernel.scans:
        parts = [p for p in (scan.element, scan.initial, scan.factor, scan.source) if p is not None]
        words |= {scan.variable.name}.union(*(identifiers(printer.expr(part)) for part in parts))
    words |= {symbol.name for symbol in (*kernel.shared, *(symbol for symbol, _ in kernel.positions))}
    words |= {symbol.name for _, symbol in kernel.constants}
    words |= {kernel.turn.name} if kernel.turn is not None else set()
    return words | {m.loop.variable.name for m in kernel.mapped}


# --- the kernel


def _device_text(kernel: Kernel, name: str, threads: list[_Thread], printer: Printer, together: Accumulators) -> str:
    parts = [printer.type(declared_type(kernel, p), p.symbol.name) for p in together.kernel_parameters()]
    parts += together.declared_partials()
    parts += [f"int {kernel.turn.name}"] if kernel.turn is not None else []
    parts += [f"{thread.first_type} {thread.first}" for thread in threads if thread.first]
    head = wrap(f"__global__ void {name}({', '.join(parts)})")
    head = f"template <typename {kernel.index}>\n{head}" if kernel.index else head
    placed = [f"__constant__ {printer.type(symbol.type, symbol.name)};" for _, symbol in kernel.constants]
    head = "\n".join([*placed, "", head] if placed else [head])
    if isinstance(kernel.body, Block) and not threads and not kernel.locals:
        return f"{head}\n{join_lines(printer.stmt(kernel.body), _UNIT)}"
    lines = [head, "{"]
    lines += [f"{_UNIT}__shared__ {printer.type(symbol.type, symbol.name)};" for symbol in kernel.shared]
    lines += [f"{_UNIT}{printer.type(symbol.type, symbol.name)};" for symbol in kernel.locals]
    lines += [_UNIT + line for line in together.starts()]
    depth = 1
    for thread in threads:
        if not thread.strided:
            lines += [_UNIT * depth + line for line in _counter(thread, printer)]
    for thread in threads:
        if thread.strided:
            lines.append(wrap(_UNIT * depth + _walk(thread, printer)))
            depth += 1
            lines.append(_UNIT * depth + _from_index(thread, printer))
    conditions = _conditions(threads, printer)
    if kernel.inside is None and prod(kernel.elements) == 1:
        lines += _guarded_body(kernel.body, conditions, depth, printer)
    else:
        lines += _body_of_block(kernel, conditions, printer)
    lines += [_UNIT * d + "}" for d in range(depth - 1, 0, -1)]
    if not kernel.reductions:
        return "\n".join([*lines, "}"])
    lines += [_UNIT + line for line in together.block_results()]
    return "\n".join([*lines, "}", "", together.finish_text()])


def _guarded_body(body: Stmt, conditions: list[str], depth: int, printer: Printer) -> list[str]:
    text = join_lines(printer.stmt(body), _UNIT)
    if conditions:
        head = wrap(f"if ({' && '.join(conditions)})")
        text = f"{head} {text}" if text.startswith("{") else head + "\n" + _shift_text(text, _UNIT)
    return _shift_text(text, _UNIT * depth).split("\n")


def _body_of_block(kernel: Kernel, conditions: list[str], printer: Printer) -> list[str]:
    """Return the body that all threads of a block run, behind what tells each of them where it is; a body of several
    iterations tests each of them itself."""
    lines = [f"const int {symbol.name} = threadIdx.{axis};" for symbol, axis in kernel.positions]
    if kernel.inside is not None:
        lines.append(wrap(f"const bool {kernel.inside.name} = {' && '.join(conditions) or 'true'};"))
    for stmt in statements_of(kernel.body):
        lines += join_lines(printer.stmt(stmt), _UNIT).split("\n")
    return [_shift_text(line, _UNIT) for line in lines]


def _shift_text(text: str, indent: str) -> str:
    lines: list[tuple[int, str]] = [(1, text)]
    return join_lines(lines, indent)


def _thread_index(thread: _Thread) -> str:
    axis = thread.axis
    block = f"({thread.first} + blockIdx.{axis})" if thread.first else f"blockIdx.{axis}"
    if thread.elements == 1:
        return f"{block} * blockDim.{axis} + threadIdx.{axis}"
    if axis == "x":
        return f"{block} * blockDim.x * {thread.elements} + threadIdx.x"
    return f"({block} * blockDim.{axis} + threadIdx.{axis}) * {thread.elements}"


def _wide_index(thread: _Thread) -> str:
    """Return the thread index in 64 bits; along y and z it fits in 32 (65535 blocks of at most 1024 threads)."""
    return f"(long long){_thread_index(thread)}" if thread.axis == "x" or thread.first else _thread_index(thread)


def _walk(thread: _Thread, printer: Printer) -> str:
    t, axis = thread.index, thread.axis
    step = f"{'(long long)' if axis == 'x' else ''}gridDim.{axis} * blockDim.{axis}"
    return f"for (long long {t} = {_wide_index(thread)}; {t} < {_limit(thread, printer)}; {t} += {step}) {{"


def _counter(thread: _Thread, printer: Printer) -> list[str]:
    variable = thread.loop.variable
    if not _is_direct(thread):
        return [f"long long {thread.index} = {_wide_index(thread)};", _from_index(thread, printer)]
    bits = variable.type.bits if isinstance(variable.type, Scalar) else 64
    index = _thread_index(thread) if bits == 32 else f"(long long){_thread_index(thread)}"
    if _is_zero(thread.lower) and thread.loop.step == 1:
        value = index
    elif thread.loop.step == 1:
        value = f"{_tight(thread.lower, printer)} + {index}"
    else:
        value = f"{_tight(thread.lower, printer)} - ({index})"
    return [f"{printer.type(plain_counter(variable), variable.name)} = {value};"]


def _from_index(thread: _Thread, printer: Printer) -> str:
    """Return the declaration of a counter whose thread index is known in 64 bits."""
    variable, step = thread.loop.variable, thread.loop.step
    moved = thread.index if abs(step) == 1 else f"{abs(step)} * {thread.index}"
    sign = "+" if step > 0 else "-"
    value = moved if _is_zero(thread.lower) and step > 0 else f"{_tight(thread.lower, printer)} {sign} {moved}"
    type = plain_counter(variable)
    cast = "" if type == LONG_LONG else f"({printer.type(type)})"
    wrapped = value if not cast or value == thread.index else f"({value})"
    return f"{printer.type(type, variable.name)} = {cast}{wrapped};"


def plain_counter(variable: Symbol) -> Scalar:
    """Return the type in which a kernel declares a counter: the user's own, not const."""
    type = variable.type
    assert isinstance(type, Scalar), "a canonical loop counts with an integer"
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling.replace("const ", ""))


def _is_direct(thread: _Thread) -> bool:
    """Whether the counter may be computed in its own type."""
    type = thread.loop.variable.type
    return isinstance(type, Scalar) and type.bits >= 32 and abs(thread.loop.step) == 1


def _conditions(threads: list[_Thread], printer: Printer) -> list[str]:
    """Return what must hold for a thread to run the body, outermost loop first."""
    conditions: list[str] = []
    for thread in threads:
        if not thread.strided:
            conditions += _in_launch(thread, printer)
        elif _is_covered(thread, threads):
            continue
        conditions += _own_conditions(thread, printer)
    return conditions


def _own_conditions(thread: _Thread, printer: Printer) -> list[str]:
    """Return the loop's own condition: the guard that offload gave, else what the loop's header says."""
    loop, own = thread.loop, thread.guard
    name, up = loop.variable.name, loop.step > 0
    # Threads past the last iteration must not pass a test for inequality.
    relation = loop.relation if loop.relation != "!=" else "<" if up else ">"
    header = f"{name} {relation} {_operand(loop.bound, printer)}"
    if own is not None and (loop.relation == "!=" or not _is_header(own, loop)):
        text = printer.expr(own)
        return [*([header] if loop.relation == "!=" else []), f"({text})" if level(own) < 5 else text]
    lower = f"{name} {'>=' if up else '<='} {_operand(loop.lower, printer)}"
    return [*([] if own is not None or same(loop.lower, thread.lower) else [lower]), header]


def _is_header(guard: Expr, loop: For) -> bool:
    """Whether `guard` says what the loop's header says, and nothing else."""
    left = guard.left if isinstance(guard, Binary) else None
    return (
        isinstance(guard, Binary)
        and guard.op == loop.relation
        and isinstance(left, Name)
        and left.symbol == loop.variable
        and same(guard.right, loop.bound)
    )


def _is_covered(thread: _Thread, threads: list[_Thread]) -> bool:
    """Whether the walk along a strided axis visits exactly the loop's iterations, so that nothing is left to test."""
    loop = thread.loop
    counters = {t.loop.variable for t in threads}
    plain_guard = thread.guard is None or _is_header(thread.guard, loop)
    return plain_guard and same(loop.lower, thread.lower) and not any(n.symbol in counters for n in names(loop.bound))


def _in_launch(thread: _Thread, printer: Printer) -> list[str]:
    """Return the test that a thread past the last iteration did not wrap around into the loop's range."""
    loop, name = thread.loop, thread.loop.variable.name
    if not _is_direct(thread):
        return [f"{thread.index} < {_limit(thread, printer)}"]
    type = loop.variable.type
    assert isinstance(type, Scalar), "a canonical loop counts with an integer"
    if loop.step == 1:
        return [] if type.bits > 32 or _is_zero(thread.lower) else [f"{_operand(thread.lower, printer)} <= {name}"]
    at_least_zero = _literal(loop.bound) is not None and type.kind == "signed"
    return [] if at_least_zero else [f"{name} <= {_operand(thread.lower, printer)}"]


# --- the launcher


class _Launcher(Struct, frozen=True):
    kernel: Kernel
    name: str
    threads: list[_Thread]
    printer: Printer
    support: Support
    used: set[str]
    together: Accumulators
    asserts: bool
    narrow: str


def _launcher_text(launcher: _Launcher) -> str:
    kernel = launcher.kernel
    structs = {p.symbol: fresh(f"{p.symbol.name}_at", launcher.used) for p in kernel.parameters if _is_struct(p)}
    lines = [wrap(f'extern "C" {launcher_words(kernel, structs)}'), "{"]
    lines += [
        _UNIT + _unpack_struct(kernel, p, structs[p.symbol], launcher.printer)
        for p in kernel.parameters
        if _is_struct(p)
    ]
    shape = _shape(launcher)
    lines += [_UNIT + line for line in shape.before]
    lines += [wrap(_UNIT + line) for line in _constant_copies(launcher)]
    together = launcher.together
    passed = {p.symbol.name: _pass_argument(kernel, n, launcher.printer) for n, p in enumerate(kernel.parameters)}
    arguments = [*(passed[p.symbol.name] for p in together.kernel_parameters()), *together.partials]
    lines += [_UNIT + line for line in together.allocations()]
    lines += _narrow_line(launcher)
    lines += _launch_lines(launcher, shape, arguments)
    if launcher.asserts:
        lines += [f"{_UNIT}if (cudaDeviceSynchronize() == cudaErrorAssert)", f"{_UNIT * 2}abort();"]
    lines += [wrap(_UNIT + line) for line in together.finishing(passed, shape.grid)]
    return "\n".join([*lines, "}"])


def _constant_copies(launcher: _Launcher) -> list[str]:
    """Return the copies to constant memory: in the order of launches, so that no kernel before sees them."""
    check, pairs = launcher.support.check, ((v.name, p.name) for p, v in launcher.kernel.constants)
    kind = "cudaMemcpyDeviceToDevice"
    return [f"{check}(cudaMemcpyToSymbol({to}, {start}, sizeof({to}), 0, {kind}));" for to, start in pairs]


class _Slice(Struct, frozen=True):
    """An axis that is launched slice by slice: its thread, the number of its blocks, the name of
    what is left of them, how many a grid may have."""

    thread: _Thread
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


def _launch_lines(launcher: _Launcher, shape: _Shape, arguments: list[str]) -> list[str]:
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


def _launch_call(launcher: _Launcher, launched: str, indent: str) -> list[str]:
    """Return the launch itself: of the kernel that computes indices in 32 bits where these are enough."""
    if not launcher.kernel.index:
        return [wrap(f"{indent}{launcher.name}{launched}")]
    calls = [wrap(f"{indent}{_UNIT}{launcher.name}<{type}>{launched}") for type in ("int", "long long")]
    return [f"{indent}if ({launcher.narrow})", calls[0], f"{indent}else", calls[1]]


def _narrow_line(launcher: _Launcher) -> list[str]:
    """Return the test whether indices fit in 32 bits."""
    conditions = [launcher.printer.expr(condition) for condition in launcher.kernel.narrow]
    if not launcher.kernel.index:
        return []
    return [wrap(f"{_UNIT}const bool {launcher.narrow} = {' && '.join(conditions)};")]


def _shape(launcher: _Launcher) -> _Shape:
    """Return the launch's shape."""
    threads = launcher.threads
    if not threads:
        return _Shape((), (), "1", "1")
    block = launcher.kernel.block
    only = threads[0]
    plain = not only.strided and not only.first and only.elements == 1 and _is_int_name(only.count)
    if len(threads) == 1 and only.axis == "x" and plain:
        name = launcher.printer.expr(only.count)
        empty = (f"if ({name} <= 0)", f"{_UNIT}return;")
        if launcher.kernel.few:
            line, width = _width(launcher, name)
            return _Shape((*empty, line), (), f"({name} + ({width} - 1)) / {width}", width)
        return _Shape(empty, (), f"({name} + {block[0] - 1}u) / {block[0]}", str(block[0]))
    return _general_shape(launcher, block)


def _width(launcher: _Launcher, count: str) -> tuple[str, str]:
    """Return the line that chooses the threads of a block for so many in all, and the variable that it sets."""
    kernel, width = launcher.kernel, fresh("threads", launcher.used)
    why = "// few threads are spread over more multiprocessors"
    return f"const unsigned {width} = {count} < {kernel.few} ? {WARP} : {kernel.block[0]}; {why}", width


def _general_shape(launcher: _Launcher, block: tuple[int, int, int]) -> _Shape:
    known = {t.axis: None if t.first else _literal(t.count) for t in launcher.threads}
    counts = {
        t.axis: fresh(f"count_{t.loop.variable.name}", launcher.used)
        for t in launcher.threads
        if not _is_positive(known[t.axis])
    }
    lines = [
        f"const long long {counts[t.axis]} = {_wide(t, launcher.printer)};"
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


def _grid_part(launcher: _Launcher, axis: str, counted: tuple[str, str], lines: list[str], slices: list[_Slice]) -> str:
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


# --- numbers


def _literal(expr: Expr) -> int | float | None:
    inner = peel(expr)
    return inner.value if isinstance(inner, Literal) else None


def _is_zero(expr: Expr) -> bool:
    return _literal(expr) == 0


def _is_int_name(expr: Expr) -> bool:
    inner = peel(expr)
    return isinstance(expr, Name) and isinstance(inner, Name) and inner.type == INT


def _tight(expr: Expr, printer: Printer) -> str:
    """Return `expr` as the left operand of + or -."""
    text = printer.expr(expr)
    return f"({text})" if level(expr) < 12 else text


def _operand(expr: Expr, printer: Printer) -> str:
    text = printer.expr(expr)
    return f"({text})" if level(expr) < 11 else text


def _wide(thread: _Thread, printer: Printer) -> str:
    """Return the count evaluated in 64 bits, so that a difference of two ints cannot overflow."""
    text = printer.expr(_widen_first(thread.count, (thread.loop.lower, thread.loop.bound)))
    return re.sub(r"\(long long\)(\d+)\b", r"\1LL", text)


def _limit(thread: _Thread, printer: Printer) -> str:
    """Return the count as the right side of a comparison."""
    text = _wide(thread, printer)
    return f"({text})" if level(peel(thread.count)) < 11 else text


def _widen_first(expr: Expr, known: tuple[Expr, ...]) -> Expr:
    """Return `expr` with its first operand in 64 bits; `known` are what the user's loop computes as they are."""
    inner = peel(expr)
    if any(same(inner, peel(part)) for part in known):
        return expr
    if isinstance(inner, Binary) and inner.op in ("+", "-", "*") and not _is_wide(inner.left):
        left = _cast(_widen_first(inner.left, known))
        return Binary(span=inner.span, type=LONG_LONG, op=inner.op, left=left, right=_widen_first(inner.right, known))
    return expr


def _is_wide(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.bits >= 64


def _cast(expr: Expr) -> Expr:
    return expr if _is_wide(expr) else Cast(span=expr.span, type=LONG_LONG, operand=expr)
