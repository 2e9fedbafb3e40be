"""What every function of the program does, as its callers see it, and what any node does in terms of roots.

Invariant: what a call may do is contained in the callee's summary, translated to the caller's arguments; recursion
starts from "does nothing" and is swept until nothing changes, which only adds.

    void axpy(int n, double *x, double *y) { … y[i] += x[i] }     loads through arguments 1, 2; stores through 2
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from warpsmith.base.source import Span
from warpsmith.poly.global_pointers import survey_globals
from warpsmith.poly.library import LibraryFunction, library_function
from warpsmith.poly.pointers import UNKNOWN, CallFlow, Provenance, Root, is_persistent, provenance
from warpsmith.poly.touches import Base, Touch, bases, direct_call, is_pointer, node_touches
from warpsmith.tree.nodes import (
    Call,
    CaptureStmt,
    Copy,
    DeviceAlloc,
    DeviceFree,
    Expr,
    Function,
    Launch,
    Name,
    Node,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Opaque, Pointer, Scalar, Symbol, element_type
from warpsmith.tree.walk import peel, walk

__all__ = ["Doings", "Summaries", "Summary"]

T = TypeVar("T")


@dataclass(slots=True)
class Doings:
    """What a node does: variables read and written themselves, roots loaded and stored through, and the rest."""

    reads: set[Symbol] = field(default_factory=set)
    writes: set[Symbol] = field(default_factory=set)
    loads: set[Root] = field(default_factory=set)
    stores: set[Root] = field(default_factory=set)
    load_bases: set[Symbol] = field(default_factory=set)
    store_bases: set[Symbol] = field(default_factory=set)
    calls_unknown: bool = False
    io: bool = False
    allocates: bool = False
    reason: str = ""
    span: Span | None = None

    def blame(self, reason: str, span: Span | None) -> None:
        """Keep the first reason."""
        if not self.reason:
            self.reason, self.span = reason, span


@dataclass(frozen=True, slots=True)
class Summary:
    """A function as its callers see it. `loads`, `stores`: roots that a caller can know (entry of a parameter or
    global, object of a global or static, unknown). `returns`: None if the value is not an address that we know."""

    reads: frozenset[Symbol] = frozenset()
    writes: frozenset[Symbol] = frozenset()
    loads: frozenset[Root] = frozenset()
    stores: frozenset[Root] = frozenset()
    retains: frozenset[int] = frozenset()
    returns: frozenset[Root] = frozenset()
    calls_unknown: bool = False
    io: bool = False
    allocates: bool = False
    reason: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Summaries:
    """The program's functions with their summaries, worked out when they are first asked for and kept."""

    program: Program
    definitions: Mapping[Symbol, Function]
    globals: frozenset[Symbol]
    stable: frozenset[Symbol]
    address_taken: frozenset[Symbol]
    _known: dict[Symbol, Summary] = field(default_factory=dict, repr=False)
    _provenance: dict[Function, Provenance] = field(default_factory=dict, repr=False)
    _answers: dict[Hashable, object] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, program: Program) -> Summaries:
        """Prepare the summaries of `program`."""
        definitions = {function.symbol: function for _, function in program.functions()}
        survey = survey_globals(program)
        return cls(program, definitions, survey.persistent, survey.stable, survey.address_taken)

    def remembered(self, question: Hashable, answer: Callable[[], T]) -> T:
        """Return the answer to a question about this program, worked out when it is first asked; a question starts
        with a word of its own, so that its answers have one type."""
        if question not in self._answers:
            self._answers[question] = answer()
        return cast(T, self._answers[question])

    def summary(self, symbol: Symbol) -> Summary | None:
        """Return the summary of a function that the program defines, else None."""
        if symbol in self._known:
            return self._known[symbol]
        if symbol not in self.definitions:
            return None
        order = self._callees_first(symbol)
        self._known.update((each, Summary()) for each in order)
        changed = True
        while changed:
            changed = False
            for each in order:
                new = self._summarize(self.definitions[each])
                changed |= new != self._known[each]
                self._known[each] = new
        return self._known[symbol]

    def is_recursive(self, symbol: Symbol) -> bool:
        """Whether a call of the function may lead to another call of it."""
        seen: set[Symbol] = set()
        pending = [symbol]
        while pending:
            for callee in self._callees(pending.pop()):
                if callee == symbol:
                    return True
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        return False

    def provenance(self, function: Function) -> Provenance:
        """Return where the pointers of `function` come from."""
        if function not in self._provenance:
            for callee in self._callees(function.symbol):
                self.summary(callee)
            self._provenance[function] = provenance(function, self.flow, self.stable)
        return self._provenance[function]

    def function_of(self, node: Node) -> Function | None:
        """Return the function whose text contains `node`."""
        if isinstance(node, Function):
            return node
        inside = [f for f in self.definitions.values() if f.span.contains(node.span)]
        return next((f for f in inside if len(inside) == 1 or any(n is node for n in walk(f))), None)

    def library(self, call: Call) -> LibraryFunction | None:
        """Return the table's entry for a direct call of a function that the program does not define."""
        name = direct_call(call)
        return library_function(name.name) if name is not None and name not in self.definitions else None

    def flow(self, call: Call) -> CallFlow:
        """Return what a call does with addresses."""
        every = frozenset(range(len(call.arguments)))
        library = self.library(call)
        if library is not None:
            first = bases(call.arguments[0]) if call.arguments and library.returns == "argument" else None
            filled = frozenset({0}) if library.fills and library.allocates else frozenset()
            return CallFlow(first, library.returns == "fresh", frozenset(), frozenset(), filled)
        name = direct_call(call)
        known = self.summary(name) if name is not None else None
        if known is None or name is None:
            pointers = frozenset(s for s in self.globals if isinstance(s.type, Pointer))
            return CallFlow(None, False, every, pointers)
        rewrites = frozenset(s for s in known.writes if isinstance(s.type, Pointer))
        returns = _returned(known.returns, self.definitions[name], call)
        return CallFlow(returns, any(r.kind == "fresh" for r in known.returns), known.retains, rewrites)

    def doings(self, node: Node, function: Function | None) -> Doings:
        """Return what `node` (in `function`) does, calls included."""
        where = self.provenance(function) if function is not None else _NOWHERE
        return self.done_by(node_touches(node), where)

    def done_by(self, touched: Iterable[Touch], where: Provenance) -> Doings:
        """Return what `touched` amounts to in a function with the provenance `where`."""
        done = Doings()
        for touch in touched:
            self._touch(touch, where, done)
        return done

    def exposed(self, where: Provenance) -> set[Root]:
        """Return the roots of a function that code outside it may know."""
        known = set(where.escaped) | {UNKNOWN}
        for roots in where.roots.values():
            known |= {r for r in roots if where.is_exposed(r)}
        known |= {Root("object", s) for s in self.globals}
        return known | {Root("entry", s) for s in self.globals if isinstance(s.type, Pointer)}

    def _touch(self, touch: Touch, where: Provenance, done: Doings) -> None:
        match touch.kind:
            case "read" | "write" if touch.symbol is not None:
                (done.reads if touch.kind == "read" else done.writes).add(touch.symbol)
                if isinstance(touch.symbol.type, Opaque):
                    (done.loads if touch.kind == "read" else done.stores).add(UNKNOWN)
            case "load" if touch.base is not None:
                _through(touch.base, where, done.loads, done.load_bases)
            case "store" if touch.base is not None:
                _through(touch.base, where, done.stores, done.store_bases)
            case "call" if isinstance(touch.node, Call):
                self._call(touch.node, where, done)
            case _:
                self._special(touch.node, where, done)

    def _call(self, call: Call, where: Provenance, done: Doings) -> None:
        library = self.library(call)
        name = direct_call(call)
        summary = self.summary(name) if name is not None else None
        if library is not None:
            _library_call(library, call, where, done)
        elif summary is not None and name is not None:
            _defined_call(summary, self.definitions[name], call, where, done)
        else:
            self._anything(call.arguments, where, done)
            done.blame(f"calls {_callee_name(call)}, which is not defined here", call.span)

    def _special(self, node: Node, where: Provenance, done: Doings) -> None:
        """What we do not model, and device statements."""
        match node:
            case Verbatim() | VerbatimExpr():
                for symbol in node.reads:
                    _name_everything(symbol, where, done.reads, done.loads, done.load_bases)
                for symbol in node.writes:
                    _name_everything(symbol, where, done.writes, done.stores, done.store_bases)
                if node.calls:
                    self._anything((), where, done)
                done.blame(node.reason, node.span)
            case Copy(to_device=True) | CaptureStmt():
                symbol = node.variable if isinstance(node, Copy) else node.symbol
                _name_everything(symbol, where, done.reads, done.loads, done.load_bases)
            case Copy():
                _name_everything(node.variable, where, done.writes, done.stores, done.store_bases)
            case DeviceAlloc() | DeviceFree():
                done.writes.add(node.buffer)
                done.allocates = True
            case Launch():
                done.blame(f"launches {node.kernel}", node.span)
            case _:
                pass

    def _anything(self, arguments: Iterable[Expr], where: Provenance, done: Doings) -> None:
        """An unknown call: all that is exposed, and all that its arguments reach, may be read and written."""
        done.calls_unknown = True
        known = self.exposed(where)
        for argument in arguments:
            if is_pointer(argument):
                known |= {root for base in bases(argument) for root in where.of(base)}
        done.loads |= known
        done.stores |= known
        variables = {s for s in self.globals if not isinstance(s.type, Array)}
        done.reads |= variables
        done.writes |= {s for s in variables if not getattr(s.type, "const", False)}

    def _summarize(self, function: Function) -> Summary:
        where = provenance(function, self.flow, self.stable)
        done = self.done_by(node_touches(function.body), where)
        entries = {Root("entry", p): i for i, p in enumerate(function.parameters)}
        return Summary(
            frozenset(filter(is_persistent, done.reads)),
            frozenset(filter(is_persistent, done.writes)),
            frozenset(r for r in done.loads if _is_visible(r)),
            frozenset(r for r in done.stores if _is_visible(r)),
            frozenset(i for root, i in entries.items() if root in where.escaped),
            frozenset(r for r in where.returns if r.kind == "fresh" or _is_visible(r)),
            done.calls_unknown,
            done.io,
            done.allocates,
            done.reason,
            done.span,
        )

    def _callees(self, symbol: Symbol) -> list[Symbol]:
        calls = (direct_call(n) for n in walk(self.definitions[symbol]) if isinstance(n, Call))
        return list(dict.fromkeys(s for s in calls if s is not None and s in self.definitions))

    def _callees_first(self, symbol: Symbol) -> list[Symbol]:
        """Return the functions reachable from `symbol` that have no summary yet, callees before callers."""
        order: list[Symbol] = []
        seen = {symbol}
        stack: list[tuple[Symbol, Iterator[Symbol]]] = [(symbol, iter(self._callees(symbol)))]
        while stack:
            _, rest = stack[-1]
            following = next((c for c in rest if c not in seen and c not in self._known), None)
            if following is None:
                order.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(self._callees(following))))
        return order


