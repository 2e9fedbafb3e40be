"""Which element an lvalue names: base variable, pointer place, and the path of subscripts and member names.

    a[i][j].x     base a, path (i, j in 0..M, "x")
    *(p + i)      base p, path (i)
    s->data[i]    base s, place "s->data", path (i)        the pointer itself is read from memory
    q[j], q = a + i*N    base a, path (i*N + j)            a local pointer with one known value
    a_flat[a_at[i] + j]  base a_flat, path (i, j)          rows that are apart, where they start (tree/allocations.py)

An array decays to a pointer to its first element; adding to a pointer adds to the last subscript.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.poly.isl.formula import TRUE
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, constant
from warpsmith.poly.regions.region import ROW_STEP, MemberStep, Path, Subscript, TableStep
from warpsmith.poly.regions.state import PointerValue, State
from warpsmith.tree.nodes import Binary, Call, Cast, Expr, Index, Member, Name, Node, Unary
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import LONG_LONG, Array, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import names, peel

__all__ = ["address_of", "followed_pointers", "is_returned", "place_of"]

_RAW = "?"


def place_of(state: State, expr: Expr) -> PointerValue | None:
    """Return the object that an lvalue names (its path complete); None where even the base is not known."""
    expr = peel(expr)
    match expr:
        case Name(symbol=symbol):
            return PointerValue(symbol, "", ())
        case Index(base=base, index=index):
            pointer = address_of(state, base)
            return None if pointer is None else _move_address(state, pointer, index, 1)
        case Unary(op="*", operand=operand):
            return address_of(state, operand)
        case Member(base=base, field=field, arrow=arrow):
            whole = address_of(state, base) if arrow else place_of(state, base)
            owner = _pointee(peel(base).type) if arrow else peel(base).type
            if whole is None:
                return None
            opaque = not isinstance(owner, Record) or owner.union
            return PointerValue(whole.base, whole.place, (*whole.path, MemberStep(field)), whole.known and not opaque)
        case _:
            return None


def is_returned(expr: Expr) -> bool:
    """Whether an expression names a part of a record that a call returned (`f(x).r`), which is in no memory."""
    expr = peel(expr)
    while isinstance(expr, Member) and not expr.arrow:
        expr = peel(expr.base)
    return isinstance(expr, Call) and isinstance(expr.type, Record)


def address_of(state: State, expr: Expr) -> PointerValue | None:
    """Return the value of a pointer expression (an array decays); None where even the base is not known."""
    expr = peel(expr)
    if isinstance(expr.type, Array):
        return _decay_array(state, expr, expr.type)
    match expr:
        case Name(symbol=symbol):
            return _variable(state, symbol)
        case Binary(op="+" | "-", left=left, right=right):
            return _sum(state, expr, left, right)
        case Unary(op="&", operand=operand):
            return _take_address(state, operand)
        case Cast(operand=operand):
            return _cast(state, expr, operand)
        case Index() | Member() | Unary(op="*"):
            return _loaded_pointer(state, expr)
        case _:
            return None


def _variable(state: State, symbol: Symbol) -> PointerValue | None:
    if symbol in state.pointers:
        return state.pointers[symbol]
    if symbol in state.written or symbol in state.hidden:
        return PointerValue(symbol, _RAW, (), known=False)
    if symbol in state.fixed:
        held = address_of(state, state.fixed[symbol])
        if held is not None and held.known and _pointee(peel(state.fixed[symbol]).type) == _pointee(symbol.type):
            return held
    return PointerValue(symbol, "", (Subscript(ZERO),))


def followed_pointers(state: State, node: Node) -> Mapping[Symbol, Symbol]:
    """Return the pointers of outside that `node` names and that are followed, with what their addresses are made of."""
    named = {name.symbol for name in names(node)} & state.fixed.keys()
    found = {symbol: _variable(state, symbol) for symbol in named - state.pointers.keys()}
    return {symbol: held.base for symbol, held in found.items() if held is not None and held.base != symbol}


def _decay_array(state: State, expr: Expr, type: Array) -> PointerValue | None:
    """An array lvalue becomes a pointer to its element 0; inner arrays carry the extent of their dimension."""
    whole = place_of(state, expr)
    if whole is None:
        return None
    inner = bool(whole.path) and isinstance(whole.path[-1], Subscript)
    extent = _extent(state, type, whole.base) if inner else None
    known = whole.known and not (inner and extent is None)
    return PointerValue(whole.base, whole.place, (*whole.path, Subscript(ZERO, extent)), known)


def _extent(state: State, type: Array, base: Symbol) -> Polynomial | None:
    if type.count is not None:
        return constant(type.count)
    if type.extent is None or any(n.symbol in state.hidden or n.symbol in state.unstable for n in names(type.extent)):
        return None
    return state.affine.exact(type.extent)


def _sum(state: State, expr: Binary, left: Expr, right: Expr) -> PointerValue | None:
    pointer, index = (left, right) if is_integer(peel(right).type) else (right, left)
    if not is_integer(peel(index).type):
        return None
    base = address_of(state, pointer)
    return None if base is None else _move_address(state, base, index, -1 if expr.op == "-" else 1)


def _move_address(state: State, pointer: PointerValue, index: Expr, sign: int) -> PointerValue:
    """Return the pointer moved by `sign * index` elements."""
    if not pointer.known or not pointer.path or not isinstance(pointer.path[-1], Subscript):
        return PointerValue(pointer.base, pointer.place, pointer.path, known=False)
    last = pointer.path[-1]
    plain = sign == 1 and last == Subscript(ZERO)
    chosen = _injective(state, index) if plain else None
    if chosen is not None:
        return PointerValue(pointer.base, pointer.place, (*pointer.path[:-1], chosen[0], Subscript(chosen[1])))
    row = _row(state, pointer, index) if plain else None
    if row is not None:
        start = PointerValue(pointer.base, pointer.place, row[0])
        return start if row[1] is None else _move_address(state, start, row[1], 1)
    step = _offset(state, index)
    if last.value is None or step is None:
        return PointerValue(pointer.base, pointer.place, (*pointer.path[:-1], Subscript(None, last.extent)))
    value = last.value + step.scale(sign)
    return PointerValue(pointer.base, pointer.place, (*pointer.path[:-1], Subscript(value, last.extent)))


def _offset(state: State, index: Expr) -> Polynomial | None:
    """Return a subscript's value; a 64-bit unsigned one is address arithmetic, so a wrapped -1 is -1.

    Reaching element 2^62 on the other side is no program: the value must stay below 2^62 in size, or be an element
    number that its type holds.
    """
    expr = peel(index)
    type = expr.type
    if not isinstance(type, Scalar) or type.kind != "unsigned" or type.bits < LONG_LONG.bits:
        return state.affine.exact(expr)
    found = state.affine.residue(expr)
    if found is None or found[1]:
        return None if found is None else found[0]
    limits = (found[0].shift(2**62), constant(2**64 - 1) - found[0])
    return found[0] if state.require(limits, expr) else None


def _injective(state: State, index: Expr) -> tuple[TableStep, Polynomial] | None:
    """`idx[e]` where the user asserted injective(idx): equal elements exactly where e is equal."""
    expr = peel(index)
    if not isinstance(expr, Index) or not isinstance(base := peel(expr.base), Name):
        return None
    granted = state.injective.get(base.symbol.name)
    if granted is None or base.symbol in state.written or base.symbol in state.stored:
        return None
    value = _offset(state, expr.index)
    linear = None if value is None else state.vocabulary.linear(value)
    if linear is None:
        return None
    state.assume(granted, TRUE)
    return TableStep(base.symbol.name), linear


def _row(state: State, pointer: PointerValue, index: Expr) -> tuple[Path, Expr | None] | None:
    """Return the path of a row, `a_at[e]` or `a_at[e] + k`, and what is added to its start; None where the subscript
    names no row, or two rows may share elements."""
    starts, apart = state.rows.get(pointer.base, (None, None))
    added = peel(index)
    sides = (added.left, added.right) if isinstance(added, Binary) and added.op == "+" else (added, None)
    first, rest = peel(sides[0]), sides[1]
    named = peel(first.base) if isinstance(first, Index) else None
    if starts is None or len(pointer.path) > 1 or not isinstance(first, Index):
        return None
    if not isinstance(named, Name) or named.symbol != starts or not (apart is None or state.guards):
        return None
    value = _offset(state, first.index)
    linear = None if value is None else state.vocabulary.linear(value)
    if linear is None:
        return None
    if apart is not None:
        state.assume(apart, TRUE)
    return (TableStep(starts.name), Subscript(linear), ROW_STEP, Subscript(ZERO)), rest


def _take_address(state: State, operand: Expr) -> PointerValue | None:
    """`&lvalue`: a pointer to it, when its last step is a subscript; else to an object of its own."""
    whole = place_of(state, operand)
    if whole is None:
        return None
    if whole.path and isinstance(whole.path[-1], Subscript):
        return whole
    return PointerValue(whole.base, whole.place, whole.path, known=False)


def _cast(state: State, expr: Cast, operand: Expr) -> PointerValue | None:
    """A cast that keeps the element type keeps the address; another one loses the shape, not the base. A number that is
    made an address may be that of any object."""
    inner = address_of(state, operand) if isinstance(peel(operand).type, Pointer | Array) else None
    if inner is None:
        return None
    if _pointee(expr.type) == _pointee(peel(operand).type):
        return inner
    return PointerValue(inner.base, inner.place, inner.path, known=False)


def _loaded_pointer(state: State, expr: Expr) -> PointerValue | None:
    """A pointer read from memory: a place of its own if it cannot change in the scope."""
    whole = place_of(state, expr)
    if whole is None or not isinstance(expr.type, Pointer):
        return None
    if not state.stable(expr):
        return PointerValue(whole.base, _RAW, (), known=False)
    return PointerValue(whole.base, "".join(print_expr(expr, nothing).split()), (Subscript(ZERO),))


def _pointee(type: Type) -> Type | None:
    return type.to if isinstance(type, Pointer) else type.of if isinstance(type, Array) else None
