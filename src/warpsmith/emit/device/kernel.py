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

from collections.abc import Sequence
from math import prod

from msgspec import Struct

from warpsmith.emit.device.launching.launcher import Launcher, head_lines, launcher_text, passed_arguments
from warpsmith.emit.device.launching.threads import (
    MappedThread,
    is_zero,
    limit_text,
    literal_of,
    operand_text,
    tight_text,
    wide_text,
)
from warpsmith.emit.device.prototypes import declared_type, launcher_words
from warpsmith.emit.device.reduction import Accumulators
from warpsmith.emit.device.scan import ScanShape, scan_kernels, scan_launcher
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.nodes import Binary, Block, Expr, For, Name, Stmt
from warpsmith.tree.printing.precedence import level
from warpsmith.tree.printing.printer import Printer, join_lines
from warpsmith.tree.program import Kernel
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import LONG_LONG, Scalar, Symbol
from warpsmith.tree.walk import names, same, statements_of

__all__ = ["KernelText", "kernel_text"]

_UNIT = "    "


class KernelText(Struct, frozen=True):
    """The texts of one kernel: device function, launcher definition, launcher declaration (for the header)."""

    device: str
    launcher: str
    declaration: str


def kernel_text(
    kernel: Kernel, printer: Printer, support: Support, taken: set[str], *, asserts: bool = False
) -> KernelText:
    """Return the text of `kernel`, which is already in device words; `taken` are names that its file uses; `asserts`:
    it may fail an assertion, which ends the program before the host goes on."""
    used = taken | _identifiers(kernel, printer)
    name = fresh(f"{kernel.name}_kernel", used)
    threads = [
        MappedThread(
            m,
            lower,
            count,
            guard,
            m.axis in kernel.strided,
            fresh(f"t_{m.loop.variable.name}", used),
            fresh(f"first_{m.axis}", used) if m.axis in kernel.sliced else "",
            kernel.elements["xyz".index(m.axis)],
            "" if kernel.sharing is None or kernel.sharing.column else kernel.sharing.count.name,
        )
        for m, (lower, count), guard in zip(kernel.mapped, kernel.launch, _guards(kernel), strict=True)
    ]
    if kernel.scans:
        return _scan_text(kernel, name, threads[0], _Frame(printer, support, used))
    together = Accumulators(kernel, printer, support, used)
    device = _device_text(kernel, name, threads, printer, together)
    narrow = fresh("narrow", used)
    sharing = "" if kernel.sharing is None else fresh("rows" if kernel.sharing.column else "lanes", used)
    launcher = launcher_text(
        Launcher(kernel, name, threads, printer, support, used, together, asserts, narrow, sharing)
    )
    return KernelText(device, launcher, wrap(f"{launcher_words(kernel, {})};"))


class _Frame(Struct, frozen=True):
    """What every text of one kernel is written with."""

    printer: Printer
    support: Support
    used: set[str]


def _scan_text(kernel: Kernel, name: str, thread: MappedThread, frame: _Frame) -> KernelText:
    """Return the texts of a kernel with a running value."""
    printer = frame.printer
    passed = passed_arguments(kernel, printer)
    counter, count = _from_index(thread, printer), wide_text(thread, printer)
    shape = ScanShape(name, thread.index, counter, count, passed, frame.used)
    lines = head_lines(kernel, frame.used, printer)
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
    words |= {kernel.sharing.rank.name, kernel.sharing.count.name} if kernel.sharing is not None else set()
    return words | {m.loop.variable.name for m in kernel.mapped}


# --- the kernel


def _device_text(
    kernel: Kernel, name: str, threads: list[MappedThread], printer: Printer, together: Accumulators
) -> str:
    parts = [printer.type(declared_type(kernel, p), p.symbol.name) for p in together.kernel_parameters()]
    parts += together.declared_partials()
    parts += [f"int {kernel.turn.name}"] if kernel.turn is not None else []
    parts += [f"{thread.first_type} {thread.first}" for thread in threads if thread.first]
    head = wrap(f"__global__ void {name}({', '.join(parts)})")
    head = _template_line(kernel) + head
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
    lines += _rank_line(kernel)
    for thread in threads:
        if thread.strided:
            lines.append(wrap(_UNIT * depth + _walk(thread, printer)))
            depth += 1
            lines.append(_UNIT * depth + _from_index(thread, printer))
    conditions = _conditions(threads, printer)
    if kernel.inside is None and prod(kernel.elements) == 1:
        lines += _guarded_body(kernel.body, conditions, depth, printer)
    else:
        lines += _body_of_block(kernel, conditions, threads, printer)
    lines += [_UNIT * d + "}" for d in range(depth - 1, 0, -1)]
    if not kernel.reductions:
        return "\n".join([*lines, "}"])
    lines += [_UNIT + line for line in together.block_results()]
    return "\n".join([*lines, "}", "", together.finish_text()])


