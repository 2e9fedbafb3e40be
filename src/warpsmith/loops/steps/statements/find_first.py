"""A search that ends where it finds something: see FindFirst.

    for (i = 0; i < n; i++)        i_first: the smallest i with x[i] == key, n where there is none
        if (x[i] == key)      →    if there is one: return i_first
            return i;

Invariant: the condition has no effect, so that iterations behind the one that is found may be looked at too; what they
read is there, since no subscript leaves its object in any iteration (a guard, where that is not known).
Limits: of what is read, the object's end must be known: declared, allocated in sight, or by the run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace as replace_fields

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, jump
from warpsmith.loops.analysis.substitute import copy_tree, replace_values
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.walk_starts import Starts
from warpsmith.loops.writing.chosen import ChosenForm, can_number, find_chosen, write_chosen
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Section
from warpsmith.poly.isl.bound_values import same_value
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.regions.sections import known_extent, sections
from warpsmith.tree.allocations import allocation_lower, allocation_upper
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Return,
    SizeOf,
    Stmt,
    Unary,
    While,
    replace,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, SIZE_T, Array, Pointer, Record, Scalar, Symbol, Type, byte_size, element_type
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["FindFirst"]

_ADDRESS_BITS = 64


class FindFirst(Struct, frozen=True):
    """Find the first iteration in which a loop's condition holds, and leave the loop there.

    Legal where the loop does nothing before it is left, and what it would read behind that place is there. The search
    is a minimum, whose order is free.

    Step: loop=f/i

    Before:
        static int x[100];
        int f(int n, int key)
        {
            for (int i = 0; i < 100; i++)
                if (x[i] == key)
                    return i;
            return -1;
        }

    After:
        static int x[100];
        int f(int n, int key)
        {
            long long i_first = 100;
            for (int i = 0; i < 100; i++) {
                if (x[i] == key && i < i_first)
                    i_first = i;
            }
            if (i_first != 100) {
                int i = i_first;
                return i;
            }
            return -1;
        }
    """

    name: ClassVar[str] = "find-first"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the iterations behind the one that is found may be looked at, and under which guards."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        chosen = _search(loop, facts.summaries)
        if isinstance(chosen, Reason):
            return Unknown((chosen,))
        if not can_number(loop, last=False):
            return does_not_fit("its iterations cannot be numbered", loop, "a counter of type int")
        if find_marked(place.function, loop) is not None:
            return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
        trap = _find_trap(loop, chosen, facts.summaries)
        if trap is not None:
            return Unknown((trap,))
        guards = _reads_on(facts, place, loop, chosen)
        if isinstance(guards, Reason):
            return Unknown((guards,))
        starts = Starts(place, (), facts.origin(place.function).hidden)
        return Proved(tuple(_without_distances(guard, starts) for guard in guards))

    def apply(self, program: Program) -> Program:
        """Return the program with the search, and the way out of the loop behind it."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        chosen = _search(loop, Summaries.of(program))
        assert not isinstance(chosen, Reason)
        run = chosen.run[:-1] if isinstance(chosen.run[-1], Break) else chosen.run
        new = write_chosen(loop, replace_fields(chosen, run=run), Fresh.of(program), last=False)
        return with_run(program, place.function, (loop,), new)


def _search(loop: For, summaries: Summaries) -> ChosenForm | Reason:
    """Return the parts of a loop that is left where its condition holds, and only there."""
    chosen = find_chosen(loop, summaries)
    if isinstance(chosen, Reason):
        return chosen
    if not chosen.run or not isinstance(chosen.run[-1], Break | Return):
        return Reason("STP002", "the loop is not left where its condition holds", loop.header)
    inside = Block(span=loop.body.span, statements=chosen.run[:-1])
    left = jump(inside)
    if left is not None:
        return Reason("STP002", "the loop is left in more than one place", left.span)
    return chosen


