"""Where a thread is in a launch, and which elements of arrays are its own.

blockIdx.x * blockDim.x + threadIdx.x      get_global_id(0)      i, where it is declared as such      the place x
a[x]      a[y * W + x], W a parameter      the thread's own element of a
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.targets.brook.refused import refuse_brook
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    Function,
    Index,
    Literal,
    MacroUse,
    Member,
    Name,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import walk

__all__ = ["BrookAccess", "StreamPlaces", "axis_in", "bare", "keeps_number"]

_AXES: Final = "xyz"
_WHOLE: Final = 32
_WORDS: Final = ("blockIdx", "blockDim", "threadIdx")


def bare(e: Expr) -> Expr:
    """Return an expression without macros and conversions from whole numbers to as long ones around it."""
    while isinstance(e, MacroUse) or (isinstance(e, Cast) and keeps_number(e)):
        e = e.expansion if isinstance(e, MacroUse) else e.operand
    return e


def keeps_number(e: Cast) -> bool:
    """Whether a conversion leaves a whole number of 32 bits as it is, but for its sign."""
    types = (e.type, e.operand.type)
    return all(isinstance(one, Scalar) and is_integer(one) and one.bits >= _WHOLE for one in types)


def _word(e: Expr) -> tuple[str, str]:
    """Return `threadIdx` and `x`; "" where it is something else."""
    e = bare(e)
    if isinstance(e, Member) and isinstance(bare(e.base), Name):
        base = bare(e.base)
        assert isinstance(base, Name)
        if base.symbol.name in _WORDS and e.field in _AXES:
            return base.symbol.name, e.field
    return "", ""


def axis_in(e: Expr) -> str:
    """Return the axis along which an expression is the thread's place in the whole grid; "" where it is none."""
    e = bare(e)
    if isinstance(e, Call) and isinstance(e.function, Name) and e.function.symbol.name == "get_global_id":
        given = bare(e.arguments[0]) if e.arguments else None
        return _AXES[int(given.value)] if isinstance(given, Literal) and given.value in (0, 1, 2) else ""
    if not isinstance(e, Binary) or e.op != "+":
        return ""
    for product, thread in ((e.left, e.right), (e.right, e.left)):
        factors, (name, axis) = bare(product), _word(thread)
        if name == "threadIdx" and isinstance(factors, Binary) and factors.op == "*":
            found = {_word(factors.left), _word(factors.right)}
            return axis if found == {("blockIdx", axis), ("blockDim", axis)} else ""
    return ""


class BrookAccess(Struct, frozen=True):
    """An element of an array that is a parameter."""

    array: Symbol
    index: Expr | None
    span: Span


class StreamPlaces:
    """What a kernel says of its threads' places: `axes` of variables, the arrays that are `written`; `row`: the width
    of rows, where the arrays have two axes."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.axes: dict[str, str] = dict(self._find_axes())
        self.written: dict[str, Symbol] = {}
        self.row: Symbol | None = None
        self.rows = False
        for access in self._stores():
            self._own_store(access)

    def _find_axes(self) -> Iterator[tuple[str, str]]:
        changed = {target.symbol.key for target in self._changed() if isinstance(target, Name)}
        for node in walk(self.function.body):
            if isinstance(node, VarDecl) and node.init is not None and node.symbol.key not in changed:
                axis = axis_in(node.init)
                if axis and self._holds_place(node.symbol):
                    yield node.symbol.key, axis

    def _holds_place(self, symbol: Symbol) -> bool:
        return isinstance(symbol.type, Scalar) and is_integer(symbol.type) and symbol.type.bits >= _WHOLE

    def _changed(self) -> Iterator[Expr]:
        for node in walk(self.function.body):
            if isinstance(node, Assign):
                yield bare(node.target)
            elif isinstance(node, Unary) and node.op in ("++x", "--x", "x++", "x--", "&"):
                yield bare(node.operand)

    def _stores(self) -> Iterator[BrookAccess]:
        for target in self._changed():
            if isinstance(target, Index | Unary):
                access = self.access(target)
                if access is None:
                    helps = ("arrays are parameters: a[i]",)
                    raise refuse_brook("this writes to what is no array of the launch", target.span, *helps)
                yield access

    def _own_store(self, access: BrookAccess) -> None:
        if not self.is_own(access):
            message = f"{access.array.name} is written at another place than the thread's own"
            helps = f"{access.array.name}[i], i = blockIdx.x * blockDim.x + threadIdx.x"
            raise refuse_brook(message, access.span, helps)
        self.written[access.array.key] = access.array

    def access(self, e: Expr) -> BrookAccess | None:
        """Return which element of which parameter an expression is; None where it is none."""
        e = bare(e)
        if isinstance(e, Index):
            base = bare(e.base)
            if isinstance(base, Name) and isinstance(base.symbol.type, Pointer) and base.symbol.storage == "parameter":
                return BrookAccess(base.symbol, e.index, e.span)
        if isinstance(e, Unary) and e.op == "*":
            base = bare(e.operand)
            if isinstance(base, Name) and isinstance(base.symbol.type, Pointer) and base.symbol.storage == "parameter":
                return BrookAccess(base.symbol, None, e.span)
        return None

    def axis(self, e: Expr) -> str:
        """Return the axis of a place; "" where an expression is none."""
        e = bare(e)
        if isinstance(e, Name) and e.symbol.key in self.axes:
            return self.axes[e.symbol.key]
        return axis_in(e)

    def is_own(self, access: BrookAccess) -> bool:
        """Whether an element is the thread's own. The first one decides whether arrays have rows."""
        if access.index is None:
            return False
        index = bare(access.index)
        if self.axis(index) == "x":
            return not self.rows and self._flat()
        if not isinstance(index, Binary) or index.op != "+":
            return False
        for product, column in ((index.left, index.right), (index.right, index.left)):
            row = bare(product)
            if self.axis(column) == "x" and isinstance(row, Binary) and row.op == "*":
                return self._in_rows(row)
        return False

    def _flat(self) -> bool:
        return not any(axis != "x" for axis in self.axes.values())

    def _in_rows(self, product: Binary) -> bool:
        for one, other in ((product.left, product.right), (product.right, product.left)):
            width = bare(other)
            if self.axis(one) == "y" and isinstance(width, Name) and width.symbol.storage == "parameter":
                if self.row is None and not self.written:
                    self.row, self.rows = width.symbol, True
                return self.row is not None and self.row.key == width.symbol.key
        return False
