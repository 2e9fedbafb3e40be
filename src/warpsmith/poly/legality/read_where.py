"""For which values of some counters a reference reads memory, as a condition that each of many threads can test.

    for (i …) for (j = 0; j <= i; j++) for (k = 0; k < m; k++) … A[j][k] …

    A[j][k] by j and k       j < n && k < m        (i is projected out: some i >= j reads it)
    A[j - 1][k] as A[j][k] moved by -1 along j:    0 <= j + 1 && j + 1 < n && k < m, or where another one reads

Invariant: wherever the condition holds for some values of the counters, the run reads the element that the reference
is at these values; it holds for all values at which the run reads it.
Limits: references that are read wherever their statement runs, and nothing on data decides whether it does; domains
that are few pieces, without quotients, once the other counters are gone; where references are moved, domains whose
quotients hang on no counter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.expression_writer import ExpressionWriter, IslVariable, NotWritableError
from warpsmith.poly.isl.formula import And, Compare, Formula, Or, at_least, atoms_of, both, either, follows
from warpsmith.poly.isl.host import operation
from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.polynomial import constant as number
from warpsmith.poly.isl.space import OutOfBudgetError, Set, budget, gist, make_set, parameter_formula
from warpsmith.poly.legality.joined import join_sets
from warpsmith.poly.legality.moved import Distance, find_moved
from warpsmith.poly.regions.covers import is_exact
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Expr, For, Loop, Stmt
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import peel

__all__ = ["ReadQuestion", "ReadWhere", "find_read_where"]

_FEW_PIECES = 2
# of what all neighbors of an element in a star of three dimensions read
_FEW_MOVED = 6
_NARROW = 32


class ReadQuestion(Struct, frozen=True):
    """`nodes`: references in `run` (statements of one block) that are one element wherever the counters of the loops
    `by` have the same values. `around`: the loops around the run. `own`: what the condition calls these counters.
    `floors`: counters that are never below the value that their loops start at, where the condition is tested.
    `entered`: loops that are entered at all there. `given`: what is tested where the run is entered.
    `moved`: by the identity of a node, what is added to the counters of `by` where the reference is read, to get those
    at which it would be the one that stands for all of them; `between`: what lies between such elements may be taken
    to be read as well, where that makes the condition shorter."""

    origin: Origin
    run: tuple[Stmt, ...]
    nodes: tuple[Expr, ...]
    around: tuple[Loop, ...]
    by: tuple[For, ...]
    own: Mapping[Symbol, Symbol]
    floors: frozenset[Symbol]
    entered: tuple[For, ...]
    options: PolyOptions
    given: tuple[Assumption, ...] = ()
    moved: Mapping[int, Mapping[For, Distance]] = field(default_factory=dict)
    between: bool = False


class ReadWhere(Struct, frozen=True):
    """Where the references read: `condition` is None where they do at all values that can be asked about."""

    condition: Expr | None


def find_read_where(question: ReadQuestion) -> ReadWhere | Reason:
    """Return for which values of the counters the run reads what the references name, or why that is not known."""
    try:
        with budget(question.options.loop_operations):
            return _find(question)
    except OutOfBudgetError:
        return _doubt(question, "where it is read could not be worked out within the work budget")


def _find(question: ReadQuestion) -> ReadWhere | Reason:
    granted = question.options.granted
    region, state = build_region(question.origin, question.run, question.around, guards=False, granted=granted)
    state.take(question.given)
    read = _find_reading(region, question.nodes)
    if len(read) < len(question.nodes):
        return _doubt(question, "where it is read is not understood")
    if not all(is_exact(state, statement, access) for statement, access in read):
        return _doubt(question, "whether it is read depends on data")
    counters = _find_counters(read, question.by)
    if counters is None:
        return _doubt(question, "not all of it stands inside the loops that lead to it")
    if question.moved:
        pieces = _list_moved(question, state, read, counters)
    else:
        alone = [parameter_formula(_project(state, statement, counters), _FEW_PIECES) for statement, _ in read]
        pieces = _list_known(alone)
    if pieces is None:
        return _doubt(question, "where it is read has no simple bounds")
    return _write(question, state, pieces, counters)


def _list_moved(
    question: ReadQuestion, state: State, read: Sequence[tuple[Statement, Access]], kept: Mapping[str, Symbol]
) -> list[Formula] | None:
    """Return formulas of which one holds where references that are moved read."""
    moved = {id(peel(node)): question.moved[id(node)] for node in question.nodes}
    of_all = [(statement, moved[id(peel(access.expr))]) for statement, access in read]
    for between in (True, False) if question.between else (False,):
        sets = find_moved(state, of_all, kept, between=between)
        pieces = None if sets is None else _join(sets)
        if pieces is not None:
            return pieces
    return None


def _join(sets: Sequence[Set]) -> list[Formula] | None:
    """Return a union of sets as formulas of which one holds; None where they would be long."""
    pieces = join_sets(sets)
    return _list_known([parameter_formula(piece, 1) for piece in pieces]) if len(pieces) <= _FEW_MOVED else None


def _list_known(found: Sequence[Formula | None]) -> list[Formula] | None:
    kept = [one for one in found if one is not None]
    return [one for k, one in enumerate(kept) if one not in kept[:k]] if len(kept) == len(found) else None


def _find_reading(region: Region, nodes: Sequence[Expr]) -> list[tuple[Statement, Access]]:
    own = {id(peel(node)) for node in nodes}
    found = [(s, a) for s in region.statements for a in s.accesses]
    return [(s, a) for s, a in found if id(peel(a.expr)) in own and a.known and not a.write]


def _find_counters(read: Sequence[tuple[Statement, Access]], by: Sequence[For]) -> dict[str, Symbol] | None:
    """Return the atoms of the counters of the loops, each with its variable; None where they are not the same in all
    statements."""
    first = read[0][0]
    names = {id(loop): name for loop, name in zip(first.loops, first.counters, strict=True)}
    if any(id(loop) not in names for loop in by):
        return None
    chosen = {names[id(loop)]: loop.variable for loop in by}
    others = (statement for statement, _ in read[1:])
    return chosen if all(chosen.keys() <= set(statement.counters) for statement in others) else None


def _project(state: State, statement: Statement, kept: Mapping[str, Symbol]) -> Set:
    """Return a statement's domain without the counters that are not kept: those are parameters for once."""
    gone = [name for name in statement.counters if name not in kept]
    formula = both((statement.domain, state.context))
    formula = both((formula, state.ranges(atoms_of(formula))))
    return make_set(state.vocabulary, gone, formula).params()


