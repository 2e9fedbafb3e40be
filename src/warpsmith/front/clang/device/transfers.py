"""Redundant work of host code: a block allocated and freed, or bytes copied, the same ones in every iteration.

A call is repeated for nothing where no mention in its innermost loop may change what it names. What one function's text
does not tell (what others do that it calls, where other pointers lead) is a condition. Runs in the worker process only.

    allocated   the same size, freed in the same loop
    in          the same host bytes, which no kernel of the loop overwrites on the device
    out         to a host array that nothing in the loop names: only the last copy counts
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.host import Body, HostArgument, HostCall, HostWalk, Loops, Mention
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.places import FilePlaces
from warpsmith.front.clang.wire import TransferRow

__all__ = ["TRANSFERS", "repeated_transfers"]

What = Literal["allocated", "in", "out"]

_ALLOCATE: Final = frozenset({"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc"})
_FREE: Final = frozenset({"cudaFree", "cudaFreeHost"})
_COPY: Final = frozenset({"cudaMemcpy", "cudaMemcpyAsync"})
_TO_SYMBOL: Final = "cudaMemcpyToSymbol"
TRANSFERS: Final = _ALLOCATE | _COPY | {_TO_SYMBOL}
"""The functions of the CUDA run time that are judged."""
_TO_DEVICE, _TO_HOST = 1, 2
_REFERENCES: Final = frozenset({kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})
_ARRAYS: Final = frozenset({kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY})


def repeated_transfers(
    library: Library, places: FilePlaces, body: Cursor, number: Callable[[Cursor], int | None]
) -> Iterator[TransferRow]:
    """Yield what the loops of one function's body repeat; `number` evaluates a constant expression."""
    seen = HostWalk(library, places, number).walk_body(body)
    if seen.lost:
        return
    for row, call in enumerate(seen.calls):
        if call.loops and call.steady:
            yield from _Judge(library, places, seen, row).rows()


