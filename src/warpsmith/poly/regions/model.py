"""Building the model of a region: one walk in execution order.

Invariant: at every statement `state.path` is implied by reaching it, `state.values` holds for variables on every path
that reaches it, and each object that the statement may touch is among its accesses, over-approximated if need be.

A loop forgets what its body writes before the body is read; two branches keep what they agree on; inside `while` and
`switch`, and in a loop that is left early, statements may run or not (see RunsWhen).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

import msgspec.structs
from msgspec import Struct, field

from warpsmith.poly.claimed import claims_of
from warpsmith.poly.effects.effects import Effects
from warpsmith.poly.effects.origin import Origin, changed_variables, own_writes
from warpsmith.poly.granted import condition, grants
from warpsmith.poly.isl.formula import both
from warpsmith.poly.isl.polynomial import atom
from warpsmith.poly.pointers.control import ends_in_continue, jumps, leaves
from warpsmith.poly.pointers.fixed import fixed_pointers
from warpsmith.poly.regions.apart_rows import row_guards, with_columns
from warpsmith.poly.regions.arms import Condition, OpenArms, is_certain
from warpsmith.poly.regions.loops import computed_bound, loop_bounds, loop_domain, loop_runs, read_condition
from warpsmith.poly.regions.places import address_of, is_returned, place_of
from warpsmith.poly.regions.region import Access, Arm, Region, RunsWhen, Statement, StatementEntry
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.surroundings import surround
from warpsmith.poly.regions.tables import find_tables
from warpsmith.tree.memory.effective_types import stored_types
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    DeviceNode,
    DeviceStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    InitList,
    Literal,
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
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
    replace,
)
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import VOID, Array, Pointer, Scalar, Symbol, Type, is_integer, lengths
from warpsmith.tree.walk import peel, walk

__all__ = ["build_region"]

Simple = DeclStmt | ExprStmt | Return | Verbatim | DeviceStmt | Break | Continue | Empty | Pragma


class _Walk(Struct):
    """One walk over a scope."""

    origin: Origin
    state: State
    statements: list[Statement] = field(default_factory=list)
    broken: dict[For, str] = field(default_factory=dict)
    entries: dict[Stmt, StatementEntry] = field(default_factory=dict)
    within: list[Stmt] = field(default_factory=list)
    arms: OpenArms = field(default_factory=OpenArms)

    # --- statements

    def statement(self, stmt: Stmt) -> None:
        state = self.state
        exact = is_certain(state, self.arms.runs(state), both(state.path), ())
        self.entries[stmt] = StatementEntry(tuple(state.loops), tuple(state.counters), tuple(state.path), exact)
        self.within.append(stmt)
        self.dispatch(stmt)
        self.within.pop()

    def dispatch(self, stmt: Stmt) -> None:
        match stmt:
            case If():
                self.branch(stmt)
            case For():
                self.loop(stmt)
            case While():
                self.report_unbounded(stmt)
            case Switch():
                self.switch(stmt)
            case Block(statements=parts):
                self.run(parts)
            case _:
                self.simple(stmt)

    def simple(self, stmt: Simple) -> None:
        match stmt:
            case DeclStmt(declarations=declarations):
                for declaration in declarations:
                    self.declaration(declaration)
            case ExprStmt(expr=expr):
                self.evaluate(stmt, expr)
            case Return(value=value):
                if value is not None:
                    self.evaluate(stmt, value)
                self.state.runs = RunsWhen.UNKNOWN
            case Verbatim():
                self.add_opaque(stmt)
            case DeviceNode():
                self.state.runs = RunsWhen.UNKNOWN
            case Break() | Continue() | Empty() | Pragma():
                pass
            case _:
                assert_never(stmt)

    def run(self, parts: tuple[Stmt, ...]) -> None:
        """A statement list; after `if (c) continue;` the rest runs only where c is false."""
        depth = len(self.state.path)
        for part in parts:
            self.statement(part)
            if isinstance(part, If) and part.other is None and ends_in_continue(part.then):
                formula, runs = read_condition(self.state, part.condition, holds=False)
                self.state.path.append(formula)
                self.state.runs = min(self.state.runs, runs)
        del self.state.path[depth:]

    def declaration(self, declaration: VarDecl) -> None:
        symbol = declaration.symbol
        accesses: list[Access] = []
        self.every(lengths(symbol.type), accesses)
        if declaration.init is None:
            self.add(declaration, accesses)
            self.state.forget(frozenset({symbol}))
            return
        accesses += self.reads(declaration.init)
        if symbol.storage != "static local":
            accesses.append(_variable_access(declaration, symbol))
        self.add(declaration, accesses)
        if symbol.storage != "static local":
            self.define(symbol, declaration.init)

    def evaluate(self, node: Node, expr: Expr) -> None:
        """An expression evaluated for its effects or its value; assignments to variables give them values."""
        self.add(node, self.reads(expr))
        inner = peel(expr)
        assigned = _assignments(inner)
        self.state.forget(frozenset(assigned) | self.find_changed_by_calls(inner))
        if isinstance(inner, Assign) and inner.op == "=" and len(assigned) <= 1:
            target = peel(inner.target)
            if isinstance(target, Name) and assigned == {target.symbol}:
                self.define(target.symbol, inner.value)

    def find_changed_by_calls(self, expr: Expr) -> frozenset[Symbol]:
        if not any(isinstance(n, Call | VerbatimExpr) for n in walk(expr)):
            return frozenset()
        return changed_variables(expr, self.origin.effects(expr))

    def define(self, symbol: Symbol, value: Expr) -> None:
        """Give a variable its value; escaped ones may change behind our back and have none."""
        if symbol in self.state.hidden:
            self.state.forget(frozenset({symbol}))
        elif isinstance(symbol.type, Pointer):
            found = address_of(self.state, value)
            same = isinstance(peel(value).type, Pointer | Array) and found is not None and found.known
            same = same and _points_to(peel(value)) == symbol.type.to
            self.state.pointers[symbol] = found if same else None
        elif is_integer(symbol.type):
            exact = self.state.affine.exact(value, symbol.type)
            self.state.values[symbol] = exact

    def branch(self, stmt: If) -> None:
        self.evaluate(stmt.condition, stmt.condition)
        state = self.state
        before, around = state.snapshot(), state.runs
        holds = read_condition(state, stmt.condition)
        fails = read_condition(state, stmt.condition, holds=False)
        first, second = self.arms.branch(state, holds, fails if stmt.other is not None else None)
        self.arm(stmt.then, first, holds)
        after = state.snapshot()
        state.values, state.pointers, state.runs = dict(before[0]), dict(before[1]), around
        if stmt.other is not None:
            self.arm(stmt.other, second, fails)
        state.merge(after)
        state.runs = RunsWhen.UNKNOWN if leaves(stmt) else around

    def arm(self, body: Stmt, arm: Arm | None, condition: Condition) -> None:
        self.arms.enter(self.state, arm, condition)
        self.statement(body)
        self.arms.leave(self.state, arm)

    def loop(self, loop: For) -> None:
        state = self.state
        self.add(loop, [*self.reads(loop.lower), *self.reads(loop.bound)])
        bounds = loop_bounds(state, loop)
        if state.runs is RunsWhen.ALWAYS and not state.path:
            state.computed = both((state.computed, computed_bound(loop, bounds)))
        if bounds.broken:
            self.broken[loop] = bounds.broken
        self.forget_body(loop)
        counter = state.vocabulary.counter(loop.variable, loop, None)
        domain, certain = loop_domain(state, loop, counter, bounds)
        around = state.runs
        state.runs = min(
            around, RunsWhen.UNKNOWN if jumps(loop.body) else loop_runs(state, loop, bounds, certain=certain)
        )
        state.path.append(domain)
        state.counters.append(counter)
        state.loops.append(loop)
        state.values[loop.variable] = atom(counter)
        self.statement(loop.body)
        for stack in (state.path, state.counters, state.loops):
            stack.pop()
        state.runs = RunsWhen.UNKNOWN if leaves(loop.body) else around
        self.forget_body(loop)

    def forget_body(self, loop: Stmt) -> None:
        """Forget what one iteration may have written before the next one starts."""
        done = self.origin.effects(loop) if _calls(loop) else Effects()
        self.state.forget(changed_variables(loop, done))

    def report_unbounded(self, loop: While) -> None:
        state = self.state
        if loop.init is not None:
            self.statement(loop.init)
        around = state.runs
        state.runs = RunsWhen.UNKNOWN
        self.forget_body(loop)
        if loop.condition is not None:
            self.evaluate(loop.condition, loop.condition)
        self.statement(loop.body)
        if loop.advance is not None:
            self.evaluate(loop.advance, loop.advance)
        state.runs = RunsWhen.UNKNOWN if leaves(loop.body) else around
        self.forget_body(loop)

    def switch(self, stmt: Switch) -> None:
        state = self.state
        self.evaluate(stmt.value, stmt.value)
        around = state.runs
        state.runs = RunsWhen.UNKNOWN
        for case in stmt.cases:
            self.forget_body(stmt)
            self.run(case.body)
        self.forget_body(stmt)
        state.runs = RunsWhen.UNKNOWN if leaves(stmt) else around

    def add_opaque(self, stmt: Verbatim | VerbatimExpr) -> None:
        """What is not modelled touches all that it names."""
        name = Literal(span=stmt.span, type=VOID, text=stmt.text, value=None)
        accesses = [_make_unknown(name, s, write=False) for s in stmt.reads]
        accesses += [_make_unknown(name, s, write=True) for s in stmt.writes]
        self.state.runs = RunsWhen.UNKNOWN
        self.add(stmt, accesses)
        self.state.forget(frozenset(stmt.writes))

    # --- accesses

    def add(self, node: Node, accesses: list[Access]) -> None:
        state = self.state
        if accesses:
            domain, runs = both(state.path), self.arms.runs(state)
            self.statements.append(
                Statement(
                    node,
                    tuple(state.loops),
                    tuple(state.counters),
                    domain,
                    is_certain(state, runs, domain, accesses),
                    tuple(accesses),
                    tuple(self.within),
                    runs,
                    self.arms.arms(),
                    self.arms.domain(state),
                )
            )

    def reads(self, expr: Expr) -> list[Access]:
        """Return every access of evaluating `expr`, guarded parts as statements of their own."""
        found: list[Access] = []
        self.visit(expr, found)
        return found

    def visit(self, expr: Expr, found: list[Access]) -> None:
        expr = peel(expr)
        match expr:
            case Literal() | MacroUse():
                pass
            case SizeOf(operands=parts) | InitList(items=parts):
                self.every(parts, found)
            case Name() | Index() | Member():
                self.lvalue(expr, found, reads=True, writes=False)
            case Unary() | Cast():
                self.unary(expr, found)
            case Binary() | Conditional():
                self.choice(expr, found)
            case Assign(op=op, target=target, value=value):
                self.visit(value, found)
                self.lvalue(target, found, reads=op != "=", writes=True)
            case Call():
                self.call(expr, found)
            case VerbatimExpr():
                self.add_opaque(expr)
            case _:
                assert_never(expr)

    def unary(self, expr: Unary | Cast, found: list[Access]) -> None:
        if isinstance(expr, Cast):
            self.every(lengths(expr.type), found)
            self.visit(expr.operand, found)
        elif expr.op == "*":
            self.lvalue(expr, found, reads=True, writes=False)
        elif expr.op == "&":
            self.operands(expr.operand, found)
        elif "++" in expr.op or "--" in expr.op:
            self.lvalue(expr.operand, found, reads=True, writes=True)
        else:
            self.visit(expr.operand, found)

    def every(self, parts: Iterable[Expr], found: list[Access]) -> None:
        for part in parts:
            self.visit(part, found)

    def choice(self, expr: Binary | Conditional, found: list[Access]) -> None:
        """Both operands; the second of && and ||, and the arms of ?:, only where they are evaluated."""
        if isinstance(expr, Conditional):
            self.visit(expr.condition, found)
            self.under(expr.condition, True, expr.then)
            self.under(expr.condition, False, expr.other)
        elif expr.op in ("&&", "||"):
            self.visit(expr.left, found)
            self.under(expr.left, expr.op == "&&", expr.right)
        else:
            self.visit(expr.left, found)
            self.visit(expr.right, found)

    def under(self, condition: Expr, holds: bool, part: Expr) -> None:
        """Evaluate `part` only where `condition` holds (or does not)."""
        state = self.state
        around = state.runs
        formula, runs = read_condition(state, condition, holds=holds)
        state.path.append(formula)
        state.runs = min(around, runs)
        self.add(part, self.reads(part))
        state.path.pop()
        state.runs = around

    def operands(self, expr: Expr, found: list[Access]) -> None:
        """Visit what an lvalue reads to find its place: subscripts, and pointers held in memory."""
        expr = peel(expr)
        match expr:
            case Index(base=base, index=index):
                self.visit(index, found)
                self.pointer(base, found)
            case Unary(op="*", operand=operand):
                self.pointer(operand, found)
            case Member(base=base, arrow=arrow):
                if arrow:
                    self.pointer(base, found)
                else:
                    self.operands(base, found)
            case Name():
                pass
            case _:
                self.visit(expr, found)

    def pointer(self, expr: Expr, found: list[Access]) -> None:
        """Visit a pointer operand: an array is only its address, a pointer is read."""
        expr = peel(expr)
        if isinstance(expr.type, Array):
            self.operands(expr, found)
        else:
            self.visit(expr, found)

    def lvalue(self, expr: Expr, found: list[Access], *, reads: bool, writes: bool) -> None:
        expr = peel(expr)
        if isinstance(expr.type, Array):
            self.operands(expr, found)
            return
        self.operands(expr, found)
        if is_returned(expr):
            return
        address = place_of(self.state, expr)
        for write in (False, True):
            if not (writes if write else reads):
                continue
            if address is None:
                found += [Access(expr, s, "?", (), False, expr.type, write) for s in self.any_base(expr)]
            else:
                path = address.path if address.known else ()
                found.append(Access(expr, address.base, address.place, path, address.known, expr.type, write))

    def any_base(self, expr: Expr) -> list[Symbol]:
        """Return every pointer and array from which an address that cannot be followed may come."""
        found = {n.symbol for n in walk(expr) if isinstance(n, Name) and isinstance(n.type, Pointer | Array)}
        if not found:
            self.state.lost.append(expr)
        return sorted(found, key=lambda s: s.key)

    def call(self, expr: Call, found: list[Access]) -> None:
        """Arguments are read; what the callee touches is any element of the objects that it may reach."""
        for argument in expr.arguments:
            self.visit(argument, found)
        done = self.origin.effects(replace(expr, arguments=tuple(_silent(a) for a in expr.arguments)))
        for write, elements in ((False, done.element_reads), (True, done.element_writes)):
            reached = self.find_reached(expr, write=write)
            if reached is None:
                reached = [_make_unknown(expr, s, write=write) for s in sorted(elements, key=lambda s: s.key)]
            found += reached
        if done.unnamed_writes:
            self.state.lost.append(expr)
        direct = (done.direct_writes, True), (done.direct_reads, False)
        found += [
            _make_unknown(expr, s, write=w) for symbols, w in direct for s in sorted(symbols, key=lambda s: s.key)
        ]

    def find_reached(self, call: Call, *, write: bool) -> list[Access] | None:
        """Return what a call touches through its arguments and through global variables, by the names that these have
        here; None where it may touch memory in other ways, or where an argument leads is not known."""
        answer = self.origin.summaries.reaches(call, write=write)
        if answer is None:
            return None
        addresses = [address_of(self.state, argument) for argument in answer[0]]
        if any(address is None or address.place == "?" for address in addresses):
            return None
        bases = dict.fromkeys((address.base, address.place) for address in addresses if address is not None)
        named = sorted(answer[1], key=lambda s: s.key)
        bases |= dict.fromkeys((symbol, "") for symbol in named if isinstance(symbol.type, Pointer | Array))
        return [Access(call, base, place, (), False, VOID, write) for base, place in bases]


def _silent(argument: Expr) -> Expr:
    """A number in place of an argument that is one: reading it is the caller's doing, not the callee's."""
    if not isinstance(argument.type, Scalar):
        return argument
    return Literal(span=argument.span, type=argument.type, text="0", value=0)


def _make_unknown(expr: Expr, symbol: Symbol, *, write: bool) -> Access:
    return Access(expr, symbol, "", (), False, VOID, write)


def _variable_access(declaration: VarDecl, symbol: Symbol) -> Access:
    name = Name(span=declaration.span, type=symbol.type, symbol=symbol)
    return Access(name, symbol, "", (), True, symbol.type, True)


def _assignments(expr: Expr) -> set[Symbol]:
    return {s for node in walk(expr) for s in own_writes(node)}


def _points_to(expr: Expr) -> object:
    type = expr.type
    return type.to if isinstance(type, Pointer) else type.of if isinstance(type, Array) else None


def _calls(node: Node) -> bool:
    return any(isinstance(n, Call | Verbatim | VerbatimExpr) for n in walk(node))


def build_region(
    origin: Origin,
    scope: tuple[Stmt, ...],
    around: tuple[Stmt, ...],
    *,
    guards: bool,
    granted: tuple[Assumption, ...] = (),
    fixed: bool = False,
    same: tuple[tuple[Symbol, Expr], ...] = (),
) -> tuple[Region, State]:
    """Return the model of `scope`, whose enclosing loops are `around` (outermost first), and the state at its end;
    `fixed`: local pointers that keep the address of their declaration are followed to it; `same`: and pointers that
    hold another one's address wherever the scope is entered."""
    question = ("region", origin.function, scope, around, guards, granted, fixed, same)
    held = {**(fixed_pointers(origin.function, origin.hidden) if fixed else {}), **dict(same)}
    region, state = origin.summaries.remember(
        question, lambda: _build_region(origin, scope, around, guards=guards, granted=granted, fixed=held)
    )
    # Who asks adds guards and atoms to the state; the remembered one stays what it is.
    own = state.copy()
    return msgspec.structs.replace(region, vocabulary=own.vocabulary), own


