"""Functions that kernels call: others of the file, those of the prelude, and what the hardware does.

    kernel float h(float x)                   h(x): the value                      a function of the device
    kernel void k(float a<>, out float o<>)   k(x, y): o is the variable y         streams are values, o a place
    kernel void s(float g[][])                s(g): the gather goes on             a pointer, and the width of rows
    fmod, clamp …                             a function for each type of vector   prelude.br

Every function is read when it is called first, so that the text may have them in any order; one that calls itself is
refused, as hardware has no stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.brook.cursor import BrookCursor, BrookScope, Gather, Variable
from warpsmith.front.brook.definitions import find_definitions
from warpsmith.front.brook.expressions import BrookArgument
from warpsmith.front.brook.kinds import TYPE_NAMES, element_of, is_number, lanes_of_kind, shown_type
from warpsmith.front.brook.nodes import BrookDefinition, BrookParameter
from warpsmith.front.brook.operators import call_builtin, converted, is_place
from warpsmith.front.brook.statements import BrookStatements
from warpsmith.front.brook.tokens import BrookTextError, BrookWord, split_words
from warpsmith.tree.device import DeviceTraits
from warpsmith.tree.nodes import Block, Call, Cast, Expr, Function, Name, Unary
from warpsmith.tree.types import DOUBLE, FLOAT, INT, FunctionType, Pointer, Record, Symbol, Type, common_type, is_float

__all__ = ["BrookFunctions"]

_FLOATS: Final = {
    "floor": 1, "ceil": 1, "trunc": 1, "rint": 1, "sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1, "tan": 1, "asin": 1,
    "acos": 1, "atan": 1, "exp": 1, "exp2": 1, "log": 1, "log2": 1, "pow": 2, "atan2": 2, "mad": 3,
}  # fmt: skip
"""Functions of floats, or of vectors number by number, and how many arguments they take."""
_HARDWARE: Final = {name: f"native_{name}" for name in ("sin", "cos", "exp2", "log2", "rsqrt")}
"""What hardware has of its own, as fast as it is exact there."""
_NAMED: Final = {"min": "fmin", "max": "fmax", "abs": "fabs"}
"""Functions of all numbers, by what they are called for floats."""
_PRODUCTS: Final = {"dot": 2, "length": 1, "distance": 2}
"""Functions of vectors of floats that give one number."""


class _Source(Struct, frozen=True):
    """Where definitions are read; `ours`: the text is no user's."""

    words: Sequence[BrookWord]
    definitions: Mapping[str, BrookDefinition]
    ours: bool = False


@cache
def _prelude() -> _Source:
    place = Path(__file__).with_name("prelude.br")
    file = SourceFile("<brook>", place.read_text())
    words = split_words(file)
    defined = find_definitions(BrookCursor(words), {**TYPE_NAMES, "T": FLOAT})
    return _Source(words, defined.found, ours=True)


