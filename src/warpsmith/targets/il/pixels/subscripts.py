"""Which element of which stream an address is, as row and column.

    address   base(stream) + size · index + byte                index    a sum of terms
    row       a   of the terms a · W and W, W the stream's width         column   what is left
    the thread's own place    row y, column x, W the width of the domain; in layers of H rows row z · H + y

The kernels that front/brook makes have such addresses only: y · W + x, in which y and x know nothing of W. Where the
terms left over depend on W all the same, the index is divided by W, which is right for every element that there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.ssa.nodes import Constant, Function, Instruction, Memory, Operand, Param, Query, Value
from warpsmith.ssa.types import I32
from warpsmith.targets.il.writing.refused import refuse

__all__ = ["PixelSubscripts", "StreamPlace", "axis_of"]

_AXES = "xyz"


class StreamPlace(Struct, frozen=True):
    """An access: `component` is the first number of the element that is meant. `rows` and `columns` are terms that are
    added up; `split`: the sum of `columns` is an index that is to be divided by the width; `own`: it is the thread's
    own place."""

    stream: str
    component: int
    rows: tuple[Operand, ...]
    columns: tuple[Operand, ...]
    split: bool = False
    own: bool = False


def axis_of(made: Mapping[Value, Instruction], value: Operand) -> str:
    """Return the axis along which a value is the thread's place in the whole grid; "" where it is none."""
    i = made.get(value) if isinstance(value, Value) else None
    if i is None or i.op != "add":
        return ""
    for one, other in (i.operands, i.operands[::-1]):
        product = made.get(one) if isinstance(one, Value) else None
        name, _, axis = _register(made, other).partition(".")
        if product is not None and product.op == "mul" and name == "tid":
            factors = {_register(made, factor) for factor in product.operands}
            return axis if factors == {f"ctaid.{axis}", f"ntid.{axis}"} and axis in _AXES else ""
    return ""


def _register(made: Mapping[Value, Instruction], operand: Operand) -> str:
    detail = made[operand].detail if isinstance(operand, Value) and operand in made else None
    return detail.register if isinstance(detail, Query) else ""


