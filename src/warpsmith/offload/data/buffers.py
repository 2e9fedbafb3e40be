"""The buffers of one offload region: for each object that its fragments use, a scope and a section.

    {                                        scope of the offload region
        int n = …;
        double *B = malloc(n * sizeof *B);   B is born here: its buffer's scope starts behind
        kernel(B);                           section: what all kernels in the buffer's scope may touch, [0, n)
        free(B);
    }

Invariant: see residency.py. A section that poly cannot bound is the whole object where its extent is known, else the
block of memory that holds it, under the guard that the run time knows that block. A block that kernels write goes back
as a whole, so that no other written buffer, and no host code in the scope, may have a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import as_written
from warpsmith.loops.versions import stable
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.fragments import Draft, HostUse, OffloadRequest
from warpsmith.offload.mapping.spaces.constants import is_constant_wanted
from warpsmith.offload.memory.allocations import allocation_bounds, allocation_guard
from warpsmith.offload.memory.rows import rows_buffer, starts_of
from warpsmith.offload.names import on_device
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.selection.steady import deciding, moving
from warpsmith.offload.transfers.flow import statement_runs
from warpsmith.poly.aliasing.aliasing import are_objects_apart, in_different_allocations, relation
from warpsmith.poly.effects.effects import effects, find_escaped
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Section, Sections, statement_spans
from warpsmith.poly.granted import grants
from warpsmith.poly.isl.bound_values import constant, same_value
from warpsmith.poly.legality.privacy import needs_old
from warpsmith.poly.regions.sections import covered_sections, known_extent, sections
from warpsmith.tree.nodes import Cast, Conditional, DeclStmt, Expr, Index, Member, Node, Stmt, Switch, Unary
from warpsmith.tree.nodes import replace as replace_node
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import INT, UNSIGNED_LONG, Array, Pointer, Record, Scalar, Symbol, Type, element_type
from warpsmith.tree.walk import loops, names, same, walk, written_symbols

__all__ = ["BufferFinder", "Found", "apart_text"]

# whether a kernel reads what was there before may cost this part of what the verdict on its loop may: it saves a copy
_SHARE = 4

_Around = Mapping[Draft, frozenset[Stmt]]


class Found(Struct, frozen=True):
    """The buffers of an offload region, what they assume, and the drafts that certainly write all of a symbol's
    buffer."""

    buffers: tuple[DeviceBuffer, ...]
    assumptions: tuple[Assumption, ...]
    covers: frozenset[tuple[Draft, Symbol]]


class _Sized(Struct, frozen=True):
    """One object: its buffer, and whether a kernel writes it."""

    buffer: DeviceBuffer
    written: bool
    assumptions: tuple[Assumption, ...] = ()
    covers: tuple[Draft, ...] = ()


class BufferFinder:
    """Finds buffers; remembers the sections that poly computed and the names that it gave."""

    def __init__(self, request: OffloadRequest) -> None:
        self.request = request
        self.escaped = find_escaped(request.program, request.facts.function, request.summaries)
        # how often the work budget of a question was spent
        self.given_up = 0
        self._sections: dict[tuple[Symbol, tuple[Draft, ...], Stmt, Stmt, tuple[int, ...], bool], Sections] = {}
        self._symbols: dict[Symbol, Symbol] = {}
        self._changed: dict[tuple[tuple[Draft, ...], Stmt, Stmt], frozenset[Symbol]] = {}

    def find(self, scope: tuple[Stmt, ...], drafts: tuple[Draft, ...], around: _Around) -> Found | Reason:
        """Return the buffers for `drafts` in an offload region with this scope, or why there can be none."""
        users: dict[Symbol, list[tuple[Draft, HostUse]]] = {}
        for draft in drafts:
            for use in draft.uses:
                if use.kind != "value":
                    users.setdefault(use.symbol, []).append((draft, use))
        sized: list[_Sized] = []
        for symbol, uses in users.items():
            found = self.size_buffer(symbol, uses, scope, around)
            if isinstance(found, Reason):
                return found
            sized.append(found)
        stale = self.stale_bound(sized)
        if stale is not None:
            return stale
        apart = self.apart(sized, drafts)
        if isinstance(apart, Reason):
            return apart
        return Found(
            tuple(one.buffer for one in sized),
            (*(a for one in sized for a in one.assumptions), *apart),
            frozenset((draft, one.buffer.host) for one in sized for draft in one.covers),
        )

    # --- one object

    def size_buffer(
        self, symbol: Symbol, uses: Sequence[tuple[Draft, HostUse]], scope: tuple[Stmt, ...], around: _Around
    ) -> _Sized | Reason:
        """Return the buffer of `symbol` in an offload region."""
        drafts = tuple(draft for draft, _ in uses)
        written = any(use.written for _, use in uses)
        if any(use.device_only for _, use in uses):
            return _Sized(self.cell(symbol, scope), written)
        life = _life(symbol, scope, drafts, around)
        if life is None:
            return Reason("POR008", f"'{symbol.name}' is declared where no buffer can stand", scope[0].span)
        if isinstance(symbol.type, Pointer) and not self.are_fixed((name(symbol, life[0].span),), life):
            text = f"'{symbol.name}' may point elsewhere between the kernels"
            remedy = f"give each memory that '{symbol.name}' points to a pointer of its own"
            return Reason("POR008", text, life[0].span, legal_if=(remedy,))
        if all(use.kind == "cell" for _, use in uses):
            return _Sized(self.cell(symbol, life), written)
        return self.section(symbol, uses, life, written)

    def cell(self, symbol: Symbol, scope: tuple[Stmt, ...]) -> DeviceBuffer:
        """Return the buffer of a scalar: one element."""
        span = scope[0].span
        return DeviceBuffer(
            self.device_symbol(symbol, symbol.type), symbol, number(0, span), number(1, span), scope, cell=True
        )

    def device_symbol(self, host: Symbol, element: Type) -> Symbol:
        """Return the buffer's pointer: `A_gpu`, or a free name like it."""
        if host not in self._symbols:
            new = self.request.names.fresh(on_device(host.name))
            self._symbols[host] = Symbol(new, f"device:{new}:{host.key}", Pointer(_plain(element)), "device", host.span)
        return self._symbols[host]

    def section(
        self, symbol: Symbol, uses: Sequence[tuple[Draft, HostUse]], scope: tuple[Stmt, ...], written: bool
    ) -> _Sized | Reason:
        """Return the buffer for what `uses` may touch of an array in `scope`, or why it cannot be sized there."""
        drafts = tuple(draft for draft, _ in uses)
        starts = starts_of(self.request.facts.function, symbol)
        if starts is not None:
            device = self.device_symbol(symbol, element_type(symbol.type))
            return _Sized(rows_buffer(device, symbol, starts, scope), written)
        # a launcher copies all of it to constant memory
        whole = self.whole(symbol, scope, written) if is_constant_wanted(self.request, drafts, symbol) else None
        if whole is not None:
            return whole
        # one kernel that only writes: whether it writes all of it is asked with the bounds
        alone = len(uses) == 1 and written and not uses[0][1].read
        answer = self.sections(symbol, drafts, scope, covers=alone)
        found = next(iter(answer.sections), None)
        if found is None or not self.are_fixed((found.lower, found.upper), scope):
            answer, found = self.written_section(symbol, drafts, scope) or (answer, found)
        if found is None or self.unsteady(drafts, scope) or not self.can_determine(found, scope):
            free = found is not None or symbol in answer.unbounded or not answer.failures
            block = self.block(symbol, drafts, scope, written) if free else None
            return self.whole(symbol, scope, written) or block or self.report_unsized(symbol, answer, scope)
        lower, upper = _merge_bounds(found.lower, found.upper)
        buffer = DeviceBuffer(self.device_symbol(symbol, found.element), symbol, lower, upper, scope, cell=False)
        covers = tuple(draft for draft, use in uses if self.covers(draft, use, buffer, answer.assumptions))
        return _Sized(buffer, written, answer.assumptions, covers)

    def covers(self, draft: Draft, use: HostUse, buffer: DeviceBuffer, given: tuple[Assumption, ...]) -> bool:
        """Whether a fragment certainly writes all of a buffer whenever it runs under the conditions that the buffer
        needs, and reads no older element of it."""
        if not use.written or (use.read and self.reads_old(draft, use.symbol)):
            return False
        alone = self.sections(buffer.host, (draft,), buffer.scope, given, covers=True).sections
        return any(s.covers and _same_section(_merge_bounds(s.lower, s.upper), buffer) for s in alone)

    def reads_old(self, draft: Draft, symbol: Symbol) -> bool:
        """Whether a fragment may read an element that it has not written before."""
        request = self.request
        question = ("reads old", request.facts.function, draft.statements, symbol, request.poly.max_operations)
        known = request.summaries or Summaries.of(request.program)
        return known.remember(question, lambda: self._find_old(draft, symbol))

    def _find_old(self, draft: Draft, symbol: Symbol) -> bool:
        request = self.request
        function = request.facts.function
        around = next((a for loop, a in loops(function.body) if loop in draft.statements), None)
        origin = Origin.of(request.program, function, request.summaries)
        most = request.poly.max_operations // _SHARE
        return around is None or needs_old(origin, draft.statements, around, symbol, most)

    def sections(
        self,
        symbol: Symbol,
        drafts: tuple[Draft, ...],
        scope: tuple[Stmt, ...],
        given: tuple[Assumption, ...] = (),
        *,
        covers: bool = False,
    ) -> Sections:
        """Return what some fragments touch together of an array in a scope; `covers`: and whether all is written."""
        key = (symbol, drafts, scope[0], scope[-1], tuple(id(a) for a in given), covers)
        if key not in self._sections:
            request, ask = self.request, covered_sections if covers else sections
            run = tuple(statement for draft in drafts for statement in draft.statements)
            self._sections[key] = ask(
                request.program,
                request.facts.function,
                run,
                scope,
                request.poly,
                summaries=request.summaries,
                given=given,
                wanted=symbol,
            )
            self.given_up += self._sections[key].given_up
        return self._sections[key]

    def written_section(
        self, symbol: Symbol, drafts: tuple[Draft, ...], scope: tuple[Stmt, ...]
    ) -> tuple[Sections, Section] | None:
        """Return what the user's statements touch in whose place `scope` stands: steps give a nest another order, which
        may be harder to bound, but the elements stay the same."""
        changes = [c for c in self.request.changes if c.old and c.stands_in(scope)]
        if not changes:
            return None
        parts = {part for change in changes for part in change.parts()}
        kept = [s for draft in drafts for s in draft.statements if s not in parts]
        run = (*(s for change in changes for s in change.old), *kept)
        request, written = self.request, as_written(scope, self.request.changes)
        found = sections(request.program, changes[0].written, run, written, request.poly, summaries=request.summaries)
        mine = next((s for s in found.sections if s.symbol == symbol), None)
        return None if mine is None else (found, mine)

    def unsteady(self, drafts: tuple[Draft, ...], scope: tuple[Stmt, ...]) -> bool:
        """Whether a value that decides what the fragments touch changes in `scope`."""
        key = (drafts, scope[0], scope[-1])
        if key not in self._changed:
            program, function = self.request.program, self.request.facts.function
            done = [effects(program, statement, function, self.request.summaries) for statement in scope]
            changed = {symbol for e in done for symbol in e.direct_writes}
            if any(e.calls_unknown for e in done):
                changed |= {s for draft in drafts for s in deciding(draft) if self.reachable(s)}
            self._changed[key] = frozenset(changed)
        return any(moving(draft, scope, self._changed[key]) for draft in drafts)

    def are_fixed(self, bounds: tuple[Expr, ...], scope: tuple[Stmt, ...]) -> bool:
        """Whether expressions keep their values in `scope`."""
        together = reduce(lambda a, b: binary(",", a, b), bounds)
        request = self.request
        return stable(request.program, request.facts.function, together, scope, request.summaries)

    def whole(self, symbol: Symbol, scope: tuple[Stmt, ...], written: bool) -> _Sized | None:
        """Return a buffer for the whole object, where its extent is known at the scope's entry."""
        program, function = self.request.program, self.request.facts.function
        extent = known_extent(program, function, symbol, scope[0], self.request.summaries)
        zero = number(0, scope[0].span)
        if extent is None or not self.are_fixed((zero, extent), scope):
            return None
        element = element_type(symbol.type)
        buffer = DeviceBuffer(self.device_symbol(symbol, element), symbol, zero, extent, scope, cell=False)
        return _Sized(buffer, written)

    def block(self, symbol: Symbol, drafts: tuple[Draft, ...], scope: tuple[Stmt, ...], written: bool) -> _Sized | None:
        """Return a buffer for all of the block of memory that `symbol` points into: where not even one of the fragments
        alone says how much of it is used, so that a smaller scope would not help."""
        bounds = allocation_bounds(symbol, scope[0].span)
        if bounds is None or not (self.request.options.guards and self.request.poly.guards):
            return None
        if all(self.can_bound(symbol, draft) for draft in drafts):
            return None
        device = self.device_symbol(symbol, element_type(symbol.type))
        buffer = DeviceBuffer(device, symbol, *bounds, scope, cell=False, allocation=True)
        return _Sized(buffer, written, (allocation_guard(symbol, statement_spans(scope)),))

    def can_bound(self, symbol: Symbol, draft: Draft) -> bool:
        """Whether it can be said before a fragment how much of an array it uses."""
        found = next(iter(self.sections(symbol, (draft,), draft.statements).sections), None)
        known = found is not None and self.can_determine(found, draft.statements)
        return known or self.written_section(symbol, (draft,), draft.statements) is not None

    def can_determine(self, section: Section, scope: tuple[Stmt, ...]) -> bool:
        """Whether the host can say at the scope's entry what a section's bounds are: memory that they are read from may
        be on the device, where a caller has it in a data region."""
        bounds = (section.lower, section.upper)
        loads = any(_may_load(part) for bound in bounds for part in walk(bound))
        resident = self.request.resident
        return self.are_fixed(bounds, scope) and not (loads and resident is not None and resident.held)

    def report_unsized(self, symbol: Symbol, answer: Sections, scope: tuple[Stmt, ...]) -> Reason:
        """Return why the section of `symbol` cannot be computed."""
        failures = answer.failures
        about = next((f for f in failures if f"'{symbol.name}'" in f.text), failures[0] if failures else None)
        if about is not None:
            return about
        text = f"how much of '{symbol.name}' the kernels use cannot be computed before the region"
        remedy = f"declare '{symbol.name}' as an array with its extent, or allocate it in this function"
        return Reason("POR008", text, statement_spans(scope), legal_if=(remedy,))

    # --- several objects

    def stale_bound(self, sized: Sequence[_Sized]) -> Reason | None:
        """Return why the host may not know a section's bounds: a kernel of the offload region writes what they are made
        from."""
        for one in sized:
            bounds = (one.buffer.lower, one.buffer.upper)
            # a block is asked for by the pointer's own value, of which `sized` knows that it stays
            for symbol in {n.symbol for bound in bounds for n in names(bound)} - {one.buffer.host}:
                for other in sized:
                    host = other.buffer.host
                    met = symbol == host or (self.reachable(symbol) and self.relate(symbol, host) != "distinct")
                    if other.written and met:
                        text = f"the size of '{one.buffer.host.name}' depends on '{symbol.name}', which a kernel writes"
                        return Reason("POR008", text, one.buffer.scope[0].span)
        return None

    def apart(self, sized: Sequence[_Sized], drafts: tuple[Draft, ...]) -> tuple[Assumption, ...] | Reason:
        """Return the guards under which the objects are distinct; a Reason where two are one or no guard is allowed."""
        guards: list[Assumption] = []
        for position, one in enumerate(sized):
            for other in sized[position + 1 :]:
                found = self.pair(one, other) if one.written or other.written else None
                if isinstance(found, Reason):
                    return found
                if found is not None:
                    guards.append(found)
        finals = {s for d in drafts for final in d.finals for s in written_symbols(final)}
        for symbol in finals:
            for one in sized:
                if self.reachable(symbol) and self.relate(symbol, one.buffer.host) != "distinct":
                    text = f"'{one.buffer.host.name}' may point to the counter '{symbol.name}'"
                    return Reason("POR004", text, one.buffer.scope[0].span)
        return tuple(guards)

    def reachable(self, symbol: Symbol) -> bool:
        """Whether a pointer may name the variable."""
        return symbol.storage not in ("local", "parameter") or symbol in self.escaped

    def relate(self, left: Symbol, right: Symbol) -> str:
        """Say whether two variables may name one memory."""
        request = self.request
        return relation(request.program, request.facts.function, left, right, request.summaries)

    def pair(self, one: _Sized, other: _Sized) -> Assumption | Reason | None:
        """Return the guard that two objects need, None where they are distinct, a Reason where they cannot be."""
        left, right = one.buffer, other.buffer
        if any(b.cell and not self.reachable(b.host) for b in (left, right)):
            return None
        how = self.relate(left.host, right.host)
        if how == "distinct" and not self.share_block(one, other):
            return None
        text = f"'{left.host.name}' and '{right.host.name}'"
        span = left.scope[0].span
        remedy = "use one name for the object, or declare the pointers restrict where they are distinct"
        if how == "same":
            return Reason("POR004", f"{text} name the same memory", span, legal_if=(remedy,))
        granted = grants(self.request.poly.granted, "noalias", left.host.name, right.host.name)
        if granted is not None:
            return granted
        if not (self.request.options.guards and self.request.poly.guards):
            return Reason("POR004", f"{text} may overlap", span, legal_if=(remedy,))
        if left.allocation or right.allocation:
            return in_different_allocations(self.request.facts.function, (left.host, right.host), span)
        return Assumption(apart_text(left.host, right.host), "guarded", _disjoint(left, right), span)

    def share_block(self, one: _Sized, other: _Sized) -> bool:
        """Whether two objects may be parts of one block that is copied back as a whole: restrict keeps apart what is
        accessed, and not what lies around it."""
        if not any(sized.buffer.allocation and sized.written for sized in (one, other)):
            return False
        program, function, summaries = self.request.program, self.request.facts.function, self.request.summaries
        return not are_objects_apart(program, function, (one.buffer.host, other.buffer.host), summaries)


