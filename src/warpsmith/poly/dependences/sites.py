"""Where an iteration moves a scalar on, under which conditions, and what the scalar holds at each use there.

    if (x[i] > 0) {            the conditions  x[i] > 0
        out[k] = x[i];         k holds what it held at the start of the run
        k++;                   moved on by 1
        at[k] = i;             one more
    }

Invariant: the iteration executes the statements of a run from the first to the last, in this order, exactly where all
of its conditions hold; runs are the only places where it writes the scalar, and none executes twice in an iteration.
What stands between two branches that move the scalar is a run of its own.
Limits: a statement has one update, by +; none stands in a loop inside, in a switch, or under a condition inside a run.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from msgspec import Struct, field

from warpsmith.poly.dependences.updates import AssociativeUpdate, update_of
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Conditional,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, names, peel, root_symbol, statements_of, walk, written_symbols

__all__ = [
    "IterationPath",
    "PlacedUpdate",
    "UpdateSite",
    "always_ends",
    "find_changed",
    "find_sites",
    "may_jump",
    "pass_statements",
]

_STEPS = ("++x", "--x", "x++", "x--")
_CHOICES = ("&&", "||", ",")


class PlacedUpdate(Struct, frozen=True):
    """One update in a run: where in the site's path it stands, and how far it moves the scalar, if that is a number."""

    place: int
    update: AssociativeUpdate
    amount: int | None


class UpdateSite(Struct, frozen=True):
    """A run of statements with its `steps`.

    `path`: all statements that an iteration executes on its way through the run, in order; a branch on the way is there
    as the statement of its condition. `conditions`: where in the path each of them is computed, and whether it holds.
    `offsets`: by identity, the uses of the scalar (and of variables that hold it) in the run, with how far it has moved
    since the run began.
    """

    path: tuple[Stmt, ...]
    conditions: tuple[tuple[int, Expr, bool], ...]
    steps: tuple[PlacedUpdate, ...]
    offsets: dict[int, int]

    @property
    def moved(self) -> int | None:
        """How far the run moves the scalar, if that is a number."""
        amounts = [step.amount for step in self.steps if step.amount is not None]
        return sum(amounts) if len(amounts) == len(self.steps) else None


class IterationPath(Struct, frozen=True):
    """What an iteration has executed on its way to a statement list: see UpdateSite."""

    path: tuple[Stmt, ...] = ()
    conditions: tuple[tuple[int, Expr, bool], ...] = ()

    def then(self, stmt: Stmt) -> IterationPath:
        """Return the way on behind a statement."""
        return IterationPath((*self.path, stmt), self.conditions)

    def under(self, condition: Expr, *, holds: bool) -> IterationPath:
        """Return the way into a branch."""
        test = ExprStmt(span=condition.span, expr=condition)
        return IterationPath((*self.path, test), (*self.conditions, (len(self.path), condition, holds)))


def find_sites(loop: For, symbol: Symbol) -> tuple[UpdateSite, ...]:
    """Return the sites of all updates of `symbol` in an iteration; none where there is another way to write it."""
    found: list[UpdateSite] = []
    if any(isinstance(n, VarDecl) and n.symbol == symbol for n in walk(loop.body)):
        return ()
    return tuple(found) if _collect(statements_of(loop.body), symbol, IterationPath(), found) else ()


def _collect(statements: Sequence[Stmt], symbol: Symbol, way: IterationPath, found: list[UpdateSite]) -> bool:
    """Add the sites in a statement list, what stands between the branches that update the scalar as runs of their own;
    False where an update has no site."""
    start = 0
    writing = [k for k, stmt in enumerate(statements) if symbol in find_changed(stmt)]
    branches = [k for k in writing if not isinstance(statements[k], ExprStmt | DeclStmt)]
    for place in (*branches, len(statements)):
        if any(start <= k < place for k in writing):
            before = pass_statements(way, statements[:start])
            site = None if before is None else _site(statements[start:place], symbol, before)
            if site is None:
                return False
            found.append(site)
        if place < len(statements):
            before = pass_statements(way, statements[:place])
            if before is None or not _collect_inside(statements[place], symbol, before, found):
                return False
        start = place + 1
    return True


def _collect_inside(stmt: Stmt, symbol: Symbol, way: IterationPath, found: list[UpdateSite]) -> bool:
    if isinstance(stmt, Block):
        return _collect(stmt.statements, symbol, way, found)
    if not isinstance(stmt, If) or symbol in find_changed(stmt.condition):
        return False
    arms = ((stmt.then, True), (stmt.other, False))
    ways = ((statements_of(arm), way.under(stmt.condition, holds=holds)) for arm, holds in arms if arm is not None)
    return all(_collect(inside, symbol, into, found) for inside, into in ways)


def find_changed(node: Node) -> set[Symbol]:
    """Return the scalars that a node may write, those whose address it takes as well."""
    taken = (n.operand for n in walk(node) if isinstance(n, Unary) and n.op == "&")
    return written_symbols(node) | {n.symbol for operand in taken for n in names(operand)}


# --- the way to a run


def pass_statements(way: IterationPath, statements: Sequence[Stmt]) -> IterationPath | None:
    """Return the way on behind statements; None where they may end the iteration in a form that is not known."""
    for stmt in statements:
        if not may_jump(stmt):
            way = way.then(stmt)
        elif isinstance(stmt, If) and stmt.other is None and always_ends(stmt.then):
            way = way.under(stmt.condition, holds=False)
        else:
            return None
    return way


