"""Is a variable private to each iteration of a loop: is all that an iteration reads of it written by that iteration?

    for (q …) {
        for (p = 0; p < np; p++) sum[p] = 0;        writes sum[p] at (q, p), certainly
        for (p = 0; p < np; p++) A[q][p] = sum[p];  reads sum[p] at (q, p')
    }                                               for each read there is a write of p = p' at (q, p): private

Invariant: Proved only if, for every read instance of an element in an iteration, a write instance of that element that
certainly happens stands before it in the same iteration. Read instances are over-approximated, writes are not: those
under a condition on data, in a `while`, or whose subscript is not affine do not count; nor does a write in the
expression statement that reads, as the order inside an expression is the compiler's.
After P. Feautrier, Array expansion (ICS 1988) and D. Maydan, S. Amarasinghe, M. Lam, Array-data flow analysis and its
use in array privatization (POPL 1993): only whether there is a last write matters here, not which one it is.
Limits: structs are taken whole; what another name may touch is a side condition (guarded) or Unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.poly.aliasing.aliasing import alias_pairs
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.granted import grants
from warpsmith.poly.isl.formula import Formula, at_least, atoms_of, both
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom
from warpsmith.poly.isl.space import (
    Map,
    OutOfBudgetError,
    Set,
    budget,
    earlier,
    make_map,
    one_pair,
    prefix,
    remove_points,
)
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Element, Region, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.delinearize import shape
from warpsmith.tree.nodes import Block, Expr, For, Function, If, Loop, Node, Stmt, VarDecl, Verbatim, While
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import LONG_LONG, Array, Pointer, Symbol
from warpsmith.tree.walk import children, loops, names, root_symbol, walk

__all__ = ["certain_first_read", "needs_old", "private_in", "read_after", "writes_all"]

_Instance = tuple[Statement, Access, Element | None]


def private_in(
    facts: Facts, function: Function, loop: For, symbol: Symbol, *, entry: tuple[Stmt, ...] | None = None
) -> Verdict:
    """Return whether every element of `symbol` that an iteration of `loop` reads was written earlier in that iteration.

    `symbol` is a scalar, an array, or a pointer whose elements are meant. The loops around `loop` are held fixed; the
    loop's own header is not part of an iteration. Proved lists the conditions under which no other name reaches the
    elements, to be tested where `entry` (a run that contains the loop; the loop itself if not given) is entered.
    Unknown (rule STP002) names the read.
    """
    run = entry if entry is not None else (loop,)
    guards = facts.options.guards and run[0] is loop
    try:
        with budget(facts.options.max_operations):
            other = _aliases(facts, function, run, symbol)
            if isinstance(other, Reason):
                return Unknown((other,))
            verdict = _attempt(facts, function, loop, symbol, guards=False)
            if isinstance(verdict, Unknown) and guards:
                verdict = _attempt(facts, function, loop, symbol, guards=True)
            return Proved((*other, *verdict.assumptions)) if isinstance(verdict, Proved) else verdict
    except OutOfBudgetError:
        text = f"whether {symbol.name} is private to an iteration could not be worked out within the work budget"
        return Unknown((Reason("STP002", text, loop.header),))


def writes_all(facts: Facts, function: Function, chain: Sequence[For], symbol: Symbol, extents: Sequence[Expr]) -> bool:
    """Return whether each iteration of the loops `chain` (each directly inside the one before, in steps of one)
    certainly writes every element of `symbol` whose subscripts are in [0, extent)."""
    try:
        with budget(facts.options.max_operations):
            return _writes_all(facts, function, chain, symbol, extents)
    except OutOfBudgetError:
        return False


def read_after(facts: Facts, function: Function, loop: Loop, symbol: Symbol) -> bool:
    """Return whether the value that `loop` leaves in `symbol` may be read after it: later in the function, in another
    iteration of a loop around it, or by a caller (globals, what a pointer or an array parameter names)."""
    if isinstance(symbol.type, Pointer):
        return True
    if symbol not in facts.liveness(function).after[loop]:
        return False
    # Liveness does not know that elements are written again: a loop around comes back to the same, private uses.
    inside = {id(name) for name in names(loop)}
    local = symbol.storage == "local" and symbol not in facts.origin(function).hidden
    if (
        not local
        or not isinstance(loop, For)
        or any(n.symbol == symbol and id(n) not in inside for n in names(function))
    ):
        return True
    return not isinstance(private_in(facts, function, loop, symbol), Proved)


def certain_first_read(state: State, region: Region, loop: For, symbol: Symbol) -> tuple[Statement, Access, Set] | None:
    """Return a read of `symbol` (a scalar or an array) that certainly happens before any write of its element in the
    same iteration of `loop`, the outermost loop of the region's scope, with the iterations in which it does; None where
    no read is certain. Raises OutOfBudgetError."""
    found = [
        (statement, access)
        for statement in region.statements
        for access in statement.accesses
        if access.base == symbol and statement.loops and not access.place
    ]
    if not all(access.known and _is_plain(access) for _, access in found):
        return None
    instances = [(s, a, e) for (s, a), e in zip(found, shape(state, found), strict=True)]
    question = _Question(state, region, _owners(loop.body), instances, held=1)
    for read in instances:
        if not read[1].write and read[0].exact and read[2] is not None:
            left = question.find_unwritten(read)
            if left is not None and not left.is_empty():
                return read[0], read[1], left
    return None


def needs_old(origin: Origin, run: tuple[Stmt, ...], around: tuple[Stmt, ...], symbol: Symbol, operations: int) -> bool:
    """Return whether a run of statements, inside the loops `around`, may read an element of `symbol` before it has
    written it: whether what `symbol` held before matters. Other names of the same memory are the caller's question.
    What is more than so many isl operations to answer may."""
    try:
        with budget(operations):
            region, state = build_region(origin, run, around, guards=False)
            return _reads_first(state, region, symbol)
    except OutOfBudgetError:
        return True


def _reads_first(state: State, region: Region, symbol: Symbol) -> bool:
    if region.broken or state.lost or any(isinstance(n, Verbatim) and n.control for s in region.scope for n in walk(s)):
        return True
    instances = _instances(state, region, symbol, outside=True)
    if any(not access.known for _, access, _ in instances):
        return True
    question = _Question(state, region, _owners(*region.scope), instances, held=0)
    return next(question.find_exposed(), None) is not None


def _aliases(
    facts: Facts, function: Function, run: tuple[Stmt, ...], symbol: Symbol
) -> tuple[Assumption, ...] | Reason:
    """Return the conditions under which no other name of `run` reaches what `symbol` stands for, or why not."""
    options, program = facts.options, facts.program
    if symbol in facts.origin(function).hidden and not isinstance(symbol.type, Pointer | Array):
        return Reason("STP002", f"the address of {symbol.name} is kept: other names may reach it", run[0].span)
    found: list[Assumption] = []
    for pair in alias_pairs(program, function, run, options, summaries=facts.summaries):
        if symbol not in (pair.left, pair.right):
            continue
        chosen = grants(options.granted, "noalias", pair.left.name, pair.right.name) or pair.assumption
        if chosen is None or (chosen.kind == "guarded" and not options.guards):
            return pair.reason
        found.append(chosen)
    return tuple(dict.fromkeys(found))


def _attempt(facts: Facts, function: Function, loop: For, symbol: Symbol, *, guards: bool) -> Verdict:
    if any(isinstance(node, Verbatim) and node.control for node in walk(loop.body)):
        text = "control may leave the loop's body in ways that are not modelled"
        return Unknown((Reason("STP002", text, loop.header),))
    region, state = _region(facts, function, loop, guards=guards)
    if state.lost:
        return Unknown((Reason("STP002", state.lost_words, state.lost[0].span),))
    if loop in region.broken:
        return Unknown((Reason("STP002", region.broken[loop], loop.header),))
    instances = _instances(state, region, symbol)
    other = next((a for _, a, _ in instances if a.known and root_symbol(a.expr) != symbol), None)
    if other is not None:
        text = f"{_show(other.expr)} is part of {symbol.name} under another name"
        return Unknown((Reason("STP002", text, other.expr.span),))
    vague = next((access for _, access, _ in instances if not access.known), None)
    if vague is not None:
        text = f"which part of {symbol.name} {_show(vague.expr)} touches is not known"
        return Unknown((Reason("STP002", text, vague.expr.span),))
    question = _Question(state, region, _owners(loop.body), instances, held=1)
    exposed = next((a for a in question.find_exposed() if not _is_settled(facts, function, loop, symbol, a)), None)
    if exposed is None:
        return Proved(tuple(state.assumptions))
    text = (
        f"{_show(exposed.expr)} (line {exposed.expr.span.line}) may read what an earlier iteration of "
        f"{loop.variable.name} left in {symbol.name}"
    )
    return Unknown((Reason("STP002", text, exposed.expr.span, legal_if=(_remedy(symbol),)),))


def _is_settled(facts: Facts, function: Function, loop: For, symbol: Symbol, read: Access) -> bool:
    """Return whether the read follows a write in its own branch, whatever the condition of the branch: a run of
    statements that the read stands in, taken alone, does not need what was there before."""
    path = _path(loop.body, read.expr)
    for outer, inner in pairwise(path):
        if not isinstance(outer, Block):
            continue
        position = next(k for k, part in enumerate(outer.statements) if part is inner)
        starts = [k + 1 for k, part in enumerate(outer.statements[:position]) if isinstance(part, If)]
        for start in (0, *starts):
            run = outer.statements[start:]
            around = tuple(node for node in _path(function.body, run[0]) if isinstance(node, For | While | If))
            region, state = build_region(facts.origin(function), run, around, guards=False)
            if region.broken or state.lost:
                continue
            instances = _instances(state, region, symbol, outside=True)
            question = _Question(state, region, _owners(*run), instances, held=0)
            if all(access.known for _, access, _ in instances) and not question.is_exposed(read.expr):
                return True
    return False


def _path(top: Node, wanted: Node) -> tuple[Node, ...]:
    """Return the nodes from `top` to `wanted`; nothing where it is not below."""
    if top is wanted:
        return (top,)
    for child in children(top):
        rest = _path(child, wanted)
        if rest:
            return (top, *rest)
    return ()


def _region(facts: Facts, function: Function, loop: For, *, guards: bool) -> tuple[Region, State]:
    around = next((outer for inner, outer in loops(function.body) if inner is loop), ())
    granted = facts.options.granted if guards else ()
    return build_region(facts.origin(function), (loop,), around, guards=guards, granted=granted)


def _remedy(symbol: Symbol) -> str:
    return f"write {symbol.name} on every path of an iteration before it is read"


def _show(expr: Expr) -> str:
    return " ".join(expr.span.text.split())


def _instances(
    state: State, region: Region, symbol: Symbol, *extra: tuple[Statement, Access], outside: bool = False
) -> list[_Instance]:
    """Return every access to the variable (to what it points to, for a pointer) inside an iteration (or anywhere, with
    `outside`), then `extra`, all with comparable subscripts."""
    pointer = isinstance(symbol.type, Pointer)
    found = [
        (statement, access)
        for statement in region.statements
        for access in statement.accesses
        if access.base == symbol and (outside or statement.loops) and (not pointer or _through(access))
    ]
    found += extra
    vague = any(access.place or not _is_plain(access) for _, access in found)
    elements: Sequence[Element | None] = [None] * len(found) if vague else shape(state, found)
    return [(s, a, e) for (s, a), e in zip(found, elements, strict=True)]


def _is_plain(access: Access) -> bool:
    """Whether subscripts alone lead to what an access touches."""
    return all(isinstance(step, Subscript) for step in access.path)


def _through(access: Access) -> bool:
    return bool(access.path) or bool(access.place) or not access.known


def _owners(*roots: Node) -> dict[int, Node]:
    """Map every node to the statement, declaration or header expression that it is evaluated with."""
    found: dict[int, Node] = {}

    def visit(node: Node, owner: Node | None) -> None:
        if isinstance(node, Expr | VarDecl):
            owner = owner if owner is not None else node
            found[id(node)] = owner
        elif not isinstance(node, Expr):
            owner = None
        for child in children(node):
            visit(child, owner)

    for root in roots:
        visit(root, None)
    return found


class _Question(Struct, frozen=True):
    """The accesses to one variable in the order of the text; in one iteration of the outermost `held` loops."""

    state: State
    region: Region
    owners: dict[int, Node]
    instances: list[_Instance]
    held: int

    def find_exposed(self) -> Iterator[Access]:
        """Yield the reads that may happen before their element was written in the iteration."""
        for instance in self.instances:
            if not instance[1].write and not self._is_covered(instance):
                yield instance[1]

    def is_exposed(self, read: Expr) -> bool:
        """Whether the reads at one place of the text may happen before their element was written in the iteration."""
        reads = (one for one in self.instances if one[1].expr is read and not one[1].write)
        return not all(map(self._is_covered, reads))

    def _is_covered(self, read: _Instance) -> bool:
        if read[2] is None:
            return self._never_runs(read[0])
        wanted = _relation(self.state, read)
        writes = [
            self._before(write, read).apply_range(_relation(self.state, write))
            for write in self.instances
            if write[1].write and write[0].exact and write[2] is not None and len(write[2]) == len(read[2])
        ]
        # one read that nothing covers says as much as all of them
        return _is_inside(one_pair(wanted), writes) and _is_inside(wanted, writes)

    def find_unwritten(self, read: _Instance) -> Set | None:
        """Return the iterations in which no write, certain or only possible, stands before the read; None where that
        is not known."""
        left = _relation(self.state, read)
        for write in (i for i in self.instances if i[1].write):
            if write[2] is None or len(write[2]) != len(read[2] or ()):
                return None
            left = remove_points(left, self._before(write, read).apply_range(_relation(self.state, write)))
        return left.domain()

    def _never_runs(self, statement: Statement) -> bool:
        return bool(make_map(self.state.vocabulary, statement.counters, (), _domain(self.state, statement)).is_empty())

    def _before(self, write: _Instance, read: _Instance) -> Map:
        """Return {iteration of the read -> iterations of the write before it, this loop's counter the same}."""
        w, r = write[0], read[0]
        shared = [a for a, b in zip(w.loops, r.loops, strict=False) if a is b]
        ordered = self._position(w) < self._position(r) and self._owner(write) is not self._owner(read)
        steps = tuple(loop.step for loop in shared)
        return earlier(len(r.counters), len(w.counters), steps, held=self.held, ties=ordered)

    def _position(self, statement: Statement) -> int:
        return next(k for k, s in enumerate(self.region.statements) if s is statement)

    def _owner(self, instance: _Instance) -> Node:
        expr = instance[1].expr
        node = self.owners.get(id(expr)) or self.owners.get(id(instance[0].node))
        return node if node is not None else instance[0].node


def _is_inside(relation: Map, others: Sequence[Map]) -> bool:
    """Whether every pair of a relation is in one of the others."""
    left = relation
    for other in others:
        if left.is_empty():
            break
        left = remove_points(left, other)
    return bool(left.is_empty())


def _relation(state: State, instance: _Instance) -> Map:
    """Return {iteration -> element}."""
    statement, _, element = instance
    outputs = [part for part in element or () if isinstance(part, Polynomial)]
    return make_map(state.vocabulary, statement.counters, outputs, _domain(state, statement))


def _domain(state: State, statement: Statement) -> Formula:
    formula = both((statement.domain, state.context))
    return both((formula, state.ranges(atoms_of(formula))))


def _writes_all(
    facts: Facts, function: Function, chain: Sequence[For], symbol: Symbol, extents: Sequence[Expr]
) -> bool:
    region, state = _region(facts, function, chain[0], guards=False)
    target = _whole(state, region, chain, symbol, extents)
    if target is None or region.broken or state.lost:
        return False
    *instances, wanted = _instances(state, region, symbol, target)
    depth = len(chain)
    missing = None if wanted[2] is None else prefix(_relation(state, wanted), depth)
    for statement, access, element in instances:
        inside = len(statement.loops) >= depth and all(a is b for a, b in zip(statement.loops, chain, strict=False))
        if missing is None or missing.is_empty():
            break
        if access.write and statement.exact and inside and element is not None and len(element) == len(wanted[2] or ()):
            missing = remove_points(missing, prefix(_relation(state, (statement, access, element)), depth))
    return missing is not None and bool(missing.is_empty())


def _whole(
    state: State, region: Region, chain: Sequence[For], symbol: Symbol, extents: Sequence[Expr]
) -> tuple[Statement, Access] | None:
    """Return the access that touches every element in [0, extents) at each iteration of the chain."""
    vocabulary = state.vocabulary
    counters = [vocabulary.counter(loop.variable, loop, None) for loop in chain]
    domain: list[Formula] = []
    for name in counters:
        first, last = state.limits.get(name, (None, None))
        if first is None or last is None:
            return None
        domain += [at_least(atom(name), first), at_least(last, atom(name))]
    model = next(
        (a for s in region.statements for a in s.accesses if a.base == symbol and len(a.path) == len(extents)), None
    )
    if model is None:
        return None
    path: list[Subscript] = []
    for k, (extent, step) in enumerate(zip(extents, model.path, strict=True)):
        size = state.affine.exact(extent, LONG_LONG)
        if size is None or not isinstance(step, Subscript):
            return None
        name = vocabulary.counter(Symbol(f"e{k}", f"e{k}", LONG_LONG, "local"), ("element", k), None)
        counters.append(name)
        domain += [at_least(atom(name), ZERO), at_least(size.shift(-1), atom(name))]
        path.append(Subscript(atom(name), step.extent))
    linear = state.vocabulary.linear_formula(both(domain))
    if linear is None:
        return None
    node = chain[0]
    access = Access(model.expr, symbol, model.place, tuple(path), True, model.element, True)
    return Statement(node, tuple(chain), tuple(counters), linear, True, (access,)), access
