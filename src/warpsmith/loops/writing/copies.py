"""Where the copies of an expanded variable live, and its declaration outside of the loop before it has copies.

    double *f_all = malloc(…);                        above the loops whose iterations use the memory one after another
    for (k …)
        for (i = k + 1; i < n; i++) { double f = …;   →   double f; for (i …) { f = …;   →   f_all[i - (k + 1)] = …;

Invariant: the room is enough for every iteration of the loops that it stands above: the slots are a linear form, whose
greatest value over their counters is allocated.
Limits: one dimension above loops around; a local array takes at most `_MOST_BYTES`.
"""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec.structs

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.extremes import Cover, cover_of, extreme, is_writable
from warpsmith.loops.analysis.shape import statements
from warpsmith.loops.analysis.substitute import with_symbols
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.expansion import Shape, count_of, slots_of
from warpsmith.loops.writing.storage import Room, after, allocation, before, has_memory_functions, release
from warpsmith.tree.nodes import Assign, Block, DeclStmt, ExprStmt, For, Loop, Stmt, VarDecl, replace
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import loop_names, loops, names, walk

__all__ = [
    "find_declaration", "find_declared_run", "fits_in_array", "make_storage", "move_declaration", "room_of",
    "with_storage",
]  # fmt: skip

_MOST_BYTES = 1 << 15


def find_declaration(place: LoopContext, name: str) -> VarDecl | None:
    """Return the declaration with a value of a number that the loop's body makes at its top; None where there is none,
    or more than one variable has the name."""
    if len({n.symbol for n in names(place.loop) if n.symbol.name == name}) != 1:
        return None
    for stmt in statements(place.loop.body) if isinstance(place.loop.body, Block) else ():
        for declared in stmt.declarations if isinstance(stmt, DeclStmt) else ():
            if declared.symbol.name == name:
                type = declared.symbol.type
                plain = isinstance(type, Scalar) and not type.volatile and declared.symbol.storage == "local"
                return declared if plain and declared.init is not None else None
    return None


def move_declaration(program: Program, place: LoopContext, declared: VarDecl) -> Program:
    """Return the program with the variable declared before the loop, and set where it was declared."""
    supply, old = Fresh.of(program), declared.symbol
    assert isinstance(old.type, Scalar) and declared.init is not None and isinstance(place.loop.body, Block)
    symbol = msgspec.structs.replace(supply.again(old), type=msgspec.structs.replace(old.type, const=False))
    body: list[Stmt] = []
    for stmt in place.loop.body.statements:
        found = isinstance(stmt, DeclStmt) and any(d is declared for d in stmt.declarations)
        body += _with_assignment(stmt, declared) if isinstance(stmt, DeclStmt) and found else [stmt]
    inside = replace(place.loop.body, statements=tuple(body))
    loop = with_symbols(replace(place.loop, body=inside), {old: symbol})
    span = before(place.loop.span)
    outside = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=None),))
    return with_run(program, place.function, (place.loop,), (outside, loop))


def _with_assignment(stmt: DeclStmt, declared: VarDecl) -> list[Stmt]:
    """Return a declaration as what is declared before the variable, its assignment, and what is declared behind it."""
    at = next(k for k, d in enumerate(stmt.declarations) if d is declared)
    assert declared.init is not None
    target = use(declared.symbol, declared.span)
    assign = Assign(span=declared.span, type=target.type, op="=", target=target, value=declared.init)
    parts = (stmt.declarations[:at], stmt.declarations[at + 1 :])
    first, last = (replace(stmt, declarations=part) if part else None for part in parts)
    return [s for s in (first, ExprStmt(span=stmt.span, expr=assign), last) if s is not None]


def find_declared_run(place: LoopContext, *, moved: bool) -> tuple[Stmt, ...]:
    """Return the loop, behind the declaration that was `moved` before it."""
    if moved:
        for block in walk(place.function.body):
            for one, next_one in pairwise(block.statements) if isinstance(block, Block) else ():
                if next_one is place.loop:
                    return (one, next_one)
    return (place.loop,)


def room_of(place: LoopContext, shape: Shape, above: int, *, checked: bool) -> Room | Reason:
    """Return how much memory the copies take, allocated above so many loops around the loop; or why that is not
    known."""
    header = place.loop.header
    if not 0 <= above <= len(place.around):
        return Reason("STP003", f"above={above}: {len(place.around)} loops are around the loop", header)
    slots, counts = tuple(map(slots_of, shape.covers)), tuple(map(count_of, shape.covers))
    if not above:
        return Room(slots, counts, checked=checked)
    if len(slots) != 1:
        return Reason("STP003", "copies with more than one dimension are allocated at the loop", header)
    covers: dict[Symbol, Cover] = {}
    for outer in place.around[len(place.around) - above :]:
        found = cover_of(outer, covers) if isinstance(outer, For) else None
        if isinstance(outer, For) and found is not None:
            covers[outer.variable] = found
    most = extreme(slots[0], covers, greatest=True)
    inside = declared_symbols(place.around[-above])
    if any(symbol in inside or symbol in covers for symbol in most.symbols):
        return Reason("STP002", "how many copies there are at most is not known above the loops", header)
    if not is_writable(most):
        return Reason("STP002", "how many copies there are at most might overflow", header)
    return Room((most,), (most,), checked=False)


def fits_in_array(room: Room) -> bool:
    """Whether a local array may have the copies: their number is a small constant."""
    sizes = [count.constant for count in room.counts if not count.terms]
    return len(sizes) == len(room.counts) and 8 * math.prod(sizes) <= _MOST_BYTES


def make_storage(unit: Unit, supply: Fresh, shape: Shape, room: Room) -> Symbol:
    """Return the variable for the copies: a pointer to allocated memory, or an array where there is no malloc."""
    element = msgspec.structs.replace(shape.element, const=False)
    name = f"{shape.symbol.name}_all"
    if has_memory_functions(unit):
        return supply.variable(name, Pointer(element), shape.symbol)
    count = max(1, math.prod(count.constant for count in room.counts))
    extent = number(count, shape.symbol.span) if shape.symbol.span is not None else None
    return supply.variable(name, Array(element, extent, count), shape.symbol)


def with_storage(
    program: Program, place: LoopContext, change: tuple[tuple[Stmt, ...], tuple[Stmt, ...]],
    memory: tuple[Symbol, Room, int],
) -> Program:  # fmt: skip
    """Return the program with statements in place of others, and the memory around them, or around a loop farther
    out."""
    run, new = change
    storage, room, above = memory
    outer = place.around[len(place.around) - above] if above else place.loop
    first, last = _memory(place.unit, storage, room, outer)
    if not above:
        return with_run(program, place.function, run, (*first, *new, *last))
    name = loop_names(place.function)[outer]
    program = with_run(program, place.function, run, new)
    function = next(f for _, f in program.functions() if f.symbol == place.function.symbol)
    names_now = loop_names(function)
    outer = next(loop for loop, _ in loops(function.body) if names_now[loop] == name)
    return with_run(program, function, (outer,), (*first, outer, *last))


def _memory(unit: Unit, storage: Symbol, room: Room, loop: Loop) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
    """Return the statements before and behind the loop."""
    if isinstance(storage.type, Pointer):
        return allocation(unit, storage, room, before(loop.span)), (release(storage, after(loop.span)),)
    span = before(loop.span)
    return (DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=storage, init=None),)),), ()
