"""The shape of loops: perfect nests, ranges of counters, what may be moved, and what stands in a step's way.

    for (i = 0; i < n; i++)            range of i: [0, n)       trips: unknown
        for (j = i; j <= 7; j++)       range of j: [i, 8)       nest: i, j
            S;

Every question is about the tree as it stands; None as the blocker means that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.verdict import Reason, Unknown
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Break,
    Case,
    Cast,
    Conditional,
    Continue,
    Empty,
    Expr,
    For,
    Function,
    If,
    Index,
    Literal,
    Loop,
    MacroUse,
    Member,
    Name,
    Node,
    Pragma,
    Return,
    SizeOf,
    Stmt,
    Switch,
    Unary,
    Verbatim,
    VerbatimExpr,
    While,
)  # fmt: skip
from warpsmith.tree.types import INT, Scalar, Symbol, common_type, integer_range, is_integer
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = [
    "CounterRange",
    "alone",
    "compares_plainly",
    "counter_stays",
    "does_not_fit",
    "enclosing_facts",
    "find_marked",
    "find_restraint",
    "following",
    "jump",
    "movable_bounds",
    "nest_in_the_way",
    "perfect_nest",
    "range_of",
    "refuse_uncounted",
    "statements",
    "steady",
    "trip_count",
    "unrepeatable",
    "wrong_value",
]

_HARMLESS = ("scop", "endscop", "target", "unroll", "nounroll", "GCC unroll", "GCC diagnostic", "clang diagnostic")


# --- refusals


def does_not_fit(text: str, node: Node, *legal_if: str) -> Unknown:
    """Return the verdict STP002: the shape does not fit; `legal_if` says what would make it fit."""
    span = node.header if isinstance(node, For | While) else node.span
    return Unknown((Reason("STP002", text, span, legal_if=legal_if),))


def refuse_uncounted(loop: While) -> Unknown:
    """Return the verdict for a loop that is not counted."""
    return does_not_fit(f"the loop is not a counted one: {loop.reason}", loop)


def wrong_value(text: str, node: Node, *legal_if: str) -> Unknown:
    """Return the verdict STP003: a parameter's value is wrong."""
    span = node.header if isinstance(node, For | While) else node.span
    return Unknown((Reason("STP003", text, span, legal_if=legal_if),))


# --- nests