def _write(
    question: ReadQuestion, state: State, pieces: Sequence[Formula], counters: Mapping[str, Symbol]
) -> ReadWhere | Reason:
    """Return formulas of which one holds as a condition in the own names of the counters, without what is known."""
    known = both((state.context, state.computed, *_known_floors(question, state, counters)))
    known = both((known, *_known_entries(question, state)))
    atoms = atoms_of(either(pieces)) | atoms_of(known)
    if question.moved:
        # a counter may be what it is in no iteration, but not far from that
        known = both((known, state.ranges(atoms - set(counters)), *_known_nearness(counters)))
    else:
        known = both((known, state.ranges(atoms)))
    alone = pieces if question.moved else [either(pieces)]
    simple = either(gist(state.vocabulary, piece, known) for piece in alone)
    if isinstance(simple, And) and not simple.parts:
        return ReadWhere(None)
    variables = {name: IslVariable(question.own[symbol], 1) for name, symbol in counters.items()}
    writer = ExpressionWriter(state.vocabulary, question.nodes[0].span, variables, {}, (), _Known(known))
    try:
        return ReadWhere(_condition(writer, simple, question.nodes[0].span))
    except NotWritableError as error:
        return _doubt(question, f"where it is read cannot be tested: {error}")


class _Known(Struct, frozen=True):
    """What holds where a condition is tested."""

    formula: Formula

    def holds(self, value: Polynomial) -> bool:
        """Whether value >= 0 follows."""
        return follows(value, (self.formula,))


def _known_nearness(counters: Mapping[str, Symbol]) -> Iterator[Formula]:
    """Yield that counters of at most 32 bits, in 64 bits moved by less than that, are what 64 bits can be added to."""
    for name, symbol in counters.items():
        if isinstance(symbol.type, Scalar) and symbol.type.bits <= _NARROW:
            yield at_least(atom(name), number(-(2 ** (_NARROW + 1))))
            yield at_least(number(2 ** (_NARROW + 1)), atom(name))


def _known_floors(question: ReadQuestion, state: State, counters: Mapping[str, Symbol]) -> list[Formula]:
    """Return that counters are at least what their loops start at, where that is a number or a parameter."""
    found: list[Formula] = []
    for name, symbol in counters.items():
        first = state.limits.get(name, (None, None))[0]
        if symbol in question.floors and first is not None and all(map(state.vocabulary.invariant, first.atoms())):
            found.append(at_least(atom(name), first))
    return found


def _known_entries(question: ReadQuestion, state: State) -> list[Formula]:
    """Return that loops are entered whose ends are parameters."""
    found: list[Formula] = []
    for name in state.nests:
        first, last = state.limits.get(name, (None, None))
        entered = any(state.vocabulary[name].symbol == loop.variable for loop in question.entered)
        if not entered or first is None or last is None:
            continue
        if all(map(state.vocabulary.invariant, (*first.atoms(), *last.atoms()))):
            found.append(at_least(last, first))
    return found


def _condition(writer: ExpressionWriter, formula: Formula, span: Span) -> Expr:
    match formula:
        case Compare(polynomial, equality):
            return writer.compare(polynomial, equality=equality)
        case And(parts) | Or(parts):
            op = "&&" if isinstance(formula, And) else "||"
            return reduce(lambda a, b: operation(op, a, b), (_condition(writer, part, span) for part in parts))


def _doubt(question: ReadQuestion, text: str) -> Reason:
    node = question.nodes[0]
    return Reason("STP001", f"{show_expression(node)} stays in memory: {text}", node.span)
