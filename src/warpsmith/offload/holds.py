"""Holds: the loops during which data stay on the device from call to call.

    main.c    for (t …) {              a hold: it calls what runs kernels, again and again
                  step(u, v, n);       solver.c: enters u and v, launches, leaves them: they stay
                  swap(&u, &v);        blocks are found by address, so that names may change
              }                        the end of the hold: what was written comes back

    for (t …) {                        a hold of the function's own: its kernels' data move in every iteration, because
        for (i …) v[i] = f(u[i]);      u and v are other blocks each time
        swap(u, v);
    }

Invariant: inside a hold every function that the host may run is known (its host code has updates, coherence.py), or the
call stands in a pause; no memory that is kept dies (presence.py); control leaves the hold at its end or by a `return`
that ends it.

A loop that cannot be a hold says why, and the loops inside it are tried. Only outermost holds matter: what an inner one
keeps stays for the outer one.

Limits: no hold in a program that has handlers run at exit or by signals, that jumps between functions, or that starts
threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from warpsmith.base.verdict import Reason
from warpsmith.offload.coherence import Coherent, IncoherentError, Insertions, Surroundings, device_call, updates
from warpsmith.offload.flow import Place
from warpsmith.offload.fragments import Home, Request
from warpsmith.offload.plan import Hold, RefusedHold
from warpsmith.offload.presence import Presence, Resident, element_kinds, short_lived
from warpsmith.poly.summaries import Summaries
from warpsmith.poly.touches import direct_call
from warpsmith.tree.nodes import (
    Block,
    Call,
    DataHold,
    DataPause,
    For,
    Function,
    If,
    Loop,
    Node,
    Return,
    Stmt,
    Switch,
    Update,
    Verbatim,
    While,
)
from warpsmith.tree.types import Array, Opaque, Pointer, Record, Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["HoldPlan", "plan_holds", "presence_of", "wanted_holds"]

_FATAL = {
    "setjmp": "jumps between functions",
    "_setjmp": "jumps between functions",
    "sigsetjmp": "jumps between functions",
    "__sigsetjmp": "jumps between functions",
    "signal": "handles signals",
    "sigaction": "handles signals",
    "atexit": "runs handlers at its end",
    "on_exit": "runs handlers at its end",
    "at_quick_exit": "runs handlers at its end",
    "fork": "starts processes",
    "vfork": "starts processes",
}


@dataclass(frozen=True, slots=True)
class HoldPlan:
    """The holds, which functions run in one as a whole (`whole`), and what dies inside (`residents`, of every function
    with statements in a hold)."""

    holds: tuple[Hold, ...]
    whole: frozenset[Function]
    residents: dict[Function, Resident]
    device: frozenset[Symbol]

    def inside(self, function: Function) -> tuple[Stmt, ...]:
        """Return the statements of `function` that run in a hold."""
        if function in self.whole:
            return (function.body,)
        return tuple(hold.loop for hold in self.holds if hold.function is function)


def presence_of(summaries: Summaries, homes: Sequence[Home]) -> Presence:
    """Return what the homes put on the device."""
    buffers = [buffer for home in homes for buffer in home.buffers]
    types = [b.symbol.type.to if isinstance(b.symbol.type, Pointer) else b.symbol.type for b in buffers]
    kinds = frozenset(kind for type in types for kind in element_kinds(type))
    written = {use.symbol for home in homes for draft in home.drafts for use in draft.uses if use.written}
    changed = (b.symbol.type for b in buffers if b.host in written)
    newer = frozenset(k for t in changed for k in element_kinds(t.to if isinstance(t, Pointer) else t))
    hosts, units = frozenset(buffer.host for buffer in buffers), any(buffer.unit for buffer in buffers)
    return Presence(summaries, kinds, hosts, newer, units)


def wanted_holds(
    presence: Presence, ported: dict[Function, tuple[Home, ...]], drop: Sequence[RefusedHold] = ()
) -> HoldPlan | None:
    """Return the loops that are worth a hold, without those in `drop` (the loops inside these are tried): None where
    there are none. `ported`: every function with its homes."""
    summaries = presence.summaries
    device = _leads_to_kernels(summaries, {f.symbol for f, homes in ported.items() if homes})
    if not device or _fatal(summaries) is not None:
        return None
    dropped = frozenset(refused.loop for refused in drop)
    holds = [
        Hold(function, loop, own=device_call(loop.body, device) is None)
        for function, homes in ported.items()
        for loop in _outermost(function.body, homes, device, dropped)
    ]
    whole = _Calls.of(summaries, ported, device).reached(holds)
    if not holds:
        return None
    inside = {f: (f.body,) for f in whole}
    for hold in holds:
        if hold.function not in whole:
            inside[hold.function] = (*inside.get(hold.function, ()), hold.loop)
    residents = short_lived(presence, inside, whole)
    return HoldPlan(tuple(holds), whole, residents, device)


def plan_holds(
    plan: HoldPlan, requests: dict[Function, Request], homes: dict[Function, tuple[Home, ...]]
) -> tuple[dict[Function, Coherent], tuple[RefusedHold, ...]]:
    """Return what to insert into each function, or the holds that are not possible, with the reason."""
    inserted: dict[Function, Coherent] = {}
    presence = next(iter(plan.residents.values())).presence
    calls = _Calls.of(presence.summaries, homes, plan.device)
    blamed = {f: _unprepared(f) for f in sorted(calls.reached(plan.holds) - plan.whole, key=lambda f: f.symbol.key)}
    for function in dict.fromkeys([*plan.whole, *(hold.function for hold in plan.holds)]):
        request, resident = requests[function], plan.residents[function]
        around = Surroundings(request, resident.presence, resident, homes[function], plan.device)
        reason = _stored_locals(function, resident) or _objects(plan.inside(function))
        reason = reason or (_handed_over(function) if function in plan.whole else None)
        if reason is not None:
            blamed[function] = reason
            continue
        try:
            inserted[function] = Coherent()
            for run in plan.inside(function):
                updates(around, (run,), inserted[function])
            if inserted[function].needed() and not _is_written(request, function):
                text = f"'{function.symbol.name}' is defined in a header, which is not rewritten"
                blamed[function] = Reason("POR018", text, function.symbol.span)
        except IncoherentError as error:
            blamed[function] = error.reason
    refused = (*_refused(plan, calls, blamed), *(_idle(plan, calls, inserted) if not blamed else ()))
    if not refused:
        for hold in plan.holds:
            _frame(inserted[hold.function].inserted, hold)
    return inserted, refused


def _is_written(request: Request, function: Function) -> bool:
    """Whether the function stands in a file of the program and not in a header."""
    return any(item is function for unit in request.program.units for item in unit.items)


def _unprepared(function: Function) -> Reason:
    """A kernel of the first plan is none any more, so that the host calls this function after all."""
    return Reason(
        "POR018", f"'{function.symbol.name}' is called by a loop that stays on the host", function.symbol.span
    )


def _refused(plan: HoldPlan, calls: _Calls, blamed: dict[Function, Reason]) -> Iterator[RefusedHold]:
    """Yield the holds in which a function runs that cannot run in one."""
    for hold in plan.holds:
        bad = next((f for f in [hold.function, *calls.reached([hold])] if f in blamed), None)
        if bad is not None:
            yield RefusedHold(hold.function, hold.loop, blamed[bad], hold.own)


def _idle(plan: HoldPlan, calls: _Calls, inserted: dict[Function, Coherent]) -> Iterator[RefusedHold]:
    """Yield the holds of functions' own in which everything moves all the same: homes without a hold move no more."""
    for hold in plan.holds:
        reached = calls.reached([hold]) if hold.own else ()
        inner = set(walk(hold.loop))
        mine = [(f, inserted[f].inserted) for f in (hold.function, *reached) if hold.own and f in inserted]
        added = [s for f, found in mine for at, new in found.items() if f in reached or at.node in inner for s in new]
        bulk = next((s for s in added if _is_bulk(s)), None)
        if bulk is not None:
            yield RefusedHold(hold.function, hold.loop, Reason("POR018", "all data move", bulk.span), own=True)