def _rank_line(kernel: Kernel) -> list[str]:
    """Return the line that says which of the threads that share an iteration a thread is."""
    if kernel.sharing is None:
        return []
    value = "threadIdx.y" if kernel.sharing.column else f"threadIdx.x % {kernel.sharing.count.name}"
    return [f"{_UNIT}const int {kernel.sharing.rank.name} = {value};"]


def _template_line(kernel: Kernel) -> str:
    """Return the line before the kernel where it is a template."""
    words = [f"typename {kernel.index}"] if kernel.index else []
    words += [f"int {kernel.sharing.count.name}"] if kernel.sharing is not None else []
    return f"template <{', '.join(words)}>\n" if words else ""


def _guarded_body(body: Stmt, conditions: list[str], depth: int, printer: Printer) -> list[str]:
    text = join_lines(printer.stmt(body), _UNIT)
    if conditions:
        head = wrap(f"if ({' && '.join(conditions)})")
        text = f"{head} {text}" if text.startswith("{") else head + "\n" + _shift_text(text, _UNIT)
    return _shift_text(text, _UNIT * depth).split("\n")


def _body_of_block(kernel: Kernel, conditions: list[str], threads: list[MappedThread], printer: Printer) -> list[str]:
    """Return the body that all threads of a block run, behind what tells each of them where it is; a body of several
    iterations tests each of them itself."""
    lines = [f"const int {symbol.name} = threadIdx.{axis};" for symbol, axis in kernel.positions]
    if kernel.inside is not None:
        lines.append(wrap(f"const bool {kernel.inside.name} = {' && '.join(conditions) or 'true'};"))
    if kernel.inside is not None and kernel.sharing is not None:
        # where others wait for them, they go along with the first iteration of the block, and store nothing
        loop = threads[0].loop
        back = "threadIdx.x" if loop.step == 1 else f"{loop.step} * (int)threadIdx.x"
        alone = [f"{_UNIT}if ({kernel.sharing.count.name} == 1)", f"{_UNIT * 2}return;"]
        lines += [f"if (!{kernel.inside.name}) {{", *alone, f"{_UNIT}{loop.variable.name} -= {back};", "}"]
    for stmt in statements_of(kernel.body):
        lines += join_lines(printer.stmt(stmt), _UNIT).split("\n")
    return [_shift_text(line, _UNIT) for line in lines]


def _shift_text(text: str, indent: str) -> str:
    lines: list[tuple[int, str]] = [(1, text)]
    return join_lines(lines, indent)


def _thread_index(thread: MappedThread) -> str:
    axis = thread.axis
    block = f"({thread.first} + blockIdx.{axis})" if thread.first else f"blockIdx.{axis}"
    if thread.shared:
        return f"{block} * (blockDim.{axis} / {thread.shared}) + threadIdx.{axis} / {thread.shared}"
    if thread.elements == 1:
        return f"{block} * blockDim.{axis} + threadIdx.{axis}"
    if axis == "x":
        return f"{block} * blockDim.x * {thread.elements} + threadIdx.x"
    return f"({block} * blockDim.{axis} + threadIdx.{axis}) * {thread.elements}"


def _wide_index(thread: MappedThread) -> str:
    """Return the thread index in 64 bits; along y and z it fits in 32 (65535 blocks of at most 1024 threads)."""
    return f"(long long){_thread_index(thread)}" if thread.axis == "x" or thread.first else _thread_index(thread)


def _walk(thread: MappedThread, printer: Printer) -> str:
    t, axis = thread.index, thread.axis
    step = f"{'(long long)' if axis == 'x' else ''}gridDim.{axis} * blockDim.{axis}"
    return f"for (long long {t} = {_wide_index(thread)}; {t} < {limit_text(thread, printer)}; {t} += {step}) {{"


