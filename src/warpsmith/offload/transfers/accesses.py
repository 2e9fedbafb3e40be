"""The accesses of host and kernels to the object behind a buffer.

Invariant: an access that may happen is reported. What cannot be distinguished (an unknown call, a pointer that may
point into the object) counts as a use and a write. A write without a use is reported only where all of the section is
certainly written (a scalar's assignment, a kernel that covers its section) or its content dies (`free(p)`).
"""

from __future__ import annotations

from collections.abc import Set
from typing import Protocol

from warpsmith.loops.analysis.evaluation import comes_back
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.flow import Flow, Point
from warpsmith.offload.transfers.placement import PointAccess
from warpsmith.poly.aliasing.aliasing import are_objects_apart, relation
from warpsmith.poly.effects.effects import effects, find_escaped
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.free_store import MAKES, RELEASES
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Return,
    Stmt,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import children, peel, walk, written_symbols

__all__ = ["HostAccess", "HostCode", "ProgramAccess", "freed_pointer", "kernel_access", "point_accesses"]


class HostAccess(Protocol):
    """What host code does with buffered objects, and which of them anybody looks at later."""

    def access(self, node: Node, buffer: DeviceBuffer) -> PointAccess:
        """Return what evaluating `node` does with the object (`host_use`, `host_write`)."""
        ...

    def lives_on(self, buffer: DeviceBuffer) -> bool:
        """Whether the object's content may be read after the buffer's scope has ended."""
        ...


class HostCode(HostAccess, Protocol):
    """The same, and what decides whether a copy may go on beside host code."""

    def may_leave(self, node: Node) -> bool:
        """Whether evaluating `node` may leave its scope, or the program, otherwise than by its end, or do what is not
        known."""
        ...

    def may_stop(self, draft: Draft) -> bool:
        """Whether the kernel of `draft` may end the program, by an assertion."""
        ...

    def changes(self, node: Node, symbols: Set[Symbol]) -> bool:
        """Whether evaluating `node` may give one of the variables another value."""
        ...


def kernel_access(offload_region: OffloadRegion, draft: Draft, buffer: DeviceBuffer) -> PointAccess:
    """Return what the kernel of `draft` does with the device copy."""
    for use in draft.uses:
        if use.symbol != buffer.host or use.kind == "value":
            continue
        if use.kind == "buffer":
            renews = use.written and (draft, use.symbol) in offload_region.covers
            return PointAccess(device_use=not renews, device_write=use.written)
        return PointAccess(device_use=use.read or not (use.written and use.covers), device_write=use.written)
    return PointAccess()


def point_accesses(
    flow: Flow, offload_region: OffloadRegion, buffer: DeviceBuffer, host: HostAccess
) -> tuple[PointAccess, ...]:
    """Return what each point of the flow does with the object of `buffer`."""
    lives_on = host.lives_on(buffer)
    return tuple(_point_access(point, offload_region, buffer, host, lives_on) for point in flow.points)


def _point_access(
    point: Point, offload_region: OffloadRegion, buffer: DeviceBuffer, host: HostAccess, lives_on: bool
) -> PointAccess:
    touched = [host.access(node, buffer) for node in point.nodes]
    use = any(t.host_use for t in touched)
    write = any(t.host_write for t in touched)
    if point.kind == "exit":
        return PointAccess(host_use=use or lives_on, host_write=write and not lives_on)
    if point.kind != "launch" or point.draft is None:
        # Several expressions in one point run in an order that we do not keep: then a write does not excuse a use.
        return PointAccess(host_use=use or (write and len(touched) > 1), host_write=write)
    device = kernel_access(offload_region, point.draft, buffer)
    values = [u.symbol for u in point.draft.uses if u.kind == "value"]
    span = point.draft.statements[0].span
    read = any(host.access(Name(span=span, type=s.type, symbol=s), buffer).host_use for s in values)
    return PointAccess(host_use=read, device_use=device.device_use, device_write=device.device_write)


def freed_pointer(node: Node) -> Symbol | None:
    """Return `p` where `node` is the statement or call `free(p)`."""
    expr: Node = peel(node.expr) if isinstance(node, ExprStmt) else node
    if not isinstance(expr, Call) or not expr.arguments:
        return None
    function, argument = peel(expr.function), peel(expr.arguments[0])
    if isinstance(function, Name) and function.symbol.name in RELEASES and isinstance(argument, Name):
        return argument.symbol
    return None


