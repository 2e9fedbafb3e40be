"""Where the statements of a run stand, what belongs to one statement instance alone, and what keeps a run from being
reordered.

    for (i …) {                 loops around S0: i       schedule (0, i, 0)
        t = a[i];  (S0)         t crosses from S0 to S1: ordinary memory
        for (j …) {             loops around S1: i, j    schedule (0, i, 1, j, 0)
            double u = t;  ┐
            b[i][j] = u;   ┘    u is declared in the statement: each instance has its own
        }          (S1)
    }

Invariant: if there is no obstacle, everything that the run does is done by its statements, and every value that passes
from one statement instance to another, or out of the run, passes through memory that the model sees: not through a
private variable, a loop's counter, or the way that control takes.
Limits: a variable that is declared in a loop around two statements counts as one variable for all iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.blockers import find_unmodeled
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.assigned import Iteration, iteration
from warpsmith.poly.effects.variables import Variables
from warpsmith.poly.legality.schedules import Schedule, at, counter
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    For,
    Function,
    If,
    Name,
    Node,
    Pragma,
    Stmt,
    Switch,
    VarDecl,
    While,
)
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import children, walk

__all__ = ["Standing", "StatementSurvey", "survey"]


class Standing(Struct, frozen=True):
    """A statement, the loops of the run around it (outermost first), and its schedule as written."""

    stmt: Stmt
    loops: tuple[For, ...]
    schedule: Schedule


class StatementSurvey(Struct, frozen=True):
    """`standings` in the text's order; `private`: variables that carry nothing from one statement instance to another
    or out of the run (the counters of the loops around statements too); `obstacles`: why the run cannot be
    reordered."""

    standings: tuple[Standing, ...]
    private: frozenset[Symbol]
    obstacles: tuple[Reason, ...]


def survey(
    facts: Facts, function: Function, run: tuple[Stmt, ...], statements: frozenset[Stmt], owned: frozenset[Symbol]
) -> StatementSurvey:
    """Look at a run of `function` without isl; each statement instance has its own copy of what is `owned`."""
    layout = _Layout(statements)
    layout.place(layout.members(run), (), ())
    standings = tuple(layout.standings)
    obstacles = [*layout.obstacles, *_find_blockers(facts, function, run), *_find_misplaced(statements, standings)]
    obstacles += [reason for statement in statements if (reason := _escape(statement)) is not None]
    scalars = _Scalars.of(facts, function, run, standings, layout.control)
    obstacles += scalars.obstacles(run, owned)
    return StatementSurvey(standings, scalars.private() | owned, tuple(obstacles))


def _find_blockers(facts: Facts, function: Function, run: tuple[Stmt, ...]) -> Iterator[Reason]:
    origin = facts.origin(function)
    return (reason for stmt in run if (reason := find_unmodeled(origin, stmt)) is not None)


def _find_misplaced(statements: frozenset[Stmt], standings: tuple[Standing, ...]) -> Iterator[Reason]:
    """Yield an obstacle for each statement that does not stand exactly once in the run."""
    placed = [standing.stmt for standing in standings]
    for statement in statements:
        if (count := sum(stmt is statement for stmt in placed)) != 1:
            yield _reason(
                "stands twice" if count else "does not stand", statement, "in the statements that are reordered"
            )


def _reason(text: str, node: Node, tail: str = "") -> Reason:
    shown = " ".join(node.span.text.split())
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return Reason("STP001", f"{shown} {text} {tail}".rstrip(), node.span)


class _Layout(Struct):
    """The walk from the run down to its statements."""

    statements: frozenset[Stmt]
    standings: list[Standing] = field(default_factory=list)
    control: list[Expr] = field(default_factory=list)
    obstacles: list[Reason] = field(default_factory=list)

    def members(self, run: Iterable[Stmt]) -> list[Stmt]:
        """Return the statements and loops of one level in the text's order."""
        return [member for stmt in run for member in self._members(stmt)]

    def _members(self, stmt: Stmt) -> list[Stmt]:
        if stmt in self.statements:
            return [stmt]
        match stmt:
            case Block(statements=statements):
                return self.members(statements)
            case If(condition=condition, then=then, other=other):
                self.control.append(condition)
                return self.members((then,) if other is None else (then, other))
            case For(lower=lower, bound=bound):
                self.control += [lower, bound]
                return [stmt]
            case Empty() | Pragma():
                return []
            case DeclStmt(declarations=declarations) if all(d.init is None for d in declarations):
                return []
            case _:
                self.obstacles.append(_reason("has no place in the new order", stmt))
                return []

    def place(self, members: list[Stmt], around: tuple[For, ...], schedule: Schedule) -> None:
        """Note where the statements among and below `members` stand."""
        for position, member in enumerate(members):
            here = (*schedule, at(position))
            if member in self.statements or not isinstance(member, For):
                self.standings.append(Standing(member, around, here))
                continue
            count = counter(member.variable, 1 if member.step > 0 else -1)
            self.place(self.members((member.body,)), (*around, member), (*here, count))


