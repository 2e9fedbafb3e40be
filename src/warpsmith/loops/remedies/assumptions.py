"""Facts that the user could assert: which are worth a try, and which the program itself shows to be false.

    a[p[i]] = …          injective(p), unless p is filled with p[i] = i / 2, with i % 7, with one value, by calloc
    *x and *y overlap?   noalias(x, y), unless some call passes one object for both

Invariant: nothing here is more than a candidate. What the loop reads back through the same subscript (`h[k[i]]++`) is a
histogram, whose keys repeat as a rule: nothing is proposed for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from warpsmith.loops.remedies.model import GrantAssumption
from warpsmith.poly.aliasing.aliasing import relation
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    InitList,
    Literal,
    Name,
    Node,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Symbol, is_integer
from warpsmith.tree.walk import loops, names, peel, root_symbol, walk, written_symbols

__all__ = ["assumptions", "is_visibly_repeated"]

_REPEATING = frozenset(("%", "/", "&", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_MOST_NAMES = 64

# a variable of one function, or of the whole program
Spot = tuple[Function | None, Symbol]


def assumptions(facts: Facts, known: LoopFacts) -> Iterator[tuple[GrantAssumption, ...]]:
    """Yield groups of assumptions that could make a loop parallel, and that nothing in the program refutes."""
    for table in _tables(known):
        if not is_visibly_repeated(facts.program, known.function, table):
            yield (GrantAssumption(f"injective({table.name})"),)
    apart = tuple(
        GrantAssumption(f"noalias({one.name}, {other.name})")
        for one, other in _overlapping(facts, known)
        if not _is_passed_twice(facts.program, known.function, one, other)
    )
    if apart:
        yield apart


def _tables(known: LoopFacts) -> tuple[Symbol, ...]:
    """Return the index tables that choose what the loop writes and does not read back, in the order of the text."""
    loop = known.loop
    stored = [t for part in walk(loop.body) if (t := _target(part)) is not None]
    reads = [n for n in walk(loop.body) if isinstance(n, Index) and not any(n is t for t in stored)]
    found: dict[Symbol, None] = {}
    for target in (t for t in stored if isinstance(t, Index)):
        text = print_expr(target)
        if any(print_expr(read) == text for read in reads) or _is_compound(loop, target):
            continue
        for part in walk(target.index):
            if isinstance(part, Index) and isinstance(base := peel(part.base), Name) and is_integer(part.type):
                found[base.symbol] = None
    return tuple(found)


def _is_compound(loop: Node, target: Expr) -> bool:
    return any(
        (isinstance(part, Assign) and part.op != "=" and peel(part.target) is target)
        or (isinstance(part, Unary) and peel(part.operand) is target)
        for part in walk(loop)
    )


def _target(part: Node) -> Expr | None:
    if isinstance(part, Assign):
        return peel(part.target)
    if isinstance(part, Unary) and part.op in ("++x", "--x", "x++", "x--"):
        return peel(part.operand)
    return None


def is_visibly_repeated(program: Program, function: Function, table: Symbol) -> bool:
    """Whether the program itself fills a table with values of which some are equal, as far as its text shows."""
    spots = _same_memory(program, function, table)
    zeroed = stored = False
    for holder, symbol in spots:
        functions = [f for _, f in program.functions() if holder is None or f is holder]
        for body in (f.body for f in functions):
            around = dict(loops(body))
            for part in walk(body):
                if isinstance(part, VarDecl) and part.symbol == symbol and part.init is not None:
                    zeroed |= _is_call_of(part.init, "calloc")
                    if isinstance(part.init, InitList) and _has_equal_items(part.init):
                        return True
                if isinstance(part, Assign) and isinstance(t := peel(part.target), Index) and root_symbol(t) == symbol:
                    stored = True
                    if _repeats(part, around):
                        return True
    return zeroed and not stored


def _same_memory(program: Program, function: Function, table: Symbol) -> tuple[Spot, ...]:
    """Return the names under which functions of the program know a table: arguments up and down the calls."""
    functions = {f.symbol: f for _, f in program.functions()}
    found: dict[Spot, None] = {}
    pending = [_spot(function, table)]
    while pending and len(found) < _MOST_NAMES:
        spot = pending.pop()
        if spot in found:
            continue
        found[spot] = None
        for holder in functions.values():
            for call in (part for part in walk(holder.body) if isinstance(part, Call)):
                name = direct_call(call)
                callee = functions.get(name) if name is not None else None
                if callee is None:
                    continue
                for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
                    given = _object(argument)
                    if given is None:
                        continue
                    ends = (_spot(holder, given), _spot(callee, parameter))
                    pending += [ends[1]] if ends[0] == spot else [ends[0]] if ends[1] == spot else []
    return tuple(found)


def _object(argument: Expr) -> Symbol | None:
    """Return the variable into whose memory an argument leads: `a` of `a + 1`, of `&a[1]`."""
    argument = peel(argument)
    while isinstance(argument, Binary) and argument.op in ("+", "-"):
        left = peel(argument.left)
        argument = left if isinstance(left.type, Pointer | Array) else peel(argument.right)
    return root_symbol(argument)


def _spot(function: Function, symbol: Symbol) -> Spot:
    return (None if symbol.storage in ("global", "static") else function), symbol


def _is_call_of(expr: Expr, name: str) -> bool:
    return any(
        isinstance(p, Call) and (called := direct_call(p)) is not None and called.name == name for p in walk(expr)
    )


def _has_equal_items(items: InitList) -> bool:
    numbers = [item.value for item in map(peel, items.items) if isinstance(item, Literal)]
    return len(set(numbers)) < len(numbers)


def _repeats(store: Assign, around: dict[For | While, tuple[For | While, ...]]) -> bool:
    """Whether a store into a table shows that values repeat: a value that no loop around it changes, or one that is cut
    down to fewer."""
    if store.op != "=":
        return False
    value = peel(store.value)
    if any(isinstance(p, Conditional | Call) or (isinstance(p, Binary) and p.op in _REPEATING) for p in walk(value)):
        return True
    inside = [loop for loop in around if any(part is store for part in walk(loop.body))]
    if not inside:
        return False
    changed = {symbol for loop in inside for symbol in written_symbols(loop)}
    loaded = any(isinstance(part, Index | Unary) for part in walk(value))
    return not loaded and not any(name.symbol in changed for name in names(value))


def _overlapping(facts: Facts, known: LoopFacts) -> Iterator[tuple[Symbol, Symbol]]:
    """Yield the pairs of pointers of the loop that may overlap, one of them written through."""
    loop = known.loop
    stored = {root for part in walk(loop.body) if (t := _target(part)) is not None and (root := root_symbol(t))}
    reached = dict.fromkeys(n.symbol for n in names(loop.body) if isinstance(n.symbol.type, Pointer | Array))
    for one, other in combinations(reached, 2):
        if not stored & {one, other} or not any(isinstance(s.type, Pointer) for s in (one, other)):
            continue
        if relation(facts.program, known.function, one, other, facts.summaries) == "may":
            yield one, other


def _is_passed_twice(program: Program, function: Function, one: Symbol, other: Symbol) -> bool:
    """Whether some call of the function passes one object for both parameters."""
    if one not in function.parameters or other not in function.parameters:
        return False
    places = function.parameters.index(one), function.parameters.index(other)
    for _, caller in program.functions():
        for call in (part for part in walk(caller.body) if isinstance(part, Call)):
            if direct_call(call) == function.symbol and len(call.arguments) > max(places):
                roots = [_object(call.arguments[place]) for place in places]
                if roots[0] is not None and roots[0] == roots[1]:
                    return True
    return False