def _is_bulk(stmt: Stmt) -> bool:
    """Whether all that is on the device comes to the host."""
    return isinstance(stmt, DataPause) or (isinstance(stmt, Update) and stmt.address is None)


def _frame(inserted: Insertions, hold: Hold) -> None:
    """Begin and end the hold, also where a `return` leaves it."""
    loop, span = hold.loop, hold.loop.header
    begin, end = (DataHold(span=span, opens=opens, cause=span) for opens in (True, False))
    inserted.setdefault(Place("before", loop), []).append(begin)
    inserted.setdefault(Place("after", loop), []).insert(0, end)
    for part in walk(loop.body):
        if isinstance(part, Return):
            inserted.setdefault(Place("before", part), []).append(end)


# --- which loops


def _outermost(
    stmt: Stmt, homes: tuple[Home, ...], device: frozenset[Symbol], dropped: frozenset[Loop]
) -> Iterator[Loop]:
    """Yield the outermost loops that call what leads to kernels, or enter homes; none inside a kernel's own
    statements."""
    ported = {s for home in homes for draft in home.drafts for s in draft.statements}
    if stmt in ported:
        return
    loop = stmt if isinstance(stmt, For | While) and stmt not in dropped else None
    if loop is not None and (device_call(loop.body, device) is not None or _enters_homes(loop, homes)):
        yield loop
        return
    for inner in _parts(stmt):
        yield from _outermost(inner, homes, device, dropped)


def _enters_homes(loop: Loop, homes: tuple[Home, ...]) -> bool:
    """Whether homes with data of their own stand in the loop, so that they are entered in every iteration."""
    scopes = {home.scope[0] for home in homes if home.buffers}
    return any(part in scopes for part in walk(loop.body))


