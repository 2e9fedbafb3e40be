"""Memory that dies inside a hold, and objects whose end frees it.

    { std::vector<float> w(n); blur(u, w); }        w's memory dies where its block ends: the run time sees it (watched)
    free(u); u = malloc(m);                         so it does here
    if (n < 0) throw bad;                           C++ leaves the block: the hold's guard ends it, in order

Invariant: where memory may die in a hold, only what the run time sees to die is kept; where an exception may leave one,
it has a guard, and no destructor of the program's runs before that: it could read what is newer on the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpsmith.base.verdict import Reason
from warpsmith.offload.foreign import FREEING
from warpsmith.offload.plan import Hold
from warpsmith.offload.presence import Resident
from warpsmith.poly.touches import direct_call
from warpsmith.tree.nodes import Call, DeclStmt, Function, Stmt, Switch, Verbatim, VerbatimExpr
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Opaque, Record, Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["declared_last", "frees", "is_guarded", "may_hold_objects", "owns_memory", "unfit"]


def frees(stmt: Stmt) -> bool:
    """Whether a statement may free memory of the heap, or make and destroy objects that own some."""
    for part in walk(stmt):
        if isinstance(part, VerbatimExpr) and part.doing is not None:
            return True
        name = direct_call(part) if isinstance(part, Call) else None
        if name is not None and name.name in FREEING:
            return True
    return False


def owns_memory(function: Function) -> bool:
    """Whether objects that own memory end with the function, or with a block of it."""
    return any(_has_destructor(symbol) for symbol in (*function.parameters, *_declared(function.body)))


def is_cxx(program: Program, function: Function) -> bool:
    """Whether a function is written in C++."""
    return any(unit.language != "c" and function in unit.functions for unit in program.units)


def is_guarded(program: Program, hold: Hold) -> bool:
    """Whether the hold has a guard: an object of C++, past whose making nothing may jump."""
    body = hold.function.body
    jumps = any(isinstance(part, Verbatim) and part.control for part in walk(body))
    in_case = (case.body for part in walk(body) if isinstance(part, Switch) for case in part.cases)
    return is_cxx(program, hold.function) and not jumps and not any(hold.run[0] in run for run in in_case)


def may_hold_objects(program: Program, holds: Iterable[Hold]) -> bool:
    """Whether objects that own memory may be made and destroyed in the holds: making one may throw."""
    parts = (part for _, function in program.functions() for part in walk(function.body))
    ends = any(isinstance(part, Verbatim) and part.reason.startswith("the destructor of") for part in parts)
    return not ends and all(is_guarded(program, hold) for hold in holds)


def declared_last(run: Iterable[Stmt]) -> Iterator[Symbol]:
    """Yield the variables that a run's own statements declare: they live on behind it, where no exception leaves it."""
    for stmt in run:
        if isinstance(stmt, DeclStmt):
            yield from (declared.symbol for declared in stmt.declarations)


def unfit(function: Function, run: Iterable[Stmt], resident: Resident, *, whole: bool, objects: bool) -> Reason | None:
    """Return why statements of a function cannot run in a hold; `whole`: the function is called in one."""
    reason = _stored_locals(function, resident) if not resident.watched else None
    if reason is None and whole and not objects:
        reason = _handed_over(function)
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


def _handed_over(function: Function) -> Reason | None:
    """Objects that a function is given by value free their memory where it ends."""
    given = next((p for p in function.parameters if isinstance(p.type, Record) and _has_destructor(p)), None)
    if given is None:
        return None
    text = f"'{given.name}' is an object that '{function.symbol.name}' is given by value: it may free memory at its end"
    return Reason("POR018", text, given.span)


def _declared(stmt: Stmt) -> Iterator[Symbol]:
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
