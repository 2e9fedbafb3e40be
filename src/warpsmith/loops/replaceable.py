"""Elements of arrays that loops touch at an address that stays, and what it takes to keep them in variables meanwhile.

    for (k = 0; k < n; k++)                      C[i][j], stored to if 0 < n
        C[i][j] += A[i][k] * B[k][j];
    s[i] = 0;                                    s[i], from the first statement to the loop: stored to in any case,
    for (j = 0; j < m; j++) s[i] += A[i][j];     and not read before

A run is consecutive statements of one block, one of them with a loop. An element is kept over the longest run in which
its address stays, else over a single loop of it, else over a loop further inside.

Invariant: where its conditions hold before the run, the element of a `Replacement` may be read there, and (if it is
`stored`) the run stores to it, whatever way it takes; where they do not hold, the run does not touch it. Nothing in the
run but its nodes touches the element.
Limits: names, members of no struct, and numbers in subscripts; elements that an innermost loop touches; nothing that a
branch may leave undone; runs that are left at their end only.
After D. Callahan, S. Carr, K. Kennedy, Improving register allocation for subscripted variables (PLDI 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from warpsmith.base.verdict import Proved, Reason, Verdict
from warpsmith.loops.analysis.evaluation import KnownBefore
from warpsmith.loops.analysis.invariants import is_still
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance, loads
from warpsmith.poly.dependences.iteration_values import only_computes
from warpsmith.poly.effects.origin import Origin, changed_variables
from warpsmith.poly.pointers.control import escapes
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    DeviceNode,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import children, loops, peel, root_symbol, same, statements_of, walk

__all__ = ["Alone", "Replaceable", "Replacement", "find_replaceable", "root_of_element"]

_KINDS = ("signed", "unsigned", "float", "bool")
_STEPS = ("++x", "--x", "x++", "x--")


class Replacement(Struct, frozen=True):
    """An element and all `nodes` of the `run` that name it. `entry`: under which condition the run, one loop then, does
    anything at all; `conditions`: those under which it touches the element then. None of them changes in the run, but
    for what `entry` says.

    `loaded`: the run may read what was there. `stored`: it is stored to, so that the variable is stored behind the run.
    `given`: the first statement of the run assigns it, and stands for the variable's declaration.
    """

    run: tuple[Stmt, ...]
    nodes: tuple[Expr, ...]
    entry: tuple[Expr, ...]
    conditions: tuple[Expr, ...]
    loaded: bool
    stored: bool
    given: bool

    @property
    def place(self) -> Expr:
        """The element, as the user wrote it first."""
        return self.nodes[0]

    @property
    def type(self) -> Scalar:
        """The type of the element."""
        type = self.place.type
        assert isinstance(type, Scalar), "an element holds a number"
        return type


class Replaceable(Struct, frozen=True):
    """The elements that may be kept, outermost runs first, and why others may not."""

    found: tuple[Replacement, ...]
    refused: tuple[Reason, ...]


Alone = Callable[[tuple[Stmt, ...], tuple[Expr, ...], tuple[Loop, ...]], Verdict]
"""Says whether nothing else in a run touches the element that some references name: is given the run, the references,
and the loops of the statements that were given around the run, outermost first."""


def find_replaceable(
    origin: Origin,
    statements: Sequence[Stmt],
    alone: Alone,
    *,
    typed: bool,
    wanted: Callable[[Expr], bool] = lambda _: True,
) -> Replaceable:
    """Return the elements that loops in `statements`, consecutive ones of one block, may keep in variables; of those
    that are `wanted`. `typed`: the program keeps C's rule of effective types."""
    search = _Search(origin, alone, wanted, typed)
    for stores in (True, False):
        search.visit(tuple(statements), (), stores=stores)
    order = {id(stmt): number for number, stmt in enumerate(part for s in statements for part in walk(s))}
    found = sorted(search.found, key=lambda one: (order[id(one.run[0])], -len(one.run)))
    return Replaceable(tuple(found), tuple(search.refused.values()))


