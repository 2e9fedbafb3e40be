"""Localization: see Localize."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import reduce
from typing import ClassVar, TypeVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.evaluation import find_reassigned
from warpsmith.loops.analysis.invariant_guards import all_of, bound_guards, invariant_guards, untestable
from warpsmith.loops.analysis.invariants import Invariant, invariant_type, root_of, survey
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.counted_loops import make_counted
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.versions import can_version
from warpsmith.loops.writing.checked_subscripts import drop_checks, guard_checks
from warpsmith.loops.writing.pragma_lines import (
    closing_lines,
    open_lists,
    pragma_in_the_way,
    pragmas_of,
    run_with_pragmas,
)
from warpsmith.loops.writing.storage import before
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance, loads
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.containers import DATA, SIZE, find_checked
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
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
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.nodes import replace as node_with
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import INT, SIZE_T, Pointer, Record, Symbol
from warpsmith.tree.walk import children, names, peel, rebuild, same, walk

__all__ = ["Localize"]

N = TypeVar("N", bound=Node)

_CXX_WORDS = {
    "class", "new", "delete", "this", "operator", "template", "private", "public", "protected", "namespace", "typename",
    "friend", "virtual", "using", "try", "catch", "throw", "bool", "true", "false", "explicit", "export", "mutable",
    "and", "or", "not", "xor",
}  # fmt: skip


class Localize(Struct, frozen=True):
    """Read what a loop finds in memory, and never changes there, into variables before the loop.

    Legal for pointers and numbers in structs, pointers behind pointers and bounds in memory, where nothing in the loop
    changes them (a store of a `double` changes no pointer and no `int`, C17 6.5p7, unless the file is compiled with
    -fno-strict-aliasing) and where the loop reads them anyway: where it might run no iteration, they are read under its
    own condition. With `guards`, where a store might change one after all, a test of the addresses chooses between the
    loop with the variables and the user's. So it does where the loop calls `at` of a vector or an array: the loop with
    the variables subscripts them, and the test says that no call would throw. A loop becomes a counted one when its
    bound was all that blocked it.

    Step: loop=f/i

    Before:
        struct grid {
            int n;
            double *now, *next;
        };

        void f(struct grid *g)
        {
            for (int i = 1; i < g->n - 1; i++)
                g->next[i] = 0.5 * (g->now[i - 1] + g->now[i + 1]);
        }

    After:
        struct grid {
            int n;
            double *now, *next;
        };

        void f(struct grid *g)
        {
            int n = g->n;
            double *next = g->next;
            double *now = g->now;
            for (int i = 1; i < n - 1; i++)
                next[i] = 0.5 * (now[i - 1] + now[i + 1]);
        }
    """

    name: ClassVar[str] = "localize"

    loop: str
    guards: bool = True

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop reads something from memory that it does not change."""
        place = LoopContext.of(program, self.loop)
        stop = pragma_in_the_way(place)
        if stop is not None:
            return Unknown((stop,))
        found = _localization(program, facts, place, guards=self.guards)
        if not found.variables and not found.tests and found.loop is place.loop:
            if found.refused:
                return Unknown(found.refused)
            return does_not_fit("the loop reads nothing from memory that could be a variable", place.loop)
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with variables in place of what the loop reads."""
        place = LoopContext.of(program, self.loop)
        facts = Facts.about(program, PolyOptions())
        found = _localization(program, facts, place, guards=self.guards)
        if not found.tests:
            return found.trial
        span, run, supply = place.loop.span, run_with_pragmas(place), Fresh.of(found.trial)
        plain = [(one, symbol) for one, symbol in _keep_checked(place.loop, found.variables) if not one.stores]
        slow = copy_tree(_make_all_counted(_replace(place.loop, plain), facts.origin(place.function).hidden), supply)
        fast = Block(span=span, statements=(*pragmas_of(run), found.loop))
        other = Block(span=span, statements=(*(copy_tree(s) for s in pragmas_of(run)), slow))
        reasons = tuple(reason for _, reason in found.tests)
        chosen = If(span=span, condition=all_of([t for t, _ in found.tests]), then=fast, other=other, reasons=reasons)
        return with_run(program, place.function, run, (*closing_lines(run), *found.declarations, chosen))


class _Localization(Struct, frozen=True):
    """What becomes of a loop. `trial` is the program with it, as far as nothing is to be tested; `tests` are the
    conditions under which the variables with `stores` stand, and calls of `at` are subscripts, each with what it makes
    sure of."""

    variables: tuple[tuple[Invariant, Symbol], ...]
    declarations: tuple[Stmt, ...]
    loop: Stmt
    trial: Program
    tests: tuple[tuple[Expr, str], ...]
    refused: tuple[Reason, ...]


def _localization(program: Program, facts: Facts, place: LoopContext, *, guards: bool) -> _Localization:
    """Return the loop with variables; those that need a test only where the tests can be written."""
    found = survey(facts, place)
    guarded = [one for one in found.invariants if one.stores]
    if guarded and guards and can_version((place.loop,)):
        made = _localize(program, facts, place, found.invariants, guards=guards)
        beyond = untestable(made.variables, made.loop)
        if beyond:
            rest = tuple(one for one in found.invariants if one not in beyond)
            made = _localize(program, facts, place, _evaluable_of(rest), guards=guards)
        function = next(f for _, f in made.trial.functions() if f.symbol == place.function.symbol)
        after = facts.after(made.trial)
        tests = invariant_guards(after, function, made.loop, made.variables)
        if tests is not None:
            tests = (*tests, *bound_guards(after, function, made.loop, tests))
            refused = (*found.refused, *made.refused, *(_report_unguarded(one) for one in beyond))
            said = tuple((test, "the loop does not write what it reads once") for test in tests)
            return msgspec.structs.replace(made, tests=(*made.tests, *said), refused=refused)
    plain = _evaluable_of(tuple(one for one in found.invariants if not one.stores))
    made = _localize(program, facts, place, plain, guards=guards)
    refused = (*found.refused, *made.refused, *(_report_unguarded(one) for one in guarded))
    return msgspec.structs.replace(made, refused=refused)


def _evaluable_of(invariants: tuple[Invariant, ...]) -> tuple[Invariant, ...]:
    """Return those whose conditions read nothing from memory but what is invariant."""
    return tuple(one for one in invariants if all(_is_known(c, invariants) for c in one.conditions))


def _is_known(condition: Expr, invariants: Sequence[Invariant]) -> bool:
    """Whether a condition reads nothing from memory but what is invariant."""
    if any(same(one.load, condition) for one in invariants):
        return True
    if isinstance(condition, Member | Index) or (isinstance(condition, Unary) and condition.op == "*"):
        return False
    return all(_is_known(child, invariants) for child in children(condition) if isinstance(child, Expr))


def _report_unguarded(one: Invariant) -> Reason:
    text, stored = show_expression(one.load), show_expression(one.stores[0])
    return Reason("STP002", f"{text} may change in the loop: {stored} may be the same memory", one.load.span)


def _localize(
    program: Program, facts: Facts, place: LoopContext, invariants: tuple[Invariant, ...], *, guards: bool
) -> _Localization:
    """Return the loop with variables for all of `invariants`, and with subscripts in place of calls of `at` where a
    test before it says that none of them throws."""
    checked = bool(find_checked(place.loop))
    if not invariants and not checked:
        return _Localization((), (), place.loop, program, (), ())
    found = _declare_all(facts, place, invariants, _Names(program, place))
    refused: tuple[Reason, ...] = ()
    if checked:
        bounds = guard_checks(facts, place, (*found.declarations, found.loop), guards=guards)
        versions = guards and can_version((place.loop,))
        if not isinstance(bounds, Reason) and (versions or not bounds):
            tests = tuple((test.condition, test.text) for test in bounds if test.condition is not None)
            loop = _make_all_counted(drop_checks(found.loop), facts.origin(place.function).hidden)
            found = msgspec.structs.replace(found, loop=loop, tests=tests)
            return msgspec.structs.replace(found, trial=_with_loop(program, place, found))
        refused = (bounds,) if isinstance(bounds, Reason) else ()
        kept = tuple(one for one, _ in _keep_checked(place.loop, found.variables))
        found = _declare_all(facts, place, _evaluable_of(kept), _Names(program, place))
    return msgspec.structs.replace(found, trial=_with_loop(program, place, found), refused=refused)


def _declare_all(
    facts: Facts, place: LoopContext, invariants: tuple[Invariant, ...], names_of: _Names
) -> _Localization:
    """Return variables for all of `invariants`, and the loop with them."""
    known = _find_known_before(facts, place)
    declarations: list[Stmt] = []
    variables: list[tuple[Invariant, Symbol]] = []
    for one in invariants:
        value = _value(one, variables)
        symbol = next((s for s, init in known if same(init, value) and s.type == one.type), None)
        if symbol is None:
            symbol = names_of.variable(one)
            declarations.append(_declare(symbol, value, before(place.loop.span)))
            declarations += _declare_size(place.loop, one, invariants, names_of)
        variables.append((one, symbol))
    loop = _make_all_counted(_replace(place.loop, variables), facts.origin(place.function).hidden)
    return _Localization(tuple(variables), tuple(declarations), loop, facts.program, (), ())


def _with_loop(program: Program, place: LoopContext, found: _Localization) -> Program:
    """Return the program with the variables and the loop."""
    if found.loop is place.loop:
        return program
    run, declarations = run_with_pragmas(place), found.declarations
    own = pragmas_of(run) if closing_lines(run) else tuple(map(open_lists, run[:-1]))
    lines = (*closing_lines(run), *declarations, *own)
    return with_run(program, place.function, run, (*lines, found.loop))


def _keep_checked(loop: Loop, variables: Sequence[tuple[Invariant, Symbol]]) -> tuple[tuple[Invariant, Symbol], ...]:
    """Return the variables without those for the elements and sizes of containers whose `at` the loop calls: a call
    names the container itself."""
    parts = {id(part) for one in find_checked(loop) for part in walk(one)}
    return tuple((one, s) for one, s in variables if not any(id(node) in parts for node in one.nodes))


def _declare_size(loop: Loop, one: Invariant, others: Sequence[Invariant], names_of: _Names) -> list[Stmt]:
    """Return the size of a container beside where its elements are, if subscripts alone do not tell what is used, and
    the loop does not read it."""
    member = peel(one.load)
    holder = peel(member.base).type if isinstance(member, Member) and member.field == DATA else None
    holder = holder.to if isinstance(holder, Pointer) else holder
    if not isinstance(member, Member) or not isinstance(holder, Record) or one.conditions:
        return []
    subscripts = [p.index for p in walk(loop) if isinstance(p, Index) and same(peel(p.base), member)]
    own = declared_below(loop) - {part.variable for part in walk(loop) if isinstance(part, For)}
    if not any(_is_crooked(part, own) for index in subscripts for part in walk(index)):
        return []
    size = node_with(copy_tree(member), field=SIZE, type=SIZE_T)
    if any(same(other.load, size) for other in others):
        return []
    symbol = names_of.variable(Invariant((size,), SIZE_T, ()))
    return [_declare(symbol, size, before(loop.span))]


def _is_crooked(part: Node, own: set[Symbol]) -> bool:
    """Whether a part of a subscript may keep it from being affine."""
    if isinstance(part, Name):
        return part.symbol in own
    plain = isinstance(part, Binary) and part.op in ("+", "-", "*")
    return not plain and not isinstance(part, Literal | Cast | Member | MacroUse | Unary)


def _declare(symbol: Symbol, value: Expr, span: Span) -> DeclStmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def _value(one: Invariant, variables: Sequence[tuple[Invariant, Symbol]]) -> Expr:
    """Return the place's value, read only under its conditions; 0 stands for what is never used."""
    load = copy_tree(one.load)
    if not one.conditions:
        return load
    span = one.load.span
    tests = [copy_tree(_replace(c, variables)) for c in one.conditions]
    test = reduce(lambda a, b: Binary(span=span, type=INT, op="&&", left=a, right=b), tests)
    return Conditional(span=span, type=invariant_type(one.load), condition=test, then=load, other=number(0, span))