class PixelSubscripts:
    """Reads addresses of a function. `sizes`: bytes of an element of each stream; `widths`: the parameter with its
    width, where it has one; `domain`: those of the domain's width, and of the height of layers where there are some."""

    def __init__(
        self, function: Function, sizes: Mapping[str, int], widths: Mapping[str, str], domain: Sequence[str]
    ) -> None:
        self.sizes, self.widths, self.domain = sizes, widths, domain
        self.made = {value: i for _, i in function.instructions() for value in i.results}

    def place(self, i: Instruction, detail: Memory) -> StreamPlace:
        """Return which element an access is of; raises InputError where that is not seen."""
        streams: list[str] = []
        indices: list[tuple[Operand, int]] = []
        offset = detail.offset
        for operand in self._sum(i.operands[0]):
            match operand:
                case Constant():
                    bits = operand.bits
                    offset += bits - (1 << operand.type.bits) if bits >> (operand.type.bits - 1) else bits
                case Value() if self._parameter(operand):
                    streams.append(self._parameter(operand))
                case _:
                    indices.append(self._scaled(i, operand))
        if len(streams) != 1 or streams[0] not in self.sizes or len(indices) > 1:
            raise refuse("this address is of no stream", i.span, "streams and gathers are parameters")
        stream, size = streams[0], self.sizes[streams[0]]
        whole, byte = divmod(offset, size)
        if indices and indices[0][1] != size:
            raise refuse("this address is of a part of an element", i.span, "read the whole element")
        terms = tuple(self._terms(indices[0][0])) if indices else ()
        if whole or not terms:
            terms = (*terms, Constant(I32, whole & 0xFFFFFFFF))
        return self._split(stream, byte // 4, terms)

    def _split(self, stream: str, component: int, terms: Sequence[Operand]) -> StreamPlace:
        if self._is_own(terms):
            return StreamPlace(stream, component, (), (), own=True)
        width = self.widths.get(stream, "")
        if not width:
            return StreamPlace(stream, component, (), tuple(terms))
        rows: list[Operand] = []
        columns: list[Operand] = []
        for term in terms:
            factor = self._factor(term, width)
            if factor is not None:
                rows.append(factor)
            else:
                columns.append(term)
        if not rows or any(self._depends(term, width, set()) for term in columns):
            return StreamPlace(stream, component, (), tuple(terms), split=True)
        return StreamPlace(stream, component, tuple(rows), tuple(columns) or (Constant(I32, 0),))

    def _is_own(self, terms: Sequence[Operand]) -> bool:
        if len(terms) != 2:
            return False
        factors = [self._factor(term, self.domain[0]) for term in terms]
        rows = [self._row(one) for one in factors if one is not None]
        columns = [axis_of(self.made, term) for term, factor in zip(terms, factors, strict=True) if factor is None]
        return (rows, columns) == (["y"], ["x"])

    def _row(self, operand: Operand) -> str:
        """Return "y" where an operand is the row of the thread: y, or z · H + y in layers of H rows."""
        i = self.made.get(operand) if isinstance(operand, Value) else None
        if len(self.domain) < 2 or i is None or i.op != "add" or axis_of(self.made, operand):
            return axis_of(self.made, operand)
        layers = [self._factor(one, self.domain[1]) for one in i.operands]
        along = [axis_of(self.made, one) for one in (*i.operands, *(one for one in layers if one is not None))]
        return "y" if sorted(filter(None, along)) == ["y", "z"] else ""

    # --- sums and products

    def _sum(self, operand: Operand) -> Iterator[Operand]:
        """Yield what an address is the sum of."""
        i = self.made.get(operand) if isinstance(operand, Value) else None
        if i is not None and i.op == "add":
            for one in i.operands:
                yield from self._sum(one)
        elif i is not None and i.op in ("to_generic", "from_generic"):
            yield from self._sum(i.operands[0])
        else:
            yield operand

    def _terms(self, operand: Operand) -> Iterator[Operand]:
        """Yield what an index is the sum of."""
        i = self.made.get(operand) if isinstance(operand, Value) else None
        if i is not None and i.op == "add" and not axis_of(self.made, operand):
            for one in i.operands:
                yield from self._terms(one)
        else:
            yield operand

    def _scaled(self, i: Instruction, operand: Operand) -> tuple[Operand, int]:
        """Return an index and what it is multiplied by."""
        product = self.made.get(operand) if isinstance(operand, Value) else None
        if product is not None and product.op in ("smulwide", "mul"):
            for one, other in (product.operands, product.operands[::-1]):
                if isinstance(other, Constant):
                    return self._narrow(one), other.bits
        raise refuse("this address is no element of a stream", i.span, "streams are read by whole numbers")

    def _narrow(self, operand: Operand) -> Operand:
        i = self.made.get(operand) if isinstance(operand, Value) else None
        return i.operands[0] if i is not None and i.op in ("sext", "zext") else operand

    def _parameter(self, operand: Operand) -> str:
        detail = self.made[operand].detail if isinstance(operand, Value) and operand in self.made else None
        return detail.parameter if isinstance(detail, Param) and detail.offset == 0 else ""

    def _factor(self, term: Operand, width: str) -> Operand | None:
        """Return a where a term is a · W; None where it is not."""
        if self._parameter(term) == width:
            return Constant(I32, 1)
        i = self.made.get(term) if isinstance(term, Value) else None
        if i is None or i.op != "mul":
            return None
        one, other = i.operands
        if self._parameter(other) == width:
            return one
        return other if self._parameter(one) == width else None

    def _depends(self, operand: Operand, width: str, seen: set[Value]) -> bool:
        """Whether a value is computed from a width; what is loaded is not."""
        pending = [operand]
        while pending:
            one = pending.pop()
            if not isinstance(one, Value) or one in seen:
                continue
            seen.add(one)
            if self._parameter(one) == width:
                return True
            i = self.made.get(one)
            pending += i.operands if i is not None and i.op != "load" else ()
        return False
