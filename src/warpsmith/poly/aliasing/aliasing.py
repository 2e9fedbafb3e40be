"""Which objects may overlap: two names for one memory, and the host condition that excludes it.

    double a[N], b[N];                         distinct objects
    p = malloc(n); q = malloc(n);              distinct allocations, neither assigned anything else
    void f(double *restrict x, double *y)      distinct: what is based on x is reached through x only (C17 6.7.3.1)
    void f(double *x, double *y)               may overlap; distinct if x's touched section ends before y's starts, or
                                               where a section has no ends, if x and y point into different blocks

Invariant: a pair that is not returned names disjoint memory for the whole run. Element types prove nothing, and neither
does const (programs are built with -fno-strict-aliasing in mind).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Literal as OneOf

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.effects import effects, find_escaped
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions, Section, statement_spans
from warpsmith.poly.granted import grants
from warpsmith.poly.pointers.accesses import bases, node_accesses
from warpsmith.poly.pointers.derived import sources
from warpsmith.poly.pointers.pointers import Provenance, Root, is_persistent
from warpsmith.poly.regions.sections import run_sections
from warpsmith.tree.allocations import blocks_apart
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    Expr,
    Function,
    GlobalDecl,
    Literal,
    Name,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, SIZE_T, UNSIGNED_LONG, Array, Pointer, Scalar, Symbol, Type, byte_size
from warpsmith.tree.walk import peel, walk

__all__ = [
    "AliasPair",
    "Relation",
    "alias_pairs",
    "are_objects_apart",
    "different_allocations_text",
    "find_roots",
    "in_different_allocations",
    "is_still",
    "may_overlap",
    "relation",
]

Relation = OneOf["same", "distinct", "may"]


class AliasPair(Struct, frozen=True):
    """Two bases of a statement run, at least one of them written through, that are not proved distinct.

    `assumption` is the guard (or the user's word) under which they are distinct; None: no such host condition can be
    written. `reason` says why and what would help (POR004)."""

    left: Symbol
    right: Symbol
    assumption: Assumption | None
    reason: Reason


def relation(
    program: Program, function: Function, left: Symbol, right: Symbol, summaries: Summaries | None = None
) -> Relation:
    """Say whether what `left` and `right` (arrays, pointers, variables) name may overlap in `function`, one of them
    being written: restrict says nothing about two reads."""
    known = summaries if summaries is not None else Summaries.of(program)
    if left == right:
        return "same"
    where = known.provenance(function)
    pairs = ((a, b) for a in find_roots(where, left) for b in find_roots(where, right))
    return "may" if any(_may_meet(known, where, a, b) for a, b in pairs) else "distinct"


def are_objects_apart(
    program: Program, function: Function, pair: tuple[Symbol, Symbol], summaries: Summaries | None = None
) -> bool:
    """Whether two variables certainly name different objects as a whole: restrict only speaks of what is accessed."""
    where = (summaries if summaries is not None else Summaries.of(program)).provenance(function)
    restricted = any(_is_restrict(root) for symbol in pair for root in find_roots(where, symbol))
    return not restricted and relation(program, function, *pair, summaries) == "distinct"


def may_overlap(known: Summaries, where: Provenance, left: frozenset[Root], right: frozenset[Root]) -> bool:
    """Whether memory of one set of roots may be memory of the other, one of them being written."""
    return any(_may_meet(known, where, a, b) for a in left for b in right)


def alias_pairs(
    program: Program,
    function: Function,
    run: tuple[Stmt, ...],
    options: PolyOptions,
    summaries: Summaries | None = None,
) -> tuple[AliasPair, ...]:
    """Return the pairs of bases that `run` touches, one written, which may overlap; the guards hold at entry of `run`.

    No pair: every base that the run names is an object of its own. Also pairs a pointer with a global variable that
    is not an array. Names made inside the run stand for what they point to; so do local pointers, but beside their own
    name, since a model may follow them to the object. Call it inside a `budget`; raises OutOfBudgetError.
    """
    known = summaries if summaries is not None else Summaries.of(program)
    question = ("alias pairs", function, run, options)
    return known.remember(question, lambda: _alias_pairs(known, function, run, options))


def _alias_pairs(
    known: Summaries, function: Function, run: tuple[Stmt, ...], options: PolyOptions
) -> tuple[AliasPair, ...]:
    program = known.program
    read, written = _find_touched(known, function, run)
    pairs: list[tuple[Symbol, Symbol, Assumption | None]] = []
    for left, right in combinations(sorted(read | written, key=lambda s: (s.name, s.key)), 2):
        if left not in written and right not in written:
            continue
        if not (isinstance(left.type, Pointer) or isinstance(right.type, Pointer)):
            continue
        if relation(program, function, left, right, known) != "distinct":
            pairs.append((left, right, grants(options.granted, "noalias", left.name, right.name)))
    # only of what is compared
    wanted = frozenset(symbol for *pair, granted in pairs if granted is None for symbol in pair)
    bounded: dict[Symbol, Section] = {}
    if wanted and options.guards:
        answer = run_sections(program, function, run, options, known, wanted=wanted)
        bounded = {section.symbol: section for section in answer.sections}
    found: list[AliasPair] = []
    span = statement_spans(run)
    for left, right, granted in pairs:
        assumption = granted if granted is not None else _guard(bounded, left, right, span)
        if assumption is None and options.guards:
            assumption = _in_different_allocations(known, function, run, (left, right))
        found.append(AliasPair(left, right, assumption, _reason(left, right, span)))
    return tuple(found)


def _reason(left: Symbol, right: Symbol, span: Span) -> Reason:
    text = f"{left.name} and {right.name} may overlap"
    remedies = tuple(f"declare {s.name} restrict" for s in (left, right) if s.storage == "parameter")
    granted = f"noalias({left.name}, {right.name})"
    return Reason("POR004", text, span, legal_if=remedies, settled_by=(granted,))


def find_roots(where: Provenance, symbol: Symbol) -> frozenset[Root]:
    """Return where the memory that a variable names may have been made."""
    if not isinstance(symbol.type, Pointer):
        return frozenset({Root("object", symbol)})
    held = where.roots.get(symbol)
    return held if held is not None else frozenset({Root("entry", symbol)})


def _may_meet(known: Summaries, where: Provenance, left: Root, right: Root) -> bool:
    """Whether two roots may be overlapping memory."""
    if left == right:
        return True
    if "unknown" in (left.kind, right.kind):
        other = right if left.kind == "unknown" else left
        if other.kind == "object" and other not in where.escaped:
            return _is_reachable(known, other) and (
                isinstance(_type(other), Array) or other.symbol in known.find_held()
            )
        return where.is_exposed(other) and not (_is_restrict(other) and other not in where.escaped)
    if "fresh" in (left.kind, right.kind) or left.kind == right.kind == "object":
        return False
    if left.kind == right.kind:
        return not (_is_restrict(left) or _is_restrict(right) or (_owns(known, left) and _owns(known, right)))
    entry, variable = (left, right) if left.kind == "entry" else (right, left)
    return not (_is_restrict(entry) or _owns(known, entry)) and _is_handed(known, entry, variable)


def _type(root: Root) -> Type | None:
    return None if root.symbol is None else root.symbol.type


def _is_restrict(root: Root) -> bool:
    symbol = root.symbol
    if root.kind != "entry" or symbol is None or symbol.storage != "parameter":
        return False
    return isinstance(symbol.type, Pointer) and symbol.type.restrict


def _owns(known: Summaries, root: Root) -> bool:
    """Whether the root is a global pointer that always holds memory of its own."""
    return root.symbol is not None and root.symbol in known.stable


def _is_reachable(known: Summaries, root: Root) -> bool:
    """Whether a caller may have a pointer to the variable: a local one is younger than the function's parameters."""
    symbol = root.symbol
    if symbol is None or not is_persistent(symbol):
        return False
    return isinstance(symbol.type, Array) or symbol in known.address_taken


def _is_handed(known: Summaries, entry: Root, variable: Root) -> bool:
    """Whether what a pointer of a caller's points to may be the variable: its address stands in memory, or a caller
    was lent it."""
    if not _is_reachable(known, variable) or isinstance(_type(variable), Array) or variable.symbol in known.find_held():
        return _is_reachable(known, variable)
    owner = known.owner(entry.symbol) if entry.symbol is not None and entry.symbol.storage == "parameter" else None
    return owner is None or variable.symbol in known.find_lent(owner)


def _find_touched(known: Summaries, function: Function, run: tuple[Stmt, ...]) -> tuple[set[Symbol], set[Symbol]]:
    """Return the bases whose elements the run reads and writes, and the global variables that it does."""
    where = known.provenance(function)
    done = known.effects_of((t for stmt in run for t in node_accesses(stmt)), where)
    own = {n.symbol for stmt in run for n in walk(stmt) if isinstance(n, VarDecl)}
    read = _outside(done.load_bases, own, (run, where)) | set(filter(_is_shared, done.reads))
    written = _outside(done.store_bases, own, (run, where)) | set(filter(_is_shared, done.writes))
    return read, written


def _is_shared(symbol: Symbol) -> bool:
    return is_persistent(symbol) and not isinstance(symbol.type, Array | Pointer)


def _outside(bases: set[Symbol], own: set[Symbol], about: tuple[tuple[Stmt, ...], Provenance]) -> set[Symbol]:
    """Return the bases with what local pointers were made from beside them, or instead where the run declares them and
    shows all that they are made from."""
    run, where = about
    found: set[Symbol] = set()
    for symbol in bases:
        if not isinstance(symbol.type, Pointer):
            found |= {symbol} - own
            continue
        given = sources(run, symbol) if symbol in own else None
        found |= {symbol} if given is None else given - own
        if symbol.storage == "local":
            found |= {r.symbol for r in where.roots.get(symbol, frozenset()) if r.symbol is not None} - own
    return found


def _guard(bounded: Mapping[Symbol, Section], left: Symbol, right: Symbol, span: Span) -> Assumption | None:
    """Return the condition that the touched parts of the two objects do not overlap."""
    ends = [_ends(bounded.get(symbol), symbol, span) for symbol in (left, right)]
    if ends[0] is None or ends[1] is None:
        return None
    (low, high), (other_low, other_high) = ends[0], ends[1]
    before = Binary(span=span, type=INT, op="<=", left=high, right=other_low)
    after = Binary(span=span, type=INT, op="<=", left=other_high, right=low)
    condition = Binary(span=span, type=INT, op="||", left=before, right=after)
    text = f"what is touched of {left.name} and of {right.name} does not overlap"
    return Assumption(text, "guarded", condition, span)


def _in_different_allocations(
    known: Summaries, function: Function, run: tuple[Stmt, ...], pair: tuple[Symbol, Symbol]
) -> Assumption | None:
    """Return the condition that the two lie in different blocks of memory, None where their addresses move."""
    span = statement_spans(run)
    if not all(is_still(known, function, run, symbol) for symbol in pair):
        return None
    # where the program gives one the address of the other, the test would only ever fail
    if _is_given(known, *pair) or _is_given(known, *reversed(pair)):
        return None
    return in_different_allocations(function, pair, span)


def _is_given(known: Summaries, pointer: Symbol, other: Symbol) -> bool:
    """Whether a global pointer gets the address of an array or a variable somewhere in the program."""
    if not is_persistent(pointer) or not isinstance(pointer.type, Pointer) or isinstance(other.type, Pointer):
        return False
    return other in known.remember("given addresses", lambda: _find_given(known)).get(pointer, frozenset())


def _find_given(known: Summaries) -> Mapping[Symbol, set[Symbol]]:
    """Return for each global pointer the variables from which its values are made anywhere in the program."""
    found: dict[Symbol, set[Symbol]] = {}
    declared = (item for unit in known.program.units for item in unit.items if isinstance(item, GlobalDecl))
    for node in (n for top in (*declared, *known.definitions.values()) for n in walk(top)):
        pointer, given = (node.symbol, node.init) if isinstance(node, VarDecl) else (None, None)
        if isinstance(node, Assign) and isinstance(named := peel(node.target), Name):
            pointer, given = named.symbol, node.value
        if pointer is not None and given is not None and is_persistent(pointer) and isinstance(pointer.type, Pointer):
            found.setdefault(pointer, set()).update(base.symbol for base in bases(given) if base.symbol is not None)
    return found


def in_different_allocations(function: Function, pair: tuple[Symbol, Symbol], span: Span) -> Assumption:
    """Return the guard that what two variables of a function name lies in different blocks of memory."""
    left, right = sorted(pair, key=lambda s: (s.name, s.key))
    apart = blocks_apart(function, _address(left, span), _address(right, span), span)
    return Assumption(different_allocations_text(left, right), "guarded", apart, span)


def different_allocations_text(left: Symbol, right: Symbol) -> str:
    """Return that guard in words."""
    first, second = sorted((left.name, right.name))
    return f"{first} and {second} lie in different blocks of memory"


def is_still(known: Summaries, function: Function, run: tuple[Stmt, ...], symbol: Symbol) -> bool:
    """Whether the address that a variable holds, or has, is there before `run` and the same all the while."""
    if any(isinstance(n, VarDecl) and n.symbol == symbol for stmt in run for n in walk(stmt)):
        return False
    if not isinstance(symbol.type, Pointer):
        return True
    if symbol in find_escaped(known.program, function, known):
        return False
    done = [effects(known.program, stmt, function, known) for stmt in run]
    unseen = is_persistent(symbol) and any(e.calls_unknown for e in done)
    return not unseen and not any(symbol in e.direct_writes for e in done)


def _address(symbol: Symbol, span: Span) -> Expr:
    """Return the address of what a variable names: its value, where it is a pointer."""
    name = Name(span=span, type=symbol.type, symbol=symbol)
    if isinstance(symbol.type, Array | Pointer):
        return name
    return Unary(span=span, type=Pointer(symbol.type), op="&", operand=name)


def _ends(section: Section | None, symbol: Symbol, span: Span) -> tuple[Expr, Expr] | None:
    """Return the first address that is touched and the one past the last, as `unsigned long`."""
    name = Name(span=span, type=symbol.type, symbol=symbol)
    if not isinstance(symbol.type, Array | Pointer):
        address = Unary(span=span, type=Pointer(symbol.type), op="&", operand=name)
        start = Cast(span=span, type=UNSIGNED_LONG, operand=address)
        size = SizeOf(span=span, type=SIZE_T, text=f"sizeof({symbol.name})", value=byte_size(symbol.type))
        return start, Binary(span=span, type=UNSIGNED_LONG, op="+", left=start, right=size)
    if section is None:
        return None
    start = Cast(span=span, type=UNSIGNED_LONG, operand=name)
    size = SizeOf(span=span, type=SIZE_T, text=f"sizeof({_element_text(symbol)})", value=_bytes(section.element))
    low, high = (_offset(start, bound, size, span) for bound in (section.lower, section.upper))
    return low, high


def _offset(start: Expr, elements: Expr, size: Expr, span: Span) -> Expr:
    if isinstance(elements, Literal) and elements.value == 0:
        return start
    count = Cast(span=span, type=UNSIGNED_LONG, operand=elements)
    moved = Binary(span=span, type=UNSIGNED_LONG, op="*", left=count, right=size)
    return Binary(span=span, type=UNSIGNED_LONG, op="+", left=start, right=moved)


def _element_text(symbol: Symbol) -> str:
    """Return an lvalue of the element type, `a[0][0]`."""
    depth = 0
    type: Type = symbol.type
    while isinstance(type, Array) or (isinstance(type, Pointer) and depth == 0):
        type = type.of if isinstance(type, Array) else type.to
        depth += 1
    return symbol.name + "[0]" * depth


def _bytes(element: Type) -> int | None:
    return element.bits // 8 if isinstance(element, Scalar) else None