class BrookFunctions:
    """Makes the functions that are called; `made` has them by their keys; `solid`: threads of some kernels lie in
    layers."""

    def __init__(self, words: Sequence[BrookWord], definitions: Mapping[str, BrookDefinition]) -> None:
        self.own = _Source(words, definitions)
        self.solid = any(one.solid for one in definitions.values())
        self.made: dict[str, Function] = {}
        self._open: list[str] = []

    def call(self, name: BrookWord, arguments: Sequence[BrookArgument], span: Span) -> Expr:
        """Return a call; raises BrookTextError where there is no such function, or its arguments do not fit."""
        if name.text in self.own.definitions:
            return self._defined(self.own, name, arguments, span, FLOAT)
        values = [self._value(name, one) for one in arguments]
        if name.text in _prelude().definitions:
            return self._defined(_prelude(), name, arguments, span, _widest(name, values))
        return self._built_in(name, values, span)

    def _value(self, name: BrookWord, argument: BrookArgument) -> Expr:
        if argument.value is None:
            raise BrookTextError(argument.span, f"{name.text} takes no streams", "take an element of it")
        return argument.value

    # --- what the hardware does

    def _built_in(self, name: BrookWord, values: list[Expr], span: Span) -> Expr:
        text = name.text
        if text in _FLOATS:
            self._count(name, values, _FLOATS[text], span)
            type = _widest(name, values)
            given = tuple(_as_float(one, type) for one in values)
            return call_builtin(_HARDWARE.get(text, text) if type != DOUBLE else text, type, given, span)
        if text in _NAMED:
            self._count(name, values, 1 if text == "abs" else 2, span)
            return _of_numbers(name, values, span)
        if text in _PRODUCTS:
            self._count(name, values, _PRODUCTS[text], span)
            type = _widest(name, values)
            if not isinstance(type, Record):
                raise BrookTextError(span, f"{text} takes vectors of floats, and this is {shown_type(type)}")
            return call_builtin(text, FLOAT, tuple(converted(one, type, "an argument") for one in values), span)
        if text == "normalize":
            self._count(name, values, 1, span)
            return call_builtin(text, _widest(name, values), tuple(values), span)
        raise self._unknown(name)

    def _count(self, name: BrookWord, values: Sequence[object], wanted: int, span: Span) -> None:
        if len(values) != wanted:
            counted = f"{wanted} argument{'' if wanted == 1 else 's'}"
            raise BrookTextError(span, f"{name.text} takes {counted}, and here is {len(values)}")

    def _unknown(self, name: BrookWord) -> BrookTextError:
        known = [
            *self.own.definitions,
            *_prelude().definitions,
            *_FLOATS,
            *_NAMED,
            *_PRODUCTS,
            "normalize",
            *TYPE_NAMES,
        ]
        near = get_close_matches(name.text, known, n=1)
        helps = f"did you mean '{near[0]}'?" if near else "define it in this file: kernel float f(float x) { … }"
        return BrookTextError(name.span, f"there is no function {name.shown} for kernels", helps)

    # --- what a text defines

    def _defined(
        self, source: _Source, name: BrookWord, arguments: Sequence[BrookArgument], span: Span, type: Type
    ) -> Expr:
        definition = source.definitions[name.text]
        self._count(name, arguments, len(definition.parameters), span)
        made = self.function(name.text, source, type, name.span)
        given: list[Expr] = []
        for argument, parameter in zip(arguments, definition.parameters, strict=True):
            bound = replace(parameter, type=type) if source.ours else parameter
            given += _passed(name, argument, bound)
        kind = made.symbol.type
        assert isinstance(kind, FunctionType)
        function = Name(span=name.span, type=kind, symbol=made.symbol)
        return Call(span=span, type=kind.result, function=function, arguments=tuple(given))

    def function(
        self, name: str, source: _Source | None = None, type: Type = FLOAT, at: Span | None = None
    ) -> Function:
        """Return a function in the form that others call; `type`: what T stands for."""
        source = source or self.own
        definition = source.definitions[name]
        key = f"brook:{name}:{shown_type(type)}" if source.ours else f"brook:{definition.span.start}:{name}"
        if key in self._open:
            helps = "kernels have no stack: write a loop"
            raise BrookTextError(at or definition.span, f"{name} calls itself", helps)
        if key not in self.made:
            self._open.append(key)
            try:
                self.made[key] = self._read(source, definition, key, type)
            finally:
                self._open.pop()
        return self.made[key]

    def _read(self, source: _Source, definition: BrookDefinition, key: str, type: Type) -> Function:
        result = type if source.ours else definition.result
        scope, parameters = BrookScope(), list[Symbol]()
        for one in definition.parameters:
            bound = replace(one, type=type) if source.ours else one
            parameters += _declare(scope, bound, key)
        reader = BrookStatements(BrookCursor(source.words, definition.first), scope, self, key, result)
        if source.ours:
            reader.kinds = {**TYPE_NAMES, "T": type}
        body = reader.block()
        kind = FunctionType(result, tuple(one.type for one in parameters))
        symbol = Symbol(definition.name, key, kind, "function", definition.span)
        return Function(
            span=_whole(definition, body), symbol=symbol, parameters=tuple(parameters), body=body, static=True,
            device=DeviceTraits(kernel=False, ours=source.ours),
        )  # fmt: skip


def _whole(definition: BrookDefinition, body: Block) -> Span:
    return Span(body.span.file, definition.span.start, body.span.end)