def _replace(node: N, variables: Sequence[tuple[Invariant, Symbol]]) -> N:
    """Return `node` with the variables in place of what they hold, the largest places first."""
    found: dict[int, Symbol] = {}
    stack: list[Node] = [node]
    written = {id(part) for one, _ in variables for part in one.nodes}
    while stack:
        part = stack.pop()
        symbol = next((s for h, s in variables if id(part) in written and same(h.load, part)), None)
        if symbol is not None:
            found[id(part)] = symbol
        else:
            stack += children(part)

    def change(part: Node) -> Node:
        symbol = found.get(id(part))
        return part if symbol is None else use(symbol, part.span)

    return rebuild(node, change)


def _make_all_counted(loop: Stmt, hidden: frozenset[Symbol]) -> Stmt:
    """Return the loop with every loop a counted one that can be, now that bounds are variables."""

    def change(part: Node) -> Node:
        if isinstance(part, While):
            return make_counted(part, hidden) or part
        return part

    return rebuild(loop, change)


# --- where it stands


def _find_known_before(facts: Facts, place: LoopContext) -> list[tuple[Symbol, Expr]]:
    """Return the variables declared earlier in the same block that still have the value that they were given."""
    block = next(
        (n for n in walk(place.function.body) if isinstance(n, Block) and any(s is place.loop for s in n.statements)),
        None,
    )
    if block is None:
        return []
    origin = facts.origin(place.function)
    typed = keeps_types(place.unit.arguments)
    position = next(k for k, s in enumerate(block.statements) if s is place.loop)
    moving = origin.hidden | find_reassigned(place.function)
    found: list[tuple[Symbol, Expr]] = []
    for k, stmt in enumerate(block.statements[:position]):
        if not isinstance(stmt, DeclStmt):
            continue
        between = block.statements[k + 1 : position]
        for declaration in stmt.declarations:
            symbol, init = declaration.symbol, declaration.init
            own = symbol.storage == "local" and symbol not in moving
            if not own or init is None or not _is_place(init):
                continue
            if all(disturbance(origin, between, part, typed=typed) is None for part in loads(init)):
                found.append((symbol, init))
    return found


