"""How a kernel's parameters look where they are declared: in the kernel, in its launcher, in host text.

kernel     double (*A_gpu)[1024]     const point *__restrict__ p_gpu     bool flag
launcher   double *A_gpu             const void *p_gpu                   int flag        valid as C and as C++

Invariant: what a kernel reads through a `const … __restrict__` parameter is written by none of its threads. It names
the buffer by no other parameter, and buffers of which one is written are apart, which is proved or tested before the
launch (offload/data/buffers.py); so loads of it may go through the cache for read-only data, and pass by stores.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.memory.tile_copies import FETCH, FETCH_WIDE, LOAD_WIDE
from warpsmith.tree.nodes import Call, Expr, Index, Member, Name, Node, Unary
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Kernel, KernelParameter
from warpsmith.tree.types import INT, VOID, Array, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import children, peel, root_symbol, walk

__all__ = ["declared_type", "kernel_type", "launcher_type", "launcher_words", "plain", "read_only"]


def plain(type: Type) -> Type:
    """Return `type` without the user's names for it and without qualifiers, as far as it is scalars and pointers."""
    match type:
        case Scalar():
            return msgspec.structs.replace(type, spelling="", const=False, volatile=False)
        case Pointer():
            return Pointer(plain(type.to))
        case Array():
            return Array(plain(type.of), type.extent, type.count)
        case _:
            return type


def read_only(kernel: Kernel, parameter: KernelParameter) -> bool:
    """Whether the buffer is only ever subscripted and never written, so that it can be declared const; an element
    whose address goes elsewhere may lose the const there."""
    if parameter.kind != "buffer" or parameter.written:
        return False
    roots = [_uses(root) for root in (kernel.body, *kernel.guards)]
    if any(parameter.symbol in found.addressed for found in roots):
        return False
    elements = frozenset[int]().union(*(found.elements.get(parameter.symbol, ()) for found in roots))
    return sum(found.names[parameter.symbol] for found in roots) == len(elements)


class _Uses(Struct, frozen=True):
    """What a tree does with variables. `addressed`: a part of it becomes a pointer; `names`: how often it is named;
    `elements`: the names (their identities) at the bottom of an element."""

    addressed: frozenset[Symbol]
    names: Counter[Symbol]
    elements: Mapping[Symbol, set[int]]


# every parameter of a kernel asks, several times each
@functools.lru_cache(maxsize=64)
def _uses(root: Node) -> _Uses:
    elements: dict[Symbol, set[int]] = {}
    for node in walk(root):
        if isinstance(node, Index) and _is_element(node):
            base = node.base
            while isinstance(base, Index):
                base = base.base
            if isinstance(base, Name):
                elements.setdefault(base.symbol, set()).add(id(base))
    names = Counter(node.symbol for node in walk(root) if isinstance(node, Name))
    return _Uses(frozenset(_find_addressed(root)), names, elements)


def _find_addressed(root: Node) -> Iterator[Symbol]:
    """Yield the variables of which a part becomes a pointer: `&a[i]`, `a[i].row` where that is an array."""
    subscripted = {id(peel(node.base)) for node in walk(root) if isinstance(node, Index)}
    read = {id(call.arguments[1]) for call in walk(root) if isinstance(call, Call) and _reads_second(call)}
    for node in walk(root):
        part: Expr | None = None
        if isinstance(node, Unary) and node.op == "&" and id(node) not in read:
            part = node.operand
        elif isinstance(node, Member) and isinstance(node.type, Array) and id(node) not in subscripted:
            part = node
        symbol = None if part is None else root_symbol(part)
        if symbol is not None:
            yield symbol


def _reads_second(call: Call) -> bool:
    """Whether a call copies elements to a tile: by the address that comes second it only reads."""
    copies = {copy.key for copy in (FETCH, *LOAD_WIDE.values(), *FETCH_WIDE.values())}
    return isinstance(call.function, Name) and call.function.symbol.key in copies


def _is_element(node: Index) -> bool:
    return not isinstance(node.type, Array | Pointer) and next(children(node), None) is not None


def _const(type: Type) -> Type:
    match type:
        case Array():
            return msgspec.structs.replace(type, of=_const(type.of), spelling="")
        case Scalar() | Record() | Pointer():
            return msgspec.structs.replace(type, const=True)
        case _:
            return type


def kernel_type(kernel: Kernel, parameter: KernelParameter) -> Type:
    """Return the parameter's type in the kernel."""
    type = parameter.symbol.type
    if isinstance(type, Pointer):
        to = _const(type.to) if read_only(kernel, parameter) else type.to
        return Pointer(to)
    if parameter.kind != "value":
        raise RefusedError(
            Finding("POR008", "error", f"{parameter.host.name} is not a pointer on the device", kernel.span)
        )
    return msgspec.structs.replace(type, const=False) if isinstance(type, Scalar | Record) else type


def declared_type(kernel: Kernel, parameter: KernelParameter) -> Type:
    """Return the parameter's type where the kernel declares it."""
    type = kernel_type(kernel, parameter)
    alone = isinstance(type, Pointer) and read_only(kernel, parameter)
    return msgspec.structs.replace(type, restrict=True) if alone else type


def launcher_type(kernel: Kernel, parameter: KernelParameter) -> Type:
    """Return the parameter's type in the launcher: no names of the user's, valid as C and as C++."""
    type = plain(parameter.symbol.type)
    match type:
        case Scalar(kind="bool"):
            return INT
        case Scalar():
            return type
        case Record():
            return Pointer(msgspec.structs.replace(VOID, const=True))
        case Pointer():
            element = type.to
            while isinstance(element, Array):
                element = element.of
            known = isinstance(element, Scalar) and element.kind in ("signed", "unsigned", "float")
            target: Type = element if known else VOID
            return Pointer(_const(target) if read_only(kernel, parameter) else target)
        case _:
            text = f"{parameter.host.name} has a type that cannot be passed to a kernel"
            raise RefusedError(Finding("POR008", "error", text, kernel.span))


def launcher_words(kernel: Kernel, names: dict[Symbol, str]) -> str:
    """Return the launcher's declaration without its semicolon."""
    parts = [print_type(launcher_type(kernel, p), names.get(p.symbol, p.symbol.name)) for p in kernel.parameters]
    return f"void {kernel.name}({', '.join(parts) or 'void'})"
