"""Accumulators: what the threads of a nest update together, and how.

    for (i …) s += a[i];              sum     every thread sums its own iterations in an `s` of its own; the parts are
                                              combined in a fixed order (emit/device/reduction.py), then with the old s
    for (j …) C[i][k] += A[i][j];     sum     the same, for one element that no iteration moves
    for (i …) h[b[i]]++;              atomic  each update is one indivisible operation on the device's memory

Invariant: poly proved that nothing but these updates is carried by the mapped loops, and that every other access of the
loop misses the updated elements. So a thread may keep a part of the result to itself, and the order of parts is free:
exactly for integers, minima and maxima, up to rounding for sums and products of floating point.

What a thread's own accumulator starts as: the neutral element of the operation (-0.0 for floating-point sums: adding it
changes nothing, not even a zero's sign), or, where combining a value with itself is harmless (min max & | && ||), what
the place holds already; so a maximum needs no infinity, and a NaN that stood there stays.

Limits: with NaN among the values the form `m = m > x ? m : x` depends on the order (`if (x > m) m = x` does not, nor
does fmax). Of equal zeros of both signs either may be the maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal as OneOf

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason
from warpsmith.poly.dependences.reductions import AssociativeUpdate, updates
from warpsmith.poly.facts import LoopFacts, Reduction
from warpsmith.tree.nodes import Assign, Binary, Call, Conditional, DeclStmt, Expr, For, If, Name, Unary
from warpsmith.tree.types import Scalar, Symbol, Type, is_float, is_integer
from warpsmith.tree.walk import names, peel, same, walk, written_symbols

__all__ = ["Accumulator", "accumulators", "is_parallel", "is_reduction", "order_notes"]

_KEPT = ("min", "max", "&", "|", "&&", "||")
_ROUNDED = ("+", "*")


class Accumulator(Struct, frozen=True):
    """One object that the iterations of a nest update by `op`, and the update statements.

    sum      a scalar, or one element of an array: `element` names it, in the host's names
    atomic   elements that iterations share in a way that only the run tells
    With && and || the object is 0 or 1 before the loop too. `companions` are set with a new extreme (see Reduction).
    """

    op: str
    symbol: Symbol
    form: OneOf["sum", "atomic"]
    type: Scalar
    element: Expr
    updates: tuple[AssociativeUpdate, ...]
    companions: tuple[Symbol, ...] = ()
    strict: bool = True

    @property
    def keeps(self) -> bool:
        """Whether combining a value with itself is harmless, so that parts may start from what the place holds."""
        return self.op in _KEPT

    @property
    def is_scalar(self) -> bool:
        """Whether the object is a variable and not an element."""
        return isinstance(peel(self.element), Name)

    @property
    def is_rounded(self) -> bool:
        """Whether the result depends on the order in which parts are combined."""
        return is_float(self.type) and self.op in _ROUNDED


def is_parallel(facts: LoopFacts) -> bool:
    """Whether the iterations of the loop may run at once."""
    return facts.category == "parallel" and isinstance(facts.verdict, Proved)


def is_reduction(facts: LoopFacts) -> bool:
    """Whether associative updates are all that the loop carries, so that it may be split among threads."""
    return facts.category == "reduction" and isinstance(facts.combined, Proved)


def accumulators(chain: Sequence[LoopFacts]) -> tuple[Accumulator, ...] | Reason:
    """Return what the threads of the loops `chain` (outermost first, perfectly nested) update together, or why one of
    them cannot be."""
    outermost = chain[0]
    loop = outermost.loop
    if outermost.category != "reduction" or not isinstance(loop, For):
        return ()
    found: list[Accumulator] = []
    moving = _moving(loop)
    everything = updates(loop)
    for reduction in outermost.reductions:
        mine = tuple(u for u in everything if u.symbol == reduction.variable)
        one = _accumulator(reduction, mine, moving)
        if isinstance(one, Reason):
            return one
        found.append(one)
    return tuple(found)


def order_notes(together: Sequence[Accumulator]) -> tuple[str, ...]:
    """Return in what way the results of a kernel may depend on the order of iterations; nothing where they do not."""
    fixed = [one for one in together if one.is_rounded and one.form == "sum"]
    varying = [one for one in together if one.is_rounded and one.form == "atomic"]
    replaced = [one for one in together if is_float(one.type) and any(_drops_old(u) for u in one.updates)]
    notes = [
        (fixed, "the floating-point numbers in {} are combined in another order, the same in every run"),
        (varying, "the floating-point numbers in {} are combined in an order that differs from run to run"),
        (replaced, "where a value is NaN, {} depends on the order of the iterations, which changes"),
    ]
    return tuple(text.format(_list_names([one.symbol.name for one in found])) for found, text in notes if found)


def _list_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _moving(loop: For) -> set[Symbol]:
    """Return the variables that may differ between two iterations."""
    declared = {d.symbol for n in walk(loop) if isinstance(n, DeclStmt) for d in n.declarations}
    counters = {n.variable for n in walk(loop) if isinstance(n, For)}
    return declared | counters | written_symbols(loop)


def _accumulator(
    reduction: Reduction, mine: tuple[AssociativeUpdate, ...], moving: set[Symbol]
) -> Accumulator | Reason:
    symbol, op = reduction.variable, reduction.op
    scalar = isinstance(symbol.type, Scalar)
    if not scalar and (reduction.companions or not mine or any(u.op != op for u in mine)):
        text = f"the updates of '{symbol.name}' have no form that a kernel can combine"
        return Reason("POR002", text, reduction.span)
    element = Name(span=reduction.span, type=symbol.type, symbol=symbol) if scalar else mine[0].target
    type = _combinable(element.type)
    if type is None:
        text = f"'{symbol.name}' has a type that a kernel cannot combine"
        return Reason("POR002", text, reduction.span)
    fixed = all(same(peel(u.target), peel(element)) for u in mine)
    if scalar:
        if any(not isinstance(s.type, Scalar) for s in reduction.companions):
            return Reason("POR002", f"what is set beside '{symbol.name}' is no number", reduction.span)
        return Accumulator(op, symbol, "sum", type, element, mine, reduction.companions, reduction.strict)
    if fixed and not any(n.symbol in moving for n in _subscripts(element)):
        return Accumulator(op, symbol, "sum", type, element, mine)
    if type.bits < 32 or op in ("&&", "||") or not all(is_atomic_form(u) for u in mine):
        text = f"iterations may update one element of '{symbol.name}', and no device operation does that indivisibly"
        return Reason("POR002", text, reduction.span)
    return Accumulator(op, symbol, "atomic", type, element, mine)


def is_atomic_form(update: AssociativeUpdate) -> bool:
    """Whether the value that the update combines stands by itself in its text, so that it can be handed to an
    indivisible operation."""
    node = update.node
    if isinstance(node, Assign) and node.op == "=":
        value = peel(node.value)
        return isinstance(value, Call | Binary) or (isinstance(value, Conditional) and update.op in ("min", "max"))
    return isinstance(node, Assign | Unary) or (isinstance(node, If) and not update.companions)


def _subscripts(target: Expr) -> Iterable[Name]:
    """Return the names in a target other than its array's."""
    root = next(iter(names(target)))
    return [n for n in names(target) if n is not root]


def _combinable(type: Type) -> Scalar | None:
    """Return the type without qualifiers where a device can combine it."""
    if not isinstance(type, Scalar) or type.volatile or type.bits > 64:
        return None
    if not (is_float(type) or is_integer(type) or type.kind == "bool"):
        return None
    return Scalar(type.name, type.bits, type.kind)


def _drops_old(update: AssociativeUpdate) -> bool:
    """Whether a NaN value replaces the accumulator: the comparison is false and the other arm is the value."""
    node = update.node
    if update.op not in ("min", "max") or not isinstance(node, Assign):
        return False
    value = peel(node.value)
    return isinstance(value, Conditional) and not same(peel(value.other), peel(update.target))