def _is_place(init: Expr) -> bool:
    """Whether a value is one that this step reads into variables."""
    init = peel(init)
    return isinstance(init.then if isinstance(init, Conditional) else init, Member | Index) or (
        isinstance(init, Conditional)
    )


# --- names


class _Names:
    """Readable names that mean nothing else in the function: `u` for `s->u`, else `s_u`, else a new one."""

    def __init__(self, program: Program, place: LoopContext) -> None:
        self._program = program
        self.taken = _find_taken(place.function) | {text.name for text in place.unit.type_texts} | _CXX_WORDS
        self.taken |= {f.symbol.name for _, f in program.functions()}
        if place.unit.language != "c":
            # a member of a method's own object is named without it: a variable of its name would hide it
            self.taken |= identifiers(place.function.span.text)

    @functools.cached_property
    def supply(self) -> Fresh:
        """What is new in the whole program."""
        return Fresh.of(self._program)

    def variable(self, one: Invariant) -> Symbol:
        """Return a new variable for what is invariant."""
        root = root_of(one.load)
        assert root is not None, "a place begins with a variable"
        for wanted in (name for name in _propose_names(one.load) if name not in self.taken):
            self.taken.add(wanted)
            load = peel(one.load)
            held = isinstance(load, Member) and load.field == SIZE
            key = self.supply.key(f"{root.key}:{wanted}:{SIZE}" if held else f"{root.key}:{wanted}")
            return Symbol(wanted, key, one.type, "local", one.load.span)
        return self.supply.variable(_propose_names(one.load)[-1], one.type, root)


