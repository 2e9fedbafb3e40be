"""The summaries of the program's functions, as their callers see them, and the effects of any node in terms of roots.

Invariant: what a call may do is contained in the callee's summary, translated to the caller's arguments; recursion
starts from "does nothing" and is swept until nothing changes, which only adds.

    void axpy(int n, double *x, double *y) { … y[i] += x[i] }     loads through arguments 1, 2; stores through 2
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar, assert_never

import msgspec.structs
from msgspec import Struct, field

from warpsmith.base.identity import Identity
from warpsmith.poly.effects.global_pointers import survey_globals
from warpsmith.poly.effects.library import describe_call, find_called_back, mentions
from warpsmith.poly.effects.memory_effects import (
    MemoryEffects,
    callback,
    defined_call,
    library_call,
    name_everything,
    through,
)
from warpsmith.poly.effects.outside import Outside, outside_of
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.effects.world import FunctionPiece, KnownCallee, World, remember, world_of
from warpsmith.poly.pointers.accesses import Base, MemoryAccess, bases, direct_call, is_pointer, node_accesses
from warpsmith.poly.pointers.pointers import UNKNOWN, CallFlow, Provenance, Root, is_persistent, provenance
from warpsmith.tree.effects.effects import FunctionEffects
from warpsmith.tree.free_store import FREES, MAKES, is_replacement
from warpsmith.tree.nodes import (
    Call,
    CaptureStmt,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    DeviceAlloc,
    DeviceFree,
    DeviceStmt,
    Expr,
    Function,
    Launch,
    Name,
    Node,
    Update,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Opaque, Pointer, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["Summaries", "Summary"]

T = TypeVar("T")


class Summaries(Struct, frozen=True):
    """The program's functions with their summaries, worked out when they are first asked for and kept."""

    program: Program
    definitions: Mapping[Symbol, Function]
    globals: frozenset[Symbol]
    stable: frozenset[Symbol]
    address_taken: frozenset[Symbol]
    outside: Outside
    world: World
    _held: frozenset[Symbol] = frozenset()
    _known: dict[Symbol, Summary] = field(default_factory=dict)
    _pieces: dict[Function, FunctionPiece] = field(default_factory=dict)
    _answers: dict[Hashable, object] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program) -> Summaries:
        """Prepare the summaries of `program`: those that there are, if it was asked of lately."""
        return _of(Identity(program))

    @classmethod
    def make(cls, program: Program) -> Summaries:
        """Prepare them anew."""
        definitions = {function.symbol: function for _, function in program.functions()}
        survey = survey_globals(program)
        outside = outside_of(program)
        mentioned = _find_mentioned(definitions, outside)
        world = world_of(frozenset(definitions), program.effects, outside, survey, mentioned)
        taken, held = survey.address_taken, survey.held
        return cls(program, definitions, survey.persistent, survey.stable, taken, outside, world, held)

    def remember(self, question: Hashable, answer: Callable[[], T]) -> T:
        """Return the answer to a question about this program, worked out when it is first asked; a question starts
        with a word of its own, so that its answers have one type."""
        return remember(self._answers, question, answer)

    def remember_of(self, function: Function, part: Node, question: Hashable, answer: Callable[[], T]) -> T:
        """Return the answer to a question about a `part` of a function, which is kept from program to program. So it
        must rest on nothing but the function's own text, its provenance, what its calls do, and the variables of
        static storage: their types, which are stable, taken, held, and lent to it."""
        piece = self._piece(function)
        if not piece.has(part):
            # its calls need not be among those that the piece was made from
            return self.remember((question, function, part), answer)
        return remember(piece.answers, (question, part, self.find_held(), self.find_lent(function.symbol)), answer)

    def summary(self, symbol: Symbol) -> Summary | None:
        """Return the summary of a function that the program defines, or that is known from outside, else None."""
        if symbol in self._known:
            return self._known[symbol]
        if symbol not in self.definitions:
            known = self.outside.functions.get(symbol)
            return None if known is None else known.summary
        order, recursive = self._callees_first(symbol)
        self._known.update((each, Summary()) for each in order)
        changed = True
        while changed:
            changed = False
            for each in order:
                new = self._make_piece(self.definitions[each]).summary
                changed |= recursive and new != self._known[each]
                self._known[each] = new
        return self._known[symbol]

    def parameters(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Return the parameters of a function that has a summary."""
        defined = self.definitions.get(symbol)
        return defined.parameters if defined is not None else self.outside.functions[symbol].parameters

    def owner(self, parameter: Symbol) -> Symbol | None:
        """Return the function that has the parameter, None where the program defines none that does."""
        owners = self.remember("owners", lambda: {p: s for s, f in self.definitions.items() for p in f.parameters})
        return owners.get(parameter)

    def is_recursive(self, symbol: Symbol) -> bool:
        """Whether a call of the function may lead to another call of it."""
        seen: set[Symbol] = set()
        pending = [symbol]
        while pending:
            for callee in self._callees(self.definitions[pending.pop()]):
                if callee == symbol:
                    return True
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        return False

    def provenance(self, function: Function) -> Provenance:
        """Return where the pointers of `function` come from."""
        return self._piece(function).provenance

    def _piece(self, function: Function) -> FunctionPiece:
        if function not in self._pieces:
            self._pieces[function] = self._make_piece(function)
        return self._pieces[function]

    def _make_piece(self, function: Function) -> FunctionPiece:
        """Return what is known of a function with what is known of its callees so far."""
        seen: list[KnownCallee] = []
        for callee in self._callees(function):
            summary = self.summary(callee)
            assert summary is not None
            seen.append(KnownCallee(callee, self.definitions[callee].parameters, summary))
        return self.world.piece(function, tuple(seen), lambda: self._summarize(function))

    def function_of(self, node: Node) -> Function | None:
        """Return the function whose text contains `node`."""
        if isinstance(node, Function):
            return node
        inside = [f for f in self.definitions.values() if f.span.contains(node.span)]
        return next((f for f in inside if len(inside) == 1 or any(n is node for n in walk(f))), None)

    def library(self, call: Call) -> FunctionEffects | None:
        """Return the table's entry for a direct call of a function that the program does not define."""
        known = self.world.library
        if call not in known:
            known[call] = self._library(call)
        return known[call]

    def _library(self, call: Call) -> FunctionEffects | None:
        name = direct_call(call)
        ours = name is None or name in self.definitions or name in self.outside.functions
        ours = ours or (name is not None and name.name in MAKES | FREES and self._replaces_new())
        known = None if ours else describe_call(self.program.effects, call)
        if known is None or not (known.program_with or known.device_without):
            return known
        mentioned = self.find_mentioned()
        program = known.program or not known.program_with.isdisjoint(mentioned)
        device = known.device and known.device_without.isdisjoint(mentioned)
        return msgspec.structs.replace(known, program=program, device=device)

    def _replaces_new(self) -> bool:
        """Whether the program has functions of its own that give memory to `new`, or take it from `delete`."""
        known = (*self.definitions, *self.outside.functions)
        return self.remember("replaces new", lambda: any(is_replacement(function.name) for function in known))

    def find_held(self) -> frozenset[Symbol]:
        """Return the variables of static storage that a pointer loaded from memory may point to: a function that is
        lent an address (`read(text, &x)`) and does not keep it leaves none there."""
        return self.remember("held", self._find_held)

    def _find_held(self) -> frozenset[Symbol]:
        found = set(self._held)
        for function in self.definitions.values():
            escaped = self.provenance(function).escaped
            found |= {r.symbol for r in escaped if r.kind == "object" and r.symbol is not None}
        return frozenset(found & self.address_taken)

    def find_lent(self, function: Symbol) -> frozenset[Symbol]:
        """Return the variables of static storage to which a parameter of a function may point though no memory holds
        their address: who calls it was handed it (`read(text, &x)`), or whoever called that."""
        return self.remember("lent", self._find_lent).get(function, frozenset())

    def _find_lent(self) -> dict[Symbol, frozenset[Symbol]]:
        wanted = self.address_taken - self.find_held()
        found: dict[Symbol, set[Symbol]] = {}
        for function in self.definitions.values() if wanted else ():
            for call, given in self._find_given(function):
                for callee in self._find_receivers(call) if given & wanted else ():
                    found.setdefault(callee, set()).update(given & wanted)
        pending = list(found)
        while pending:
            caller = pending.pop()
            for callee in self._callees(self.definitions[caller]):
                if not found[caller] <= found.setdefault(callee, set()):
                    found[callee] |= found[caller]
                    pending.append(callee)
        return {callee: frozenset(symbols) for callee, symbols in found.items()}

    def _find_given(self, function: Function) -> tuple[tuple[Call, frozenset[Symbol]], ...]:
        """Return the calls of a function that are handed addresses, each with the variables that these may be of."""
        return remember(self._piece(function).answers, "given", lambda: tuple(self._read_given(function)))

    def _read_given(self, function: Function) -> Iterator[tuple[Call, frozenset[Symbol]]]:
        where = self.provenance(function)
        for call in (t.node for t in node_accesses(function.body) if t.kind == "call"):
            if isinstance(call, Call):
                given = {r.symbol for a in call.arguments if is_pointer(a) for b in bases(a) for r in where.of(b)}
                if known := frozenset(symbol for symbol in given if symbol is not None):
                    yield call, known

    def _find_receivers(self, call: Call) -> Iterable[Symbol]:
        """Return the functions of the program that a call may hand its arguments to first."""
        name, library = direct_call(call), self.library(call)
        if name is not None and name in self.definitions:
            return (name,)
        back = find_called_back(library, call) if library is not None and not library.program else (None,)
        known = [s for s in back if s is not None and s in self.definitions]
        return known if len(known) == len(back) else self.definitions

    def find_mentioned(self) -> frozenset[str]:
        """Return the names of all that the program's functions use."""
        return self.remember("mentioned", lambda: _find_mentioned(self.definitions, self.outside))

    def flow(self, call: Call) -> CallFlow:
        """Return what a call does with addresses."""
        every = frozenset(range(len(call.arguments)))
        library = self.library(call)
        if library is not None and not library.program:
            back = self._find_called_back(library, call)
            if None not in back:
                return _library_flow(library, call, [summary for _, summary in filter(None, back)])
        name = direct_call(call)
        known = self.summary(name) if name is not None else None
        if known is None or name is None:
            pointers = frozenset(s for s in self.globals if isinstance(s.type, Pointer))
            return CallFlow(None, False, every, pointers)
        rewrites = frozenset(s for s in known.writes if isinstance(s.type, Pointer))
        returns = _returned_bases(known.returns, self.parameters(name), call)
        return CallFlow(returns, any(r.kind == "fresh" for r in known.returns), known.retains, rewrites)

    def reaches(self, call: Call, *, write: bool) -> tuple[tuple[Expr, ...], tuple[Symbol, ...]] | None:
        """Return the arguments through which a call reads or writes memory, and the variables of static storage through
        which, or in which, it does; None where it may do so in other ways."""
        name = direct_call(call)
        summary = self.summary(name) if name is not None and self.library(call) is None else None
        if name is None or summary is None or summary.calls_unknown:
            return None
        parameters = self.parameters(name)
        given: list[Expr] = []
        shared: list[Symbol] = []
        for root in summary.stores if write else summary.loads:
            if root.kind == "entry" and root.symbol in parameters:
                number = parameters.index(root.symbol)
                if number >= len(call.arguments):
                    return None
                given.append(call.arguments[number])
            elif root.symbol is not None:
                shared.append(root.symbol)
            else:
                return None
        return tuple(given), tuple(shared)

    def may_fail_assertion(self, call: Call) -> bool:
        """Whether a call tests an assertion, itself or in what it calls."""
        name, library = direct_call(call), self.library(call)
        known = None if name is None else self.summary(name)
        return library.asserts if library is not None else known is not None and known.asserts

    def memory_effects(self, node: Node, function: Function | None) -> MemoryEffects:
        """Return what `node` (in `function`) does, calls included."""
        where = self.provenance(function) if function is not None else _NOWHERE
        return self.effects_of(node_accesses(node), where)

    def effects_of(self, accessed: Iterable[MemoryAccess], where: Provenance) -> MemoryEffects:
        """Return what `accessed` amounts to in a function with the provenance `where`."""
        done = MemoryEffects()
        for access in accessed:
            self._access(access, where, done)
        return done

    def find_exposed(self, where: Provenance) -> set[Root]:
        """Return the roots of a function that code outside it may know."""
        known = set(where.escaped) | {UNKNOWN}
        for roots in where.roots.values():
            known |= {r for r in roots if where.is_exposed(r)}
        known |= {Root("object", s) for s in self.globals}
        return known | {Root("entry", s) for s in self.globals if isinstance(s.type, Pointer)}

    def _access(self, access: MemoryAccess, where: Provenance, done: MemoryEffects) -> None:
        match access.kind:
            case "read" | "write":
                assert access.symbol is not None, "it reads or writes a variable"
                (done.reads if access.kind == "read" else done.writes).add(access.symbol)
                if isinstance(access.symbol.type, Opaque):
                    (done.loads if access.kind == "read" else done.stores).add(UNKNOWN)
            case "load" | "store":
                assert access.base is not None, "it goes through a pointer"
                if access.kind == "load":
                    through(access.base, where, done.loads, done.load_bases)
                else:
                    through(access.base, where, done.stores, done.store_bases)
            case "call":
                assert isinstance(access.node, Call), "only a call calls"
                self._call(access.node, where, done)
            case "opaque":
                self._special(access.node, where, done)
            case _:
                assert_never(access.kind)

    def _call(self, call: Call, where: Provenance, done: MemoryEffects) -> None:
        library = self.library(call)
        name = direct_call(call)
        summary = self.summary(name) if name is not None else None
        if library is not None:
            library_call(library, call, where, done)
            back = self._find_called_back(library, call)
            for callee, inner in filter(None, back):
                callback(inner, callee, _pointed_bases(library, call), where, done)
            if library.program or None in back:
                self._anything(call.arguments, where, done)
        elif summary is not None and name is not None:
            defined_call(summary, self.parameters(name), call, where, done)
        else:
            self._anything(call.arguments, where, done)
            done.blame(_unknown_call(call, linked=name in self.outside.functions), call.span)

    def _find_called_back(self, known: FunctionEffects, call: Call) -> list[tuple[Function, Summary] | None]:
        """Return the functions of the program that a library calls, None for each whose text is not given."""
        found = [(s, self.summary(s)) if s is not None else (None, None) for s in find_called_back(known, call)]
        return [
            (self.definitions[s], summary) if s in self.definitions and s is not None and summary is not None else None
            for s, summary in found
        ]

    def _special(self, node: Node, where: Provenance, done: MemoryEffects) -> None:
        """What we do not model, and device statements."""
        if isinstance(node, Verbatim | VerbatimExpr):
            for symbol in node.reads:
                name_everything(symbol, where, done.reads, done.loads, done.load_bases)
            for symbol in node.writes:
                name_everything(symbol, where, done.writes, done.stores, done.store_bases)
            if node.calls:
                self._anything((), where, done)
            done.blame(node.reason, node.span)
        else:
            assert isinstance(node, DeviceStmt), "all else is modelled"
            self._device(node, where, done)

    def _device(self, node: DeviceStmt, where: Provenance, done: MemoryEffects) -> None:
        match node:
            case Copy(variable=symbol) | Update(variable=Symbol() as symbol) if node.to_device:
                name_everything(symbol, where, done.reads, done.loads, done.load_bases)
            case CaptureStmt(symbol=symbol):
                name_everything(symbol, where, done.reads, done.loads, done.load_bases)
            case Copy(variable=symbol) | Update(variable=Symbol() as symbol):
                name_everything(symbol, where, done.writes, done.stores, done.store_bases)
            case CopyWait():
                pass  # the copy itself says what is read and written
            case DeviceAlloc() | DeviceFree() | DataEnter() | DataExit():
                done.writes.add(node.buffer)
                done.allocates = True
            case Launch():
                done.blame(f"launches {node.kernel}", node.span)
            case Update() | DataRegionBoundary() | DataSuspension():
                # all that is on the device may come back
                self._anything((), where, done)
            case _:
                assert_never(node)

    def _anything(self, arguments: Iterable[Expr], where: Provenance, done: MemoryEffects) -> None:
        """An unknown call: all that is exposed, and all that its arguments reach, may be read and written."""
        done.calls_unknown = True
        known = self.find_exposed(where)
        for argument in arguments:
            if is_pointer(argument):
                known |= {root for base in bases(argument) for root in where.of(base)}
        done.loads |= known
        done.stores |= known
        variables = {s for s in self.globals if not isinstance(s.type, Array)}
        done.reads |= variables
        done.writes |= {s for s in variables if not getattr(s.type, "const", False)}

    def _summarize(self, function: Function) -> FunctionPiece:
        where = provenance(function, self.flow, self.stable)
        done = self.effects_of(node_accesses(function.body), where)
        entries = {Root("entry", p): i for i, p in enumerate(function.parameters)}
        summary = Summary(
            frozenset(filter(is_persistent, done.reads)),
            frozenset(filter(is_persistent, done.writes)),
            frozenset(r for r in done.loads if _is_visible(r)),
            frozenset(r for r in done.stores if _is_visible(r)),
            frozenset(i for root, i in entries.items() if root in where.escaped),
            frozenset(r for r in where.returns if r.kind == "fresh" or _is_visible(r)),
            done.calls_unknown,
            done.io,
            done.asserts,
            done.allocates,
            done.reason,
            done.span,
        )
        return FunctionPiece(function, where, summary)

    def _callees(self, function: Function) -> tuple[Symbol, ...]:
        known = self.world.callees
        if function not in known:
            known[function] = self._find_callees(function)
        return known[function]

    def _find_callees(self, function: Function) -> tuple[Symbol, ...]:
        # the sizes of a variable-length array are evaluated, but do not stand in the tree
        accessed = (t.node for t in node_accesses(function.body) if t.kind == "call")
        calls = [n for n in (*walk(function), *accessed) if isinstance(n, Call)]
        back = [s for n in calls if (known := self.library(n)) is not None for s in find_called_back(known, n)]
        named = dict.fromkeys([*map(direct_call, calls), *back])
        return tuple(s for s in named if s is not None and s in self.definitions)

    def _callees_first(self, symbol: Symbol) -> tuple[list[Symbol], bool]:
        """Return the functions reachable from `symbol` that have no summary yet, callees before callers, and whether
        one of them may lead to itself."""
        order: list[Symbol] = []
        done: set[Symbol] = set()
        seen = {symbol}
        recursive = False
        stack: list[tuple[Symbol, Iterator[Symbol]]] = [(symbol, iter(self._callees(self.definitions[symbol])))]
        while stack:
            callee = next((c for c in stack[-1][1] if c not in done and c not in self._known), None)
            if callee is None:
                order.append(stack.pop()[0])
                done.add(order[-1])
            elif callee in seen:
                recursive = True
            else:
                seen.add(callee)
                stack.append((callee, iter(self._callees(self.definitions[callee]))))
        return order, recursive


def _find_mentioned(definitions: Mapping[Symbol, Function], outside: Outside) -> frozenset[str]:
    return outside.mentioned.union(*map(mentions, definitions.values()))


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


def _library_flow(library: FunctionEffects, call: Call, back: list[Summary]) -> CallFlow:
    """Return what a library function does with addresses; `back`: what it calls."""
    first = bases(call.arguments[library.returns]) if isinstance(library.returns, int) else None
    filled = library.fills if library.allocates else frozenset()
    every = any(summary.retains for summary in back)
    keeps = frozenset(i for i in range(len(call.arguments)) if every or library.keeps_argument(i))
    rewrites = frozenset(s for summary in back for s in summary.writes if isinstance(s.type, Pointer))
    return CallFlow(first, library.returns == "fresh", keeps, rewrites, filled)


def _pointed_bases(library: FunctionEffects, call: Call) -> tuple[Base, ...]:
    """Return the bases of what a library function may hand to the function that it calls."""
    given = [a for i, a in enumerate(call.arguments) if library.reads_argument(i) or library.writes_argument(i)]
    return tuple(base for argument in given if is_pointer(argument) for base in bases(argument))


def _returned_bases(roots: frozenset[Root], parameters: tuple[Symbol, ...], call: Call) -> tuple[Base, ...] | None:
    """Return the bases of what a call returns, None if nothing is known of it; fresh memory is distinguished."""
    found: list[Base] = []
    for root in roots:
        if root.kind == "entry" and root.symbol in parameters:
            index = parameters.index(root.symbol)
            found += bases(call.arguments[index]) if index < len(call.arguments) else (Base(None),)
        elif root.kind == "fresh":
            continue
        elif root.symbol is not None:
            found.append(Base(root.symbol, address=root.kind == "object"))
        else:
            found.append(Base(None))
    return tuple(found) if roots else None


# a program is asked of by its own facts and by the steps that rewrite it, and then hardly ever again
@functools.lru_cache(maxsize=4)
def _of(program: Identity[Program]) -> Summaries:
    return Summaries.make(program.value)


def _unknown_call(call: Call, *, linked: bool) -> str:
    function, name = peel(call.function), direct_call(call)
    if name is None:
        return f"calls {'a' if not isinstance(function, Name) else f'{function.symbol.name}, a'} function pointer"
    why = "which other files define: which of them is linked here is not known"
    return f"calls {name.name}, {why if linked else 'which is not defined here'}"