def _parts(stmt: Stmt) -> Iterator[Stmt]:
    match stmt:
        case Block():
            yield from stmt.statements
        case If():
            yield stmt.then
            if stmt.other is not None:
                yield stmt.other
        case For() | While():
            yield stmt.body
        case Switch():
            for case in stmt.cases:
                yield from case.body
        case _:
            return


def _leads_to_kernels(summaries: Summaries, first: set[Symbol]) -> frozenset[Symbol]:
    """Return the functions that run kernels, or call such a function."""
    found = set(first)
    changed = True
    while changed:
        more = {
            symbol
            for symbol, function in summaries.definitions.items()
            if symbol not in found and any(c in found for c in _callees(summaries, (function.body,)))
        }
        changed = bool(more)
        found |= more
    return frozenset(found)


def _callees(summaries: Summaries, run: Iterable[Stmt]) -> Iterator[Symbol]:
    """Yield the functions of the program that the statements call."""
    for stmt in run:
        for part in walk(stmt):
            name = direct_call(part) if isinstance(part, Call) else None
            if name is not None and name in summaries.definitions:
                yield name


@dataclass(frozen=True, slots=True)
class _Calls:
    """What the host calls. A call in the statements of a kernel runs on the device; or on the host, where a guard
    fails, but then everything is valid there, and what is called leads to no kernel."""

    summaries: Summaries
    kernels: frozenset[Node]
    device: frozenset[Symbol]

    @classmethod
    def of(cls, summaries: Summaries, homes: Mapping[Function, tuple[Home, ...]], device: frozenset[Symbol]) -> _Calls:
        kernels = (s for found in homes.values() for home in found for d in home.drafts for s in d.statements)
        return cls(summaries, frozenset(part for stmt in kernels for part in walk(stmt)), device)

    def reached(self, holds: Iterable[Hold]) -> frozenset[Function]:
        """Return the functions that the host calls while one of the holds lasts."""
        found: set[Symbol] = set()
        pending = [symbol for hold in holds for symbol in self.made_by(hold.loop)]
        while pending:
            symbol = pending.pop()
            if symbol not in found:
                found.add(symbol)
                pending += self.made_by(self.summaries.definitions[symbol].body)
        return frozenset(self.summaries.definitions[symbol] for symbol in found)

    def made_by(self, stmt: Stmt) -> Iterator[Symbol]:
        """Yield the functions of the program that a statement calls on the host."""
        for part in walk(stmt):
            name = direct_call(part) if isinstance(part, Call) else None
            known = name is not None and name in self.summaries.definitions
            if name is not None and known and (part not in self.kernels or name in self.device):
                yield name


# --- what stands in the way


def _fatal(summaries: Summaries) -> str | None:
    """Return what the program does that no hold survives."""
    for function in summaries.definitions.values():
        for part in walk(function.body):
            name = direct_call(part) if isinstance(part, Call) else None
            if name is None or name in summaries.definitions or not isinstance(part, Call):
                continue
            known = summaries.library(part)
            if known is not None and known.threads:
                return "starts threads"
            if name.name in _FATAL:
                return _FATAL[name.name]
    return None


def _stored_locals(function: Function, resident: Resident) -> Reason | None:
    """A local array whose address is kept in memory: a kernel could find it there after it is gone."""
    where = resident.presence.summaries.provenance(function)
    for root in where.escaped & resident.short:
        symbol = root.symbol
        if root.kind == "object" and symbol is not None and resident.presence.of_type(symbol.type):
            text = f"the address of '{symbol.name}', which lives in '{function.symbol.name}', is kept elsewhere"
            return Reason("POR018", text, symbol.span)
    return None


def _objects(run: Iterable[Stmt]) -> Reason | None:
    """Objects that free memory where they go out of scope are not understood here; nor are jumps."""
    for stmt in run:
        for part in walk(stmt):
            if isinstance(part, Verbatim) and part.control:
                return Reason("POR018", f"a jump ({part.reason})", part.span)
            for declared in getattr(part, "declarations", ()):
                if _has_destructor(declared.symbol):
                    text = f"'{declared.symbol.name}' is an object that may free memory where it goes out of scope"
                    return Reason("POR018", text, declared.span)
    return None


def _handed_over(function: Function) -> Reason | None:
    """Objects that a function is given by value free their memory where it ends."""
    given = next((p for p in function.parameters if isinstance(p.type, Record) and _has_destructor(p)), None)
    if given is None:
        return None
    text = f"'{given.name}' is an object that '{function.symbol.name}' is given by value: it may free memory at its end"
    return Reason("POR018", text, given.span)


def _has_destructor(symbol: Symbol) -> bool:
    type = symbol.type
    return isinstance(type, Opaque) or _holds_container(type)


def _holds_container(type: Type) -> bool:
    """Whether an object of a type has containers of the library in it, which own memory."""
    if isinstance(type, Array):
        return _holds_container(type.of)
    fields = type.fields if isinstance(type, Record) else ()
    return any(field.name.endswith("()") or _holds_container(field.type) for field in fields)
