"""Are the lists of a claim's clauses right: private, firstprivate, lastprivate, reduction, and who is missing in them?

    private(t)        an iteration writes t before it reads it, and nobody reads it after the loop
    firstprivate(t)   t is read only; or written before it is read
    lastprivate(t)    as private, and the last iteration writes it
    reduction(+: s)   s is updated by + and used for nothing else
    linear(j)         every iteration moves j by 1 (linear_lists.py)

Invariant: what is wrong is certain: a read that comes before every possible write of its iteration, a use behind the
loop that is certainly reached, an operator other than the one that the loop applies.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.dependences import conflicts, describe, references, small_point
from warpsmith.poly.dependences.reductions import array_reductions, scalar_reductions, updates
from warpsmith.poly.dependences.scalars import ScalarRoles
from warpsmith.poly.legality.privacy import certain_first_read, private_in, read_after
from warpsmith.poly.openmp.concurrency.thread_copies import find_other_copies
from warpsmith.poly.openmp.linear_lists import judge_linear
from warpsmith.poly.openmp.reduced_sections import find_unreduced
from warpsmith.poly.openmp.words import word_witness
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Loop,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import children, loop_names, names, peel, walk

__all__ = ["owned_reasons"]

_Sorted = tuple[list[Reason], list[Reason]]
# what OpenMP defines for all numbers; every other name is of a `declare reduction` of the program
_STANDARD = frozenset({"+", "*", "&", "|", "^", "&&", "||", "max", "min"})


def owned_reasons(
    facts: Facts, function: Function, claim: Claim, around: tuple[Loop, ...], roles: ScalarRoles
) -> _Sorted:
    """Return what is certainly wrong with the claim's lists, and what is in doubt. Raises OutOfBudgetError."""
    inner = claim.loops[-1]
    outside = (*around, *claim.loops[:-1])
    region, state = build_region(facts.origin(function), (inner,), outside, guards=False)
    lists = _Lists(facts, function, claim, roles, region, state)
    covered = {loop.variable for loop in claim.loops}
    wrong: list[Reason] = []
    doubts: list[Reason] = []
    for symbol in sorted(claim.owned - covered, key=lambda s: s.key):
        for certain, reason in lists.judge_variable(symbol):
            (wrong if certain and region.reached else doubts).append(reason)
    for certain, reason in lists.counters():
        (wrong if certain and region.reached else doubts).append(reason)
    doubts += find_other_copies(facts, function, claim)
    return wrong, doubts