def _escape(statement: Stmt) -> Reason | None:
    """Return why control may leave a statement by a jump, or None."""
    stack: list[tuple[Node, bool, bool]] = [(statement, False, False)]
    while stack:
        node, may_break, may_continue = stack.pop()
        if (isinstance(node, Break) and not may_break) or (isinstance(node, Continue) and not may_continue):
            return _reason("cuts the loop around it short", node)
        in_loop = isinstance(node, For | While)
        inside = may_break or in_loop or isinstance(node, Switch), may_continue or in_loop
        stack += [(child, *inside) for child in children(node)]
    return None


class _Scalars(Struct, frozen=True):
    """The variables of the statements: one iteration for each statement instance."""

    instances: tuple[Iteration, ...]
    around: tuple[For, ...]
    inner: tuple[For, ...]
    own: frozenset[Symbol]
    live: frozenset[Symbol] | None
    held: frozenset[Symbol]
    control: frozenset[Symbol]

    @classmethod
    def of(
        cls,
        facts: Facts,
        function: Function,
        run: tuple[Stmt, ...],
        standings: tuple[Standing, ...],
        control: list[Expr],
    ) -> _Scalars:
        """Follow one instance of each statement."""
        variables = Variables.of(facts.summaries, function)
        nodes = [node for standing in standings for node in walk(standing.stmt)]
        own = {n.symbol for n in nodes if isinstance(n, VarDecl) and n.symbol.storage == "local"}
        own |= {n.variable for n in nodes if isinstance(n, For) and n.declares}
        return cls(
            tuple(iteration(variables, _once(standing.stmt)) for standing in standings),
            tuple(dict.fromkeys(loop for standing in standings for loop in standing.loops)),
            tuple(n for n in nodes if isinstance(n, For) and n.variable not in own),
            frozenset(own),
            facts.liveness(function).after.get(run[-1]),
            facts.origin(function).hidden,
            frozenset(event.symbol for expr in control for event in variables.evaluate(expr)),
        )

    def private(self) -> frozenset[Symbol]:
        """Return what each statement instance may be said to own, and the counters of the loops around statements."""
        written = {s for one in self.instances for s in one.writes if not isinstance(s.type, Array)}
        alone = {s for s in written if self._is_alone(s)}
        return frozenset(alone) | self.own | {loop.variable for loop in self.around}

    def _is_alone(self, symbol: Symbol) -> bool:
        """Whether no statement instance sees another's value of a variable, nor anything else does."""
        if self.live is None or symbol in self.live | self.held | self.control:
            return False
        return all(symbol not in one.exposed for one in self.instances)

    def obstacles(self, run: tuple[Stmt, ...], owned: frozenset[Symbol]) -> Iterator[Reason]:
        """Yield why a loop's counter is more than that."""
        inner = {loop.variable for loop in self.inner}
        private = self.private() | owned
        for loop in self.around:
            symbol = loop.variable
            if loop.declares or symbol in owned:
                continue
            if self.live is None or symbol in self.live | self.held:
                yield self._counter(loop, "is read after it")
            elif symbol in inner or any(_is_outside(stmt, symbol) for stmt in run):
                yield self._counter(loop, "is used outside it too")
        for loop in self.inner:
            if loop.variable not in private:
                yield self._counter(loop, "is read after it")

    @staticmethod
    def _counter(loop: For, text: str) -> Reason:
        name = loop.variable.name
        remedy = f"declare {name} in the loop"
        return Reason("STP001", f"the counter {name} of the loop {text}", loop.header, legal_if=(remedy,))


def _once(statement: Stmt) -> While:
    """Return a loop of which each iteration is one instance of a statement."""
    return While(
        span=statement.span,
        form="for",
        init=None,
        condition=None,
        advance=None,
        body=statement,
        header=statement.span,
        reason="",
    )


def _is_outside(stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a variable is named in `stmt` outside the loops that it counts."""
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, Name) and node.symbol == symbol:
            return True
        counted = isinstance(node, For) and node.variable == symbol
        stack += [node.lower] if counted and isinstance(node, For) else children(node)
    return False
