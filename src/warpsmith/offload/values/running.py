"""A running value on its way from the host's names (scans.py) to the kernel's (emit/device/scan.py)."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.offload.expressions import number
from warpsmith.offload.values.kernel_text import Rewriter
from warpsmith.poly.dependences.running import Running
from warpsmith.tree.nodes import Expr, Literal, Stmt, Unary
from warpsmith.tree.program import Scan
from warpsmith.tree.types import Symbol, is_float

__all__ = ["RunningKernel", "kernel_scan"]

_KEPT = ("min", "max", "&", "|")
_ROUNDED = ("+", "*")


class RunningKernel(Struct, frozen=True, eq=False):
    """A running value in the host's names. `variable` is the thread's own; `body` has it in place of the user's
    variable (or of the element before); `initial` is the value before the first iteration."""

    running: Running
    variable: Symbol
    initial: Expr
    body: Stmt

    @property
    def is_rounded(self) -> bool:
        """Whether the result depends on the order in which elements are combined."""
        return is_float(self.running.type) and self.running.op in _ROUNDED

    @property
    def order_note(self) -> str:
        """In what way the result may depend on the order in which elements are combined, "" where it does not."""
        name = self.running.symbol.name
        note = f"the running values of {name} are combined in another order, the same in every run"
        return note if self.is_rounded else ""


def kernel_scan(scan: RunningKernel | None, rewriter: Rewriter) -> Scan | None:
    """Return the running value in the kernel's names."""
    if scan is None:
        return None
    found = scan.running
    initial = rewriter.expr(scan.initial)
    return Scan(
        op=found.op,
        variable=scan.variable,
        element=rewriter.expr(found.element),
        initial=initial,
        target=initial if found.previous is None else None,
        neutral=None if found.op in _KEPT else _neutral(found),
        compares=found.compares,
    )


def _neutral(found: Running) -> Expr:
    """Return the value that changes nothing when it is combined by + * or ^ (-0.0 keeps a zero's sign)."""
    span, value = found.statement.span, 1 if found.op == "*" else 0
    if not is_float(found.type):
        return number(value, span)
    text = f"{value}.0{'f' if found.type.bits == 32 else ''}"
    literal = Literal(span=span, type=found.type, text=text, value=float(value))
    return Unary(span=span, type=found.type, op="-", operand=literal) if found.op == "+" else literal