def _find_trap(loop: For, chosen: ChosenForm, summaries: Summaries) -> Reason | None:
    """Return what might go wrong in iterations that the loop does not come to, or None."""
    for part in _tested(chosen):
        for node in walk(part):
            call = direct_call(node) if isinstance(node, Call) else None
            called = summaries.definitions.get(call) if call is not None else None
            inside = [*walk(called.body)] if called is not None else []
            beyond = any(isinstance(n, For | While | Index | Member | Call) or _may_trap(n) for n in inside)
            if beyond or _may_trap(node):
                return Reason("STP002", "the condition may not be computed where the loop does not come to", node.span)
            if isinstance(node, Call) and any(isinstance(a.type, Pointer | Array) for a in node.arguments):
                return Reason("STP002", "what a call reads where the loop does not come to is not known", node.span)
    hidden = {n.symbol for part in _tested(chosen) for n in names(part)} & written_symbols(loop.body)
    own = {d.symbol for stmt in chosen.temporaries for d in stmt.declarations} | {loop.variable}
    if hidden - own:
        return Reason("STP002", "the condition reads what the loop sets", chosen.condition.span)
    return None


def _may_trap(node: Node) -> bool:
    if isinstance(node, Unary):
        return node.op == "*"
    if isinstance(node, Member):
        return node.arrow
    divides = isinstance(node, Binary) and node.op in ("/", "%") and getattr(node.type, "kind", "") != "float"
    divisor = peel(node.right) if isinstance(node, Binary) else None
    return divides and not (isinstance(divisor, Literal) and divisor.value not in (0, -1))


def _tested(chosen: ChosenForm) -> Iterator[Expr]:
    """Yield what every iteration computes."""
    yield from (d.init for stmt in chosen.temporaries for d in stmt.declarations if d.init is not None)
    yield chosen.condition


# --- what is read is there


def _reads_on(facts: Facts, place: LoopContext, loop: For, chosen: ChosenForm) -> tuple[Assumption, ...] | Reason:
    """Return the guards under which all that any iteration may read lies in its object, or why that is not known."""
    loads = [*_loads(chosen)]
    if not loads:
        return ()
    own = {d.symbol for stmt in chosen.temporaries for d in stmt.declarations}
    for load in loads:
        odd = next((sub for sub in _subscripts(load) if not _is_counted(sub, loop.variable, own)), None)
        if odd is not None:
            text = "an element that the loop does not come to may lie outside: its place is not linear in the counter"
            return Reason("STP002", text, odd.span)
    plain = tuple(ExprStmt(span=load.span, expr=copy_tree(load)) for load in loads)
    temporaries: tuple[Stmt, ...] = tuple(copy_tree(stmt) for stmt in chosen.temporaries)
    probe = replace(loop, body=Block(span=loop.body.span, statements=(*temporaries, *plain)))
    program = with_run(facts.program, place.function, (loop,), (probe,))
    function = next(f for _, f in program.functions() if f.symbol == place.function.symbol)
    options = replace_fields(facts.options, guards=False, granted=())
    found = sections(program, function, (probe,), (probe,), options)
    if found.failures or found.assumptions:
        text = found.failures[0].text if found.failures else found.assumptions[0].text
        return Reason("STP002", f"how far it reads is not known: {text}", loop.header)
    guards: list[Assumption] = []
    for section in found.sections:
        guard = _guard(facts, place, loop, section)
        if isinstance(guard, Reason):
            return guard
        guards += guard
    bases = {_base(load) for load in loads}
    missing = bases - {section.symbol for section in found.sections}
    return Reason("STP002", "how far it reads is not known", loop.header) if missing else tuple(guards)


def _loads(chosen: ChosenForm) -> Iterator[Index]:
    """Yield the elements that every iteration may read, each whole: `a[i][j]`, not `a[i]`."""
    for part in _tested(chosen):
        inner = {id(peel(n.base)) for n in walk(part) if isinstance(n, Index)}
        yield from (n for n in walk(part) if isinstance(n, Index) and id(n) not in inner)


def _subscripts(load: Index) -> Iterator[Expr]:
    """Yield the subscripts of an element."""
    base: Expr = load
    while isinstance(base, Index):
        yield base.index
        base = peel(base.base)


