"""Types that the text of a kernel declares itself, in the blocks where the user has them.

    for (int i = 0; i < n; i++) {            __global__ void k(…) { … {
        struct p { double x, y; } q = {…};       struct p { double x, y; }; struct p q = {…};
        a[i] = q.x;                              a[i] = q.x; }

Invariant: each of their names means in device code what it means in the user's: C's own scopes see to that. What a
kernel needs outside of its body (ranges, accumulators, running values) names none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpsmith.base.source import Span
from warpsmith.emit.device.definitions import check_name
from warpsmith.emit.device.device_code import refuse
from warpsmith.tree.nodes import Expr
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Kernel, Unit
from warpsmith.tree.text.lexical import identifiers

__all__ = ["check_outside", "placed_names"]


def placed_names(unit: Unit, places: Iterable[Span]) -> frozenset[str]:
    """Return the names of the types, tags and enumerators that are declared in the blocks at `places`. Raises
    RefusedError where one is a name that CUDA or C++ already has."""
    spans = tuple(places)
    placed = [t for t in unit.type_texts if t.scope is not None and any(span.contains(t.scope) for span in spans)]
    for one in placed:
        check_name(one)
    return frozenset(one.name for one in placed)


def check_outside(kernel: Kernel, unit: Unit, printer: Printer) -> None:
    """Raise RefusedError where what stands outside of a kernel's body names a type that is declared in it."""
    own = placed_names(unit, (kernel.span,))
    for part in _list_outside(kernel) if own else ():
        named = sorted(own & identifiers(printer.expr(part)))
        if named:
            raise refuse(f"{named[0]} outside of the block that declares it", part)


def _list_outside(kernel: Kernel) -> Iterator[Expr]:
    for mapped in kernel.mapped:
        yield from (mapped.loop.lower, mapped.loop.bound)
    for lower, count in kernel.launch:
        yield from (lower, count)
    yield from kernel.guards
    for one in kernel.reductions:
        yield from (one.target, one.start, *(place for _, place in one.companions))
    for scan in kernel.scans:
        parts = (scan.element, scan.initial, scan.target, scan.neutral, scan.factor, scan.source)
        yield from (part for part in parts if part is not None)
