"""The timeline of a port: every copy that remains, in the order of the program, nested by calls, loops and branches.

    main
      for t                                       the data stay on the device until the loop ends
        step (solver.c:3)
          u  -> device   (n * m) * 8 bytes        unless it is there already; for line 5
          ws_step_k1
          v  -> device   8 bytes                  for line 9, beside ws_step_k2
          ws_step_k2
          kernels wait for v
        if t % 100 == 0
          u[5] -> host   8 bytes                  for line 20: printf("%g\\n", u[5])

Invariant: a function is shown where it is called, once inside itself; each copy names the user's line that forces it.
`measured` counts come from a run on the emulation and are labelled so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.tree.allocations import names_allocations
from warpsmith.tree.nodes import (
    Block,
    Call,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    DeviceAlloc,
    Expr,
    For,
    Function,
    If,
    Launch,
    Name,
    Node,
    Stmt,
    Switch,
    Update,
    While,
)
from warpsmith.tree.printing.printer import print_expr, show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["MovedBytes", "TimelineEvent", "timeline"]

EventKind = Literal["function", "loop", "branch", "data region", "to device", "to host", "kernel", "suspended", "wait"]
_LONGEST = 72
_EVERYTHING = "everything on the device"


class MovedBytes(Struct, frozen=True):
    """What a run on the emulation counted for one statement of the port."""

    count: int
    bytes: int


class TimelineEvent(Struct, frozen=True):
    """One line of the timeline. `what`: the variable or the construct; `bytes` and `when` in words ("" for none);
    `cause`: what forces a copy; `path`: the loops and functions around it; `measured`: None where nothing was run.
    `waiting`: who waits for the copy of `what` that has begun; `until`: how many events further on that is."""

    kind: EventKind
    depth: int
    what: str
    bytes: str = ""
    when: str = ""
    cause: Span | None = None
    measured: MovedBytes | None = None
    waiting: Literal["", "kernels", "host"] = ""
    until: int = 0


def timeline(program: Program, measured: Mapping[Node, MovedBytes] | None = None) -> tuple[TimelineEvent, ...]:
    """Return the events of a ported program, from `main` down, or from each function that nobody calls."""
    walker = _Walker(program, measured)
    events = [event for function in walker.roots() for event in walker.function(function, 0, ())]
    return tuple(_ending(_together(events)))


def _together(events: Sequence[TimelineEvent]) -> list[TimelineEvent]:
    """Return the events with waits that stand one behind the other as one."""
    merged: list[TimelineEvent] = []
    for event in events:
        last = merged[-1] if merged else None
        if last is not None and event.waiting and (last.waiting, last.depth) == (event.waiting, event.depth):
            merged[-1] = replace(last, what=f"{last.what}, {event.what}")
        else:
            merged.append(event)
    return merged


def _ending(events: Sequence[TimelineEvent]) -> Iterator[TimelineEvent]:
    """Yield the events; a copy that begins with what it goes on beside, and where that ends."""
    for at, event in enumerate(events):
        if not event.until:
            yield event
            continue
        ends = (n for n in range(at + 1, len(events)) if events[n].waiting and event.what in events[n].what.split(", "))
        end = next(ends, at + 1)
        kernels = dict.fromkeys(one.what for one in events[at:end] if one.kind == "kernel")
        yield replace(event, when=f"beside {', '.join(kernels) or 'host code'}", until=end - at)


class _Walker:
    def __init__(self, program: Program, measured: Mapping[Node, MovedBytes] | None) -> None:
        self.definitions = {function.symbol: function for _, function in program.functions()}
        self.measured = measured
        self.busy = self._busy()
        self.buffers: dict[Symbol, DataEnter] = {}

    def roots(self) -> list[Function]:
        """Return main, or the functions that no other one calls."""
        main = [f for f in self.definitions.values() if f.symbol.name == "main"]
        called = {s for f in self.definitions.values() for s in self._callees(f.body) if s != f.symbol}
        alone = [f for f in self.definitions.values() if f.symbol not in called]
        return [f for f in (main or alone or list(self.definitions.values())) if f.symbol in self.busy]

    def _callees(self, node: Node) -> list[Symbol]:
        names = (peel(part.function) for part in walk(node) if isinstance(part, Call))
        return [n.symbol for n in names if isinstance(n, Name) and n.symbol in self.definitions]

    def _busy(self) -> set[Symbol]:
        """Return the functions in which something happens, or that call one."""
        mine = (Launch, Copy, DataEnter, Update, DataSuspension)
        found = {s for s, f in self.definitions.items() if any(isinstance(part, mine) for part in walk(f.body))}
        while True:
            more = {s for s, f in self.definitions.items() if s not in found and set(self._callees(f.body)) & found}
            if not more:
                return found
            found |= more

    # --- structure

    def function(self, function: Function, depth: int, stack: tuple[Symbol, ...]) -> Iterator[TimelineEvent]:
        symbol = function.symbol
        again = symbol in stack
        when = "as above: it calls itself" if again else ""
        yield TimelineEvent("function", depth, symbol.name, when=when, cause=function.span)
        if not again:
            for stmt in function.body.statements:
                yield from self.statement(stmt, depth + 1, (*stack, symbol))

    def statement(self, stmt: Stmt, depth: int, stack: tuple[Symbol, ...]) -> Iterator[TimelineEvent]:
        if not self._matters(stmt):
            return
        match stmt:
            case Block():
                for inner in stmt.statements:
                    yield from self.statement(inner, depth, stack)
            case For() | While():
                yield TimelineEvent("loop", depth, _head(stmt), cause=stmt.header)
                yield from self._calls(stmt.bound if isinstance(stmt, For) else stmt.condition, depth + 1, stack)
                yield from self.statement(stmt.body, depth + 1, stack)
            case If():
                yield from self.branch(stmt, depth, stack)
            case Switch():
                yield TimelineEvent("branch", depth, f"switch ({_short(stmt.value)})", cause=stmt.span)
                for case in stmt.cases:
                    for inner in case.body:
                        yield from self.statement(inner, depth + 1, stack)
            case _:
                yield from self.simple(stmt, depth, stack)

    def branch(self, stmt: If, depth: int, stack: tuple[Symbol, ...]) -> Iterator[TimelineEvent]:
        yield from self._calls(stmt.condition, depth, stack)
        condition = _short(stmt.condition)
        arms = ((f"if ({condition})", stmt.then), (f"else of if ({condition})", stmt.other))
        if not stmt.condition.intact and not stmt.intact and _is_ported(stmt.then):
            arms = (("where the guards hold", stmt.then), ("where a guard fails", stmt.other))
        for words, arm in arms:
            if arm is not None and self._matters(arm):
                yield TimelineEvent("branch", depth, words, cause=stmt.span)
                yield from self.statement(arm, depth + 1, stack)

    def _matters(self, stmt: Stmt) -> bool:
        mine = (Launch, Copy, CopyWait, DataEnter, DataExit, Update, DataSuspension, DataRegionBoundary)
        return any(isinstance(part, mine) for part in walk(stmt)) or bool(set(self._callees(stmt)) & self.busy)

    def _calls(self, node: Node | None, depth: int, stack: tuple[Symbol, ...]) -> Iterator[TimelineEvent]:
        for symbol in self._callees(node) if node is not None else ():
            if symbol in self.busy:
                yield from self.function(self.definitions[symbol], depth, stack)

    # --- device statements

    def simple(self, stmt: Stmt, depth: int, stack: tuple[Symbol, ...]) -> Iterator[TimelineEvent]:
        moved = self._find_moved(stmt)
        match stmt:
            case Launch():
                yield TimelineEvent("kernel", depth, stmt.kernel, cause=stmt.span)
            case Copy() | CopyWait():
                yield _copied(stmt, depth, moved)
            case DataEnter() if stmt.starts == stmt.variable:
                when = "unless the rows lie where they did"
                yield TimelineEvent("to device", depth, stmt.variable.name, "8 for each row", when, stmt.cause, moved)
            case DataEnter():
                self.buffers[stmt.buffer] = stmt
                when = "unless it is there already" if stmt.copy else "no copy: a kernel writes all of it"
                yield TimelineEvent("to device", depth, stmt.variable.name, _size(stmt), when, stmt.cause, moved)
            case DataExit():
                yield from self._exit(stmt, depth, moved)
            case Update():
                yield _update(stmt, depth, moved)
            case DataRegionBoundary():
                yield _data_region(stmt, depth, moved)
            case DataSuspension(ends=False):
                when = "nothing is kept while this runs"
                yield TimelineEvent("suspended", depth, _EVERYTHING, "all that was written", when, stmt.cause, moved)
            case DeviceAlloc():
                return
            case _:
                yield from self._calls(stmt, depth, stack)

    def _exit(self, stmt: DataExit, depth: int, moved: MovedBytes | None) -> Iterator[TimelineEvent]:
        enter = self.buffers.get(stmt.buffer)
        if enter is None or not stmt.written:
            return
        when = "unless it is kept" if enter.keep else ""
        yield TimelineEvent("to host", depth, enter.variable.name, _size(enter), when, enter.cause, moved)

    def _find_moved(self, stmt: Stmt) -> MovedBytes | None:
        return None if self.measured is None else self.measured.get(stmt, MovedBytes(0, 0))


def _copied(stmt: Copy | CopyWait, depth: int, moved: MovedBytes | None) -> TimelineEvent:
    """Return a copy, or who waits for one that has begun: where that is comes out when all events are known."""
    if isinstance(stmt, CopyWait):
        return TimelineEvent("wait", depth, stmt.variable.name, waiting="host" if stmt.by_host else "kernels")
    kind: EventKind = "to device" if stmt.to_device else "to host"
    size, begins = _bytes(stmt.bytes), int(stmt.overlaps)
    return TimelineEvent(kind, depth, stmt.variable.name, size, "", stmt.cause, moved, until=begins)


def _update(stmt: Update, depth: int, moved: MovedBytes | None) -> TimelineEvent:
    kind: EventKind = "to device" if stmt.to_device else "to host"
    if stmt.block and stmt.variable is not None:
        text = "all of its block"
        return TimelineEvent(kind, depth, stmt.variable.name, text, "if it is on the device", stmt.cause, moved)
    if stmt.address is None or stmt.bytes is None:
        return TimelineEvent(kind, depth, _EVERYTHING, "all that is newer", "", stmt.cause, moved)
    what = _short(stmt.address).removeprefix("&")
    return TimelineEvent(kind, depth, what, _bytes(stmt.bytes), "if it is on the device", stmt.cause, moved)


def _data_region(stmt: DataRegionBoundary, depth: int, moved: MovedBytes | None) -> TimelineEvent:
    if stmt.opens:
        return TimelineEvent("data region", depth, "from here on data stay on the device", cause=stmt.cause)
    text = "what was written comes back"
    return TimelineEvent("data region", depth, text, "all that was written", "", stmt.cause, moved)


def _is_ported(stmt: Stmt) -> bool:
    """Whether this is the ported version of an offload region."""
    return isinstance(stmt, Block) and any(isinstance(s, DataEnter | DeviceAlloc) for s in stmt.statements)


def _size(enter: DataEnter) -> str:
    return "all of its rows' blocks" if enter.starts is not None else _bytes(enter.bytes)


def _bytes(expr: Expr) -> str:
    return "all of its block" if names_allocations(expr) else print_expr(expr).replace("(long long)", "")


def _short(expr: Expr) -> str:
    text = " ".join(show_expression(expr).replace("(long long)", "").split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."


def _head(loop: For | While) -> str:
    if isinstance(loop, For):
        return f"for {loop.variable.name}"
    return loop.form if loop.condition is None else f"{loop.form} ({_short(loop.condition)})"