class _Lists(Struct, frozen=True):
    facts: Facts
    function: Function
    claim: Claim
    roles: ScalarRoles
    region: Region
    state: State

    @property
    def loop(self) -> For:
        """The loop whose iterations own the variables."""
        return self.claim.loops[-1]

    def judge_variable(self, symbol: Symbol) -> Iterator[tuple[bool, Reason]]:
        """Yield what is wrong with one listed variable (True: certainly)."""
        claim = self.claim
        if symbol in claim.reductions:
            yield from self._reduction(symbol, claim.reductions[symbol])
            return
        written = self._is_written(symbol)
        if symbol in claim.linear:
            found = judge_linear(claim, symbol)
            yield from () if found is None else (found,)
            return
        if not written and (symbol in claim.firstprivate or symbol not in self._find_listed_here()):
            return
        yield from self._value_inside(symbol, written=written)
        if written:
            yield from self._value_after(symbol)

    def counters(self) -> Iterator[tuple[bool, Reason]]:
        """Yield the covered loops' counters whose value is read after the loop: each thread had its own."""
        for loop in self.claim.loops:
            symbol = loop.variable
            if not loop.declares and symbol not in self.claim.lastprivate and self._is_live(symbol):
                yield self._reads_after(symbol), self._report_lost(symbol, loop)

    # --- private, firstprivate, lastprivate

    def _find_listed_here(self) -> frozenset[Symbol]:
        """Return what the loop's own pragma lists, not its region: a region's variable may have a value before."""
        named = self.claim.directive.list_variables("private", "lastprivate", "firstprivate")
        return frozenset(s for s in self.claim.owned if s.name in named)

    def _is_written(self, symbol: Symbol) -> bool:
        if any(isinstance(n, For) and n.variable == symbol for n in walk(self.loop.body)):
            return True
        own = (a for s in self.region.statements for a in s.accesses if a.base == symbol and not a.place)
        # what is stored behind a pointer leaves the pointer as it is
        return any(a.write and not (isinstance(symbol.type, Pointer) and a.path) for a in own)

    def _is_proved_inside(self, symbol: Symbol) -> bool:
        """Whether each iteration certainly writes what it reads of the variable."""
        if symbol in self.roles.private:
            return True
        if any(isinstance(n, For) and n.variable == symbol for n in walk(self.loop.body)):
            crossing = any(c.symbol == symbol for c in self.roles.carried)
            return not crossing
        if isinstance(symbol.type, Pointer):
            return False
        return isinstance(private_in(self.facts, self.function, self.loop, symbol), Proved)

    def _value_inside(self, symbol: Symbol, *, written: bool) -> Iterator[tuple[bool, Reason]]:
        if self._is_proved_inside(symbol):
            return
        name, clause = symbol.name, self._clause(symbol)
        read = None if isinstance(symbol.type, Pointer) else certain_first_read(
            self.state, self.region, self.loop, symbol
        )  # fmt: skip
        if read is None:
            text = f"whether an iteration writes {name} before it reads it is not known"
            yield False, Reason("CLM002", text, self.claim.span)
            return
        _, access, points = read
        if symbol not in self._find_listed_here():
            text = f"each thread's own {name} passes values from one iteration to another"
            yield False, Reason("CLM002", text, access.expr.span)
            return
        if symbol in self.claim.firstprivate:
            yield self._crosses(symbol)
            return
        found = small_point(self.state, points)
        span = access.expr.span
        if found is None:
            yield False, Reason("CLM002", f"{name} may be read before it has a value", span)
            return
        where = self._show_point(found[0], found[1])
        own = f"each thread's own {name} has no value there"
        remedy = "share it, or firstprivate" if not written else "firstprivate where that is meant"
        head = f"{name} needs firstprivate" if not written else f"{clause}({name}) is wrong"
        yield True, Reason("CLM001", f"{head}: {where} reads {name} before writing it, and {own}", span,
                           legal_if=(f"{remedy} ({name})",))  # fmt: skip

    def _crosses(self, symbol: Symbol) -> tuple[bool, Reason]:
        """A firstprivate variable: does an iteration read what an earlier one wrote?"""
        skip = self.claim.owned - {symbol}
        groups = [g for g in references(self.state, self.region, skip, id) if g[0].access.base == symbol]
        names_of = {n: a for n, a in loop_names(self.function).items() if isinstance(n, For)}
        for conflict in conflicts(self.state, self.region, self.loop, groups):
            if conflict.kind == "flow" and conflict.certain:
                dependence = describe(self.state, self.region, conflict, names_of)
                if dependence is not None:
                    said = word_witness(dependence.witness, self.region)
                    text = (
                        f"firstprivate({symbol.name}) is wrong, the value passes from one iteration to another: {said}"
                    )
                    return True, Reason("CLM001", text, dependence.sink, dependence)
        text = f"an iteration may read the {symbol.name} that another one wrote"
        return False, Reason("CLM002", text, self.claim.span)

    def _clause(self, symbol: Symbol) -> str:
        if symbol in self.claim.lastprivate:
            return "lastprivate"
        return "firstprivate" if symbol in self.claim.firstprivate else "private"

    def _value_after(self, symbol: Symbol) -> Iterator[tuple[bool, Reason]]:
        if symbol in self.claim.lastprivate:
            if symbol not in self.roles.private and self._is_live(symbol):
                yield self._last_iteration(symbol)
            return
        if self._is_live(symbol):
            certain = symbol in self._find_listed_here() and self._reads_after(symbol)
            yield certain, self._report_lost(symbol, self.claim.loops[0])

    def _is_live(self, symbol: Symbol) -> bool:
        loop = self.claim.loops[0]
        if symbol in self.roles.private or symbol == loop.variable:
            return symbol in self.facts.liveness(self.function).after[loop]
        return read_after(self.facts, self.function, loop, symbol)

    def _report_lost(self, symbol: Symbol, loop: For) -> Reason:
        text = (
            f"{symbol.name} needs lastprivate: the last iteration of {loop.variable.name} writes it, and it is read "
            f"after the loop"
        )
        return Reason("CLM001", text, self.claim.span)

    def _last_iteration(self, symbol: Symbol) -> tuple[bool, Reason]:
        """lastprivate(x) where not every iteration writes x: the last one may not."""
        text = f"lastprivate({symbol.name}): it is not known that the last iteration writes {symbol.name}"
        return False, Reason("CLM002", text, self.claim.span)

    def _reads_after(self, symbol: Symbol) -> bool:
        """Whether a statement behind the loop certainly reads the variable."""
        return any(certainly_reads(self.function, self.claim.loops[0], symbol))

    def _show_point(self, parameters: dict[str, int], counters: tuple[int, ...]) -> str:
        values = [parameters.get(name, 0) for _, name in self.region.outer]
        loops_around = [outer.variable.name for outer, _ in self.region.outer]
        pairs = zip((*loops_around, self.loop.variable.name), (*values, *counters[:1]), strict=False)
        kinds = self.state.vocabulary
        head = {kinds[n].text: v for n, v in sorted(parameters.items()) if kinds[n].kind == "parameter"}
        tail = f" ({', '.join(f'{n} = {v}' for n, v in head.items())})" if head else ""
        return f"iteration {', '.join(f'{n} = {v}' for n, v in pairs)}{tail}"

    # --- reductions

    def _reduction(self, symbol: Symbol, op: str) -> Iterator[tuple[bool, Reason]]:
        loop, name = self.claim.loops[0], symbol.name
        if op not in _STANDARD:
            yield False, Reason("CLM002", f"what {op} makes of two values of {name} is not read", self.claim.span)
            return
        live = self.facts.liveness(self.function).after[loop]
        known = {r.variable: r for r in (*array_reductions(loop), *scalar_reductions(loop, live))}
        mine = [u for u in updates(loop) if u.symbol == symbol]
        outside = find_unreduced(self.facts, self.function, self.claim, symbol)
        if outside is not None:
            yield False, outside
        if symbol in known:
            used = known[symbol]
            if used.companions:
                yield False, Reason("CLM002", f"reduction({op}: {name}) with what is set beside it", used.span)
            elif used.op != op and self._is_live(symbol):
                text = (
                    f"reduction({op}: {name}) is wrong: the loop combines {name} by {used.op}, and the parts of two "
                    f"threads would be combined by {op}"
                )
                yield (
                    self._reads_after(symbol),
                    Reason("CLM001", text, used.span, legal_if=(f"reduction({used.op}: {name})",)),
                )
            return
        yield from self._other_use(symbol, op, {id(n) for u in mine for n in u.nodes})

    def _other_use(self, symbol: Symbol, op: str, own: set[int]) -> Iterator[tuple[bool, Reason]]:
        """A reduction's variable that the loop uses in other ways too."""
        skip = self.claim.owned - {symbol}
        groups = [g for g in references(self.state, self.region, skip, id) if g[0].access.base == symbol]
        names_of = {n: a for n, a in loop_names(self.function).items() if isinstance(n, For)}
        for conflict in conflicts(self.state, self.region, self.loop, groups):
            beside = conflict.second if conflict.kind == "flow" else conflict.first
            if conflict.certain and conflict.kind != "anti" and id(beside.access.expr) not in own:
                dependence = describe(self.state, self.region, conflict, names_of)
                if dependence is not None:
                    said = word_witness(dependence.witness, self.region)
                    what = "reads" if conflict.kind == "flow" else "overwrites"
                    seen = conflict.kind == "flow" or self._reads_after(symbol)
                    text = f"reduction({op}: {symbol.name}) is wrong: the loop also {what} {symbol.name}: {said}"
                    yield seen, Reason("CLM001", text, dependence.sink, dependence)
                    return
        text = f"the updates of {symbol.name} have no form that shows how they combine"
        yield False, Reason("CLM002", text, self.claim.span)


