"""Memory that CUDA gives in place of the heap: which allocations of a program give such, and what keeps one from it.

    double *a = malloc(n * 8);     →     double *a = ws_managed_malloc(n * 8);
    kernel(a)                            enter: a is shared, so that its address is the device's, too; launch; wait
    printf("%g", a[0])                   nothing to copy
    free(a)                              as before: the allocation functions know such a block

Page-locked memory (`ws_pinned_malloc`) is copied as ever, only faster.

Whether memory is shared is known when the port runs: an offload region enters all of its data through the present table
(emit/runtime/given.cu), which finds that it is, or copies. So nothing rests on this file's finding every allocation,
and arrays on the stack, static ones, and what others allocate are copied as ever.

Invariant: between the kernels of an offload region no host code touches memory of the heap, and behind it the host
waits for them: on a device without concurrent managed access the host touches no shared memory while a kernel runs.

Limits: direct calls, as they stand in the text; `new` gives ordinary memory. A program that starts processes, or asks
how large a block really is, has none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.verdict import Reason
from warpsmith.offload.memory.presence import Presence, Resident
from warpsmith.offload.memory.rows import resident_for_rows
from warpsmith.offload.plan import DataScheme, OffloadOptions
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.free_store import MAKES
from warpsmith.tree.memory.given import MANAGED
from warpsmith.tree.nodes import Call, Function, Name, Node
from warpsmith.tree.nodes import replace as replace_node
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import rebuild, walk

__all__ = ["no_managed_memory", "ordinary_findings", "possible_data", "program_with", "resident_alone"]

_STARTS = frozenset({"fork", "vfork", "daemon"})
_LOOKS = frozenset({"malloc_usable_size"})
_OWN = frozenset({*MANAGED, "free"})
_PREFIXES = ("ws_managed_", "ws_pinned_")


def resident_alone(function: Function, summaries: Summaries, options: OffloadOptions) -> Resident | None:
    """Return how a function shares the device where it runs in no data region: where host and device share memory, all
    data are entered, to see what is shared; else only rows are."""
    if options.data != "managed":
        return resident_for_rows(function, summaries)
    return Resident(Presence(summaries, frozenset(), frozenset(), frozenset()), frozenset(), held=False)


def possible_data(
    program: Program, summaries: Summaries, options: OffloadOptions
) -> tuple[OffloadOptions, tuple[Finding, ...]]:
    """Return the options with data as they can be, and why these are not what was asked for."""
    asked = options.data == "managed" or options.pinned
    reason = no_managed_memory(program, summaries) if asked else None
    if reason is None:
        return options, ()
    without = "page-locked" if options.pinned else "shared, and data are resident"
    data: DataScheme = "resident" if options.data == "managed" else options.data
    finding = Finding("POR020", "warning", f"no memory is {without}: {reason.text}", reason.span)
    return replace(options, data=data, pinned=False, overlap=False), (finding,)


def no_managed_memory(program: Program, summaries: Summaries) -> Reason | None:
    """Return why no memory of a program can be shared."""
    for _, function in program.functions():
        if function.symbol.name in _OWN:
            text = f"the program has a '{function.symbol.name}' of its own, which gives ordinary memory"
            return Reason("POR020", text, function.span)
        for call in (part for part in walk(function) if isinstance(part, Call)):
            callee = direct_call(call)
            name = "" if callee is None or callee in summaries.definitions else callee.name
            if name in _STARTS:
                text = f"{name} starts a process, which cannot touch memory that CUDA gives"
                return Reason("POR020", text, call.span)
            if name in _LOOKS:
                text = f"{name} looks into the C library's own blocks, and what CUDA gives is none"
                return Reason("POR020", text, call.span)
    used = next((u for u in program.units if any(w.startswith(_PREFIXES) for w in identifiers(u.file.text))), None)
    if used is not None:
        return Reason("POR020", f"{used.file.path} is a port that has its memory from CUDA already", None)
    return None


def program_with(program: Program, given: Mapping[str, Symbol]) -> Program:
    """Return the program with memory that CUDA gives wherever its own text asks for memory; `given`: the functions that
    it calls for that, by the names of those of the C library.
    """
    for unit, function in tuple(program.functions()):
        if unit.has_text(function.span.file):
            new = rebuild(function, lambda node, unit=unit: _with_memory(unit, node, given))  # type: ignore[misc]
            if new is not function:
                program = program.with_function(function, new)
    return program


def _with_memory(unit: Unit, node: Node, given: Mapping[str, Symbol]) -> Node:
    """Return a call of an allocation function as one of the function that asks CUDA."""
    if not isinstance(node, Call) or not isinstance(node.function, Name):
        return node
    name = node.function
    wanted = given.get(name.symbol.name)
    # what a macro says, or another file's text, stays as it is
    written = name.span.text.removeprefix("std").removeprefix("::")
    if wanted is None or name.symbol.storage != "function" or written != name.symbol.name:
        return node
    if not unit.has_text(name.span.file):
        return node
    return replace_node(node, function=replace_node(name, symbol=wanted))


# --- what is told


def ordinary_findings(program: Program, hosts: Iterable[tuple[Function, Symbol]], *, shared: bool) -> Iterator[Finding]:
    """Yield POR020 for the variables behind which no memory can be that is `shared`, or else page-locked, and for
    allocations that give none. `hosts` are the variables that lead to what kernels touch, each with its function."""
    arrays: dict[Symbol, Function] = {}
    for function, host in hosts:
        if isinstance(host.type, Array) and (shared or not is_persistent(host)):
            arrays.setdefault(host, function)
    for host, function in arrays.items():
        what = "a static array" if is_persistent(host) else "an array on the stack"
        only = "only memory of the heap is shared" if shared else "only static memory and the heap's is"
        is_so = "is copied" if shared else "is not page-locked"
        text = f"'{host.label or host.name}' {is_so}: it is {what}, and {only}"
        yield Finding("POR020", "note", text, function.span, help=("allocate it with malloc",))
    for _, function in program.functions():
        yield from _ordinary(function, shared=shared)


def _ordinary(function: Function, *, shared: bool) -> Iterator[Finding]:
    """Yield POR020 for calls that give ordinary memory."""
    is_so, given = ("is copied", "is shared") if shared else ("is not page-locked", "is")
    for call in (part for part in walk(function) if isinstance(part, Call) and isinstance(part.type, Pointer)):
        callee = direct_call(call)
        name = "" if callee is None else callee.name
        if name in MAKES:
            text = f"what 'new' gives {is_so}: only what malloc, calloc, realloc and the like give {given}"
            yield Finding("POR020", "note", text, call.span, help=("allocate it with malloc",))
        elif name in MANAGED:
            text = f"what this {name} gives {is_so}: the call stands in a macro, or in another file's text"
            yield Finding("POR020", "note", text, call.span, help=(f"write the call of {name} out",))
