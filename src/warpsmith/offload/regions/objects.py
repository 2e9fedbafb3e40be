"""Memory that dies inside a data region, and objects whose end frees it.

    { std::vector<float> w(n); blur(u, w); }        w's memory dies where its block ends: the run time sees it (watched)
    free(u); u = malloc(m);                         so it does here
    scale(v); free(v);                              the last stage: the data region ends behind, and v does not come
    back if (n < 0) throw bad;                           C++ leaves the block: the data region's guard ends it, in order

Invariant: where memory may die in a data region, only what the run time sees to die is kept; where an exception may
leave one, it has a guard, and no destructor of the program's runs before that: it could read what is newer on the
device.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from warpsmith.base.verdict import Reason
from warpsmith.offload.memory.foreign import FREEING
from warpsmith.offload.memory.presence import Resident
from warpsmith.offload.plan import DataRegion
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.containers import CHECKS
from warpsmith.tree.free_store import MAKES, RELEASES
from warpsmith.tree.nodes import Assign, Block, Call, DeclStmt, ExprStmt, Function, Stmt, Switch, Verbatim, VerbatimExpr
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Opaque, Pointer, Record, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["declared_last", "frees", "is_guarded", "may_make_objects", "owns_memory", "unfit", "with_frees"]


def frees(stmt: Stmt) -> bool:
    """Whether a statement may free memory of the heap, make and destroy objects that own some, or throw: as it asks for
    some, or for an element that is not there."""
    for part in walk(stmt):
        if isinstance(part, VerbatimExpr) and part.doing is not None:
            return True
        name = direct_call(part) if isinstance(part, Call) else None
        if name is not None and name.name in FREEING | MAKES | CHECKS:
            return True
    return False


def with_frees(data_region: DataRegion, summaries: Summaries, cuts: frozenset[Stmt]) -> DataRegion:
    """Return a run of stages of C with the statements right behind it that do nothing but free memory: what the device
    has of that is forgotten there, and does not come back. None of `cuts` is among them."""
    if data_region.loop is not None or is_cxx(summaries.program, data_region.function):
        return data_region
    blocks = (part.statements for part in walk(data_region.function.body) if isinstance(part, Block))
    block = next((run for run in blocks if data_region.run[-1] in run), data_region.run)
    behind = block[block.index(data_region.run[-1]) + 1 :]
    more = itertools.takewhile(lambda stmt: stmt not in cuts and _only_frees(stmt, summaries), behind)
    return replace(data_region, run=(*data_region.run, *more))


def _only_frees(stmt: Stmt, summaries: Summaries) -> bool:
    """Whether a statement is a call of `free`, or of a function that does no more than that and forget pointers."""
    name = _called_function(stmt)
    if name is None or name not in summaries.definitions:
        return _is_free(name)
    body = summaries.definitions[name].body.statements
    return any(map(frees, body)) and all(_is_free(_called_function(part)) or _forgets(part) for part in body)


def _is_free(name: Symbol | None) -> bool:
    return name is not None and name.name in RELEASES


def _forgets(stmt: Stmt) -> bool:
    """Whether a statement is an assignment of pointers that calls nothing."""
    expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    plain = isinstance(expr, Assign) and isinstance(expr.target.type, Pointer)
    return plain and not any(isinstance(part, Call | VerbatimExpr) for part in walk(stmt))


def _called_function(stmt: Stmt) -> Symbol | None:
    """Return the function that a statement calls, if it is nothing but a call."""
    expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    return direct_call(expr) if isinstance(expr, Call) else None


def owns_memory(function: Function) -> bool:
    """Whether objects that own memory end with the function, or with a block of it."""
    return any(_has_destructor(symbol) for symbol in (*function.parameters, *_find_declared(function.body)))


def is_cxx(program: Program, function: Function) -> bool:
    """Whether a function is written in C++."""
    return any(unit.language != "c" and function in unit.functions for unit in program.units)


def is_guarded(program: Program, data_region: DataRegion) -> bool:
    """Whether the data region has a guard: an object of C++, past whose making nothing may jump."""
    body = data_region.function.body
    jumps = any(isinstance(part, Verbatim) and part.control for part in walk(body))
    in_case = (case.body for part in walk(body) if isinstance(part, Switch) for case in part.cases)
    return is_cxx(program, data_region.function) and not jumps and not any(data_region.run[0] in run for run in in_case)


def may_make_objects(program: Program, data_regions: Iterable[DataRegion]) -> bool:
    """Whether objects that own memory may be made and destroyed in the data regions: making one may throw."""
    parts = (part for _, function in program.functions() for part in walk(function.body))
    ends = any(isinstance(part, Verbatim) and part.reason.startswith("the destructor of") for part in parts)
    return not ends and all(is_guarded(program, data_region) for data_region in data_regions)


def declared_last(run: Iterable[Stmt]) -> Iterator[Symbol]:
    """Yield the variables that a run's own statements declare: they live on behind it, where no exception leaves it."""
    for stmt in run:
        if isinstance(stmt, DeclStmt):
            yield from (declared.symbol for declared in stmt.declarations)