def _declare(scope: BrookScope, one: BrookParameter, prefix: str) -> Iterator[Symbol]:
    """Yield the symbols of a parameter, and give its name its meaning."""
    word, key = BrookWord("word", one.name, one.span), f"{prefix}:{one.name}"
    if one.pointer or isinstance(one.type, Pointer):
        raise BrookTextError(one.span, f"'{one.name}' is a pointer, and kernels have none", f"a gather: {one.name}[]")
    match one.kind:
        case "gather" | "scatter":
            pointer = Symbol(one.name, key, Pointer(one.type, space="global"), "parameter", one.span)
            sizes = tuple(
                Symbol(f"{one.name}_{name}", f"{key}:{name}", INT, "parameter", one.span)
                for name in ("width", "height")[: one.axes - 1]
            )
            scope.declare(word, Gather(pointer, one.type, one.axes, sizes, one.kind == "scatter"))
            yield from (pointer, *sizes)
        case "out" | "place" | "reduce":
            place = Symbol(one.name, key, Pointer(one.type, reference=True), "parameter", one.span)
            scope.declare(word, Variable(place, reference=True, stream=one.kind != "place"))
            yield place
        case "stream" | "constant":
            symbol = Symbol(one.name, key, one.type, "parameter", one.span)
            scope.declare(word, Variable(symbol, writable=one.kind != "stream", stream=one.kind == "stream"))
            yield symbol


def _passed(name: BrookWord, argument: BrookArgument, parameter: BrookParameter) -> Iterator[Expr]:
    """Yield what a function gets for one of its parameters."""
    what = f"'{parameter.name}' of {name.text}"
    match parameter.kind:
        case "gather" | "scatter":
            yield from _gather_passed(what, argument, parameter)
        case "out" | "place" | "reduce":
            value = argument.value
            if value is None or not is_place(value) or value.type != parameter.type:
                message = f"{what} is written, and needs a variable of type {shown_type(parameter.type)}"
                raise BrookTextError(argument.span, message)
            named = argument.named
            if isinstance(named, Variable) and not named.writable:
                raise BrookTextError(argument.span, f"{what} is written, and this is an in stream", "use a variable")
            type = Pointer(value.type, reference=True)
            yield Unary(span=argument.span, type=type, op="&", operand=value)
        case "stream" | "constant":
            if argument.value is None:
                raise BrookTextError(argument.span, f"{what} is a value, and this is a gather", "take an element of it")
            yield converted(argument.value, parameter.type, what)


def _gather_passed(what: str, argument: BrookArgument, parameter: BrookParameter) -> Iterator[Expr]:
    gather = argument.named
    if not isinstance(gather, Gather) or gather.axes != parameter.axes or gather.element != parameter.type:
        subscripts = "[]" * parameter.axes
        raise BrookTextError(argument.span, f"{what} is a gather", f"give a {shown_type(parameter.type)} g{subscripts}")
    if parameter.kind == "scatter" and not gather.writable:
        raise BrookTextError(argument.span, f"{what} is written, and this gather is not", "declare it with out")
    for symbol in (gather.pointer, *gather.sizes):
        yield Name(span=argument.span, type=symbol.type, symbol=symbol)


def _widest(name: BrookWord, values: Sequence[Expr]) -> Type:
    """Return the type of floats that all arguments can have: a vector where one is, else a float or double."""
    vectors = [one.type for one in values if isinstance(one.type, Record)]
    for one in values:
        if not lanes_of_kind(one.type):
            raise BrookTextError(one.span, f"{name.text} takes numbers, and this is {shown_type(one.type)}")
    if vectors:
        odd = next((one for one in values if isinstance(one.type, Record) and one.type != vectors[0]), None)
        if odd is not None or not is_float(element_of(vectors[0])):
            shown = next(one for one in values if isinstance(one.type, Record)) if odd is None else odd
            raise BrookTextError(
                shown.span, f"{name.text} takes vectors of floats, of one type", "convert it: (float4)v"
            )
        return vectors[0]
    return next((one.type for one in values if is_float(one.type) and one.type != FLOAT), FLOAT)


def _as_float(value: Expr, type: Type) -> Expr:
    return value if value.type == type else Cast(span=value.span, type=type, operand=value)


def _of_numbers(name: BrookWord, values: list[Expr], span: Span) -> Expr:
    """Return a call of min, max or abs, of floats or of integers."""
    if any(isinstance(one.type, Record) or is_float(one.type) for one in values):
        type = _widest(name, values)
        given = tuple(_as_float(one, type) for one in values)
        return call_builtin(_NAMED[name.text], type, given, span)
    type = values[0].type if len(values) == 1 else common_type(values[0].type, values[-1].type)
    if not all(is_number(one.type) for one in values):
        raise BrookTextError(span, f"{name.text} takes numbers")
    return call_builtin(name.text, type, tuple(_as_float(one, type) for one in values), span)
