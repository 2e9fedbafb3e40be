"""Host code is run by the letter: each statement does what C says, each call of a kernel is a pass.

Invariant: a value is what its expression's type can hold; operands are converted first, as C converts them. Limits:
what reaches beyond an array stops the run with its line, and so does a number that was never set; arrays begin as
zeros.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from warpsmith.base.source import Span
from warpsmith.flows.streams.values import (
    HostArray,
    HostBytes,
    HostPointer,
    HostValue,
    StreamValue,
    dtype_of,
    fit,
    host_error,
)
from warpsmith.front.brook.hosts import BrookHost
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    Function,
    If,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Array, Pointer, Record, Symbol, Type, common_type, is_integer, promote

__all__ = ["HostRunner", "KernelCall"]

KernelCall = Callable[[str, "list[HostValue | HostPlace]", Span], None]
"""Runs a kernel by its name; streams are values, the variable of a reduction a place."""
_MOST: Final = 50_000_000
_LARGEST: Final = 1 << 28

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": lambda a, b: a << (b & 31), ">>": lambda a, b: a >> (b & 31),
}  # fmt: skip
_TESTS: Final = ("<", ">", "<=", ">=", "==", "!=")
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "pow": math.pow, "fmod": math.fmod, "sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil, "fabs": abs,
    "fabsf": abs, "sqrtf": math.sqrt, "floorf": math.floor,
    "sin": math.sin, "cos": math.cos, "exp": math.exp, "log": math.log, "log2": math.log2, "abs": abs,
}  # fmt: skip


class HostPlace:
    """What can be assigned to."""

    def __init__(self, read: Callable[[], HostValue], write: Callable[[HostValue], None], type: Type) -> None:
        self.read, self.write, self.type = read, write, type


class _Leave(Exception):
    """Control leaves a statement: `how` is break, continue, return or exit."""

    def __init__(self, how: str, value: HostValue = None) -> None:
        super().__init__(how)
        self.how, self.value = how, value


class HostRunner:
    """Runs functions of one file. `launch` runs a kernel; `written`: arrays that streams were written to, in order."""

    def __init__(self, host: BrookHost, launch: KernelCall) -> None:
        self.host, self.launch = host, launch
        self.written: dict[int, HostArray] = {}
        self._variables: dict[str, HostValue] = {}
        self._steps = 0

    def run(self, function: Function, arguments: list[HostValue]) -> HostValue:
        """Run a function; raises InputError where it cannot go on."""
        outer = self._variables
        self._variables = {}
        for symbol, value in zip(function.parameters, arguments, strict=True):
            self._variables[symbol.key] = fit(value, symbol.type, function.span, symbol.name)
        try:
            self._block(function.body)
        except _Leave as leave:
            if leave.how == "exit" and outer:
                raise
            return leave.value
        finally:
            self._variables = outer
        return None

    # --- statements

    def _block(self, block: Block) -> None:
        for one in block.statements:
            self._statement(one)

    def _statement(self, one: Stmt) -> None:
        self._steps += 1
        if self._steps > _MOST:
            raise host_error(one.span, f"host code runs more than {_MOST:,} statements", "give its loops an end")
        match one:
            case Block():
                self._block(one)
            case DeclStmt():
                for declared in one.declarations:
                    self._declare(declared)
            case ExprStmt():
                self.value(one.expr)
            case Empty():
                pass
            case _:
                self._control(one)

    def _control(self, one: Stmt) -> None:
        match one:
            case If():
                chosen = one.then if self._holds(one.condition) else one.other
                if chosen is not None:
                    self._statement(chosen)
            case While():
                self._loop(one)
            case Break():
                raise _Leave("break")
            case Continue():
                raise _Leave("continue")
            case Return():
                raise _Leave("return", self.value(one.value) if one.value is not None else None)
            case _:
                raise host_error(one.span, "this statement is not run here")

    def _loop(self, loop: While) -> None:
        if loop.init is not None:
            self._statement(loop.init)
        first = loop.form == "do"
        while first or loop.condition is None or self._holds(loop.condition):
            first = False
            try:
                self._statement(loop.body)
            except _Leave as leave:
                if leave.how == "break":
                    return
                if leave.how in ("return", "exit"):
                    raise
            if loop.advance is not None:
                self.value(loop.advance)

    def _declare(self, one: VarDecl) -> None:
        symbol = one.symbol
        if symbol.key in self.host.elements and isinstance(one.init, InitList):
            self._variables[symbol.key] = self._stream(symbol, one.init)
        elif isinstance(symbol.type, Array):
            self._variables[symbol.key] = self._array(one)
        elif one.init is not None:
            self._variables[symbol.key] = fit(self.value(one.init), symbol.type, one.span, symbol.name)
        else:
            self._variables.pop(symbol.key, None)

    def _stream(self, symbol: Symbol, extents: InitList) -> StreamValue:
        first = extents.items[0]
        sizes = [self._size(one) for one in (first.items if isinstance(first, InitList) else extents.items)]
        if len(sizes) > (2 if isinstance(first, InitList) else 3):
            raise host_error(extents.span, f"'{symbol.name}' has {len(sizes)} axes; that is more than are read here")
        element = self.host.elements[symbol.key]
        dtype = dtype_of(element, extents.span)
        lanes = max(1, getattr(element, "lanes", 0))
        layers, height, width = (1, 1, *sizes)[-3:]
        if layers * height * width * lanes > _LARGEST:
            raise host_error(extents.span, f"'{symbol.name}' has more than {_LARGEST:,} numbers")
        data = np.zeros((layers * height, width, lanes), dtype)
        made = StreamValue(symbol.name, element, data, len(sizes), layer=height)
        return self._counting(made, extents) if isinstance(first, InitList) else made

    def _counting(self, stream: StreamValue, made: InitList) -> StreamValue:
        """Return a stream with numbers that go evenly from a first one to before a last one: along both axes, x in the
        first lane, where it has two."""
        first, last = (self._lanes(one, stream) for one in made.items[1:])
        height, width, lanes = stream.data.shape
        if stream.axes == 2 and lanes != 2:
            helps = f"iter float2 {stream.name}<{height}, {width}> = iter(float2(0, 0), float2({width}, {height}));"
            raise host_error(made.span, f"'{stream.name}' counts along two axes, which takes two numbers", helps)
        along = [np.arange(width)[None, :] / width] * lanes
        if stream.axes == 2:
            along[1] = np.arange(height)[:, None] / height
        for lane, part in enumerate(along):
            stream.data[:, :, lane] = (1 - part) * first[lane] + part * last[lane]
        stream.known = True
        return stream

    def _lanes(self, e: Expr, stream: StreamValue) -> list[float]:
        """Return the numbers of an element that an expression writes."""
        lanes = stream.data.shape[2]
        values = [self.value(one) for one in (e.items if isinstance(e, InitList) else (e,))]
        found = [float(one) for one in values if isinstance(one, int | float)]
        if len(found) < len(values) or len(found) not in (1, lanes):
            raise host_error(e.span, f"an element of {stream.name} has {lanes} numbers", "float2(0.0f, 8.0f)")
        return found * (lanes if len(found) == 1 else 1)

    def _size(self, one: Expr) -> int:
        size = self.value(one)
        if not isinstance(size, int) or size < 1:
            raise host_error(one.span, f"an extent is a whole number from 1 on, and this is {size}")
        return size

    def _array(self, one: VarDecl) -> HostPointer:
        type, count = one.symbol.type, 1
        while isinstance(type, Array):
            count *= self._size(type.extent) if type.extent is not None else 1
            type = type.of
        if count > _LARGEST:
            raise host_error(one.span, f"'{one.symbol.name}' has more than {_LARGEST:,} numbers")
        data = np.zeros(count * _lanes_of(type), dtype_of(type, one.span))
        if isinstance(one.init, InitList):
            given = [self.value(item) for item in one.init.items]
            if len(given) > count:
                raise host_error(one.init.span, f"'{one.symbol.name}' has {count} elements, and these are {len(given)}")
            data[: len(given)] = given
        return HostPointer(HostArray(one.symbol.name, data))

    # --- expressions

    def _holds(self, e: Expr) -> bool:
        value = self.value(e)
        return value != 0 if isinstance(value, int | float) else value is not None

    def value(self, e: Expr) -> HostValue:
        """Return what an expression is."""
        match e:
            case Literal():
                return e.value if e.value is not None else 0
            case Name():
                return self._name(e)
            case Unary():
                return self._unary(e)
            case Binary():
                return self._binary(e)
            case Assign():
                return self._assign(e)
            case Conditional():
                return fit(self.value(e.then if self._holds(e.condition) else e.other), e.type, e.span)
            case Cast():
                return fit(self.value(e.operand), e.type, e.span)
            case Index() | Member():
                return self._element(e)
            case Call():
                return self._call(e)
            case _:
                raise host_error(e.span, "vectors are not computed with in host code here", "use numbers")

    def _name(self, e: Name) -> HostValue:
        if e.symbol.key not in self._variables:
            raise host_error(e.span, f"'{e.symbol.name}' has no value yet", "give it one where it is declared")
        return self._variables[e.symbol.key]

    def _element(self, e: Index | Member) -> HostValue:
        return self._row(e) if isinstance(e, Index) and isinstance(e.type, Array) else self.place(e).read()

    def place(self, e: Expr) -> HostPlace:
        """Return where an expression lies; raises InputError where it lies nowhere."""
        match e:
            case Name():
                return HostPlace(
                    lambda: self._name(e), lambda value: self._variables.update({e.symbol.key: value}), e.type
                )
            case Index() | Unary(op="*"):
                if isinstance(e.type, Record):
                    raise host_error(e.span, "vectors are not computed with in host code here", "take v[i].x")
                return self._pointed(self._pointer(e), e)
            case Member(base=Index() | Unary(op="*")) if len(e.field) == 2:
                pointer = self._pointer(e.base)
                return self._pointed(HostPointer(pointer.array, pointer.at + int(e.field[1])), e)
            case _:
                raise host_error(e.span, "this cannot be assigned to")

    def _pointer(self, e: Expr) -> HostPointer:
        """Return where an element lies; raises InputError where that is nowhere."""
        pointer = self._row(e) if isinstance(e, Index) else self.value(e.operand) if isinstance(e, Unary) else None
        if not isinstance(pointer, HostPointer):
            raise host_error(e.span, "this points to no element", "declare an array, or malloc it")
        return pointer

    def _pointed(self, pointer: HostPointer, e: Expr) -> HostPlace:
        """Return the number that a pointer leads to."""
        data, at = pointer.array.data, pointer.at
        if not 0 <= at < len(data):
            raise host_error(e.span, f"{pointer.array.name} has {len(data)} elements, and number {at} is asked for")
        return HostPlace(lambda: data[at].item(), lambda value: data.__setitem__(at, value), e.type)

    def _row(self, e: Index) -> HostPointer:
        """Return the pointer to an element, or to a row of them."""
        base, index = self.value(e.base), self.value(e.index)
        if not isinstance(base, HostPointer) or not isinstance(index, int):
            raise host_error(e.span, "this is no element of an array")
        size, type = 1, e.type
        while isinstance(type, Array):
            size *= self._size(type.extent) if type.extent is not None else 1
            type = type.of
        return HostPointer(base.array, base.at + index * size * _lanes_of(type))

    def _assign(self, e: Assign) -> HostValue:
        place, value = self.place(e.target), self.value(e.value)
        if e.op != "=":
            value = self._operate(e.op[:-1], place.read(), value, (e.target.type, e.value.type), e.span)
        made = fit(value, e.type, e.span, getattr(getattr(e.target, "symbol", None), "name", "memory"))
        place.write(made)
        return made

    def _unary(self, e: Unary) -> HostValue:
        if e.op in ("++x", "--x", "x++", "x--"):
            place = self.place(e.operand)
            before = place.read()
            step = 1 if "+" in e.op else -1
            after = self._operate("+", before, step, (e.type, promote(e.type)), e.span)
            place.write(fit(after, e.type, e.span))
            return place.read() if e.op.endswith("x") else before
        if e.op == "*":
            return self.place(e).read()
        if e.op == "&":
            return self._row(e.operand) if isinstance(e.operand, Index) else self._boxed(e)
        value = self.value(e.operand)
        if e.op == "!":
            return int(not self._holds(e.operand))
        if not isinstance(value, int | float):
            raise host_error(e.span, f"'{e.op}' takes a number")
        return fit(-value if e.op == "-" else ~int(value) if e.op == "~" else value, e.type, e.span)

    def _boxed(self, e: Unary) -> HostPointer:
        helps = "make it an array of one element: float x[1];"
        raise host_error(e.span, "the address of a variable is not taken here", helps)

    def _binary(self, e: Binary) -> HostValue:
        if e.op in ("&&", "||"):
            left = self._holds(e.left)
            return int(self._holds(e.right)) if left == (e.op == "&&") else int(left)
        left_value, right_value = self.value(e.left), self.value(e.right)
        if e.op == ",":
            return right_value
        found = self._operate(e.op, left_value, right_value, (e.left.type, e.right.type), e.span)
        return fit(found, e.type, e.span)

    def _operate(self, op: str, a: HostValue, b: HostValue, types: tuple[Type, Type], span: Span) -> HostValue:
        if isinstance(a, HostPointer) and isinstance(b, int) and op in ("+", "-"):
            step = _lanes_of(types[0].to) if isinstance(types[0], Pointer) else 1
            return HostPointer(a.array, a.at + step * (b if op == "+" else -b))
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            raise host_error(span, f"'{op}' takes numbers")
        common = promote(types[0]) if op in ("<<", ">>") else common_type(*types)
        one, other = fit(a, common, span), fit(b, promote(types[1]) if op in ("<<", ">>") else common, span)
        if op in ("/", "%"):
            return fit(_divide(op, one, other, whole=is_integer(common), span=span), common, span)
        found = _OPERATORS[op](one, other)
        return int(found) if op in _TESTS else fit(found, common, span)

    # --- calls

    def _call(self, e: Call) -> HostValue:
        assert isinstance(e.function, Name)
        _, kind, name = e.function.symbol.key.split(":")
        match kind:
            case "kernel":
                self.launch(name, [self._passed(one) for one in e.arguments], e.span)
                return None
            case "host":
                function = self.host.called[name]
                return fit(self.run(function, [self.value(one) for one in e.arguments]) or 0, e.type, e.span)
            case _:
                return self._library(name, e)

    def _passed(self, e: Expr) -> HostValue | HostPlace:
        is_variable = isinstance(e, Name | Index) and not isinstance(e.type, Pointer | Array)
        if isinstance(e, Name) and e.symbol.key in self.host.elements:
            return self._name(e)
        return self.place(e) if is_variable else self.value(e)

    def _library(self, name: str, e: Call) -> HostValue:
        match name:
            case "streamRead" | "streamWrite":
                self._move(name, e)
                return None
            case "printf" | "fprintf" | "fflush" | "free" | "brfree":
                return fit(0, e.type, e.span)
            case "exit":
                raise _Leave("exit")
            case "atoi" | "atof":
                raise host_error(e.span, f"{name} reads a word of the command line, and there is none")
            case "malloc" | "brmalloc":
                count = self.value(e.arguments[0])
                if not isinstance(count, int) or not 0 < count <= _LARGEST:
                    raise host_error(e.span, f"malloc takes a number of bytes, and this is {count}")
                return HostBytes(count)
            case _:
                given = [self.value(one) for one in e.arguments]
                try:
                    return fit(_FUNCTIONS[name](*given), e.type, e.span)
                except (ValueError, OverflowError, TypeError) as error:
                    listed = ", ".join(map(str, given))
                    raise host_error(e.span, f"{name}({listed}) has no value") from error

    def _move(self, name: str, e: Call) -> None:
        stream, pointer = (self.value(one) for one in e.arguments)
        if not isinstance(stream, StreamValue) or not isinstance(pointer, HostPointer):
            raise host_error(e.span, f"{name} takes a stream and an array", f"{name}(s, array);")
        memory, count = pointer.array.data, stream.data.size
        if memory.dtype != stream.data.dtype:
            message = f"{pointer.array.name} has numbers of another type than the stream {stream.name}"
            raise host_error(e.span, message, "declare both alike")
        if pointer.at < 0 or pointer.at + count > len(memory):
            message = f"{stream.name} has {count:,} numbers, and {pointer.array.name} {len(memory) - pointer.at:,}"
            raise host_error(e.span, message, "make them of one size")
        part = memory[pointer.at : pointer.at + count]
        if name == "streamRead":
            stream.data[:] = part.reshape(stream.data.shape)
            stream.known = True
        elif not stream.known:
            raise host_error(
                e.span, f"nothing was written to {stream.name} before", "streamRead, or a kernel, fills it"
            )
        else:
            part[:] = stream.data.ravel()
            self.written[id(pointer.array)] = pointer.array


def _lanes_of(type: Type) -> int:
    """Return how many numbers lie in an element."""
    while isinstance(type, Array):
        type = type.of
    return max(1, type.lanes) if isinstance(type, Record) else 1


def _divide(op: str, a: Any, b: Any, *, whole: bool, span: Span) -> HostValue:
    """Return a quotient or remainder as C has it."""
    if not b and whole:
        raise host_error(span, f"{a} {op} 0 has no value")
    if not whole:
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return int(quotient if op == "/" else a - quotient * b)