_NOWHERE = Provenance({}, frozenset(), frozenset(), frozenset(), {})


def _is_visible(root: Root) -> bool:
    """Whether a caller can know the memory of a root of its callee."""
    match root.kind:
        case "unknown":
            return True
        case "fresh":
            return False
        case "entry":
            return True
        case "object":
            return root.symbol is not None and is_persistent(root.symbol)


def _through(base: Base, where: Provenance, roots: set[Root], named: set[Symbol]) -> None:
    """Note an access through an address."""
    roots |= where.of(base)
    if base.symbol is not None and (not base.address or isinstance(base.symbol.type, Array)):
        named.add(base.symbol)


def _name_everything(symbol: Symbol, where: Provenance, own: set[Symbol], roots: set[Root], named: set[Symbol]) -> None:
    """Note that a construct which is not modelled may touch a variable and all that it leads to."""
    if symbol.storage in ("function", "enumerator"):
        return
    own.add(symbol)
    if isinstance(symbol.type, Pointer | Array):
        _through(Base(symbol, address=isinstance(symbol.type, Array)), where, roots, named)
    if not isinstance(element_type(symbol.type), Scalar):
        roots.add(UNKNOWN)


def _library_call(library: LibraryFunction, call: Call, where: Provenance, done: Doings) -> None:
    for index, argument in enumerate(call.arguments):
        if not is_pointer(argument):
            continue
        for base in bases(argument):
            if library.reads_argument(index):
                _through(base, where, done.loads, done.load_bases)
            if library.writes_argument(index):
                _through(base, where, done.stores, done.store_bases)
    done.io |= library.io
    done.allocates |= library.allocates
    if library.reason:
        done.blame(f"{_callee_name(call)} {library.reason}", call.span)