def _merge_bounds(lower: Expr, upper: Expr) -> tuple[Expr, Expr]:
    """Return the bounds with the condition under which there is a section at all in the upper one only.

    `[c ? 1 : 0, c ? n : 0)` is `[1, c ? n : 1)`.
    """
    if not (isinstance(lower, Conditional) and isinstance(upper, Conditional)):
        return lower, upper
    if not same(lower.condition, upper.condition) or not same_value(lower.other, upper.other):
        return lower, upper
    other = lower.then
    return other, replace_node(upper, other=other)


def _may_load(part: Node) -> bool:
    """Whether a part of a bound reads memory: `idx[0]`, `s->n`, `*p`."""
    return isinstance(part, Index | Member) or (isinstance(part, Unary) and part.op == "*")


def _same_section(bounds: tuple[Expr, Expr], buffer: DeviceBuffer) -> bool:
    return same_value(bounds[0], buffer.lower) and same_value(bounds[1], buffer.upper)


def apart_text(left: Symbol, right: Symbol) -> str:
    """Return the guard that two objects are distinct, in words: poly's words for the same thing about one loop."""
    return f"what is touched of {left.name} and of {right.name} does not overlap"


def _plain(type: Type) -> Type:
    """Return an element type without const; a std::array is an array on the device."""
    if isinstance(type, Array) and type.spelling.startswith("std::array<"):
        return replace(type, spelling="")
    return replace(type, const=False) if isinstance(type, Scalar | Pointer | Record) else type


