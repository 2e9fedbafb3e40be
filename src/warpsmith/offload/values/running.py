"""Running values on their way from the host's names (scans.py) to the kernel's (emit/device/scan.py)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from warpsmith.offload.values.kernel_text import Rewriter
from warpsmith.poly.dependences.running import Running, neutral_number
from warpsmith.tree.nodes import Expr, Stmt
from warpsmith.tree.program import Scan
from warpsmith.tree.types import Symbol, is_float

__all__ = ["RunningKernel", "RunningValue", "kernel_scans"]

_NEEDS_NO_NEUTRAL = ("min", "max", "&", "|", "linear", "latest")
_ROUNDED = ("+", "*", "linear")


class RunningValue(Struct, frozen=True, eq=False):
    """A running value in the host's names. `variable` is the thread's own; `initial` is the value before the first
    iteration."""

    running: Running
    variable: Symbol
    initial: Expr

    @property
    def is_rounded(self) -> bool:
        """Whether the result depends on the order in which elements are combined."""
        return is_float(self.running.type) and self.running.op in _ROUNDED


class RunningKernel(Struct, frozen=True, eq=False):
    """The running values of a loop; `body` is the loop's, with the threads' own variables in place of the user's (or of
    the elements before)."""

    values: tuple[RunningValue, ...]
    body: Stmt

    @property
    def is_rounded(self) -> bool:
        """Whether a result depends on the order in which elements are combined."""
        return any(value.is_rounded for value in self.values)

    @property
    def order_notes(self) -> tuple[str, ...]:
        """In what way results may depend on the order in which elements are combined."""
        names = (value.running.symbol.name for value in self.values if value.is_rounded)
        return tuple(
            f"the running values of {name} are combined in another order, the same in every run" for name in names
        )


def kernel_scans(scan: RunningKernel | None, rewriter: Rewriter) -> tuple[Scan, ...]:
    """Return the running values in the kernel's names."""
    if scan is None:
        return ()
    places = {value.running.symbol: number for number, value in enumerate(scan.values)}
    return tuple(_kernel_scan(value, places, rewriter) for value in scan.values)


def _kernel_scan(value: RunningValue, places: Mapping[Symbol, int], rewriter: Rewriter) -> Scan:
    found = value.running
    initial = rewriter.expr(value.initial)
    return Scan(
        op=found.op,
        variable=value.variable,
        element=rewriter.expr(found.element),
        initial=initial,
        target=initial if found.previous is None else None,
        neutral=None if found.op in _NEEDS_NO_NEUTRAL else neutral_number(found.op, found.type, found.statement.span),
        compares=found.compares,
        factor=None if found.factor is None else rewriter.expr(found.factor),
        source=None if found.source is None else rewriter.expr(found.source),
        group=tuple(places[symbol] for symbol in found.group),
    )