def may_jump(stmt: Stmt) -> bool:
    """Whether a statement may end the iteration, or is not modelled."""
    pending: list[tuple[Node, bool]] = [(stmt, False)]
    while pending:
        part, inside = pending.pop()
        if isinstance(part, Return | Verbatim | VerbatimExpr) or (isinstance(part, Continue) and not inside):
            return True
        pending += [(child, inside or isinstance(part, For | While)) for child in children(part)]
    return False


def always_ends(stmt: Stmt) -> bool:
    """Whether a branch runs straight to a `continue`."""
    inside = statements_of(stmt)
    return bool(inside) and isinstance(inside[-1], Continue) and not any(may_jump(s) for s in inside[:-1])


# --- the run


def _site(statements: Sequence[Stmt], symbol: Symbol, way: IterationPath) -> UpdateSite | None:
    """Return the site in a statement list that updates the scalar itself: from its first use to the end of the list, or
    to where the iteration may end."""
    using = [k for k, stmt in enumerate(statements) if any(n.symbol == symbol for n in names(stmt))]
    before = pass_statements(way, statements[: using[0]]) if using else None
    if before is None:
        return None
    run = list(itertools.takewhile(lambda stmt: not may_jump(stmt), statements[using[0] :]))
    if len(run) <= using[-1] - using[0]:
        return None
    reader = _RunReader(symbol)
    for place, stmt in enumerate(run, len(before.path)):
        if not reader.read(stmt, place):
            return None
    return UpdateSite((*before.path, *run), before.conditions, tuple(reader.steps), reader.offsets)


class _RunReader(Struct):
    """What is known behind the statements of a run read so far; `held`: variables that hold the scalar as it was, with
    how far it had moved."""

    symbol: Symbol
    moved: int | None = 0
    steps: list[PlacedUpdate] = field(default_factory=list)
    offsets: dict[int, int] = field(default_factory=dict)
    held: dict[Symbol, int] = field(default_factory=dict)

    def read(self, stmt: Stmt, place: int) -> bool:
        """Read one more statement; False where it updates the scalar in another form than those of this file."""
        update = _update_in(stmt, self.symbol)
        if update is None and self.symbol in find_changed(stmt):
            return False
        written = written_symbols(stmt)
        self.held = {symbol: moved for symbol, moved in self.held.items() if symbol not in written}
        for use in names(stmt):
            self.note(use, self.moved if use.symbol == self.symbol else self.held.get(use.symbol))
        if update is not None:
            step = PlacedUpdate(place, update, _amount(update))
            after = None if self.moved is None or step.amount is None else self.moved + step.amount
            self.note(update.node, self.moved if _gives_old(update.node) else after)
            self.steps.append(step)
            self.moved = after
        if isinstance(stmt, DeclStmt):
            for declared in stmt.declarations:
                value = None if declared.init is None else self.offsets.get(id(peel(declared.init)))
                if value is not None and _is_whole(declared.symbol, self.symbol):
                    self.held[declared.symbol] = value
        return True

    def note(self, use: Node, moved: int | None) -> None:
        if moved is not None:
            self.offsets[id(use)] = moved


def _is_whole(holder: Symbol, symbol: Symbol) -> bool:
    """Whether a variable holds different values for different ones of the scalar."""
    wanted, given = holder.type, symbol.type
    return isinstance(wanted, Scalar) and isinstance(given, Scalar) and is_integer(wanted) and wanted.bits >= given.bits


def _update_in(stmt: Stmt, symbol: Symbol) -> AssociativeUpdate | None:
    """Return the one update of the scalar that a statement certainly makes: it is the statement, or `k++` in its
    expression, which uses the scalar nowhere else."""
    if not isinstance(stmt, ExprStmt | DeclStmt) or symbol not in find_changed(stmt):
        return None
    whole = update_of(peel(stmt.expr)) if isinstance(stmt, ExprStmt) else None
    if whole is not None and whole.symbol == symbol:
        return whole if isinstance(peel(whole.target), Name) and whole.op == "+" and not whole.constant else None
    moving = [n for n in walk(stmt) if isinstance(n, Unary) and n.op in _STEPS and root_symbol(n.operand) == symbol]
    uses = [n for n in names(stmt) if n.symbol == symbol]
    if len(moving) != 1 or len(uses) != 1 or not isinstance(peel(moving[0].operand), Name):
        return None
    chosen = (n for n in walk(stmt) if isinstance(n, Conditional) or (isinstance(n, Binary) and n.op in _CHOICES))
    return None if any(moving[0] in walk(choice) for choice in chosen) else update_of(moving[0])


def _gives_old(node: Node) -> bool:
    """Whether the value of an update is the scalar's old one."""
    return isinstance(node, Unary) and node.op in ("x++", "x--")


def _amount(update: AssociativeUpdate) -> int | None:
    """Return how far an update moves the scalar, if that is a number."""
    node = update.node
    if isinstance(node, Unary):
        return 1 if "++" in node.op else -1
    value = peel(node.value) if isinstance(node, Assign) else None
    down = isinstance(node, Assign) and node.op == "-="
    if isinstance(node, Assign) and node.op == "=" and isinstance(value, Binary) and value.op in ("+", "-"):
        left, right = peel(value.left), peel(value.right)
        mine_first = isinstance(left, Name) and left.symbol == update.symbol
        down, value = value.op == "-", right if mine_first else left
    if not isinstance(value, Literal) or not isinstance(value.value, int):
        return None
    return -value.value if down else value.value
