"""New variables that collide with nothing.

Invariant: a fresh name differs from every word in the text of every unit, from every name in the tree, and from those
made before by the same supply; a fresh key differs from every key in the tree. The same program gives the same names.
"""

from __future__ import annotations

import functools

import msgspec.structs
from msgspec import Struct, field

from warpsmith.tree.nodes import For, Function, Node, VarDecl
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Symbol, Type
from warpsmith.tree.walk import names, walk

__all__ = ["Fresh", "declared_symbols"]


# nodes never change
@functools.lru_cache(maxsize=4096)
def declared_symbols(node: Node) -> tuple[Symbol, ...]:
    """Return the variables that are declared inside `node`, in source order."""
    found: dict[Symbol, None] = {}
    for part in walk(node):
        if isinstance(part, VarDecl):
            found[part.symbol] = None
        elif isinstance(part, For) and part.declares:
            found[part.variable] = None
    return tuple(found)


# a step leaves all functions but one as they are
@functools.lru_cache(maxsize=4096)
def _find_taken(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names and the keys in a function."""
    symbols = {*(n.symbol for n in names(function)), *declared_symbols(function), *function.parameters}
    return frozenset(s.name for s in symbols), frozenset(s.key for s in symbols)


class Fresh(Struct):
    """The supply of new names and keys for one application of one step. It only ever grows."""

    _words: set[str] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, program: Program) -> Fresh:
        """Return the supply for a program: every name and key in it is taken."""
        fresh = cls()
        for unit in program.units:
            fresh._words.update(identifiers(unit.file.text))
            fresh._words.update(word for text in unit.type_texts for word in (text.name, *text.needs))
            for function in unit.functions:
                words, keys = _find_taken(function)
                fresh._words.update(words)
                fresh._keys.update(keys)
        return fresh

    def name(self, wanted: str) -> str:
        """Return `wanted`, else `wanted2` (`k1_2` after a digit), and so on; the name is taken from then on."""
        name, number = wanted, 1
        while name in self._words:
            number += 1
            name = f"{wanted}{'_' if wanted[-1].isdigit() else ''}{number}"
        self._words.add(name)
        return name

    def key(self, wanted: str) -> str:
        """Return a key that no symbol has, made from `wanted`; it is taken from then on."""
        key, number = wanted, 1
        while key in self._keys:
            number += 1
            key = f"{wanted}#{number}"
        self._keys.add(key)
        return key

    def variable(self, wanted: str, type: Type, near: Symbol, label: str = "") -> Symbol:
        """Return a new local variable called `wanted`, or nearly so; `near` is the variable that it is made for,
        `label` what the user calls what it holds."""
        name = self.name(wanted)
        return Symbol(name, self.key(f"{near.key}:{name}"), type, "local", near.span, label=label)

    def again(self, symbol: Symbol) -> Symbol:
        """Return another variable with the same name: for a declaration that is copied into a scope of its own."""
        return msgspec.structs.replace(symbol, key=self.key(symbol.key))