def _propose_names(load: Expr) -> list[str]:
    """Return the names to try, the shortest first."""
    words: list[str] = []
    pending: list[Expr] = [peel(load)]
    while pending:
        part = peel(pending.pop())
        match part:
            case Name(symbol=symbol):
                words.append(symbol.name)
            case Member(base=base, field=field):
                words.append(field.removesuffix("()"))
                pending.append(base)
            case Index(base=base, index=index):
                chosen = peel(index)
                word = chosen.symbol.name if isinstance(chosen, Name) else ""
                words.append(chosen.text if isinstance(chosen, Literal) else word)
                pending.append(base)
            case _:
                pending += [c for c in children(part) if isinstance(c, Expr)][:1]
    words = [w for w in words if w.isidentifier() or w.isdigit()]
    called = isinstance(inner := peel(load), Member) and inner.field.endswith("()")
    names_of = ["_".join(reversed(words[:k])) for k in range(2 if called else 1, len(words) + 1)]
    return [n for n in names_of if n.isidentifier()] or ["value"]


def _find_taken(function: Function) -> set[str]:
    found = {n.symbol.name for n in names(function)} | {p.name for p in function.parameters}
    found |= {s.name for s in declared_symbols(function)}
    for part in walk(function):
        if isinstance(part, Verbatim | VerbatimExpr):
            found |= {s.name for s in (*part.reads, *part.writes)}
    return found
