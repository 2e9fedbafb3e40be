"""Functions that a program never calls: their loops never run, in the program as in its port.

    main ──► lud_omp ──► lud_diagonal          live
    create_from_random                         nothing names it: its loops stay as they are

Invariant: a function is live where main, another live function, an initializer of a variable, or an attribute
(`constructor`) may lead to it, by a call or by its address. Only a program whose every file is read has such functions,
and only in C: C++ calls much that its text does not name.
"""

from __future__ import annotations

import functools

from warpsmith.base.c_text import words_anywhere
from warpsmith.base.identity import Identity
from warpsmith.base.verdict import Reason
from warpsmith.tree.nodes import Function, GlobalDecl, Name, Node
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["find_uncalled", "never_called"]

_RUN_BY_LOADER = frozenset({"constructor", "destructor", "__constructor__", "__destructor__", "ifunc", "alias"})


def never_called(program: Program, function: Function) -> Reason | None:
    """Return that nothing in the program calls `function`, or None where something may."""
    if function.symbol not in find_uncalled(program):
        return None
    text = f"nothing in the program calls '{function.symbol.name}': its loops never run"
    return Reason("POR019", text, function.symbol.span, legal_if=("--loop names a loop that shall go all the same",))


def find_uncalled(program: Program) -> frozenset[Symbol]:
    """Return the functions of a whole program that nothing in it calls."""
    return _find_uncalled(Identity(program))


# asked for each function of a program, and for each of the programs that a plan compares
@functools.lru_cache(maxsize=4)
def _find_uncalled(given: Identity[Program]) -> frozenset[Symbol]:
    program = given.value
    whole = program.outside is None and all(unit.language == "c" for unit in program.units)
    named = {f.symbol: _find_named(f.body) for _, f in program.functions()}
    main = [symbol for symbol in named if symbol.name == "main"]
    if not whole or not main or any(_is_run_by_loader(unit.file.text) for unit in program.units):
        return frozenset()
    declared = (item for unit in program.units for item in unit.items if isinstance(item, GlobalDecl))
    live, pending = set[Symbol](), [*main, *(symbol for item in declared for symbol in _find_named(item))]
    while pending:
        symbol = pending.pop()
        if symbol not in live:
            live.add(symbol)
            pending += named.get(symbol, ())
    return frozenset(named.keys() - live)


# nodes never change, and rewritten programs share most of theirs
@functools.lru_cache(maxsize=4096)
def _find_named(node: Node) -> frozenset[Symbol]:
    """Return the functions that a part of the program calls, or whose address it takes; what is not modelled says what
    it names."""
    found = {part.symbol for part in walk(node) if isinstance(part, Name)}
    for part in walk(node):
        found.update(getattr(part, "reads", ()), getattr(part, "writes", ()))
    return frozenset(symbol for symbol in found if symbol.storage == "function")


@functools.lru_cache(maxsize=256)
def _is_run_by_loader(text: str) -> bool:
    return not _RUN_BY_LOADER.isdisjoint(words_anywhere(text))