def certainly_reads(function: Function, loop: Loop, symbol: Symbol) -> Iterator[bool]:
    """Yield True where a statement behind `loop`, on the way that control certainly takes, reads `symbol` before it is
    written."""
    for run in _runs_behind(function.body, loop):
        for stmt in run:
            found = _first_use(stmt, symbol)
            if found is not None:
                yield found
                return
            if isinstance(stmt, Return):
                return


def _runs_behind(node: Node, loop: Loop) -> list[tuple[Stmt, ...]]:
    """Return the statements behind the loop in its block, then behind that block, and so on outwards, as long as no
    loop or branch is left."""
    for child in children(node):
        if child is loop or any(part is loop for part in walk(child)):
            inner = [] if child is loop else _runs_behind(child, loop)
            if isinstance(child, If | For) and child is not loop:
                return inner
            if isinstance(node, Block):
                position = next(k for k, s in enumerate(node.statements) if s is child)
                return [*inner, node.statements[position + 1 :]]
            return inner
    return []


def _first_use(stmt: Stmt, symbol: Symbol) -> bool | None:
    """Whether a statement reads the variable first (True), does anything else with it (False), or nothing (None)."""
    if not any(n.symbol == symbol for n in names(stmt)):
        return None
    match stmt:
        case DeclStmt(declarations=declared):
            return all(d.init is None or _plainly_reads(d.init, symbol) for d in declared)
        case ExprStmt(expr=expr):
            return _plainly_reads(expr, symbol)
        case Return(value=value) if value is not None:
            return _plainly_reads(value, symbol)
        case _:
            return False


def _plainly_reads(expr: Expr, symbol: Symbol) -> bool:
    """Whether evaluating the expression certainly reads the variable and does not write it first."""
    whole = peel(expr)
    parts: list[Expr] = [whole]
    if isinstance(whole, Assign):
        target = peel(whole.target)
        plain = isinstance(target, Name) and target.symbol == symbol
        parts = [whole.value] if whole.op == "=" and (plain or not isinstance(target, Index)) else [whole.value, target]
    inside = [n for part in parts for n in walk(part)]
    if any(isinstance(n, Unary) and n.op in ("&", "++x", "--x", "x++", "x--") for n in inside):
        return False
    if any(n.__class__.__name__ == "Conditional" or getattr(n, "op", "") in ("&&", "||") for n in inside):
        return False
    passed = [a for n in inside if isinstance(n, Call) for a in n.arguments]
    reads = [n for n in inside if isinstance(n, Name) and n.symbol == symbol]
    return bool(reads) and (not isinstance(symbol.type, Pointer) or not passed)
