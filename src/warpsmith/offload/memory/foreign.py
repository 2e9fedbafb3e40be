"""The host memory that calls of functions whose text is not given touch, as ranges where that can be said.

    memcpy(to, u, n)      reads n bytes at u, writes n bytes at to
    printf("%g", u[i])    nothing beyond its arguments' values
    MPI_Irecv(u, …)       cannot be said: everything may be read and written, now or later

Invariant: a call with an answer touches nothing present beyond it. Text functions (`%s`, strlen) are given characters:
memory that kernels work on as numbers of another type is not read as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.offload.expressions import binary
from warpsmith.offload.memory.presence import Presence
from warpsmith.poly.pointers.accesses import direct_call, is_pointer
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.effects.effects import FunctionEffects
from warpsmith.tree.free_store import RELEASES
from warpsmith.tree.nodes import Call, Cast, Expr, Function, Literal, SizeOf
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.types import LONG_LONG, SIZE_T, Array, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel

__all__ = ["FREEING", "Foreign", "foreign", "size_of"]

_SIZES: dict[str, dict[int, tuple[int, ...]]] = {
    "memcpy": {0: (2,), 1: (2,)},
    "memmove": {0: (2,), 1: (2,)},
    "memset": {0: (2,)},
    "acc_memcpy_to_device": {0: (2,), 1: (2,)},
    "acc_memcpy_from_device": {0: (2,), 1: (2,)},
    "memcmp": {0: (2,), 1: (2,)},
    "omp_target_memcpy": {0: (2,), 1: (2,)},
    "fwrite": {0: (1, 2)},
    "fread": {0: (1, 2)},
}
FREEING = frozenset({"realloc", "reallocarray"}) | RELEASES
"""Functions that end the life of a block of the heap, and touch no other one."""
_OFFSETS: dict[str, dict[int, int]] = {"omp_target_memcpy": {0: 3, 1: 4}}
"""Arguments by which the memory of another one begins later."""
_FULL = frozenset({"memcpy", "memmove", "memset"})


class Foreign(Struct, frozen=True):
    """One argument's memory: `bytes` is None where it is not known how much; `sure`: all of it is written."""

    address: Expr
    bytes: Expr | None
    read: bool
    write: bool
    sure: bool


def foreign(presence: Presence, function: Function, call: Call, absent: frozenset[Root]) -> tuple[Foreign, ...] | str:
    """Return what of present memory a call may touch; a string says why that is not known."""
    known = presence.summaries.library(call)
    name = direct_call(call)
    if known is None or name is None:
        return f"it calls {name.name if name is not None else 'a function pointer'}, whose effects are not known"
    if known.program or known.calls or known.keeps or known.later or known.exposed_reads or known.exposed_writes:
        return f"it calls {known.name}, which may touch more than its arguments"
    if known.name in FREEING:
        # What the device has of it is forgotten, or comes to the host before it moves.
        return ()
    if known.allocates and known.writes:
        return f"it calls {known.name}, which frees memory"
    return tuple(_find_touched(presence, function, call, known, absent))


def _find_touched(
    presence: Presence, function: Function, call: Call, known: FunctionEffects, absent: frozenset[Root]
) -> Iterator[Foreign]:
    for index, argument in enumerate(call.arguments):
        read, write = known.reads_argument(index), known.writes_argument(index)
        if not (read or write) or not is_pointer(argument):
            continue
        address = _uncast(argument)
        if not _is_met(presence, address.type, known) or not presence.points_to(function, address, absent):
            continue
        # what kernels never write is valid on the host
        read = read and presence.is_written(_pointee(address.type))
        if not (read or write):
            continue
        yield Foreign(address, _bytes(known, index, call, address), read, write, known.name in _FULL)


def _uncast(argument: Expr) -> Expr:
    argument = peel(argument)
    while isinstance(argument, Cast) and isinstance(peel(argument.operand).type, Pointer | Array):
        argument = peel(argument.operand)
    return argument


def _pointee(type: Type) -> Type:
    return type.to if isinstance(type, Pointer) else type.of if isinstance(type, Array) else type


def _is_met(presence: Presence, type: Type, known: FunctionEffects) -> bool:
    pointee = _pointee(type)
    if isinstance(pointee, Record) and pointee.definition is None:
        return False  # a type of the library's own: a FILE
    if isinstance(pointee, Scalar) and pointee.bits == 8 and pointee.kind != "void" and known.name not in _SIZES:
        return any(kind == ("any", 0) for kind in presence.kinds)
    return presence.of_type(pointee)


def _bytes(known: FunctionEffects, index: int, call: Call, address: Expr) -> Expr | None:
    """Return how many bytes at an argument the call touches at most."""
    offset = _OFFSETS.get(known.name, {}).get(index)
    begins = peel(call.arguments[offset]) if offset is not None else None
    if begins is not None and not (isinstance(begins, Literal) and begins.value == 0):
        return None
    factors = _SIZES.get(known.name, {}).get(index)
    if factors is not None:
        parts = [Cast(span=call.span, type=LONG_LONG, operand=call.arguments[number]) for number in factors]
        return parts[0] if len(parts) == 1 else binary("*", parts[0], parts[1])
    type = address.type
    if known.name.endswith("scanf") and isinstance(type, Pointer) and isinstance(type.to, Scalar) and type.to.bits > 8:
        return size_of(type.to, address)
    return None


def size_of(type: Type, at: Expr) -> Expr:
    """Return `(long long)sizeof(type)`."""
    size = SizeOf(span=at.span, type=SIZE_T, text=f"sizeof({print_type(type)})", value=None)
    return Cast(span=at.span, type=LONG_LONG, operand=size)
