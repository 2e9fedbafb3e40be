"""A kernel that a launch starts: one thread for each element of the out streams' domain.

    kernel void f(float a<>, float g[][], out float o<>, float s)
        float *a, float *g, int g_width, float *o, float s, int width, int height
        thread (x, y) with x < width, y < height:
            float o';  f(a[y·width + x], g, g_width, &o', s);  o[y·width + x] = o'

    kernel void f(float g[][][], out float o<>)
        float *g, int g_width, int g_height, float *o, int width, int height, int depth
        thread (x, y, z): element (z·height + y)·width + x; g[c][b][a] is (c·g_height + b)·g_width + a

    reduce void r(float a<>, reduce float s<>)
        float *a, int a_width, int a_height, float *s, int width, int height
        thread (x, y) reduces the a_width/width by a_height/height elements that belong to it, row by row: s' is the
        first of them, then r(a[…], &s') for each of the others

Streams lie in memory row by row, as those of Brook do ("Brook Language", Streams). In which order elements are reduced
Brook does not say, as r has to be associative; here it is that of memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.source import Span
from warpsmith.front.brook.expressions import position
from warpsmith.front.brook.functions import BrookFunctions
from warpsmith.front.brook.nodes import BrookDefinition, BrookKernel, BrookParameter
from warpsmith.tree.device import DeviceTraits
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    If,
    Index,
    Literal,
    Name,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import INT, VOID, FunctionType, Pointer, Symbol, Type

__all__ = ["make_kernel"]


def make_kernel(functions: BrookFunctions, definition: BrookDefinition, *, guarded: bool = True) -> BrookKernel:
    """Return a kernel of a definition that a launch can start; `guarded`: the grid may have more threads than the
    domain. Raises BrookTextError."""
    return _Maker(functions, definition, guarded).make()


class _Maker:
    """Makes one kernel."""

    def __init__(self, functions: BrookFunctions, definition: BrookDefinition, guarded: bool) -> None:
        self.definition, self.guarded = definition, guarded
        self.called = functions.function(definition.name)
        self.span = self.called.span
        self.place = definition.span
        self.taken = {one.name for one in definition.parameters}
        self.sizes: dict[str, tuple[Symbol, ...]] = {}
        self.pointers: dict[str, Symbol] = {}
        self.constants: dict[str, Symbol] = {}
        self.parameters: list[Symbol] = []

    def make(self) -> BrookKernel:
        """Return the kernel."""
        for one in self.definition.parameters:
            self._parameter(one)
        names = ("width", "height", "depth") if self.definition.solid else ("width", "height")
        domain = tuple(self._size(name) for name in names)
        self.parameters += domain
        self.width, self.height, *_ = self.domain = domain
        work = self._reduce() if self.definition.form == "reduce" else self._map()
        guard = [self._guard()] if self.guarded else []
        body = Block(span=self.span, statements=(*guard, *work))
        kind = FunctionType(VOID, tuple(one.type for one in self.parameters))
        symbol = Symbol(self.definition.name, f"brook:launched:{self.definition.name}", kind, "function", self.place)
        function = Function(
            span=self.span, symbol=symbol, parameters=tuple(self.parameters), body=body, static=False,
            device=DeviceTraits(kernel=True),
        )  # fmt: skip
        return BrookKernel(self.definition, function, self.sizes, domain)

    # --- parameters

    def _symbol(self, name: str, type: Type, span: Span) -> Symbol:
        return Symbol(name, f"brook:kernel:{self.definition.name}:{name}", type, "parameter", span)

    def _size(self, name: str, span: Span | None = None) -> Symbol:
        while name in self.taken:
            name = f"domain_{name}"
        self.taken.add(name)
        return self._symbol(name, INT, span or self.place)

    def _parameter(self, one: BrookParameter) -> None:
        if one.kind == "constant":
            made = self.constants[one.name] = self._symbol(one.name, one.type, one.span)
            self.parameters.append(made)
            return
        pointer = self.pointers[one.name] = self._symbol(one.name, Pointer(one.type, space="global"), one.span)
        self.parameters.append(pointer)
        reduced = self.definition.form == "reduce" and one.kind == "stream"
        names = ("width", "height")[: 2 if reduced else max(0, one.axes - 1)]
        self.sizes[one.name] = tuple(self._size(f"{one.name}_{name}", one.span) for name in names)
        self.parameters += self.sizes[one.name]

    # --- nodes

    def _name(self, symbol: Symbol) -> Expr:
        return Name(span=self.place, type=symbol.type, symbol=symbol)

    def _number(self, value: int) -> Expr:
        return Literal(span=self.place, type=INT, text=str(value), value=value)

    def _of(self, op: str, left: Expr, right: Expr) -> Expr:
        return Binary(span=self.place, type=INT, op=op, left=left, right=right)

    def _element(self, one: BrookParameter, index: Expr) -> Expr:
        return Index(span=one.span, type=one.type, base=self._name(self.pointers[one.name]), index=index)

    def _here(self) -> Expr:
        line = position(1, self.place)
        if self.definition.solid:
            line = self._of("+", self._of("*", position(2, self.place), self._name(self.height)), line)
        return self._of("+", self._of("*", line, self._name(self.width)), position(0, self.place))

    def _guard(self) -> Stmt:
        beyond = [self._of(">=", position(axis, self.place), self._name(size)) for axis, size in enumerate(self.domain)]
        outside = beyond[0]
        for one in beyond[1:]:
            outside = self._of("|", outside, one)
        return If(span=self.place, condition=outside, then=Return(span=self.place, value=None), other=None)

    def _declare(self, one: BrookParameter, init: Expr | None) -> tuple[Symbol, Stmt]:
        key = f"brook:kernel:{self.definition.name}:{one.name}:own"
        symbol = Symbol(one.name, key, one.type, "local", one.span)
        declared = VarDecl(span=one.span, symbol=symbol, init=init)
        return symbol, DeclStmt(span=one.span, declarations=(declared,))

    def _declare_count(self, name: str, init: Expr) -> tuple[Symbol, Stmt]:
        symbol = Symbol(name, f"brook:kernel:{self.definition.name}:{name}:own", INT, "local", self.place)
        return symbol, DeclStmt(span=self.place, declarations=(VarDecl(span=self.place, symbol=symbol, init=init),))

    def _address(self, symbol: Symbol) -> Expr:
        type = Pointer(symbol.type, reference=True)
        return Unary(span=self.place, type=type, op="&", operand=self._name(symbol))

    def _store(self, one: BrookParameter, symbol: Symbol) -> Stmt:
        target = self._element(one, self._here())
        value = Assign(span=one.span, type=one.type, op="=", target=target, value=self._name(symbol))
        return ExprStmt(span=one.span, expr=value)

    def _call(self, given: dict[str, Expr]) -> Stmt:
        """Return the call of the kernel's own text; `given`: its streams."""
        arguments: list[Expr] = []
        for one in self.definition.parameters:
            if one.name in given:
                arguments.append(given[one.name])
            elif one.kind == "constant":
                arguments.append(self._name(self.constants[one.name]))
            else:
                arguments += [self._name(self.pointers[one.name]), *map(self._name, self.sizes[one.name])]
        function = Name(span=self.place, type=self.called.symbol.type, symbol=self.called.symbol)
        call = Call(span=self.place, type=VOID, function=function, arguments=tuple(arguments))
        return ExprStmt(span=self.place, expr=call)

    # --- bodies

    def _map(self) -> Iterator[Stmt]:
        given: dict[str, Expr] = {}
        ends: list[Stmt] = []
        for one in self.definition.parameters:
            if one.kind == "stream":
                given[one.name] = self._element(one, self._here())
            elif one.kind == "out":
                symbol, declared = self._declare(one, None)
                yield declared
                given[one.name] = self._address(symbol)
                ends.append(self._store(one, symbol))
        yield self._call(given)
        yield from ends

    def _reduce(self) -> Iterator[Stmt]:
        """Yield the loop over the elements that belong to the thread."""
        parameters = self.definition.parameters
        stream = next(one for one in parameters if one.kind == "stream")
        result = next(one for one in parameters if one.kind == "reduce")
        wide, high = map(self._name, self.sizes[stream.name])
        across, first = self._declare_count("across", self._of("/", wide, self._name(self.width)))
        down, second = self._declare_count("down", self._of("/", high, self._name(self.height)))
        yield from (first, second)
        column = self._of("*", position(0, self.place), self._name(across))
        row = self._of("*", position(1, self.place), self._name(down))
        start = self._of("+", self._of("*", row, wide), column)
        symbol, declared = self._declare(result, self._element(stream, start))
        yield declared
        line, first_line = self._declare_count("line", self._number(0))
        number, first_number = self._declare_count("number", self._number(0))
        inside = self._of("+", self._of("*", self._name(line), wide), self._name(number))
        given = {stream.name: self._element(stream, self._of("+", start, inside)), result.name: self._address(symbol)}
        others = self._of("!=", self._of("|", self._name(line), self._name(number)), self._number(0))
        body = If(span=self.place, condition=others, then=self._call(given), other=None)
        yield self._count(first_line, line, down, self._count(first_number, number, across, body))
        yield self._store(result, symbol)

    def _count(self, init: Stmt, counter: Symbol, end: Symbol, body: Stmt) -> Stmt:
        """Return the loop that counts from where `init` starts to before `end`."""
        return While(
            span=self.span, form="for", init=init, condition=self._of("<", self._name(counter), self._name(end)),
            advance=Unary(span=self.place, type=INT, op="++x", operand=self._name(counter)), body=body,
            header=self.place, reason="",
        )  # fmt: skip
