"""Functions of host code as trees, which are run and never compiled: C with streams.

    float s<1024, 1024>;        streamRead(s, array);    streamWrite(s, array);    f(s, g, 2.0f);

A call names a kernel (`brook:kernel:f`), another function of the file (`brook:host:f`), or one of the library that is
known here (`brook:library:pow`). What else there is in C is refused with its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.front.brook.cursor import BrookCursor, BrookScope, HostStream, Variable
from warpsmith.front.brook.expressions import BrookArgument
from warpsmith.front.brook.nodes import BrookDefinition
from warpsmith.front.brook.read import BrookText
from warpsmith.front.brook.statements import STREAM, BrookStatements
from warpsmith.front.brook.tokens import BrookTextError, BrookWord
from warpsmith.tree.nodes import Call, Expr, Function, Name
from warpsmith.tree.types import DOUBLE, FLOAT, INT, VOID, FunctionType, Pointer, Symbol, Type

__all__ = ["LIBRARY", "BrookHost", "read_host"]

LIBRARY: Final[Mapping[str, tuple[Type, int]]] = {
    **dict.fromkeys(("pow", "fmod"), (DOUBLE, 2)),
    **dict.fromkeys(("sqrt", "floor", "ceil", "fabs", "sin", "cos", "exp", "log", "log2"), (DOUBLE, 1)),
    **dict.fromkeys(("fabsf", "sqrtf", "floorf"), (FLOAT, 1)),
    "abs": (INT, 1), **dict.fromkeys(("malloc", "brmalloc"), (Pointer(VOID), 1)),
    **dict.fromkeys(("free", "brfree"), (VOID, 1)), **dict.fromkeys(("printf", "fprintf", "fflush"), (INT, -1)),
    "atoi": (INT, 1), "atof": (DOUBLE, 1), "exit": (VOID, 1),
    "streamRead": (VOID, 2), "streamWrite": (VOID, 2),
}  # fmt: skip
"""What a function of the library returns, and how many arguments it takes (-1: any)."""


class BrookHost(Struct, frozen=True):
    """A function with those that it calls, by their names; `elements`: the types of streams' elements, by keys."""

    function: Function
    called: Mapping[str, Function]
    elements: Mapping[str, Type]


def read_host(text: BrookText, name: str) -> BrookHost:
    """Return a host function of a text, and those that it calls; raises InputError with what is wrong."""
    reader = _HostFunctions(text)
    try:
        function = reader.read(name)
    except (BrookTextError, _AsideError) as error:
        raise InputError(error.finding) from error
    return BrookHost(function, reader.made, reader.elements)


class _AsideError(Exception):
    """Host code comes to what is not read here."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class _HostFunctions:
    """Reads host functions as they are called."""

    solid = False

    def __init__(self, text: BrookText) -> None:
        self.text = text
        self.made: dict[str, Function] = {}
        self.elements: dict[str, Type] = {}
        self._open: list[str] = []

    def read(self, name: str) -> Function:
        """Return a function of the file."""
        if name in self.text.aside:
            raise _AsideError(self.text.aside[name])
        definition = self.text.definitions[name]
        if name in self._open:
            raise BrookTextError(definition.span, f"{name} calls itself, which host code may not here", "write a loop")
        if name not in self.made:
            self._open.append(name)
            self.made[name] = self._read(definition)
            self._open.pop()
        return self.made[name]

    def _read(self, definition: BrookDefinition) -> Function:
        scope, parameters = BrookScope(), list[Symbol]()
        for one in definition.parameters:
            if one.kind == "stream":
                made = Symbol(one.name, f"brook:host:{definition.name}:{one.name}", STREAM, "parameter", one.span)
                scope.declare(BrookWord("word", one.name, one.span), HostStream(made, one.type))
                self.elements[made.key] = one.type
                parameters.append(made)
                continue
            if one.kind not in ("gather", "constant"):
                helps = f"a host function takes numbers, arrays and streams: float {one.name}<>"
                raise BrookTextError(one.span, f"'{one.name}' of a host function is written as a whole", helps)
            type: Type = one.type
            for _ in range(one.axes):
                type = Pointer(type)
            symbol = Symbol(one.name, f"brook:host:{definition.name}:{one.name}", type, "parameter", one.span)
            scope.declare(BrookWord("word", one.name, one.span), Variable(symbol))
            parameters.append(symbol)
        at = BrookCursor(self.text.words, definition.first)
        key = f"brook:host:{definition.name}"
        reader = BrookStatements(at, scope, self, key, definition.result, host=True)
        body = reader.block()
        self.elements |= reader.elements
        kind = FunctionType(definition.result, tuple(one.type for one in parameters))
        symbol = Symbol(definition.name, key, kind, "function", definition.span)
        span = Span(body.span.file, definition.span.start, body.span.end)
        return Function(span=span, symbol=symbol, parameters=tuple(parameters), body=body, static=False)

    def call(self, name: BrookWord, arguments: Sequence[BrookArgument], span: Span) -> Expr:
        """Return a call; raises BrookTextError where there is no such function."""
        if name.text in self.text.aside:
            raise _AsideError(self.text.aside[name.text])
        definition = self.text.definitions.get(name.text)
        if definition is not None and definition.form != "function":
            if name.text not in self.text.kernels:
                helps = "host code calls kernels that write streams"
                raise BrookTextError(name.span, f"{name.text} is no kernel that runs by itself", helps)
            key = f"brook:kernel:{name.text}"
            return _made((key, VOID, len(definition.parameters)), name, arguments, span)
        if definition is not None:
            self.read(name.text)
            key = f"brook:host:{name.text}"
            return _made((key, definition.result, len(definition.parameters)), name, arguments, span)
        if name.text in LIBRARY:
            result, count = LIBRARY[name.text]
            return _made((f"brook:library:{name.text}", result, count), name, arguments, span)
        near = get_close_matches(name.text, [*self.text.definitions, *LIBRARY], n=1)
        helps = f"did you mean '{near[0]}'?" if near else "leave it out, or run the kernels one by one (--kernel)"
        raise BrookTextError(name.span, f"host code calls {name.text}, which is not known here", helps)


def _made(called: tuple[str, Type, int], name: BrookWord, arguments: Sequence[BrookArgument], span: Span) -> Expr:
    """Return a call; `called`: the key of the function, what it returns, how many arguments it takes."""
    key, result, count = called
    if count not in (-1, len(arguments)):
        raise BrookTextError(span, f"{name.text} takes {count} arguments, and here is {len(arguments)}")
    given = tuple(map(_given, arguments))
    kind = FunctionType(result, tuple(one.type for one in given))
    function = Name(span=name.span, type=kind, symbol=Symbol(name.text, key, kind, "function"))
    return Call(span=span, type=result, function=function, arguments=given)


def _given(argument: BrookArgument) -> Expr:
    if argument.value is not None:
        return argument.value
    assert isinstance(argument.named, HostStream)
    return Name(span=argument.span, type=STREAM, symbol=argument.named.symbol)
