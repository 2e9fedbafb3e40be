"""The functions of a C++ unit: methods, what templates made, and places that only list their loops.

    struct S { void step() { for … } };       S::step, with `this` as its first parameter
    template <class T> void scale(…)          scale<double>, scale<float>: one function an instance, one text
    template <class T> void never(…)          never: its loops are listed; without types nothing is known of them
    auto f = [&](int i) { for … };            main::lambda@31: listed; where it is called, it may stand in place

Invariant: every loop in the user's text is in a function of the unit, and a text that several instances share is never
rewritten for one of them: only a function that alone has its text is an item of the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.c.statements import Statements
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import PATTERN
from warpsmith.front.cxx.instances import with_instances
from warpsmith.front.cxx.statements import CxxStatements
from warpsmith.tree.nodes import NOT_MADE, Block, Function
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.printing.references import OBJECT_KEY
from warpsmith.tree.types import VOID, FunctionType, Symbol, Type

__all__ = ["find_unique", "more_functions", "own_object"]

_IN_LAMBDA = "the body of a lambda"
_BY_MACRO = "a function that a macro writes"


def own_object(symbol: Symbol, span: Span) -> Symbol | None:
    """Return the parameter `this` of a method; None for other functions."""
    type = symbol.type
    if not isinstance(type, FunctionType) or not type.method:
        return None
    return Symbol(
        "this", f"{symbol.key}{OBJECT_KEY}", type.parameters[0], "parameter", Span(span.file, span.start, span.start)
    )


def more_functions(
    context: Context, known: list[Function], build: Callable[[int, FileText], Function | None]
) -> list[Function]:
    """Return the functions `known`, those inside classes, those that templates made, and the listings."""
    found = list(known)
    places = {_place(function) for function in known}
    patterns: list[tuple[int, FileText]] = []
    instances = {row for row, _ in context.dump.instances}
    for row, number, pattern in _rows(context):
        text = context.text(number)
        if pattern:
            patterns.append((row, text))
            continue
        start, end = context.table.range(row, text.uses)
        if (text.file.path, start, end) in places and row not in instances:
            continue
        made = build(row, text)
        if made is not None:
            found.append(made)
        elif row not in instances:
            patterns.append((row, text))
    made_of = {(f.body.span.file.path, f.body.span.start) for f in found}
    for row, text in patterns:
        body = context.table.whole_body(row)
        if body is not None and (text.file.path, context.table.start[body]) not in made_of:
            listing = _listing(context, text, row, body)
            if listing is not None:
                found.append(listing)
    found += _lambdas(context, found)
    main = context.text(0).file.path
    found.sort(key=lambda f: (f.span.file.path == main, f.span.file.path, f.span.start))
    return [*_label_overloads([*with_instances(context, found)])]


def find_unique(context: Context, functions: list[Function]) -> list[Function]:
    """Return the functions of the unit's own files that alone have their text."""
    files = {id(context.text(number).file) for number in context.own}
    counts = Counter(_place(function) for function in functions)
    kept = [f for f in functions if id(f.span.file) in files and counts[_place(f)] == 1]
    return [f for f in kept if not any(o is not f and _inside(f.span, o.body.span) for o in kept)]


def _inside(inner: Span, outer: Span) -> bool:
    return inner.file is outer.file and outer.start <= inner.start and inner.end <= outer.end


def _place(function: Function) -> tuple[str, int, int]:
    return function.span.file.path, function.span.start, function.span.end


def _rows(context: Context) -> Iterator[tuple[int, int, bool]]:
    """Yield every function with a body: its row, its file, and whether it is (in) a template's own text."""
    table = context.table
    for tops in (context.dump.tops, context.dump.instances):
        for top, number in tops:
            template = -1
            for row in range(top, table.after[top]):
                if row >= template:
                    template = -1
                if table.kind[row] in kinds.TEMPLATES and template < 0:
                    template = table.after[row]
                if table.kind[row] in kinds.FUNCTIONS or table.kind[row] == kinds.FUNCTION_TEMPLATE:
                    body = table.whole_body(row)
                    if body is not None:
                        pattern = bool(context.detail(table.aux[row])[3] & PATTERN)
                        yield row, number, pattern or template >= 0


def _listing(context: Context, text: FileText, row: int, body: int) -> Function | None:
    """Return a function that has the loops of a template's text, of which nothing is known; None without loops."""
    symbol = context.symbol(context.table.aux[row])
    in_macro = context.table.begins_in_macro(body)
    return _only_loops(context, text, (row, body), symbol, _BY_MACRO if in_macro else NOT_MADE)


def _only_loops(
    context: Context, text: FileText, place: tuple[int, int], symbol: Symbol, reason: str
) -> Function | None:
    row, body = place
    loops = CxxStatements(Statements(context, text, Knowledge(references=True), {})).list_loops(body, reason)
    if not loops:
        return None
    type = symbol.type if isinstance(symbol.type, FunctionType) else FunctionType(VOID, ())
    symbol = msgspec.structs.replace(symbol, type=msgspec.structs.replace(type, parameters=(), method=False))
    block = Block(span=Span(text.file, *context.table.range(body, text.uses)), intact=True, statements=loops)
    start, end = context.table.range(row, text.uses)
    return Function(
        span=Span(text.file, start, end), intact=True, symbol=symbol, parameters=(), body=block, static=True
    )


def _lambdas(context: Context, functions: list[Function]) -> Iterator[Function]:
    """Yield a listing for every lambda with loops that does not stand in place of its call."""
    table = context.table
    seen: set[tuple[int, int]] = set()
    for tops in (context.dump.tops, context.dump.instances):
        for top, number in tops:
            for row in range(top, table.after[top]):
                if table.kind[row] != kinds.LAMBDA or (number, table.start[row]) in seen:
                    continue
                seen.add((number, table.start[row]))
                body, text = table.body(row), context.text(number)
                if body is None or (number, table.start[row]) in context.in_place:
                    continue
                around = [
                    f for f in functions if _inside(Span(text.file, table.start[row], table.end[row]), f.body.span)
                ]
                line = text.file.location(table.start[row])[0]
                holder = (around[-1].symbol.label or around[-1].symbol.name) + "::" if around else ""
                label = f"{holder}lambda@{line}"
                symbol = Symbol(
                    label, f"{text.file.path}:{table.start[row]}:lambda", FunctionType(VOID, ()), "function"
                )
                made = _only_loops(context, text, (row, body), symbol, _IN_LAMBDA)
                if made is not None:
                    yield made


def _label_overloads(functions: list[Function]) -> Iterator[Function]:
    """Yield the functions with labels that tell overloads apart."""
    keys: dict[str, set[str]] = {}
    for function in functions:
        keys.setdefault(_label(function), set()).add(function.symbol.key)
    for function in functions:
        if len(keys[_label(function)]) == 1:
            yield function
            continue
        type = function.symbol.type
        parameters = type.parameters[1 if type.method else 0 :] if isinstance(type, FunctionType) else ()
        label = f"{_label(function)}({','.join(_words(p) for p in parameters)})"
        yield msgspec.structs.replace(function, symbol=msgspec.structs.replace(function.symbol, label=label))


def _words(type: Type) -> str:
    return print_type(type).replace(" ", "")


def _label(function: Function) -> str:
    return function.symbol.label or function.symbol.name
