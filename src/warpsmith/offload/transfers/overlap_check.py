"""An independent check of copies that go on beside other work: a forward data flow over the rewritten statements.

For every buffer: what may its latest copy be doing when control is here, over all paths?

    landed            no copy is under way for all that the host knows
    in · in, known    one to the device is; kernels that are launched from here on come after it (known), or do not
    out · out, known  the same of one to the host

Checked: no kernel uses a buffer while one to the device may write it, or writes it while one to the host may read it;
no host code, sizes of other copies among it, writes an object while it may be read, or touches it while it may be
written; no copy of a buffer begins, and none is freed, while another one may be under way; nothing leaves the scope
meanwhile, and no text of which we know nothing runs meanwhile.

And that a copy may be begun elsewhere than where it is waited for: where it lies on the host, how much it moves, and
how large the buffer is that is allocated in front of it, is said by variables, not by memory or functions, and none of
them changes, or is declared, until kernels, or the host for a copy to it, have waited.

What is copied when, transfer_check.py looks after: to it a copy that only begins is a copy like any other.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct, field

from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.accesses import HostCode, kernel_access
from warpsmith.offload.transfers.transfer_check import Checked, CopyChecker, States
from warpsmith.poly.aliasing.unchanged import loads
from warpsmith.tree.nodes import (
    Block,
    Call,
    Case,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DeviceAlloc,
    DeviceFree,
    Expr,
    Launch,
    Name,
    Node,
    Stmt,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, walk

__all__ = ["check_overlap"]

_LANDED = "landed"
_IN, _IN_KNOWN, _OUT, _OUT_KNOWN = "in", "in, known", "out", "out, known"
_KNOWN = {_IN: _IN_KNOWN, _OUT: _OUT_KNOWN}
_READS_HOST = frozenset({_IN, _IN_KNOWN})
_WRITES_HOST = frozenset({_OUT, _OUT_KNOWN})
_EARLY = frozenset({_IN, _OUT, _OUT_KNOWN})


def check_overlap(statements: tuple[Stmt, ...], offload_region: OffloadRegion, host: HostCode) -> tuple[str, ...]:
    """Return what is wrong with the copies in `statements` that go on beside others, in sentences."""
    checker = _OverlapChecker(offload_region=offload_region, host=host)
    for stmt in statements:
        for node in walk(stmt):
            if isinstance(node, Copy) and node.overlaps:
                checker.note(node, (node.host, node.bytes, node.offset))
    for run in (statements, *_runs(statements)):
        checker.note_allocated(run)
    return checker.check(statements, _LANDED)


def _runs(statements: tuple[Stmt, ...]) -> list[tuple[Stmt, ...]]:
    """Return the runs of statements that stand in others."""
    nodes = (node for stmt in statements for node in walk(stmt))
    return [
        node.statements if isinstance(node, Block) else node.body for node in nodes if isinstance(node, Block | Case)
    ]


def _loaded(expr: Expr) -> Set[Symbol] | None:
    """Return the variables that an expression reads; None where it reads memory, or calls what may."""
    if any(isinstance(node, Call | Verbatim | VerbatimExpr) for node in walk(expr)):
        return None
    read = list(loads(expr))
    names = {load.symbol for load in read if isinstance(load, Name)}
    return names if all(isinstance(load, Name) for load in read) else None


class _OverlapChecker(CopyChecker, Struct):
    """`said`: by the buffer, the variables that its early copies were made with."""

    host: HostCode
    said: dict[Symbol, set[Symbol]] = field(default_factory=dict)

    def note(self, node: Copy | DeviceAlloc, expressions: tuple[Expr, ...]) -> None:
        """Keep in mind what is evaluated early for the buffer of `node`."""
        buffer = next(b for b in self.offload_region.buffers if b.symbol == node.buffer)
        said = self.said.setdefault(buffer.symbol, set())
        for expr in expressions:
            loaded = _loaded(expr)
            if loaded is None:
                self.complain(node, buffer, "where an early copy lies, or how much it moves, is read from memory")
            said |= loaded or set()

    def note_allocated(self, run: tuple[Stmt, ...]) -> None:
        """An allocation directly in front of early copies may have come early with one of them."""
        allocated: list[DeviceAlloc] = []
        for stmt in run:
            if isinstance(stmt, DeviceAlloc):
                allocated.append(stmt)
            elif isinstance(stmt, Copy) and stmt.overlaps:
                for one in allocated:
                    if one.buffer == stmt.buffer:
                        self.note(one, (one.bytes,))
            else:
                allocated.clear()

    def leaves(self, state: States | None, node: Node) -> None:
        """Control leaves the scope: nothing may be under way."""
        for buffer in self.offload_region.buffers if state is not None else ():
            if state is not None and state[buffer.symbol] != {_LANDED}:
                self.complain(node, buffer, "a copy is under way where the scope is left")

    def evaluate_node(self, node: Node | None, state: States) -> States:
        """Return the state behind what the host evaluates: the same."""
        for buffer in self.offload_region.buffers if node is not None else ():
            assert node is not None
            before = state[buffer.symbol]
            if before == {_LANDED}:
                continue
            access = self.host.access(node, buffer)
            if access.host_write and before & _READS_HOST:
                self.complain(node, buffer, "the host writes what a copy may still read")
            if (access.host_write or access.host_use) and before & _WRITES_HOST:
                self.complain(node, buffer, "the host touches what a copy may still write")
            if isinstance(node, Verbatim) or self.host.may_leave(node):
                self.complain(node, buffer, "a copy is under way where the scope may be left")
            if before & _EARLY and self._moves(node, buffer):
                self.complain(node, buffer, "what an early copy was made with changes before it is waited for")
        return state

    def _moves(self, node: Node, buffer: DeviceBuffer) -> bool:
        """Whether evaluating `node` changes where the object lies, or how much of it is copied."""
        said = self.said.get(buffer.symbol, set())
        declared = {one.symbol for one in walk(node) if isinstance(one, VarDecl)}
        return bool(declared & {*said, buffer.host}) or self.host.changes(node, said)

    def _lands(self, stmt: Copy | CopyWait, state: States) -> None:
        """A copy to the host may give a variable a value: its own, or one that its pointer leads to."""
        landing = next(b for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        for buffer in self.offload_region.buffers:
            said = self.said.get(buffer.symbol, ()) if state[buffer.symbol] & _EARLY else ()
            read = (Name(span=stmt.span, type=one.type, symbol=one) for one in said)
            if any(self.host.access(one, landing).host_use for one in read):
                self.complain(stmt, buffer, "what an early copy was made with changes before it is waited for")

    def device(self, stmt: Checked, state: States) -> States:
        """Return the state behind a device statement."""
        match stmt:
            case Launch():
                return self.launch(stmt, state)
            case DataEnter() | DataExit():
                return state  # not copied beside anything
            case CopyWait(buffer=symbol, by_host=by_host):
                if by_host and state[symbol] & _WRITES_HOST:
                    self._lands(stmt, state)
                known = frozenset({_LANDED}) if by_host else frozenset(_KNOWN.get(s, s) for s in state[symbol])
                return {**state, symbol: known}
            case Copy() | DeviceAlloc() | DeviceFree():
                return self._with_buffer(stmt, state)

    def _with_buffer(self, stmt: Copy | DeviceAlloc | DeviceFree, state: States) -> States:
        """A copy to the host comes after kernels, and after what they have waited for: both are waited for at once."""
        buffer = next(b for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        back = isinstance(stmt, Copy) and not stmt.to_device
        for size in children(stmt):
            # what it says of its own object is about this copy, not the one before
            self.evaluate_node(size, {**state, buffer.symbol: frozenset({_LANDED})})
        if isinstance(stmt, Copy) and not stmt.to_device:
            self._lands(stmt, state)
        if state[buffer.symbol] - ({_LANDED, _IN_KNOWN} if back else {_LANDED}):
            self.complain(stmt, buffer, "a copy is under way where its buffer is copied, given or freed")
        if isinstance(stmt, Copy) and stmt.overlaps:
            return {**state, buffer.symbol: frozenset({_IN if stmt.to_device else _OUT})}
        return {**state, buffer.symbol: frozenset({_LANDED})} if back else state

    def launch(self, stmt: Launch, state: States) -> States:
        """Check what a kernel does beside the copies under way."""
        draft = self.drafts[stmt.region]
        may_stop = self.host.may_stop(draft)
        for argument in stmt.arguments:
            self.evaluate_node(argument, state)
        for buffer in self.offload_region.buffers:
            access = kernel_access(self.offload_region, draft, buffer)
            if (access.device_use or access.device_write) and _IN in state[buffer.symbol]:
                self.complain(stmt, buffer, "a kernel uses what a copy may still write")
            if access.device_write and state[buffer.symbol] & {_OUT}:
                self.complain(stmt, buffer, "a kernel writes what a copy may still read")
            if may_stop and state[buffer.symbol] != {_LANDED}:
                self.complain(stmt, buffer, "a copy is under way where the scope may be left")
        return state
