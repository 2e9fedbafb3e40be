"""The part that every scalar written in a loop plays: private to an iteration, carried, or a reduction's accumulator.

    for (i …) { t = a[i]; s += t; if (a[i] > 0) k = i; b[i] = k; }     t private, s reduction, k carried

Invariant: a private scalar is written on every path of an iteration before that iteration reads it, so that no value
crosses from one iteration to another; if it is read after the loop, every iteration writes it on every path.
After P. Tu, D. Padua, Automatic Array Privatization (1993), for scalars and struct members only.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.latest import find_latest
from warpsmith.poly.dependences.reductions import constant_stores, holds_truth, scalar_reductions, scalar_scans
from warpsmith.poly.effects.assigned import Iteration, iteration
from warpsmith.poly.effects.effects import find_escaped
from warpsmith.poly.effects.liveness import Liveness
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import Variables
from warpsmith.poly.facts import Reduction
from warpsmith.tree.nodes import For, Function, Loop, VarDecl, Verbatim
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import walk

__all__ = ["CarriedScalar", "ScalarRoles", "classify_scalars"]


class CarriedScalar(Struct, frozen=True):
    """A variable whose value crosses iterations, and why; `write` and `read` are the two places (`read` is the loop's
    header where the value is only read after the loop)."""

    symbol: Symbol
    reason: Reason
    write: Span
    read: Span


class ScalarRoles(Struct, frozen=True):
    """Every scalar (and struct taken as a scalar) that the loop body writes stands in exactly one of `private`,
    `reductions` (as the variable or as a companion), `scans`, `carried`. The loop's own counter stands in none of them.

    `local`: declared in the body (they are in `private` too). `live_out`: the private ones that are read after the
    loop; each iteration certainly writes them, so the last iteration's value is the loop's (nothing is stored back when
    the loop runs no iteration). `counter_live`: the loop's own counter is declared outside and read after the loop.
    """

    private: tuple[Symbol, ...]
    local: tuple[Symbol, ...]
    live_out: tuple[Symbol, ...]
    counter_live: bool
    reductions: tuple[Reduction, ...]
    scans: tuple[Reduction, ...]
    carried: tuple[CarriedScalar, ...]


def classify_scalars(
    program: Program,
    function: Function,
    loop: Loop,
    liveness: Liveness | None = None,
    summaries: Summaries | None = None,
) -> ScalarRoles:
    """Return the role of every scalar that `loop` writes."""
    known = summaries if summaries is not None else Summaries.of(program)
    live = (liveness if liveness is not None else Liveness.of(program, function, known)).after[loop]
    variables = Variables.of(known, function)
    one, reached = iteration(variables, loop), variables.within_reach(loop)
    own = _find_declared(loop)
    held = find_escaped(program, function, known)
    sums = {r.variable: r for r in _sums(function, loop, live, held)}
    companions = {symbol for r in sums.values() for symbol in r.companions}
    scans = {r.variable: r for r in scalar_scans(loop)}
    passed: dict[Symbol, CarriedScalar] = {}
    roles = _Roles([], [], [], [], [])
    for symbol in (s for s in _find_written(loop, one) if s in reached):
        if symbol in own:
            roles.private.append(symbol)
            roles.local.append(symbol)
        elif symbol in sums:
            roles.reductions.append(sums[symbol])
        elif symbol in companions:
            continue
        elif symbol in scans and symbol not in held:
            roles.scans.append(scans[symbol])
        elif (crossing := _crossing(symbol, loop, one, held, live)) is not None:
            stores = None if symbol in held else constant_stores(function, loop, symbol)
            if stores is not None:
                roles.reductions.append(stores)
            else:
                passed[symbol] = crossing
        else:
            roles.private.append(symbol)
    latest = _latest_values(loop, {s for s in passed if s not in held}, one, known)
    roles.scans.extend(latest[s] for s in passed if s in latest)
    roles.carried.extend(crossing for s, crossing in passed.items() if s not in latest)
    counter = isinstance(loop, For) and not loop.declares and loop.variable in live
    return ScalarRoles(
        tuple(roles.private),
        tuple(roles.local),
        tuple(s for s in roles.private if s in live and s not in own),
        counter,
        tuple(roles.reductions),
        tuple(roles.scans),
        tuple(roles.carried),
    )


def _sums(function: Function, loop: Loop, live: frozenset[Symbol], held: frozenset[Symbol]) -> Iterable[Reduction]:
    """Yield the reductions whose variables nobody else can reach; a truth value must be one before the loop too."""
    for found in scalar_reductions(loop, live | held):
        apart = not held & {found.variable, *found.companions}
        if apart and (found.op not in ("&&", "||") or holds_truth(function, found.variable)):
            yield found


def _latest_values(loop: Loop, passed: set[Symbol], one: Iteration, summaries: Summaries) -> dict[Symbol, Reduction]:
    """Return the running values among the scalars that iterations pass on which are set to latest values; none where
    no iteration reads one: then only the last of them counts."""
    if not isinstance(loop, For) or not passed & one.exposed.keys():
        return {}
    found = find_latest(loop, passed, summaries)
    return {s: Reduction("latest", s, latest.statement.span) for s, latest in found.items()}


class _Roles(Struct, frozen=True):
    private: list[Symbol]
    local: list[Symbol]
    reductions: list[Reduction]
    scans: list[Reduction]
    carried: list[CarriedScalar]


def _find_declared(loop: Loop) -> set[Symbol]:
    """Return the variables that each iteration makes anew."""
    own = {n.symbol for n in walk(loop.body) if isinstance(n, VarDecl) and n.symbol.storage == "local"}
    return own | {n.variable for n in walk(loop.body) if isinstance(n, For) and n.declares}


def _find_written(loop: Loop, one: Iteration) -> Iterable[Symbol]:
    """Return the scalars written in the loop, in the order of their first write."""
    counter = loop.variable if isinstance(loop, For) else None
    return [s for s in one.writes if s != counter and not isinstance(s.type, Array)]


def _crossing(
    symbol: Symbol, loop: Loop, one: Iteration, held: frozenset[Symbol], live: frozenset[Symbol]
) -> CarriedScalar | None:
    """Return why `symbol` may not be private, or None."""
    write = one.writes[symbol].span
    name = symbol.name
    if any(isinstance(n, Verbatim) and n.control for n in walk(loop.body)):
        return _carry_scalar(
            symbol, f"{name} is written in a loop whose control flow is not modelled", write, loop.header
        )
    if symbol in held:
        return _carry_scalar(symbol, f"the address of {name} is kept: one variable for all", write, write)
    if symbol in one.exposed:
        read = one.exposed[symbol].span
        text = (
            f"{name} is read in line {read.line} before the iteration has certainly written it (line {write.line} does)"
        )
        return _carry_scalar(symbol, text, write, read)
    if symbol in live and symbol not in one.complete:
        text = f"{name} is written on some paths only (line {write.line}) and its last value is read after the loop"
        return _carry_scalar(symbol, text, write, loop.header)
    return None


def _carry_scalar(symbol: Symbol, text: str, write: Span, read: Span) -> CarriedScalar:
    return CarriedScalar(symbol, Reason("POR003", text, write), write, read)