class _Search(Struct):
    origin: Origin
    alone: Alone
    wanted: Callable[[Expr], bool]
    typed: bool
    found: list[Replacement] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    tried: set[tuple[int, int, int]] = field(default_factory=set)
    refused: dict[str, Reason] = field(default_factory=dict)

    def visit(self, run: tuple[Stmt, ...], inside: tuple[Loop, ...], *, stores: bool) -> None:
        """Look at a block's statements as one run, then at each loop of it, then inside."""
        self.try_run(run, inside, stores=stores)
        for stmt in run:
            if isinstance(stmt, For | While) and len(run) > 1:
                self.try_run((stmt,), inside, stores=stores)
        for stmt in run:
            deeper = (*inside, stmt) if isinstance(stmt, For | While) else inside
            for body in _bodies(stmt):
                if any(True for _ in loops(body)):
                    self.visit(statements_of(body), deeper, stores=stores)

    def try_run(self, run: tuple[Stmt, ...], inside: tuple[Loop, ...], *, stores: bool) -> None:
        """Try every element that is named in a loop of the run at an address that stays."""
        if not any(True for stmt in run for _ in loops(stmt)):
            return
        for nodes in self.list_groups(run):
            if _is_stored(run, nodes) != stores or self.taken.intersection(map(id, nodes)):
                continue
            for part in _list_parts(run, nodes):
                inner = tuple(node for node in nodes if any(node is n for stmt in part for n in walk(stmt)))
                if self.try_part(part, inner, inside, stores=stores):
                    break

    def try_part(
        self, run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...], *, stores: bool
    ) -> bool:
        """Try one element over one run; return whether it may be kept."""
        key = id(run[0]), id(run[-1]), id(nodes[0])
        if key in self.tried or _is_stored(run, nodes) != stores or not self.is_worth(run, nodes, stores=stores):
            return False
        self.tried.add(key)
        made = self.judge(run, nodes, inside)
        if isinstance(made, Reason):
            self.refused.setdefault(show_expression(nodes[0]), made)
            return False
        self.refused.pop(show_expression(nodes[0]), None)
        self.found.append(made)
        self.taken.update(map(id, nodes))
        return True

    def list_groups(self, run: tuple[Stmt, ...]) -> list[tuple[Expr, ...]]:
        """Return the elements whose address the run does not move, each with all nodes that name it."""
        moving = _find_moving(self.origin, run)
        groups: list[list[Expr]] = []
        for node in (part for stmt in run for part in walk(stmt)):
            if not isinstance(node, Index) or not _is_element(node) or not is_still(node, moving):
                continue
            if not all(isinstance(part, Name) and part.symbol not in moving for part in list(loads(node))[1:]):
                continue
            group = next((g for g in groups if same(g[0], node)), None)
            if group is not None:
                group.append(node)
            elif self.wanted(node):
                groups.append([node])
        return [tuple(group) for group in groups]

    def is_worth(self, run: tuple[Stmt, ...], nodes: tuple[Expr, ...], *, stores: bool) -> bool:
        """Whether memory is touched less often: some node is in an innermost loop, where most accesses are; a compiler
        sees by itself that what no such loop stores to need not be read again."""
        own = {id(node) for node in nodes}
        for loop in (loop for stmt in run for loop, _ in loops(stmt)):
            inner = list(walk(loop.body))
            if any(isinstance(part, For | While) for part in inner) or _runs_once(loop):
                continue
            if not any(id(part) in own for part in inner):
                continue
            if stores or any(id(place) not in self.taken for part in inner if (place := _stored(part)) is not None):
                return True
        return False

    def judge(self, run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...]) -> Replacement | Reason:
        """Return what it takes to keep an element over a run, or why that cannot be."""
        place, shown = nodes[0], show_expression(nodes[0])
        stop = self.find_obstacle(run, nodes)
        if stop is not None:
            return stop
        stored = _is_stored(run, nodes)
        evidence = KnownBefore.within(self.origin, run)
        conditions = evidence.find_stored(place, nodes) if stored else evidence.needs(place, nodes)
        if conditions is None:
            does = "stored to" if stored else "read"
            return _refuse(f"{shown} is not {does} on every path through the loop", place)
        entry = tuple(c for c in conditions if _is_entry(run[0], c))
        inner = tuple(c for c in conditions if c not in entry)
        # those of loops inside stand before the run and behind it
        if (conditions and len(run) > 1) or not all(isinstance(load, Name) for c in inner for load in loads(c)):
            return _refuse(f"whether {shown} is touched at all is not known before the loop", place)
        verdict = self.alone(run, nodes, inside)
        if not isinstance(verdict, Proved):
            return verdict.reasons[0]
        given = _is_assignment(run[0], nodes)
        loaded = not stored or (not given and not _only_assigned(run, nodes))
        return Replacement(run, nodes, entry, inner, loaded, stored, given)

    def find_obstacle(self, run: tuple[Stmt, ...], nodes: tuple[Expr, ...]) -> Reason | None:
        """Return what else may see the element in memory while the run is executed, or leave it undone behind."""
        own = {id(node) for node in nodes}
        for stmt in run:
            if escapes(stmt):
                return _refuse("the run may be left before its end", stmt)
            for part in walk(stmt):
                text = self.say_what_shows(part, own)
                if text is not None:
                    return _refuse(f"{show_expression(nodes[0])} stays in memory: {text}", part)
        for load in list(loads(nodes[0]))[1:]:
            moved = disturbance(self.origin, run, load, typed=self.typed)
            if moved is not None:
                text = f"where {show_expression(nodes[0])} is may change in the loop: {moved.text}"
                return _refuse(text, moved.node)
        return None

    def say_what_shows(self, part: Node, own: set[int]) -> str | None:
        """Return why other code may see memory at this node; or None."""
        if isinstance(part, Expr) and isinstance(part.type, Scalar) and part.type.volatile:
            return "the loop has volatile accesses"
        match part:
            case Verbatim() | VerbatimExpr() | DeviceNode():
                return "the loop has text that is not modelled"
            case Pragma():
                return "a pragma tells the compiler about this loop"
            case Unary(op="&", operand=operand) if id(peel(operand)) in own:
                return "its address is taken"
            case Call():
                given = any(isinstance(peel(a).type, Pointer | Array) for a in part.arguments)
                pure = not given and only_computes(part, self.origin.summaries)
                return None if pure else "a call may see what is in memory"
            case For(lower=lower, bound=bound) if any(id(n) in own for e in (lower, bound) for n in walk(e)):
                return "it decides how often a loop runs"
            case While(condition=condition) if condition is not None and any(id(n) in own for n in walk(condition)):
                return "it decides how often a loop runs"
            case _:
                return None


