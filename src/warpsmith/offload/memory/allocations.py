"""Sections by allocation: all of the heap block that a pointer points into, asked of the run time.

    y[i] = x[id[i]]          x: [ws_allocation_lower(x, sizeof(double)), ws_allocation_upper(x, sizeof(double)))
                             guard: ws_allocation_bytes(x) > 0, else the user's own loop runs

Invariant: an element that is reached from the pointer by arithmetic lies in the object that it was made from (C17
6.5.6 paragraph 8), so it is in the section. A pointer that is not null and not one past an end, into a block that the
run time knows, is in exactly one block. What kernels write of a block goes back as a whole: nobody else may write a
part of it meanwhile (loops of programs that start threads are not ported at all).
"""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number
from warpsmith.tree.allocations import allocation_bytes, allocation_lower, allocation_upper
from warpsmith.tree.nodes import Expr, SizeOf
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import INT, SIZE_T, Pointer, Record, Scalar, Symbol, byte_size, element_type

__all__ = ["allocation_bounds", "allocation_guard"]


def allocation_bounds(symbol: Symbol, span: Span) -> tuple[Expr, Expr] | None:
    """Return the elements of the block that `symbol` points into; None where it is no pointer to things with a size."""
    element = element_type(symbol.type)
    size = byte_size(element)
    if not isinstance(symbol.type, Pointer) or isinstance(element, Pointer) or size is None:
        return None
    plain = replace(element, const=False) if isinstance(element, Scalar | Record) else element
    bytes = SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(plain)})", value=size)
    pointer = name(symbol, span)
    return allocation_lower(pointer, bytes, span), allocation_upper(pointer, bytes, span)


def allocation_guard(symbol: Symbol, span: Span) -> Assumption:
    """Return the guard under which there is such a block."""
    text = f"{symbol.name} lies in a block of memory that the run time knows"
    known = binary(">", allocation_bytes(name(symbol, span), span), number(0, span), INT)
    return Assumption(text, "guarded", known, span)