def _build_region(
    origin: Origin,
    scope: tuple[Stmt, ...],
    around: tuple[Stmt, ...],
    *,
    guards: bool,
    granted: tuple[Assumption, ...],
    fixed: Mapping[Symbol, Expr],
) -> tuple[Region, State]:
    written: set[Symbol] = set()
    stored: set[Symbol] = set()
    kinds: tuple[Type, ...] | None = ()
    for stmt in scope:
        done = origin.effects(stmt)
        written |= changed_variables(stmt, done)
        stored |= done.element_writes
        types = stored_types(stmt)
        kinds = None if kinds is None or types is None else (*kinds, *types)
    state = State(
        span=scope[0].span,
        guards=guards,
        written=frozenset(written),
        stored=frozenset(stored),
        stored_types=kinds,
        hidden=frozenset(origin.hidden & (written | stored)),
        unstable=origin.unstable,
        exposed=origin.find_exposed(written | stored),
        constants=origin.constants,
        rows=row_guards(origin.function, frozenset(stored), scope[0].span),
        tables=origin.summaries.remember("tables", lambda: find_tables(origin.program)),
        fixed=fixed,
    )
    state = surround(origin, state, scope[0], around)
    _grant(state, scope, granted)
    fresh = state.copy()
    work = _walk_scope(origin, state, scope)
    vague = with_columns(state, work.statements)
    if vague and claims_of(origin.function):
        # what a pragma says of the loops is worth more than a guard that rows of one block would fail
        state = fresh
        state.rows = {block: known for block, known in state.rows.items() if block not in vague}
        work = _walk_scope(origin, state, scope)
        with_columns(state, work.statements)
    region = Region(
        scope,
        state.vocabulary,
        tuple(work.statements),
        tuple(state.outer),
        state.context,
        tuple(state.assumptions),
        tuple(dict.fromkeys(state.unproved)),
        work.broken,
        state.reached,
        work.entries,
    )
    return region, state


