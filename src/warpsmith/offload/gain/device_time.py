"""What the device statements of a port cost: launches, and copies between host and device.

A copy that begins and goes on beside other work costs what is left of it when all launches up to its wait are done.
Inside a data region an object is copied once for each time that the region is entered, and comes back once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.machine.time.coarse import copy_seconds, kernel_seconds
from warpsmith.machine.time.overlap import Move, hidden_seconds
from warpsmith.offload.gain.model import CopyWindow, GainEstimate, KernelTime, LaunchPlace, RunKnowledge
from warpsmith.offload.gain.occurrence import EnteredRegion, Occurrence
from warpsmith.offload.gain.sizes import DEFAULT_TRIPS
from warpsmith.offload.gain.work import kernel_work
from warpsmith.tree.nodes import (
    Block,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    Expr,
    For,
    Function,
    Launch,
    Loop,
    Node,
    Stmt,
    Update,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children

__all__ = ["DeviceTime", "list_moves"]

_UNKNOWN_BYTES: Final = 8.0 * DEFAULT_TRIPS


class DeviceTime(Struct):
    """Adds what device statements cost to `found`; `buffers`: the object of each, and its bytes; `under_way`: the
    copies that have begun, by buffer."""

    known: RunKnowledge
    functions: Mapping[Symbol, Function]
    found: GainEstimate
    buffers: dict[Symbol, tuple[Symbol, float]] = field(default_factory=dict)
    under_way: dict[Symbol, CopyWindow] = field(default_factory=dict)

    def count(self, stmt: Stmt, place: Occurrence) -> None:
        """Count a device statement."""
        match stmt:
            case Launch():
                self._launch(stmt, place)
            case Copy():
                self._copy(stmt, place)
            case CopyWait(buffer=buffer):
                self._arrived(buffer)
            case DataEnter():
                self._enter_data(stmt, place)
            case DataExit(buffer=buffer, written=True):
                self._leave_data(buffer, place)
            case Update(variable=variable, bytes=bytes):
                if bytes is None:
                    self._move_all(place.times)
                else:
                    self._move(variable, self._bytes(bytes, place), place.times)
            case DataSuspension(ends=False):
                self._move_all(2 * place.times)
            case _:
                pass

    def _copy(self, copy: Copy, place: Occurrence) -> None:
        bytes, now = self._bytes(copy.bytes, place), len(self.found.log)
        self._move(copy.buffer, bytes, place.times)
        if copy.overlaps:
            window = CopyWindow(copy.to_device, bytes, place.times, now, now)
            self.under_way[copy.buffer] = window
            self.found.windows.append(window)

    def _arrived(self, buffer: Symbol) -> None:
        window = self.under_way.pop(buffer, None)
        if window is not None:
            window.end = len(self.found.log)

    def hide(self) -> None:
        """Take what of copies passes beside launches off the time of the device."""
        seconds = [spent for _, _, spent in self.found.log]
        moves = list_moves(self.found, seconds, partial(copy_seconds, self.known.device))
        self.found.hidden = hidden_seconds(moves)
        self.found.device -= self.found.hidden

    def _launch(self, launch: Launch, place: Occurrence) -> None:
        kernel = launch.kernel
        fragment, facts = self.known.fragments[kernel]
        threads, certain, seconds = 1.0, True, self.known.device.launch_ns * 1e-9
        if facts is not None:
            heads = _heads(facts.loop, len(fragment.kernel.mapped))
            sectors = fragment.model.sectors_per_request if fragment.model is not None else 1.0
            work, certain = kernel_work(facts, heads, sectors, place.sizes, self.functions)
            threads, seconds = work.threads, kernel_seconds(self.known.device, work)
        # a reduction is two kernels, a scan three
        several = 3 if fragment.kernel.scans else 2 if fragment.kernel.reductions else fragment.kernel.turns
        launches = place.times * several
        total = self.found.kernels.setdefault(kernel, KernelTime())
        total.places.append(LaunchPlace(launch, place.times, place.guessed, place.sizes, place.around))
        spent = place.times * seconds + (launches - place.times) * self.known.device.launch_ns * 1e-9
        total.seconds += spent
        total.launches += launches
        self.found.log.append((kernel, launches, spent))
        total.threads = max(total.threads, threads)
        total.certain = total.certain and certain
        self.found.launches += launches
        self.found.device += spent

    def _bytes(self, expr: Expr, place: Occurrence) -> float:
        value = place.sizes.value(expr)
        self.found.unsized = self.found.unsized or place.guessed or value is None or value.guessed
        return _UNKNOWN_BYTES if value is None else max(0.0, value.value)

    def _move(self, buffer: Symbol | None, bytes: float, times: float) -> None:
        if times <= 0:
            return
        seconds = copy_seconds(self.known.device, bytes * times, times)
        self.found.copies += times
        self.found.bytes += bytes * times
        self.found.device += seconds
        if buffer is not None:
            self.found.moving[buffer] = self.found.moving.get(buffer, 0.0) + seconds

    def _move_all(self, times: float) -> None:
        """Count copies of all that has been on the device so far."""
        objects = dict(self.buffers.values())
        for bytes in objects.values():
            self._move(None, bytes, times)

    def border(self, stmt: DataRegionBoundary, place: Occurrence) -> Occurrence:
        """Return the place behind a border of a data region."""
        return replace(place, region=(place.region or EnteredRegion(place.times)) if stmt.opens else None)

    def _enter_data(self, stmt: DataEnter, place: Occurrence) -> None:
        host = place.objects.get(stmt.variable, stmt.variable)
        bytes = self._bytes(stmt.bytes, place)
        self.buffers[stmt.buffer] = (host, bytes)
        if place.region is None:
            self._move(stmt.buffer, bytes if stmt.copy else 0.0, place.times if stmt.copy else 0.0)
        elif host not in place.region.present:
            place.region.present.add(host)
            self._move(stmt.buffer, bytes, min(place.region.entries, place.times) if stmt.copy else 0.0)

    def _leave_data(self, buffer: Symbol, place: Occurrence) -> None:
        host, bytes = self.buffers.get(buffer, (buffer, _UNKNOWN_BYTES))
        if place.region is None:
            self._move(buffer, bytes, place.times)
        elif host not in place.region.written:
            place.region.written.add(host)
            self._move(buffer, bytes, min(place.region.entries, place.times))


def list_moves(
    found: GainEstimate, seconds: Sequence[float], of_copies: Callable[[float, float], float]
) -> Iterator[Move]:
    """Yield the copies that go on beside launches; `seconds` are those of each entry of `found.log`, `of_copies` says
    how long copies of so many bytes together take."""
    clock = [0.0, *accumulate(seconds)]
    for one in found.windows:
        yield Move(one.to_device, of_copies(one.bytes * one.times, one.times), clock[one.start], clock[one.end])


def _heads(loop: Loop, count: int) -> list[For]:
    """Return the perfectly nested loops that are threads, from `loop` on."""
    found: list[For] = []
    pending: list[Node] = [loop]
    while pending and len(found) < count:
        node = pending.pop(0)
        if isinstance(node, For):
            found.append(node)
            pending = [node.body]
        else:
            pending += [child for child in children(node) if isinstance(child, Block | For)]
    return found