class ProgramAccess:
    """The accesses as poly's effects tell them, with memory of what was asked."""

    def __init__(self, request: OffloadRequest, offload_region: OffloadRegion) -> None:
        self.program = request.program
        self.function = request.facts.function
        self.summaries = request.summaries if request.summaries is not None else Summaries.of(request.program)
        self.cxx = any(unit.language != "c" for unit in request.program.units)
        self.escaped = find_escaped(self.program, self.function, self.summaries)
        self.device_only = {use.symbol for draft in offload_region.drafts for use in draft.uses if use.device_only}
        self.buffered = {buffer.host for buffer in offload_region.buffers}
        written = {use.symbol for draft in offload_region.drafts for use in draft.uses if use.written}
        self.blocks = {buffer.host for buffer in offload_region.buffers if buffer.allocation and buffer.host in written}
        self._known: dict[tuple[Node, Symbol], PointAccess] = {}
        self._meetings: dict[tuple[Symbol, Symbol], bool] = {}
        self._leaving: dict[Node, bool] = {}

    def access(self, node: Node, buffer: DeviceBuffer) -> PointAccess:
        """Return what evaluating `node` on the host does with the object."""
        if buffer.host in self.device_only:
            return PointAccess()
        key = (node, buffer.host)
        if key not in self._known:
            self._known[key] = self._access(node, buffer.host)
        return self._known[key]

    def _access(self, node: Node, symbol: Symbol) -> PointAccess:
        if freed_pointer(node) == symbol:
            return PointAccess(host_write=True)
        done = effects(self.program, node, self.function, self.summaries)
        reads, writes = (done.element_reads, done.element_writes)
        if not isinstance(symbol.type, Pointer):
            reads, writes = done.reads, done.writes
        unknown = done.calls_unknown and not self._private(symbol)
        unknown = unknown or any(self._meets(symbol, base) for base in done.element_writes)
        unknown = unknown or any(self._names(symbol, variable) for variable in done.direct_writes)
        write = symbol in writes or unknown
        if write and not unknown and self._assigns(node, symbol):
            return PointAccess(host_write=True)
        use = write or symbol in reads or any(self._meets(symbol, base) for base in done.element_reads)
        use = use or any(self._names(symbol, variable) for variable in done.direct_reads)
        return PointAccess(host_use=use, host_write=write)

    def _meets(self, symbol: Symbol, base: Symbol) -> bool:
        """Whether an access through `base` may touch the object of `symbol`: effects tell names apart, not memory.

        Two buffered objects do not overlap: the offload region's guards see to that. A block of memory that goes back
        to the host as a whole is met by what lies beside the object as well.
        """
        if base == symbol or base in self.buffered:
            return False
        pair = (symbol, base)
        if pair not in self._meetings:
            answer = relation(self.program, self.function, symbol, base, self.summaries)
            block = symbol in self.blocks and not self._is_alone(base)
            beside = block and not are_objects_apart(self.program, self.function, pair, self.summaries)
            self._meetings[pair] = answer != "distinct" or beside
        return self._meetings[pair]

    def _names(self, symbol: Symbol, variable: Symbol) -> bool:
        """Whether `variable` by its own name may be part of what the pointer `symbol` points to."""
        return (
            isinstance(symbol.type, Pointer)
            and not isinstance(variable.type, Pointer)
            and self._meets(symbol, variable)
        )

    def _is_alone(self, symbol: Symbol) -> bool:
        """Whether the variable is an object of its own that no pointer reaches."""
        own = symbol.storage in ("local", "parameter") and not isinstance(symbol.type, Pointer)
        return own and symbol not in self.escaped

    def _private(self, symbol: Symbol) -> bool:
        """Whether no unknown function can reach the object."""
        return symbol.storage == "local" and not isinstance(symbol.type, Pointer) and symbol not in self.escaped

    def _assigns(self, node: Node, symbol: Symbol) -> bool:
        """Whether `node` is `symbol = value;` for a scalar that the value does not read."""
        expr: Node = peel(node.expr) if isinstance(node, ExprStmt) else node
        if not isinstance(expr, Assign) or expr.op != "=":
            return False
        target = peel(expr.target)
        if not isinstance(target, Name) or target.symbol != symbol:
            return False
        return symbol not in effects(self.program, expr.value, self.function, self.summaries).reads

    def may_leave(self, node: Node) -> bool:
        """Whether evaluating `node` may leave its scope: where the program ends, by an exception, which functions of
        C++ may throw, or in a call of which nothing is known."""
        if node not in self._leaving:
            unknown = effects(self.program, node, self.function, self.summaries).calls_unknown
            thrown = self.cxx and any(isinstance(part, Call) and self._may_throw(part) for part in walk(node))
            self._leaving[node] = unknown or thrown or not comes_back(node, self.summaries)
        return self._leaving[node]

    def may_stop(self, draft: Draft) -> bool:
        """Whether the kernel of `draft` may end the program, by an assertion."""
        return not all(comes_back(stmt, self.summaries) for stmt in draft.statements)

    def _may_throw(self, call: Call) -> bool:
        known = self.summaries.library(call)
        return known is None or known.name in MAKES

    def changes(self, node: Node, symbols: Set[Symbol]) -> bool:
        """Whether evaluating `node` may give one of the variables another value."""
        done = effects(self.program, node, self.function, self.summaries)
        if symbols & (done.direct_writes | written_symbols(node)):
            return True
        unseen = done.calls_unknown or done.unnamed_writes or bool(done.element_writes)
        own = ("local", "parameter")
        return unseen and any(s.storage not in own or s in self.escaped for s in symbols)

    # --- after the scope

    def lives_on(self, buffer: DeviceBuffer) -> bool:
        """Whether the content may be read after the scope: unless the object is the function's own, nobody else's
        pointer reaches it, no loop around the scope comes back to it, and nothing behind the scope reads it."""
        body = self.function.body
        if buffer.host in self.device_only:
            return False
        if not self._own(buffer.host) or any(isinstance(n, Verbatim) and n.control for n in walk(body)):
            return True
        path = _path_to(body, buffer.scope[0])
        born = max((i for i, n in enumerate(path) if _declares(n, buffer.host)), default=0)
        if any(isinstance(n, For | While) for n in path[born:]):
            return True
        return any(self._reads(node, buffer) for node in _behind(path, buffer.scope))

    def _own(self, symbol: Symbol) -> bool:
        if symbol.storage != "local":
            return False
        if not isinstance(symbol.type, Pointer):
            return symbol not in self.escaped
        where = self.summaries.provenance(self.function)
        roots = where.roots.get(symbol, frozenset())
        kept = any(r.kind != "fresh" for r in roots) or any(r in where.escaped for r in roots)
        returned = any(
            isinstance(n, Return) and n.value is not None and isinstance(n.value.type, Pointer)
            for n in walk(self.function.body)
        )
        return bool(roots) and not kept and not returned

    def _reads(self, node: Node, buffer: DeviceBuffer) -> bool:
        return any(self.access(part, buffer).host_use for part in _split_evaluated(node))