class _Judge:
    """Judges one call by what else its innermost loop does."""

    def __init__(self, library: Library, places: FilePlaces, body: Body, row: int) -> None:
        self.library = library
        self.places = places
        self.body = body
        self.row = row
        self.call: HostCall = body.calls[row]
        self.loop = self.call.loops[-1]
        self.inside = [m for m in body.mentions if self._is_inside(m.loops)]
        self.strangers = tuple(dict.fromkeys(n for n, loops in body.strangers if self._is_inside(loops)))

    def rows(self) -> Iterator[TransferRow]:
        """Yield what is to be said of the call: nothing, or one row."""
        callee, arguments = self.call.callee, self.call.arguments
        if callee in _ALLOCATE and len(arguments) >= 2:
            yield from self._find_allocation(*arguments[:2])
        elif callee == _TO_SYMBOL and len(arguments) >= 3:
            yield from self._find_copy_in(*arguments[:3], symbol=True)
        elif callee in _COPY and len(arguments) >= 4:
            if arguments[3].value == _TO_DEVICE:
                yield from self._find_copy_in(*arguments[:3], symbol=False)
            elif arguments[3].value == _TO_HOST:
                yield from self._find_copy_out(*arguments[:3])

    # --- the three kinds

    def _find_allocation(self, pointer: HostArgument, size: HostArgument) -> Iterator[TransferRow]:
        block = pointer.root
        others = (pointer.names | size.names) - ({block} if block is not None else set())
        if block is None or not size.plain or not pointer.plain or any(map(self._varies, others)):
            return
        frees = [c for c in self.body.calls if c.callee in _FREE and c.loops == self.call.loops and c.steady]
        if any(argument.root == block for free in frees for argument in free.arguments):
            yield self._row("allocated", [self._name(block), ""], [])

    def _find_copy_in(
        self, to: HostArgument, source: HostArgument, size: HostArgument, *, symbol: bool
    ) -> Iterator[TransferRow]:
        device, host = to.root, source.root
        if device is None or host is None or not self._same(to, source, size):
            return
        if symbol and not self._is_constant(device):
            return
        if any(self._is_changed(m) for m in self._of(host)) or any(self._is_used(m) for m in self._of(device)):
            return
        conditions = [("calls", name) for name in self.strangers]
        conditions += [("stores", name) for name in self._others(host, "changed")]
        if not symbol and self._has_other_names(device) and any(m.role == "launched" for m in self.inside):
            conditions.append(("names", self._name(device)))
        yield self._row("in", [self._name(device), self._name(host)], conditions)

    def _find_copy_out(self, to: HostArgument, source: HostArgument, size: HostArgument) -> Iterator[TransferRow]:
        host, device = to.root, source.root
        if device is None or host is None or not self._same(to, size) or self._of(host):
            return
        conditions = [("calls", name) for name in self.strangers]
        conditions += [("reads", name) for name in self._others(host, "read")]
        yield self._row("out", [self._name(device), self._name(host)], conditions)

    # --- what the loop does

    def _same(self, *arguments: HostArgument) -> bool:
        """Whether the arguments are the same in every iteration."""
        names = {name for argument in arguments for name in argument.names}
        return all(argument.plain for argument in arguments) and not any(map(self._varies, names))

    def _varies(self, variable: int) -> bool:
        """Whether a variable may have another value in another iteration."""
        type = self.library.getCursorType(self.body.variables[variable])
        if self._is_inside(self.body.declared.get(variable, ())) or self._kind(variable) in _REFERENCES:
            return True
        if self.library.isConstQualifiedType(type):
            return False
        mine = [m for m in self.inside if m.variable == variable and not m.through]
        if any(m.role in ("changed", "address") or (m.role == "passed" and self._is_value(variable)) for m in mine):
            return True
        if any(self._is_allocation_of(m) for m in mine):
            return True
        seen_elsewhere = not self._is_local(variable) or any(
            m.variable == variable and m.role == "address" for m in self.body.mentions
        )
        changes_elsewhere = bool(self.strangers) or any(m.through and m.role == "changed" for m in self.inside)
        return changes_elsewhere and seen_elsewhere

    def _is_allocation_of(self, mention: Mention) -> bool:
        call = self.body.calls[mention.call] if mention.call >= 0 else None
        return call is not None and call.callee in _ALLOCATE and call.arguments[0].root == mention.variable

    def _of(self, variable: int) -> list[Mention]:
        """Return the mentions of a variable in the loop, those in the call itself left out."""
        return [m for m in self.inside if m.variable == variable and m.call != self.row]

    def _is_changed(self, mention: Mention) -> bool:
        """Whether a mention of a host array may change it."""
        return mention.role in ("changed", "address", "passed", "launched") or self._is_target(mention)

    def _is_used(self, mention: Mention) -> bool:
        """Whether a mention of a device array may change it, or hand it to what does."""
        return mention.role != "read by kernel" and (mention.role != "transferred" or self._is_target(mention))

    def _is_target(self, mention: Mention) -> bool:
        """Whether the CUDA run time gets a block to write to: all that is not the source of a copy."""
        if mention.role != "transferred":
            return False
        call = self.body.calls[mention.call]
        copies = call.callee in _COPY and len(call.arguments) >= 2
        return not copies or call.arguments[0].root == mention.variable

    def _others(self, host: int, role: str) -> list[str]:
        """Return the names of other pointers through which the loop does something; two arrays are apart."""
        found = {
            self._name(m.variable): None
            for m in self.inside
            if m.through and m.role == role and m.variable != host and m.call < 0
            and not (self._is_array(host) and self._is_array(m.variable))
        }  # fmt: skip
        return list(found)

    def _has_other_names(self, device: int) -> bool:
        mine = [m for m in self.body.mentions if m.variable == device]
        known = ("transferred", "read by kernel", "launched")
        foreign = self.body.variables[device].kind == kinds.PARM_DECL or not self._is_local(device)
        return foreign or any(m.role not in known for m in mine)

    def _is_inside(self, loops: Loops) -> bool:
        return self.loop in loops

    # --- what clang knows of a variable

    def _is_local(self, variable: int) -> bool:
        return self.body.variables[variable].kind == kinds.PARM_DECL or variable in self.body.declared

    def _is_constant(self, variable: int) -> bool:
        parts = self.places.children(self.body.variables[variable])
        return any(kinds.DEVICE_ATTRIBUTES.get(part.kind) == "constant" for part in parts)

    def _is_array(self, variable: int) -> bool:
        return self._kind(variable) in _ARRAYS

    def _is_value(self, variable: int) -> bool:
        return self._kind(variable) not in _ARRAYS | {kinds.T_POINTER}

    def _kind(self, variable: int) -> int:
        type = self.library.getCursorType(self.body.variables[variable])
        return int(self.library.getCanonicalType(type).kind)

    def _name(self, variable: int) -> str:
        return self.library.text(self.library.getCursorSpelling(self.body.variables[variable]))

    def _row(self, what: What, names: list[str], conditions: list[tuple[str, str]]) -> TransferRow:
        file, start, end = self.places.extent(self.call.cursor)
        loop = self.body.loops[self.loop]
        _, loop_start, loop_end = self.places.extent(loop)
        parts = self.places.children(loop)
        if loop.kind != kinds.DO and parts:
            loop_end = max(loop_start, self.places.extent(parts[-1])[1])
        return (self.call.callee, what, names, conditions, file, start, end, loop_start, loop_end)
