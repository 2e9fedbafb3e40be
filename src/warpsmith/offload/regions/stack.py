"""Objects on the stack that outlive a data region, and the functions that may begin one.

    int main(void) {
        struct walls w;                      named where the data region begins, so that it lives on behind its end
        for (t …) {                          the data region
            boundary(u, &w);                 kernels of boundary find w where they left it
            { double x[8]; blur(x); }        dies inside, and another array may come to lie there: never kept
        }
    }

Where memory dies in data regions, what a pointer leads to on the stack is kept only if the run time knows that it
outlives the data region (emit/runtime/watched.cu): it is notified of objects by name, those of the function that begins
the data region, and sees by address what that function's callers own.

Invariant: an object that the run time is notified of is in scope wherever control is in the data region, and its
function does not take it for memory that is never kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from warpsmith.loops.analysis.expression import find_declared_before
from warpsmith.loops.prepared import RunChange
from warpsmith.offload.memory.host_calls import HostCalls, calls_in
from warpsmith.offload.memory.presence import Presence
from warpsmith.offload.plan import DataRegion
from warpsmith.offload.regions.objects import is_cxx
from warpsmith.poly.effects.library import mentions
from warpsmith.poly.pointers.accesses import bases, direct_call, is_pointer
from warpsmith.poly.pointers.pointers import Provenance, Root
from warpsmith.tree.nodes import Call, Function, GlobalDecl, Name, Stmt, Verbatim, VerbatimExpr
from warpsmith.tree.types import Array, Pointer, Record, Symbol, Type, element_type
from warpsmith.tree.walk import peel, walk

__all__ = ["drop_lasting", "find_kept_by_functions", "find_not_yet_kept", "outermost", "with_lasting"]


def with_lasting(data_region: DataRegion, presence: Presence, device: frozenset[Symbol]) -> DataRegion:
    """Return a data region with what outlives it: the arrays and records that are in scope where it begins, as far as
    kernels behind its calls of `device` functions may be given them, and what callers may have handed to its
    function."""
    function = data_region.function
    shown = {
        symbol.name: symbol for symbol in (*function.parameters, *find_declared_before(function, data_region.run[0]))
    }
    where = presence.summaries.provenance(function)
    given = where.escaped.union(*(_find_given_by(where, stmt, device) for stmt in data_region.run))
    mine = (s for s in shown.values() if Root("object", s) in given and s.storage in ("local", "parameter"))
    lasting = tuple(symbol for symbol in mine if _fits(presence, symbol.type))
    handed = (parameter.type for parameter in function.parameters if isinstance(parameter.type, Pointer))
    callers = function.symbol.name != "main" and any(_fits(presence, type) for type in handed)
    return replace(data_region, lasting=lasting, callers=callers)


def drop_lasting(data_region: DataRegion) -> DataRegion:
    """Return a data region of which the run time is given nothing, since it never asks."""
    return replace(data_region, lasting=(), callers=False)


def find_kept_by_functions(data_regions: Iterable[DataRegion]) -> Iterator[Symbol]:
    """Yield the functions' own variables that may be kept: objects that the run time is notified of; parameters, which
    may lie among what the callers own."""
    for data_region in data_regions:
        yield from data_region.lasting
        yield from data_region.function.parameters if data_region.callers else ()


def find_not_yet_kept(
    data_regions: Iterable[DataRegion], presence: Presence, device: frozenset[Symbol]
) -> dict[Call, frozenset[Root]]:
    """Return, for the calls in front of a data region's first one that hands an object to a kernel, the objects that
    are not kept yet: those that nothing but calls is given the address of."""
    found: dict[Call, frozenset[Root]] = {}
    for data_region in data_regions:
        where = presence.summaries.provenance(data_region.function)
        held = where.escaped.union(*where.roots.values())
        early = {Root("object", s) for s in data_region.lasting if isinstance(s.type, Record)} - held
        for stmt in data_region.run:
            early -= _find_given_by(where, stmt, device)
            found |= {call: found.get(call, frozenset()) | early for call in calls_in(stmt)}
    return found


def _find_given_by(where: Provenance, stmt: Stmt, device: frozenset[Symbol]) -> frozenset[Root]:
    """Return the memory whose address the calls of `device` functions are given."""
    handed = (a for call in calls_in(stmt) if direct_call(call) in device for a in call.arguments if is_pointer(a))
    return frozenset(root for argument in handed for base in bases(argument) for root in where.of(base))


def _fits(presence: Presence, type: Type) -> bool:
    """Whether memory of the kind that offload regions put on the device lies in an object, or in what a pointer may
    lead to."""
    return any(part in presence.elements for part in _bulk(type))


def _bulk(type: Type) -> Iterator[Type]:
    """Yield the types of records in an object, and of the elements of arrays in it: a pointer may lead to one."""
    if isinstance(type, Array | Pointer):
        yield element_type(type)
        yield from _bulk(element_type(type))
    elif isinstance(type, Record):
        yield type
        for field in type.fields:
            if not isinstance(field.type, Pointer):
                yield from _bulk(field.type)


# --- who begins a data region


def outermost(
    calls: HostCalls, data_regions: Sequence[DataRegion], changes: Iterable[RunChange]
) -> frozenset[Function]:
    """Return the functions with data regions that may be called while none lasts: theirs is the outermost one then, and
    of what their callers hand to them nothing is known. What steps made runs in no data region where their guards
    fail."""
    known = calls.summaries.definitions
    held = {part for data_region in data_regions for stmt in data_region.run for part in walk(stmt)}
    held -= {part for change in changes for part in change.parts()}
    found: set[Symbol] = set()
    pending = list(_open(calls))
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            called = (direct_call(call) for call in calls_in(known[symbol].body) if call not in held)
            pending += [name for name in called if name is not None and name in known]
    return frozenset(data_region.function for data_region in data_regions if data_region.function.symbol in found)


def _open(calls: HostCalls) -> Iterator[Symbol]:
    """Yield the functions that may be called from where nobody sees it."""
    summaries = calls.summaries
    program, outside = summaries.program, summaries.outside
    whole = any(symbol.name == "main" for symbol in summaries.definitions)
    closed = whole if program.outside is None else outside.closed
    spoken = set(outside.mentioned)
    for unit in program.units:
        for item in unit.items:
            if isinstance(item, GlobalDecl):
                spoken |= mentions(item)
    for function in summaries.definitions.values():
        spoken |= set(_find_named(function))
    for symbol, function in summaries.definitions.items():
        known = function.static or closed
        if not known or symbol.name == "main" or symbol.name in spoken or is_cxx(program, function):
            yield symbol


def _find_named(function: Function) -> Iterator[str]:
    """Yield the functions that a function names for something else than to call them, and all words of texts that are
    not modelled."""
    callees = {peel(part.function) for part in walk(function.body) if isinstance(part, Call)}
    for part in walk(function.body):
        if isinstance(part, Verbatim | VerbatimExpr):
            yield from mentions(part)
        elif isinstance(part, Name) and part.symbol.storage == "function" and part not in callees:
            yield part.symbol.name
