"""Variables of a generated function that only repeat a parameter: the parameter takes their place, and their name.

    void ws_f_1(int n_, double *value)                      void ws_f_1(int n, double *row)
    {                                                       {
        int n = n_;                                 →           launch(row, n);
        double *row = value;                                }
        launch(row, n);
    }

Invariant: neither the variable nor the parameter gets another value, both have the same type, and nothing else of the
function has the variable's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import partial

import msgspec.structs
from msgspec import Struct

from warpsmith.base.records import field_names
from warpsmith.emit.host.outline.model import GuardTest, PassedArgument
from warpsmith.emit.host.outline.statements import declared, find_set_anew
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import DeclStmt, Name, Node, Stmt, VarDecl, replace
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild, walk

__all__ = ["FunctionText", "without_copies"]

Run = tuple[Stmt, ...]


class FunctionText(Struct, frozen=True):
    """The text of a function: `run`, as it is `planned` in the user's names, `lead` of it in front of the `tests`."""

    arguments: tuple[PassedArgument, ...]
    tests: tuple[GuardTest, ...]
    run: Run
    planned: Run
    lead: int


def without_copies(text: FunctionText, kept: Collection[Symbol]) -> FunctionText:
    """Return the text of a function without the variables that repeat a parameter, those `kept` for others left out."""
    copies = dict(_find_copies(text, kept))
    if not copies:
        return text
    named: dict[Symbol, Symbol] = {}
    for copy, parameter in copies.items():
        named.setdefault(parameter, msgspec.structs.replace(parameter, name=copy.name))
    change = partial(_renamed, {**named, **{copy: named[parameter] for copy, parameter in copies.items()}})
    staying = [n for n, stmt in enumerate(text.run) if not _declares_only(stmt, copies)]
    return FunctionText(
        tuple(_argument(one, named) for one in text.arguments),
        tuple(_test(test, copies, change) for test in text.tests),
        tuple(rebuild(text.run[n], change) for n in staying),
        tuple(text.planned[n] for n in staying),
        sum(n < text.lead for n in staying),
    )


def _find_copies(text: FunctionText, kept: Collection[Symbol]) -> Iterator[tuple[Symbol, Symbol]]:
    """Yield variables, each with the parameter that it repeats."""
    parameters = {one.parameter for one in text.arguments}
    before = tuple(one for test in text.tests for one in test.before)
    conditions = [test.condition for test in text.tests if test.condition is not None]
    parts = [part for root in (*before, *conditions, *text.run) for part in walk(root)]
    fixed = {*find_set_anew(parts), *kept}
    names = Counter(symbol.name for root in (*before, *text.run) for symbol in declared((root,)))
    fixed |= {symbol for part in parts if not isinstance(part, Name | VarDecl) for symbol in _symbols(part)}
    for stmt in (*before, *text.run):
        if not (isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1):
            continue
        copy, value = stmt.declarations[0].symbol, stmt.declarations[0].init
        repeats = isinstance(value, Name) and value.symbol in parameters and value.symbol.type == copy.type
        repeats = repeats and names[copy.name] == 1
        if isinstance(value, Name) and repeats and fixed.isdisjoint((copy, value.symbol)):
            yield copy, value.symbol


def _symbols(node: Node) -> Iterator[Symbol]:
    """Yield the variables that a node names otherwise than by a `Name` below it; what it says of the user's is no
    variable of the function."""
    yield from find_named(node)
    yield from (
        one for name in field_names(node) if name != "variable" and isinstance(one := getattr(node, name), Symbol)
    )


def _renamed(names: Mapping[Symbol, Symbol], node: Node) -> Node:
    known = names.get(node.symbol) if isinstance(node, Name) else None
    return node if known is None or not isinstance(node, Name) else replace(node, symbol=known)


def _declares_only(stmt: Stmt, copies: Mapping[Symbol, Symbol]) -> bool:
    return isinstance(stmt, DeclStmt) and stmt.declarations[0].symbol in copies


def _argument(argument: PassedArgument, named: Mapping[Symbol, Symbol]) -> PassedArgument:
    return msgspec.structs.replace(argument, parameter=named.get(argument.parameter, argument.parameter))


def _test(test: GuardTest, copies: Mapping[Symbol, Symbol], change: partial[Node]) -> GuardTest:
    condition = None if test.condition is None else rebuild(test.condition, change)
    before = tuple(rebuild(one, change) for one in test.before if not _declares_only(one, copies))
    return GuardTest(condition, test.reason, before)