def _is_counted(expr: Expr, counter: Symbol, own: set[Symbol]) -> bool:
    """Whether an expression is linear in the counter, of factors that stay as they are in the loop: then its values in
    the iterations that the loop does not come to lie between those of the first and the last. Where memory, or a
    temporary in `own`, decides, or values wrap, only an iteration that runs is known to have it in its bounds."""
    bare = peel(expr)
    match bare:
        case Literal() | SizeOf():
            return True
        case Name(symbol=symbol):
            return symbol not in own
        case Unary(op="+" | "-", operand=operand):
            return _is_counted(operand, counter, own)
        case Cast(operand=operand):
            return _keeps_address(bare.type, operand.type) and _is_counted(operand, counter, own)
        case Binary(op="+" | "-" | "*", left=left, right=right):
            twice = bare.op == "*" and all(counter in {n.symbol for n in names(side)} for side in (left, right))
            exact = not twice and _keeps_address(bare.type, bare.type)
            return exact and _is_counted(left, counter, own) and _is_counted(right, counter, own)
        case _:
            return False


def _keeps_address(type: Type, operand: Type) -> bool:
    """Whether arithmetic in a type gives the place that it would give without limits: it does not wrap, or as addresses
    do."""
    if not isinstance(type, Scalar) or not isinstance(operand, Scalar) or type.kind not in ("signed", "unsigned"):
        return False
    return type.bits >= operand.bits and (type.kind == "signed" or type.bits == _ADDRESS_BITS)


def _base(load: Index) -> Symbol | None:
    base: Expr = load
    while isinstance(base, Index):
        base = peel(base.base)
    return base.symbol if isinstance(base, Name) else None


def _without_distances(guard: Assumption, starts: Starts) -> Assumption:
    """Return a guard with distances between pointers in place of variables that hold them in front of the loop."""
    condition = guard.condition
    if condition is None:
        return guard
    values = {n.symbol: starts.of(n.symbol) for n in names(condition)}
    held = {symbol: value for symbol, value in values.items() if value is not None and _is_distance(value)}
    return replace_fields(guard, condition=replace_values(condition, held)) if held else guard


def _is_distance(value: Expr) -> bool:
    bare = peel(value)
    ends = (bare.left, bare.right) if isinstance(bare, Binary) and bare.op == "-" else ()
    return bool(ends) and all(isinstance(peel(end).type, Pointer) for end in ends)


def _is_natural(expr: Expr) -> bool:
    """Whether a bound is a number, 0 or more, in any case."""
    bare = peel(expr)
    if isinstance(bare, Conditional):
        return _is_natural(bare.then) and _is_natural(bare.other)
    return isinstance(bare, Literal) and isinstance(bare.value, int) and bare.value >= 0


def _guard(facts: Facts, place: LoopContext, loop: For, section: Section) -> list[Assumption] | Reason:
    """Return what must be tested so that a section lies in its object."""
    symbol, span = section.symbol, loop.header
    upper, starts = peel(section.upper), _is_natural(section.lower)
    extent = known_extent(facts.program, place.function, symbol, loop, facts.summaries)
    if extent is not None and starts:
        known = peel(extent)
        numbers = [e.value for e in (upper, known) if isinstance(e, Literal) and isinstance(e.value, int)]
        if same_value(section.upper, extent) or (len(numbers) == 2 and numbers[0] <= numbers[1]):
            return []
        condition = Binary(span=span, type=INT, op="<=", left=section.upper, right=extent)
        return [Assumption(f"{symbol.name} has all that the loop may read", "guarded", condition, span)]
    element = element_type(symbol.type)
    size = byte_size(element)
    if not isinstance(symbol.type, Pointer) or isinstance(element, Pointer) or size is None:
        return Reason("STP002", f"where {symbol.name} ends is not known", span)
    plain = replace_fields(element, const=False) if isinstance(element, Scalar | Record) else element
    bytes = SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(plain)})", value=size)
    end = allocation_upper(use(symbol, span), bytes, span)
    condition = Binary(span=span, type=INT, op="<=", left=section.upper, right=end)
    if not starts:
        first = allocation_lower(use(symbol, span), bytes, span)
        below = Binary(span=span, type=INT, op="<=", left=first, right=section.lower)
        condition = Binary(span=span, type=INT, op="&&", left=condition, right=below)
    text = f"{symbol.name} lies in a block of memory that has all that the loop may read"
    return [Assumption(text, "guarded", condition, span)]
