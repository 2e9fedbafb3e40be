"""An independent check that copies stand where they must: a forward data flow over the rewritten statements.

For every buffer: which of the two copies may be stale when control is here, over all paths?

    fresh     both are valid          device?   the device copy is stale (or garbage)
                                      host?     the host copy is stale

Checked: no launch uses a stale device copy, no host code uses a stale host copy, no copy reads its stale side, a
kernel that may leave a part unwritten counts as a use, nothing that is read later is lost when a buffer is freed, no
buffer is used before it is allocated or after it is freed, and every way out of its scope frees it exactly once.

The check walks the *result* by its structure and knows nothing of how it was made. States only grow around a loop, and
there are finitely many, so it ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.offload.fragments import Draft, OffloadRegion
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.accesses import HostAccess, kernel_access
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    CaptureStmt,
    Continue,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DeviceAlloc,
    DeviceFree,
    Empty,
    For,
    If,
    Launch,
    Loop,
    Name,
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    While,
)
from warpsmith.tree.types import Symbol

__all__ = ["Checked", "CopyChecker", "States", "check_transfers"]

_ABSENT, _FRESH, _DEVICE_STALE, _HOST_STALE = "absent", "fresh", "device stale", "host stale"
Checked = Launch | Copy | CopyWait | DeviceAlloc | DeviceFree | DataEnter | DataExit
States = Mapping[Symbol, frozenset[str]]
"""What may be true of each buffer where control is."""


def check_transfers(statements: tuple[Stmt, ...], offload_region: OffloadRegion, host: HostAccess) -> tuple[str, ...]:
    """Return what is wrong with `statements`, the rewritten scope of `offload_region`, in sentences; nothing where all
    is well.

    `host` tells what host code does with the objects.
    """
    return CopyChecker(offload_region, host).check(statements, _ABSENT)


class _Ways(Struct):
    """The states in which control leaves a statement; None: it never does so."""

    falls: States | None
    breaks: States | None = None
    continues: States | None = None


def _join_states(a: States | None, b: States | None) -> States | None:
    if a is None or b is None:
        return a if b is None else b
    return {symbol: a[symbol] | b[symbol] for symbol in a}


class CopyChecker(Struct):
    """The walk over the statements; `findings` are in the order in which they were made."""

    offload_region: OffloadRegion
    host: HostAccess
    findings: dict[str, None] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    written: set[Symbol] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.drafts = {draft.region: draft for draft in self.offload_region.drafts}
        for draft in self.offload_region.drafts:
            self.written |= {
                b.symbol
                for b in self.offload_region.buffers
                if kernel_access(self.offload_region, draft, b).device_write
            }

    def check(self, statements: tuple[Stmt, ...], first: str) -> tuple[str, ...]:
        """Return the findings of a whole scope; `first` is true of each buffer at its entry."""
        ways = self.run(statements, {b.symbol: frozenset({first}) for b in self.offload_region.buffers})
        for state in (ways.falls, ways.breaks, ways.continues):
            self.leaves(state, statements[-1])
        return tuple(self.findings)

    def complain(self, node: Node, buffer: DeviceBuffer, what: str) -> None:
        """Add a finding about the object of `buffer`."""
        self.findings[f"{node.span}: {buffer.host.name}: {what}"] = None

    def leaves(self, state: States | None, node: Node) -> None:
        """Control leaves the scope: every buffer must have been freed, but for tables, which are kept."""
        for buffer in self.offload_region.buffers if state is not None else ():
            if state is not None and state[buffer.symbol] != {_ABSENT} and not is_table(buffer):
                self.complain(node, buffer, "the buffer is not freed on every way out")

    # --- statements

    def run(self, run: tuple[Stmt, ...], state: States | None) -> _Ways:
        """Return how control leaves a run that it enters with `state`."""
        ways = _Ways(state)
        for stmt in run:
            if ways.falls is None:
                break
            inner = self.statement(stmt, ways.falls)
            ways = _Ways(
                inner.falls, _join_states(ways.breaks, inner.breaks), _join_states(ways.continues, inner.continues)
            )
        return ways

    def statement(self, stmt: Stmt, state: States) -> _Ways:
        """Return how control leaves one statement."""
        match stmt:
            case Block():
                return self.run(stmt.statements, state)
            case If():
                return self.branch(stmt, state)
            case For() | While():
                return _Ways(self.loop(stmt, state))
            case Switch():
                return self.switch(stmt, state)
            case Break():
                return _Ways(None, breaks=state)
            case Continue():
                return _Ways(None, continues=state)
            case Return():
                self.leaves(self.evaluate_node(stmt.value, state), stmt)
                return _Ways(None)
            case Launch() | Copy() | CopyWait() | DeviceAlloc() | DeviceFree() | DataEnter() | DataExit():
                return _Ways(self.device(stmt, state))
            case Pragma() | Empty() | CaptureStmt():
                return _Ways(state)
            case _:
                return _Ways(self.evaluate_node(stmt, state))

    def branch(self, stmt: If, state: States) -> _Ways:
        """Return how control leaves a branch: as either arm does."""
        state = self.evaluate_node(stmt.condition, state)
        then = self.statement(stmt.then, state)
        other = self.statement(stmt.other, state) if stmt.other is not None else _Ways(state)
        return _Ways(
            _join_states(then.falls, other.falls),
            _join_states(then.breaks, other.breaks),
            _join_states(then.continues, other.continues),
        )

    def loop(self, stmt: Loop, state: States) -> States | None:
        """Return what is true behind a loop, None where it does not end: states grow until no turn adds one."""
        if isinstance(stmt, For):
            target = Name(span=stmt.header, type=stmt.variable.type, symbol=stmt.variable)
            start: Node | None = Assign(span=stmt.header, type=target.type, op="=", target=target, value=stmt.lower)
            condition: Node | None = stmt.bound
            advance: Node | None = None
        else:
            start, condition, advance = stmt.init, stmt.condition, stmt.advance
        around: States = self.evaluate_node(start, state)
        first = isinstance(stmt, While) and stmt.form == "do"
        leaving: States | None = None
        while True:
            entered = around if first else self.evaluate_node(condition, around)
            ways = self.statement(stmt.body, entered)
            ended = _join_states(ways.falls, ways.continues)
            if ended is not None:
                ended = self.evaluate_node(condition if first else advance, ended)
            tested = ended if first else entered if condition is not None else None
            leaving = _join_states(leaving, _join_states(tested, ways.breaks))
            grown = _join_states(around, ended)
            if grown is None or grown == around:
                return leaving
            around = grown

    def switch(self, stmt: Switch, state: States) -> _Ways:
        """Return how control leaves a switch, cases falling through."""
        state = self.evaluate_node(stmt.value, state)
        default = any(label is None for case in stmt.cases for label in case.labels)
        result = _Ways(None)
        leaving: States | None = None if default else state
        for case in stmt.cases:
            inner = self.run(case.body, _join_states(state, result.falls))
            leaving = _join_states(leaving, inner.breaks)
            result = _Ways(inner.falls, None, _join_states(result.continues, inner.continues))
        return _Ways(_join_states(leaving, result.falls), None, result.continues)

    # --- host code

    def evaluate_node(self, node: Node | None, state: States) -> States:
        """Return what is true behind what the host evaluates."""
        if node is None:
            return state
        new = dict(state)
        for buffer in self.offload_region.buffers:
            access = self.host.access(node, buffer)
            if access.host_use and _HOST_STALE in state[buffer.symbol]:
                self.complain(node, buffer, "the host uses a stale copy")
            if access.host_write and state[buffer.symbol] != {_ABSENT}:
                new[buffer.symbol] = frozenset({_DEVICE_STALE})
        return new

    # --- device statements

    def device(self, stmt: Checked, state: States) -> States:
        """Return what is true behind a device statement."""
        match stmt:
            case CopyWait():
                return state  # overlap_check.py is about those
            case Launch():
                return self.launch(stmt, state)
            case DataEnter() | DataExit():
                return self.check_shared(stmt, state)
            case Copy() | DeviceAlloc() | DeviceFree():
                return self.private(stmt, state)

    def private(self, stmt: Copy | DeviceAlloc | DeviceFree, state: States) -> States:
        """Return what is true behind a statement about a buffer of the scope's own."""
        buffer = next(b for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        before = state[buffer.symbol]
        new = frozenset({_FRESH})
        match stmt:
            case DeviceAlloc():
                if before != {_ABSENT}:
                    self.complain(stmt, buffer, "the buffer is allocated twice")
                new = frozenset({_DEVICE_STALE})
            case DeviceFree():
                if _ABSENT in before:
                    self.complain(stmt, buffer, "a buffer is freed that is not there")
                if _HOST_STALE in before and self.host.lives_on(buffer):
                    self.complain(stmt, buffer, "what the kernels wrote is lost")
                new = frozenset({_ABSENT})
            case Copy():
                if _ABSENT in before:
                    self.complain(stmt, buffer, "a copy of a buffer that is not there")
                if (_HOST_STALE if stmt.to_device else _DEVICE_STALE) in before:
                    self.complain(stmt, buffer, "a copy destroys newer data")
        return {**state, buffer.symbol: new}

    def check_shared(self, stmt: DataEnter | DataExit, state: States) -> States:
        """A caller may hold the data: then the host's copy is stale from the start, and nothing comes back."""
        buffer = next(b for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        before = state[buffer.symbol]
        if isinstance(stmt, DataEnter):
            if before != {_ABSENT}:
                self.complain(stmt, buffer, "the buffer is entered twice")
            return {**state, buffer.symbol: frozenset({_HOST_STALE} if stmt.copy else {_DEVICE_STALE})}
        if _ABSENT in before:
            self.complain(stmt, buffer, "a buffer is left that is not there")
        if _DEVICE_STALE in before and self.host.lives_on(buffer):
            self.complain(stmt, buffer, "a buffer is left whose device copy is not valid")
        if not stmt.written and buffer.symbol in self.written and self.host.lives_on(buffer):
            self.complain(stmt, buffer, "what the kernels wrote is lost")
        return {**state, buffer.symbol: frozenset({_ABSENT})}

    def launch(self, stmt: Launch, state: States) -> States:
        """Return what is true behind a launch."""
        draft = self.drafts[stmt.region]
        new = dict(state)
        for argument in stmt.arguments:
            self.evaluate_node(argument, state)
        for buffer in self.offload_region.buffers:
            access = kernel_access(self.offload_region, draft, buffer)
            if not (access.device_use or access.device_write):
                continue
            if _ABSENT in state[buffer.symbol]:
                self.complain(stmt, buffer, "a kernel uses a buffer that is not there")
            if access.device_use and _DEVICE_STALE in state[buffer.symbol]:
                self.complain(stmt, buffer, "a kernel uses a stale copy")
            if access.device_write:
                new[buffer.symbol] = frozenset({_HOST_STALE})
        return new
