"""Copies that go on beside kernels and host code: begun early, waited for where they are needed.

    copy A; copy C                          copy A; begin C
    launch k1 (A)                           launch k1 (A)         C moves while k1 runs
    launch k2 (C)                     →     kernels wait C; launch k2 (C)
    copy A to host; copy C to host          begin A to host …     (above k2, if k2 does not write A)
                                            host waits A; host waits C

Hides latency: what is moved is the same, at the same rate. A copy of `x` moves up in its run of statements, past each
one that does not meet it:

    to the device   no kernel there uses x_gpu, and no host code writes x
    to the host     no kernel there writes x_gpu, and no host code touches x

and, either way, none frees the buffer, leaves the run, changes a variable that says where x lies or how much is moved,
or calls what need not come back: `if (n > room) exit(1);` may be what says that there is something to copy. The
allocation of x_gpu moves along. A wait stands where the copy stood: kernels wait for a copy to the device, the host
for one to the host, which may wait longer still, by the same rule, and free the buffer then. What a kernel has waited
for may still be under way for all that the host knows: the host waits before it writes x, before the buffer is freed,
or where the run ends.

Invariant: a copy begins and ends in one run of statements, so that no turn of a loop, no other arm and no way out meets
it under way. overlap_check.py sees to that without knowing how it was made.

Limits: copies do not leave the block that they stand in, so none goes on into the next turn of a loop; data that are
entered through the present table are copied as ever, as are updates in data regions, and what is moved from a place,
or in a size, that is read from memory (`s->n`) or asked of a function. More buffers are on the device at once than
without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from msgspec import Struct, field

from warpsmith.offload.fragments import Draft, OffloadRegion
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.accesses import HostCode, kernel_access
from warpsmith.poly.aliasing.unchanged import loads
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Break,
    Call,
    Case,
    Cast,
    Conditional,
    Continue,
    Copy,
    CopyWait,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    DeviceNode,
    Expr,
    ExprStmt,
    For,
    Launch,
    Literal,
    Name,
    Node,
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
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import children, names, rebuild, walk

__all__ = ["CopyOutcome", "Overlapped", "overlap_copies"]


class CopyOutcome(Struct, frozen=True):
    """What became of a copy: what it goes on `beside`, in words, or else why it `waits`."""

    beside: tuple[str, ...] = ()
    waits: str = ""


class Overlapped(Struct, frozen=True):
    """Statements with the copies that go on beside others, and what became of each copy that was there."""

    statements: tuple[Stmt, ...]
    outcomes: Mapping[Copy, CopyOutcome]


def overlap_copies(statements: tuple[Stmt, ...], offload_region: OffloadRegion, host: HostCode) -> Overlapped:
    """Return the rewritten scope of an offload region with its copies begun as early as may be, where that lets them go
    on beside a kernel, a loop or a call."""
    mover = _Mover(offload_region, host)
    block = Block(span=statement_spans(statements), statements=statements)
    moved = rebuild(block, mover.change)
    return Overlapped(moved.statements, mover.outcomes)


class _Mover(Struct):
    offload_region: OffloadRegion
    host: HostCode
    outcomes: dict[Copy, CopyOutcome] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    buffers: dict[Symbol, DeviceBuffer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.drafts = {draft.region: draft for draft in self.offload_region.drafts}
        self.buffers = {buffer.symbol: buffer for buffer in self.offload_region.buffers}

    def change(self, node: Node) -> Node:
        """Return a node with the copies of the run in it moved."""
        match node:
            case Block(statements=run) if any(isinstance(stmt, Copy) for stmt in run):
                return replace(node, statements=self.run(run))
            case Case(body=run) if any(isinstance(stmt, Copy) for stmt in run):
                return replace(node, body=self.run(run))
            case _:
                return node

    def run(self, run: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Return one run with each of its copies moved, in the order of the text."""
        for copy in [stmt for stmt in run if isinstance(stmt, Copy)]:
            run = self.moved(run, copy)
        return run

    def moved(self, run: tuple[Stmt, ...], copy: Copy) -> tuple[Stmt, ...]:
        """Return a run with one copy moved, if it then goes on beside something."""
        if _reads_memory(copy):
            self.outcomes[copy] = CopyOutcome(waits="where it lies, or how much it moves, is read from memory")
            return run
        at = run.index(copy)
        first, given, above = self.reach(run, at, copy)
        last, below = (at, "") if copy.to_device else self.reach_down(run, at, copy)
        busy = [number for number in range(first, last) if _is_work(run[number])]
        if not busy:
            reasons = [above or "nothing runs before it in its block", below]
            self.outcomes[copy] = CopyOutcome(waits="; ".join(reason for reason in reasons if reason))
            return run
        self.outcomes[copy] = CopyOutcome(beside=tuple(self.described(run[number]) for number in busy))
        if copy.to_device:
            # those go first that are needed sooner
            return self._moved_in(run, copy, busy[0], given)
        return self._moved_back(run, copy, first, last)

    def _moved_in(self, run: tuple[Stmt, ...], copy: Copy, start: int, given: Stmt | None) -> tuple[Stmt, ...]:
        at = run.index(copy)
        moves = [given] if given in run[start:at] and given is not None else []
        between = [stmt for stmt in run[start:at] if stmt not in moves]
        begun = replace(copy, overlaps=True)
        rest = self.landed(copy, run[at + 1 :])
        return (*run[:start], *moves, begun, *between, _wait(copy, by_host=False), *rest)

    def _moved_back(self, run: tuple[Stmt, ...], copy: Copy, first: int, last: int) -> tuple[Stmt, ...]:
        frees = [stmt for stmt in run[first:last] if isinstance(stmt, DeviceFree) and stmt.buffer == copy.buffer]
        between = [stmt for stmt in run[first:last] if stmt is not copy and stmt not in frees]
        begun = replace(copy, overlaps=True)
        return (*run[:first], begun, *between, _wait(copy, by_host=True), *frees, *run[last:])

    def reach(self, run: tuple[Stmt, ...], at: int, copy: Copy) -> tuple[int, Stmt | None, str]:
        """Return how far up a copy may move, the allocation of its buffer if that moves with it, and what it meets
        there ("" where the run begins)."""
        given: DeviceAlloc | None = None
        for first in range(at, 0, -1):
            before = run[first - 1]
            mine = isinstance(before, DeviceAlloc) and before.buffer == copy.buffer
            if mine and copy.to_device and isinstance(before, DeviceAlloc) and _is_plain(before.bytes, copy.host):
                given = before
            elif met := self.met(copy, before, with_it=given):
                return first, given, met
        return 0, given, ""

    def reach_down(self, run: tuple[Stmt, ...], at: int, copy: Copy) -> tuple[int, str]:
        """Return where the wait for a copy to the host may stand at the latest, behind the last work that does not meet
        it, and what it meets there. What frees its buffer moves along."""
        last = at + 1
        for number in range(at + 1, len(run)):
            stmt = run[number]
            if isinstance(stmt, DeviceFree) and stmt.buffer == copy.buffer:
                continue
            if met := self.met(copy, stmt):
                return last, met
            if _is_work(stmt):
                last = number + 1
        return last, ""

    def landed(self, copy: Copy, rest: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Return what follows a wait of the kernels, with the host's own wait where it must be at the latest: none
        where the buffer is copied back, since that comes after what kernels have waited for."""
        place = next((n for n, stmt in enumerate(rest) if self.met(copy, stmt, known_to_kernels=True)), len(rest))
        back = rest[place] if place < len(rest) else None
        if isinstance(back, Copy) and back.buffer == copy.buffer and not back.to_device:
            return rest
        return (*rest[:place], _wait(copy, by_host=True), *rest[place:])

    # --- what meets a copy

    def met(self, copy: Copy, stmt: Stmt, *, known_to_kernels: bool = False, with_it: DeviceAlloc | None = None) -> str:
        """Return why a copy cannot be under way while `stmt` runs, "" where it can; `known_to_kernels`: kernels come
        after it; `with_it`: the allocation that moves along."""
        if _jumps_out(stmt):
            return f"{_at(stmt)} may leave the block"
        said = _names_said(copy) | (_variables(with_it.bytes) if with_it is not None else set())
        found = (self._met_part(copy, said, part, known_to_kernels=known_to_kernels) for part in _parts(stmt))
        return next((reason for reason in found if reason), "")

    def _met_part(self, copy: Copy, said: Set[Symbol], part: Node, *, known_to_kernels: bool) -> str:
        match part:
            case Launch():
                return self._met_launch(copy, part, known_to_kernels=known_to_kernels)
            case Copy(buffer=buffer) | CopyWait(buffer=buffer) | DeviceAlloc(buffer=buffer) | DeviceFree(buffer=buffer):
                if buffer == copy.buffer:
                    return "its memory is given or copied there"
                return self._met_other(copy, said, part)
            case DeviceNode():
                return "data are entered or left there"
            case Verbatim():
                return f"what {_at(part)} does is not known"
            case For(variable=variable) if variable in said:
                return f"{_at(part)} changes where it lies, or how much of it moves"
            case _ if isinstance(part, Expr | ExprStmt | DeclStmt):
                declared = {one.symbol for one in walk(part) if isinstance(one, VarDecl)}
                if declared & {*said, copy.variable} or self.host.changes(part, said):
                    return f"{_at(part)} changes where it lies, or how much of it moves"
                return self._met_host(copy, part)
            case _:
                return ""

    def _met_other(self, copy: Copy, said: Set[Symbol], other: DeviceNode) -> str:
        """What copies and allocations of other buffers do on the host: they evaluate sizes, and a copy back writes."""
        lands = (isinstance(other, Copy) and not other.to_device) or (isinstance(other, CopyWait) and other.by_host)
        if lands and isinstance(other, Copy | CopyWait):
            landing = self.buffers[other.buffer]
            read = (Name(span=other.span, type=one.type, symbol=one) for one in said)
            if any(self.host.access(one, landing).host_use for one in read):
                return f"{_at(other)} changes where it lies, or how much of it moves"
        return next((met for part in children(other) if (met := self._met_host(copy, part))), "")

    def _met_launch(self, copy: Copy, launch: Launch, *, known_to_kernels: bool) -> str:
        draft, buffer = self.drafts[launch.region], self.buffers[copy.buffer]
        access = kernel_access(self.offload_region, draft, buffer)
        where = f"the kernel of line {draft.statements[0].span.line}"
        if copy.to_device and not known_to_kernels and (access.device_use or access.device_write):
            return f"{where} uses it"
        if not copy.to_device and access.device_write:
            return f"{where} writes it"
        if self.host.may_stop(draft):
            return f"{where} may end the program"
        return next((reason for one in launch.arguments if (reason := self._met_host(copy, one))), "")

    def _met_host(self, copy: Copy, node: Node) -> str:
        access = self.host.access(node, self.buffers[copy.buffer])
        if access.host_write:
            return f"host code of {_at(node)} may write it"
        if access.host_use and not copy.to_device:
            return f"host code of {_at(node)} reads it"
        return f"a call of {_at(node)} need not come back" if self.host.may_leave(node) else ""

    def described(self, stmt: Stmt) -> str:
        """Return what a copy goes on beside, in words."""
        launches = [self.drafts[part.region] for part in walk(stmt) if isinstance(part, Launch)]
        if len(launches) == 1:
            return f"the kernel of line {launches[0].statements[0].span.line}"
        return f"the kernels from line {stmt.span.line}" if launches else f"host code of line {stmt.span.line}"


def _wait(copy: Copy, *, by_host: bool) -> CopyWait:
    return CopyWait(span=copy.span, buffer=copy.buffer, variable=copy.variable, by_host=by_host)


def _names_said(copy: Copy) -> set[Symbol]:
    """Return the variables whose values say where a copy lies on the host, and how much it moves: where an array or a
    variable itself lies does not change."""
    start = copy.host
    itself = isinstance(start, Unary) and start.op == "&" and isinstance(start.operand, Name)
    return _variables(*([] if itself else [start]), copy.bytes, copy.offset)


def _variables(*expressions: Expr) -> set[Symbol]:
    return {name.symbol for part in expressions for name in names(part) if not isinstance(name.symbol.type, Array)}


def _reads_memory(copy: Copy) -> bool:
    """Whether where a copy lies, and how much it moves, is said by more than the values of variables."""
    parts = (copy.host, copy.bytes, copy.offset)
    asked = any(isinstance(node, Call | VerbatimExpr) for part in parts for node in walk(part))
    return asked or any(not isinstance(load, Name) for part in parts for load in loads(part))


def _is_plain(*expressions: Expr) -> bool:
    """Whether expressions are made of variables and numbers alone: they are worth the same wherever these are."""
    plain = Binary | Cast | Conditional | Literal | Name | SizeOf
    return all(
        isinstance(part, plain) or (isinstance(part, Unary) and part.op in ("+", "-", "&"))
        for expr in expressions
        for part in walk(expr)
    )


def _at(node: Node) -> str:
    return f"line {node.span.line}"


def _is_work(stmt: Stmt) -> bool:
    """Whether a statement takes long enough to do something else beside it: a kernel, a loop or a call."""
    return any(isinstance(part, Launch | For | While | Call) for part in walk(stmt))


def _parts(stmt: Stmt) -> Iterator[Node]:
    """Yield what a statement does: its device statements, and what the host evaluates, each as a whole."""
    pending: list[Node] = [stmt]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Expr | ExprStmt | DeclStmt | DeviceNode | Verbatim):
            pending += reversed(list(children(node)))


def _jumps_out(stmt: Stmt) -> bool:
    """Whether control may leave a statement other than by its end."""
    pending: list[tuple[Node, bool, bool]] = [(stmt, False, False)]
    while pending:
        node, looped, switched = pending.pop()
        match node:
            case Return():
                return True
            case Break() if not (looped or switched):
                return True
            case Continue() if not looped:
                return True
            case _ if not isinstance(node, Expr):
                looped, switched = looped or isinstance(node, For | While), switched or isinstance(node, Switch)
                pending += [(part, looped, switched) for part in children(node)]
    return False
