"""Functions and variables of files that are not in the program: what is known of them, in the form of summaries.

Invariant: a summary that stands here contains what the function may do, calls included; a function without one may do
anything. So a file can be analyzed alone, and what it learns of the others can only make its answers better.

    main.c   for (…) step(u, v);          solver.c   void step(double *u, double *v) { … }
    outside of main.c: step(u, v) loads through u, v; stores through v
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.plain import Plain, decode_symbol, encode_symbol
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol

__all__ = ["Outside", "OutsideFunction", "decode_function", "encode_function", "outside_of"]


class OutsideFunction(Struct, frozen=True):
    """A function that another file defines; `summary` is None where several files do, or nothing is known of it."""

    symbol: Symbol
    parameters: tuple[Symbol, ...] = ()
    summary: Summary | None = None


class Outside(Struct, frozen=True, eq=False):
    """`functions` that other files define; `shared` and `taken`: variables that other files give memory with a second
    name, or whose address they take; `mentioned`: the names that they use; `closed`: no code but libraries
    is left that nobody has looked at."""

    functions: Mapping[Symbol, OutsideFunction] = field(default_factory=dict)
    shared: frozenset[Symbol] = frozenset()
    taken: frozenset[Symbol] = frozenset()
    mentioned: frozenset[str] = frozenset()
    closed: bool = False


def outside_of(program: Program) -> Outside:
    """Return what is known of the files beside the program: nothing where it is all that there is."""
    return program.outside if isinstance(program.outside, Outside) else _NOTHING


_NOTHING = Outside()


def encode_function(function: OutsideFunction) -> list[Plain]:
    """Return a function as a plain list; the place of a reason stays behind."""
    symbol, parameters = encode_symbol(function.symbol), [encode_symbol(p) for p in function.parameters]
    known = function.summary
    if known is None:
        return [symbol, parameters, None]
    variables: list[Plain] = [_symbols(known.reads), _symbols(known.writes)]
    roots: list[Plain] = [_roots(known.loads), _roots(known.stores), _roots(known.returns)]
    flags: list[Plain] = [known.calls_unknown, known.io, known.asserts, known.allocates, known.reason]
    return [symbol, parameters, [variables, roots, sorted(known.retains), flags]]


def decode_function(plain: Plain) -> OutsideFunction:
    """Return the function of a plain list; raises ValueError where it is none of ours."""
    match plain:
        case [symbol, list(parameters), None]:
            return OutsideFunction(decode_symbol(symbol), tuple(decode_symbol(p) for p in parameters))
        case [
            symbol,
            list(parameters),
            [
                [list(reads), list(writes)],
                [list(loads), list(stores), list(returns)],
                list(retains),
                [bool(unknown), bool(io), bool(asserts), bool(allocates), str(reason)],
            ],
        ]:
            summary = Summary(
                frozenset(decode_symbol(s) for s in reads),
                frozenset(decode_symbol(s) for s in writes),
                frozenset(_root(r) for r in loads),
                frozenset(_root(r) for r in stores),
                frozenset(int(str(i)) for i in retains),
                frozenset(_root(r) for r in returns),
                unknown,
                io,
                asserts,
                allocates,
                reason,
            )
            return OutsideFunction(decode_symbol(symbol), tuple(decode_symbol(p) for p in parameters), summary)
        case _:
            raise ValueError("not a function of ours")


def _symbols(symbols: frozenset[Symbol]) -> list[Plain]:
    return [encode_symbol(s) for s in sorted(symbols, key=lambda s: s.key)]


def _roots(roots: frozenset[Root]) -> list[Plain]:
    """Return roots in a fixed order; fresh memory is fresh, whichever call made it."""
    plain = {(r.kind, "" if r.symbol is None else r.symbol.key): r.symbol for r in roots}
    return [
        [kind, None if symbol is None else encode_symbol(symbol)]
        for (kind, _), symbol in sorted(plain.items(), key=lambda item: item[0])
    ]


def _root(plain: Plain) -> Root:
    match plain:
        case ["unknown", None]:
            return Root("unknown")
        case ["fresh", None]:
            return Root("fresh")
        case ["object", list(symbol)]:
            return Root("object", decode_symbol(symbol))
        case ["entry", list(symbol)]:
            return Root("entry", decode_symbol(symbol))
        case _:
            raise ValueError("not a root of ours")
