"""Arrays that a kernel has in constant memory, as a step says.

    double c[5]                    the buffer is the whole array: c_gpu, on the device like any other
    ws_f_k1(c_gpu, …)              the launcher copies it to a __constant__ variable of the kernel, then launches
    … c[k] …                       every lane of a warp reads one element: the constant cache gives it to all at once

Invariant: the kernel does not write the array, of which the type says how large it is; the copy is made in the order of
launches, before each, so that it has what kernels before have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.offload.decisions import Decided
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.mapping import ThreadMapping
from warpsmith.offload.plan import ConstantArray, DeviceBuffer
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Assign, Expr, For, Index, Name, Node, Stmt, Unary, VarDecl
from warpsmith.tree.program import KernelParameter
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type, byte_size
from warpsmith.tree.walk import names, peel, root_symbol, walk

__all__ = ["MOST_BYTES", "PlacedConstant", "find_wanted", "is_constant_wanted", "place_constants"]

MOST_BYTES: Final = 65536
"""What a module has of constant memory (CUDA C++ Programming Guide, table of compute capabilities)."""

_WARP: Final = 32


class PlacedConstant(Struct, frozen=True):
    """A parameter of the launcher, the variable in constant memory in its place, and what is told of it."""

    parameter: KernelParameter
    variable: Symbol
    told: ConstantArray


def find_wanted(request: OffloadRequest, draft: Draft) -> tuple[str, ...]:
    """Return the arrays that a step wants in constant memory for the kernel of a draft."""
    decided = Decided.of(request.program, request.facts.function).constants
    loops: list[Node] = [facts.loop for facts in draft.loops] or [draft.statements[-1]]
    return tuple(name for loop, one in decided.items() if any(loop is own for own in loops) for name in one.arrays)


def is_constant_wanted(request: OffloadRequest, drafts: Sequence[Draft], symbol: Symbol) -> bool:
    """Whether a step wants an array in constant memory for one of some drafts."""
    return any(symbol.name in find_wanted(request, draft) for draft in drafts)


def place_constants(
    request: OffloadRequest,
    region: OffloadRegion,
    draft: Draft,
    parameters: Sequence[KernelParameter],
    mapping: ThreadMapping | None,
) -> tuple[PlacedConstant, ...]:
    """Return the arrays that the kernel of a draft has in constant memory; raises RefusedError where one cannot lie
    there."""
    buffers = {buffer.host: buffer for buffer in region.buffers}
    found: list[PlacedConstant] = []
    for name in find_wanted(request, draft):
        parameter = next((p for p in parameters if p.host.name == name), None)
        if parameter is None:
            raise _refused(draft, f"the kernel uses no array {name}", "STP003")
        found.append(_place(request, draft, parameter, buffers.get(parameter.host), mapping))
    total = sum(one.told.bytes for one in found)
    if total > MOST_BYTES:
        raise _refused(draft, f"constant memory has {MOST_BYTES} bytes, and the arrays have {total}", "STP003")
    return tuple(found)


def _place(
    request: OffloadRequest,
    draft: Draft,
    parameter: KernelParameter,
    buffer: DeviceBuffer | None,
    mapping: ThreadMapping | None,
) -> PlacedConstant:
    host = parameter.host
    if parameter.kind != "buffer" or buffer is None:
        raise _refused(draft, f"{host.name} is no array", "STP003")
    if parameter.written:
        raise _refused(draft, f"the kernel may write {host.name}, or hands it on as a pointer")
    if draft.scan is not None:
        raise _refused(draft, "a kernel with running values has no constant memory")
    type = parameter.symbol.type
    count = constant(buffer.upper)
    if constant(buffer.lower) != 0 or count is None or count <= 0 or not isinstance(type, Pointer):
        help = f"declare {host.name} with its size, as in double {host.name}[9]"
        raise _refused(draft, f"how large {host.name} is, is not known when it is compiled", helps=(help,))
    element, rows = _shape(type.to)
    size = byte_size(element)
    if not isinstance(element, Scalar) or not size or count % prod(rows):
        raise _refused(draft, f"{host.name} is no array of numbers with rows of one length")
    variable = Array(type.to, None, count // prod(rows))
    name = request.names.fresh(f"{host.name}_constant")
    symbol = Symbol(name, f"constant:{name}:{host.key}", variable, "device", host.span)
    told = ConstantArray(host.name, count * size, _is_uniform(draft, host, mapping))
    if told.bytes > MOST_BYTES:
        text = f"constant memory has {MOST_BYTES} bytes, and {host.name} has {told.bytes}"
        raise _refused(draft, text, "STP003")
    return PlacedConstant(parameter, symbol, told)


def _shape(type: Type) -> tuple[Type, list[int]]:
    rows: list[int] = []
    while isinstance(type, Array):
        rows.append(type.count or 0)
        type = type.of
    return type, rows


def _refused(draft: Draft, text: str, rule: str = "STP002", helps: tuple[str, ...] = ()) -> RefusedError:
    last = draft.statements[-1]
    span = last.header if isinstance(last, For) else last.span
    return RefusedError(Finding(rule, "error", text, span, help=helps))


# --- which element lanes read


def _is_uniform(draft: Draft, host: Symbol, mapping: ThreadMapping | None) -> bool:
    """Whether all lanes of a warp certainly read the same element at once: its subscripts name nothing that differs
    between them."""
    differing = _find_differing(draft, mapping)
    return not any(
        n.symbol in differing
        for statement in draft.statements
        for index in _subscripts(statement, host)
        for n in names(index)
    ) and not any(
        isinstance(part, Index) and root_symbol(part) != host
        for statement in draft.statements
        for index in _subscripts(statement, host)
        for part in walk(index)
    )


def _subscripts(node: Node, host: Symbol) -> Iterator[Expr]:
    for part in walk(node):
        if isinstance(part, Index) and root_symbol(part) == host:
            yield part.index


def _find_differing(draft: Draft, mapping: ThreadMapping | None) -> set[Symbol]:
    """Return the variables of which two lanes of a warp may hold different values: counters on x (on all axes where a
    warp has several rows), and what threads compute, but for counters of loops that all of them run alike."""
    if mapping is None:
        return set()
    whole = mapping.block[0] % _WARP == 0
    heads = [facts.loop for facts in draft.loops if isinstance(facts.loop, For)]
    found = {h.variable for h, axis in zip(heads, mapping.axes, strict=True) if axis == "x" or not whole}
    assigned = {s for statement in draft.statements for s in _find_assigned(statement)}
    found |= assigned - {head.variable for head in heads}
    inner = [p for s in draft.statements for p in walk(s) if isinstance(p, For) and all(p is not h for h in heads)]
    while True:
        grown = {p.variable for p in inner if {n.symbol for e in (p.lower, p.bound) for n in names(e)} & found}
        if grown <= found:
            return found
        found |= grown


def _find_assigned(statement: Stmt) -> Iterator[Symbol]:
    """Yield what a statement sets other than by counting loops."""
    for part in walk(statement):
        if isinstance(part, VarDecl):
            yield part.symbol
        target = peel(part.target) if isinstance(part, Assign) else None
        if isinstance(part, Unary) and ("++" in part.op or "--" in part.op or part.op == "&"):
            target = peel(part.operand)
        if isinstance(target, Name):
            yield target.symbol
