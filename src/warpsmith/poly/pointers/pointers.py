"""Where the pointers of one function come from: flow-insensitive provenance.

Invariant: whatever a pointer variable of the function may hold at any time is derived from one of its roots.

    double *p = a + 4, *q = malloc(n);       p: object a      q: fresh memory (that malloc)
    void f(double *x) { x = p; }             x: what x pointed to on entry, object a
    r = s->data;                             r: unknown

object x        the variable x itself (an array, `&x`)
entry x         what the parameter, global or static pointer x pointed to when the function was entered
fresh call      memory that this call allocated
unknown         loaded from memory, made from an integer, returned by an unknown call

Limits: one set of roots a variable for the whole function; pointers inside structs and arrays are unknown.
After L. O. Andersen, Program Analysis and Specialization for the C Programming Language (1994), 4.4, but without
memory cells: what is loaded is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import force_setattr

from warpsmith.poly.pointers.accesses import Base, bases, is_pointer
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    Function,
    Index,
    InitList,
    Member,
    Name,
    Node,
    Return,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Opaque, Pointer, Scalar, Symbol
from warpsmith.tree.walk import names, peel, walk

__all__ = ["UNKNOWN", "CallFlow", "Provenance", "Root", "is_persistent", "provenance"]


class Root(Struct, frozen=True):
    """Where an address was made; see the head of the file. Equal roots may be the same memory."""

    kind: Literal["object", "entry", "fresh", "unknown"]
    symbol: Symbol | None = None
    node: Node | None = None


UNKNOWN = Root("unknown")


class CallFlow(Struct, frozen=True):
    """What a call does with addresses. `returns`: bases in the caller's terms (None: not an address that we know),
    `fresh`: it returns memory of its own; `retains`: arguments whose address it may keep; `rewrites`: pointer variables
    that it may change directly (globals); `fills`: arguments `&p` whose p it sets to fresh memory."""

    returns: tuple[Base, ...] | None
    fresh: bool
    retains: frozenset[int]
    rewrites: frozenset[Symbol]
    fills: frozenset[int] = frozenset()


class Provenance(Struct, frozen=True):
    """`roots` of every pointer variable that the function names; `escaped`: roots that something outside the function's
    own pointer variables may hold; `returns`: roots of what it returns; `deep`: variables through which pointers are
    loaded from memory."""

    roots: Mapping[Symbol, frozenset[Root]]
    escaped: frozenset[Root]
    returns: frozenset[Root]
    deep: frozenset[Symbol]
    flows: Mapping[Call, CallFlow]
    pointers: frozenset[Symbol] = frozenset()
    """The keys of `roots`, as a set: every call asks which of many variables are among them."""

    def __post_init__(self) -> None:
        force_setattr(self, "pointers", frozenset(self.roots))

    def of(self, base: Base) -> frozenset[Root]:
        """Return the roots of an address by its base."""
        if base.call is not None:
            return self._of_call(base.call)
        if base.symbol is None or base.deep:
            return frozenset({UNKNOWN})
        if base.address:
            return frozenset({Root("object", base.symbol)})
        return self.roots.get(base.symbol, _initial(base.symbol))

    def _of_call(self, call: Call) -> frozenset[Root]:
        flow = self.flows.get(call)
        found = frozenset({Root("fresh", node=call)}) if flow is not None and flow.fresh else frozenset()
        if flow is None or flow.returns is None:
            return found or frozenset({UNKNOWN})
        return found.union(*(self.of(base) for base in flow.returns))

    def is_exposed(self, root: Root) -> bool:
        """Whether code outside the function may know the memory of `root`."""
        match root.kind:
            case "object":
                return root in self.escaped or (root.symbol is not None and root.symbol.storage in ("global", "static"))
            case "fresh":
                return root in self.escaped
            case "unknown" | "entry":
                return True
            case _:
                assert_never(root.kind)

    def meet(self, left: frozenset[Root], right: frozenset[Root]) -> bool:
        """Whether two sets of roots have one in common, unknown ones meeting all that is exposed."""
        if left & right:
            return True
        if UNKNOWN in left and any(self.is_exposed(root) for root in right):
            return True
        return UNKNOWN in right and any(self.is_exposed(root) for root in left)


def is_persistent(symbol: Symbol) -> bool:
    """Whether the variable outlives a call of its function."""
    return symbol.storage in ("global", "static", "static local", "device")


def _initial(symbol: Symbol) -> frozenset[Root]:
    """Return what a variable may hold before the function assigns it."""
    if symbol.storage == "parameter" or is_persistent(symbol):
        return frozenset({Root("entry", symbol)})
    return frozenset() if isinstance(symbol.type, Pointer) else frozenset({UNKNOWN})


class _Flow(Struct):
    """The address flow of a function: into pointer variables, into the open, into its result."""

    into: list[tuple[Symbol, Base]]
    away: list[Base]
    results: list[Base]
    unknown: set[Symbol]
    deep: set[Symbol]
    filled: list[tuple[Symbol, Call]]
    exempt: set[Node]


def provenance(function: Function, flow_of: Callable[[Call], CallFlow], stable: frozenset[Symbol]) -> Provenance:
    """Return the provenance of the pointers in `function`. `flow_of` says what a call does with addresses; `stable` are
    global pointers that always hold memory of their own, whoever assigns them."""
    flow = _Flow([], [], [], set(), set(), [], set())
    calls: dict[Call, CallFlow] = {}
    for node in walk(function):
        if isinstance(node, Call):
            calls[node] = flow_of(node)
            _collect_call(node, calls[node], flow)
        _collect(node, flow)
    roots = _solve(function, flow, calls, stable)
    made = Provenance(roots, frozenset(), frozenset(), frozenset(flow.deep), calls)
    escaped = _close_escaped({root for base in flow.away for root in made.of(base)}, roots)
    returns = frozenset(root for base in flow.results for root in made.of(base))
    return Provenance(roots, escaped, returns, made.deep, calls)


def _close_escaped(escaped: set[Root], roots: Mapping[Symbol, frozenset[Root]]) -> frozenset[Root]:
    """Add what an escaped pointer variable points to."""
    pending = list(escaped)
    while pending:
        root = pending.pop()
        if root.kind == "object" and root.symbol is not None:
            more = roots.get(root.symbol, frozenset()) - escaped
            escaped |= more
            pending += more
    return frozenset(escaped - {UNKNOWN})


def _collect(node: Node, flow: _Flow) -> None:
    """Note what one node, apart from calls, does with addresses."""
    match node:
        case Assign(op="="):
            _flow_assignment(peel(node.target), node.value, flow)
        case VarDecl() if node.init is not None:
            _flow_initializer(node.symbol, node.init, flow)
        case Return() if node.value is not None and is_pointer(node.value):
            flow.results += bases(node.value)
        case Cast() if isinstance(node.type, Scalar) and node.type.kind != "void" and is_pointer(node.operand):
            flow.away += bases(node.operand)
        case Verbatim() | VerbatimExpr():
            _opaque(node, flow)
        case Unary(op="&") if node not in flow.exempt:
            _take_address(node.operand, flow)
        case Index() | Member(arrow=True):
            _deep_access(node.base, flow)
        case Unary(op="*"):
            _deep_access(node.operand, flow)
        case _:
            pass


def _opaque(node: Verbatim | VerbatimExpr, flow: _Flow) -> None:
    """A construct that is not modelled may do anything with what it names, but keep the address of what shows none."""
    named = (*node.reads, *node.writes)
    kept = named if node.kept is None else node.kept
    flow.unknown.update(node.writes)
    flow.away += [Base(symbol, address=True) for symbol in kept if symbol.storage != "function"]
    flow.away += [Base(symbol) for symbol in named if isinstance(symbol.type, Pointer)]


def _take_address(operand: Expr, flow: _Flow) -> None:
    """A pointer variable whose address is taken may be read and changed elsewhere."""
    operand = peel(operand)
    if isinstance(operand, Name) and isinstance(operand.symbol.type, Pointer):
        flow.unknown.add(operand.symbol)
        flow.away.append(Base(operand.symbol))


def _deep_access(pointer: Expr, flow: _Flow) -> None:
    if is_pointer(pointer):
        flow.deep.update(base.symbol for base in bases(pointer) if base.deep and base.symbol is not None)


def _flow_assignment(target: Expr, value: Expr, flow: _Flow) -> None:
    if not is_pointer(value) and not isinstance(target.type, Pointer):
        return
    if isinstance(target, Name) and isinstance(target.type, Pointer):
        flow.into += [(target.symbol, base) for base in bases(value)]
        if target.symbol.storage not in ("local", "parameter"):
            flow.away += bases(value)
    else:
        flow.away += bases(value)


def _flow_initializer(symbol: Symbol, init: Expr, flow: _Flow) -> None:
    if isinstance(init, InitList):
        flow.away += [base for item in walk(init) for base in _addresses(item)]
    elif isinstance(symbol.type, Pointer):
        flow.into += [(symbol, base) for base in bases(init)]
    elif isinstance(symbol.type, Opaque):
        flow.away += [Base(n.symbol, address=True) for n in names(init) if n.symbol.storage != "function"]
    elif is_pointer(init):
        flow.away += bases(init)


def _addresses(item: Node) -> Iterator[Base]:
    if isinstance(item, Name | Unary | Binary | Cast) and is_pointer(item):
        yield from bases(item)


def _collect_call(call: Call, known: CallFlow, flow: _Flow) -> None:
    """Note the addresses that a call keeps and the pointers that it changes."""
    flow.unknown |= known.rewrites
    for index, argument in enumerate(call.arguments):
        operand = _plain_address(argument)
        if index in known.fills and operand is not None:
            flow.exempt.add(operand)
            flow.filled.append((_variable(operand), call))
        elif index in known.retains and is_pointer(argument):
            flow.away += bases(argument)


def _plain_address(argument: Expr) -> Unary | None:
    """Return `&p` behind casts, for a pointer variable p."""
    argument = peel(argument)
    while isinstance(argument, Cast):
        argument = peel(argument.operand)
    if not (isinstance(argument, Unary) and argument.op == "&"):
        return None
    operand = peel(argument.operand)
    return argument if isinstance(operand, Name) and isinstance(operand.symbol.type, Pointer) else None


def _variable(address: Unary) -> Symbol:
    operand = peel(address.operand)
    assert isinstance(operand, Name)
    return operand.symbol


def _solve(
    function: Function, flow: _Flow, calls: Mapping[Call, CallFlow], stable: frozenset[Symbol]
) -> dict[Symbol, frozenset[Root]]:
    """Propagate roots along assignments until nothing changes."""
    named = {s for s, _ in flow.into} | {n.symbol for n in names(function)} | set(function.parameters)
    roots = {s: _initial(s) for s in named if isinstance(s.type, Pointer)}
    for symbol in (flow.unknown | flow.deep) - stable:
        if symbol in roots:
            roots[symbol] |= {UNKNOWN}
    for symbol, call in flow.filled:
        if symbol not in stable:
            roots[symbol] = roots.get(symbol, frozenset()) | {Root("fresh", node=call)}
    edges = [(symbol, base) for symbol, base in flow.into if symbol not in stable]
    now = Provenance(roots, frozenset(), frozenset(), frozenset(), calls)
    changed = True
    while changed:
        changed = False
        for symbol, base in edges:
            new = roots.get(symbol, frozenset()) | now.of(base)
            if new != roots.get(symbol):
                roots[symbol], changed = new, True
    return roots