def _disjoint(left: DeviceBuffer, right: DeviceBuffer) -> Expr:
    """Return the condition that two sections do not overlap: one ends before the other begins."""
    before = binary("<=", _edge(left, left.upper), _edge(right, right.lower), INT)
    behind = binary("<=", _edge(right, right.upper), _edge(left, left.lower), INT)
    return binary("||", before, behind, INT)


def _edge(buffer: DeviceBuffer, bound: Expr) -> Expr:
    """Return the address of element `bound` of a buffer's host object, as a number (C orders only pointers into one
    object)."""
    span, host = bound.span, buffer.host
    start: Expr = name(host, span)
    if not isinstance(host.type, Pointer | Array):
        start = Unary(span=span, type=buffer.symbol.type, op="&", operand=start)
    elif isinstance(host.type.to if isinstance(host.type, Pointer) else host.type.of, Array):
        start = Cast(span=span, type=buffer.symbol.type, operand=start)
    if constant(bound) != 0:
        start = binary("+", start, bound, buffer.symbol.type)
    return Cast(span=span, type=UNSIGNED_LONG, operand=start)


def _life(
    symbol: Symbol, scope: tuple[Stmt, ...], drafts: tuple[Draft, ...], around: _Around
) -> tuple[Stmt, ...] | None:
    """Return the statements of `scope`, or of a block in it, from the first to the last that holds one of `drafts`; in
    the block where `symbol` is declared if that is inside. None: no buffer can stand there."""
    declaring = _declaring_run(symbol, scope)
    run = declaring if declaring is not None else scope
    holding = [i for i, s in enumerate(run) if any(s in around[d] for d in drafts)]
    if not holding:
        return None
    last = max(holding[-1] + (len(d.statements) - 1 if run[holding[-1]] is d.statements[0] else 0) for d in drafts)
    return run[holding[0] : last + 1]


def _declaring_run(symbol: Symbol, run: tuple[Stmt, ...]) -> tuple[Stmt, ...] | None:
    """Return the statement run at or below `run` in which `symbol` is declared; () for one in which no declaration of
    ours can stand (a case of a switch)."""
    for stmt in run:
        if isinstance(stmt, DeclStmt) and any(d.symbol == symbol for d in stmt.declarations):
            return run
        for inner in statement_runs(stmt):
            found = _declaring_run(symbol, inner)
            if found is not None:
                return () if isinstance(stmt, Switch) and found is inner else found
    return None