def _declares(node: Node, symbol: Symbol) -> bool:
    """Whether a declaration of `symbol` stands directly in the statement run of `node`."""
    runs = [node] if isinstance(node, DeclStmt) else list(children(node))
    return any(isinstance(n, DeclStmt) and any(d.symbol == symbol for d in n.declarations) for n in runs)


def _path_to(root: Node, target: Node) -> list[Node]:
    """Return the nodes from `root` down to the parent of `target`."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(root, ())]
    while stack:
        node, above = stack.pop()
        if node is target:
            return list(above)
        stack += [(child, (*above, node)) for child in children(node)]
    raise ValueError("the statement is not in the function")


def _behind(path: list[Node], scope: tuple[Stmt, ...]) -> list[Node]:
    """Return what control may reach after `scope`, no loop being around it: the later statements of each run around.

    In an `if` only what follows it counts; in a switch the later cases, too.
    """
    result: list[Node] = []
    inner: Node = scope[-1]
    for node in reversed(path):
        if not isinstance(node, If):
            parts = list(children(node))
            result += parts[next(i for i, n in enumerate(parts) if n is inner) + 1 :]
        inner = node
    return result


def _split_evaluated(node: Node) -> list[Node]:
    """Split a statement into what the host evaluates, so that a `free` inside it is seen as such."""
    if isinstance(node, Expr | ExprStmt | DeclStmt):
        return [node]
    parts = list(children(node))
    return [p for part in parts for p in _split_evaluated(part)] if parts else [node]