def unfit(function: Function, run: Iterable[Stmt], resident: Resident, *, whole: bool, objects: bool) -> Reason | None:
    """Return why statements of a function cannot run in a data region; `whole`: the function is called in one."""
    reason = _stored_locals(function, resident) if not resident.watched else None
    if reason is None and whole and not objects:
        reason = _find_handed_over(function)
    return reason if reason is not None else _unfit_part(run, objects=objects)


def _stored_locals(function: Function, resident: Resident) -> Reason | None:
    """A local array whose address is kept in memory: a kernel could find it there after it is gone."""
    where = resident.presence.summaries.provenance(function)
    for root in where.escaped & resident.short:
        symbol = root.symbol
        if root.kind == "object" and symbol is not None and resident.presence.of_type(symbol.type):
            text = f"the address of '{symbol.name}', which lives in '{function.symbol.name}', is kept elsewhere"
            return Reason("POR018", text, symbol.span)
    return None


def _unfit_part(run: Iterable[Stmt], *, objects: bool) -> Reason | None:
    """Jumps, and objects that free memory where they go out of scope and are not understood here."""
    for stmt in run:
        for part in walk(stmt):
            if isinstance(part, Verbatim) and part.control:
                return Reason("POR018", f"a jump ({part.reason})", part.span)
            for declared in part.declarations if isinstance(part, DeclStmt) else ():
                type = declared.symbol.type
                if isinstance(type, Opaque) or (not objects and _has_destructor(declared.symbol)):
                    text = f"'{declared.symbol.name}' is an object that may free memory where it goes out of scope"
                    return Reason("POR018", text, declared.span)
    return None


def _find_handed_over(function: Function) -> Reason | None:
    """Objects that a function is given by value free their memory where it ends."""
    given = next((p for p in function.parameters if isinstance(p.type, Record) and _has_destructor(p)), None)
    if given is None:
        return None
    text = f"'{given.name}' is an object that '{function.symbol.name}' is given by value: it may free memory at its end"
    return Reason("POR018", text, given.span)


def _find_declared(stmt: Stmt) -> Iterator[Symbol]:
    for part in walk(stmt):
        if isinstance(part, DeclStmt):
            yield from (declared.symbol for declared in part.declarations)


def _has_destructor(symbol: Symbol) -> bool:
    return isinstance(symbol.type, Opaque) or _holds_container(symbol.type)


def _holds_container(type: Type) -> bool:
    """Whether an object of a type has containers of the library in it, which own memory."""
    if isinstance(type, Array):
        return _holds_container(type.of)
    fields = type.fields if isinstance(type, Record) else ()
    return any(field.name.endswith("()") or _holds_container(field.type) for field in fields)