def statements(body: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a body."""
    return body.statements if isinstance(body, Block) else (body,)


def alone(body: Stmt) -> Stmt | None:
    """Return the only statement of `body` that does anything, blocks around it looked through; None if there are more
    or none. Pragma lines that bind no loop are looked over."""
    while isinstance(body, Block):
        inside = [s for s in body.statements if not isinstance(s, Empty) and not _is_harmless(s)]
        if len(inside) != 1:
            return None
        body = inside[0]
    return body


def perfect_nest(loop: For) -> tuple[For, ...]:
    """Return `loop` and the counted loops inside it, each of them the only thing in the body of the one before."""
    nest = [loop]
    while isinstance(inner := alone(nest[-1].body), For):
        nest.append(inner)
    return tuple(nest)


def following(function: Function, loop: Loop) -> Stmt | None:
    """Return the statement that stands directly after `loop` in its block (empty ones looked over)."""
    for node in walk(function.body):
        run = node.statements if isinstance(node, Block) else node.body if isinstance(node, Case) else ()
        for position, statement in enumerate(run):
            if statement is loop:
                rest = [s for s in run[position + 1 :] if not isinstance(s, Empty)]
                return rest[0] if rest else None
    return None


def jump(body: Node) -> Node | None:
    """Return a statement with which one iteration of the loop with this body is left early, or None."""
    stack: list[tuple[Node, bool, bool]] = [(body, True, True)]
    while stack:
        node, breaks, continues = stack.pop()
        match node:
            case Return() | Verbatim(control=True):
                return node
            case Break() if breaks:
                return node
            case Continue() if continues:
                return node
            case For(body=inner) | While(body=inner):
                stack.append((inner, False, False))
            case Switch(cases=cases):
                stack += [(s, False, continues) for case in cases for s in case.body]
            case Block(statements=inside):
                stack += [(s, breaks, continues) for s in inside]
            case If(then=then, other=other):
                stack += [(s, breaks, continues) for s in (then, other) if s is not None]
            case _:
                pass
    return None


def _is_harmless(stmt: Stmt) -> bool:
    return isinstance(stmt, Pragma) and (stmt.choice or stmt.text.split("pragma", 1)[-1].strip().startswith(_HARMLESS))


def find_marked(function: Function, loop: Loop) -> Pragma | None:
    """Return a pragma that tells a compiler about `loop`, or a loop inside it: it might not be true of other loops."""
    for node in walk(loop):
        if isinstance(node, Pragma) and not _is_harmless(node):
            return node
    for node in walk(function.body):
        run = node.statements if isinstance(node, Block) else node.body if isinstance(node, Case) else ()
        for position, statement in enumerate(run):
            if statement is not loop:
                continue
            # the end of an #ifdef around the pragma may stand between
            above = (s for s in reversed(run[:position]) if not (isinstance(s, Verbatim) and s.text.startswith("#")))
            before = next(above, None)
            return before if isinstance(before, Pragma) and not _is_harmless(before) else None
    return None


def find_restraint(facts: Facts, function: Function, loop: For) -> Unknown | None:
    """Return what forbids every rewriting of the loop as a whole: it is left early, its counter is read later or may be
    reached through a pointer, or a pragma speaks of it."""
    left = jump(loop.body)
    if left is not None:
        return does_not_fit(f"an iteration of the {loop.variable.name} loop may be left early", left)
    pragma = find_marked(function, loop)
    if pragma is not None:
        return does_not_fit("a pragma tells the compiler about this loop", pragma, "remove the pragma")
    return counter_stays(facts, function, loop, loop)


def counter_stays(facts: Facts, function: Function, run: Stmt, loop: For) -> Unknown | None:
    """Return why the counter of `loop` must have its final value after `run`, or None where nobody reads it there."""
    counter = loop.variable
    if loop.declares and counter not in facts.origin(function).hidden:
        return None
    name = counter.name
    if counter.storage not in ("local", "parameter") or counter in facts.origin(function).hidden:
        return does_not_fit(f"the counter {name} may be read elsewhere", loop, f"declare {name} in its loop")
    if counter in facts.liveness(function).after[run]:
        return does_not_fit(f"the counter {name} is read after its loop", loop, f"declare {name} in its loop")
    return None


def nest_in_the_way(facts: Facts, place: LoopContext, nest: tuple[For, ...], *, stays: bool) -> Unknown | None:
    """Return what forbids to exchange the headers of the nest, whatever the order of its body may be; `stays`:
    the outermost loop stays where it is."""
    loop = nest[0]
    pragma = find_marked(place.function, loop)
    if pragma is not None:
        return does_not_fit("a pragma tells the compiler about this loop", pragma, "remove the pragma")
    left = jump(nest[-1].body)
    if left is not None:
        return does_not_fit("the body may be left early", left)
    for inner in nest:
        stop = counter_stays(facts, place.function, loop, inner)
        if stop is None:
            stop = _unmovable(facts, place, nest, inner, stays=stays and inner is loop)
        if stop is not None:
            return stop
    return None


def _unmovable(facts: Facts, place: LoopContext, nest: tuple[For, ...], inner: For, *, stays: bool) -> Unknown | None:
    """Return why the bounds of one loop of the nest cannot be evaluated at another place; those of one that `stays`
    need to keep their values only."""
    name = inner.variable.name
    part = None if stays else movable_bounds(inner)
    if part is not None:
        return does_not_fit(f"a bound of the {name} loop is more than numbers and plain variables", part)
    later = {loop.variable for loop in nest[nest.index(inner) :]}
    counters = frozenset(loop.variable for loop in nest)
    for end in (inner.lower, inner.bound):
        used = {n.symbol for n in names(end)}
        if used & later or not steady(facts, place.function, end, nest[0], counters):
            return does_not_fit(f"a bound of the {name} loop changes while the nest runs", end)
    return None


# --- bounds


def movable_bounds(loop: For, *, loads: bool = False, divisions: bool = False) -> Node | None:
    """Return a part of the bounds of `loop` that must not be evaluated more often, or where it was not, or None. With
    `loads`, reading an element or a member is no such part, with `divisions` dividing is none: for where the loop is
    reached anyway."""
    for end in (loop.lower, loop.bound):
        for part in walk(end):
            loaded = loads and isinstance(part, Index | Member | Name) and not _is_volatile(part)
            divided = divisions and isinstance(part, Binary) and part.op in ("/", "%")
            if not loaded and not divided and not _is_arithmetic(part):
                return part
    return None


def _is_volatile(part: Expr) -> bool:
    return isinstance(part.type, Scalar) and part.type.volatile


def unrepeatable(facts: Facts, function: Function, loop: For) -> Unknown | None:
    """Return why the header cannot be evaluated again once a part of the loop's iterations has run, or None."""
    part = movable_bounds(loop, loads=True)
    if part is not None:
        return does_not_fit("a bound of the loop is more than a value that does not change", part)
    counter = frozenset({loop.variable})
    for end in (loop.lower, loop.bound):
        if not steady(facts, function, end, loop, counter):
            return does_not_fit(f"the loop may change the bound {' '.join(end.span.text.split())}", end)
    return None


def _is_arithmetic(part: Node) -> bool:
    """Whether evaluating this node alone has no effect and cannot fail: numbers and plain variables."""
    match part:
        case Literal() | SizeOf() | Conditional():
            return True
        case Name(type=type):
            return isinstance(type, Scalar) and not type.volatile
        case Cast(type=type):
            return is_integer(type)
        case Unary(op=op):
            return op in ("+", "-", "~", "!")
        case Binary(op="/" | "%", right=right):
            divisor = peel(right)
            return isinstance(divisor, Literal) and divisor.value not in (0, None)
        case Binary(op=op):
            return op not in (",",)
        case _:
            # What a macro expands to is looked at on its own.
            return isinstance(part, MacroUse)


def steady(facts: Facts, function: Function, expr: Expr, run: Stmt, apart: frozenset[Symbol] = frozenset()) -> bool:
    """Whether `expr`, of numbers and plain variables, keeps its value while `run` is executed; counters of loops inside
    `run` count as changing, those in `apart` do not."""
    done = facts.origin(function).effects(run)
    inside = {part.variable for part in walk(run) if isinstance(part, For)}
    changed = (done.direct_writes | done.element_writes | inside) - apart
    if any(n.symbol in changed for n in names(expr)):
        return False
    return not done.calls_unknown or _out_of_reach(facts, function, expr)


def _out_of_reach(facts: Facts, function: Function, expr: Expr) -> bool:
    """Whether a function that is not known cannot change the value of `expr`: it is made of the function's own
    variables, none of which something else has the address of."""
    hidden = facts.origin(function).hidden
    if any(isinstance(part, Index | Member) or (isinstance(part, Unary) and part.op == "*") for part in walk(expr)):
        return False
    symbols = {n.symbol for n in names(expr)}
    return all(s.storage in ("local", "parameter", "enumerator") and s not in hidden for s in symbols)


class CounterRange(Struct, frozen=True):
    """The counter of a loop with step 1 or -1 takes exactly the values low, …, past - 1, in that order or backwards."""

    low: Linear
    past: Linear


def range_of(loop: For) -> CounterRange | None:
    """Return the range of a counter; None where the step is not 1 or -1, a bound is not linear, or C's conversions may
    make it another (a negative int against an unsigned bound)."""
    if abs(loop.step) != 1 or loop.relation == "!=" or not compares_plainly(loop):
        return None
    start, bound = Linear.of(loop.lower), Linear.of(loop.bound)
    if start is None or bound is None:
        return None
    if loop.step > 0:
        return CounterRange(start, bound.shift(1 if loop.relation == "<=" else 0))
    return CounterRange(bound.shift(0 if loop.relation == ">=" else 1), start.shift(1))


def compares_plainly(loop: For) -> bool:
    """Whether counter, first value and bound are compared as the integers that they are; the counter cannot wrap."""
    counter = loop.variable.type
    if not isinstance(counter, Scalar) or counter.bits < INT.bits:
        return False
    if counter.kind == "unsigned" and (loop.step < 0 or loop.relation != "<"):
        return False
    # A bound may be wider than the counter: a signed counter would overflow, which has no meaning, before it wraps.
    shared = common_type(counter, loop.bound.type)
    if not isinstance(shared, Scalar) or shared.kind != counter.kind:
        return False
    if counter.kind == "unsigned" and shared.bits != counter.bits:
        return False
    return _converts(loop.lower, counter) and _converts(loop.bound, shared)


def _converts(expr: Expr, target: Scalar) -> bool:
    """Whether `expr`, converted to `target`, keeps its value."""
    own = peel(expr).type
    if not (isinstance(own, Scalar) and is_integer(own)):
        return False
    value = Linear.of(expr)
    if value is not None and value.number is not None:
        low, high = integer_range(target)
        return low <= value.number <= high
    if own.kind == target.kind:
        return own.bits <= target.bits
    return target.kind == "signed" and own.bits < target.bits


def trip_count(loop: For) -> int | None:
    """Return how often the body runs, where the bounds are numbers."""
    lower, bound = Linear.of(loop.lower), Linear.of(loop.bound)
    first = None if lower is None else lower.number
    last = None if bound is None else bound.number
    if first is None or last is None or loop.relation == "!=" or not compares_plainly(loop):
        return None
    way = (last - first) * (1 if loop.step > 0 else -1) + (1 if loop.relation in ("<=", ">=") else 0)
    return max(0, -(-way // abs(loop.step)))


def enclosing_facts(function: Function, around: Sequence[Loop], inside: Sequence[For] = ()) -> tuple[Linear, ...]:
    """Return forms that are >= 0 in the body of the last of `around` (and of `inside`, loops of one nest in it), as the
    loops' own conditions tell. What may change while they run is left out, but for their counters."""
    whole = [*around, *inside]
    if not whole:
        return ()
    counters = {loop.variable for loop in whole if isinstance(loop, For)}
    changed = written_symbols(whole[0]) - counters
    reached = _find_reached(function)

    def is_known(symbol: Symbol) -> bool:
        return symbol.storage in ("local", "parameter") and symbol not in changed and symbol not in reached

    rows = [row for loop in whole if isinstance(loop, For) for row in _rows(loop)]
    return tuple(row for row in rows if all(is_known(symbol) for symbol in row.symbols))


def _find_reached(function: Function) -> set[Symbol]:
    """Return the variables that something may change which does not assign them by name."""
    found: set[Symbol] = set()
    for part in walk(function.body):
        match part:
            case Unary(op="&", operand=operand):
                found.update(n.symbol for n in names(operand))
            case Verbatim(reads=reads, writes=writes) | VerbatimExpr(reads=reads, writes=writes):
                found.update((*reads, *writes))
            case _:
                pass
    return found


def _rows(loop: For) -> Iterator[Linear]:
    found = range_of(loop)
    if found is None:
        found = _stepped_range(loop)
    if found is not None:
        counter = Linear(((loop.variable, 1),))
        yield counter.minus(found.low)
        yield found.past.minus(counter).shift(-1)


def _stepped_range(loop: For) -> CounterRange | None:
    """Return a range that holds the values of a loop with another step."""
    kind = loop.variable.type
    lower, bound = Linear.of(loop.lower), Linear.of(loop.bound)
    signed = isinstance(kind, Scalar) and kind.kind == "signed"
    if not signed or loop.relation == "!=" or lower is None or bound is None or not compares_plainly(loop):
        return None
    closed = 1 if loop.relation in ("<=", ">=") else 0
    if loop.step > 0:
        return CounterRange(lower, bound.shift(closed))
    return CounterRange(bound.shift(1 - closed), lower.shift(1))