def _defined_call(summary: Summary, callee: Function, call: Call, where: Provenance, done: Doings) -> None:
    done.reads |= summary.reads
    done.writes |= summary.writes
    for root in summary.loads:
        _translate(root, (callee, call), where, done.loads, done.load_bases)
    for root in summary.stores:
        _translate(root, (callee, call), where, done.stores, done.store_bases)
    done.calls_unknown |= summary.calls_unknown
    done.io |= summary.io
    done.allocates |= summary.allocates
    if summary.reason:
        done.blame(summary.reason, summary.span)


def _translate(
    root: Root, site: tuple[Function, Call], where: Provenance, roots: set[Root], named: set[Symbol]
) -> None:
    """Note an access of the callee in the caller's terms."""
    callee, call = site
    if root.kind == "entry" and root.symbol in callee.parameters:
        index = callee.parameters.index(root.symbol)
        argument = call.arguments[index] if index < len(call.arguments) else None
        for base in bases(argument) if argument is not None else (Base(None),):
            _through(base, where, roots, named)
    elif root.kind == "entry" and root.symbol is not None:
        _through(Base(root.symbol), where, roots, named)
    elif root.kind == "object" and root.symbol is not None:
        _through(Base(root.symbol, address=True), where, roots, named)
    else:
        roots.add(UNKNOWN)


def _returned(roots: frozenset[Root], callee: Function, call: Call) -> tuple[Base, ...] | None:
    """Return the bases of what a call returns, None if nothing is known of it; fresh memory is told apart."""
    found: list[Base] = []
    for root in roots:
        if root.kind == "entry" and root.symbol in callee.parameters:
            index = callee.parameters.index(root.symbol)
            found += bases(call.arguments[index]) if index < len(call.arguments) else (Base(None),)
        elif root.kind == "fresh":
            continue
        elif root.symbol is not None:
            found.append(Base(root.symbol, address=root.kind == "object"))
        else:
            found.append(Base(None))
    return tuple(found) if roots else None


def _callee_name(call: Call) -> str:
    function = peel(call.function)
    return function.symbol.name if isinstance(function, Name) else "a function pointer"