def _walk_scope(origin: Origin, state: State, scope: tuple[Stmt, ...]) -> _Walk:
    work = _Walk(origin, state)
    state.runs = RunsWhen.ALWAYS
    for stmt in scope:
        work.statement(stmt)
    return work


def _grant(state: State, scope: tuple[Stmt, ...], granted: tuple[Assumption, ...]) -> None:
    """Take over what the user asserted, where it speaks of this scope's parameters."""
    names: dict[str, str] = {}
    for stmt in scope:
        for node in walk(stmt):
            if isinstance(node, Name) and is_integer(node.type) and node.symbol not in state.written:
                value = state.scalar(node)
                if value is not None and len(value.atoms()) == 1 and value.degree == 1:
                    names[node.symbol.name] = next(iter(value.atoms()))
    for assumption in granted:
        formula = condition(assumption.text, names, state.affine)
        if formula is not None:
            state.assume(assumption, formula)
    state.injective = {
        name: found for name in _array_names(scope) if (found := grants(granted, "injective", name)) is not None
    }


def _array_names(scope: tuple[Stmt, ...]) -> set[str]:
    return {
        node.symbol.name
        for stmt in scope
        for node in walk(stmt)
        if isinstance(node, Name) and isinstance(node.type, Pointer | Array)
    }
