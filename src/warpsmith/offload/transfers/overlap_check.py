"""An independent check of copies that go on beside other work: a forward data flow over the rewritten statements.

For every buffer: what may its latest copy be doing when control is here, over all paths?

    landed            no copy is under way for all that the host knows
    in · in, known    one to the device is; kernels that are launched from here on come after it (known), or do not
    out · out, known  the same of one to the host

Checked: no kernel uses a buffer while one to the device may write it, or writes it while one to the host may read it;
no host code writes an object while it may be read, or touches it while it may be written; no copy of a buffer begins,
and none is freed, while another one may be under way; nothing leaves the scope meanwhile, and no text of which we know
nothing runs meanwhile.

What is copied when, transfer_check.py looks after: to it a copy that only begins is a copy like any other.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.transfers.accesses import HostCode, kernel_access
from warpsmith.offload.transfers.transfer_check import Checked, CopyChecker, States
from warpsmith.tree.nodes import (
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DeviceAlloc,
    DeviceFree,
    Launch,
    Node,
    Stmt,
    Verbatim,
)

__all__ = ["check_overlap"]

_LANDED = "landed"
_IN, _IN_KNOWN, _OUT, _OUT_KNOWN = "in", "in, known", "out", "out, known"
_KNOWN = {_IN: _IN_KNOWN, _OUT: _OUT_KNOWN}
_READS_HOST = frozenset({_IN, _IN_KNOWN})
_WRITES_HOST = frozenset({_OUT, _OUT_KNOWN})


def check_overlap(statements: tuple[Stmt, ...], offload_region: OffloadRegion, host: HostCode) -> tuple[str, ...]:
    """Return what is wrong with the copies in `statements` that go on beside others, in sentences."""
    return _OverlapChecker(offload_region=offload_region, host=host).check(statements, _LANDED)


class _OverlapChecker(CopyChecker, Struct):
    host: HostCode

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
        return state

    def device(self, stmt: Checked, state: States) -> States:
        """Return the state behind a device statement."""
        match stmt:
            case Launch():
                return self.launch(stmt, state)
            case DataEnter() | DataExit():
                return state  # not copied beside anything
            case CopyWait(buffer=symbol, by_host=by_host):
                known = frozenset({_LANDED}) if by_host else frozenset(_KNOWN.get(s, s) for s in state[symbol])
                return {**state, symbol: known}
            case Copy() | DeviceAlloc() | DeviceFree():
                return self._with_buffer(stmt, state)

    def _with_buffer(self, stmt: Copy | DeviceAlloc | DeviceFree, state: States) -> States:
        """A copy to the host comes after kernels, and after what they have waited for: both are waited for at once."""
        buffer = next(b for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        back = isinstance(stmt, Copy) and not stmt.to_device
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