def _counter(thread: MappedThread, printer: Printer) -> list[str]:
    variable = thread.loop.variable
    if not _is_direct(thread):
        return [f"long long {thread.index} = {_wide_index(thread)};", _from_index(thread, printer)]
    bits = variable.type.bits if isinstance(variable.type, Scalar) else 64
    index = _thread_index(thread) if bits == 32 else f"(long long){_thread_index(thread)}"
    if is_zero(thread.lower) and thread.loop.step == 1:
        value = index
    elif thread.loop.step == 1:
        value = f"{tight_text(thread.lower, printer)} + {index}"
    else:
        value = f"{tight_text(thread.lower, printer)} - ({index})"
    return [f"{printer.type(plain_counter(variable), variable.name)} = {value};"]


def _from_index(thread: MappedThread, printer: Printer) -> str:
    """Return the declaration of a counter whose thread index is known in 64 bits."""
    variable, step = thread.loop.variable, thread.loop.step
    moved = thread.index if abs(step) == 1 else f"{abs(step)} * {thread.index}"
    sign = "+" if step > 0 else "-"
    value = moved if is_zero(thread.lower) and step > 0 else f"{tight_text(thread.lower, printer)} {sign} {moved}"
    type = plain_counter(variable)
    cast = "" if type == LONG_LONG else f"({printer.type(type)})"
    wrapped = value if not cast or value == thread.index else f"({value})"
    return f"{printer.type(type, variable.name)} = {cast}{wrapped};"


def plain_counter(variable: Symbol) -> Scalar:
    """Return the type in which a kernel declares a counter: the user's own, not const."""
    type = variable.type
    assert isinstance(type, Scalar), "a canonical loop counts with an integer"
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling.replace("const ", ""))


def _is_direct(thread: MappedThread) -> bool:
    """Whether the counter may be computed in its own type."""
    type = thread.loop.variable.type
    return isinstance(type, Scalar) and type.bits >= 32 and abs(thread.loop.step) == 1


def _conditions(threads: list[MappedThread], printer: Printer) -> list[str]:
    """Return what must hold for a thread to run the body, outermost loop first."""
    conditions: list[str] = []
    for thread in threads:
        if not thread.strided:
            conditions += _in_launch(thread, printer)
        elif _is_covered(thread, threads):
            continue
        conditions += _own_conditions(thread, printer)
    return conditions


def _own_conditions(thread: MappedThread, printer: Printer) -> list[str]:
    """Return the loop's own condition: the guard that offload gave, else what the loop's header says."""
    loop, own = thread.loop, thread.guard
    name, up = loop.variable.name, loop.step > 0
    # Threads past the last iteration must not pass a test for inequality.
    relation = loop.relation if loop.relation != "!=" else "<" if up else ">"
    header = f"{name} {relation} {operand_text(loop.bound, printer)}"
    if own is not None and (loop.relation == "!=" or not _is_header(own, loop)):
        text = printer.expr(own)
        return [*([header] if loop.relation == "!=" else []), f"({text})" if level(own) < 5 else text]
    lower = f"{name} {'>=' if up else '<='} {operand_text(loop.lower, printer)}"
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


def _is_covered(thread: MappedThread, threads: list[MappedThread]) -> bool:
    """Whether the walk along a strided axis visits exactly the loop's iterations, so that nothing is left to test."""
    loop = thread.loop
    counters = {t.loop.variable for t in threads}
    plain_guard = thread.guard is None or _is_header(thread.guard, loop)
    return plain_guard and same(loop.lower, thread.lower) and not any(n.symbol in counters for n in names(loop.bound))


def _in_launch(thread: MappedThread, printer: Printer) -> list[str]:
    """Return the test that a thread past the last iteration did not wrap around into the loop's range."""
    loop, name = thread.loop, thread.loop.variable.name
    if not _is_direct(thread):
        return [f"{thread.index} < {limit_text(thread, printer)}"]
    type = loop.variable.type
    assert isinstance(type, Scalar), "a canonical loop counts with an integer"
    if loop.step == 1:
        return [] if type.bits > 32 or is_zero(thread.lower) else [f"{operand_text(thread.lower, printer)} <= {name}"]
    at_least_zero = literal_of(loop.bound) is not None and type.kind == "signed"
    return [] if at_least_zero else [f"{name} <= {operand_text(thread.lower, printer)}"]