def _find_moving(origin: Origin, run: tuple[Stmt, ...]) -> set[Symbol]:
    """Return the variables that are declared in a run, or may change in it."""
    declared = set().union(*(declared_below(stmt) for stmt in run))
    return declared.union(*(changed_variables(stmt, origin.effects(stmt)) for stmt in run), origin.hidden)


def _bodies(stmt: Stmt) -> Iterator[Stmt]:
    """Yield the statements below one, apart from those of a switch."""
    match stmt:
        case For(body=body) | While(body=body):
            yield body
        case If(then=then, other=other):
            yield then
            if other is not None:
                yield other
        case Block():
            yield stmt
        case _:
            return


def _is_element(node: Index) -> bool:
    """Whether a node is a number in an array that a variable names or points to."""
    type = node.type
    if not isinstance(type, Scalar) or type.kind not in _KINDS or type.volatile or type.bits > 64:
        return False
    base: Expr = node
    while isinstance(base, Index):
        base = peel(base.base)
    return isinstance(base, Name) and isinstance(base.symbol.type, Array | Pointer)


def _list_parts(run: tuple[Stmt, ...], nodes: tuple[Expr, ...]) -> Iterator[tuple[Stmt, ...]]:
    """Yield the part of a run from the first to the last statement that names an element, then shorter ones: what
    stands behind the loops may be in the way."""
    named = [k for k, stmt in enumerate(run) if _names_one(stmt, nodes)]
    for last in reversed(named):
        if any(_names_one(loop, nodes) for stmt in run[named[0] : last + 1] for loop, _ in loops(stmt)):
            yield run[named[0] : last + 1]


def _names_one(stmt: Node, nodes: tuple[Expr, ...]) -> bool:
    own = {id(node) for node in nodes}
    return any(id(part) in own for part in walk(stmt))


def _stored(part: Node) -> Expr | None:
    """Return the place in memory that a node itself stores to."""
    place = None
    if isinstance(part, Assign):
        place = peel(part.target)
    elif isinstance(part, Unary) and part.op in _STEPS:
        place = peel(part.operand)
    return None if isinstance(place, Name) else place


def _is_stored(run: tuple[Stmt, ...], nodes: tuple[Expr, ...]) -> bool:
    own = {id(node) for node in nodes}
    return any(id(_stored(part)) in own for stmt in run for part in walk(stmt))


def _only_assigned(run: tuple[Stmt, ...], nodes: tuple[Expr, ...]) -> bool:
    """Whether no node is read: each is the target of a plain assignment."""
    targets = {id(peel(p.target)) for s in run for p in walk(s) if isinstance(p, Assign) and p.op == "="}
    return all(id(node) in targets for node in nodes)


def _is_assignment(stmt: Stmt, nodes: tuple[Expr, ...]) -> bool:
    """Whether a statement does nothing but give the element a value that is not made from it."""
    whole = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    if not isinstance(whole, Assign) or whole.op != "=" or not any(peel(whole.target) is node for node in nodes):
        return False
    own = {id(node) for node in nodes}
    return not any(id(part) in own for part in walk(whole.value))


def _is_entry(loop: Stmt, condition: Expr) -> bool:
    """Whether a condition is made of what decides whether a loop does anything."""
    own = {id(part) for part in children(loop)}
    return any(id(part) in own for part in walk(condition))


def _runs_once(loop: Loop) -> bool:
    """Whether a loop is known to run once at most."""
    if not isinstance(loop, For):
        return False
    low, high = peel(loop.lower), peel(loop.bound)
    if not isinstance(low, Literal) or not isinstance(high, Literal):
        return False
    if not isinstance(low.value, int) or not isinstance(high.value, int):
        return False
    return abs(high.value - low.value) + (loop.relation in ("<=", ">=")) <= abs(loop.step)


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.span)


def root_of_element(place: Expr) -> Symbol:
    """Return the array of an element."""
    symbol = root_symbol(place)
    assert symbol is not None, "an element is found from a variable"
    return symbol
